package lex

import (
	"slices"
	"strings"

	"approver.example/reflexcore/decode"
)

// A Syntax says how a language is written. What has no field is the same in all languages.
type Syntax struct {
	Keywords   []string // those before a value or a statement, sorted
	Comments   Comments
	Names      Names
	Texts      Texts
	BlocksOnly bool // no value ends with }
	BareCalls  bool // arguments may follow a name without brackets
}

// Comments say what is skipped.
type Comments struct {
	Line                  string
	Hash                  bool // # begins a comment
	BlockOpen, BlockClose string
	Pod                   bool // =pod … =cut
	PodBegin              bool // =begin … =end
	OpenTag               bool // <?php
	EndMark, DataMark     bool // __END__, __DATA__
}

// Names say what a name may contain besides letters and digits.
type Names struct {
	Sigils      string
	Folded      bool // normalized
	Escapes     bool // \u0065val is eval
	Dollar      bool // $ is a letter
	Marked      bool // empty? and map!
	ColonSigils bool // $a::b
	Braced      bool // ${x} is $x
	DoubleAt    bool // @@x
	LastIndex   bool // $#a
	Special     bool // $! and its like
}

// Texts say how strings, patterns and the like are quoted.
type Texts struct {
	Single, Double, Backtick Quoting // 0: no quote
	Triple                   bool
	Prefixes                 bool   // r"…", f"…"
	KeepEscapes              bool   // \q in a string is \q, not q
	Inner                    string // begins an expression inside a string
	Templates                bool   // only in backticks, and a function may come before these
	QuoteLike                bool   // q(…), qw(…), s/…/…/
	Percent                  bool   // %w[…], %x(…)
	Symbols                  bool   // :name
	Heredoc                  bool
	InlineHeredoc            bool // <<<EOT, behind whose end the line goes on
	UpperHeredoc             bool // a tag without quotes is in upper case
	Regex                    bool
	RegexLine                bool // a pattern ends with its line
	RegexClasses             bool // a / in a class does not end it
	LongBrackets             bool // [[ … ]] is a text, --[[ … ]] a comment
}

// IsKeyword reports whether a word is a keyword.
func (d *Syntax) IsKeyword(word string) bool {
	_, found := slices.BinarySearch(d.Keywords, word)
	return found
}

// Unescape replaces the escapes in a text.
func (d *Syntax) Unescape(s string) string {
	switch {
	case strings.IndexByte(s, '\\') < 0:
		return s
	case d.Texts.KeepEscapes:
		return decode.UnescapeKnown(s)
	}
	return decode.Unescape(s)
}
