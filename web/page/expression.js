// expression.js: finds the kernels in an expression and rewrites their parameters; the engine decides what is
// right.
// SPDX-License-Identifier: Apache-2.0

// The calls of known kernels, in order: {name, from, to, open, args: [{key, value, from, to}]}.
export function calls(text, names) {
  const found = [];
  const word = /[A-Za-z_]\w*/g;
  for (let m = word.exec(text); m; m = word.exec(text)) {
    if (!names.has(m[0]) || /^\s*=/.test(text.slice(word.lastIndex))) continue;
    const call = { name: m[0], from: m.index, to: word.lastIndex, open: -1, args: [] };
    const rest = /^\s*\(/.exec(text.slice(word.lastIndex));
    if (rest) {
      call.open = word.lastIndex + rest[0].length;
      let depth = 1, begin = call.open, at = call.open;
      for (; at < text.length && depth > 0; at++) {
        const c = text[at];
        if (c === '(' || c === '[') depth++;
        else if (c === ')' || c === ']') depth--;
        if (depth === 0 || (depth === 1 && c === ',')) {
          argument(call, text, begin, at);
          begin = at + 1;
        }
      }
      call.to = at;
    }
    found.push(call);
  }
  return found;
}

function argument(call, text, from, to) {
  const m = /^\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/s.exec(text.slice(from, to));
  call.args.push(m ? { key: m[1], value: m[2], from, to } : { key: null, value: text.slice(from, to).trim(), from, to });
}

// The text with parameter `key` of a call set; value '' takes it out.
export function withParameter(text, call, key, value) {
  const given = call.args.find((a) => a.key === key);
  if (given) {
    if (value !== '') {
      const lead = /^\s*/.exec(text.slice(given.from, given.to))[0];
      return text.slice(0, given.from) + lead + key + '=' + value + text.slice(given.to);
    }
    const others = call.args.filter((a) => a !== given).map((a) => text.slice(a.from, a.to).trim());
    return text.slice(0, call.from) + call.name + (others.length ? '(' + others.join(', ') + ')' : '') + text.slice(call.to);
  }
  if (value === '') return text;
  if (call.open < 0) return text.slice(0, call.to) + '(' + key + '=' + value + ')' + text.slice(call.to);
  const empty = call.args.every((a) => a.value === '');
  const end = call.to - 1;
  return text.slice(0, empty ? call.open : end) + (empty ? '' : ', ') + key + '=' + value + text.slice(end);
}
