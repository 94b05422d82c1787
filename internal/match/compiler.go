package match

import "approver.example"

// Compiler makes sets for packages that know the words of the root only. The
// zero value has the default limits.
type Compiler struct{ Limits Limits }

var _ approver.PatternCompiler = Compiler{}

// Compile is [New].
func (c Compiler) Compile(patterns []approver.Pattern) (approver.Matcher, error) {
	own := make([]Pattern, len(patterns))
	for i, p := range patterns {
		own[i] = Pattern(p)
	}
	set, err := New(own, c.Limits)
	if err != nil {
		return nil, err // not the nil set, which would be a matcher
	}
	return set, nil
}

// Fold is the function [Fold].
func (Compiler) Fold(dst []byte, text string) []byte { return Fold(dst, text) }
