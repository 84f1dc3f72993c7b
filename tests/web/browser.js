// browser.js MODULES CHROMIUM MERCER ADDRESS FOLDER [PART]: the studio in a real browser, as a person uses it.
// Prints one line for each check, "ok - name" or "not ok - name: why". FOLDER takes downloads and screenshots.
// SPDX-License-Identifier: Apache-2.0
'use strict';
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const [modules, chromium, mercer, address, folder, only] = process.argv.slice(2);
const puppeteer = require(path.join(modules, 'puppeteer-core'));

let browser, page, faults = [], failed = 0;
const wait = (ms) => new Promise((r) => setTimeout(r, ms));
const status = () => page.$eval('#status', (e) => e.textContent);
const settled = (seconds = 30) => page.waitForFunction(() => /ms$/.test(document.getElementById('status').textContent) && !document.getElementById('status').classList.contains('bad'), { timeout: 1000 * seconds });
const kernel = () => page.$eval('#kernel', (e) => e.value);

// What the address of the page holds.
async function stored() {
  const hash = await page.evaluate(() => location.hash.slice(1));
  return JSON.parse(Buffer.from(hash.replace(/-/g, '+').replace(/_/g, '/'), 'base64').toString());
}
const count = async () => (await stored()).points.length / 3;

function equal(got, wanted, what) {
  if (got !== wanted) throw new Error(`${what} is ${got}, expected ${wanted}`);
}
function holds(truth, what) {
  if (!truth) throw new Error(what);
}
async function check(name, run) {
  try {
    await run();
    if (faults.length) throw new Error('console: ' + faults.join('; '));
    console.log('ok - ' + name);
  } catch (fault) {
    failed++;
    console.log(`not ok - ${name}: ${String(fault.message || fault).split('\n')[0]}`);
    await page.screenshot({ path: path.join(folder, 'failed.png') }).catch(() => {});
  }
  faults = [];
}

async function fresh(hash = '', features = [], width = 1440, height = 900, more = {}) {
  if (page) await page.close();
  page = await browser.newPage();
  page.on('console', (m) => m.type() === 'error' && faults.push(m.text()));
  page.on('pageerror', (e) => faults.push(e.message));
  page.on('request', (r) => !/^(data|blob):/.test(r.url()) && !r.url().startsWith(address.split('#')[0]) && faults.push('asks for ' + r.url()));
  const link = await page.createCDPSession();
  await link.send('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }, ...features]);
  await page.setViewport({ width, height, ...more });
  await page.goto(address + hash);
  await settled();
}
async function chip(name) {
  const buttons = await page.$$('#kernelchips button');
  for (const b of buttons) if ((await b.evaluate((e) => e.textContent)) === name) return b.click();
  throw new Error('no chip ' + name);
}
async function type(text) {
  await page.click('#kernel', { clickCount: 3 });
  await page.keyboard.press('Backspace');
  await page.type('#kernel', text);
  await page.keyboard.press('Escape');
}
async function plane(x, y) {
  const box = await (await page.$('#plane')).boundingBox();
  return [box.x + ((x + 3) / 6) * box.width, box.y + ((3 - y) / 6) * box.height];
}
const pairIs = (k) => page.waitForFunction((v) => +document.querySelector('#pairresult [data-k]')?.dataset.k === v, { timeout: 10000 }, k);
// A colour of the picture, at a place of the plane.
const pixel = async (x, y) => {
  const [px, py] = await plane(x, y);
  return page.evaluate((a, b) => {
    const canvas = document.getElementById('plane'), box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
    return [...canvas.getContext('2d').getImageData(Math.round((a - box.left) * ratio), Math.round((b - box.top) * ratio), 1, 1).data].slice(0, 3);
  }, px, py);
};
const bluer = ([r, , b]) => b - r;
const tab = (name) => page.click('#tab-' + name);
const panel = (words, seconds = 20) => page.waitForFunction((w) => document.getElementById('panel').textContent.includes(w), { timeout: 1000 * seconds }, words);

async function basics() {
  await check('rings are separated by one click', async () => {
    await fresh();
    holds(!(await status()).startsWith('100 %'), 'a line separates the rings');
    await chip('rbf');
    await page.waitForFunction(() => document.getElementById('status').textContent.startsWith('100 % right'), { timeout: 20000 });
    equal(await kernel(), 'rbf(gamma=1)', 'kernel');
    await panel('optimal');
  });
  await check('a point is placed, dragged, deleted, and all is undone', async () => {
    const before = await count();
    await page.mouse.click(...(await plane(0, 0)));
    equal(await count(), before + 1, 'points');
    await page.mouse.move(...(await plane(0, 0)));
    await page.mouse.down();
    await page.mouse.move(...(await plane(1, 0.5)), { steps: 8 });
    await page.mouse.up();
    const points = (await stored()).points.slice(-3);
    holds(Math.abs(points[0] - 100) < 3 && Math.abs(points[1] - 50) < 3, 'it is at ' + points);
    await page.keyboard.down('Shift');
    await page.mouse.click(...(await plane(1, 0.5)));
    await page.keyboard.up('Shift');
    equal(await count(), before, 'points');
    for (let i = 0; i < 3; i++) await page.click('#undo');
    equal(await count(), before, 'points after undo');
    await page.click('#redo');
    equal(await count(), before + 1, 'points after redo');
  });
  await check('a mistake in the kernel has a caret', async () => {
    await type('rbf(gama=1)');
    await page.waitForFunction(() => document.querySelector('#kernelerror pre')?.textContent.split('\n')[1] === '    ^^^^', { timeout: 10000 });
    holds((await page.$eval('#kernelerror', (e) => e.textContent)).includes('gamma'), 'it does not name gamma');
    await type('rbf(gamma=2)');
    await page.waitForFunction(() => !document.getElementById('kernelerror').textContent, { timeout: 10000 });
  });
}

async function fingers() {
  const touch = { hasTouch: true, isMobile: true };
  const swipe = async (from, to) => {
    await page.touchscreen.touchStart(...from);
    for (let i = 1; i <= 8; i++) await page.touchscreen.touchMove(from[0] + ((to[0] - from[0]) * i) / 8, from[1] + ((to[1] - from[1]) * i) / 8);
    await page.touchscreen.touchEnd();
    await wait(300);
  };
  await check('a finger scrolls, taps and drags', async () => {
    await fresh('', [], 375, 812, touch);
    const before = await count();
    await swipe(await plane(0.1, 0), await plane(0.1, 2.6));
    equal(await count(), before, 'points after a swipe');
    holds((await page.evaluate(() => scrollY)) > 50, 'the page does not scroll');
    await page.evaluate(() => scrollTo(0, 0));
    await wait(100);
    await page.touchscreen.tap(...(await plane(0, 0)));
    await wait(100);
    equal(await count(), before + 1, 'points after a tap');
    await swipe(await plane(0, 0), await plane(0.5, 6));
    const [x, y] = (await stored()).points.slice(-3);
    holds(Math.abs(x - 50) < 4 && y > 250 && y < 290, `dragged to ${x}, ${y}`);
    equal(await page.evaluate(() => scrollY), 0, 'scrolled by dragging');
  });
  await check('held sideways, the picture fits the screen', async () => {
    await fresh('', [], 740, 375, touch);
    const box = await (await page.$('#plane')).boundingBox();
    holds(box.height <= 375 && box.height > 200, 'height ' + box.height);
  });
}

async function works() {
  await check('placing and dragging is one step; panels are none', async () => {
    await fresh();
    const before = await count();
    await page.mouse.move(...(await plane(0, 0)));
    await page.mouse.down();
    await page.mouse.move(...(await plane(0.5, 0.3)), { steps: 4 });
    await page.mouse.up();
    await tab('matrix');
    await panel('kernel values');
    await page.click('#undo');
    equal(await count(), before, 'points after undo');
    equal((await stored()).panel, 'matrix', 'panel');
    holds(await page.$eval('#undo', (e) => e.disabled), 'there is more to undo');
  });
  await check('lessons and playground keep their own work', async () => {
    await page.mouse.click(...(await plane(0, 0)));
    const before = await count();
    await chip('laplace');
    await settled();
    await page.evaluate(() => [...document.querySelectorAll('#pens button')].find((b) => b.textContent === 'Erase').click());
    await page.click('[data-view=lessons]');
    await page.waitForFunction(() => document.getElementById('kernel').value === 'linear', { timeout: 5000 });
    holds(await page.$eval('#undo', (e) => e.disabled), 'a lesson begins with something to undo');
    equal(await page.$eval('#pens [aria-pressed=true]', (e) => e.textContent), 'Class A', 'pen');
    await chip('poly');
    await page.click('[data-view=play]');
    equal(await kernel(), 'laplace(gamma=1)', 'kernel of the playground');
    equal(await count(), before, 'points of the playground');
    await page.click('[data-view=lessons]');
    equal(await kernel(), 'poly(degree=2, c=1)', 'kernel of the lesson');
    await page.evaluate(() => [...document.querySelectorAll('#lesson button')].find((b) => b.textContent === 'Begin again').click());
    equal(await kernel(), 'linear', 'kernel at the beginning');
  });
  await check('the figure is of the current model, in its colours', async () => {
    await fresh();
    await page.click('#samples button:nth-child(3)');
    await chip('rbf');
    await settled();
    await tab('lift');
    await panel('Drag to turn');
    await tab('figure');
    await page.waitForSelector('#panel img', { timeout: 20000 });
    const figure = Buffer.from((await page.$eval('#panel img', (e) => e.src)).split(',')[1], 'base64').toString();
    holds(/<desc>svm, rbf\(gamma=1\)/.test(figure), /<desc>.*/.exec(figure)[0]);
    holds(figure.indexOf('>A<') < figure.indexOf('>B<'), 'class B has the first colour');
    const unit = (anchor, way) => ['0', '1'].map((v) => +new RegExp(`<text x="([\\d.]+)" y="([\\d.]+)"[^>]*text-anchor="${anchor}">${v}<`).exec(figure)[way]).reduce((a, b) => Math.abs(a - b));
    holds(Math.abs(unit('middle', 1) / unit('end', 2) - 1) < 0.01, 'a unit to the right is not as long as one upwards');
  });
  await check('the certificate has primal, dual and gap; knn has no proof', async () => {
    await tab('certificate');
    await panel('primal objective');
    await panel('dual objective');
    await panel('gap');
    await page.select('#learner', 'knn');
    await panel('nothing to solve');
    holds(!/below 0|support vectors/.test((await page.$eval('#panel', (e) => e.textContent)) + (await status())), await status());
  });
  await check('points under the hand, and lines that stay whole', async () => {
    await fresh();
    const [x, y] = (await stored()).points.slice(0, 2).map((v) => v / 100), look = () => page.evaluate(() => document.getElementById('plane').toDataURL());
    await wait(300);
    const before = await look();
    await page.mouse.move(...(await plane(x, y)));
    holds(before !== (await look()), 'the point under the hand looks like the others');
    await page.mouse.move(5, 5);
    equal(before === (await look()), true, 'the picture is as before');
    equal(await page.$eval('#status .whole', (e) => e.textContent.split(' ')[1]), 'ms', 'kept together');
    holds((await page.$eval('#legend', (e) => e.textContent)).includes('ring: support vector'), 'no legend');
    await tab('take');
    equal(await page.$$eval('[data-what=command] .whole', (e) => e.map((s) => s.textContent).find((s) => s.startsWith('--tol'))), '--tol 1e-10', 'option');
  });
  await check('the button of a kernel stays marked, a mistake is in the status line', async () => {
    const pressed = () => page.$$eval('#kernelchips [aria-pressed=true]', (b) => b.map((e) => e.textContent).join());
    await type('rbf(gamma=2.5)');
    equal(await pressed(), 'rbf', 'marked');
    await type('rbf(gama=1)');
    await page.waitForFunction(() => /gama|gamma/.test(document.getElementById('status').textContent), { timeout: 5000 });
    await type('rbf(gamma=1) + linear');
    equal(await pressed(), '', 'marked');
  });
}

async function machines() {
  await fresh();
  await check('sliders change the kernel', async () => {
    await fresh();
    await chip('rbf');
    await settled();
    const slider = await page.$('#kernelparams input[type=range]');
    await slider.focus();
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
    const g = +/gamma=([\d.]+)/.exec(await kernel())[1];
    holds(g > 1, 'gamma is ' + g);
    await settled();
  });
  await check('names and parameters are completed', async () => {
    await page.click('#kernel', { clickCount: 3 });
    await page.keyboard.press('Backspace');
    await page.type('#kernel', 'lap');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    equal(await kernel(), 'laplace', 'kernel');
    await page.type('#kernel', '(');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    holds((await kernel()).startsWith('laplace(gamma='), await kernel());
    await page.type('#kernel', '2)');
    await page.keyboard.press('Escape');
    await settled();
  });
  const learners = await page.$$eval('#learner option', (o) => o.map((x) => x.value));
  holds(learners.length >= 18, 'learners');
  for (const learner of learners)
    await check('learner ' + learner, async () => {
      await page.select('#learner', learner);
      await wait(50);
      await page.waitForFunction((clp) => (clp ? /ms$|CLP/ : /ms$/).test(document.getElementById('status').textContent), { timeout: 60000 }, learner === 'l1-svm');
      const said = await status();
      holds(/clp/i.test(said) ? learner === 'l1-svm' : /ms$/.test(said), said);
    });
  await check('kernels of every kind', async () => {
    await page.select('#learner', 'svm');
    for (const k of ['linear', 'poly(degree=2, c=1)', '0.5*rbf(gamma=1) + linear^2', 'normalize(poly(degree=3, c=1))', 'exp(linear)']) {
      await type(k);
      await wait(80);
      await settled();
    }
  });
  await check('two words and the substrings that they share', async () => {
    await page.click('[data-view=words]');
    const shared = (a, b, p) => {
      const parts = (w) => new Set(Array.from({ length: w.length - p + 1 }, (_, i) => w.substr(i, p)));
      return [...parts(a)].filter((s) => parts(b).has(s)).length;
    };
    await pairIs(shared('statistics', 'statues', 3));
    await (await page.$('#pair .chip')).click();
    await pairIs(shared('statistics', 'statues', 2));
    const lit = await page.$$eval('#pairresult .letters .on', (e) => e.length);
    holds(lit >= 4, 'no letters are marked');
    const word = await page.$('#pair input');
    await word.click({ clickCount: 3 });
    await word.type('banana');
    await pairIs(shared('banana', 'statues', 2));
  });
  await check('two graphs and the subgraphs that they share', async () => {
    await page.click('[data-view=graphs]');
    // Three nodes of a triangle with a tail: 1 triangle, 2 paths, 1 edge; of a square with a tail: 6 paths, 3 edges.
    await pairIs(2 * 6 + 1 * 3);
    const chips = await page.$$('#pairresult .chip');
    await chips[0].hover();
    await page.waitForSelector('.graph .node.on', { timeout: 5000 });
    await page.mouse.move(5, 5);
    const box = await (await page.$('.graph')).boundingBox();
    await page.mouse.click(box.x + 0.9 * box.width, box.y + 0.9 * box.height);
    await page.waitForFunction(() => document.querySelector('.graph').querySelectorAll('.node').length === 5, { timeout: 5000 });
    await page.click('#undo');
    await page.waitForFunction(() => document.querySelector('.graph').querySelectorAll('.node').length === 4, { timeout: 5000 });
    await page.click('[data-view=play]');
    await settled();
  });
  await check('the perceptron goes mistake by mistake', async () => {
    await page.select('#learner', 'perceptron');
    await type('rbf(gamma=1)');
    await wait(500);
    await settled();
    await page.waitForSelector('#steps:not([hidden])');
    const slider = await page.$('#steps input');
    await slider.focus();
    await page.keyboard.press('Home');
    await page.waitForFunction(() => document.getElementById('steps').textContent.includes('before the first mistake'), { timeout: 10000 });
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.getElementById('steps').textContent.includes('mistake 1 of'), { timeout: 10000 });
  });
  await check('k-means and Pegasos go step by step', async () => {
    for (const [learner, words] of [['kmeans', 'after 1 sweep over'], ['pegasos', 'after 1 step of']]) {
      await page.select('#learner', learner);
      await wait(300);
      await settled();
      await page.waitForSelector('#steps:not([hidden])');
      await (await page.$('#steps input')).focus();
      await page.keyboard.press('Home');
      await page.waitForFunction((w) => document.getElementById('steps').textContent.includes(w), { timeout: 10000 }, words);
      const first = await page.evaluate(() => document.getElementById('plane').toDataURL());
      await page.keyboard.press('End');
      await page.waitForFunction((w) => !document.getElementById('steps').textContent.includes(w), { timeout: 10000 }, words);
      await wait(300);
      holds(first !== (await page.evaluate(() => document.getElementById('plane').toDataURL())), learner + ': the picture stays');
      await page.click('#steps [data-play]');
      await wait(1200);
      holds((await page.$eval('#steps [data-play]', (e) => e.textContent)) === 'Pause', 'it does not play');
      await page.click('#steps [data-play]');
    }
  });
  await check('a hard margin, and one that is not possible', async () => {
    await fresh();
    await page.click('#samples button:nth-child(4)');
    await settled();
    const slider = await page.$('#options input[type=range]');
    await slider.focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() => document.querySelector('#options input[type=text]').value === 'inf', { timeout: 5000 });
    await wait(300);
    await settled();
    holds((await status()).startsWith('100 %'), await status());
    await page.click('#samples button:nth-child(1)');
    await page.waitForFunction(() => document.getElementById('status').classList.contains('bad') || !/100 %/.test(document.getElementById('status').textContent), { timeout: 10000 });
  });
  await check('a Gaussian process has a band and draws', async () => {
    await fresh();
    await page.select('#learner', 'gp-numbers');
    await chip('rbf');
    await wait(300);
    await settled();
    const seen = new Set();
    for (let y = -2.9; y < 2.9; y += 0.02) seen.add((await pixel(1.53, y)).map((v) => v >> 4).join());
    holds(seen.size >= 4, 'colours of the band: ' + seen.size);
  });
}

async function insides() {
  await check('every panel', async () => {
    await fresh();
    await chip('rbf');
    await settled();
    await tab('matrix');
    await panel('kernel values');
    await tab('spectrum');
    await panel('effective rank');
    await tab('valid');
    await panel('It is a kernel');
    await tab('lift');
    await panel('One plane separates');
    const canvas = await page.$('#panel canvas'), box = await canvas.boundingBox(), look = () => canvas.evaluate((e) => e.toDataURL());
    const before = await look();
    await page.mouse.move(box.x + 100, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 160, box.y + 120, { steps: 4 });
    await page.mouse.up();
    holds(before !== (await look()), 'the lift does not turn');
    await tab('figure');
    await page.waitForSelector('#panel img', { timeout: 20000 });
    await page.select('#learner', 'pca');
    await page.waitForSelector('#panel circle', { timeout: 20000 });
    await page.select('#learner', 'svm');
    await chip('sigmoid');
    await tab('valid');
    await panel('Counter-example');
  });
  await check('tuning fills a heat map, and a cell is taken', async () => {
    await chip('rbf');
    await settled();
    await tab('tune');
    await page.click('#panel .button.main');
    await panel('81 of 81', 120);
    await page.click('#panel .heat .best');
    await wait(100);
    await settled();
    holds(/^100 %|^9\d/.test(await status()), await status());
  });
  await check('dragging 300 points takes 50 ms a frame at most', async () => {
    const points = [];
    for (let i = 0; i < 300; i++) {
      const t = i * 2.39996, r = i % 2 ? 0.8 + 0.002 * i : 2 + 0.0015 * i;
      points.push(Math.round(100 * r * Math.cos(t)), Math.round(100 * r * Math.sin(t)), i % 2);
    }
    const state = { ...(await stored()), points, kernel: 'rbf(gamma=1)', learner: 'svm', options: {}, panel: 'certificate', view: 'play' };
    await fresh('#' + Buffer.from(JSON.stringify(state)).toString('base64').replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, ''));
    const from = [points[0] / 100, points[1] / 100];
    await page.mouse.move(...(await plane(...from)));
    await page.mouse.down();
    const times = [];
    for (let i = 1; i <= 20; i++) {
      await page.mouse.move(...(await plane(from[0] - i * 0.08, from[1])));
      await wait(60);
      times.push(+/(\d+) ms$/.exec(await status())?.[1] || 0);
    }
    await page.mouse.up();
    times.sort((a, b) => a - b);
    console.log(`# a fit with its plane: quartile ${times[4]} ms, median ${times[10]} ms`);
    // Other programs only make it slower: the quarter that was disturbed least counts.
    holds(times[4] <= 50, times[4] + ' ms');
  });
}

async function travels() {
  await check('the address restores the state', async () => {
    await fresh();
    await chip('laplace');
    await settled();
    await page.mouse.click(...(await plane(-2.5, 2.5)));
    await wait(200);
    await settled();
    const said = (await status()).replace(/[\d<]+ ms$/, ''), hash = await page.evaluate(() => location.hash), many = await count();
    await fresh(hash);
    equal(await count(), many, 'points');
    equal(await kernel(), 'laplace(gamma=1)', 'kernel');
    equal((await status()).replace(/[\d<]+ ms$/, ''), said, 'status');
  });
  await check('files are read', async () => {
    const files = {
      'a.csv': 'u,v,w,label\n' + Array.from({ length: 40 }, (_, i) => `${i % 7},${(i * 3) % 11},${i % 5},${i % 2 ? 'yes' : 'no'}\n`).join(''),
      'b.svm': Array.from({ length: 30 }, (_, i) => `${i % 2 ? 1 : -1} 1:${i % 7} 2:${(i * 3) % 5}\n`).join(''),
      'c.fa': Array.from({ length: 12 }, (_, i) => `>s${i} ${i % 2 ? 'pos' : 'neg'}\nACGT${i % 2 ? 'GGCC' : 'TTAA'}ACG\n`).join(''),
      'd.jsonl': Array.from({ length: 12 }, (_, i) => JSON.stringify({ y: i % 2, x: [i % 3, i % 5] }) + '\n').join(''),
    };
    for (const [name, text] of Object.entries(files)) {
      fs.writeFileSync(path.join(folder, name), text);
      const input = await page.$('#file');
      await input.uploadFile(path.join(folder, name));
      await page.waitForFunction((n) => document.getElementById('fileinfo').textContent.includes(n), { timeout: 10000 }, name);
      await wait(100);
      await settled();
    }
    await page.click('#fileinfo .button');
    await settled();
  });
  await check('a file is dropped', async () => {
    await fresh();
    const text = fs.readFileSync(path.join(folder, 'a.csv'), 'utf8');
    const hidden = () => page.$eval('#drop', (e) => e.hidden);
    const send = (name) => page.evaluate((kind, words) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([words], 'dropped.csv'));
      document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, name, text);
    await send('dragover');
    equal(await hidden(), false, 'the veil is hidden');
    await send('drop');
    equal(await hidden(), true, 'the veil is hidden');
    await page.waitForFunction(() => /dropped.csv: 40 objects/.test(document.getElementById('fileinfo').textContent), { timeout: 10000 });
    await settled();
  });
  await check('a model is drawn as it is', async () => {
    await fresh();
    fs.writeFileSync(path.join(folder, 'm.model'), 'svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nnr_sv 1 1\nSV\n1 1:1 2:0.5 \n-1 1:-1 \n');
    fs.writeFileSync(path.join(folder, 'five.csv'), 'x,y\n0,0\n1,0.5\n2,1.5\n3,2\n4,4\n');
    const run = (...call) => execFileSync(mercer, call, { cwd: folder, stdio: 'ignore' });
    run('fit', 'ridge', 'five.csv', '-k', 'laplace(gamma=2)', '--lambda', '0.25', '--task', 'regress', '-o', 'five.mercer');
    run('export', 'm.model', '--to', 'onnx', '-o', 'm.onnx');
    for (const [name, learner, expression, lambda] of [['m.model', 'svm', 'rbf(gamma=0.5)'], ['five.mercer', 'ridge-numbers', 'laplace(gamma=2)', '0.25'], ['m.onnx', 'svm', 'rbf(gamma=0.5)']]) {
      await (await page.$('#file')).uploadFile(path.join(folder, name));
      await page.waitForFunction((n) => document.getElementById('fileinfo').textContent.includes(n + ' is a model') && document.getElementById('status').textContent.startsWith('the model ' + n), { timeout: 10000 }, name);
      equal(await kernel(), expression, 'kernel');
      equal(await page.$eval('#learner', (e) => e.value), learner, 'learner');
      equal((await stored()).options.lambda, lambda, 'lambda');
      // On either side of the line between the two support vectors stands another colour.
      if (learner === 'svm') holds(Math.sign(bluer(await pixel(2, 0.5))) !== Math.sign(bluer(await pixel(-2, -0.5))), 'the picture of ' + name + ' is of one colour');
    }
    fs.writeFileSync(path.join(folder, 'new.csv'), 'x1,x2,class\n1,0,1\n-1,0,-1\n2,1,1\n-1,-1,1\n');
    await (await page.$('#file')).uploadFile(path.join(folder, 'new.csv'));
    await page.waitForFunction(() => document.getElementById('status').textContent.startsWith('the model m.onnx on these data · 75.0 % right'), { timeout: 10000 });
    await tab('matrix');
    await panel('kernel values');
    await tab('certificate');
    await panel('no certificate');
    await page.evaluate(() => [...document.querySelectorAll('#fileinfo button')].find((b) => b.textContent === 'Train on these data').click());
    await page.waitForFunction(() => /^\d.* right/.test(document.getElementById('status').textContent), { timeout: 10000 });
    await page.evaluate(() => [...document.querySelectorAll('#fileinfo button')].find((b) => b.textContent === 'Back to points').click());
    await settled();
  });
  await check('files of the picture', async () => {
    await fresh();
    await chip('rbf');
    await settled();
    await tab('take');
    for (const [what, file] of [['SVG', 'studio.svg'], ['PNG', 'studio.png']]) await taken(what, file);
    holds(fs.readFileSync(path.join(folder, 'studio.svg'), 'utf8').includes('<svg'), 'svg');
    equal(fs.readFileSync(path.join(folder, 'studio.png')).toString('latin1', 1, 4), 'PNG', 'png');
  });
  for (const learner of await page.$$eval('#learner option', (o) => o.map((x) => x.value))) await check('exports of ' + learner, () => exported(learner));
  await check('exports at other parameters', async () => {
    await exported('svm', 'laplace(gamma=0.5) + 0.1*linear', '10');
    await exported('svm', 'poly(degree=3, c=1)', '100');
    await exported('svr', 'matern(length=0.7)', '10');
  });
}

// Downloads what a button of the panel offers.
async function taken(what, file) {
  fs.rmSync(path.join(folder, file), { force: true });
  await page.$eval(`[data-take=${what}]`, (e) => e.click());
  for (let i = 0; i < 400 && !fs.existsSync(path.join(folder, file)); i++) await wait(50);
  holds(fs.existsSync(path.join(folder, file)), 'no ' + file);
  await wait(50);
}

const COORDINATES = ['pca', 'fisher', 'cca'];
const numbers = (text) => text.trim().split('\n').filter((l) => l[0] !== '#').map((l) => l.split(/[\s,]+/).map(Number));
function decisions(model, learner) {
  const call = COORDINATES.includes(learner) ? ['transform', model, 'points.csv', '-o', '-'] : ['predict', model, 'points.csv', '--scores', '-o', '-'];
  return numbers(execFileSync(mercer, call, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] }).toString());
}
// Points, learner, kernel and C as a state; then its model file, and that of the command line.
async function exported(learner, expression = 'rbf(gamma=1)', C = null) {
  await fresh();
  await page.select('#learner', learner);
  if (learner !== 'cca') await type(expression);
  if (C) await page.$eval('#options input[type=text]', (e, v) => { e.value = v; e.dispatchEvent(new Event('change')); }, C);
  await wait(300);
  if (/CLP/.test(await status())) return console.log(`# ${learner} needs CLP`);
  await settled();
  await tab('take');
  await taken('CSV', 'points.csv');
  await taken('Model', 'model.mercer');
  const command = await page.$eval('[data-what=command]', (e) => e.textContent);
  fs.renameSync(path.join(folder, 'model.mercer'), path.join(folder, 'studio.mercer'));
  execFileSync('sh', ['-c', command.replace(/^mercer/, '"$0"'), mercer], { cwd: folder, stdio: 'ignore' });
  if (!address.startsWith('file:')) return holds(fs.readFileSync(path.join(folder, 'studio.mercer')).equals(fs.readFileSync(path.join(folder, 'model.mercer'))), 'other bytes than ' + command);
  const a = decisions('studio.mercer', learner), b = decisions('model.mercer', learner);
  // A direction and its opposite are the same coordinate.
  const turned = b[0].map((_, c) => (COORDINATES.includes(learner) && a[0][c] * b[0][c] < 0 ? -1 : 1));
  const worst = Math.max(...b.flatMap((row, i) => row.map((v, c) => Math.abs(turned[c] * a[i][c] - v) / Math.max(1, Math.abs(v)))));
  console.log(`# ${learner} ${expression}: WebAssembly and native differ by ${worst}`);
  holds(a.length === b.length && worst <= 1e-9, 'values differ by ' + worst);
}

// The Python code of the panel, run where the package can be imported (MERCER_PYTHON names the interpreter), says
// what the model of the command line says.
async function python() {
  const interpreter = process.env.MERCER_PYTHON || '/usr/bin/python3';
  try {
    execFileSync(interpreter, ['-c', 'import mercer'], { stdio: 'ignore' });
  } catch (fault) {
    return console.log('# the Python code is not run: no module mercer');
  }
  for (const [learner, expression] of [['svm', 'rbf(gamma=1)'], ['logistic', 'laplace(gamma=1)'], ['svr', 'rbf(gamma=1)'], ['gp-numbers', 'matern(length=1)'], ['pca', 'poly(degree=2, c=1)'], ['fisher', 'rbf(gamma=1)'], ['cca', ''], ['one-class', 'rbf(gamma=1)'], ['kmeans', 'rbf(gamma=1)']])
    await check('Python code of ' + learner, async () => {
      await fresh();
      await page.select('#learner', learner);
      if (expression) await type(expression);
      await wait(300);
      await settled();
      await tab('take');
      await taken('CSV', 'points.csv');
      const [command, code] = [await page.$eval('[data-what=command]', (e) => e.textContent), await page.$eval('[data-what=code]', (e) => e.textContent)];
      execFileSync('sh', ['-c', command.replace(/^mercer/, '"$0"'), mercer], { cwd: folder, stdio: 'ignore' });
      const transforms = COORDINATES.includes(learner);
      const said = execFileSync(interpreter, ['-c', `${code}\nfor row in model.${transforms ? 'transform' : 'predict'}(X): print(*(row if hasattr(row, '__len__') and not isinstance(row, str) else [row]))`], { cwd: folder }).toString().trim().split('\n');
      const kept = execFileSync(mercer, [transforms ? 'transform' : 'predict', 'model.mercer', 'points.csv', '-o', '-'], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] }).toString().trim().split('\n').filter((l) => l[0] !== '#');
      equal(said.length, kept.length, 'rows');
      said.forEach((row, i) => {
        // Python counts clusters from 0.
        const [a, b] = [row.split(/\s+/)[0], kept[i].split(/[\s,]+/)[0]].map((v, k) => (k && learner === 'kmeans' ? String(v - 1) : v));
        holds(a === b || Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `row ${i + 1}: ${row}, but ${kept[i]}`);
      });
    });
}

// Someone who knows only what is in sight: reads an advice about separating, and clicks what is nearest to it.
async function advised() {
  const seen = await page.evaluate(() => {
    const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
    while (walk.nextNode()) {
      const text = walk.currentNode.textContent.trim(), parent = walk.currentNode.parentElement;
      range.selectNode(walk.currentNode);
      const box = range.getBoundingClientRect();
      if (text && parent.checkVisibility() && box.width > 0 && box.top >= 0 && box.bottom <= innerHeight) found.push({ text, x: box.x + box.width / 2, y: box.y + box.height / 2, clickable: !!parent.closest('button') });
    }
    return found;
  });
  const advice = seen.find((s) => !s.clickable && /separat/i.test(s.text) && /\b(try|choose)\b/i.test(s.text));
  holds(advice, 'no advice is in sight');
  const far = (s) => Math.hypot(s.x - advice.x, s.y - advice.y);
  const near = seen.filter((s) => s.clickable && s.y > advice.y - 30).sort((a, b) => far(a) - far(b))[0];
  await page.mouse.click(near.x, near.y);
  await page.waitForFunction(() => document.getElementById('status').textContent.startsWith('100 % right'), { timeout: 20000 });
}

async function people() {
  for (const [width, height] of [[1440, 900], [375, 800]])
    await check(`who has never seen the page separates two rings, ${width} pixels`, async () => {
      await fresh('', [], width, height);
      await advised();
    });
  await check('and two rings of their own points', async () => {
    await fresh();
    await page.click('#pens button:last-child');
    holds((await page.$eval('#hint', (e) => e.textContent)).startsWith('Click to place points'), 'no hint');
    for (const [pen, radius, many] of [[1, 0.8, 10], [2, 2.2, 14]]) {
      await page.click(`#pens button:nth-child(${pen})`);
      for (let i = 0; i < many; i++) await page.mouse.click(...(await plane(radius * Math.cos((2 * Math.PI * i) / many), radius * Math.sin((2 * Math.PI * i) / many))));
    }
    await page.waitForSelector('#nudge:not([hidden])', { timeout: 20000 });
    await advised();
  });
  await check('with the keyboard alone', async () => {
    await fresh();
    await page.click('#pens button:last-child');
    equal(await count(), 0, 'points');
    await page.focus('#plane');
    for (const [cls, keys] of [['1', ['ArrowLeft', 'ArrowLeft', 'Enter', 'ArrowUp', 'Enter']], ['2', ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter', 'ArrowDown', 'Enter']]]) {
      await page.keyboard.press(cls);
      for (const k of keys) await page.keyboard.press(k);
    }
    equal(await count(), 4, 'points');
    await settled();
    await page.keyboard.press('n');
    await page.keyboard.press('Delete');
    equal(await count(), 3, 'points');
    await page.keyboard.down('Control');
    await page.keyboard.press('z');
    await page.keyboard.up('Control');
    equal(await count(), 4, 'points');
    // Every control can be reached.
    const reached = new Set();
    for (let i = 0; i < 90; i++) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.className));
    }
    for (const id of ['learner', 'kernel', 'plane', 'panel']) holds(reached.has(id), id + ' is not reached');
  });
  await check('touch', async () => {
    await fresh('', [], 375, 800);
    const before = await count(), [x, y] = await plane(0.1, 0.05);
    await page.touchscreen.tap(x, y);
    await wait(100);
    equal(await count(), before + 1, 'points');
  });
  for (const width of [375, 768, 1440, 1920])
    for (const theme of ['light', 'dark'])
      await check(`nothing is wider than ${width} pixels, ${theme}`, async () => {
        await fresh('', [{ name: 'prefers-color-scheme', value: theme }], width, width < 500 ? 800 : 900);
        for (const view of ['play', 'lessons', 'words', 'graphs']) {
          await page.click(`[data-view=${view}]`);
          await wait(300);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          holds(wide <= width, `${view} is ${wide} pixels wide`);
          await page.screenshot({ path: path.join(folder, `${width}-${theme}-${view}.png`) });
        }
      });
}

// Each question, answered by moving something.
async function lessons() {
  const lesson = async (n, title) => {
    await fresh();
    await page.click('[data-view=lessons]');
    await page.click(`.lessons button:nth-child(${n})`);
    await page.waitForFunction((t) => document.querySelector('#lesson h2').textContent === t, { timeout: 10000 }, `${n}. ${title}`);
    await wait(300);
    holds(!(await page.$('#ask.done')), 'it is answered before anything was moved');
  };
  const answered = () => page.waitForSelector('#ask.done', { timeout: 20000 });
  await check('lesson 1: another kernel', async () => {
    await lesson(1, 'A line is not enough');
    await chip('rbf');
    await answered();
  });
  await check('lesson 2: two support vectors', async () => {
    await lesson(2, 'The margin and its support vectors');
    await page.click('#pens button:last-child');
    for (const [pen, x] of [[1, -1], [2, 1]]) {
      await page.click(`#pens button:nth-child(${pen})`);
      await page.mouse.click(...(await plane(x, 0.3 * x)));
    }
    await answered();
  });
  await check('lesson 3: a kernel made from two', async () => {
    await lesson(3, 'Kernels from kernels');
    await type('linear + poly(degree=3)');
    await answered();
  });
  await check('lesson 4: words that share nothing', async () => {
    await lesson(4, 'Words and graphs');
    for (const [i, word] of ['cat', 'dog'].entries()) {
      const input = (await page.$$('#pair input'))[i];
      await input.click({ clickCount: 3 });
      await input.type(word);
    }
    await answered();
  });
  await check('lesson 5: the gap is closed', async () => {
    await lesson(5, 'Regression, from ridge to Gaussian processes');
    for (let x = -2.8; x <= 2.8; x += 0.2) await page.mouse.click(...(await plane(x, Math.sin(2 * x) * (1 + 0.25 * x))));
    await answered();
  });
  await check('lesson 6: the scale of the kernel', async () => {
    await lesson(6, 'Seeing structure');
    await (await page.$('#kernelparams input[type=range]')).focus();
    for (let i = 0; i < 15; i++) await page.keyboard.press('ArrowRight');
    await answered();
  });
}

async function accessible() {
  const axe = fs.readFileSync(path.join(modules, 'axe-core', 'axe.min.js'), 'utf8');
  for (const theme of ['light', 'dark'])
    await check('axe finds nothing serious, ' + theme, async () => {
      await fresh('', [{ name: 'prefers-color-scheme', value: theme }]);
      await chip('rbf');
      await settled();
      await page.evaluate(axe);
      for (const view of ['play', 'lessons', 'words', 'graphs'])
        for (const tab of view === 'play' ? ['certificate', 'matrix', 'spectrum', 'valid', 'lift', 'tune', 'take'] : ['']) {
          await page.click(`[data-view=${view}]`);
          if (tab) await page.click('#tab-' + tab);
          await wait(400);
          const found = await page.evaluate(async () => (await window.axe.run()).violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id + ': ' + v.nodes.slice(0, 2).map((n) => n.target.join(' ')).join(', ')));
          holds(found.length === 0, `${view} ${tab}: ${found.join('; ')}`);
        }
      await page.click('[data-view=play]');
      await page.click('#tab-certificate');
      await page.screenshot({ path: path.join(folder, `1440-${theme}.png`) });
    });
}

(async () => {
  browser = await puppeteer.launch({
    executablePath: chromium,
    headless: true,
    userDataDir: fs.mkdtempSync(path.join(folder, 'profile-')),
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', ...(address.startsWith('file:') ? ['--allow-file-access-from-files'] : [])],
  });
  try {
    await basics();
    for (const part of [fingers, works, machines, insides, travels, python, people, lessons, accessible]) if (!only || part.name === only) await part();
  } catch (fault) {
    failed++;
    console.log('not ok - ' + fault.message);
  }
  await browser.close();
  process.exit(failed ? 1 : 0);
})();
