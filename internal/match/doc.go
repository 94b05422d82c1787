// Package match tests many regular expressions on a short text in one pass.
//
// # Use
//
//	set, err := match.New([]match.Pattern{{ID: "rm-r", Expr: `\brm\s+-[a-z]*r`}}, match.Limits{})
//	buf = match.Fold(buf[:0], command)
//	ids, complete := set.MatchBytes(ids[:0], buf)
//	if !complete {
//		// too complex: ask, whatever ids says
//	}
//
// Patterns are written as for package regexp, and a pattern is in ids if and
// only if regexp.MatchString says so, also for bytes that are no UTF-8. What
// matched where, greed and groups are not asked, so they cost nothing. [Fold]
// makes full-width letters, look-alikes and other disguises plain lower-case
// ASCII; [Lint] tells of patterns that are slow, or that miss what Fold changes.
//
// # How it works
//
// All patterns are one nondeterministic automaton over classes of characters.
// The deterministic one is built while texts are read: a state is the set of
// threads, a row of a table leads to the next states, and a text whose states
// are all there is read at one load for each character, without a lock or an
// allocation, however many patterns there are.
//
// A set of states can be made to grow for ever: `curl.*sh` remembers that it has
// seen curl, and each such pattern doubles the combinations. So what one call
// spends on new states is bounded, and beyond what a set begins with, states are
// built for half of what reading without them costs; texts that come again are
// learned, and texts that never do cost little for nothing. A call that may not
// build reads on without remembering. For this, each pattern has the literals
// that a text must have for it, found by an Aho-Corasick automaton; only patterns
// whose literals are there, the candidates, are stepped through. It is the same
// step over the same program, so the answers are the same.
//
// That is bounded, too. When its work is used up, Match returns complete ==
// false, and the caller asks a person. Nothing is ever taken for "no match"
// because it took too long.
//
// [Required] and [Keys] say what a text must hold for a pattern, for those who try
// patterns by package regexp. A [Sieve] selects the patterns whose literals a text has.
//
// # Limits
//
// Memory is the program (about 1.2 KB for a pattern), the table (CacheBytes;
// while it grows or is replaced, calls that still read the old one keep that,
// so twice as much for moments), and for each call that runs at the same time 9
// bytes for each instruction when it reads without remembering. What is spent is
// counted in visited instructions, not in time, so the same text in the same
// state of the set has the same answer on a slow machine.
//
// The length of a text is not bounded here: a text costs at least a step for
// each character, so cut before.
package match
