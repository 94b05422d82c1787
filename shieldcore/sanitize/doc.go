// Package sanitize makes what a tool returned fit to be read by a model. It is the
// result side of the shield: the tiers look at a call before it runs, this looks at
// what comes back, which may be a page, a mail or a file that gives orders.
//
// A [Sanitizer] does four things to a text, and loses nothing of it silently:
//
//   - it stands between delimiters with a random id, [TOOL_OUTPUT tool=.. id=..] and
//     [/TOOL_OUTPUT id=..], so that the text cannot end them; what looks like one in
//     the text is broken up;
//   - what speaks to a model is marked as suspect, with the rule that found it, and
//     stays: an honest text that only looks like an attack is not lost;
//   - what looks like a secret is replaced by its length and a fingerprint;
//   - characters that nobody sees are named.
//
// In JSON only texts change: every key, number, id, image and the order of things stay
// as they were, to the byte, so that an agent finds the shape that it expects.
//
// The package does no I/O, reads no clock and draws no random numbers: the id is the
// caller's, and what finds an attack is given to it as a [Detector].
package sanitize
