package display

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/feature/plural"

	"approver.example/internal/lazyregexp"
)

// Texts says what approver has to say to people in one language. The zero value speaks English. It is
// safe for concurrent use.
type Texts struct {
	of *catalog // nil for English
}

// Language returns the tag of the language, such as "de"; see [In].
func (t Texts) Language() string {
	if t.of == nil {
		return "en"
	}
	return t.of.tag.String()
}

// A Message is a text of approver's own with values in it. Whoever reads it decides on the language:
// see [Texts.Message].
type Message struct {
	// Format is the English text in the manner of [fmt.Sprintf], and the key of its translations.
	Format string
	Args   []any
}

// Shown is a text that is safe to show already, such as one of several lines. In a message it stays as
// it is.
type Shown string

// Msg returns a message. A string among args is somebody's words, and is made safe when it is shown; a
// Message or a Phrase is said in the same language.
func Msg(format string, args ...any) Message { return Message{format, args} }

// Text says a message. It is for texts that are known to be shown in this language.
func (t Texts) Text(format string, args ...any) string { return t.Message(Message{format, args}) }

// Message says a message. A text without a translation stays English.
func (t Texts) Message(m Message) string {
	args := make([]any, len(m.Args))
	for i, a := range m.Args {
		args[i] = t.argument(a)
	}
	text := cmp.Or(t.translated(m.Format, args), m.Format)
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// Say says a phrase on one line. Its arguments, and a text that has no translation, are masked and
// made visible. Only approver's own words are translated, never an argument, which may be the call's.
// Arguments that do not fit the text are shown after it.
func (t Texts) Say(p Phrase) string {
	args := make([]any, 0, len(p.Args)+len(p.Own))
	for _, a := range p.Args {
		args = append(args, SafeLine(a))
	}
	for _, own := range p.Own {
		args = append(args, cmp.Or(t.translated(own, nil), SafeLine(own)))
	}
	text := cmp.Or(t.translated(p.Text, args), SafeLine(p.Text))
	switch {
	case len(args) == 0:
		return text
	case !takes(p.Text, len(args)):
		return text + " (" + SafeLine(strings.Join(slices.Concat(p.Args, p.Own), ", ")) + ")"
	}
	return fmt.Sprintf(text, args...)
}

// argument is what stands for a value in a text.
func (t Texts) argument(a any) any {
	switch a := a.(type) {
	case Message:
		return t.Message(a)
	case Phrase:
		return t.Say(a)
	case bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return a
	case Shown:
		return string(a)
	case string:
		return SafeLine(a)
	}
	return SafeLine(fmt.Sprint(a))
}

// translated is the text for the number that decides, in this language or, if that lacks it, in
// English; empty if no catalog has the text.
func (t Texts) translated(english string, args []any) string {
	of := t.of
	if of == nil || of.texts[english].text == "" {
		of = englishForms()
	}
	e := of.texts[english]
	if len(e.forms) == 0 || e.by >= len(args) {
		return e.text
	}
	n, err := strconv.Atoi(fmt.Sprint(args[e.by]))
	if err != nil || n < 0 {
		return e.text
	}
	return cmp.Or(e.forms[plural.Cardinal.MatchPlural(of.tag, n, 0, 0, 0, 0)], e.text)
}

// A verb is a place for an argument in a text, such as %s or %[2]d.
type verb struct {
	arg  int // from 0
	kind string
}

var verbPattern = lazyregexp.New(`%(?:\[(\d+)\])?([a-zA-Z%])?`)

// verbsOf returns the verbs of a text in the order of the text, and false if one of them cannot be
// read. %% is none.
func verbsOf(text string) (verbs []verb, ok bool) {
	next := 0
	for _, m := range verbPattern().FindAllStringSubmatch(text, -1) {
		switch {
		case m[0] == "%%":
			continue
		case m[2] == "" || m[2] == "%":
			return nil, false
		case m[1] != "":
			n, err := strconv.Atoi(m[1])
			if err != nil || n < 1 {
				return nil, false
			}
			next = n - 1
		}
		verbs = append(verbs, verb{next, m[2]})
		next++
	}
	return verbs, true
}

// takes reports whether a text has a place for each of n strings, and for nothing else.
func takes(text string, n int) bool {
	verbs, ok := verbsOf(text)
	used := make([]bool, n)
	for _, v := range verbs {
		if v.arg >= n || v.kind != "s" {
			return false
		}
		used[v.arg] = true
	}
	for _, u := range used {
		ok = ok && u
	}
	return ok
}
