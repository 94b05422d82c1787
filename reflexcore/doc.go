// Package reflexcore is the deterministic engine: it finds out what a call would
// do and decides in microseconds what is plainly forbidden or needs people. It
// asks nobody, reads no network and keeps nothing.
//
// A call goes through ten stages, those of Sentinel:
//
//  1. capture: the tool, its command and its arguments, as the agent sent them
//  2. decode: what is hidden in base64, URL, unicode or hex escapes, layer upon layer
//  3. normalise whitespace
//  4. expand aliases
//  5. split compounds
//  6. substitute variables
//  7. strip quotes
//  8. match: rules over effects, and patterns over text
//  9. context: where it happens, and what is allowed there
//  10. verdict
//
// Stages 3 to 7 are one parse and one walk of the tree (package shell): a text
// that is normalised without being parsed can be told apart from what a shell
// makes of it. What a program does with its words is data (package grammar); code
// of other languages is read by package code, other tools by package tools.
//
// [Engine.Judge] follows one call from top to bottom; [Engine.Explain] shows it.
package reflexcore
