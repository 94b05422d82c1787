package places

import (
	"strconv"
	"strings"

	"approver.example/display/shape"
)

// This file finds the part of a program's words that is the credential.

// flag adds the place of a flag's value, which is in the same word or in the next one. It returns
// how many further words it used.
func (l *lexer) flag(flags map[string]string, a argument) int {
	name, _, glued := strings.Cut(a.text, "=")
	kind := flags[name]
	if kind == "glued" && glued && strings.HasPrefix(name, "--") {
		kind = "secret"
	}
	if kind == "" && secretFlag().MatchString(name) && !switchFlag().MatchString(name) {
		kind = "unknown" // not in the table: it may be a switch, or say what to act on
		if cursorFlag().MatchString(name) {
			kind = "cursor"
		}
	}
	switch {
	case kind != "" && kind != "glued" && glued:
		inside, from := word{a.at + len(name) + 1, a.at + len(a.text)}.bare(l.text)
		l.value(kind, inside, from, a.depth)
	case kind != "" && kind != "glued" && len(a.more) > 0:
		if text, _ := a.more[0].bare(l.text); kind == "secret" && isWordOnly(text) {
			kind = "maybe" // the name of a thing to act on could look like this
		}
		l.nextWord(kind, a)
		return shape.Count(kind != "maybe" && kind != "unknown")
	case len(a.text) > 2 && a.text[1] != '-' && flags[a.text[:2]] != "":
		begin := 2 + len(a.text[2:]) - len(strings.TrimLeft(a.text[2:], "\"'="))
		l.value(flags[a.text[:2]], strings.TrimRight(a.text[begin:], "\"'"), a.at+begin, a.depth)
	}
	if kind != "" && kind != "glued" && kind != "skip" && len(a.more) == 0 {
		l.behindFlag(a)
	}
	return shape.Count(globalFlags[a.text])
}

// behindFlag adds what a command in backticks after a flag prints. The backtick ended the words.
func (l *lexer) behindFlag(a argument) {
	at := a.at + len(a.text)
	at += len(l.text[at:]) - len(strings.TrimLeft(l.text[at:], " \t"))
	if shape.ByteAt(l.text, at) == '`' {
		l.substituted(at, len(l.text), func(s Span, _ piece) { l.held(s, "", a.depth) })
	}
}

// byPosition turns the Credential places that were added since an index into ByPosition: only the
// position says that a credential is there.
func (l *lexer) byPosition(since int) {
	for i := range l.spans[since:] {
		if s := &l.spans[since+i]; s.Kind == Credential {
			s.Kind = ByPosition
		}
	}
}

// isWordOnly reports whether a text is not mixed, like a name, and has no expansion.
func isWordOnly(text string) bool {
	return text != "" && !shape.IsMixed(text) && !strings.ContainsAny(text, "$`*")
}

// nextWord adds the place in the next word.
func (l *lexer) nextWord(kind string, a argument) {
	if len(a.more) > 0 {
		value, from := a.more[0].bare(l.text)
		l.value(kind, value, from, a.depth)
	}
}

// operand adds the place of a word that is not a flag: the word itself because of its position, or
// the next word because of what this one says.
func (l *lexer) operand(flags map[string]string, position int, a argument) {
	since := len(l.spans)
	defer func() {
		for i := range l.spans[since:] {
			l.spans[since+i].Carrier = false // it may also be an address
		}
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
	if strings.HasPrefix(a.text, "-") { // a dash does not make it a flag here
		return
	}
	switch kind := flags[strings.ToLower(a.text)]; kind {
	case "", flags["<"]: // a redirection
	case "rest":
		for i := range a.more {
			l.nextWord("secret", argument{depth: a.depth, more: a.more[i:]})
		}
	default:
		l.nextWord(kind, a)
	}
}

// value adds the place in the value of a flag, by the kinds of credentialFlags.
func (l *lexer) value(kind, text string, at, depth int) {
	whole := Span{From: at, To: at + len(text), Kind: Credential}
	switch kind {
	case "skip":
	case "percent", "comma", "slash", "userid", "acl", "login", "pass", "cookie":
		l.wanted(kind, text, at, depth)
		l.behindSign(kind, text, whole, depth)
	case "header", "field", "setting", "store", "sql":
		l.wanted(kind, text, at, depth)
		l.behindName(kind, text, whole, depth)
	case "maybe":
		whole.Kind = ByPosition
		l.add(whole, depth)
	case "unknown":
		whole.Kind = Unclear
		l.add(whole, depth)
	case "likely":
		l.add(Span{From: at, To: whole.To, field: "password"}, depth)
	case "cursor":
		l.add(Span{From: at, To: whole.To, field: "token"}, depth)
	case "plain":
		if !strings.Contains(text, "=") {
			l.add(whole, depth)
		}
	default:
		l.add(whole, depth)
	}
}

// behindSign adds the text after a sign or a prefix.
func (l *lexer) behindSign(kind, text string, whole Span, depth int) {
	n, to := -1, len(text)
	switch kind {
	case "login":
		n = colon(text)
	case "cookie":
		n, whole.Kind = strings.IndexByte(text, '='), Unclear
	case "pass", "acl":
		sign := map[string]string{"pass": "pass:", "acl": ">"}[kind]
		if strings.HasPrefix(text, sign) {
			n = len(sign) - 1
		}
	case "userid":
		if head := "userid="; strings.HasPrefix(strings.ToLower(text), head) {
			whole.From += len(head)
			l.behindSign("slash", text[len(head):], whole, depth)
		}
		return
	default:
		sign := map[string]string{"percent": "%", "comma": ",", "slash": "/"}[kind]
		user, pass, is := strings.Cut(text, sign)
		if !is || user == "" || kind == "slash" && !shape.Identifier().MatchString(user) {
			return
		}
		pass, _, _ = strings.Cut(pass, "@")
		n, to = len(user), len(user)+1+len(pass)
	}
	if n >= 0 {
		whole.From, whole.To = whole.From+n+1, whole.From+to
		l.add(whole, depth)
	}
}

// behindName adds the values in the text whose names are those of credentials.
func (l *lexer) behindName(kind, text string, whole Span, depth int) {
	at := whole.From
	switch kind {
	case "sql":
		for _, m := range shape.SQLPassword().FindAllStringSubmatchIndex(text, -1) {
			l.add(Span{From: at + m[4], To: at + m[5], Kind: ByPosition}, depth)
		}
	case "header":
		if m := secretHeader().FindStringSubmatchIndex(text); m != nil {
			s := Span{From: at + m[1], To: whole.To}
			if credentialHeaders[strings.ToLower(text[m[2]:m[3]])] {
				s.Kind = Credential
			}
			l.add(s, depth)
		}
	case "store":
		if n := strings.IndexByte(text, '='); n > 0 && !secretField().MatchString(text) {
			l.add(Span{From: at + n + 1, To: whole.To, field: "password"}, depth)
			return
		}
		l.behindName("field", text, whole, depth)
	default:
		for _, m := range secretField().FindAllStringSubmatchIndex(text, -1) {
			word := strings.ToLower(text[m[4]:m[5]])
			s := Span{From: at + m[6], To: at + m[7], Kind: ByPosition}
			if !strings.HasPrefix(word, "pass") {
				s.field = anyMixed // other things than secrets have such names too
			}
			if kind == "setting" || m[2] != m[3] || word == "secret" || word == "pass" || word == "pwd" || word == "passcode" {
				s.Kind, s.field = Unclear, text[m[2]:m[5]]
			}
			l.add(s, depth)
		}
	}
}

// colon returns the index of the first colon outside ${…}, or -1.
func colon(text string) int {
	depth := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '{' && shape.ByteAt(text, i-1) == '$':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == ':' && depth == 0:
			return i
		}
	}
	return -1
}

// pair adds the value after the name of a setting.
func (l *lexer) pair(a argument) {
	switch {
	case len(a.more) == 0:
	case strings.HasPrefix(a.text, "http-basic."): // the user's name comes first
		l.nextWord("secret", argument{depth: a.depth, more: a.more[1:]})
	case knownSetting().MatchString(a.text):
		l.nextWord("secret", a)
	case shape.IsSecretName(a.text):
		l.nextWord("likely", a)
	}
}

// Secret returns the credential in a place of text s, or "" if there is none. A value that is not
// literal is none: text that a shell expands is not a secret, and may run.
func (sp Span) Secret(s string) string {
	value := strings.TrimRight(s[sp.From:sp.To], "\"'")
	switch {
	case !literal(s, sp, value), strings.Trim(value, "*xX-.@") == "", strings.IndexByte("@<>-", value[0]) >= 0,
		isReference(value):
		return ""
	case sp.Followed && sp.field != "" && strings.ContainsAny(value, " \t"):
		return ""
	case sp.field == anyMixed && !shape.IsMixed(value),
		sp.field != "" && sp.field != anyMixed && !shape.IsSecretValue(sp.field, value):
		return ""
	}
	return value
}

// literal reports whether a shell expands nothing in a value, which must not be empty. A dollar sign
// is allowed in single quotes.
func literal(s string, sp Span, value string) bool {
	if shape.ByteAt(s, sp.From-1) == '\'' && shape.ByteAt(s, sp.From+len(value)) == '\'' {
		return !strings.ContainsAny(value, "`\n'‹({\\") && value != ""
	}
	return !strings.ContainsAny(value, "$`\\\n\"'‹") && value != ""
}

// arguments processes the words of a program.
func (l *lexer) arguments(flags map[string]string, operands int, given []word, depth int) {
	position := 0
	for i := 0; i < len(given); i++ {
		text, at := given[i].bare(l.text)
		a := argument{text: text, at: at, depth: depth, more: given[i+1:]}
		switch {
		case text == "--": // the words after it are not flags of this program
			depth = max(depth, 1)
		case strings.HasPrefix(text, "-") && (position == 0 || flags["options"] != "first"):
			i += l.flag(flags, a)
		case i >= operands:
			position++
			l.operand(flags, position, a)
			if name := wholeReference(text); name != "" && at == given[i].from && len(l.spreads) < MaxWants {
				l.spreads = append(l.spreads, spread{flags, name, depth})
			}
		}
	}
}

// An argument is one word of a program, and the words after it.
type argument struct {
	text      string // without its quotes
	at, depth int
	more      []word
}
