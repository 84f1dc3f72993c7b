// samples.js: examples to begin with. The plane reaches from -3 to 3.
// SPDX-License-Identifier: Apache-2.0
import { random } from './util.js';

const around = (r, c, angle, radius, spread) => [radius * Math.cos(angle) + spread * r.normal(), radius * Math.sin(angle) + spread * r.normal(), c];
const many = (n, f) => Array.from({ length: n }, (_, i) => f(i));

function rings(r) {
  return many(90, (i) => (i < 35 ? around(r, 1, i * 1.7, 0.75, 0.16) : around(r, 0, i * 1.7, 2.05, 0.18)));
}
function moons(r) {
  return many(80, (i) => {
    const t = Math.PI * r.uniform();
    return i % 2 ? [1.5 * Math.cos(t) - 0.7 + 0.15 * r.normal(), 1.7 * Math.sin(t) - 0.6 + 0.15 * r.normal(), 0] : [-1.5 * Math.cos(t) + 0.7 + 0.15 * r.normal(), -1.7 * Math.sin(t) + 0.6 + 0.15 * r.normal(), 1];
  });
}
function xor(r) {
  return many(80, (i) => {
    const a = i & 1 ? 1 : -1, b = i & 2 ? 1 : -1;
    return [1.3 * a + 0.42 * r.normal(), 1.3 * b + 0.42 * r.normal(), a * b > 0 ? 0 : 1];
  });
}
function blobs(r) {
  const centre = [[-1.5, 1.1], [1.5, 1.2], [0, -1.4]];
  return many(75, (i) => [centre[i % 3][0] + 0.5 * r.normal(), centre[i % 3][1] + 0.5 * r.normal(), i % 3]);
}
function line(r) {
  return many(50, (i) => {
    const t = 4 * r.uniform() - 2, off = (i % 2 ? 1 : -1) * (0.55 + 0.9 * r.uniform());
    return [t - 0.55 * off, 0.6 * t + off, i % 2];
  });
}
function spirals(r) {
  return many(120, (i) => {
    const t = 0.35 + 0.058 * Math.floor(i / 2) * 2.2, turn = i % 2 ? 0 : Math.PI;
    return [0.36 * t * Math.cos(t + turn) + 0.05 * r.normal(), 0.36 * t * Math.sin(t + turn) + 0.05 * r.normal(), i % 2];
  });
}
function band(r) {
  return many(60, () => {
    const x = 5.4 * r.uniform() - 2.7;
    return [x, 1.6 * r.uniform() - 0.8, Math.abs(x) < 1.2 ? 1 : 0];
  });
}
function overlap(r) {
  return many(90, (i) => [(i % 2 ? 0.75 : -0.75) + 0.85 * r.normal(), (i % 2 ? 0.5 : -0.5) + 0.85 * r.normal(), i % 2]);
}
function wave(r) {
  return many(34, () => {
    const x = 5.4 * r.uniform() - 2.7;
    return [x, 1.4 * Math.sin(1.7 * x) + 0.22 * x + 0.22 * r.normal(), 0];
  });
}
function gap(r) {
  return many(26, () => {
    let x = 4 * r.uniform() - 2.8;
    if (x > -0.4) x += 1.5;
    return [x, Math.sin(2 * x) * (1 + 0.25 * x) + 0.12 * r.normal(), 0];
  });
}

const made = { rings, moons, xor, line, blobs, spirals, band, overlap, wave, gap };
export const sampleNames = Object.keys(made);
// wave and gap have numbers, not classes.
export const isCurve = (name) => name === 'wave' || name === 'gap';

export function sample(name, seed = 7) {
  const clip = (v) => Math.round(100 * Math.min(Math.max(v, -2.9), 2.9)) / 100;
  return made[name](random(seed)).map(([x, y, c]) => [clip(x), clip(y), c]);
}
