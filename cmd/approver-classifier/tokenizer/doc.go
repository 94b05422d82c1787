// Package tokenizer turns text into the ids that a model was trained on, from
// the tokenizer.json that the model comes with. It knows what models of the BERT
// and DeBERTa families use: WordPiece and Unigram with their normalizers,
// pre-tokenizers and added tokens. It is plain Go and reads no file.
//
// # Exact, or refused
//
// A tokenizer that differs from the one that the model was trained with is a way
// around the model: what it scores is then another text. So [Load] refuses what
// it does not know: each normalizer, pre-tokenizer, model, post-processor and
// setting that is not one of those below is an error that names its place in the
// file. The sections truncation, padding and decoder are left out of account on
// purpose: how long a window is, is for the caller.
//
// # What is known
//
//   - Models: WordPiece, Unigram (with byte fallback).
//   - Normalizers: BertNormalizer, NFD, StripAccents, Lowercase, Strip, Replace (of a
//     text, or of runs of blanks), Prepend, Precompiled, Sequence.
//   - Pre-tokenizers: BertPreTokenizer, Metaspace, WhitespaceSplit, Punctuation
//     (isolated), Sequence.
//   - Post-processors: TemplateProcessing, BertProcessing.
//
// What the reference implementation (the library "tokenizers") makes of each
// code point is in classes.txt, measured on that library: its tables are of
// another version of Unicode than Go's, and of another one for each purpose.
//
// # Precompiled
//
// A charsmap of SentencePiece (nmt_nfkc and its kin) is applied as SentencePiece
// applies it: the longest key wins. Version 0.23 of the reference implementation
// looks at clusters of at most five bytes first, takes the shortest key there
// and drops the rest of the cluster: "Ａ" with a combining grave becomes "A" there,
// and "À" here and in SentencePiece.
//
// # Bounds
//
// Text is valid UTF-8 for the model: each byte that is not becomes U+FFFD, as
// SentencePiece and encoding/json do it. Time grows with the length of the text:
// the lengths of pieces and words are bounded.
package tokenizer
