// Package sanitize makes the output of tools safe for a model to read. The tiers judge a
// call before it runs; this package handles its result, which may be a page, a mail or a
// file with an injection.
//
// A [Sanitizer] does four things to a text, and removes nothing silently:
//
//   - It puts the text between delimiters with a random id, [TOOL_OUTPUT tool=.. id=..]
//     and [/TOOL_OUTPUT id=..], so that the text cannot end them. It breaks up anything
//     in the text that looks like a delimiter.
//   - It marks a part that looks like an injection as suspect, with the rule that found
//     it. The part stays, so that no honest text is lost.
//   - It replaces a secret by its length and a fingerprint.
//   - It replaces invisible characters by their names.
//
// In JSON it changes only texts. Keys, numbers, ids, images and the order of members stay
// the same to the byte, so that an agent finds the structure that it expects.
//
// The package does no I/O, reads no clock and draws no random numbers. The caller gives
// the id and a [Detector] of injections.
package sanitize
