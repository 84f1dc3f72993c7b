// controls.js: a slider, box or menu for every parameter, from the parameter tables.
// SPDX-License-Identifier: Apache-2.0
import { el, plain } from './util.js';

// Those that come first; all others are behind "more".
const FIRST = ['kernel2', 'C', 'nu', 'epsilon', 'lambda', 'gamma', 'degree', 'c', 'noise', 'neighbors', 'clusters', 'components', 'loss', 'optimize', 'passes', 'bias', 'probability', 'variant', 'vote', 'multiclass'];
const SECOND = ['lambda', 'sigma', 'width', 'beta']; // other names for what C and gamma say, unless given

let serial = 0;

// What a parameter is when nobody says: from the table, or from its help ("default 1").
export function standard(p) {
  if (p.default != null) return String(p.default);
  const m = /\(default ([\d.e+-]+)\)/.exec(p.help || '');
  return m ? m[1] : '';
}

function sliderRange(p) {
  const base = Math.abs(+standard(p)) || 1;
  if (p.type === 'integer') {
    const low = p.min ?? 0;
    return { low, high: Math.min(p.max ?? Infinity, Math.max(low + 9, base * 2, 10)), log: base >= 100 };
  }
  if (p.min_open && base < 0.01) return { low: Math.min(base, 1e-10), high: 0.1, log: true };
  if (p.max != null && p.max <= 1) return { low: p.min_open ? 0.01 : p.min ?? 0, high: p.max_open ? 0.99 : p.max, log: false };
  if (p.min === 0 && (p.min_open || p.name === 'epsilon' ? p.min_open : false)) return { low: base / 1000, high: base * 1000, log: true };
  if (p.min === 0) return { low: 0, high: Math.max(2, base * 10), log: false };
  return { low: -5, high: 5, log: false };
}

function slider(p, id, value, set) {
  const range = sliderRange(p), hard = p.name === 'C' && /inf/.test(p.help || '');
  const toPlace = (v) => (range.log ? Math.log10(v / range.low) / Math.log10(range.high / range.low) : (v - range.low) / (range.high - range.low));
  const top = hard ? 1.06 : 1;
  const number = value === 'inf' ? Infinity : +value;
  const input = el('input', { type: 'range', id, min: 0, max: top, step: p.type === 'integer' && !range.log ? 1 / (range.high - range.low) : 0.005, title: p.help });
  input.value = number === Infinity ? top : Number.isFinite(number) && value !== '' ? Math.min(Math.max(toPlace(number), 0), 1) : 0.5;
  const box = el('input', { type: 'text', value, inputmode: 'decimal', 'aria-label': p.name + ', as a number', title: p.help });
  const words = () => input.setAttribute('aria-valuetext', box.value || 'not set');
  const read = () => {
    const t = +input.value;
    if (hard && t > 1.02) return 'inf';
    const v = range.log ? range.low * Math.pow(range.high / range.low, Math.min(t, 1)) : range.low + Math.min(t, 1) * (range.high - range.low);
    return p.type === 'integer' ? String(Math.round(v)) : plain(range.log ? +v.toPrecision(3) : +v.toFixed(2));
  };
  input.addEventListener('input', () => {
    box.value = read();
    words();
    set(box.value, true);
  });
  input.addEventListener('change', () => set(read(), false));
  box.addEventListener('change', () => {
    const v = box.value.trim();
    const n = v === 'inf' ? Infinity : +v;
    if (v !== '' && Number.isFinite(n)) input.value = Math.min(Math.max(toPlace(n), 0), 1);
    set(v, false);
  });
  words();
  return [input, box];
}

// One parameter: set(value as text, rough).
export function control(p, value, set) {
  const id = 'p' + ++serial;
  const label = el('label', { for: id, title: p.help }, p.name);
  const now = value ?? standard(p);
  if (p.type === 'flag') {
    const box = el('input', { type: 'checkbox', id, checked: now === 'yes', title: p.help });
    box.addEventListener('change', () => set(box.checked ? 'yes' : 'no', false));
    return el('div', { class: 'param wide' }, label, box);
  }
  if (p.type === 'choice') {
    const menu = el('select', { id, title: p.help }, ...p.choices.split('|').map((c) => el('option', { value: c, selected: c === now }, c)));
    menu.addEventListener('change', () => set(menu.value, false));
    return el('div', { class: 'param wide' }, label, menu);
  }
  const isNumber = p.type === 'real' || p.type === 'integer' || (p.type === 'reals' && !/^\[/.test(now)) || (p.name === 'lambda' && /^[\d.e+-]*$/.test(now));
  if (isNumber) {
    const like = p.name === 'lambda' && p.type === 'text' ? { ...p, type: 'real', min: 0, min_open: true } : p;
    return el('div', { class: 'param' }, label, ...slider(like, id, now, set));
  }
  const box = el('input', { type: 'text', id, value: now, title: p.help });
  box.addEventListener('change', () => set(box.value.trim(), false));
  return el('div', { class: 'param wide' }, label, box);
}

// All parameters of a table: the usual ones, the others behind "more". values: name -> text of those given.
export function controls(params, values, set, skip = []) {
  const usual = [], others = [];
  for (const p of params) {
    if (skip.includes(p.name)) continue;
    const given = values[p.name] != null;
    const other = SECOND.includes(p.name) && p.default == null;
    (given || (!other && (FIRST.includes(p.name) || (standard(p) !== '' && params.length <= 4))) ? usual : others).push(p);
  }
  usual.sort((a, b) => (FIRST.indexOf(a.name) + 99) % 99 - (FIRST.indexOf(b.name) + 99) % 99);
  const make = (p) => control(p, values[p.name], (v, rough) => set(p, v, rough));
  const nodes = usual.map(make);
  if (others.length) nodes.push(el('details', {}, el('summary', {}, 'more: ' + others.map((p) => p.name).join(', ')), el('div', { class: 'params' }, ...others.map(make))));
  return nodes;
}
