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
// what: 'points', 'machine', 'view', 'panel', 'pair' or 'all'; rough: more will follow at once (dragging).
export function changed(what, rough = false) {
  for (const f of listeners) f(what, rough);
}

// Points as whole hundredths keep links short.
function pack() {
  const s = { ...state, points: state.points.flatMap((p) => [Math.round(p[0] * 100), Math.round(p[1] * 100), p[2]]) };
  return JSON.stringify(s);
}
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

const past = [], future = [];
let present = '';
export function remember() {
  const now = pack();
  if (now === present) return;
  if (present) past.push(present);
  if (past.length > 200) past.shift();
  present = now;
  future.length = 0;
  history.replaceState(null, '', address());
}
function travel(from, to) {
  if (!from.length) return;
  to.push(present);
  present = from.pop();
  unpack(present);
  history.replaceState(null, '', address());
  changed('all');
}
export const undo = () => travel(past, future);
export const redo = () => travel(future, past);
export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;
