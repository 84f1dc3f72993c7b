// lift.js: the quadratic map of the plane, (x², √2 xy, y²), turnable; and the plane that separates there.
// SPDX-License-Identifier: Apache-2.0
import { $, el, colour, classColour } from './util.js';
import { ask } from './engine.js';
import { state, session } from './state.js';
import { dataNow } from './machine.js';
import { views } from './panels.js';

let turn = 0.75, tilt = 0.42;
const map = (x, y) => [x * x, Math.SQRT2 * x * y, y * y];

// Weights of the separating plane in the space of the map, from the coefficients of a model of poly(degree=2).
async function separator() {
  const answer = await ask({ do: 'fit', learner: 'svm', options: { C: state.options.C || '100', tol: '1e-6' }, kernel: 'poly(degree=2)', data: dataNow() }, 'panel');
  if (!answer || !answer.ok || answer.outputs.length !== 1) return null;
  const o = answer.outputs[0], w = [0, 0, 0];
  o.object.forEach((i, k) => {
    const p = state.points[i];
    if (p) map(p[0], p[1]).forEach((v, d) => (w[d] += o.coef[k] * v));
  });
  return { w, b: o.offset, accuracy: answer.report.train && answer.report.train.accuracy };
}

async function lift() {
  if (session.file || !state.points.length) return $('panel').replaceChildren(el('p', { class: 'hint' }, 'Place points in the plane: they are lifted here.'));
  const plane = await separator();
  if (state.panel !== 'lift') return;
  const canvas = el('canvas', { width: 720, height: 720, tabindex: 0, role: 'img', 'aria-label': 'The points under the quadratic map in three dimensions; arrow keys turn the picture', style: 'touch-action:none;cursor:grab;background:var(--field)' });
  const most = Math.max(1, ...state.points.map((p) => Math.max(p[0] * p[0], p[1] * p[1])));
  const project = ([a, b, c]) => {
    const x = a / most - 0.5, y = b / most / Math.SQRT2, z = c / most - 0.5;
    const u = Math.cos(turn) * x - Math.sin(turn) * z, v = Math.sin(turn) * x + Math.cos(turn) * z;
    return [360 + 300 * u, 345 - 300 * (Math.cos(tilt) * y - Math.sin(tilt) * v), Math.sin(tilt) * y + Math.cos(tilt) * v];
  };
  const paint = () => {
    const g = canvas.getContext('2d');
    g.clearRect(0, 0, 720, 720);
    const stroke = (points, ink, thick) => {
      g.beginPath();
      points.forEach((p) => g.lineTo(...project(p).slice(0, 2)));
      g.strokeStyle = ink;
      g.lineWidth = thick;
      g.stroke();
    };
    const side = Math.sqrt(most), steps = Array.from({ length: 41 }, (_, i) => -side + (2 * side * i) / 40);
    for (let k = -4; k <= 4; k++) {
      stroke(steps.map((t) => map((k * side) / 4, t)), colour('line'), 1.5);
      stroke(steps.map((t) => map(t, (k * side) / 4)), colour('line'), 1.5);
    }
    for (const [end, name] of [[[most * 1.12, 0, 0], 'x₁²'], [[0, most * 1.12, 0], '√2 x₁x₂'], [[0, 0, most * 1.12], 'x₂²']]) {
      stroke([[0, 0, 0], end], colour('frame'), 2);
      const at = project(end);
      g.fillStyle = colour('muted');
      g.font = '24px system-ui, sans-serif';
      g.fillText(name, Math.min(at[0] + 6, 710 - g.measureText(name).width), Math.max(at[1], 24));
    }
    if (plane) drawPlane(g, project, plane, most);
    state.points.map((p) => [project(map(p[0], p[1])), p[2]]).sort((a, b) => a[0][2] - b[0][2]).forEach(([at, c]) => {
      g.beginPath();
      g.arc(at[0], at[1], 9, 0, 7);
      g.fillStyle = classColour(c);
      g.fill();
      g.lineWidth = 2;
      g.strokeStyle = colour('field');
      g.stroke();
    });
  };
  let last = null;
  canvas.addEventListener('pointerdown', (e) => {
    canvas.setPointerCapture(e.pointerId);
    last = [e.clientX, e.clientY];
  });
  canvas.addEventListener('pointermove', (e) => {
    if (!last) return;
    turn += (e.clientX - last[0]) * 0.01;
    tilt = Math.min(1.4, Math.max(-1.4, tilt + (e.clientY - last[1]) * 0.01));
    last = [e.clientX, e.clientY];
    paint();
  });
  canvas.addEventListener('pointerup', () => (last = null));
  canvas.addEventListener('keydown', (e) => {
    const way = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[e.key];
    if (!way) return;
    turn += way[0];
    tilt += way[1];
    paint();
    e.preventDefault();
  });
  paint();
  $('panel').replaceChildren(
    canvas,
    el('p', { class: 'hint' }, 'Drag to turn. The map (x₁², √2 x₁x₂, x₂²) is that of the kernel (x·z)²: what is a circle or a hyperbola below is a flat plane here.'),
    plane && plane.accuracy != null ? el('p', {}, plane.accuracy === 1 ? 'One plane separates the classes here.' : `The best plane here is right for ${(100 * plane.accuracy).toFixed(0)} %.`) : '',
  );
}

// The part of w·z + b = 0 inside the cube of the picture.
function drawPlane(g, project, { w, b }, most) {
  const low = [0, -most, 0], high = [most, most, most], corners = [];
  for (let a = 0; a < 3; a++)
    for (let k = 0; k < 4; k++) {
      const d = [(a + 1) % 3, (a + 2) % 3], p = [0, 0, 0];
      p[d[0]] = k & 1 ? high[d[0]] : low[d[0]];
      p[d[1]] = k & 2 ? high[d[1]] : low[d[1]];
      const t = -(b + w[d[0]] * p[d[0]] + w[d[1]] * p[d[1]]) / w[a];
      if (Number.isFinite(t) && t >= low[a] && t <= high[a]) {
        p[a] = t;
        corners.push(p);
      }
    }
  if (corners.length < 3) return;
  const flat = corners.map(project), cx = flat.reduce((s, p) => s + p[0], 0) / flat.length, cy = flat.reduce((s, p) => s + p[1], 0) / flat.length;
  flat.sort((p, q) => Math.atan2(p[1] - cy, p[0] - cx) - Math.atan2(q[1] - cy, q[0] - cx));
  g.beginPath();
  flat.forEach((p) => g.lineTo(p[0], p[1]));
  g.closePath();
  g.globalAlpha = 0.16;
  g.fillStyle = colour('text');
  g.fill();
  g.globalAlpha = 0.7;
  g.strokeStyle = colour('text');
  g.lineWidth = 2;
  g.stroke();
  g.globalAlpha = 1;
}

views.lift = lift;
