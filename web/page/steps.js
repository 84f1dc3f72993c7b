// steps.js: the perceptron mistake by mistake, Pegasos and k-means step by step.
// SPDX-License-Identifier: Apache-2.0
import { $, el } from './util.js';
import { ask } from './engine.js';
import { state, session, changed } from './state.js';
import { choice, dataNow, decodePlane, fitRequest, optionsNow, planeNow } from './machine.js';
import { mark } from './plane.js';

const bar = $('steps');
let at = 0, most = 0, playing = 0, trail = null, track = null, say = null;

const pegasosStep = (t) => Math.round(10 ** (t / 10));

async function showPerceptron() {
  const answer = await ask({ do: 'steps', kernel: state.kernel, data: dataNow(), plane: planeNow(100), bias: (state.options.bias || 'yes') === 'yes', passes: +(state.options.passes || 10), at }, 'steps', true);
  if (!answer) return;
  if (!answer.ok) return (say.textContent = answer.error.message);
  decodePlane(answer);
  trail = answer;
  most = answer.mistakes;
  track.max = most;
  // What is right and certified belongs to the end, not to a step on the way.
  if (at < most) session.fit = { ...session.fit, report: { ...session.fit.report, train: {}, certificate: null, support: null, stop: `after ${at} of ${most} mistakes` } };
  session.fit = { ...session.fit, outputs: [], train: null, stale: false, plane: answer.plane };
  changed('step');
  mark(at > 0 ? [answer.object[at - 1]] : []);
  say.textContent = at === 0 ? `before the first mistake, f = 0` : `mistake ${at} of ${most}: f gets ± K(x, ·) of the ringed point` + (at === most ? (answer.separated ? '; then a pass without a mistake: done' : '; the passes are over, it would go on') : '');
}

async function showTrained() {
  const request = fitRequest(100), many = choice().name === 'pegasos' ? pegasosStep(at) : at;
  request.options = { ...request.options, 'max-steps': String(Math.max(1, many)), ...(choice().name === 'kmeans' ? { restarts: '1' } : { average: 'last', order: 'random' }) };
  const answer = await ask(request, 'steps', true);
  if (!answer) return;
  if (!answer.ok) return (say.textContent = answer.error.message);
  decodePlane(answer);
  session.fit = answer;
  changed('step');
  say.textContent = choice().name === 'kmeans' ? `after ${many} ${many === 1 ? 'sweep' : 'sweeps'} over the points, from one start` : `after ${many} ${many === 1 ? 'step' : 'steps'} of one random point each`;
}

function show() {
  track.value = at;
  track.setAttribute('aria-valuetext', 'step ' + at);
  return choice().name === 'perceptron' ? showPerceptron() : showTrained();
}

function move(to) {
  at = Math.max(choice().name === 'perceptron' ? 0 : 1, Math.min(most, to));
  return show();
}

function stop() {
  clearInterval(playing);
  playing = 0;
  const button = bar.querySelector('[data-play]');
  if (button) button.textContent = 'Play';
}
function play(button) {
  if (playing) return stop();
  if (at >= most) at = 0;
  button.textContent = 'Pause';
  playing = setInterval(() => (at >= most ? stop() : move(at + 1)), 450);
}

// Shows the bar where the learner goes in steps; the picture itself is that of the end until it is used.
export function offerSteps() {
  const name = choice().name, suits = ['perceptron', 'pegasos', 'kmeans'].includes(name) && session.fit && !session.fit.stale && !session.file;
  stop();
  if (!suits) {
    bar.hidden = true;
    return;
  }
  if (name === 'perceptron' && session.fit.classes.length !== 2) {
    bar.hidden = true;
    return;
  }
  most = name === 'perceptron' ? Math.max(1, session.fit.report.support) : name === 'kmeans' ? 8 : 35;
  at = most;
  const button = (text, label, f) => el('button', { type: 'button', class: 'button', 'aria-label': label, onclick: f }, text);
  track = el('input', { type: 'range', min: 0, max: most, value: most, step: 1, 'aria-label': 'Step' });
  track.addEventListener('input', () => {
    stop();
    move(+track.value);
  });
  say = el('span', { class: 'hint', role: 'status' }, name === 'perceptron' ? 'mistake by mistake' : 'step by step');
  const start = el('button', { type: 'button', class: 'button main', 'data-play': true }, 'Play');
  start.addEventListener('click', () => play(start));
  bar.replaceChildren(start, button('‹', 'One step back', () => { stop(); move(at - 1); }), button('›', 'One step on', () => { stop(); move(at + 1); }), track, say);
  bar.hidden = false;
}
