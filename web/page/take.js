// take.js: the state as a link, a command, Python, files.
// SPDX-License-Identifier: Apache-2.0
import { $, el, toast, download, decodeBytes } from './util.js';
import { ask } from './engine.js';
import { state, session, address } from './state.js';
import { choice, csv, fitRequest, isNumbers, optionsNow } from './machine.js';
import { pictureSvg } from './plane.js';
import { views } from './panels.js';

const quote = (text) => (/^[\w.,:=+-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'");
const fileName = () => (session.file ? session.file.name : 'points.csv');

// Options that are not said otherwise: what the engine was asked.
export function commandLine() {
  const flags = Object.entries(optionsNow()).map(([k, v]) => (k.length === 1 ? `-${k} ${v}` : v === 'yes' && ['probability', 'loo'].includes(k) ? `--${k}` : `--${k} ${quote(v)}`));
  return ['mercer fit', choice().name, quote(fileName()), '-k', quote(state.kernel), ...flags, '-o model.mercer'].join(' ');
}

export function pythonCode() {
  const transforms = choice().task === 'structure' && ['pca', 'fisher'].includes(choice().name);
  const which = transforms ? 'KernelTransformer' : isNumbers() ? 'KernelRegressor' : choice().name === 'kmeans' ? 'KernelKMeans' : choice().name === 'one-class' ? 'OneClassSVM' : 'KernelClassifier';
  const options = Object.entries(optionsNow());
  const data = isNumbers() ? 'X, y = table[:, :1].astype(float), table[:, 1].astype(float)' : 'X, y = table[:, :2].astype(float), table[:, 2].astype(str)';
  const generic = ['KernelTransformer', 'KernelRegressor', 'KernelClassifier'].includes(which);
  const words = options.map(([k, v]) => `"${k}": "${v}"`).join(', ');
  const number = (v) => (v === 'yes' ? 'True' : v === 'no' ? 'False' : Number.isFinite(+v) ? v : `"${v}"`);
  const call = generic ? `${which}("${choice().name}", kernel="${state.kernel}", options={${words}})` : `${which}(kernel="${state.kernel}"${options.map(([k, v]) => `, ${{ clusters: 'n_clusters' }[k] || k.replace(/-/g, '_')}=${number(v)}`).join('')})`;
  return `import numpy as np\nfrom mercer import ${which}\n\ntable = np.genfromtxt("${fileName()}", delimiter=",", dtype=str, skip_header=1)\n${data}\nmodel = ${call}\nmodel.fit(X${choice().task === 'structure' && choice().name !== 'fisher' ? '' : ', y'})`;
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

function block(title, text, what) {
  return [el('h3', {}, title), el('pre', { class: 'code', 'data-what': what, tabindex: 0 }, text), el('button', { type: 'button', class: 'button', onclick: () => copy(text, what) }, 'Copy ' + what)];
}

function take() {
  const link = location.href.split('#')[0] + address();
  const button = (text, f) => el('button', { type: 'button', class: 'button', 'data-take': text, onclick: f }, text);
  $('panel').replaceChildren(
    el('h3', {}, 'This state as a link'),
    el('div', { class: 'row' }, el('button', { type: 'button', class: 'button main', onclick: () => copy(link, 'Link') }, 'Copy link'), el('span', { class: 'hint' }, session.file ? 'The file itself is not part of it.' : `${state.points.length} points, learner and kernel are in it.`)),
    el('h3', {}, 'Files'),
    el('div', { class: 'row' }, button('SVG', () => download('studio.svg', pictureSvg(), 'image/svg+xml')), button('PNG', png), session.file ? '' : button('CSV', () => download('points.csv', csv(), 'text/csv')), button('Model', modelFile)),
    ...block('The same model on the command line', commandLine(), 'command'),
    ...block('and in Python', pythonCode(), 'code'),
  );
}

views.take = take;
