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
// Patterns have the syntax of package regexp. A pattern is in ids if and only if regexp.MatchString
// finds it, also in bytes that are no UTF-8. The positions of matches and groups are not computed.
// [Fold] makes full-width letters, look-alikes and other disguises plain lower-case ASCII. [Lint] warns
// of patterns that are slow, or that look for something that Fold removes.
//
// # How it works
//
// All patterns are one nondeterministic automaton over classes of characters. The deterministic
// automaton is built while texts are read. A state is a set of threads, and a row of a table leads to
// the next states. If all states of a text exist, each character costs one load, without a lock or an
// allocation, however many patterns there are.
//
// The number of states has no useful bound: `curl.*sh` must remember that it has seen curl, and each
// such pattern doubles the combinations. So the work that a call spends on new states is bounded.
// A new set has some work to begin with. After that, half of the work that texts cost without stored
// states may be spent on states for them. So texts that come again become fast, and texts that never
// do cost little more. A call that may not build states goes on without them. For this, each pattern
// has literals that a text must contain, which an Aho-Corasick automaton finds. Only patterns whose
// literals are in the text, the candidates, are tried. The steps and the program are the same, so the
// answers are the same.
//
// This work is bounded, too. When it is used up, Match returns complete == false, and the caller asks a
// person. A text that took too long never counts as one without a match.
//
// [Required] and [Keys] say what a text must contain for a pattern, for those who try patterns with
// package regexp. A [Sieve] selects the patterns whose literals a text has.
//
// # Limits
//
// Memory is needed for the program (about 1.2 KB for a pattern), the table (CacheBytes; up to twice as
// much while it grows or is replaced, because calls still read the old one), and 9 bytes for each
// instruction for each concurrent call that reads without stored states. Work is counted in visited
// instructions, not in time, so the same text in the same state of the set has the same answer on a
// slow machine.
//
// The length of a text is not bounded here. Each character costs at least one step, so callers cut long
// texts.
//
// # Reading order
//
// Read set.go, uncached.go, dfa.go, literal.go, program.go and classes.go for the matching; fold.go for
// [Fold]; lint.go and keys.go for the rest.
package match
