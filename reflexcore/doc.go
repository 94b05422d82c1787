// Package reflexcore is the deterministic engine: it finds out what a tool call would do, and
// decides in microseconds whether the call is plainly forbidden, needs people, or passes. It asks
// nobody and uses no network. The engine itself stores nothing but caches. Given a [memory.Memory],
// it remembers the calls of a session. Given [precedent.Precedents], it remembers which calls
// people denied.
//
// A call goes through ten stages:
//
//  1. capture: the tool, its command and its arguments, as the agent sent them
//  2. decode: what is hidden in base64, URL, unicode or hex escapes, layer by layer
//  3. normalize whitespace
//  4. expand aliases
//  5. split compounds
//  6. substitute variables
//  7. strip quotes
//  8. match: rules over effects, and patterns over text
//  9. context: where it happens, and what is allowed there
//  10. verdict
//
// Stages 1 to 7 are package analysis. It parses a command once and walks the tree once (package
// shell): a text that is normalized without being parsed can differ from what the shell runs. What
// programs do with their arguments is data (package grammar). Packages code and otherlang read code
// of other languages, and package tools reads the arguments of other tools. Package agenttexts reads
// texts that agents load, package gitruns reads what git runs by itself, and package agentcli reads
// command lines that start coding agents.
//
// No table can list every program that writes files. So a call that names the settings of an agent,
// and has no known effect that explains the name, is a question.
//
// The effects are matched by rules (rules.go) that know places (package places), by the tripwire
// (trip.go, package selfprotect) and by information flow (package dataflow). The verdict is made in
// verdict.go and gatekeeper.go.
//
// [Engine.Judge] in judge.go follows one call from top to bottom, and [Engine.Explain] shows it.
// Read engine.go, judge.go, match.go and verdict.go first, then the rest by name.
package reflexcore
