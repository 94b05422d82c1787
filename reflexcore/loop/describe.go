package loop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"approver.example/reflexcore/wordset"
)

const (
	maxWords  = 32       // of a call, for distances
	maxText   = 16 << 10 // bytes of a command or of arguments
	maxSample = 4 << 10  // bytes of an output of which the entropy is taken
	maxOutput = 64 << 10 // bytes of an output that are looked at
	maxTool   = 64       // bytes of a tool's name
)

// descriptiveArguments are arguments that describe a call and have no effect.
var descriptiveArguments = []string{"description", "timeout", "timeout_ms"}

// Describe returns a call as a window stores it. Two calls have the same hash if they do the same:
// white space, the order of arguments and descriptive arguments do not count.
func Describe(tool, command string, args []byte, kind Kind) Call {
	text := command
	if text == "" {
		text = canonical(args)
	}
	text = shortened(text, maxText)
	c := Call{Tool: printable(shortened(tool, maxTool)), Kind: kind}
	h := fnv.New64a()
	_, _ = h.Write([]byte(tool))
	for word := range strings.FieldsSeq(text) {
		if word == "2>&1" {
			continue
		}
		_, _ = h.Write([]byte{0})
		_, _ = h.Write([]byte(word))
	}
	c.Hash = h.Sum64()
	for word := range strings.FieldsFuncSeq(text,
		func(r rune) bool { return strings.ContainsRune(" \t\r\n/=,:;'\"{}()[]|&", r) }) {
		if len(c.Words) == maxWords {
			break
		}
		c.Words = append(c.Words, uint16(hashOf(word)))
	}
	return c
}

// printable replaces characters of a tool's name that are not printable ASCII.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}

func canonical(args []byte) string {
	var object map[string]json.RawMessage
	if len(args) > maxOutput || json.Unmarshal(args, &object) != nil {
		return string(args[:min(len(args), maxOutput)])
	}
	for _, name := range descriptiveArguments {
		delete(object, name)
	}
	out, err := json.Marshal(object) // keys in their order
	if err != nil {
		return string(args)
	}
	return string(out)
}

// shortened shortens a text. It ends in a hash of the whole text then, so that different texts stay
// different.
func shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most-17] + fmt.Sprintf(" %016x", hashOf(s))
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

// An Output is what is stored of a call's result.
type Output struct {
	Failed bool   `json:"f,omitempty"`
	Result uint64 `json:"r,omitempty"` // hash of the output
	Shape  uint64 `json:"p,omitempty"` // hash of the output without its numbers
	Error  uint64 `json:"e,omitempty"` // hash of what it failed with; 0: it did not, or does not say
	Size   int    `json:"s,omitempty"` // of the output in bytes
	Bits   int    `json:"b,omitempty"` // entropy of the output in thousandths of a bit for each byte
}

// Measure returns the output of a call, or its error if it failed.
func Measure(text string, failed bool) Output {
	out := Output{Failed: failed, Size: len(text)}
	if len(text) > maxOutput { // both ends: the end says how it came out
		text = text[:maxOutput/2] + text[len(text)-maxOutput/2:]
	}
	out.Result = hashOf(maskTimes(text))
	out.Shape = hashOf(maskNumbers(text[:min(len(text), maxSample)]))
	out.Bits = int(Entropy([]byte(text[:min(len(text), maxSample)])) * 1000)
	if failed {
		out.Error = Signature(text)
	}
	return out
}

// Entropy returns Shannon's entropy of the bytes, in bits per byte: 0 to 8.
func Entropy(b []byte) float64 {
	var counts [256]int
	for _, c := range b {
		counts[c]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(b))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// errorWords are words of a line that says what went wrong.
var errorWords = []string{
	"error", "fail", "fatal", "cannot", "can't", "could not", "couldn't", "unable", "not found", "no such", "denied",
	"refused", "undefined", "invalid", "missing", "exception", "panic", "timed out", "timeout",
	"not permitted", "unknown", "unexpected", "conflict", "rejected", "must be", "does not",
}

// Signature returns the hash of an error: its first meaningful line, without numbers, paths and
// times. It is 0 if the error says nothing, as of a search without results.
func Signature(text string) uint64 {
	text = text[:min(len(text), maxOutput)]
	first, last, trace := "", "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		lower := strings.ToLower(line)
		if line == "" || exitCode(lower) || !strings.ContainsFunc(line, isLetter) {
			continue
		}
		last = line
		if strings.HasPrefix(line, "Traceback") {
			trace = true // the last line of it names the error
		}
		if first != "" && wordset.ContainsAny(first, errorWords...) {
			continue
		}
		if first == "" || wordset.ContainsAny(lower, errorWords...) {
			first = lower
		}
	}
	if trace {
		first = strings.ToLower(last)
	}
	if first == "" {
		return 0
	}
	return hashOf(withoutDetails(first))
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127 }

func exitCode(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(line, "error: "), "exit code")
	if !ok {
		rest, ok = strings.CutPrefix(line, "exit status")
	}
	return ok && strings.Trim(rest, " :.0123456789") == ""
}

// withoutDetails removes from a line what differs each time: paths, numbers and addresses.
func withoutDetails(line string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(line) {
		core := strings.Trim(word, "'\"`()[]<>,.:;")
		switch {
		case strings.ContainsAny(core, `/\`):
			word = "PATH"
		case isHex(core):
			word = "HEX"
		default:
			word = maskNumbers(word)
		}
		b.WriteString(word)
		b.WriteByte(' ')
	}
	return b.String()
}

// isHex reports whether a word is a hex number: an address, a hash or an id.
func isHex(word string) bool {
	word = strings.TrimPrefix(word, "0x")
	digits := 0
	for i := range len(word) {
		switch c := word[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', c == '-':
		default:
			return false
		}
	}
	return len(word) >= 6 && digits > 0
}

// maskNumbers replaces each number by #.
func maskNumbers(text string) string {
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		if c := text[i]; c < '0' || c > '9' {
			b = append(b, c)
		} else if len(b) == 0 || b[len(b)-1] != '#' {
			b = append(b, '#')
		}
	}
	return string(b)
}

// maskTimes replaces by # what differs in every output of the same program: times, dates and
// durations. It keeps other numbers, because they matter.
func maskTimes(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		c := text[i]
		if c < '0' || c > '9' || i > 0 && isWord(text[i-1]) {
			out = append(out, c)
			i++
			continue
		}
		end := i
		for end < len(text) &&
			(text[end] >= '0' && text[end] <= '9' ||
				strings.IndexByte(".:-", text[end]) >= 0 && end+1 < len(text) && text[end+1] >= '0' && text[end+1] <= '9' ||
				text[end] == 'T' && end-i == 10) {
			end++
		}
		if number := text[i:end]; isTime(number, text[end:]) {
			out = append(out, '#')
		} else {
			out = append(out, number...)
		}
		i = end
	}
	return string(bytes.TrimSpace(out))
}

func isWord(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '.' }

// isTime reports whether a number is a time or a duration: 12:30:05, 2026-01-31, 3 ms, 0.25s.
func isTime(number, after string) bool {
	if strings.Count(number, ":") >= 1 || strings.Count(number, "-") == 2 {
		return true
	}
	after = strings.TrimPrefix(after, " ")
	for _, unit := range []string{"ms", "µs", "ns", "us"} {
		if rest, ok := strings.CutPrefix(after, unit); ok && (rest == "" || !isWord(rest[0]) || rest[0] == '.') {
			return true
		}
	}
	return strings.IndexByte(number, '.') > 0 && strings.HasPrefix(after, "s")
}
