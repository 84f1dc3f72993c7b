// files.js: files that are dropped on the page: data, and models.
// SPDX-License-Identifier: Apache-2.0
import { $, el, toast, decodeFloats, encodeBytes } from './util.js';
import { ask } from './engine.js';
import { state, session, changed, remember } from './state.js';
import { calls } from './expression.js';
import { sample } from './samples.js';
import { choice, choices, isNumbers, kernelNames, setLearner, shownModel, source } from './machine.js';

const LARGEST = 40e6;

// ---- what a file is --------------------------------------------------------------------------------

function describe(model) {
  const parts = [model.learner, model.kernel && 'kernel ' + model.kernel, model.options, model.features > 0 && model.features + ' features', model.classes > 1 && model.classes + ' classes', model.support > 0 && model.support + ' support vectors'];
  return parts.filter(Boolean).join(', ');
}
function aboutData(f) {
  const fields = f.fields.map((x) => `${x.name} (${x.kind}${x.cols ? ' × ' + x.cols : ''})`).join(', ');
  return el('p', {}, el('b', {}, f.name), `: ${f.n} objects, ${fields}${f.classes.length > 1 && f.classes.length < 20 ? `, ${f.classes.length} classes` : ''}`);
}
function aboutModel(f) {
  const drawn = !f.data && !f.extent ? 'Its support vectors are not points of a plane; the panels show what it holds.' : f.data ? 'The picture shows what it predicts, and these data.' : 'The picture shows its own decision function and its support vectors. Drop data to see them, too.';
  return el('p', {}, el('b', {}, f.model.name), ` is a model: ${describe(f.model)}. ${drawn}`);
}
export function showFile() {
  const f = session.file, box = $('fileinfo');
  $('modelinfo').replaceChildren(session.modelnote || '');
  box.hidden = !f;
  $('filehint').hidden = !!f;
  $('planehelp').hidden = !!f;
  if (!f) return;
  const names = f.fields.find((x) => x.columns && x.columns.length)?.columns || [];
  const pick = (which, label) => {
    const menu = el('select', { 'aria-label': label }, ...names.map((n, i) => el('option', { value: i, selected: session.columns[which] === i }, n || 'column ' + (i + 1))));
    menu.addEventListener('change', () => {
      session.columns[which] = +menu.value;
      reload();
    });
    return menu;
  };
  const button = (text, f) => el('button', { type: 'button', class: 'button', onclick: f }, text);
  box.replaceChildren(
    f.model ? aboutModel(f) : '',
    f.data ? aboutData(f) : '',
    names.length > 2 ? el('div', { class: 'two' }, pick(0, 'Column to the right'), pick(1, 'Column upwards')) : '',
    el('div', { class: 'row' }, f.model ? button(f.data ? 'Train on these data' : 'Train on points', trainAgain) : '', button('Back to points', closeFile)),
  );
}

// ---- opening and closing ---------------------------------------------------------------------------

export function closeFile() {
  session.file = null;
  suitKernel(['dense']);
  changed('all');
}
// The learner of the model, on the data that are there.
function trainAgain() {
  if (!session.file.data) return closeFile();
  session.file.model = null;
  changed('all');
  return undefined;
}
// What the engine says of a file becomes what is drawn. data: the file as the engine takes it; null: they are the
// support vectors of the model.
export function takeFile(answer, data, model = null) {
  const f = { name: answer.name, n: answer.n, fields: answer.fields, classes: answer.targets === 'words' || answer.classes.length <= 10 ? answer.classes : [], target: answer.target, class: answer.class, data, model };
  if (answer.x) {
    f.px = decodeFloats(answer.x);
    f.py = decodeFloats(answer.y);
    f.cols = answer.fields.find((x) => x.cols > 0).cols;
    const range = (v) => {
      let a = Infinity, b = -Infinity;
      for (const x of v) [a, b] = [Math.min(a, x), Math.max(b, x)];
      const pad = (model && !data ? 0.3 : 0.06) * (b - a) || 1;
      return [a - pad, b + pad];
    };
    const up = f.cols === 1 ? f.target : f.py;
    if (answer.fields.length === 1) f.extent = { x: range(f.px), y: up.length ? range(up) : [-3, 3] };
  }
  session.file = f;
}
async function reload() {
  const f = session.file, answer = await ask({ do: 'load', ...source(), columns: session.columns });
  if (!answer.ok) return toast(answer.error.message);
  takeFile({ ...answer, name: f.name, targets: f.target.length ? 'words' : 'none', classes: f.classes, class: f.class, target: f.target }, f.data, f.model);
  changed('points');
}
async function read(file) {
  let bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());
  return { name: file.name.replace(/\.gz$/, ''), base64: encodeBytes(bytes) };
}
export async function openFile(file) {
  if (file.size > LARGEST) return toast(`${file.name} is too large for the page: start mercer studio ${file.name}`);
  const data = await read(file);
  session.columns = [0, 1];
  const answer = await ask({ do: 'load', data });
  if (!answer.ok) return toast(answer.error.message);
  session.modelnote = null;
  if (answer.model) return openModel(answer, data);
  takeFile(answer, data, shownModel());
  suitFile();
}
function openModel(answer, file) {
  const model = { ...answer.model, name: file.name, file }, old = session.file;
  useModel(model);
  state.view = 'play';
  if (answer.fields) {
    takeFile(answer, null, model);
    if (!session.file.extent) state.panel = 'certificate';
  } else if (old && old.data) {
    old.model = model;
  } else {
    session.file = null;
    session.modelnote = el('p', { class: 'hint' }, el('b', {}, file.name), ` is a model: ${describe(model)}. It scales its data: drop data first, then the model, to see what it predicts. Its learner, kernel and options are used for the points.`);
  }
  changed('all');
  remember();
}

// ---- what suits it ---------------------------------------------------------------------------------

// Learner, kernel and options of a model become those of the page.
export function useModel(model) {
  const all = choices().flatMap((g) => g.list).map((c) => c.id), numbers = model.learner + '-numbers';
  const id = model.task === 'regress' && all.includes(numbers) ? numbers : model.learner;
  if (!all.includes(id)) return;
  const other = setLearner(id);
  if (model.kernel) state.kernel = model.kernel;
  state.options = {};
  for (const m of (model.options || '').matchAll(/([\w-]+)=("[^"]*"|\S+)/g)) state.options[m[1]] = m[2].replace(/^"|"$/g, '');
  if (other && !session.file) {
    state.sample = isNumbers() ? 'wave' : 'moons';
    state.points = sample(state.sample);
  }
}
// A kernel for other kinds of objects than there are gives way to one that can be used.
function suitKernel(kinds) {
  const leaves = calls(state.kernel, kernelNames()).map((c) => session.hello.kernels.find((k) => k.name === c.name)).filter((k) => !k.combines);
  if (leaves.length && leaves.every((k) => k.kinds.some((kind) => kinds.includes(kind)))) return;
  state.kernel = kinds.includes('dense') || kinds.includes('sparse') ? 'rbf(gamma=1)' : kinds.includes('strings') ? 'spectrum(p=3)' : kinds.includes('graphs') ? 'wl(h=2)' : 'precomputed';
}
// cca compares two kernels: of points, one of each coordinate. Other learners have one kernel.
export function suitViews() {
  const columns = /\((x1|x2)\b/;
  if (choice().name === 'cca' && !session.file && !columns.test(state.kernel)) {
    state.kernel = 'rbf(x1, gamma=1)';
    state.options.kernel2 = 'rbf(x2, gamma=1)';
  } else if (choice().name !== 'cca' && columns.test(state.kernel)) {
    state.kernel = 'rbf(gamma=1)';
  }
}
// A learner and a kernel that can be used with what the file holds.
export function suitFile() {
  const f = session.file, numbers = f.target.length > 0 && f.classes.length === 0;
  if (!f.model) {
    if (numbers !== isNumbers()) setLearner(numbers ? 'ridge-numbers' : f.target.length ? 'svm' : 'pca');
    suitKernel(f.fields.map((x) => x.kind));
  }
  if (!f.extent) state.panel = 'matrix';
  state.view = 'play';
  changed('all');
}
