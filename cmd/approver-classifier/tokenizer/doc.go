// Package tokenizer turns text into the ids that a model was trained on, from
// the tokenizer.json that the model comes with. It knows what models of the BERT
// and DeBERTa families use: WordPiece and Unigram with their normalizers,
// pre-tokenizers and added tokens. It is plain Go and reads no file.
//
// # Exact, or refused
//
// If a tokenizer differs from the one in the model's training, the model scores another
// text, which is a way around it. So each normalizer, pre-tokenizer, model,
// post-processor and setting that is not listed below makes [Load] fail; the error names
// its place in the file. The sections truncation, padding and decoder are ignored,
// because the caller decides the length of a window.
//
// # Supported parts
//
//   - Models: WordPiece, Unigram (with byte fallback).
//   - Normalizers: BertNormalizer, NFD, StripAccents, Lowercase, Strip, Replace (of a
//     text, or of runs of blanks), Prepend, Precompiled, Sequence.
//   - Pre-tokenizers: BertPreTokenizer, Metaspace, WhitespaceSplit, Punctuation
//     (isolated), Sequence.
//   - Post-processors: TemplateProcessing, BertProcessing.
//
// classes.txt has the reference implementation's treatment of each code point. It was
// measured on that library ("tokenizers"), whose tables have other versions of Unicode
// than Go's, and a different one for each purpose.
//
// # Precompiled
//
// A charsmap (nmt_nfkc and similar) is applied as in SentencePiece: the longest key
// wins. Version 0.23 of the reference implementation differs: for clusters of at most
// five bytes it takes the shortest key and drops the rest of the cluster. So "Ａ" with a
// combining grave becomes "A" there, and "À" here and in SentencePiece.
//
// # Bounds
//
// Each invalid byte of UTF-8 becomes U+FFFD, as in SentencePiece and encoding/json. The
// time is linear in the length of the text, because the lengths of pieces and words are
// bounded.
package tokenizer
