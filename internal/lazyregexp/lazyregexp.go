// Package lazyregexp compiles regular expressions when they are first used: a start need not wait for them,
// and a process needs few of them.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// New returns a function that returns the compiled expression. It is compiled when the function is first
// called, which takes some 20 to 100 µs; like [regexp.MustCompile], that panics if the expression is wrong. In
// a test it is compiled at once, so that a wrong expression fails the tests of its package also where no call
// comes to it.
func New(expr string) func() *regexp.Regexp {
	f := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	if inTest {
		f()
	}
	return f
}

var inTest = len(os.Args) > 0 && strings.HasSuffix(os.Args[0], ".test")
