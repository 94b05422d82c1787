package sqltext

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// always reports whether a condition surely holds for every row: constants that are true, a column
// compared with itself, patterns that match everything, and combinations of these with AND, OR, NOT
// and brackets. A condition that is missing or not known at all counts as one.
func always(cond []token, table string, depth int) bool {
	if len(cond) == 0 || len(cond) == 1 && !effect.IsKnown(cond[0].s) {
		return true
	}
	c := condition{t: cond, table: table, depth: depth}
	v := c.or()
	return v == yes && c.at >= len(c.t)
}

// A truth is one of three values, in the order of Kleene's logic: AND is the least of two, and OR the
// greatest.
type truth int8

const (
	no truth = iota - 1
	maybe
	yes
)

type condition struct {
	t     []token
	at    int
	table string
	depth int
}

func (c *condition) peek() token { return at(c.t, c.at) }

func (c *condition) or() truth {
	v := c.and()
	for c.peek().is("or") || c.peek().is("||") || c.peek().is("xor") {
		xor := c.peek().is("xor")
		c.at++
		if v = max(v, c.and()); xor {
			v = maybe
		}
	}
	return v
}

func (c *condition) and() truth {
	v := c.not()
	for c.peek().is("and") || c.peek().is("&&") || c.peek().is("&") {
		c.at++
		if c.peek().is("&") {
			c.at++
		}
		v = min(v, c.not())
	}
	return v
}

func (c *condition) not() truth {
	if c.peek().is("not") || c.peek().is("!") {
		c.at++
		if c.depth--; c.depth < 0 {
			c.at = len(c.t)
			return maybe
		}
		return -c.not()
	}
	return c.primary()
}

// primary reads a condition in brackets, or a comparison.
func (c *condition) primary() truth {
	if c.depth--; c.depth < 0 {
		c.at = len(c.t)
		return maybe
	}
	start := c.at
	if c.peek().is("(") {
		end := closing(c.t, c.at)
		inner := condition{t: c.t[c.at+1 : end], table: c.table, depth: c.depth}
		v := inner.or()
		after := min(end+1, len(c.t))
		if inner.at >= len(inner.t) && (after == len(c.t) || c.t[after].is("and") || c.t[after].is("or") ||
			c.t[after].is("&&") || c.t[after].is("||")) {
			c.at = after
			return v
		}
	}
	for c.at < len(c.t) {
		t := c.t[c.at]
		if t.is("between") {
			c.at++
			for c.at < len(c.t) && !c.t[c.at].is("and") {
				c.at++
			}
			c.at++
			continue
		}
		if t.is("and") || t.is("or") || t.is("&&") || t.is("||") || t.is("xor") {
			break
		}
		if t.is("(") {
			c.at = closing(c.t, c.at)
		}
		c.at++
	}
	c.at = min(c.at, len(c.t))
	return c.compare(c.t[start:c.at])
}

// compare evaluates one comparison.
func (c *condition) compare(t []token) truth {
	for len(t) > 2 && t[0].is("(") && closing(t, 0) == len(t)-1 {
		t = t[1 : len(t)-1]
	}
	switch {
	case len(t) == 0:
		return maybe
	case len(t) == 1:
		return constant(t[0])
	case t[0].is("exists"):
		if has(t, "from") {
			return maybe
		}
		return yes
	}
	// A column that is never null equals itself in every row.
	key := func(x token) bool {
		return (x.kind == tWord || x.kind == tName) && (x.s == "id" || x.s == "rowid" || x.s == "_id" ||
			x.s == "ctid" || x.s == "pk" || x.s == "uuid" || strings.HasSuffix(x.s, "_id") &&
			strings.TrimSuffix(x.s, "s_id")+"s_id" == c.table+"_id")
	}
	for len(t) > 3 && t[1].is(".") { // a table's name before a column
		t = t[2:]
	}
	for i, op := range t {
		if i == 0 || op.kind != tSign && op.kind != tWord {
			continue
		}
		left, right := t[:i], t[i+1:]
		for len(right) > 2 && right[1].is(".") {
			right = right[2:]
		}
		switch op.s {
		case "=", "==", "<=>", "is", "<", ">", "<=", ">=", "<>", "!=":
			if op.s == "is" && len(right) == 2 && right[0].is("not") && right[1].is("null") && len(left) == 1 {
				if key(left[0]) || left[0].kind == tNumber || left[0].kind == tText {
					return yes
				}
				return maybe
			}
			return order(op.s, left, right, key)
		case "like", "ilike", "rlike", "regexp", "~", "similar", "glob":
			if len(right) > 0 && right[len(right)-1].kind == tText {
				switch right[len(right)-1].s {
				case "%", "%%", "*", ".*", "", "^", "^.*$", "_%":
					return yes
				}
			}
			return maybe
		case "in":
			return c.in(left, right)
		}
	}
	return maybe
}

// in evaluates IN with constants, or with a column among all values of the same column.
func (c *condition) in(left, right []token) truth {
	if len(right) < 3 || len(left) != 1 || !right[0].is("(") {
		return maybe
	}
	inner := right[1 : len(right)-1]
	if inner[0].is("select") {
		all := len(inner) >= 4 && inner[1].s == left[0].s && inner[2].is("from") &&
			(inner[3].s == c.table || c.table == "")
		if all && len(inner) == 4 {
			return yes
		}
		return maybe
	}
	for _, x := range inner {
		if x == left[0] && (x.kind == tNumber || x.kind == tText) {
			return yes
		}
	}
	return maybe
}

func constant(t token) truth {
	switch t.kind {
	case tNumber, tText:
		if n, err := strconv.ParseFloat(t.s, 64); err == nil {
			if n != 0 {
				return yes
			}
			return no
		}
	case tWord:
		switch t.s {
		case "true", "t":
			return yes
		case "false", "null":
			return no
		}
	default:
	}
	return maybe
}

// order compares two sides that are constants or equal.
func order(op string, left, right []token, key func(token) bool) truth {
	same := len(left) == len(right) && len(left) > 0
	literal := same
	for i := range left {
		if !same {
			break
		}
		same = left[i].s == right[i].s && !strings.Contains(left[i].s, "rand") && !strings.Contains(left[i].s, "\x00")
		literal = literal && (left[i].kind == tNumber || left[i].kind == tText)
	}
	if same {
		switch op {
		case "=", "==", "<=>", "is", "<=", ">=":
			return yes
		}
		return no
	}
	if len(left) == 1 && len(right) == 1 && (left[0].kind == tNumber || left[0].kind == tText) &&
		(right[0].kind == tNumber || right[0].kind == tText) {
		return literals(op, left[0], right[0])
	}
	if len(left) == 1 && key(left[0]) && len(right) > 0 {
		switch r := right[len(right)-1]; {
		case (op == ">" || op == ">=") && (r.s == "0" || op == ">=" && r.s == "1" || len(right) == 2 &&
			right[0].is("-") && r.kind == tNumber):
			return yes
		case (op == "<>" || op == "!=") && (r.s == "0" || r.kind == tText && r.s == "" || len(right) == 2 &&
			right[0].is("-")):
			return yes
		}
	}
	return maybe
}

func literals(op string, a, b token) truth {
	x, errX := strconv.ParseFloat(a.s, 64)
	y, errY := strconv.ParseFloat(b.s, 64)
	cmp := strings.Compare(a.s, b.s)
	if errX == nil && errY == nil {
		switch {
		case x < y:
			cmp = -1
		case x > y:
			cmp = 1
		default:
			cmp = 0
		}
	}
	switch op {
	case "==", "is", "<=>":
		op = "="
	case "!=":
		op = "<>"
	}
	if strings.IndexByte(op, "<=>"[cmp+1]) >= 0 { // an operator has the signs of what it holds for
		return yes
	}
	return no
}
