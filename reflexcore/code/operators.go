package code

import "approver.example/reflexcore/code/lex"

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

func isAssign(t *lex.Token) bool {
	if t.Kind != lex.Op {
		return false
	}
	switch t.Text {
	case "=", "+=", ".=", ":=", "||=", "??=", "//=", "&&=", "-=", "*=", "|=", "%=", "/=":
		return true
	}
	return false
}

// strength returns how strongly an operator binds, or 0.
func (c *cursor) strength(t *lex.Token) int {
	if t.Kind == lex.Name {
		switch t.Text {
		case "or", "and", "xor":
			return bindOr
		case "is", "instanceof", "eq", "ne", "lt", "gt", "le", "ge", "cmp", "isa":
			return bindCompare
		case "not":
			if c.ahead(1).Text == "in" {
				return c.d.expressions.binds["not in"]
			}
		case "in", "if", "x":
			return c.d.expressions.binds[t.Text]
		}
		return 0
	}
	if t.Kind != lex.Op {
		return 0
	}
	if isAssign(t) {
		return bindAssign
	}
	switch t.Text {
	case "?":
		return bindChoice
	case "||", "??", "&&":
		return bindOr
	case "//":
		return max(bindOr, c.d.expressions.binds["//"])
	case "==", "!=", "===", "!==", "<", ">", "<=", ">=", "=~", "!~", "<=>", "~=", "~":
		return bindCompare
	case "|", "&", "^":
		return bindBits
	case "..", "...":
		if c.d.expressions.concat == ".." {
			return bindAdd
		}
		return bindRange
	case "<<", ">>", ">>>":
		return bindShift
	case "+", "-":
		return bindAdd
	case ".":
		if c.d.expressions.concat == "." {
			return bindAdd
		}
	case "*", "/", "%":
		return bindTimes
	case "**":
		return bindPower
	}
	return 0
}
