// state.js: everything that can be undone and sent as a link.
// SPDX-License-Identifier: Apache-2.0

export const state = {
  view: 'play', lesson: 0, panel: 'certificate', points: [], learner: 'svm', options: {}, kernel: 'rbf(gamma=1)', sample: '',
  pair: { words: ['statistics', 'statues'], kernel: 'spectrum(p=3)', graphs: null, graphKernel: 'graphlet(p=3, mode=count)' },
};
// What is not part of a link: the file that is looked at, the class that a click places.
export const session = { pen: 0, file: null, hello: null, fit: null, columns: [0, 1], modelnote: null };

const listeners = [];
export const onChange = (f) => listeners.push(f);
// what: 'past', 'points', 'machine', 'view', 'panel', 'pair' or 'all'; rough: more will follow at once (dragging).
export function changed(what, rough = false) {
  for (const f of listeners) f(what, rough);
}

// Points as whole hundredths keep links short.
function pack(more = {}) {
  const s = { ...state, points: state.points.flatMap((p) => [Math.round(p[0] * 100), Math.round(p[1] * 100), p[2]]), ...more };
  return JSON.stringify(s);
}
// What can be undone: data and settings, not what is looked at.
const content = () => pack({ view: undefined, lesson: undefined, panel: undefined });
function unpack(text) {
  const s = JSON.parse(text);
  if (!Array.isArray(s.points) || typeof s.kernel !== 'string' || typeof s.learner !== 'string') throw new Error('not a state');
  const points = [];
  for (let i = 0; i + 2 < s.points.length; i += 3) points.push([s.points[i] / 100, s.points[i + 1] / 100, s.points[i + 2]]);
  Object.assign(state, s, { points: points.filter((p) => p.every(Number.isFinite)).slice(0, 2000), options: { ...s.options }, pair: { ...state.pair, ...s.pair } });
}

export function address() {
  const bytes = new TextEncoder().encode(pack());
  let raw = '';
  for (const b of bytes) raw += String.fromCharCode(b);
  return '#' + btoa(raw).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}
export function fromAddress(hash) {
  try {
    const raw = atob(hash.slice(1).replace(/-/g, '+').replace(/_/g, '/'));
    unpack(new TextDecoder().decode(Uint8Array.from(raw, (c) => c.charCodeAt(0))));
    return true;
  } catch (fault) {
    return false;
  }
}

// Every view and every lesson has its own work, and its own past.
const works = {};
function work() {
  return (works[state.view === 'lessons' ? 'lesson ' + state.lesson : state.view] ??= { past: [], future: [], present: '', file: null });
}
export function remember() {
  const now = content(), w = work();
  history.replaceState(null, '', address());
  if (now === w.present) return;
  if (w.present) w.past.push(w.present);
  if (w.past.length > 200) w.past.shift();
  w.present = now;
  w.future.length = 0;
  changed('past');
}
function travel(from, to) {
  if (!from.length) return;
  const w = work();
  to.push(w.present);
  w.present = from.pop();
  unpack(w.present);
  history.replaceState(null, '', address());
  changed('all');
}
export const undo = () => travel(work().past, work().future);
export const redo = () => travel(work().future, work().past);
export const canUndo = () => work().past.length > 0;
export const canRedo = () => work().future.length > 0;

// Goes to another view. True: what was there before is there again.
export function goTo(view, lesson = state.lesson) {
  remember();
  Object.assign(work(), { file: session.file, columns: session.columns, panel: state.panel });
  state.view = view;
  state.lesson = lesson;
  const w = work();
  session.file = w.file;
  session.columns = w.columns || [0, 1];
  session.pen = 0;
  if (session.fit) session.fit.stale = true; // it answers nothing here
  if (!w.present) return false;
  unpack(w.present);
  state.panel = w.panel;
  return true;
}
