// Package heuristics has the rules of Tier 1: patterns over the text of a call.
//
// # Matched text
//
// The rules match only text that gives instructions: the command, paths, sources,
// destinations, URLs, search patterns, and prompts for other agents. They do not
// match text that is written or sent (content, body), because a text about a danger
// is no danger. For the same reason they do not match data inside a command:
// comments, commit messages, arguments of echo and here documents for cat. The data
// stays if anything in the command could run it.
//
// # Verdicts
//
// A critical rule with always_block denies. A rule with escalate asks the next tier,
// or people if there is none. Rules of medium and low severity only add to the
// verdict's chain. No rule here allows, and no rule of a policy skips this stage.
//
// # Matching
//
// All rules share one matcher, see [match.Set], which reads a text once for any number
// of rules. A text that is too long or too complex leads to a question. The zero
// [Engine] denies.
//
// Patterns match text. They back up the analysis of shell commands, which knows what a
// command does. Somebody who words a command around a pattern gets around it.
package heuristics
