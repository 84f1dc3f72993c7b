// machine.js: which learners there are, what is asked of the engine, and when.
// SPDX-License-Identifier: Apache-2.0
import { $, decodeBytes, decodeFloats } from './util.js';
import { ask } from './engine.js';
import { state, session, changed } from './state.js';

export const CLASSES = 'ABCD';
const RANGE = [-3, 3];

// A choice of the menu: a learner of the engine, and what it is used for.
export function choices() {
  const of = (task, names) => names.map((n) => ({ id: n.id || n, name: n.name || n, task, fixed: n.fixed || {} }));
  const both = (name, task) => ({ id: name + (task === 'regress' ? '-numbers' : ''), name, fixed: { task } });
  return [
    { title: 'Classes', list: of('classes', ['svm', 'nu-svm', 'logistic', 'perceptron', 'pegasos', 'l1-svm', both('gp', 'classify'), both('ridge', 'classify'), both('erm', 'classify'), both('knn', 'classify')]) },
    { title: 'Numbers', list: of('numbers', ['svr', 'nu-svr', both('ridge', 'regress'), both('gp', 'regress'), both('erm', 'regress'), both('knn', 'regress')]) },
    { title: 'Structure', list: of('structure', ['one-class', 'kmeans', 'pca', 'fisher', 'cca']) },
  ];
}
export function choice() {
  const all = choices().flatMap((g) => g.list);
  return all.find((c) => c.id === state.learner) || all[0];
}
export const isNumbers = () => choice().task === 'numbers';
export const learnerInfo = () => session.hello.learners.find((l) => l.name === choice().name);

export const kernelNames = () => new Set(session.hello.kernels.map((k) => k.name));
// The model of a file that is drawn as it is; null: the page trains.
export const shownModel = () => (session.file ? session.file.model : null);

// The points of a page are solved far beyond what can be seen, so that the native engine, WebAssembly, and the
// command and code that are exported all come to the same model. A large C makes that slow, and worthless. '': the
// learner's own tolerance.
const TIGHT = ['svm', 'nu-svm', 'one-class', 'svr', 'nu-svr', 'logistic', 'erm'];
export function tolerance() {
  if (session.file || !TIGHT.includes(choice().name)) return '';
  const C = state.options.C === 'inf' ? Infinity : +(state.options.C || 1);
  return C > 100 ? '1e-6' : '1e-10';
}

// Options that were chosen; and all, as the engine and the program take them.
export function chosenOptions() {
  const known = new Set(learnerInfo().params.map((p) => p.name));
  const options = { ...choice().fixed };
  for (const [k, v] of Object.entries(state.options)) if (known.has(k) && v !== '') options[k] = v;
  return options;
}
export function optionsNow() {
  const options = chosenOptions(), tol = tolerance();
  return tol && !options.tol ? { ...options, tol } : options;
}

export function csv(sorted = false) {
  const two = (v) => String(Math.round(v * 100) / 100);
  if (isNumbers()) return 'x,y\n' + state.points.map((p) => two(p[0]) + ',' + two(p[1]) + '\n').join('');
  const points = sorted ? [...state.points].sort((a, b) => a[2] - b[2]) : state.points;
  return 'x1,x2,class\n' + points.map((p) => two(p[0]) + ',' + two(p[1]) + ',' + CLASSES[p[2]] + '\n').join('');
}

export function dataNow() {
  if (session.file) return session.file.data || 'model';
  return { name: 'points.csv', text: csv() };
}

// The data of a request, with the model of the file where one is drawn.
export function source() {
  return { data: dataNow(), ...(shownModel() ? { model: shownModel().file } : {}) };
}

// The part of the plane that is drawn.
export function extent() {
  return session.file && session.file.extent ? session.file.extent : { x: RANGE, y: RANGE };
}

export function planeNow(size) {
  if (session.file && !session.file.extent) return undefined;
  const e = extent();
  if (isNumbers() && (!session.file || session.file.cols === 1)) return { x: e.x, y: e.y, nx: 241, ny: 1, draws: choice().name === 'gp' ? 3 : 0 };
  return { x: e.x, y: e.y, nx: size, ny: size, column: session.columns[0], row: session.columns[1] };
}

// Why nothing can be trained yet; '': it can.
export function notYet() {
  if (session.file) return '';
  const n = state.points.length;
  if (isNumbers()) return n < 2 ? 'Click to place points: a curve will follow them.' : '';
  if (choice().task === 'classes' || choice().name === 'fisher') {
    const used = new Set(state.points.map((p) => p[2])).size;
    if (n === 0) return 'Click to place points. Choose another colour above for the second class.';
    if (used < 2) return 'Now place points of a second class: choose another colour above.';
    return '';
  }
  return n < 3 ? 'Click to place points.' : '';
}

export function fitRequest(size) {
  if (shownModel()) return { do: 'show', ...source(), plane: planeNow(size) };
  return { do: 'fit', learner: choice().name, options: optionsNow(), kernel: state.kernel, data: dataNow(), plane: planeNow(size) };
}

export function decodePlane(answer) {
  const p = answer.plane;
  if (!p) return;
  for (const key of ['score', 'proba', 'std', 'draws']) if (p[key]) p[key] = decodeFloats(p[key]);
  if (p.value) p.value = decodeBytes(p.value);
  if (answer.scores) answer.scores = decodeFloats(answer.scores);
}

let latest = 0, settle = 0;
// Trains and shows. rough: a coarse plane now, a fine one when the hand rests.
export async function refit(rough = false) {
  clearTimeout(settle);
  const why = notYet();
  if (why) {
    latest++;
    session.fit = null;
    session.error = null;
    session.why = why;
    changed('fit', rough);
    return;
  }
  session.why = '';
  const mine = ++latest;
  const answer = await ask(fitRequest(rough ? 56 : 140), 'fit', true);
  if (!answer || mine !== latest || (answer.error && answer.error.stopped && !answer.error.late)) return;
  if (answer.ok) {
    decodePlane(answer);
    session.fit = answer;
    session.error = null;
  } else {
    session.error = answer.error;
    if (session.fit) session.fit.stale = true;
  }
  if (rough) settle = setTimeout(() => refit(false), 160);
  changed('fit', rough);
}

export function setLearner(id) {
  const before = isNumbers();
  state.learner = id;
  return before !== isNumbers();
}
