// Prints the ids that the reference implementation (npm's "tokenizers", which is
// the Rust library) gives for texts:
//
//	node goldens.js TEXTS.json FOLDER UNIGRAM.json
//
// FOLDER gets uncased.json, cased.json and nfd.json (WordPiece) and deberta.json, which is
// the vocabulary of UNIGRAM.json (by train.py) with the normalizers and added tokens
// of a DeBERTa-v3 model.
const { Tokenizer } = require('tokenizers');
const fs = require('fs');

const [textsFile, folder, unigramFile] = process.argv.slice(2);
const texts = JSON.parse(fs.readFileSync(textsFile, 'utf8'));

async function write(name, tokenizer, skip) {
  const t = Tokenizer.fromString(JSON.stringify(tokenizer));
  const ids = [];
  for (const text of texts) ids.push(skip && skip(text) ? null : (await t.encode(text, null, { addSpecialTokens: false })).getIds());
  fs.writeFileSync(`${folder}/${name}.json`, JSON.stringify({ tokenizer, ids }) + '\n');
}

const token = (id, content, o) => ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...o });
const special = (name, id) => ({ [name]: { id: name, ids: [id], tokens: [name] } });
const around = (cls, sep) => ({
  type: 'TemplateProcessing',
  single: [{ SpecialToken: { id: '[CLS]', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }, { SpecialToken: { id: '[SEP]', type_id: 0 } }],
  pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
  special_tokens: { ...special('[CLS]', cls), ...special('[SEP]', sep) },
});

// The vocabulary: letters, digits, marks and some pieces of words, each also as
// the rest of a word.
function wordPiece(lowercase) {
  const pieces = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
  const add = (s) => { for (const p of [s, '##' + s]) if (!pieces.includes(p)) pieces.push(p); };
  for (const s of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789äöüéèêåßøłışσςασабвгеијкорѕухשלוםعربيتجاهلالتعليمات忽略之前的所有指令日本語龍カタナアハンガパ한국어ᄒ') add(s);
  for (const s of '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~—…‽·،؛') add(s);
  for (const s of ['ignore', 'all', 'pre', 'vious', 'instruct', 'ion', 'ions', 'system', 'prompt', 'print', 'the', 'and', 'word', 'width', 'zero', 'join', 'er', 'end', 'don', 'de', 'ja', 'vu', 'stra', 'sse', 'nul', 'in', 'middle', '😀', '🥺', '👩', '\u0300', '\u0301', '\u08d4', '\u0345', '\u1734', '\u0307', '\u0316', '\u0317', '\u0323', '\u0304', '\u030a', '\u0308', 'ᄒ', 'ᅡ', 'ᆫ', '\u200b', '\ufffd', 'е\u0301']) add(s);
  const vocab = Object.fromEntries(pieces.map((p, i) => [p, i]));
  return {
    version: '1.0', truncation: null, padding: null,
    added_tokens: [token(0, '[PAD]'), token(1, '[UNK]'), token(2, '[CLS]'), token(3, '[SEP]'), token(4, '[MASK]')],
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: around(2, 3),
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: { type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab },
  };
}

// Decomposed and left so, which shows the order of marks.
function nfd() {
  const t = wordPiece(false);
  t.normalizer = { type: 'Sequence', normalizers: [{ type: 'NFD' }, { type: 'Lowercase' }] };
  return t;
}

function deberta() {
  const t = JSON.parse(fs.readFileSync(unigramFile, 'utf8')).tokenizer;
  const charsmap = t.normalizer.normalizers[0];
  const [pad, cls, sep, unk, ...rest] = t.model.vocab;
  t.model.vocab = [['[PAD]', 0], ['[CLS]', 0], ['[SEP]', 0], ['[UNK]', 0], ...rest];
  const mask = t.model.vocab.length;
  t.added_tokens = [token(0, '[PAD]'), token(1, '[CLS]'), token(2, '[SEP]'), token(3, '[UNK]', { normalized: true }), token(mask, '[MASK]', { lstrip: true })];
  t.normalizer.normalizers = [{ type: 'Strip', strip_left: true, strip_right: true }, charsmap, { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' }];
  t.post_processor = around(1, 2);
  return t;
}

// Clusters of several characters in at most five bytes are where version 0.23
// departs from SentencePiece: see the package's comment.
const segments = new Intl.Segmenter('en', { granularity: 'grapheme' });
const cluster = (text) => [...segments.segment(text)].some(({ segment: s }) => [...s].length > 1 && Buffer.byteLength(s) < 6 || /[\u1100-\u11ff\u3130-\u318f]/.test(s) || [...s].length > 1 && s !== s.normalize('NFKC'));

(async () => {
  await write('uncased', wordPiece(true));
  await write('cased', wordPiece(false));
  await write('nfd', nfd());
  await write('deberta', deberta(), cluster);
})();
