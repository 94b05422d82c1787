// Package shieldcore holds the tiers that judge a call after the reflexes.
//
// # Tier 0: the policy
//
// A [Policy] is a list of rules in a YAML file; the first rule that matches
// decides. A rule looks at the tool's name, the text of a shell command, the
// paths and the texts in the arguments. It compares text. It does not parse
// shell, expand variables or follow what a command would do, so a rule is a
// safety net for accidents and a way to write down what a team wants to be
// asked about; it does not stop somebody who words a command around it.
//
// Text matching is used in the one direction in which its mistakes are cheap.
// A rule that asks or denies searches the command anywhere, also with quotes
// and backslashes taken out and white space evened, and looks at a path as it
// is written and as its symbolic links resolve. A rule that allows has to match
// the whole of a command that has nothing in it but plain words, and every
// path in both forms.
//
// What cannot be known about the circumstances of a call (the branch, the time,
// who connected) holds for a rule that asks or denies, and not for one that
// allows. Above all rules stands a list of paths that none of them opens.
//
// What no rule matches passes, if the policy knows the tool; a tool that it
// does not know is put before people.
//
// [Load] reads a policy and tells everything that is wrong with it at once.
// The zero [Policy] denies.
package shieldcore
