// worker.js: runs in the worker, behind what emcc made.
// SPDX-License-Identifier: Apache-2.0
const engineReady = createStudio();
onmessage = async (event) => {
  const engine = await engineReady;
  const text = new TextEncoder().encode(event.data);
  const request = engine._malloc(text.length + 1);
  let answer = '{"ok": false, "error": {"message": "no memory"}}';
  if (request) {
    engine.HEAPU8.set(text, request);
    const at = engine._studio_ask(request, text.length);
    if (at) {
      let end = at;
      while (engine.HEAPU8[end]) end++;
      answer = new TextDecoder().decode(engine.HEAPU8.subarray(at, end));
    }
    engine._free(request);
  }
  postMessage(answer);
};
