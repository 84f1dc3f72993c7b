// lessons.js: six lessons: text beside the live picture, and one question each, answered by moving something.
// SPDX-License-Identifier: Apache-2.0
import { $, el } from './util.js';
import { state, session, changed, goTo, remember } from './state.js';
import { sample } from './samples.js';

const m = (text) => `<span class="math">${text}</span>`;
const accuracy = () => (session.fit && !session.fit.stale && session.fit.report.train ? session.fit.report.train.accuracy : null);
const bare = (text) => text.replace(/\s/g, '');

// The largest share of points of two classes that one cut of the first coordinate puts on their own sides.
function cut() {
  const fit = session.fit, n = state.points.length;
  if (!fit || fit.stale || !fit.scores || n === 0) return 0;
  const many = fit.scores.length / n, order = state.points.map((p, i) => [fit.scores[i * many], p[2] === 0]).sort((a, b) => a[0] - b[0]);
  let right = order.filter((p) => p[1]).length, best = 0;
  for (const p of order) {
    right += p[1] ? -1 : 1;
    best = Math.max(best, right / n, 1 - right / n);
  }
  return best;
}

// goal(): '' while it is not reached, else what to say.
const LESSONS = [
  {
    title: 'A line is not enough',
    text: [
      `A perceptron and a support vector machine draw one straight line. The four clouds here are labelled like the table of <i>exclusive or</i>: equal signs blue, unequal signs orange. Whatever line you imagine, at least one cloud is on the wrong side of it.`,
      `The way out is to look at the points through other features. Add the product ${m('x₁x₂')} as a coordinate and the classes fall apart: it is positive for one and negative for the other. The same trick separates ${m('|x| &lt; 2')} from ${m('|x| ≥ 2')} on a line, by the feature ${m('x²')}.`,
      `A <b>kernel</b> gives the inner product in the space of features, ${m('K(x, z) = Φ(x)·Φ(z)')}, without going there. For ${m('(x·z)²')} the features are all products of two coordinates: look at them under <i>Lift</i>.`,
    ],
    ask: 'Choose or type another kernel so that every point is on its own side.',
    set: { sample: 'xor', learner: 'svm', options: { C: '10' }, kernel: 'linear', panel: 'lift' },
    goal: () => (accuracy() === 1 && bare(state.kernel) !== 'linear' ? `Yes: ${state.kernel} has the feature that matters. A line there is a curve here.` : ''),
  },
  {
    title: 'The margin and its support vectors',
    text: [
      `Many lines separate these two classes. The support vector machine takes the one that is farthest from all points: it makes the <b>margin</b>, the strip between the dashed lines, as wide as possible. That is the same as the shortest weight vector ${m('w')} with ${m('yᵢ(w·xᵢ + b) ≥ 1')}.`,
      `The dual problem has one number ${m('αᵢ ≥ 0')} for each point, and needs the points only through their inner products: ${m('w = Σ αᵢ yᵢ xᵢ')}. Most ${m('αᵢ')} are zero. The ringed points are the others, the <b>support vectors</b>: they alone hold the line.`,
      `With a finite ${m('C')} points may stand inside the strip for a price. The primal and the dual value meet at the optimum; the <i>Certificate</i> shows how close they are, and that proves the solution.`,
    ],
    ask: 'Drag a point that is not ringed, far from the strip: nothing moves. Now drag points until exactly two are ringed.',
    set: { sample: 'line', learner: 'svm', options: { C: 'inf' }, kernel: 'linear', panel: 'certificate' },
    goal: () => (session.fit && !session.fit.stale && session.fit.report.support === 2 && accuracy() === 1 ? 'Two support vectors: the line stands in the middle between them, at a right angle.' : ''),
  },
  {
    title: 'Kernels from kernels',
    text: [
      `When is a function of two objects an inner product somewhere? Exactly when it is symmetric and all its matrices ${m('G')} are positive semidefinite: ${m('tᵀGt ≥ 0')} for all weights ${m('t')}. The number ${m('tᵀGt')} is a squared length, ${m('|Σ tᵢΦ(xᵢ)|²')}.`,
      `Few kernels need a proof of their own. Sums and products of kernels are kernels, so are positive multiples, polynomials with positive coefficients and ${m('exp(K)')}; and ${m('f(x)K(x,z)f(z)')} for any function. From ${m('x·z')} alone these rules make the Gaussian ${m('exp(−γ|x−z|²)')}.`,
      `The hyperbolic tangent here is not one of them. Under <i>Valid?</i> stands a counter-example: a point or two and weights with ${m('tᵀGt &lt; 0')}. Distances in such a space would be square roots of negative numbers.`,
    ],
    ask: 'Type a kernel made from two others with + or *, such as linear + poly(degree=3), one that the rules accept.',
    set: { sample: 'moons', learner: 'svm', options: { C: '1' }, kernel: 'sigmoid(a=1, b=-1)', panel: 'valid' },
    goal: () => (/[+*]/.test(state.kernel) && !/sigmoid|-/.test(state.kernel.replace(/e-\d/g, '')) && accuracy() != null ? 'A kernel again, by the rules of closure: see them one by one under Valid?' : ''),
  },
  {
    title: 'Words and graphs',
    view: 'words',
    text: [
      `Nothing so far needed ${m('x')} to be a vector: only ${m('K(x, z)')} is asked for. The spectrum kernel compares two words by their substrings of ${m('p')} letters. Its feature space has a coordinate for every possible substring; the kernel is computed without writing them down.`,
      `The subsequence kernel <code>ssk</code> allows gaps: a subsequence that stretches over ${m('ℓ')} letters weighs ${m('λ<sup>ℓ</sup>')}. For <i>cat</i> and <i>car</i> with ${m('p = 2')} only <i>ca</i> is shared, so ${m('K = λ⁴')}, and normalised ${m('1/(2 + λ²)')}.`,
      `Graphs work alike: count small subgraphs, shortest paths or neighbourhoods that two graphs share (see <i>Graphs</i>). Any learner of this page then works on molecules and on text.`,
    ],
    ask: 'Type cat and car, choose ssk(p=2, lambda=0.5), and compare with 1/(2 + λ²) = 0.444. Then change one letter so that they share nothing.',
    set: { pair: { words: ['statistics', 'statues'], kernel: 'spectrum(p=3)' } },
    goal: () => (document.querySelector('#pairresult [data-k="0"]') && state.pair.words.every((w) => w.length >= 2) ? 'The kernel is 0: the two words stand at a right angle in feature space.' : ''),
  },
  {
    title: 'Regression, from ridge to Gaussian processes',
    text: [
      `Ridge regression minimises ${m('Σ (yᵢ − w·Φ(xᵢ))² + λ|w|²')}. Its solution is a sum over the training points, ${m('f(x) = Σ αᵢ K(xᵢ, x)')} with ${m('α = (K + λI)⁻¹ y')}: ${m('n')} numbers, however many features there are.`,
      `A <b>Gaussian process</b> gives the same curve another meaning: ${m('K')} says how values at two places vary together, ${m('λ')} is the variance of the noise. Then the data also say how sure the curve is. The band is ± one and two standard deviations; the thin lines are functions drawn from what the process believes.`,
      `Away from the data the band opens: there the prior speaks. Support vector regression (<code>svr</code>) instead forgives errors up to ${m('ε')}, and keeps only the points outside its tube.`,
    ],
    ask: 'Close the gap: place points in it until the band is narrow everywhere between −2.5 and 2.5.',
    set: { sample: 'gap', learner: 'gp-numbers', options: {}, kernel: 'rbf(gamma=1)', panel: 'certificate' },
    goal: () => {
      const p = session.fit && !session.fit.stale && session.fit.plane;
      if (!p || !p.std || state.learner !== 'gp-numbers') return '';
      for (let i = 0; i < p.nx; i++) {
        const x = -3 + (6 * i) / (p.nx - 1);
        if (Math.abs(x) <= 2.5 && p.std[i] > 0.3) return '';
      }
      return 'Where there are data, there is certainty: each point pins the functions down.';
    },
  },
  {
    title: 'Seeing structure',
    text: [
      `Kernels also show what nobody labelled. <b>Kernel PCA</b> looks for the directions in feature space along which the points vary most; all it needs are the eigenvectors of the centred matrix ${m('K')}. The colours are the first coordinate, <i>Coordinates</i> shows the first two.`,
      `<b>k-means</b> in feature space measures distances by ${m('K(x,x) + K(z,z) − 2K(x,z)')}; its centres are means of images, which need not be the image of any point. <b>Fisher's</b> discriminant uses the labels: it looks for the direction that keeps classes apart and each class together.`,
      `With a linear kernel the two rings look alike to all of them. The scale of the kernel decides what counts as near.`,
    ],
    ask: 'Move gamma until the first coordinate alone tells the two rings apart: in the picture on the right they are then two heaps, one left and one right.',
    set: { sample: 'rings', learner: 'pca', options: {}, kernel: 'rbf(gamma=0.5)', panel: 'coordinates' },
    goal: () => (state.learner === 'pca' && cut() > 0.97 ? 'Found without a single label: along one direction of feature space the rings are two heaps.' : ''),
  },
];

const reached = new Set();
export const lessonView = (n) => LESSONS[n].view || 'play';

// A lesson that was left goes on where it was; again: from its beginning.
export function openLesson(n, again = false) {
  const { set } = LESSONS[n], known = goTo('lessons', n) && !again;
  if (set.sample && !known) {
    state.points = sample(set.sample);
    state.sample = set.sample;
    state.learner = set.learner;
    state.options = { ...set.options };
    state.kernel = set.kernel;
    state.panel = set.panel;
  }
  if (set.pair && !known) Object.assign(state.pair, structuredClone(set.pair));
  remember();
  changed('all');
}

export function showLesson() {
  const box = $('lesson'), on = state.view === 'lessons';
  box.hidden = !on;
  // The lessons ask for kernels more than for data: the field is then the first below the text.
  const card = $('kernelcard'), home = card.parentElement;
  if (on && box.nextElementSibling !== card) box.after(card);
  if (!on && home.lastElementChild !== card) home.append(card);
  document.body.classList.toggle('withlesson', on);
  if (!on) return;
  const n = state.lesson, lesson = LESSONS[n];
  const steps = LESSONS.map((l, i) => el('button', { type: 'button', 'aria-label': `Lesson ${i + 1}: ${l.title}`, 'aria-current': i === n ? 'step' : null, class: reached.has(i) ? 'done' : '', onclick: () => openLesson(i) }, String(i + 1)));
  const paragraphs = lesson.text.map((t) => {
    const p = el('p');
    p.innerHTML = t;
    return p;
  });
  box.className = 'card lesson';
  box.replaceChildren(
    el('nav', { class: 'lessons', 'aria-label': 'Lessons' }, ...steps),
    el('h2', {}, `${n + 1}. ${lesson.title}`),
    ...paragraphs,
    el('div', { class: 'ask', id: 'ask', role: 'status' }, el('b', {}, 'Try it'), lesson.ask),
    el('div', { class: 'row' }, el('button', { type: 'button', class: 'button', onclick: () => openLesson(n, true) }, 'Begin again'), n + 1 < LESSONS.length ? el('button', { type: 'button', class: 'button main', onclick: () => openLesson(n + 1) }, 'Next lesson') : ''),
  );
  checkLesson();
}

// Looks whether the question is answered; once it is, it stays so until the lesson is left.
export function checkLesson() {
  if (state.view !== 'lessons' || !$('ask')) return;
  const said = LESSONS[state.lesson].goal();
  if (said && !$('ask').classList.contains('done')) {
    reached.add(state.lesson);
    $('ask').classList.add('done');
    $('ask').replaceChildren(el('b', { class: 'yes' }, '✓ Well seen'), said);
  }
}
