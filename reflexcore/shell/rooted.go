package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A guard in the word, "${X:?}"/*, shows that the folder is something, and not that it is
// not the root. Where the call itself says how it may be the root, the guard proves nothing:
// [ "$X" = / ], case $X in /), $(realpath /), X=$(cat f || echo /).

// maxTrees is how many texts are looked through for that.
const maxTrees = 16

// mayRoot reports whether a text of the call names the root or the home, or asks for the
// folder above another one.
func (so *sources) mayRoot() bool {
	for ; so.searched < len(so.trees) && !so.rooted; so.searched++ {
		syntax.Walk(so.trees[so.searched], func(n syntax.Node) bool {
			so.rep.steps++
			switch n := n.(type) {
			case *syntax.Word:
				so.rooted = so.rooted || namesRoot(n)
			case *syntax.CmdSubst:
				so.rooted = so.rooted || asksAbove(n)
			case *syntax.ParamExp:
				so.rooted = so.rooted || n.Slice != nil || n.Length // ${PWD:0:1} is the root, and ${#X} tells that it is
			}
			return !so.rooted
		})
	}
	return so.rooted || len(so.trees) >= maxTrees
}

// namesRoot reports whether a word is the root, the home or a pattern of the root.
func namesRoot(w *syntax.Word) bool {
	if isHome(w) {
		return true
	}
	text, ok := asWritten(w)
	return ok && (text == "~" || text == "~/" || isRootText(text))
}

// isRootText reports whether a text is the root, however it is written.
func isRootText(text string) bool {
	text = strings.Trim(text, "^$*") // of a pattern or an expression
	return text != "" && text[0] == '/' && strings.Trim(path.Clean(text), "/") == ""
}

// isHome reports whether a word is $HOME alone.
func isHome(w *syntax.Word) bool {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) != 1 {
		return false
	}
	p, ok := parts[0].(*syntax.ParamExp)
	return ok && p.Param != nil && p.Param.Value == "HOME" && p.Exp == nil && p.Slice == nil && p.Repl == nil
}

// asWritten is a word as it is written, if all of it is.
func asWritten(w *syntax.Word) (text string, ok bool) {
	var b strings.Builder
	parts := w.Parts
	for i := 0; i < len(parts); i++ {
		switch p := parts[i].(type) {
		case *syntax.Lit:
			b.Write(unescape(nil, p.Value))
		case *syntax.SglQuoted:
			if !p.Dollar {
				b.WriteString(p.Value)
				continue
			}
			plain, _ := ansiC(nil, p.Value, false)
			b.Write(plain)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.Write(unescapeDouble(nil, lit.Value))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// asksAbove reports whether a substitution may print the root of itself: it goes up, takes
// the folder of one, asks where a file system is mounted, or runs code that has a slash.
func asksAbove(s *syntax.CmdSubst) (found bool) {
	above, top := false, false
	for _, stmt := range s.Stmts {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			w, ok := n.(*syntax.Word)
			if !ok {
				return !found
			}
			text, ok := asWritten(w)
			switch {
			case !ok:
			case text == "..", strings.HasSuffix(text, "/.."), strings.HasSuffix(text, "../"):
				found = true
			case text == "dirname", text == "cut", text == "sed", text == "awk":
				above = true
			case strings.HasPrefix(text, "/") && strings.Count(path.Clean(text), "/") < 3:
				top = true
			case mounts(text), strings.ContainsAny(text, "'\"(") && strings.Contains(text, "/"):
				found = true
			}
			return !found
		})
	}
	return found || above && top
}

// mounts reports whether a word is a program that says where file systems are mounted, or
// the flag of one.
func mounts(word string) bool {
	switch word {
	case "df", "findmnt", "mount", "mountpoint", "lsblk", "%m", "/proc/mounts", "/etc/mtab", "/etc/fstab":
		return true
	}
	return false
}
