package sqltext

import (
	"slices"
	"strconv"

	"approver.example/reflexcore/wordset"
)

type tokenKind uint8

const (
	tWord   tokenKind = iota // a key word or a bare name, in lower case
	tName                    // a quoted name
	tText                    // a text, unquoted
	tNumber                  //
	tSign                    // one or two characters that are none of these
)

// A token is a word, a text or an operator of a statement.
type token struct {
	kind tokenKind
	s    string
}

func (t token) is(s string) bool { return (t.kind == tWord || t.kind == tSign) && t.s == s }

// isIn reports whether a token is one of some words.
func (t token) isIn(words map[string]bool) bool {
	return (t.kind == tWord || t.kind == tSign) && words[t.s]
}

func at(t []token, i int) token {
	if i >= 0 && i < len(t) {
		return t[i]
	}
	return token{kind: tSign}
}

func has(t []token, w string) bool {
	return slices.ContainsFunc(t, func(x token) bool { return x.is(w) })
}

func index(t []token, from int, w string) int {
	for i := from; i < len(t); i++ {
		if t[i].is(w) {
			return i
		}
	}
	return -1
}

// firstText returns the index of the first text from i on, or -1.
func firstText(t []token, i int) int {
	for k := i; k < len(t); k++ {
		if t[k].kind == tText {
			return k
		}
	}
	return -1
}

// fillerWords are words between a verb and its object.
var fillerWords = wordset.Of("if exists not only low_priority quick ignore concurrently from or replace rollback " +
	"abort fail table online offline public force")

// object reads a dotted name from i on.
func object(t []token, i int) (name string, after int) {
	for i < len(t) && t[i].kind == tWord && fillerWords[t[i].s] && !isLast(t, i) {
		i++
	}
	for i < len(t) && (t[i].kind == tWord || t[i].kind == tName || t[i].kind == tText) {
		name += t[i].s
		i++
		if !at(t, i).is(".") {
			break
		}
		name += "."
		i++
	}
	return name, i
}

// isLast reports whether a filler word is the name itself, because none can follow: public in DROP SCHEMA public
// CASCADE, and in public.users.
func isLast(t []token, i int) bool {
	next := at(t, i+1)
	named := next.kind == tName || next.kind == tText || next.kind == tWord && !next.isIn(behindNames)
	return t[i].isIn(alsoNames) && !named
}

// alsoNames are filler words that may be names, and behindNames words that follow a name.
var (
	alsoNames   = wordset.Of("only quick ignore fail abort online offline public force")
	behindNames = wordset.Of("cascade restrict with where set using values select on as restart add drop from returning")
)

// statementEnd returns the end of the statement that begins at i: the end of the text, or the
// bracket that closes around it.
func statementEnd(t []token, i int) int { return closingAt(t, i, 1) }

// closing returns the index of the bracket that closes the one at i, or the length.
func closing(t []token, i int) int { return closingAt(t, i, 0) }

// closingAt returns the index of the bracket that closes the last of the open ones, or the length.
// depth is how many are open before i.
func closingAt(t []token, i, depth int) int {
	for ; i < len(t); i++ {
		if t[i].is("(") {
			depth++
		} else if t[i].is(")") {
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(t)
}

func positive(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
