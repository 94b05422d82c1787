package grammar

// A loader reads files. The program waits for it at its start, so it is fast: values of which there
// are thousands are allocated in rooms, and the lists of a block are collected in reused memory
// first.
type loader struct {
	table   *Table
	file    string
	line    int32
	now     *Program // the block that is read
	options int      // of the block
	pending []pending
	like    []like
	// Of the block.
	flags         []flag
	operands      []operandRule
	stdin, stdout []Action
	// Of the line.
	words []string
	group []int // where the groups of flags end
	conds []cond
	names []string // the flags that they name
	match []string

	roles      map[string]Role
	programs   room[Program]
	flagRoom   room[flag]
	optionRoom room[option]
	rules      room[operandRule]
	actions    room[Action]
	termRoom   room[terms]
	condRoom   room[cond]
	texts      room[string]
	partsRoom  room[*index]
	sorting    []flag
}

// A room allocates many values of one kind at once.
type room[T any] struct{ free []T }

func (r *room[T]) one(v T) *T {
	out := r.take(1)
	out[0] = v
	return &out[0]
}

func (r *room[T]) take(n int) []T {
	if n > len(r.free) {
		r.free = make([]T, max(n, roomSize))
	}
	out := r.free[:n:n]
	r.free = r.free[n:]
	return out
}

// keep copies a list.
func (r *room[T]) keep(list []T) []T {
	if len(list) == 0 {
		return nil
	}
	out := r.take(len(list))
	copy(out, list)
	return out
}
