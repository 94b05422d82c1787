package approver

import (
	"strconv"
	"strings"
)

// This file finds the part of a program's words that is the credential.

// flag adds the place that one word opens: in itself, or in the next word.
// It returns how many words more it took.
func (l *lexer) flag(flags map[string]string, a argument) int {
	name, _, glued := strings.Cut(a.text, "=")
	kind := flags[name]
	if kind == "glued" && glued && strings.HasPrefix(name, "--") {
		kind = "secret"
	}
	if kind == "" && secretFlag().MatchString(name) && !switchFlag().MatchString(name) {
		kind = "secret"
		if !glued { // it may be a switch, and then the word behind it decides
			kind = "maybe"
		}
		if cursorFlag().MatchString(name) {
			kind = "cursor"
		}
	}
	switch {
	case kind != "" && kind != "glued" && glued:
		inside, from := l.bare(word{a.at + len(name) + 1, a.at + len(a.text)})
		l.value(kind, inside, from, a.depth)
	case kind != "" && kind != "glued" && len(a.more) > 0:
		l.next(kind, a)
		return toInt(kind != "maybe")
	case len(a.text) > 2 && a.text[1] != '-' && flags[a.text[:2]] != "":
		begin := 2 + len(a.text[2:]) - len(strings.TrimLeft(a.text[2:], "\"'="))
		l.value(flags[a.text[:2]], strings.TrimRight(a.text[begin:], "\"'"), a.at+begin, a.depth)
	}
	return toInt(globalFlags[a.text])
}

// byPosition notes the places that were added since as ones of which only the position
// says that a credential is there.
func (l *lexer) byPosition(since int) {
	for i := range l.spans[since:] {
		if s := &l.spans[since+i]; s.kind == placeCredential {
			s.kind = placePosition
		}
	}
}

// next adds the place in the word behind.
func (l *lexer) next(kind string, a argument) {
	if len(a.more) > 0 {
		value, from := l.bare(a.more[0])
		l.value(kind, value, from, a.depth)
	}
}

// operand adds the place that a word opens which is no flag: by where it stands, or by
// what the word says of the next.
func (l *lexer) operand(flags map[string]string, position int, a argument) {
	since := len(l.spans)
	defer func() {
		if flags["operand"] != "header" {
			l.byPosition(since)
		}
	}()
	kind := flags["operand"]
	if kind == "pair" {
		l.pair(a)
		kind = ""
	}
	if k := flags["#"+strconv.Itoa(position)]; k != "" && (k != "alone" || len(a.more) == 0) {
		kind = k
	}
	if kind != "" {
		l.value(kind, a.text, a.at, a.depth)
	}
	switch kind := flags[strings.ToLower(a.text)]; kind {
	case "", flags["<"]: // a redirection
	case "rest":
		for i := range a.more {
			l.next("secret", argument{depth: a.depth, more: a.more[i:]})
		}
	default:
		l.next(kind, a)
	}
}

// value adds the place inside what a flag is given.
func (l *lexer) value(kind, text string, at, depth int) {
	whole := span{at, at + len(text), placeCredential, "", ""}
	switch kind {
	case "skip":
	case "maybe":
		whole.kind = placePosition
		l.add(whole, depth)
	case "userid":
		if strings.HasPrefix(strings.ToLower(text), "userid=") {
			l.value("slash", text[len("userid="):], at+len("userid="), depth)
		}
	case "percent", "comma", "slash":
		sign := map[string]string{"percent": "%", "comma": ",", "slash": "/"}[kind]
		if user, pass, is := strings.Cut(text, sign); is && user != "" && (kind != "slash" || identifier().MatchString(user)) {
			pass, _, _ = strings.Cut(pass, "@")
			l.add(span{at + len(user) + 1, at + len(user) + 1 + len(pass), placeCredential, "", ""}, depth)
		}
	case "acl":
		if strings.HasPrefix(text, ">") {
			l.add(span{at + 1, whole.to, placeCredential, "", ""}, depth)
		}
	case "plain":
		if !strings.Contains(text, "=") {
			l.add(whole, depth)
		}
	case "likely":
		l.add(span{at, whole.to, placeUnclear, "", "password"}, depth)
	case "store":
		if n := strings.IndexByte(text, '='); n > 0 && !secretField().MatchString(text) {
			l.add(span{at + n + 1, whole.to, placeUnclear, "", "password"}, depth)
			return
		}
		l.value("field", text, at, depth)
	case "sql":
		for _, m := range statement().FindAllStringSubmatchIndex(text, -1) {
			l.add(span{at + m[4], at + m[5], placePosition, "", ""}, depth)
		}
	case "login":
		if n := strings.IndexByte(text, ':'); n >= 0 {
			l.add(span{at + n + 1, whole.to, placeCredential, "", ""}, depth)
		}
	case "pass":
		if strings.HasPrefix(text, "pass:") {
			l.add(span{at + len("pass:"), whole.to, placeCredential, "", ""}, depth)
		}
	case "cookie":
		if n := strings.IndexByte(text, '='); n >= 0 {
			l.add(span{at + n + 1, whole.to, placeUnclear, "", ""}, depth)
		}
	case "cursor":
		l.add(span{at, whole.to, placeUnclear, "", "token"}, depth)
	case "header":
		if m := secretHeader().FindStringSubmatchIndex(text); m != nil {
			s := span{from: at + m[1], to: whole.to}
			if credentialHeaders[strings.ToLower(text[m[2]:m[3]])] {
				s.kind = placeCredential
			}
			l.add(s, depth)
		}
	case "field", "setting":
		for _, m := range secretField().FindAllStringSubmatchIndex(text, -1) {
			s := span{from: at + m[6], to: at + m[7], kind: placePosition}
			if s.field = ""; !strings.HasPrefix(strings.ToLower(text[m[4]:m[5]]), "pass") {
				s.field = anyMixed // a name that others than secrets have, too
			}
			if word := strings.ToLower(text[m[4]:m[5]]); kind == "setting" || m[2] != m[3] || word == "secret" || strings.HasPrefix(word, "pass") && len(word) == 4 ||
				word == "pwd" || word == "passcode" {
				s.kind, s.field = placeUnclear, text[m[2]:m[5]]
			}
			l.add(s, depth)
		}
	default:
		l.add(whole, depth)
	}
}

// pair adds the value behind the name of a setting.
func (l *lexer) pair(a argument) {
	switch {
	case len(a.more) == 0:
	case strings.HasPrefix(a.text, "http-basic."): // a user's name comes first
		l.next("secret", argument{depth: a.depth, more: a.more[1:]})
	case knownSetting().MatchString(a.text):
		l.next("secret", a)
	case secretMember(a.text):
		l.next("likely", a)
	}
}

// literal reports a value in which a shell puts nothing in. Between single quotes a
// dollar sign and a backslash are themselves.
func literal(s string, sp span, value string) bool {
	if byteAt(s, sp.from-1) == '\'' && byteAt(s, sp.from+len(value)) == '\'' {
		return !strings.ContainsAny(value, "`\n'‹({\\") && value != ""
	}
	return !strings.ContainsAny(value, "$`\\\n\"'‹") && value != ""
}
