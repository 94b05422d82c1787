// Measures the reference implementation (npm's "tokenizers", which is the Rust
// library) code point by code point, and prints ../../classes.txt:
//
//	node classes.js > ../../classes.txt
const t = require('tokenizers');

// ranges prints the code points for which is(c) holds, as START END STEP.
function ranges(name, is) {
  const all = [];
  for (let c = 0; c < 0x110000; c++) if (!(c >= 0xd800 && c < 0xe000) && is(c)) all.push(c);
  for (let i = 0; i < all.length; ) {
    let j = i + 1;
    const step = j < all.length && all[j] - all[i] <= 2 ? all[j] - all[i] : 1;
    while (j < all.length && all[j] - all[j - 1] === step) j++;
    console.log(name, all[i].toString(16), all[j - 1].toString(16), step);
    i = j;
  }
}
const text = String.fromCodePoint;
const bert = (o) => t.bertNormalizer({ cleanText: false, handleChineseChars: false, stripAccents: false, lowercase: false, ...o });
const clean = bert({ cleanText: true }), cjk = bert({ handleChineseChars: true }), nonspacing = bert({ stripAccents: true });
const marks = t.stripAccentsNormalizer(), lower = t.lowercase(), nfd = t.nfdNormalizer(), words = t.bertPreTokenizer();
const cleaned = (c) => clean.normalizeString('a' + text(c) + 'b').slice(1, -1);

console.log('# What the reference implementation makes of each code point: CLASS START END STEP.');
console.log('# Made by testdata/reference/classes.js; not to be edited.');
ranges('control', (c) => cleaned(c) === '');
ranges('space', (c) => cleaned(c) === ' ');
ranges('cjk', (c) => cjk.normalizeString(text(c)) !== text(c));
ranges('punctuation', (c) => words.preTokenizeString('a' + text(c) + 'b').length === 3);
ranges('mark', (c) => marks.normalizeString(text(c)) === '');
ranges('nonspacing', (c) => nonspacing.normalizeString(text(c)) === '');
ranges('decomposes', (c) => nfd.normalizeString(text(c)) !== text(c));
// U+0345 has the highest combining class, so whatever has another one is put before it.
ranges('reorders', (c) => c === 0x345 || nfd.normalizeString('\u0345' + text(c)).endsWith('\u0345'));
// Go's unicode.ToLower knows the rest; these are the letters that the
// reference changes, and those that Go 1.26 does not know.
ranges('upper', (c) => lower.normalizeString(text(c)) !== text(c));
const span = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const newer = [0x130, 0x1c89, 0xa7cb, 0xa7cc, 0xa7ce, 0xa7d2, 0xa7d4, 0xa7da, 0xa7dc, ...span(0x10d50, 0x10d65), ...span(0x16ea0, 0x16eb8)];
for (const c of newer)
  console.log('lower', c.toString(16), [...lower.normalizeString(text(c))].map((x) => x.codePointAt(0).toString(16)).join(' '));
