package shell

import (
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// This file knows sed as people use it to fill a folder or a name into a template, before a client reads it.

// filling matches the program of a sed that puts a plain word in the place of a name for one.
var filling = lazyregexp.New(`^s(?:/` + holder + `/[\w.:@%+=-]+/|\|` + holder + `\|[\w./:@%+=-]+\||#` + holder +
	`#[\w./:@%+=-]+#|,` + holder + `,[\w./:@%+=-]+,)g?$`)

// holder is such a name. Other words in capitals may be words of SQL.
const holder = `(?:` + marked + `|[A-Z]+(?:_[A-Z]+)+|[A-Z]*(?:VAR|DIR|PATH|FILE|VERSION))`

// filledBy is the template that a statement fills in and shows, as in sed "s|DIR|$(pwd)|" FILE | psql. It is empty if
// there is none.
func (df *definitions) filledBy(c *syntax.CallExpr) string {
	if len(c.Args) != 3 || c.Args[0].Lit() != "sed" || !areLiterals(c.Args[2:], "") ||
		strings.HasPrefix(c.Args[2].Lit(), "-") || df.replaced("sed") {
		return ""
	}
	program := ""
	for _, part := range c.Args[1].Parts {
		text, ok := df.fill(part)
		if program += text; !ok {
			return ""
		}
	}
	if !filling().MatchString(program) {
		return ""
	}
	return c.Args[2].Lit()
}

// fill is the text of a part of a word. What a variable of people's holds stands for a plain word.
func (df *definitions) fill(part syntax.WordPart) (text string, ok bool) {
	switch part := part.(type) {
	case *syntax.Lit:
		return part.Value, !strings.Contains(part.Value, `\`)
	case *syntax.SglQuoted:
		return part.Value, !part.Dollar
	case *syntax.DblQuoted:
		for _, inner := range part.Parts {
			more, known := df.fill(inner)
			if text += more; !known {
				return "", false
			}
		}
		return text, !part.Dollar
	case *syntax.ParamExp:
		d := df.in.par.valueOf(part.Param.Value)
		switch {
		case !isWhole(part) || d.taint != 0 || df.in.vars.clobbered:
		case d.text == effect.Unknown:
			return "x", !df.in.vars.isGiven(part.Param.Value) // read X
		default:
			return d.text, effect.IsKnown(d.text)
		}
	case *syntax.CmdSubst:
		if pwd := onlyCall(part.Stmts); pwd != nil && len(pwd.Args) == 1 && pwd.Args[0].Lit() == "pwd" {
			return "x", !df.replaced("pwd")
		}
	}
	return "", false
}
