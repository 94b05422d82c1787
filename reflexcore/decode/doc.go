// Package decode decodes texts: base64, hex, escapes, compression. It is pure, and bounds what it
// reads, writes and nests.
//
// There are two entry points. [Apply] runs one named decoder, for an interpreter that evaluates
// `base64 -d` or b64decode() on a constant. [Layers] finds encoded runs inside a text and decodes
// them layer by layer, for callers that want to see what a command hides: base64 that contains gzip
// that contains \x escapes has three layers.
//
// For a text without anything encoded, [Layers] looks at each byte once and allocates nothing. What
// decodes to noise is no layer: hashes, keys, identifiers and long paths use the alphabets of base64
// and hex, too.
package decode
