package display

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence returns a sentence as a phrase that is translated as a whole. Words of it that look like
// places for arguments are only words.
func Sentence(text string) Phrase {
	if strings.Contains(text, "%") {
		return Phrase{Text: "%s", Args: []string{OneLine(text)}}
	}
	return Phrase{Text: text}
}

// Capitalized writes a sentence as it stands by itself: it begins with a capital, and ends.
func Capitalized(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return ""
	}
	s = string(unicode.ToUpper(first)) + s[size:]
	if last, _ := utf8.DecodeLastRuneInString(s); strings.ContainsRune(".!?…", last) {
		return s
	}
	return s + "."
}

// Plain is the phrase in English, as it is: nothing of it is made safe.
func (p Phrase) Plain() string {
	text, out := p.Text, ""
	for _, arg := range slices.Concat(p.Args, p.Own) {
		before, after, found := strings.Cut(text, "%s")
		if !found {
			break
		}
		out, text = out+before+arg, after
	}
	return out + text
}

// Title says the title of a summary, and how many further things there are; empty if it has none.
func (t Texts) Title(s Summary) string {
	if s.Title.IsZero() || s.More == 0 {
		return t.Say(s.Title)
	}
	return t.Message(Msg("%s and %d more", s.Title, s.More))
}

// Or returns the summary with what it lacks taken from another one of the same call.
func (s Summary) Or(other Summary) Summary {
	if s.Title.IsZero() {
		s.Title, s.More = other.Title, other.More
	}
	if s.Why.IsZero() {
		s.Why = other.Why
	}
	if s.Undo.IsZero() {
		s.Undo = other.Undo
	}
	if len(s.Does) == 0 {
		s.Does = other.Does
	}
	if s.Part == "" {
		s.Part = other.Part
	}
	if s.Project == "" {
		s.Project, s.Branch = other.Project, other.Branch
	}
	return s
}
