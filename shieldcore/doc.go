// Package shieldcore holds the tiers that judge a call after the reflexes.
//
// # Tier 0: the policy
//
// A [Policy] is a list of rules in a YAML file; the first rule that matches
// decides. A rule matches the tool's name, the text of a shell command, paths and
// texts in the arguments. It compares text only: it does not parse shell or expand
// variables. So a rule guards against accidents and records what a team wants to
// be asked about. It does not stop somebody who words a command around it.
//
// A wrong match must never loosen. A rule that asks or denies searches anywhere in
// the command, as written and normalized: without quotes and backslashes, and with
// single spaces. It matches a path as written and with its symbolic links resolved.
// A rule that allows must match the whole command, which may contain nothing but
// plain words, and every path in both forms.
//
// Circumstances of a call (the branch, the time, who connected) can be unknown. Then
// a rule that asks or denies matches, and one that allows does not. The path denylist
// comes before all rules: no rule can allow a path on it.
//
// A call that no rule matches passes if the policy knows the tool. Otherwise people
// are asked.
//
// [Load] reads a policy and reports all of its mistakes at once. The zero [Policy]
// denies.
//
// # Reading order
//
// policy.go (how a call is judged), load.go and compile.go with pattern.go, action.go,
// when.go, audience.go and denylist.go (how a file becomes rules), matches.go with
// subject.go, text.go, paths.go and git.go (how a rule matches), index.go (which rules
// are tried), compare.go and shadow.go (how policies and rules compare).
package shieldcore
