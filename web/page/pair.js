// pair.js: two words, two graphs, and what they share.
// SPDX-License-Identifier: Apache-2.0
import { $, el, svg, short, classColour } from './util.js';
import { ask } from './engine.js';
import { state, remember } from './state.js';

const root = $('pair');
let picked = null;

function norm(k) {
  return k[1] / Math.sqrt(k[0] * k[3]);
}

function summary(k) {
  return el('p', { class: 'big', 'data-k': k[1] }, 'K = ' + short(k[1]), el('span', { class: 'small' }, `  normalised ${short(norm(k), 3)}: the cosine of the angle between them`));
}

// ---- words -----------------------------------------------------------------------------------------

// Where a substring (or, of ssk, a subsequence) stands in a word.
function occurrences(word, feature) {
  const on = new Set();
  for (let i = 0; i + feature.length <= word.length; i++) if (word.startsWith(feature, i)) for (let j = 0; j < feature.length; j++) on.add(i + j);
  return on;
}

function letters(word, feature) {
  const on = feature ? occurrences(word, feature) : new Set();
  return el('div', { class: 'letters', 'aria-label': word }, ...Array.from(word, (c, i) => el('span', { class: on.has(i) ? 'on' : '' }, c === ' ' ? '␣' : c)));
}

// All subsequences of p letters with their weights lambda^length, for words short enough to see.
function subsequences(word, p, lambda) {
  const weights = new Map();
  const go = (text, first, last) => {
    if (text.length === p) {
      weights.set(text, (weights.get(text) || 0) + lambda ** (last - first + 1));
      return;
    }
    for (let i = last + 1; i < word.length; i++) go(text + word[i], text ? first : i, i);
  };
  if (word.length <= 16 && p <= 4) go('', 0, -1);
  return weights;
}

async function showWords() {
  const pair = state.pair, result = $('pairresult');
  const answer = await ask({ do: 'pair', kernel: pair.kernel, a: pair.words[0], b: pair.words[1] }, 'pair', true);
  if (!answer || state.view === 'graphs' || !result.isConnected) return;
  if (!answer.ok) return result.replaceChildren(el('p', { class: 'error' }, answer.error.message));
  let features = answer.features;
  const ssk = /ssk\((?:.*?p=(\d+))?/.exec(pair.kernel);
  if (!features && ssk) {
    const p = +(ssk[1] || 3), lambda = +(/lambda=([\d.]+)/.exec(pair.kernel)?.[1] || 0.5);
    const [a, b] = pair.words.map((w) => subsequences(w, p, lambda));
    features = [...new Set([...a.keys(), ...b.keys()])].map((name) => ({ name, a: a.get(name) || 0, b: b.get(name) || 0 }));
  }
  const shared = (features || []).filter((f) => f.a && f.b).sort((f, g) => g.a * g.b - f.a * f.b);
  if (!shared.some((f) => f.name === picked)) picked = shared[0]?.name ?? null;
  const draw = () => {
    const rows = shared.slice(0, 40).map((f) => {
      const pick = el('button', { type: 'button', class: 'chip', 'aria-pressed': String(f.name === picked) }, f.name);
      pick.addEventListener('click', () => {
        picked = f.name;
        draw();
        result.querySelector(`[data-name="${CSS.escape(f.name)}"]`)?.focus();
      });
      pick.dataset.name = f.name;
      return el('tr', {}, el('td', {}, pick), el('td', {}, short(f.a)), el('td', {}, short(f.b)), el('td', {}, short(f.a * f.b)));
    });
    const table = el('table', {}, el('thead', {}, el('tr', {}, ...['shared', 'in the first', 'in the second', 'adds'].map((t) => el('th', { scope: 'col' }, t)))), el('tbody', {}, ...rows));
    result.replaceChildren(letters(pair.words[0], picked), letters(pair.words[1], picked), summary(answer.k), features ? (shared.length ? el('div', {}, el('p', { class: 'hint' }, 'Choose a shared part to see where it stands in the words.'), table) : el('p', { class: 'hint' }, 'They share nothing: the kernel is 0.')) : el('p', { class: 'hint' }, 'This kernel has no list of features that is finite.'));
  };
  draw();
}

const WORD_KERNELS = ['spectrum(p=2)', 'spectrum(p=2, mode=count)', 'spectrum(p=3)', 'blended(p=3)', 'mismatch(k=3, m=1)', 'ssk(p=2, lambda=0.5)', 'ssk(p=3, lambda=0.5)'];
function wordsView() {
  const box = (i) => {
    const input = el('input', { type: 'text', value: state.pair.words[i], maxlength: 60 });
    input.addEventListener('input', () => {
      state.pair.words[i] = input.value;
      showWords();
    });
    input.addEventListener('change', remember);
    return input;
  };
  root.replaceChildren(el('div', { class: 'card panel' }, el('h2', {}, 'Two words and what they share'), el('p', { class: 'hint' }, 'A kernel on strings counts shared parts. Change a letter and see what it costs.'), el('div', { class: 'two' }, el('label', { class: 'named' }, 'First word', box(0)), el('label', { class: 'named' }, 'Second word', box(1))), kernelRow(WORD_KERNELS, 'kernel', showWords), el('div', { id: 'pairresult' })));
  showWords();
}

function kernelRow(kernels, key, show) {
  const input = el('input', { type: 'text', value: state.pair[key], style: 'font-family:ui-monospace,monospace' });
  const use = (text) => {
    input.value = state.pair[key] = text;
    chips.forEach((b, i) => b.setAttribute('aria-pressed', String(kernels[i] === text)));
    remember();
    show();
  };
  input.addEventListener('change', () => use(input.value));
  const chips = kernels.map((k) => el('button', { type: 'button', class: 'chip', 'aria-pressed': String(k === state.pair[key]), onclick: () => use(k) }, k));
  return el('div', {}, el('label', { class: 'named' }, 'Kernel', input), el('div', { class: 'chips', style: 'margin-top:8px' }, ...chips));
}

// ---- graphs ----------------------------------------------------------------------------------------

const START = [
  { nodes: [[60, 150, 0], [150, 50, 0], [240, 150, 0], [330, 60, 0]], edges: [[0, 1], [1, 2], [0, 2], [2, 3]] },
  { nodes: [[60, 70, 0], [170, 60, 0], [180, 200, 0], [60, 210, 0], [310, 130, 0]], edges: [[0, 1], [1, 2], [2, 3], [3, 0], [1, 4]] },
];
const GRAPH_KERNELS = ['graphlet(p=3, mode=count)', 'graphlet(p=4, mode=count)', 'graphlet(p=3)', 'shortestpath', 'wl(h=1)', 'wl(h=2)', 'walk(lambda=0.1)'];

// Groups of nodes whose edges among themselves look like the feature "1-2 1-3 2-3"; a node without an edge
// may be part of it ("1-2" among three).
function groups(graph, feature, p) {
  const wanted = edgesOf(feature);
  if (!wanted || !wanted.every((e) => e.every((v) => v >= 1 && v <= p)) || graph.nodes.length > 12) return [];
  const linked = new Set(graph.edges.map(([a, b]) => Math.min(a, b) + '-' + Math.max(a, b)));
  const has = (a, b) => linked.has(Math.min(a, b) + '-' + Math.max(a, b)), found = [];
  const orders = permutations(p);
  const go = (first, group) => {
    if (group.length === p) {
      let edges = 0;
      for (let i = 0; i < p; i++) for (let j = i + 1; j < p; j++) edges += has(group[i], group[j]);
      if (edges === wanted.length && orders.some((o) => wanted.every(([a, b]) => has(group[o[a - 1]], group[o[b - 1]])))) found.push(group);
      return;
    }
    for (let i = first; i < graph.nodes.length; i++) go(i + 1, [...group, i]);
  };
  go(0, []);
  return found;
}
// The edges of a feature "1-2 1-3" or "no edges"; null: it is of another kind.
function edgesOf(feature) {
  if (feature === 'no edges') return [];
  return /^\d-\d( \d-\d)*$/.test(feature) ? feature.split(' ').map((e) => e.split('-').map(Number)) : null;
}
function permutations(n) {
  if (n === 1) return [[0]];
  return permutations(n - 1).flatMap((p) => Array.from({ length: n }, (_, i) => [...p.slice(0, i), n - 1, ...p.slice(i)]));
}

let lit = [[], []], heldNode = null;
function graphPicture(g) {
  const graph = state.pair.graphs[g], picture = svg('svg', { viewBox: '0 0 400 300', class: 'graph', role: 'application', tabindex: 0, 'aria-label': `Graph ${g + 1}: ${graph.nodes.length} nodes, ${graph.edges.length} edges. Press A to add a node joined to the last one, Delete to take the last one away.` });
  const on = new Set(lit[g].flat());
  graph.edges.forEach(([a, b]) => {
    const both = lit[g].some((group) => group.includes(a) && group.includes(b));
    picture.append(svg('line', { x1: graph.nodes[a][0], y1: graph.nodes[a][1], x2: graph.nodes[b][0], y2: graph.nodes[b][1], class: 'edge' + (both ? ' on' : '') }));
  });
  graph.nodes.forEach(([x, y, c], i) => {
    const node = svg('circle', { cx: x, cy: y, r: 15, fill: classColour(c), class: 'node' + (on.has(i) ? ' on' : '') + (heldNode && heldNode.g === g && heldNode.i === i ? ' held' : '') });
    let from = null;
    node.addEventListener('pointerdown', (e) => {
      e.stopPropagation();
      node.setPointerCapture(e.pointerId);
      from = [e.clientX, e.clientY];
    });
    node.addEventListener('pointermove', (e) => {
      if (!from || Math.hypot(e.clientX - from[0], e.clientY - from[1]) < 5) return;
      const [nx, ny] = inside(picture, e);
      graph.nodes[i][0] = nx;
      graph.nodes[i][1] = ny;
      node.setAttribute('cx', nx);
      node.setAttribute('cy', ny);
    });
    node.addEventListener('pointerup', (e) => {
      const still = from && Math.hypot(e.clientX - from[0], e.clientY - from[1]) < 5;
      from = null;
      if (still) touchNode(g, i, e);
      edited();
    });
    picture.append(node);
  });
  picture.addEventListener('pointerdown', (e) => {
    if (graph.nodes.length >= 12) return;
    graph.nodes.push([...inside(picture, e), 0]);
    if (heldNode && heldNode.g === g) graph.edges.push([heldNode.i, graph.nodes.length - 1]);
    heldNode = null;
    edited();
  });
  picture.addEventListener('keydown', (e) => {
    const n = graph.nodes.length;
    if (e.key.toLowerCase() === 'a' && n < 12) {
      graph.nodes.push([60 + ((n * 97) % 280), 50 + ((n * 61) % 200), 0]);
      if (n) graph.edges.push([n - 1, n]);
    } else if (e.key === 'Delete' && n) {
      removeNode(graph, n - 1);
    } else return;
    e.preventDefault();
    edited(g);
  });
  return picture;
}
function inside(picture, e) {
  const box = picture.getBoundingClientRect();
  return [Math.round(Math.min(380, Math.max(20, ((e.clientX - box.left) / box.width) * 400))), Math.round(Math.min(280, Math.max(20, ((e.clientY - box.top) / box.height) * 300)))];
}
function removeNode(graph, i) {
  graph.nodes.splice(i, 1);
  graph.edges = graph.edges.filter((e) => !e.includes(i)).map((e) => e.map((v) => (v > i ? v - 1 : v)));
}
// One node, then another: an edge more or less. The same twice: its label changes. Shift: it goes.
function touchNode(g, i, e) {
  const graph = state.pair.graphs[g];
  if (e.shiftKey) {
    removeNode(graph, i);
    heldNode = null;
  } else if (!heldNode || heldNode.g !== g) {
    heldNode = { g, i };
  } else if (heldNode.i === i) {
    graph.nodes[i][2] = (graph.nodes[i][2] + 1) % 3;
    heldNode = null;
  } else {
    const at = graph.edges.findIndex((x) => x.includes(i) && x.includes(heldNode.i));
    if (at >= 0) graph.edges.splice(at, 1);
    else graph.edges.push([heldNode.i, i]);
    heldNode = null;
  }
}
function edited(focus = -1) {
  remember();
  showGraphs();
  if (focus >= 0) root.querySelectorAll('.graph')[focus].focus();
}

// A small subgraph as a picture, other features as their name.
function tiny(name, p) {
  const edges = edgesOf(name);
  if (!edges) return name;
  const at = (v) => [14 - 9 * Math.sin((2 * Math.PI * (v - 1)) / p), 13 - 9 * Math.cos((2 * Math.PI * (v - 1)) / p)];
  const line = ([a, b]) => svg('line', { x1: at(a)[0], y1: at(a)[1], x2: at(b)[0], y2: at(b)[1], stroke: 'currentColor', 'stroke-width': 2 });
  const dot = (_, i) => svg('circle', { cx: at(i + 1)[0], cy: at(i + 1)[1], r: 3, fill: classColour(0) });
  return svg('svg', { viewBox: '0 0 28 26', width: 34, height: 31, role: 'img', 'aria-label': edges.length ? 'edges ' + name : name }, ...edges.map(line), ...Array.from({ length: p }, dot));
}

async function showGraphs() {
  const [a, b] = state.pair.graphs, plain = (g) => ({ nodes: g.nodes.map((n) => n[2]), edges: g.edges });
  $('graphs2').replaceChildren(graphPicture(0), graphPicture(1));
  const answer = await ask({ do: 'pair', kernel: state.pair.graphKernel, a: plain(a), b: plain(b) }, 'pair', true), result = $('pairresult');
  if (!answer || state.view !== 'graphs') return;
  if (!answer.ok) return result.replaceChildren(el('p', { class: 'error' }, answer.error.message));
  const features = answer.features || [], p = +(/p=(\d)/.exec(state.pair.graphKernel)?.[1] || 3), graphlets = /^graphlet/.test(state.pair.graphKernel);
  const rows = features.filter((f) => f.a || f.b).sort((f, g) => g.a * g.b - f.a * f.b).slice(0, 30).map((f) => {
    const pick = el('button', { type: 'button', class: 'chip' }, graphlets ? tiny(f.name, p) : f.name);
    const light = (yes) => () => {
      lit = yes && graphlets ? [groups(a, f.name, p), groups(b, f.name, p)] : [[], []];
      $('graphs2').replaceChildren(graphPicture(0), graphPicture(1));
    };
    pick.addEventListener('pointerenter', light(true));
    pick.addEventListener('pointerleave', light(false));
    pick.addEventListener('focus', light(true));
    pick.addEventListener('blur', light(false));
    return el('tr', {}, el('td', {}, pick), el('td', {}, short(f.a)), el('td', {}, short(f.b)), el('td', {}, short(f.a * f.b)));
  });
  result.replaceChildren(summary(answer.k), rows.length ? el('table', {}, el('thead', {}, el('tr', {}, ...['part', 'in the first', 'in the second', 'adds'].map((t) => el('th', { scope: 'col' }, t)))), el('tbody', {}, ...rows)) : el('p', { class: 'hint' }, 'This kernel has no list of features that is finite: it counts walks of any length.'), el('p', { class: 'hint' }, graphlets ? `Parts of ${p} nodes with all edges among them. Point at one to see where it is.` : ''));
}

function graphsView() {
  if (!state.pair.graphs) state.pair.graphs = structuredClone(START);
  root.replaceChildren(el('div', { class: 'card panel' }, el('h2', {}, 'Two graphs and what they share'), el('p', { class: 'hint' }, 'Click to add a node; click two nodes to join or part them; click one twice to change its label; Shift-click takes it away.'), el('div', { class: 'two', id: 'graphs2' }), kernelRow(GRAPH_KERNELS, 'graphKernel', showGraphs), el('div', { id: 'pairresult' })));
  showGraphs();
}

export function showPair() {
  if (state.view === 'graphs') graphsView();
  else wordsView();
}
