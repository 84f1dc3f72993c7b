// tune.js: two parameters against each other, cell by cell, by cross-validation.
// SPDX-License-Identifier: Apache-2.0
import { $, el, short, plain, heat } from './util.js';
import { ask, forget } from './engine.js';
import { state, session, changed, remember } from './state.js';
import { calls, withParameter } from './expression.js';
import { choice, chosenOptions, dataNow, learnerInfo, notYet, shownModel } from './machine.js';
import { views } from './panels.js';

const CELLS = 9;
let run = 0;

// The first positive number of the kernel, and of the learner.
function kernelAxis() {
  const names = new Set(session.hello.kernels.map((k) => k.name));
  for (const call of calls(state.kernel, names)) {
    const params = session.hello.kernels.find((k) => k.name === call.name).params;
    const p = params.find((q) => call.args.some((a) => a.key === q.name) && (q.type === 'reals' || q.type === 'real') && q.min === 0);
    if (p) {
      const now = +call.args.find((a) => a.key === p.name).value;
      if (now > 0) return { name: p.name, now, set: (v) => withParameter(state.kernel, call, p.name, plain(v)) };
    }
  }
  return null;
}
function learnerAxis() {
  const p = ['C', 'lambda', 'noise', 'nu'].map((n) => learnerInfo().params.find((q) => q.name === n)).find(Boolean);
  if (!p) return null;
  const shares = p.name === 'nu';
  return { name: p.name, values: Array.from({ length: CELLS }, (_, i) => +(shares ? 0.05 + 0.11 * i : 10 ** (-2 + 0.5 * i)).toPrecision(2)) };
}

function tune() {
  const x = kernelAxis(), y = learnerAxis(), why = shownModel() ? 'This is a model as it is: train on data to tune.' : notYet();
  if (why || !x || !y || choice().task === 'structure') return $('panel').replaceChildren(el('p', { class: 'hint' }, why || 'Tuning needs a kernel with a positive parameter, such as rbf(gamma=1), and a learner with C, lambda, nu or noise.'));
  const mine = ++run, xs = Array.from({ length: CELLS }, (_, i) => +(x.now * 10 ** (-2 + 0.5 * i)).toPrecision(2));
  const grid = el('div', { class: 'heat', style: `grid-template-columns:repeat(${CELLS},1fr)`, role: 'group', 'aria-label': 'Cross-validated score for each pair of values' });
  const say = el('p', {}, 'Press start: each cell is trained and tested five times.'), cells = [];
  for (let r = CELLS - 1; r >= 0; r--)
    for (let c = 0; c < CELLS; c++) {
      const cell = el('button', { type: 'button', 'aria-label': `${x.name} ${xs[c]}, ${y.name} ${y.values[r]}`, title: `${x.name} = ${xs[c]}, ${y.name} = ${y.values[r]}` });
      cell.addEventListener('click', () => {
        state.kernel = x.set(xs[c]);
        state.options = { ...state.options, [y.name]: String(y.values[r]) };
        changed('machine');
        remember();
        say.textContent = `${x.name} = ${xs[c]}, ${y.name} = ${y.values[r]} chosen.`;
      });
      grid.append(cell);
      cells.push({ cell, c, r });
    }
  const start = el('button', { type: 'button', class: 'button main' }, 'Start');
  start.addEventListener('click', async () => {
    start.disabled = true;
    const smaller = choice().task === 'numbers', metric = smaller ? 'mse' : 'accuracy', done = [];
    for (const at of cells) {
      if (mine !== run || state.panel !== 'tune') return forget('tune');
      const answer = await ask({ do: 'cv', learner: choice().name, options: { ...chosenOptions(), [y.name]: String(y.values[at.r]) }, kernel: x.set(xs[at.c]), data: dataNow(), metric }, 'tune');
      if (!answer) return;
      at.score = answer.ok ? answer.metrics[0].mean : NaN;
      if (answer.ok) done.push(at.score);
      const low = Math.min(...done), high = Math.max(...done);
      const best = smaller ? low : high;
      for (const k of cells) {
        if (k.score == null || Number.isNaN(k.score)) continue;
        const t = high > low ? (k.score - low) / (high - low) : 1, ink = heat(smaller ? 1 - t : t);
        k.cell.style.background = `rgb(${ink})`;
        k.cell.classList.toggle('best', k.score === best);
        k.cell.title = `${x.name} = ${xs[k.c]}, ${y.name} = ${y.values[k.r]}: ${metric} ${short(k.score)}`;
      }
      say.textContent = `${done.length} of ${cells.length}; best ${metric} ${short(best)}. Choose a cell to take its values.`;
    }
    start.disabled = false;
    start.textContent = 'Again';
  });
  $('panel').replaceChildren(
    el('div', { class: 'row' }, start, el('span', { class: 'hint' }, `${x.name} against ${y.name}, 5-fold cross-validation`)),
    grid,
    el('p', { class: 'heatx' }, el('span', {}, `${x.name} ${xs[0]}`), el('span', {}, `${y.name} upwards, ${y.values[0]} to ${y.values[CELLS - 1]}`), el('span', {}, String(xs[CELLS - 1]))),
    say,
  );
}

views.tune = tune;
