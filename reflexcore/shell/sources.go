package shell

import "mvdan.cc/sh/v3/syntax"

// Sources are the texts of a walk as they were parsed.
type sources struct {
	rep *report
	ctx *Context

	trees      []*syntax.File // the texts that were walked, for [sources.mayRoot]
	searched   int            // how many of them it has looked through
	rooted     bool           // and what it found
	plainTrees int            // how many of them are plain, see [sources.isPlainCall]
	outermost  read           // the text that is walked, as it was read
}
