// Package reflexcore is the deterministic engine: it finds out what a call would do and
// decides in microseconds what is plainly forbidden or needs people. It asks nobody and
// reads no network. By itself it keeps nothing but caches; where it is given a
// [memory.Memory] or [precedent.Precedents], it remembers there what the calls of a session
// left behind, and what people said no to.
//
// A call goes through ten stages, those of Sentinel:
//
//  1. capture: the tool, its command and its arguments, as the agent sent them
//  2. decode: what is hidden in base64, URL, unicode or hex escapes, layer upon layer
//  3. normalize whitespace
//  4. expand aliases
//  5. split compounds
//  6. substitute variables
//  7. strip quotes
//  8. match: rules over effects, and patterns over text
//  9. context: where it happens, and what is allowed there
//  10. verdict
//
// Stages 1 to 7 are package analysis: one parse and one walk of the tree (package shell),
// because a text that is normalized without being parsed can be told apart from what a shell
// makes of it. What a program does with its words is data (package grammar); code of other
// languages is read by packages code and otherlang, other tools by package tools. Texts that
// agents load are read by package agenttexts, and what git runs by itself by package gitruns.
// Command lines that start coding agents are words of package agentcli.
//
// No table will ever have each program that can write a file. So a call that names the
// settings of an agent, and shows no effect that explains the name, is a question.
//
// What is found is judged by rules (rules.go) at places (package places), by the tripwire
// (trip.go, package selfprotect) and by information flow (package dataflow). The verdict is
// made in verdict.go and gatekeeper.go.
//
// [Engine.Judge] in judge.go follows one call from top to bottom; [Engine.Explain] shows it.
// Read engine.go, judge.go, match.go, verdict.go; then the rest by name.
package reflexcore
