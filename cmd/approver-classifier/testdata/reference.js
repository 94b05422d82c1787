// Prints the logits that onnxruntime-node computes: node reference.js MODEL IDS.json
const ort = require('onnxruntime-node');
const fs = require('fs');

(async () => {
  const [model, file] = process.argv.slice(2);
  const session = await ort.InferenceSession.create(model);
  const out = [];
  for (const ids of JSON.parse(fs.readFileSync(file, 'utf8'))) {
    const tensor = (f) => new ort.Tensor('int64', BigInt64Array.from(ids.map(f)), [1, ids.length]);
    const { logits } = await session.run({ input_ids: tensor((i) => BigInt(i)), attention_mask: tensor(() => 1n) });
    out.push(Array.from(logits.data));
  }
  console.log(JSON.stringify(out));
})();
