package code

// The binding strengths of operators, one scale for all languages.
const (
	bindAssign = iota + 1
	bindChoice
	bindOr
	bindCompare
	bindBits
	bindRange
	bindShift
	bindAdd
	bindTimes
	bindPower
)

func isAssign(t *token) bool {
	if t.kind != tkOp {
		return false
	}
	switch t.text {
	case "=", "+=", ".=", ":=", "||=", "??=", "//=", "&&=", "-=", "*=", "|=", "%=", "/=":
		return true
	}
	return false
}

// strength returns how strongly an operator binds, or 0.
func (c *cursor) strength(t *token) int {
	if t.kind == tkName {
		switch t.text {
		case "or", "and", "xor":
			return bindOr
		case "is", "instanceof", "eq", "ne", "lt", "gt", "le", "ge", "cmp", "isa":
			return bindCompare
		case "not":
			if c.ahead(1).text == "in" {
				return c.d.binds["not in"]
			}
		case "in", "if", "x":
			return c.d.binds[t.text]
		}
		return 0
	}
	if t.kind != tkOp {
		return 0
	}
	if isAssign(t) {
		return bindAssign
	}
	switch t.text {
	case "?":
		return bindChoice
	case "||", "??", "&&":
		return bindOr
	case "//":
		return max(bindOr, c.d.binds["//"])
	case "==", "!=", "===", "!==", "<", ">", "<=", ">=", "=~", "!~", "<=>", "~=", "~":
		return bindCompare
	case "|", "&", "^":
		return bindBits
	case "..", "...":
		if c.d.concat == ".." {
			return bindAdd
		}
		return bindRange
	case "<<", ">>", ">>>":
		return bindShift
	case "+", "-":
		return bindAdd
	case ".":
		if c.d.concat == "." {
			return bindAdd
		}
	case "*", "/", "%":
		return bindTimes
	case "**":
		return bindPower
	}
	return 0
}
