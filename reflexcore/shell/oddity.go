package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// oddName notes how the name of a command, and its flags, were written.
func (ex *expander) oddName(mark int) {
	for i, f := range ex.fields[mark:] {
		switch o := f.odd; {
		case o == 0:
		case i == 0 && f.known() && !f.splits && !strings.Contains(f.text, " "):
			if o == GluedName && ex.in.Table.Find(f.text) == nil {
				continue // not a program of the tables
			}
			ex.in.rep.noteOddity(o, f.text)
		case i == 0 && o&CutName != 0:
			ex.in.rep.noteOddity(CutName, effect.Show(f.text))
		case o&(EmptyQuotes|Separator) != 0:
			ex.in.rep.noteOddity(o&(EmptyQuotes|Separator), f.text)
		case o&(CutName|EscapedName) != 0 && isCluster(f.text):
			ex.in.rep.noteOddity(o&(CutName|EscapedName), f.text)
		}
	}
}

// isCluster reports whether a word is a flag or a group of flags: -rf, --force.
func isCluster(s string) bool {
	return len(s) > 1 && s[0] == '-' && strings.Trim(s, "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// writtenOddly returns the oddities that the syntax of a word shows.
func writtenOddly(w *syntax.Word) (o Oddity) {
	quoted, bare, slash := 0, 0, false
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			bare++
			slash = slash || strings.ContainsAny(p.Value, `/:=`)
			if j := strings.IndexByte(p.Value, '\\'); j > 0 && j+1 < len(p.Value) && isLetter(p.Value[j+1]) &&
				isLetter(p.Value[j-1]) && !strings.Contains(p.Value, ":") {
				o |= SplitName
			}
			if strings.HasPrefix(p.Value, "/") && strings.ContainsAny(p.Value, "?[") {
				o |= GuessedName
			}
		case *syntax.SglQuoted:
			quoted++
			slash = slash || strings.ContainsAny(p.Value, "/ ")
			if p.Dollar && hidesLetters(p.Value) {
				o |= EscapedName
			}
			if p.Value == "" && between(w.Parts, i) {
				o |= EmptyQuotes
			}
		case *syntax.DblQuoted:
			quoted++
			slash = slash || len(p.Parts) > 1
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				slash = slash || !ok || strings.ContainsAny(lit.Value, "/ ")
				o |= expandedOddly(inner)
			}
			if len(p.Parts) == 0 && between(w.Parts, i) {
				o |= EmptyQuotes
			}
		default:
			slash = true
			o |= expandedOddly(part)
			if p, ok := part.(*syntax.ParamExp); ok && p.Param != nil && p.Param.Value == "IFS" && p.Exp == nil &&
				len(w.Parts) > 1 {
				o |= Separator
			}
		}
	}
	if quoted > 0 && bare+quoted > 1 && !slash {
		o |= SplitName
	}
	return o
}

// expandedOddly returns the oddity of a part that is a parameter expansion.
func expandedOddly(part syntax.WordPart) Oddity {
	if p, ok := part.(*syntax.ParamExp); ok && p.Param != nil && p.Index == nil && p.Param.Value != "@" &&
		p.Param.Value != "*" && (p.Slice != nil || p.Repl != nil || p.Excl && p.Names == 0) {
		return CutName
	}
	return 0
}

// between reports whether a part stands between two letters.
func between(parts []syntax.WordPart, i int) bool {
	if i == 0 || i+1 == len(parts) {
		return false
	}
	before, ok := parts[i-1].(*syntax.Lit)
	after, also := parts[i+1].(*syntax.Lit)
	if !ok || !also || before.Value == "" || after.Value == "" { // error recovery in the parser leaves empty literals
		return false
	}
	return isLetter(before.Value[len(before.Value)-1]) && isLetter(after.Value[0])
}

// hidesLetters reports whether the text of a $'…' writes a letter, a digit or a slash as a
// numeric escape.
func hidesLetters(s string) bool {
	for n, digits := range numbered(s) {
		if digits > 1 && n < 0x80 && (isLetter(byte(n)) || n >= '0' && n <= '9' || n == '/') {
			return true
		}
	}
	return false
}

// isValue reports whether a part is a parameter expansion or a command substitution, perhaps in
// double quotes.
func isValue(part syntax.WordPart) bool {
	switch p := part.(type) {
	case *syntax.ParamExp, *syntax.CmdSubst:
		return true
	case *syntax.DblQuoted:
		return len(p.Parts) == 1 && isValue(p.Parts[0])
	}
	return false
}

// looksUp reports whether a substitution looks up a program or takes a path apart.
func looksUp(stmts []*syntax.Stmt) bool {
	return len(stmts) > 0 && isOneOf(stmts[0], "which", "command", "type", "basename", "readlink", "realpath")
}
