// util.js: elements, numbers, colours.
// SPDX-License-Identifier: Apache-2.0

export const $ = (id) => document.getElementById(id);

// An element: el('p', {class: 'hint', onclick: f}, 'text', child).
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, '');
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.filter((c) => c != null));
  return node;
}

export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (value != null && value !== false) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

// Six digits at most, without needless ones.
export function short(value, digits = 4) {
  if (value == null || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text = size < 1e-3 || size >= 1e6 ? value.toExponential(digits - 2) : String(+value.toPrecision(digits));
  return text.replace(/\.0+e/, 'e').replace('e-', 'e−').replace(/^-/, '−');
}

// As an expression writes it.
export const plain = (value) => String(+(+value).toPrecision(6));

export function decodeBytes(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

export const decodeFloats = (text) => new Float32Array(decodeBytes(text).buffer);

export function encodeBytes(bytes) {
  let raw = '';
  for (let i = 0; i < bytes.length; i += 8192) raw += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(raw);
}

// Colours of the theme, read once for each theme.
let known = {};
export function colour(name) {
  if (!known[name]) known[name] = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  return known[name];
}
export function forgetColours() {
  known = {};
}
export function rgb(name) {
  const hex = colour(name);
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}
export const classColour = (c) => colour('c' + (c % 4));

export const dark = () => document.documentElement.dataset.theme === 'dark';

// The ramps of the library's own pictures.
const HEAT = [0x2b1655, 0x3b3f86, 0x2f6b8f, 0x24908c, 0x43b37a, 0x9ccf52, 0xf6e03a];
const DIVERGING = [0x0a4f84, 0x2f84bf, 0x8dbfe0, 0xdfe3e6, 0xf2b98c, 0xdc7a2d, 0x9a4300];
function ramp(steps, t) {
  const at = Math.min(Math.max(t, 0), 1) * (steps.length - 1), i = Math.min(Math.floor(at), steps.length - 2), f = at - i;
  return [16, 8, 0].map((s) => Math.round((1 - f) * ((steps[i] >> s) & 255) + f * ((steps[i + 1] >> s) & 255)));
}
export const heat = (t) => ramp(HEAT, t);
export const diverging = (t) => ramp(DIVERGING, t);

let gone = 0;
export function toast(text) {
  $('toast').textContent = text;
  $('toast').classList.add('on');
  clearTimeout(gone);
  gone = setTimeout(() => $('toast').classList.remove('on'), 3500);
}

export function download(name, content, type) {
  const link = el('a', { href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// A small generator of random numbers with a seed: the examples are the same everywhere.
export function random(seed) {
  let a = seed >>> 0;
  const uniform = () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return { uniform, normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()) };
}
