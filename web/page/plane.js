// plane.js: the picture: regions, margins, curves, points; and the hand that moves them.
// SPDX-License-Identifier: Apache-2.0
import { $, el, svg, short, colour, rgb, classColour, diverging } from './util.js';
import { state, session, changed, remember } from './state.js';
import { CLASSES, choice, extent, isNumbers, learnerInfo } from './machine.js';

const canvas = $('plane');
export const MARGINS = ['svm', 'nu-svm', 'pegasos', 'l1-svm'];
let width = 0, hover = -1, held = -1, chosen = -1, cross = null, marked = [], moved = false, touched = null;

export function mark(objects) {
  marked = objects;
  draw();
}

const px = (x) => ((x - extent().x[0]) / (extent().x[1] - extent().x[0])) * width;
const py = (y) => (1 - (y - extent().y[0]) / (extent().y[1] - extent().y[0])) * width;
const toX = (p) => extent().x[0] + (p / width) * (extent().x[1] - extent().x[0]);
const toY = (p) => extent().y[0] + (1 - p / width) * (extent().y[1] - extent().y[0]);

// Lines where a function on the grid crosses a level, in pixels of the canvas.
export function contour(values, nx, ny, level, stride = 1, offset = 0) {
  const pieces = [];
  const at = (i, j) => values[(j * nx + i) * stride + offset] - level;
  const sx = width / (nx - 1), sy = width / (ny - 1);
  for (let j = 0; j + 1 < ny; j++)
    for (let i = 0; i + 1 < nx; i++) {
      const a = at(i, j), b = at(i + 1, j), c = at(i + 1, j + 1), d = at(i, j + 1);
      const cuts = [];
      if (a > 0 !== b > 0) cuts.push([i + a / (a - b), j]);
      if (b > 0 !== c > 0) cuts.push([i + 1, j + b / (b - c)]);
      if (d > 0 !== c > 0) cuts.push([i + d / (d - c), j + 1]);
      if (a > 0 !== d > 0) cuts.push([i, j + a / (a - d)]);
      for (let k = 0; k + 1 < cuts.length; k += 2) pieces.push([cuts[k][0] * sx, width - cuts[k][1] * sy, cuts[k + 1][0] * sx, width - cuts[k + 1][1] * sy]);
    }
  return chain(pieces);
}

// Pieces that meet, as lines [x0, y0, x1, y1, ...]: dashes need them whole.
function chain(pieces) {
  const ends = new Map(), key = (x, y) => Math.round(x * 64) + ' ' + Math.round(y * 64);
  pieces.forEach((p, i) => {
    for (const k of [key(p[0], p[1]), key(p[2], p[3])]) ends.set(k, [...(ends.get(k) || []), i]);
  });
  const used = new Uint8Array(pieces.length), lines = [];
  const follow = (line, x, y) => {
    for (;;) {
      const next = (ends.get(key(x, y)) || []).find((i) => !used[i]);
      if (next == null) return;
      used[next] = 1;
      const p = pieces[next], there = key(p[0], p[1]) === key(x, y);
      [x, y] = there ? [p[2], p[3]] : [p[0], p[1]];
      line.push(x, y);
    }
  };
  pieces.forEach((p, i) => {
    if (used[i]) return;
    used[i] = 1;
    const ahead = [p[2], p[3]], behind = [p[0], p[1]];
    follow(ahead, p[2], p[3]);
    follow(behind, p[0], p[1]);
    const line = [];
    for (let k = behind.length - 2; k >= 0; k -= 2) line.push(behind[k], behind[k + 1]);
    lines.push(line.concat(ahead));
  });
  return lines;
}

// Which class (from 0, by the points' colours) each class of the model is.
export function classOf(name) {
  const at = CLASSES.indexOf(name);
  if (!session.file && at >= 0) return at;
  return session.file ? session.file.classes.indexOf(name) : at;
}

// The colour and strength of each cell of the plane.
function paint(fit) {
  const p = fit.plane, n = p.nx * p.ny, image = new ImageData(p.nx, p.ny);
  const inks = [0, 1, 2, 3].map((c) => rgb('c' + c));
  const put = (k, ink, strength) => {
    const at = 4 * ((p.ny - 1 - Math.floor(k / p.nx)) * p.nx + (k % p.nx));
    image.data[at] = ink[0];
    image.data[at + 1] = ink[1];
    image.data[at + 2] = ink[2];
    image.data[at + 3] = 255 * strength;
  };
  const task = fit.task;
  if (task === 'classification' && fit.classes.length === 2 && (p.score || p.proba)) {
    const first = classOf(fit.classes[0]), second = classOf(fit.classes[1]);
    for (let k = 0; k < n; k++) {
      const t = p.proba ? 2 * p.proba[2 * k + 1] - 1 : Math.tanh(p.score[k] * sign(fit));
      put(k, inks[(t > 0 ? second : first) & 3], 0.08 + 0.34 * Math.abs(t));
    }
  } else if (p.value) {
    const classes = fit.classes.map(classOf), many = fit.classes.length;
    for (let k = 0; k < n; k++) {
      const c = p.value[k], sure = p.proba ? p.proba[k * many + c] : 0.75;
      put(k, inks[(task === 'clustering' ? c : classes[c]) & 3], 0.05 + 0.33 * sure);
    }
  } else if (task === 'detection' && p.score) {
    const most = p.score.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-12);
    for (let k = 0; k < n; k++) put(k, inks[p.score[k] >= 0 ? 2 : 1], 0.06 + 0.3 * Math.min(1, Math.abs(p.score[k]) / most));
  } else if (p.score) {
    let low = Infinity, high = -Infinity;
    for (let k = 0; k < n; k++) {
      low = Math.min(low, p.score[k * p.outputs]);
      high = Math.max(high, p.score[k * p.outputs]);
    }
    const most = Math.max(Math.abs(low), Math.abs(high), 1e-12);
    for (let k = 0; k < n; k++) put(k, diverging(0.5 + (0.5 * p.score[k * p.outputs]) / most), 0.55);
  }
  const small = document.createElement('canvas');
  small.width = p.nx;
  small.height = p.ny;
  small.getContext('2d').putImageData(image, 0, 0);
  return small;
}

// 1: decision values are positive for the second class of the model's list.
function sign(fit) {
  const name = fit.outputs[0] && fit.outputs[0].name;
  return name && name.startsWith(fit.classes[0] + ' ') ? -1 : 1;
}

// The lines of a picture: [pieces, colour, width, dashes].
function lines(fit) {
  const p = fit.plane, list = [];
  if (!p || !p.score || p.ny < 2) return list;
  const text = colour('text');
  // A function that hardly varies has no lines, only rounding.
  let least = Infinity, largest = -Infinity;
  for (const v of p.score) [least, largest] = [Math.min(least, v), Math.max(largest, v)];
  if (!(largest - least > 1e-4 * Math.max(Math.abs(least), Math.abs(largest)))) return list;
  if (fit.task === 'classification' && p.outputs === 1) {
    if (MARGINS.includes(choice().name)) for (const level of [-1, 1]) list.push([contour(p.score, p.nx, p.ny, level), text, 1.2, [5, 5]]);
    list.push([contour(p.score, p.nx, p.ny, 0), text, 2.4, []]);
  } else if (fit.task === 'detection') {
    list.push([contour(p.score, p.nx, p.ny, 0), text, 2.4, []]);
  } else if (fit.task === 'transformation' || fit.task === 'regression') {
    let low = Infinity, high = -Infinity;
    for (let k = 0; k < p.nx * p.ny; k++) {
      low = Math.min(low, p.score[k * p.outputs]);
      high = Math.max(high, p.score[k * p.outputs]);
    }
    for (let i = 1; i < 10; i++) list.push([contour(p.score, p.nx, p.ny, low + ((high - low) * i) / 10, p.outputs), text, i === 5 ? 1.6 : 0.8, []]);
  }
  return list;
}

// A curve over the line: [values, colour, width, dashes].
function curves(fit) {
  const p = fit.plane, list = [];
  if (!p || p.ny !== 1 || !p.score) return list;
  const many = p.draws ? p.draws.length / p.nx : 0;
  for (let d = 0; d < many; d++) list.push([Array.from({ length: p.nx }, (_, i) => p.draws[i * many + d]), classColour(2), 1, []]);
  const kept = fit.outputs[0], tube = choice().name === 'svr' ? +(state.options.epsilon ?? 0.1) : 0;
  if (tube > 0) for (const s of [-1, 1]) list.push([Array.from(p.score, (v) => v + s * tube), colour('text'), 1.2, [5, 5]]);
  list.push([Array.from(p.score), classColour(0), 2.6, []]);
  return kept ? list : list;
}

// Points to be drawn: {x, y, c, i}.
export function shownPoints() {
  if (session.file) {
    const f = session.file;
    if (!f.px) return [];
    return Array.from(f.px, (x, i) => ({ x, y: isNumbers() && f.cols === 1 ? f.target[i] : f.py[i], c: f.class[i] ?? 0, i }));
  }
  return state.points.map((p, i) => ({ x: p[0], y: p[1], c: isNumbers() ? 0 : p[2], i }));
}

// What the model says of each point: {support: 'free' | 'bound' | '', wrong}.
function roles(fit, count) {
  const role = Array.from({ length: count }, () => ({}));
  if (!fit || fit.stale || (session.file && session.file.n !== count)) return role;
  const sparse = ['svm', 'nu-svm', 'one-class', 'svr', 'nu-svr', 'l1-svm'].includes(choice().name);
  for (const o of sparse ? fit.outputs : [])
    o.object.forEach((i, k) => {
      if (i >= 0 && i < count && Math.abs(o.coef[k]) > 1e-12) role[i].support = o.state[k] === 2 ? 'bound' : 'free';
    });
  if (fit.train)
    fit.train.forEach((v, i) => {
      if (i >= count) return;
      const truth = session.file ? session.file.class[i] : state.points[i][2];
      if (fit.task === 'classification' && truth != null) role[i].wrong = classOf(fit.classes[v]) !== truth;
      if (fit.task === 'clustering') role[i].cluster = v;
    });
  return role;
}

export function shape(context, c, x, y, r) {
  context.beginPath();
  if (c % 4 === 0) context.arc(x, y, r, 0, 7);
  else if (c % 4 === 1) context.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
  else if (c % 4 === 2) {
    context.moveTo(x, y - 1.2 * r);
    context.lineTo(x + 1.1 * r, y + 0.8 * r);
    context.lineTo(x - 1.1 * r, y + 0.8 * r);
    context.closePath();
  } else {
    context.moveTo(x, y - 1.25 * r);
    context.lineTo(x + 1.25 * r, y);
    context.lineTo(x, y + 1.25 * r);
    context.lineTo(x - 1.25 * r, y);
    context.closePath();
  }
}

// What the lines and signs of the picture mean.
export function legend() {
  const fit = session.fit, list = [];
  if (!fit || session.error || !fit.plane) return list;
  const name = choice().name, role = roles(fit, shownPoints().length), flat = fit.plane.ny > 1;
  const drawn = lines(fit).filter((l) => l[0].length), levels = fit.task === 'regression' || fit.task === 'transformation';
  if (drawn.some((l) => !l[3].length)) list.push(levels ? 'lines: equal values' : 'line: f = 0');
  if (drawn.some((l) => l[3].length)) list.push('dashed: margin f = ±1');
  if (!flat && name === 'svr') list.push('dashed: tube ± ε');
  if (fit.plane.std && !flat) list.push('band: ± 1 and 2 standard deviations');
  if (fit.plane.draws) list.push('thin: functions drawn from it');
  if (fit.task === 'clustering') list.push('colours: clusters');
  if (role.some((r) => r.support)) list.push('ring: support vector');
  if (role.some((r) => r.support === 'bound')) list.push('dashed ring: at bound' + (learnerInfo().params.some((p) => p.name === 'C') ? ' C' : ''));
  if (role.some((r) => r.wrong)) list.push('×: wrong class');
  return list;
}

function axes(g) {
  const e = extent();
  const step = (r) => {
    const raw = (r[1] - r[0]) / 6, size = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map((m) => m * size).find((s) => s >= raw * 0.999);
  };
  g.strokeStyle = colour('line');
  g.fillStyle = colour('muted');
  g.font = '11px system-ui, sans-serif';
  g.lineWidth = 1;
  for (const [range, place, across] of [[e.x, px, true], [e.y, py, false]]) {
    const s = step(range);
    for (let v = Math.ceil(range[0] / s) * s; v < range[1]; v += s) {
      const p = Math.round(place(v)) + 0.5;
      g.beginPath();
      g.moveTo(across ? p : 0, across ? 0 : p);
      g.lineTo(across ? p : width, across ? width : p);
      g.stroke();
      if (p > 24 && p < width - 24) g.fillText(short(+v.toPrecision(6), 3), across ? p + 3 : 4, across ? width - 5 : p - 3);
    }
  }
}

function drawBand(g, p) {
  if (!p.std) return;
  for (const [k, strength] of [[2, 0.14], [1, 0.16]]) {
    g.beginPath();
    for (let i = 0; i < p.nx; i++) g.lineTo((width * i) / (p.nx - 1), py(p.score[i] + k * p.std[i]));
    for (let i = p.nx - 1; i >= 0; i--) g.lineTo((width * i) / (p.nx - 1), py(p.score[i] - k * p.std[i]));
    g.closePath();
    g.globalAlpha = strength;
    g.fillStyle = classColour(0);
    g.fill();
    g.globalAlpha = 1;
  }
}

function drawPoints(g) {
  const points = shownPoints(), role = roles(session.fit, points.length), r = points.length > 1000 ? 2.5 : width < 420 ? 5 : 6;
  const paper = colour('field'), text = colour('text');
  for (const p of points) {
    const x = px(p.x), y = py(p.y), what = role[p.i] || {};
    shape(g, p.c, x, y, p.i === held || p.i === hover ? r + 2 : r);
    g.fillStyle = session.file && session.file.classes.length === 0 ? classColour(0) : classColour(what.cluster ?? p.c);
    g.fill();
    g.lineWidth = 1.5;
    g.strokeStyle = paper;
    g.stroke();
    if (what.support) {
      g.beginPath();
      g.arc(x, y, r + 4, 0, 7);
      g.lineWidth = what.support === 'free' ? 2 : 1.2;
      g.setLineDash(what.support === 'free' ? [] : [3, 3]);
      g.strokeStyle = text;
      g.stroke();
      g.setLineDash([]);
    }
    if (what.wrong) {
      g.beginPath();
      g.moveTo(x - 3, y - 3);
      g.lineTo(x + 3, y + 3);
      g.moveTo(x + 3, y - 3);
      g.lineTo(x - 3, y + 3);
      g.lineWidth = 2;
      g.strokeStyle = '#fff';
      g.stroke();
    }
    if (p.i === chosen || marked.includes(p.i)) {
      g.beginPath();
      g.arc(x, y, r + 8, 0, 7);
      g.lineWidth = 3;
      g.strokeStyle = colour('accent');
      g.stroke();
    }
  }
}

export function draw() {
  const box = canvas.getBoundingClientRect(), ratio = Math.min(devicePixelRatio || 1, 2);
  if (box.width === 0) return;
  width = box.width;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = canvas.height = Math.round(width * ratio);
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = colour('field');
  g.fillRect(0, 0, width, width);
  const fit = session.fit;
  axes(g);
  if (fit && fit.plane) {
    g.globalAlpha = fit.stale ? 0.35 : 1;
    if (fit.plane.ny > 1) {
      g.imageSmoothingEnabled = true;
      g.imageSmoothingQuality = 'high';
      const half = width / (fit.plane.nx - 1) / 2;
      g.drawImage(paint(fit), -half, -half, width + 2 * half, width + 2 * half);
    } else {
      drawBand(g, fit.plane);
    }
    for (const [pieces, ink, thick, dashes] of lines(fit)) {
      g.beginPath();
      for (const line of pieces) for (let k = 0; k < line.length; k += 2) g[k ? 'lineTo' : 'moveTo'](line[k], line[k + 1]);
      g.strokeStyle = ink;
      g.lineWidth = thick;
      g.lineJoin = 'round';
      g.setLineDash(dashes);
      g.globalAlpha = dashes.length ? 0.75 : 0.9;
      g.stroke();
      g.setLineDash([]);
    }
    for (const [values, ink, thick, dashes] of curves(fit)) {
      g.beginPath();
      values.forEach((v, i) => g.lineTo((width * i) / (values.length - 1), py(v)));
      g.strokeStyle = ink;
      g.lineWidth = thick;
      g.setLineDash(dashes);
      g.globalAlpha = thick < 1.1 ? 0.7 : 1;
      g.stroke();
      g.setLineDash([]);
    }
    g.globalAlpha = 1;
  }
  drawPoints(g);
  if (cross && document.activeElement === canvas) {
    const x = px(cross[0]), y = py(cross[1]);
    g.strokeStyle = colour('text');
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(x - 12, y);
    g.lineTo(x + 12, y);
    g.moveTo(x, y - 12);
    g.lineTo(x, y + 12);
    g.stroke();
  }
  $('hint').textContent = session.file ? '' : session.why || '';
}

// The picture as SVG: the regions as a small image, everything else as lines and shapes.
export function pictureSvg() {
  const size = width, root = svg('svg', { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${size} ${size}`, width: size, height: size });
  root.append(svg('rect', { width: size, height: size, fill: colour('field') }));
  const fit = session.fit;
  if (fit && fit.plane && fit.plane.ny > 1) root.append(svg('image', { href: paint(fit).toDataURL(), width: size, height: size, preserveAspectRatio: 'none' }));
  if (fit && fit.plane) {
    for (const [pieces, ink, thick, dashes] of lines(fit)) root.append(svg('path', { d: pieces.map((p) => 'M' + p.map((v) => v.toFixed(1)).join(' ')).join(''), stroke: ink, 'stroke-width': thick, 'stroke-dasharray': dashes.join(' ') || null, fill: 'none' }));
    for (const [values, ink, thick, dashes] of curves(fit)) root.append(svg('path', { d: 'M' + values.map((v, i) => `${((size * i) / (values.length - 1)).toFixed(1)} ${py(v).toFixed(1)}`).join('L'), stroke: ink, 'stroke-width': thick, 'stroke-dasharray': dashes.join(' ') || null, fill: 'none' }));
  }
  for (const p of shownPoints()) {
    const x = px(p.x).toFixed(1), y = py(p.y).toFixed(1), fill = classColour(p.c), stroke = colour('field');
    root.append(p.c % 2 ? svg('rect', { x: x - 5, y: y - 5, width: 10, height: 10, fill, stroke }) : svg('circle', { cx: x, cy: y, r: 6, fill, stroke }));
  }
  return new XMLSerializer().serializeToString(root);
}

// ---- the hand --------------------------------------------------------------------------------------

function near(x, y, reach) {
  let best = -1, least = reach * reach;
  state.points.forEach((p, i) => {
    const d = (px(p[0]) - x) ** 2 + (py(p[1]) - y) ** 2;
    if (d < least) [best, least] = [i, d];
  });
  return best;
}

// Whole points, with a ring around them, stay inside the frame.
const clip = (v) => Math.round(100 * Math.min(Math.max(v, -2.85), 2.85)) / 100;
const editable = () => !session.file;
const REACH = 22; // of a finger, in pixels

function place(x, y) {
  state.points.push([clip(x), clip(y), session.pen < 0 ? 0 : session.pen]);
  state.sample = '';
  changed('points');
}
// Other points: none of them is under the hand.
export function forgetHand() {
  hover = chosen = held = -1;
  touched = null;
}
function removePoint(i) {
  state.points.splice(i, 1);
  state.sample = '';
  forgetHand();
  changed('points');
  remember();
}

function where(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

canvas.addEventListener('pointerdown', (event) => {
  if (!editable() || event.button > 0) return;
  const [x, y] = where(event), finger = event.pointerType === 'touch', at = near(x, y, finger ? REACH : 12);
  cross = null;
  moved = false;
  // A finger may only want to scroll: what it does here is decided when it is lifted.
  if (finger && (at < 0 || session.pen < 0)) {
    touched = event.isPrimary ? [x, y, at] : null;
    return;
  }
  canvas.setPointerCapture(event.pointerId);
  canvas.focus({ preventScroll: true });
  if (at >= 0 && (session.pen < 0 || event.shiftKey)) return removePoint(at);
  if (at >= 0) {
    held = at;
  } else if (session.pen >= 0) {
    place(toX(x), toY(y));
    held = state.points.length - 1;
    moved = true;
  }
  event.preventDefault();
});
// On a point a finger drags, elsewhere it scrolls.
canvas.addEventListener('touchstart', (event) => {
  const finger = event.touches[0];
  if (editable() && session.pen >= 0 && event.touches.length === 1 && near(...where(finger), REACH) >= 0) event.preventDefault();
}, { passive: false });
canvas.addEventListener('pointermove', (event) => {
  const [x, y] = where(event);
  $('readout').textContent = `${short(toX(x), 3)}, ${short(toY(y), 3)}`;
  if (held >= 0) {
    const p = state.points[held], a = clip(toX(x)), b = clip(toY(y));
    if (p && (p[0] !== a || p[1] !== b)) {
      [p[0], p[1]] = [a, b];
      moved = true;
      state.sample = '';
      changed('points', true);
    }
    return;
  }
  if (event.pointerType === 'touch') {
    if (touched && Math.hypot(x - touched[0], y - touched[1]) > 10) touched = null;
    return;
  }
  const at = editable() ? near(x, y, 12) : -1;
  canvas.style.cursor = at >= 0 ? (session.pen < 0 || event.shiftKey ? 'not-allowed' : 'grab') : 'crosshair';
  if (at !== hover) {
    hover = at;
    draw();
  }
});
function letGo() {
  if (held < 0) return;
  held = -1;
  if (moved) {
    remember();
    changed('points');
  }
}
canvas.addEventListener('pointerup', () => {
  const tap = touched;
  touched = null;
  letGo();
  if (!tap) return;
  if (tap[2] >= 0) removePoint(tap[2]);
  else if (session.pen >= 0) {
    place(toX(tap[0]), toY(tap[1]));
    remember();
  }
});
canvas.addEventListener('pointercancel', () => {
  touched = null;
  letGo();
});
canvas.addEventListener('pointerleave', () => {
  $('readout').textContent = '';
  if (hover < 0) return;
  hover = -1;
  draw();
});
canvas.addEventListener('contextmenu', (event) => {
  if (!editable()) return;
  event.preventDefault();
  const at = near(...where(event), 14);
  if (at >= 0) removePoint(at);
});
canvas.addEventListener('focus', draw);
canvas.addEventListener('blur', () => {
  chosen = -1;
  draw();
});

const sayPoint = (i) => ($('toast').textContent = `point ${i + 1} of ${state.points.length}, class ${CLASSES[state.points[i][2]]}, at ${state.points[i][0]}, ${state.points[i][1]}`);
let drift = 0;
canvas.addEventListener('keydown', (event) => {
  if (!editable() || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = event.shiftKey ? 0.5 : 0.1;
  const way = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key];
  if (way) {
    if (chosen >= 0) {
      const p = state.points[chosen];
      [p[0], p[1]] = [clip(p[0] + way[0]), clip(p[1] + way[1])];
      state.sample = '';
      changed('points', true);
      clearTimeout(drift);
      drift = setTimeout(remember, 500);
    } else {
      cross = cross ? [clip(cross[0] + way[0]), clip(cross[1] + way[1])] : [0, 0];
      draw();
    }
  } else if (event.key === 'Enter' || event.key === ' ') {
    cross = cross || [0, 0];
    place(cross[0], cross[1]);
    remember();
  } else if (event.key.toLowerCase() === 'n' && state.points.length) {
    chosen = (chosen + (event.shiftKey ? state.points.length - 1 : 1)) % state.points.length;
    sayPoint(chosen);
    draw();
  } else if ((event.key === 'Delete' || event.key === 'Backspace') && chosen >= 0) {
    removePoint(chosen);
  } else if (event.key === 'Escape') {
    chosen = -1;
    cross = null;
    draw();
  } else if (/^[1-4]$/.test(event.key)) {
    if (chosen >= 0) {
      state.points[chosen][2] = +event.key - 1;
      changed('points');
      remember();
    } else {
      session.pen = +event.key - 1;
      changed('pens');
    }
  } else {
    return;
  }
  event.preventDefault();
});
new ResizeObserver(draw).observe(canvas);
