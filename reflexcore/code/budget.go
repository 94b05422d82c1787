package code

// A budget bounds the evaluation of code.
type budget struct {
	steps           int // that are left
	depth, maxDepth int
	over            bool // a limit was exceeded
	stopped         bool // the caller wants no more findings
}

// step counts one step of evaluation. It returns false when the budget is used up.
func (b *budget) step() bool {
	b.steps--
	if b.steps < 0 {
		b.over = true
	}
	return !b.over && !b.stopped
}

// deeper enters one level of nesting, which the caller leaves again. It returns false, and enters
// nothing, at the limit.
func (b *budget) deeper() bool {
	if b.depth >= b.maxDepth {
		b.over = true
	}
	if b.over || b.stopped {
		return false
	}
	b.depth++
	return true
}
