package approver

// A Pattern is one regular expression in the syntax of package regexp, and the
// name by which errors call it.
type Pattern struct{ ID, Expr string }

// A Matcher tests many patterns on a text in one pass. It is safe for concurrent
// use.
type Matcher interface {
	// MatchBytes appends to dst the index of every pattern that matches somewhere in
	// the text, in order, and returns it. If complete is false the text was too
	// complex: others may match, too, and the caller must not let the text pass.
	MatchBytes(dst []int, text []byte) (found []int, complete bool)
}

// A PatternCompiler makes matchers. It is how a tier gets one that it may not
// import.
type PatternCompiler interface {
	// Compile makes one matcher of all patterns, or fails with an error that names
	// each pattern that is wrong.
	Compile(patterns []Pattern) (Matcher, error)
	// Fold appends to dst the text in plain lower-case letters, without characters
	// that are not seen: what patterns are written for.
	Fold(dst []byte, text string) []byte
}
