// Package heuristics is the rules of Tier 1: patterns over the text of a call.
//
// # What is looked at
//
// Only what tells somebody or something what to do: the command, paths, sources,
// destinations, addresses, search patterns, and prompts for other agents. What is
// written or sent (content, body) is not, because there a text about a danger is
// no danger. For the same reason what a command only carries is left out of it:
// comments, messages of commits, the words that echo prints and the documents that
// cat takes in, as long as nothing in the command could run them.
//
// # What comes of it
//
// A rule that is critical and blocks always denies. A rule that escalates asks the
// next tier, which is people where there is none. Rules of medium and low
// severity are in the chain of reasons and change nothing. Nothing here ever
// allows, and no rule of a policy skips it.
//
// # How
//
// All rules are one matcher, see [match.Set]: a text is read once however
// many rules there are. A text that is too long or too complex is asked about. The
// zero [Engine] denies.
//
// Patterns see text. They are a net under the analyser of shell commands, which
// knows what a command does; who words a command around a pattern gets around it.
package heuristics
