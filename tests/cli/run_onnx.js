// run_onnx.js MODEL.onnx INPUT.bin COLUMNS: runs a model on rows of doubles; prints its outputs as JSON.
// SPDX-License-Identifier: Apache-2.0
const fs = require('fs');
const ort = require('onnxruntime-node');

(async () => {
  const [model, input, columns] = process.argv.slice(2);
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 });
  const bytes = fs.readFileSync(input);
  const value = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  const rows = value.length / Number(columns);
  const float = session.inputMetadata[0].type === 'float32';
  const x = new ort.Tensor(float ? 'float32' : 'float64', float ? Float32Array.from(value) : value,
                           [rows, Number(columns)]);
  const out = await session.run({ x });
  const found = {};
  for (const name of session.outputNames)
    found[name] = { dims: out[name].dims, type: out[name].type,
                    data: Array.from(out[name].data, (v) => typeof v === 'bigint' ? Number(v) : v) };
  process.stdout.write(JSON.stringify(found));
})().catch((e) => { console.error(String(e)); process.exit(1); });
