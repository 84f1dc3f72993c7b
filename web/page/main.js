// main.js: puts the page together.
// SPDX-License-Identifier: Apache-2.0
import { $, el, svg, short, colour, classColour, forgetColours, dark } from './util.js';
import { ask } from './engine.js';
import { state, session, onChange, changed, remember, undo, redo, canUndo, canRedo, fromAddress, goTo } from './state.js';
import { calls, withParameter } from './expression.js';
import { controls } from './controls.js';
import { sample, sampleNames, isCurve } from './samples.js';
import { CLASSES, choices, choice, isNumbers, kernelNames, learnerInfo, refit, setLearner, shownModel, tolerance } from './machine.js';
import { closeFile, openFile, showFile, suitFile, suitViews, takeFile, useModel } from './files.js';
import { draw, forgetHand, legend, mark, shape } from './plane.js';
import { hasCoordinates, showPanel, stopOf, titles } from './panels.js';
import { offerSteps } from './steps.js';
import { showPair } from './pair.js';
import { checkLesson, lessonView, openLesson, showLesson } from './lessons.js';

const PANELS = ['certificate', 'matrix', 'spectrum', 'valid', 'lift', 'tune', 'coordinates', 'figure', 'take'];
const KERNELS = ['linear', 'poly(degree=2, c=1)', 'rbf(gamma=1)', 'laplace(gamma=1)', 'matern(length=1)', 'periodic(period=2)', 'sigmoid(a=1, b=-1)'];

// ---- data ------------------------------------------------------------------------------------------

function thumbnail(name) {
  const canvas = el('canvas', { width: 88, height: 88 }), g = canvas.getContext('2d');
  for (const [x, y, c] of sample(name)) {
    shape(g, isCurve(name) ? 0 : c, 44 + 14 * x, 44 - 14 * y, 3.4);
    g.fillStyle = classColour(c);
    g.fill();
  }
  return canvas;
}
function showSamples() {
  $('samples').replaceChildren(
    ...sampleNames.map((name) => el('button', { type: 'button', 'aria-pressed': String(state.sample === name && !session.file), onclick: () => useSample(name) }, thumbnail(name), name)),
  );
}
function useSample(name) {
  if (session.file) closeFile();
  state.points = sample(name);
  state.sample = name;
  if (isCurve(name) !== isNumbers()) setLearner(isCurve(name) ? 'gp-numbers' : 'svm');
  changed('all');
  remember();
}

// ---- learner ---------------------------------------------------------------------------------------

function showLearner() {
  const menu = $('learner');
  menu.replaceChildren(...choices().map((g) => el('optgroup', { label: g.title }, ...g.list.map((c) => el('option', { value: c.id, selected: c.id === choice().id }, c.name + (c.id.endsWith('-numbers') ? ' (numbers)' : ''))))));
  const info = learnerInfo();
  $('learnerhelp').textContent = info.summary;
  const set = (p, value, rough) => {
    if (value === '') delete state.options[p.name];
    else state.options[p.name] = value;
    changed('fitonly', rough);
    if (!rough) remember();
  };
  const values = { ...state.options };
  $('options').replaceChildren(...controls(info.params.map((p) => (p.name === 'tol' && tolerance() ? { ...p, default: tolerance() } : p)), values, set, ['task', 'cache', 'time-limit']));
}
$('learner').addEventListener('change', () => {
  const other = setLearner($('learner').value);
  suitViews();
  if (choice().name === 'kmeans' && !state.options.clusters) state.options.clusters = '2';
  if (other && state.sample && !session.file) {
    state.sample = isNumbers() ? 'wave' : 'moons';
    state.points = sample(state.sample);
  }
  mark([]);
  if (hasCoordinates()) state.panel = 'coordinates';
  else if (state.panel === 'coordinates') state.panel = 'certificate';
  changed('all');
  remember();
});

// ---- kernel ----------------------------------------------------------------------------------------

// Marks the button of the kernel, whatever its parameters are.
function markKernel() {
  const found = calls(state.kernel, kernelNames()), whole = found.length === 1 && state.kernel.trim() === state.kernel.slice(found[0].from, found[0].to);
  $('kernelchips').querySelectorAll('button').forEach((b) => b.setAttribute('aria-pressed', String(whole && found[0].name === b.textContent)));
}
function showKernel() {
  if (document.activeElement !== $('kernel')) $('kernel').value = state.kernel;
  $('kernelchips').replaceChildren(...KERNELS.map((k) => el('button', { type: 'button', onclick: () => setKernel(k) }, /^\w+/.exec(k)[0])));
  markKernel();
  showKernelParams();
}
function showKernelParams() {
  const nodes = [];
  const found = calls(state.kernel, kernelNames());
  found.forEach((call, index) => {
    const info = session.hello.kernels.find((k) => k.name === call.name);
    if (!info.params.length) return;
    if (found.length > 1) nodes.push(el('p', { class: 'group' }, call.name));
    const values = {};
    for (const a of call.args) if (a.key) values[a.key] = a.value;
    const set = (p, value, rough) => {
      const now = calls(state.kernel, kernelNames())[index];
      if (!now) return;
      let text = withParameter(state.kernel, now, p.name, value);
      // gamma, sigma, width and beta say the same thing: only one may stand there.
      const same = ['gamma', 'sigma', 'width', 'beta'];
      if (same.includes(p.name) && value !== '')
        for (const other of same) {
          const again = calls(text, kernelNames())[index];
          if (other !== p.name && again && again.args.some((a) => a.key === other)) text = withParameter(text, again, other, '');
        }
      state.kernel = text;
      $('kernel').value = text;
      markKernel();
      changed('fitonly', rough);
      if (!rough) remember();
    };
    nodes.push(...controls(info.params.map((p) => (p.name === 'tol' && tolerance() ? { ...p, default: tolerance() } : p)), values, set, ['file', 'q', 'diag']));
  });
  $('kernelparams').replaceChildren(...nodes);
}
function setKernel(text) {
  state.kernel = text;
  $('kernel').value = text;
  changed('machine');
  remember();
}
function showKernelError(error) {
  const input = $('kernel');
  const mine = error && error.expression != null;
  input.setAttribute('aria-invalid', String(!!mine));
  $('kernelerror').replaceChildren(...(mine ? [el('pre', {}, error.expression + '\n' + ' '.repeat(error.column) + '^'.repeat(Math.max(1, error.length))), error.message.replace(/^kernel: /, '')] : []));
}

// Completion: names of kernels, and within a call its parameters.
const list = $('kernellist');
let active = -1;
function suggestions() {
  const input = $('kernel'), at = input.selectionStart, before = input.value.slice(0, at), word = /[A-Za-z_]\w*$/.exec(before)?.[0] ?? '';
  const outer = calls(input.value, kernelNames()).filter((c) => c.open >= 0 && c.open <= at && at < (input.value[c.to - 1] === ')' ? c.to : c.to + 1)).pop();
  const items = [];
  if (outer) for (const p of session.hello.kernels.find((k) => k.name === outer.name).params) if (p.name.startsWith(word) && !outer.args.some((a) => a.key === p.name)) items.push({ text: p.name + '=', help: p.help, word });
  if (word || !outer) for (const k of session.hello.kernels) if (k.name.startsWith(word) && (k.name !== word || !word)) items.push({ text: k.name, help: k.summary, word });
  return word || /[(,+*\s]$/.test(before) || !before ? items.slice(0, 12) : [];
}
function closeList() {
  list.hidden = true;
  active = -1;
  $('kernel').setAttribute('aria-expanded', 'false');
  $('kernel').removeAttribute('aria-activedescendant');
}
function openList() {
  const items = suggestions();
  active = -1;
  if (!items.length) return closeList();
  list.replaceChildren(...items.map((s, i) => el('li', { role: 'option', id: 'kernel' + i, 'aria-selected': 'false', onpointerdown: (e) => { e.preventDefault(); complete(s); } }, el('b', {}, s.text), el('span', {}, s.help))));
  list.items = items;
  list.hidden = false;
  $('kernel').setAttribute('aria-expanded', 'true');
}
function complete(s) {
  const input = $('kernel'), at = input.selectionStart, start = at - s.word.length;
  input.value = input.value.slice(0, start) + s.text + input.value.slice(at);
  input.setSelectionRange(start + s.text.length, start + s.text.length);
  closeList();
  input.dispatchEvent(new Event('input'));
}
function choose(step) {
  const n = list.children.length;
  active = (active + step + n) % n;
  [...list.children].forEach((li, i) => li.setAttribute('aria-selected', String(i === active)));
  list.children[active].scrollIntoView({ block: 'nearest' });
  $('kernel').setAttribute('aria-activedescendant', 'kernel' + active);
}
$('kernel').addEventListener('input', () => {
  state.kernel = $('kernel').value;
  openList();
  showKernelParams();
  markKernel();
  changed('fitonly', true);
});
$('kernel').addEventListener('change', remember);
$('kernel').addEventListener('blur', closeList);
$('kernel').addEventListener('keydown', (e) => {
  if (e.key === 'ArrowDown' && list.hidden) openList();
  else if (e.key === 'ArrowDown' && !list.hidden) choose(1);
  else if (e.key === 'ArrowUp' && !list.hidden) choose(-1);
  else if ((e.key === 'Enter' || e.key === 'Tab') && !list.hidden && active >= 0) complete(list.items[active]);
  else if (e.key === 'Escape' && !list.hidden) closeList();
  else if (e.key === 'Enter') {
    closeList();
    remember();
    return;
  } else return;
  if (e.key !== 'Tab' || active >= 0) e.preventDefault();
});

// ---- pens, status, tabs, views ---------------------------------------------------------------------

function symbol(c) {
  const box = svg('svg', { viewBox: '-8 -8 16 16', 'aria-hidden': 'true' });
  const d = ['M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0', 'M-5.3-5.3h10.6v10.6h-10.6z', 'M0-7 6.5 5h-13z', 'M0-7.5 7.5 0 0 7.5-7.5 0z'][c];
  box.append(svg('path', { d, fill: classColour(c) }));
  return box;
}
function showPens() {
  const pen = (value, label, icon) => el('button', { type: 'button', 'aria-pressed': String(session.pen === value), onclick: () => { session.pen = value; showPens(); } }, icon, label);
  const erase = svg('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' });
  erase.append(svg('path', { d: 'M3 3l10 10M13 3L3 13', stroke: colour('bad'), 'stroke-width': 2.4, 'stroke-linecap': 'round' }));
  const pens = isNumbers() ? [pen(0, 'Point', symbol(0))] : [0, 1, 2, 3].map((c) => pen(c, 'Class ' + CLASSES[c], symbol(c)));
  if (isNumbers() && session.pen > 0) session.pen = 0;
  $('pens').hidden = !!session.file;
  $('pens').replaceChildren(...pens, pen(-1, 'Erase', erase), el('span', { class: 'gap' }), el('button', { type: 'button', onclick: clearPoints }, 'Clear'));
}
function clearPoints() {
  state.points = [];
  state.sample = '';
  if (session.pen < 0) session.pen = 0;
  forgetHand();
  changed('points');
  showPens();
  remember();
}

function showStatus() {
  $('legend').replaceChildren(...legend().flatMap((words, i) => [i ? ' · ' : '', el('span', { class: 'whole' }, words)]));
  const box = $('status'), fit = session.fit, error = session.error;
  box.classList.toggle('bad', !!error);
  if (error) {
    box.textContent = error.expression != null ? 'The kernel has a mistake: ' + error.message.replace(/^kernel: /, '') : (error.late ? 'Stopped: it took longer than allowed. ' : '') + error.message;
    return;
  }
  if (!fit) {
    box.textContent = '';
    return;
  }
  const r = fit.report, t = fit.score || r.train || {}, parts = [];
  if (shownModel()) parts.push('the model ' + shownModel().name + (fit.score ? ' on these data' : ''));
  if (t.accuracy != null) parts.push(`${(100 * t.accuracy).toFixed(t.accuracy === 1 ? 0 : 1)} % right`);
  if (t.r2 != null) parts.push('R² ' + short(t.r2, 3));
  if (r.support != null && fit.outputs.length && ['svm', 'nu-svm', 'svr', 'nu-svr', 'one-class', 'l1-svm'].includes(r.learner)) parts.push(`${r.support} support vectors`);
  if (r.learner === 'knn') parts.push('nothing to solve');
  else if (r.certificate && r.certificate.kind) parts.push(({ optimal: 'certified', local: 'local optimum', rounding: 'at the limit of rounding', steps: 'not at the end' }[stopOf(r)] || r.stop) + `: ` + `${r.certificate.kind} ${short(r.certificate.value, 2)}`);
  if (!r.certificate && r.stop) parts.push(r.stop);
  box.replaceChildren(parts.map((p) => p + ' · ').join(''), el('span', { class: 'whole' }, `${fit.milliseconds < 1 ? '<1' : Math.round(fit.milliseconds)} ms`));
}

// Where a line is not enough, what to try next.
function showNudge() {
  const accuracy = session.fit && !session.error ? session.fit.report.train?.accuracy : null;
  const wanted = state.view === 'play' && choice().task === 'classes' && state.kernel.trim() === 'linear' && accuracy != null && accuracy < 0.9;
  if ($('nudge').hidden === !wanted) return;
  $('nudge').hidden = !wanted;
  const offer = (text) => el('button', { type: 'button', class: 'button', onclick: () => setKernel(text) }, /^\w+/.exec(text)[0]);
  $('nudge').replaceChildren(...(wanted ? ['A straight line does not separate these points. Try another kernel:', offer(KERNELS[2]), offer(KERNELS[1])] : []));
}

function showTabs() {
  if (!PANELS.includes(state.panel)) state.panel = 'certificate';
  $('tabs').replaceChildren(...PANELS.map((name) => el('button', { type: 'button', role: 'tab', id: 'tab-' + name, 'aria-selected': String(state.panel === name), 'aria-controls': 'panel', tabindex: state.panel === name ? 0 : -1, onclick: () => openPanel(name) }, titles[name])));
  $('panel').setAttribute('aria-labelledby', 'tab-' + state.panel);
}
function openPanel(name) {
  state.panel = name;
  showTabs();
  showPanel();
  remember();
}
$('tabs').addEventListener('keydown', (e) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!step) return;
  openPanel(PANELS[(PANELS.indexOf(state.panel) + step + PANELS.length) % PANELS.length]);
  $('tab-' + state.panel).focus();
});

function showView() {
  const pairs = state.view === 'words' || state.view === 'graphs' || (state.view === 'lessons' && lessonView(state.lesson) === 'words');
  document.querySelectorAll('.views button').forEach((b) => b.setAttribute('aria-current', b.dataset.view === state.view ? 'page' : 'false'));
  document.querySelector('.stage:not(.pairview)').hidden = pairs;
  $('pair').hidden = !pairs;
  document.querySelector('.inside').hidden = pairs;
  document.querySelectorAll('.controls > .card:not(#lesson)').forEach((card) => (card.hidden = pairs));
  document.querySelector('.controls').hidden = pairs && state.view !== 'lessons';
  showLesson();
  if (pairs) showPair();
  return pairs;
}
document.querySelectorAll('.views button').forEach((b) =>
  b.addEventListener('click', () => {
    if (b.dataset.view === 'lessons') return openLesson(state.lesson);
    goTo(b.dataset.view);
    remember();
    return changed('all');
  }),
);

// ---- what follows from what ------------------------------------------------------------------------

let panelLater = 0;
function later(rough) {
  clearTimeout(panelLater);
  if (!rough || ['certificate', 'coordinates'].includes(state.panel)) showPanel();
  else panelLater = setTimeout(showPanel, 120);
}
onChange((what, rough) => {
  $('undo').disabled = !canUndo();
  $('redo').disabled = !canRedo();
  if (what === 'past') return undefined;
  if (what === 'pens') return showPens();
  if (what === 'step') {
    draw();
    showStatus();
    return later(true);
  }
  if (what === 'fit') {
    draw();
    showStatus();
    showNudge();
    showKernelError(session.error);
    if (!rough) offerSteps();
    checkLesson();
    return later(rough);
  }
  if (what === 'all') {
    forgetHand();
    showSamples();
    showFile();
    showPens();
    showTabs();
    showLearner();
    showKernel();
    if (showView()) return undefined;
  }
  // Another learner, kernel or parameter: that is not the model of the file any more.
  if (shownModel() && (what === 'machine' || what === 'fitonly')) return rough ? undefined : closeFile();
  if (what === 'machine') {
    showLearner();
    showKernel();
  }
  if (what === 'points') {
    draw();
    if (!rough) showSamples();
  }
  return refit(rough);
});
new MutationObserver(checkLesson).observe($('pair'), { childList: true, subtree: true });

// ---- theme, undo, files ----------------------------------------------------------------------------

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  forgetColours();
}
setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (e) => {
  setTheme(e.matches ? 'dark' : 'light');
  changed('all');
});
$('theme').addEventListener('click', () => {
  setTheme(dark() ? 'light' : 'dark');
  changed('all');
});
$('undo').addEventListener('click', undo);
$('redo').addEventListener('click', redo);
addEventListener('keydown', (e) => {
  if (!(e.ctrlKey || e.metaKey) || e.key.toLowerCase() !== 'z' || /^(input|textarea)$/i.test(e.target.tagName)) return;
  e.preventDefault();
  if (e.shiftKey) redo();
  else undo();
});
addEventListener('hashchange', () => {
  if (!fromAddress(location.hash)) return;
  remember();
  changed('all');
});
$('choose').addEventListener('click', () => $('file').click());
$('file').addEventListener('change', () => $('file').files[0] && openFile($('file').files[0]));
addEventListener('dragover', (e) => {
  e.preventDefault();
  $('drop').hidden = false;
});
addEventListener('dragleave', (e) => {
  if (!e.relatedTarget) $('drop').hidden = true;
});
addEventListener('drop', (e) => {
  e.preventDefault();
  $('drop').hidden = true;
  if (e.dataTransfer.files[0]) openFile(e.dataTransfer.files[0]);
});

async function begin() {
  session.hello = await ask({ do: 'hello' });
  if (!session.hello.ok) {
    $('status').textContent = session.hello.error.message;
    return;
  }
  const restored = location.hash.length > 2 && fromAddress(location.hash);
  if (!restored) {
    state.points = sample('rings');
    state.sample = 'rings';
    state.kernel = 'linear';
    const { given, model, objects } = session.hello, shown = given || (objects && objects.fields && objects);
    if (model) useModel(model);
    if (shown) {
      takeFile(shown, given ? 'given' : null, model ? { ...model, file: 'given' } : null);
      if (!model) state.kernel = 'rbf(gamma=1)';
      suitFile();
      remember();
      return;
    }
  }
  remember();
  changed('all');
}
begin();
