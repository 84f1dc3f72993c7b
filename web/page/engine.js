// engine.js: asks the engine: on this machine by HTTP, or in a worker as WebAssembly. One question at a time.
// SPDX-License-Identifier: Apache-2.0
import { $ } from './util.js';

const page = Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, '0')).join('');
let worker = null, waitingFor = null, running = null;
const queue = [];

export const alone = () => !!$('engine');

function startWorker() {
  const source = $('engine').textContent.replaceAll('<\\/script', '<' + '/script');
  worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
  worker.onmessage = (event) => waitingFor && waitingFor(event.data);
  worker.onerror = (event) => waitingFor && waitingFor(JSON.stringify({ ok: false, error: { message: 'the engine failed: ' + event.message } }));
}

async function send(request) {
  const text = JSON.stringify(request);
  if (alone()) {
    if (!worker) startWorker();
    const answer = await new Promise((resolve) => {
      waitingFor = resolve;
      worker.postMessage(text);
    });
    waitingFor = null;
    return JSON.parse(answer);
  }
  try {
    const answer = await fetch('api?page=' + page, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text });
    if (answer.status === 409) return { ok: false, error: { message: 'stopped', stopped: true } };
    if (!answer.ok) return { ok: false, error: { message: (await answer.text()).trim() } };
    return await answer.json();
  } catch (fault) {
    return { ok: false, error: { message: 'the engine does not answer: has mercer studio ended?', gone: true } };
  }
}

async function pump() {
  if (running || queue.length === 0) return;
  const job = queue.shift();
  running = job;
  const began = performance.now();
  const answer = await send(job.request);
  running = null;
  answer.milliseconds = performance.now() - began;
  job.resolve(answer);
  pump();
}

// Asks. A newer question of the same key takes the place of one that has not begun; that one gets null. A
// key that comes first (urgent) goes to the front.
export function ask(request, key = '', urgent = false) {
  return new Promise((resolve) => {
    if (key) {
      const old = queue.findIndex((j) => j.key === key);
      if (old >= 0) queue.splice(old, 1)[0].resolve(null);
      if (running && running.key === key && !running.cancelled && performance.now() - running.began > 300) cancel();
    }
    const job = { request, key, resolve, began: performance.now() };
    if (urgent) queue.unshift(job);
    else queue.push(job);
    pump();
  });
}

// Ends what runs. A worker has no ears while it computes: it is replaced.
export function cancel() {
  if (!running) return;
  running.cancelled = true;
  if (alone()) {
    if (!worker) return;
    worker.terminate();
    worker = null;
    if (waitingFor) waitingFor(JSON.stringify({ ok: false, error: { message: 'stopped', stopped: true } }));
  } else {
    fetch('cancel?page=' + page, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}', keepalive: true }).catch(() => {});
  }
}

// Takes back the questions of a key that have not begun.
export function forget(key) {
  for (let i = queue.length - 1; i >= 0; i--) if (queue[i].key === key) queue.splice(i, 1)[0].resolve(null);
}

addEventListener('pagehide', () => {
  if (running) cancel();
});
