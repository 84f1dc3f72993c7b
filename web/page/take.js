// take.js: the state as a link, a command, Python, files.
// SPDX-License-Identifier: Apache-2.0
import { $, el, toast, download, decodeBytes } from './util.js';
import { ask } from './engine.js';
import { state, session, address } from './state.js';
import { choice, csv, fitRequest, isNumbers, optionsNow, shownModel } from './machine.js';
import { pictureSvg } from './plane.js';
import { views } from './panels.js';

const quote = (text) => (/^[\w.,:=+-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'");
const fileName = () => (session.file ? session.file.name : 'points.csv');

// Options that are not said otherwise: what the engine was asked.
function commandParts() {
  if (shownModel()) return [`mercer predict ${quote(shownModel().name)} ${session.file.data ? quote(session.file.name) : 'DATA'}`, '-o -'];
  const flags = Object.entries(optionsNow()).map(([k, v]) => (k.length === 1 ? `-${k} ${v}` : v === 'yes' && ['probability', 'loo'].includes(k) ? `--${k}` : `--${k} ${quote(v)}`));
  return ['mercer fit', choice().name, quote(fileName()), '-k ' + quote(state.kernel), ...flags, '-o model.mercer'];
}
export const commandLine = () => commandParts().join(' ');
// Lines are broken between options, not inside one; only what is longer than a line is broken anywhere.
const unbroken = (parts) => parts.flatMap((p, i) => [i ? ' ' : '', p.length < 40 ? el('span', { class: 'whole' }, p) : p]);

// The estimator: those that keep their own names for options, or any learner by its name.
const OWN = { kmeans: 'KernelKMeans', 'one-class': 'OneClassSVM', fisher: 'KernelFisher' };
const NAMES = { clusters: 'n_clusters', restarts: 'n_init', 'max-steps': 'max_iter', components: 'n_components', lambda: 'alpha' };
function estimator() {
  const name = choice().name, options = Object.entries(optionsNow()), kernel = JSON.stringify(state.kernel);
  const number = (v) => (v === 'yes' ? 'True' : v === 'no' ? 'False' : Number.isFinite(+v) ? v : JSON.stringify(v));
  if (OWN[name]) return [OWN[name], `${OWN[name]}(kernel=${kernel}${options.map(([k, v]) => `, ${NAMES[k] || k.replace(/-/g, '_')}=${number(v)}`).join('')})`];
  const which = choice().task === 'structure' ? 'KernelTransformer' : isNumbers() ? 'KernelRegressor' : 'KernelClassifier';
  return [which, `${which}("${name}", kernel=${kernel}, options={${options.map(([k, v]) => `"${k}": ${JSON.stringify(v)}`).join(', ')}})`];
}
export function pythonCode() {
  const trained = ['import mercer', '', `model = mercer.load("${shownModel() ? shownModel().name : 'model.mercer'}")`];
  if (shownModel()) return trained.join('\n');
  if (session.file) return ['# after the command above', ...trained].join('\n');
  const [which, call] = estimator(), labelled = choice().task !== 'structure' || choice().name === 'fisher';
  // These two sort the rows of a plain matrix, and would end at another model.
  const ordered = ['kmeans', 'one-class'].includes(choice().name);
  const data = ordered ? 'X = {"x": table[["x1", "x2"]].to_numpy()}  # a field: its rows keep their order' : isNumbers() ? 'X, y = table[["x"]], table["y"]' : `X${labelled ? ', y' : ''} = table[["x1", "x2"]]${labelled ? ', table["class"]' : ''}`;
  return `import pandas as pd\nfrom mercer import ${which}\n\ntable = pd.read_csv("points.csv")\n${data}\nmodel = ${call}\nmodel.fit(X${labelled ? ', y' : ''})`;
}

async function png() {
  $('plane').toBlob((blob) => download('studio.png', blob, 'image/png'));
}

async function modelFile() {
  const fit = await ask(fitRequest(2), 'take');
  const answer = fit && fit.ok ? await ask({ do: 'model' }, 'take') : fit;
  if (!answer) return;
  if (!answer.ok) return toast(answer.error.message);
  download('model.mercer', new Blob([decodeBytes(answer.base64)]), 'application/octet-stream');
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(what + ' copied');
  } catch (fault) {
    toast('The browser does not allow copying: select the text');
  }
}

function block(title, text, what, shown = [text]) {
  return [el('h3', {}, title), el('pre', { class: 'code', 'data-what': what, tabindex: 0 }, ...shown), el('button', { type: 'button', class: 'button', onclick: () => copy(text, what) }, 'Copy ' + what)];
}

function take() {
  const link = location.href.split('#')[0] + address();
  const button = (text, f) => el('button', { type: 'button', class: 'button', 'data-take': text, onclick: f }, text);
  $('panel').replaceChildren(
    el('h3', {}, 'This state as a link'),
    el('div', { class: 'row' }, el('button', { type: 'button', class: 'button main', onclick: () => copy(link, 'Link') }, 'Copy link'), el('span', { class: 'hint' }, session.file ? 'The file itself is not part of it.' : `${state.points.length} points, learner and kernel are in it.`)),
    el('h3', {}, 'Files'),
    el('div', { class: 'row' }, button('SVG', () => download('studio.svg', pictureSvg(), 'image/svg+xml')), button('PNG', png), session.file ? '' : button('CSV', () => download('points.csv', csv(), 'text/csv')), shownModel() ? '' : button('Model', modelFile)),
    ...block(shownModel() ? 'This model on the command line' : 'The same model on the command line', commandLine(), 'command', unbroken(commandParts())),
    ...block('and in Python', pythonCode(), 'code'),
  );
}

views.take = take;
