package tokenizer

import (
	_ "embed" // the classes are a file
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:embed classes.txt
var classesText string

// A set is a class of code points: ranges in ascending order.
type set []span

type span struct{ first, last, step rune }

func (s set) has(r rune) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i].last >= r })
	return i < len(s) && r >= s[i].first && (r-s[i].first)%s[i].step == 0
}

// classes are the properties of characters in the reference implementation.
type classes struct {
	control, space, cjk, punctuation, mark, nonspacing, decomposes, reorders, upper set

	lowers map[rune]string // where Go's lower case is another
}

// readClasses reads classes.txt.
func readClasses(text string) (*classes, error) {
	c := &classes{lowers: map[rune]string{}}
	sets := map[string]*set{
		"control": &c.control, "space": &c.space, "cjk": &c.cjk, "punctuation": &c.punctuation, "mark": &c.mark,
		"nonspacing": &c.nonspacing,
		"decomposes": &c.decomposes, "reorders": &c.reorders, "upper": &c.upper,
	}
	for line := range strings.Lines(text) {
		class, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if class == "#" {
			continue
		}
		n, err := numbers(rest)
		switch to := sets[class]; {
		case class == "lower" && len(n) >= 2:
			c.lowers[n[0]] = string(n[1:])
		case to == nil || len(n) != 3 || n[2] < 1 || n[1] < n[0]:
			return nil, fmt.Errorf("tokenizer: the classes of characters are damaged at %q: %w", line, err)
		default:
			*to = append(*to, span{n[0], n[1], n[2]})
		}
	}
	return c, nil
}

// numbers reads hexadecimal numbers.
func numbers(s string) (list []rune, err error) {
	for word := range strings.FieldsSeq(s) {
		n, err := strconv.ParseInt(word, 16, 32)
		if err != nil {
			return nil, err
		}
		list = append(list, rune(n))
	}
	return list, nil
}

// lower is s in lower case, character by character.
func (c *classes) lower(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch text, own := c.lowers[r]; {
		case own:
			b.WriteString(text)
		case c.upper.has(r):
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// without is s without the characters of a class.
func without(s string, class set) string {
	return strings.Map(func(r rune) rune {
		if class.has(r) {
			return -1
		}
		return r
	}, s)
}

// The algorithm of Unicode for Hangul syllables (chapter 3.12).
const (
	hangulFirst, hangulLast          = 0xAC00, 0xD7A3
	leadFirst, vowelFirst, tailFirst = 0x1100, 0x1161, 0x11A7
	tailCount, vowelAndTail          = 28, 588
)

// nfd is s in canonical decomposition (NFD). norm.NFD has the decompositions of
// a newer Unicode, and puts a U+034F into long runs of marks.
func (c *classes) nfd(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		switch {
		case r >= hangulFirst && r <= hangulLast:
			i := r - hangulFirst
			out = append(out, leadFirst+i/vowelAndTail, vowelFirst+i%vowelAndTail/tailCount)
			if i%tailCount != 0 {
				out = append(out, tailFirst+i%tailCount)
			}
		case c.decomposes.has(r):
			out = append(out, []rune(string(norm.NFD.PropertiesString(string(r)).Decomposition()))...)
		default:
			out = append(out, r)
		}
	}
	c.order(out)
	return string(out)
}

// order puts each run of combining marks into canonical order.
func (c *classes) order(text []rune) {
	class := func(r rune) uint8 {
		if !c.reorders.has(r) {
			return 0
		}
		return norm.NFD.PropertiesString(string(r)).CCC()
	}
	for i := 0; i < len(text); i++ {
		end := i
		for end < len(text) && class(text[end]) != 0 {
			end++
		}
		run := text[i:end]
		slices.SortStableFunc(run, func(a, b rune) int { return int(class(a)) - int(class(b)) })
		i = end
	}
}
