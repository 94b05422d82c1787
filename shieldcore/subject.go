package shieldcore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"approver.example"
)

// A subject is one call while it is judged, with what rules look at computed
// once and only if a rule asks for it.
type subject struct {
	call approver.ToolCall
	home func(uid uint32) (string, bool)

	command []*text
	args    []*text
	argsErr error
	located []location
	homes   *homes
	links   map[string]link // what names are, as far as they were looked up

	content           []*text
	contentErr        error
	does              []string
	branches          []string
	branchesSure      bool
	foundEnvironments []string

	haveArgs, haveLocated, haveContent, haveBranches, haveEnvironments bool
}

// actions returns what the call does.
func (s *subject) actions() []string {
	if s.does == nil {
		s.does = actionsOf(s.call)
	}
	return s.does
}

// A text is a string to be searched, with what is made of it on demand.
type text struct {
	raw    string
	lower  string // by fold
	folded bool   // lower is there
	pairs  *pairs // of a long text in lower case
}

// fold brings a text to the one form in which case makes no difference. The long s is
// a lower-case letter that a case-insensitive regular expression takes for s.
func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "ſ", "s") }

// lowered is the text as [fold] makes it.
func (t *text) lowered() string {
	if !t.folded {
		t.lower, t.folded = fold(t.raw), true
	}
	return t.lower
}

// holds reports whether of each group one literal is in the text. Literals are as
// [match.Required] returns them.
func (t *text) holds(groups [][]string) bool {
	if len(groups) == 0 {
		return true
	}
	lower := t.lowered()
	if t.pairs == nil && len(lower) > longText {
		t.pairs = pairsOf(lower)
	}
	for _, group := range groups {
		if !slices.ContainsFunc(group, func(s string) bool { return t.pairs.mayHold(s) && strings.Contains(lower, s) }) {
			return false
		}
	}
	return true
}

// longText is the length in bytes from which listing the pairs of a text is
// quicker than searching it for every word of a policy.
const longText = 512

// pairs says which two bytes stand side by side somewhere in a text. Nearly
// every word that is not in the text shows by that alone.
type pairs [1 << 16 / 64]uint64

func pairsOf(s string) *pairs {
	var p pairs
	for i := 1; i < len(s); i++ {
		n := uint(s[i-1])<<8 | uint(s[i])
		p[n/64] |= 1 << (n % 64)
	}
	return &p
}

// mayHold reports whether all pairs of word are there. Nil pairs are unknown.
func (p *pairs) mayHold(word string) bool {
	for i := 1; p != nil && i < len(word); i++ {
		n := uint(word[i-1])<<8 | uint(word[i])
		if p[n/64]&(1<<(n%64)) == 0 {
			return false
		}
	}
	return true
}

// commands returns the command as it is and, if different, normalised.
func (s *subject) commands() []*text {
	if s.command == nil {
		s.command = []*text{{raw: s.call.Command}}
		if n := normalise(s.call.Command); n != s.call.Command {
			s.command = append(s.command, &text{raw: n})
		}
	}
	return s.command
}

// normalise takes out quotes, backslashes and line continuations and makes
// every run of white space one space, or one line break if it has one. That
// undoes the plainest ways of writing the same words differently, no more.
func normalise(command string) string {
	command = strings.NewReplacer("\\\r\n", "", "\\\n", "").Replace(command)
	var b strings.Builder
	b.Grow(len(command))
	var space rune
	for _, r := range command {
		switch {
		case r == '\'' || r == '"' || r == '\\':
		case r == '\n':
			space = '\n'
		case unicode.IsSpace(r):
			if space == 0 {
				space = ' '
			}
		default:
			if space != 0 && b.Len() > 0 {
				b.WriteRune(space)
			}
			space = 0
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain reports whether a command is nothing but words, so that matching the
// whole of it says what runs: printable ASCII without any character that means
// something to a shell. Quotes may stand in pairs.
func plain(command string) bool {
	quote := rune(0)
	for _, r := range command {
		switch {
		case notPlain(r):
			return false
		case r != '\'' && r != '"':
		case quote == 0:
			quote = r
		case quote == r:
			quote = 0
		}
	}
	return quote == 0
}

// notPlain reports whether a character means something to a shell, or cannot be
// seen for what it is.
func notPlain(r rune) bool {
	return r < ' ' || r > '~' || strings.ContainsRune(";|&<>$`(){}[]*?!#~^\\", r)
}

// texts returns every string value in the arguments.
func (s *subject) texts() ([]*text, error) {
	if !s.haveArgs {
		s.haveArgs = true
		s.args, s.argsErr = stringsIn(s.call.Args)
	}
	return s.args, s.argsErr
}

func stringsIn(args json.RawMessage) ([]*text, error) {
	if len(args) == 0 {
		return nil, nil
	}
	if !json.Valid(args) {
		return nil, errors.New("the call's arguments are not JSON")
	}
	var out []*text
	var objects []bool // the open brackets: true for an object
	key := false       // the next string is a key
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	for {
		tk, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the call's arguments: %w", err)
		}
		switch v := tk.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				objects = append(objects, v == '{')
				key = v == '{'
				continue
			}
			objects = objects[:len(objects)-1]
		case string:
			if key {
				key = false
				continue
			}
			out = append(out, &text{raw: v})
		}
		key = len(objects) > 0 && objects[len(objects)-1]
	}
}
