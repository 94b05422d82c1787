package summary

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// maxPart limits the part that is marked, in bytes. A longer one shows nobody where to look.
const maxPart = 2000

// maxMarked limits the effects of which it is found out whether they are of the same part.
const maxMarked = 64

// Part returns the part of the command that has the effect of the verdict, exactly as it is written.
// It is empty if that is the whole command, not certain, or one of several parts that count.
func (c *Call) Part() string {
	i := c.subject()
	if i < 0 || c.Command == "" {
		return ""
	}
	part := c.matter(i).piece()
	alike, others := c.beside(i)
	all := append(alike, others...)
	for k, own := 0, c.rank(i); k < len(c.Effects) && len(all) <= maxMarked; k++ {
		if losing&(1<<c.Effects[k].Kind) != 0 && own < len(does().rows) && c.rank(k) == own { // also with the same words
			all = append(all, k)
		}
	}
	if len(all) > maxMarked || slices.ContainsFunc(all, func(k int) bool {
		return c.matter(k).piece() != part
	}) {
		return ""
	}
	if len(part) > maxPart || !strings.Contains(c.Command, part) || part == strings.TrimSpace(c.Command) {
		return ""
	}
	return part
}

// piece returns the simple command that has the effect, or the whole pipeline of one whose data
// comes out of it; empty if it is not certain which that is.
func (m *matter) piece() string {
	all, _ := m.commands()
	switch {
	case len(all) != 1:
		return ""
	case strings.HasSuffix(m.By, "(stdin)"), !m.mentioned(all[0].Text) && m.mentioned(all[0].Pipe), // what it is told
		m.Taint != 0 && (m.Kind == effect.Exec || m.Kind == effect.NetOut || m.Kind == effect.Write):
		return all[0].Pipe
	}
	return all[0].Text
}

// inOrder reports whether the words stand in a text as words of their own, one after the other. What
// is in brackets is none of the command's.
func inOrder(text string, words []string) bool {
	some := false
	for _, word := range words {
		if word[0] == '(' {
			continue
		}
		at := wordIn(text, word)
		if at < 0 {
			return false
		}
		some, text = true, text[at+len(word):]
	}
	return some
}

// wordIn returns where a word begins in a text, -1 if it is not there.
func wordIn(text, word string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return -1
		}
		at := from + i
		end := at + len(word)
		if (at == 0 || !isWordByte(text[at-1])) &&
			(end == len(text) || !isWordByte(text[end]) || word[len(word)-1] == '=') {
			return at
		}
		from = end
	}
}

func isWordByte(b byte) bool {
	return b == '-' || b == '_' || b == '.' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80
}

// mentioned reports whether a text names the end of the effect's target.
func (m *matter) mentioned(text string) bool {
	name := strings.TrimRight(m.Target, "/*")
	name = name[strings.LastIndexAny(name, "/\x00")+1:]
	return len(name) > 1 && wordIn(text, name) >= 0
}
