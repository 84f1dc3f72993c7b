// panels.js: inside the machine: certificate, kernel matrix, spectrum, validity.
// SPDX-License-Identifier: Apache-2.0
import { $, el, svg, short, colour, classColour, heat, decodeFloats } from './util.js';
import { ask } from './engine.js';
import { state, session } from './state.js';
import { choice, csv, fitRequest, learnerInfo, shownModel, source } from './machine.js';
import { MARGINS, mark, shownPoints } from './plane.js';

const panel = $('panel');
const fill = (...nodes) => panel.replaceChildren(...nodes);
const trouble = (answer) => fill(el('p', { class: 'hint' }, answer.error.message));

function table(rows) {
  return el('table', {}, el('tbody', {}, ...rows.filter((r) => r[1] != null).map(([name, value]) => el('tr', {}, el('th', { scope: 'row' }, name), el('td', {}, value)))));
}

// ---- certificate -----------------------------------------------------------------------------------

function bars(output) {
  const order = output.coef.map((_, i) => i).filter((i) => Math.abs(output.coef[i]) > 1e-12).sort((a, b) => output.coef[a] - output.coef[b]);
  if (!order.length || order.length > 400) return null;
  const most = Math.max(...order.map((i) => Math.abs(output.coef[i]))), w = 340 / order.length, points = shownPoints();
  const chart = svg('svg', { viewBox: '0 0 340 92', class: 'chart', role: 'img', 'aria-label': 'Coefficients of the support vectors, from the least to the largest' });
  chart.append(svg('line', { x1: 0, x2: 340, y1: 46, y2: 46, stroke: colour('frame') }));
  order.forEach((i, k) => {
    const h = (44 * Math.abs(output.coef[i])) / most, p = points[output.object[i]];
    chart.append(svg('rect', { x: k * w + 0.5, width: Math.max(w - 1, 0.8), y: output.coef[i] > 0 ? 46 - h : 46, height: Math.max(h, 0.5), fill: p ? classColour(p.c) : classColour(0), opacity: output.state[i] === 2 ? 0.45 : 1, onpointerenter: () => mark([output.object[i]]), onpointerleave: () => mark([]) }));
  });
  return chart;
}

const STOPS = {
  optimal: ['✓ optimal', 'Proved within the tolerance: recomputed from scratch, not taken from the solver.'],
  local: ['a local optimum', 'The conditions hold within the tolerance; a better optimum elsewhere is not excluded.'],
  steps: ['stopped by the number of steps', 'The best so far.'],
  time: ['stopped by the time', 'The best so far.'],
  interrupted: ['interrupted', 'The best so far.'],
  rounding: ['as exact as rounding allows', 'The tolerance is finer than numbers of 16 digits can show.'],
  unknown: ['no certificate', 'Another program trained this model: mercer verify needs its training data.'],
  stored: ['nothing to solve', 'This learner keeps all points and looks for the nearest ones: there is no optimum to prove.'],
  stuck: ['stuck', 'No progress is possible: rounding, or a function that is not a kernel.'],
};

// How training ended. A tolerance below what rounding leaves is no reason to worry.
export const stopOf = (r) => (r.stop === 'stuck' && r.certificate && r.certificate.value < 1e-6 ? 'rounding' : r.stop);

// Whether coefficients stand at the bound C.
const hasBound = (fit) => learnerInfo().params.some((p) => p.name === 'C') && fit.outputs.some((o) => o.state.includes(2));

function certificate() {
  const fit = session.fit;
  if (!fit || fit.stale) return fill(el('p', { class: 'hint' }, session.why || 'What the solver proved about its solution will stand here.'));
  const r = fit.report, c = r.certificate || {}, t = fit.score || r.train || {};
  // Models of other programs bring no certificate.
  const stored = r.learner === 'knn';
  const stop = stored ? 'stored' : c.kind ? stopOf(r) : shownModel() ? 'unknown' : r.stop, proved = stop === 'optimal';
  const rows = [
    ['certified', c.kind && !stored ? `${c.kind} ${short(c.value, 3)} (tolerance ${short(c.tolerance, 3)})` : null],
    ['primal objective', r.primal != null ? short(r.primal, 7) : null],
    ['dual objective', r.dual != null ? short(r.dual, 7) : null],
    ['gap', r.gap != null ? short(r.gap, 3) : null],
    [stored ? 'points kept' : 'support vectors', r.support != null ? String(r.support) + (r.n > 0 ? ` of ${r.n}` : '') : null],
    ['steps', r.iterations > 0 && !stored ? String(r.iterations) : null],
    [fit.score ? 'accuracy on these data' : 'training accuracy', t.accuracy != null ? (100 * t.accuracy).toFixed(1) + ' %' : null],
    ['mean squared error', t.mse != null ? short(t.mse) : null],
    ['R²', t.r2 != null ? short(t.r2) : null],
    ['margin 1/|w|', fit.outputs.length === 1 && fit.outputs[0].square > 0 && MARGINS.includes(r.learner) && t.accuracy === 1 ? short(1 / Math.sqrt(fit.outputs[0].square)) : null],
    ['kernel', r.kernel && r.kernel.replace(/\d+\.\d{6,}/g, (v) => String(+(+v).toPrecision(6)))],
    ['form', r.form ? r.form : null],
  ];
  const chart = fit.outputs.length === 1 ? bars(fit.outputs[0]) : null;
  fill(
    el('p', { class: 'verdict ' + (proved ? 'yes' : '') }, STOPS[stop] ? STOPS[stop][0] : stop || ''),
    el('p', { class: 'hint' }, STOPS[stop] ? STOPS[stop][1] : ''),
    table(rows),
    chart ? el('h3', {}, 'Coefficients of the support vectors') : '',
    chart || '',
    chart ? el('p', { class: 'hint' }, (fit.task === 'classification' ? 'Bar up or down: which class it speaks for. ' : '') + (hasBound(fit) ? 'Pale: at its bound C. ' : '') + 'Point at a bar to see its point.') : '',
    r.remark ? el('p', { class: 'hint' }, r.remark) : '',
  );
}

// ---- kernel matrix ---------------------------------------------------------------------------------

let showDistance = false;
async function matrix() {
  const answer = await ask({ do: 'gram', kernel: state.kernel, ...source() }, 'panel');
  if (!answer || state.panel !== 'matrix') return;
  if (!answer.ok) return trouble(answer);
  const n = answer.n, k = decodeFloats(answer.k), points = shownPoints();
  const order = Array.from({ length: n }, (_, i) => i).sort((a, b) => (points[a]?.c ?? 0) - (points[b]?.c ?? 0) || a - b);
  const value = (i, j) => (showDistance ? Math.sqrt(Math.max(k[i * n + i] + k[j * n + j] - 2 * k[i * n + j], 0)) : k[i * n + j]);
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      const v = value(i, j);
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  const canvas = el('canvas', { width: n, height: n, style: 'aspect-ratio:1;image-rendering:pixelated', role: 'img', 'aria-label': `${n} by ${n} kernel matrix, from ${short(low)} to ${short(high)}` });
  const g = canvas.getContext('2d'), image = g.createImageData(n, n);
  order.forEach((i, r) =>
    order.forEach((j, c) => {
      const ink = heat(high > low ? (value(i, j) - low) / (high - low) : 0.5);
      image.data.set([...ink, 255], 4 * (r * n + c));
    }),
  );
  g.putImageData(image, 0, 0);
  const say = el('p', { class: 'hint' }, 'Point at a cell: it is one pair of objects.');
  canvas.addEventListener('pointermove', (event) => {
    const box = canvas.getBoundingClientRect();
    const i = order[Math.min(n - 1, Math.floor(((event.clientY - box.top) / box.height) * n))], j = order[Math.min(n - 1, Math.floor(((event.clientX - box.left) / box.width) * n))];
    if (i == null || j == null) return;
    mark([answer.object[i], answer.object[j]]);
    say.textContent = `objects ${answer.object[i] + 1} and ${answer.object[j] + 1}: K = ${short(k[i * n + j])}, distance ${short(Math.sqrt(Math.max(k[i * n + i] + k[j * n + j] - 2 * k[i * n + j], 0)))}`;
  });
  canvas.addEventListener('pointerleave', () => mark([]));
  const flip = (wanted, text) => el('button', { type: 'button', class: 'chip', 'aria-pressed': String(showDistance === wanted), onclick: () => { showDistance = wanted; matrix(); } }, text);
  fill(
    el('div', { class: 'chips' }, flip(false, 'kernel values'), flip(true, 'distances')),
    canvas,
    el('p', { class: 'heatx' }, el('span', {}, short(low)), el('span', {}, showDistance ? 'distance in feature space' : 'K(x, z)'), el('span', {}, short(high))),
    say,
    el('p', { class: 'hint' }, 'Ordered by class. A kernel that suits the data shows one bright block per class.'),
  );
}

// ---- spectrum --------------------------------------------------------------------------------------

async function spectrum() {
  const answer = await ask({ do: 'figure', kind: 'spectrum', format: 'json', bare: true, kernel: state.kernel, ...source() }, 'panel');
  if (!answer || state.panel !== 'spectrum') return;
  if (!answer.ok) return trouble(answer);
  const line = answer.figure.panels[0].marks.find((m) => m.type === 'line' && m.name === 'eigenvalues') || answer.figure.panels[0].marks[0];
  const values = line.y.filter((v) => v > 0), high = Math.log10(values[0]), low = Math.max(high - 12, Math.log10(values[values.length - 1]));
  const span = high - low || 1, w = 340 / values.length;
  const chart = svg('svg', { viewBox: '0 0 340 200', class: 'chart', role: 'img', 'aria-label': `Eigenvalues from ${short(values[0])} down to ${short(values[values.length - 1])}` });
  values.forEach((v, i) => {
    const h = Math.max(1, (180 * (Math.log10(v) - low)) / span + 4);
    chart.append(svg('rect', { x: i * w + (w > 3 ? 0.5 : 0), width: Math.max(w - (w > 3 ? 1 : 0), 0.7), y: 196 - h, height: h, fill: classColour(0), opacity: 0.9 }));
  });
  const numbers = answer.figure.numbers;
  fill(
    el('p', {}, answer.figure.title),
    chart,
    el('p', { class: 'heatx' }, el('span', {}, 'largest ' + short(values[0])), el('span', {}, 'eigenvalues of K / n, logarithmic'), el('span', {}, short(values[values.length - 1]))),
    table([['effective rank', short(numbers.rank)], ['participation', short(numbers.participation)], ['to hold 90 %', String(numbers.components90)]]),
    el('p', { class: 'hint' }, 'How fast they fall says how many directions of feature space the data really use.'),
  );
}

// ---- is it a kernel? -------------------------------------------------------------------------------

async function validity() {
  const answer = await ask({ do: 'check', kernel: state.kernel, ...source() }, 'panel');
  if (!answer || state.panel !== 'valid') return;
  if (!answer.ok) return trouble(answer);
  const words = { yes: '✓ It is a kernel', no: '✗ Not a kernel', unknown: '? Not decided' }[answer.valid];
  const nodes = [el('p', { class: 'verdict ' + answer.valid }, words), el('p', {}, answer.reason), el('h3', {}, 'Rule by rule'), el('pre', {}, answer.rules.join('\n'))];
  if (answer.min_eigenvalue != null) nodes.push(el('p', { class: 'hint' }, `Least eigenvalue of the matrix of ${answer.tested} objects: ${short(answer.min_eigenvalue)}`));
  const c = answer.counterexample;
  if (c) {
    const n = c.objects.length;
    mark(c.objects);
    nodes.push(
      el('h3', {}, 'Counter-example'),
      el('p', {}, `${n === 1 ? 'One object' : n + ' objects'} (ringed in the picture) and weights t with tᵀGt below zero, which a squared length cannot be.`),
      el('table', { class: 'matrix' }, el('tbody', {}, ...c.objects.map((o, i) => el('tr', {}, ...c.objects.map((_, j) => el('td', {}, short(c.gram[i * n + j]))), el('td', { style: 'background:none' }, 't = ' + short(c.t[i])))))),
      el('p', {}, 'tᵀGt = ', el('b', { class: 'no' }, short(c.value))),
      el('pre', {}, c.shown.join('\n')),
    );
  } else {
    mark([]);
  }
  fill(...nodes);
}

// ---- coordinates of pca and fisher ------------------------------------------------------------------

export const hasCoordinates = () => ['pca', 'fisher', 'cca'].includes(choice().name);
export function coordinates() {
  const fit = session.fit;
  if (!fit || fit.stale || !fit.scores || !hasCoordinates()) return fill(el('p', { class: 'hint' }, 'Choose pca, fisher or cca as the learner: their coordinates are drawn here.'));
  // cca has the coordinates of the first kernel, then those of the second: the pair that belongs together is drawn.
  const points = shownPoints(), many = fit.scores.length / points.length, pairs = fit.report.correlations, other = pairs ? many / 2 : 1;
  const xs = points.map((_, i) => fit.scores[i * many]), ys = points.map((_, i) => (many > 1 ? fit.scores[i * many + other] : 0));
  const range = (v) => {
    const a = Math.min(...v), b = Math.max(...v), pad = 0.06 * (b - a) || 1;
    return [a - pad, b + pad];
  };
  const [x0, x1] = range(xs), [y0, y1] = range(ys);
  const chart = svg('svg', { viewBox: '0 0 340 340', class: 'chart', role: 'img', 'aria-label': 'The points in the first two coordinates of feature space', style: 'background:var(--field)' });
  points.forEach((p, i) => chart.append(svg('circle', { cx: (340 * (xs[i] - x0)) / (x1 - x0), cy: 340 - (340 * (ys[i] - y0)) / (y1 - y0), r: 5, fill: classColour(p.c), stroke: colour('field'), onpointerenter: () => mark([i]), onpointerleave: () => mark([]) })));
  const r = fit.report, variance = r.variance && r.total_variance ? r.variance.map((v) => (100 * v) / r.total_variance) : null;
  fill(chart, el('p', { class: 'heatx' }, el('span', {}, pairs ? 'first kernel →' : 'first coordinate →'), el('span', {}, pairs ? 'second kernel ↑' : many > 1 ? 'second ↑' : '')), pairs ? el('p', { class: 'hint' }, `Correlations of the pairs: ${pairs.map((v) => short(v, 3)).join(', ')}. The first pair is drawn; the colours of the plane are its first coordinate.`) : '', variance ? el('p', { class: 'hint' }, `Share of the variance: ${variance.map((v) => v.toFixed(1) + ' %').join(', ')}. The colours of the plane are the first coordinate.`) : '');
}

// ---- a figure of the library ------------------------------------------------------------------------

// The height at which a unit to the right is as long as a unit upwards, in a figure with regions of the plane of the
// points; 0: it has none. From the places of the numbers beside its axes.
function evenHeight(text) {
  const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, image = root.querySelector('image');
  if (session.file || !image) return 0;
  const scale = (anchor, way) => {
    const ticks = [...root.querySelectorAll(`text[text-anchor=${anchor}]`)].map((t) => [+t.textContent.replace('−', '-'), +t.getAttribute(way)]).filter((t) => Number.isFinite(t[0]));
    return ticks.length > 1 ? Math.abs((ticks[1][1] - ticks[0][1]) / (ticks[1][0] - ticks[0][0])) : NaN;
  };
  const ratio = scale('middle', 'x') / scale('end', 'y'), height = +root.getAttribute('height') + image.getAttribute('height') * (ratio - 1);
  return Math.abs(ratio - 1) > 0.005 && height > 200 && height < 2000 ? Math.round(height) : 0;
}

async function figure() {
  const kinds = ['boundary', 'roc', 'calibration', 'confusion', 'residuals', 'projection', 'gram', 'learning', 'path', 'importance', 'data'];
  const menu = el('select', { 'aria-label': 'Kind of figure' }, el('option', { value: '' }, 'what suits'), ...kinds.map((k) => el('option', { value: k, selected: k === session.kind }, k)));
  menu.addEventListener('change', () => {
    session.kind = menu.value;
    figure();
  });
  // Other panels train models of their own: the figure is always that of the current one. Points are sorted by class,
  // so that class A has the first colour, as in the picture; where their order changes the model, they stay.
  const from = session.file ? source() : { data: { name: 'points.csv', text: csv(!['perceptron', 'pegasos', 'kmeans'].includes(choice().name)) } };
  const fit = session.fit && !shownModel() ? await ask({ ...fitRequest(2), ...from, plane: undefined }, 'panel') : { ok: true };
  if (!fit || state.panel !== 'figure') return;
  const request = { do: 'figure', kind: session.kind || undefined, ...from, kernel: session.fit ? undefined : state.kernel, theme: document.documentElement.dataset.theme, width: 720 };
  let answer = fit.ok ? await ask(request, 'panel') : fit;
  // Another height moves the limits of the axes a little: a second or third try is right.
  for (let i = 0, height; i < 3 && answer && answer.ok && (height = evenHeight(answer.figure)); i++) answer = await ask({ ...request, height }, 'panel');
  if (!answer || state.panel !== 'figure') return;
  const picture = answer.ok ? el('img', { alt: 'figure: ' + answer.kind, style: 'width:100%', src: 'data:image/svg+xml;base64,' + btoa(unescape(encodeURIComponent(answer.figure))) }) : el('p', { class: 'hint' }, answer.error.message);
  fill(el('div', { class: 'row' }, menu), picture);
}

export const views = { certificate, matrix, spectrum, valid: validity, coordinates, figure };
export const titles = { certificate: 'Certificate', matrix: 'Kernel matrix', spectrum: 'Spectrum', valid: 'Valid?', coordinates: 'Coordinates', lift: 'Lift', tune: 'Tune', figure: 'Figures', take: 'Share' };

let shown = '';
export function showPanel() {
  // Another panel's content must not stand under this one's name while the engine computes.
  if (shown !== state.panel) $('panel').replaceChildren(el('p', { class: 'hint' }, 'Computing …'));
  shown = state.panel;
  if (!['valid', 'matrix', 'certificate', 'coordinates'].includes(state.panel)) mark([]);
  if (views[state.panel]) views[state.panel]();
}
