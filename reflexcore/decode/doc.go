// Package decode undoes encodings of texts that are known: base64, hex, escapes,
// compression. It is pure, and bounded in what it reads, writes and nests.
//
// There are two ways in. [Apply] runs one named decoder, for an interpreter that
// meets `base64 -d` or b64decode() on a constant. [Layers] looks for encoded runs
// inside a text and peels them, layer upon layer, for whoever wants to see what a
// command hides: a run of base64 in which there is gzip in which there are \x
// escapes is three layers.
//
// A text without anything encoded costs [Layers] one look at each byte and no
// allocation. What decodes to noise is no layer: hashes, keys, identifiers and
// long paths have the alphabets of base64 and hex, and are left alone.
package decode
