package pairing

import (
	"errors"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"approver.example/internal/lazyregexp"
)

// This file finds the place of a channel's new section: under the commented example of that channel
// if the file has one, as docs/config.md does, and otherwise before the other channels and their
// comments.

// emptyChannels matches the line of a channels section without content.
var emptyChannels = lazyregexp.New(`(?m)^channels:[ \t]*(?:#.*)?$`)

// begin returns the text with the first section of all.
func (p pairing) begin(text string) string {
	lines := strings.SplitAfter(text, "\n")
	head := indexLine(lines, emptyChannels())
	commented := indexLine(lines, regexp.MustCompile(`^#[ \t]?channels:[ \t]*(?:#.*)?$`))
	switch {
	case head >= 0:
	case commented >= 0 && p.example(lines, commented, 2) > 0:
		head = commented + 1 // live, under the commented one
		lines = strings.SplitAfter(insert(lines, head+1, "channels:\n"), "\n")
	default:
		if text != "" {
			text = ended(text) + "\n"
		}
		return text + "channels:\n" + p.section(2)
	}
	lines[head] = ended(lines[head])
	if at := p.example(lines, head, 2); at > 0 {
		return p.under(lines, at, 2)
	}
	return insert(lines, head+2, p.section(2))
}

// another returns the text with one more section beside those of other channels.
func (p pairing) another(text string, channels ast.Node) (string, error) {
	m, ok := channels.(*ast.MappingNode)
	if ok && !m.IsFlowStyle && len(m.Values) > 0 {
		lines, indent := strings.SplitAfter(text, "\n"), m.Values[0].Key.GetToken().Position.Column-1
		head := indexLine(lines, emptyChannels())
		if at := p.example(lines, head, indent); head >= 0 && at > 0 {
			return p.under(lines, at, indent), nil
		}
	}
	return p.beside(text, channels, p.section)
}

// under returns the text with the section before the line at, where the comments above are its
// heading.
func (p pairing) under(lines []string, at, indent int) string {
	p.heading = ""
	lines[at-1] = ended(lines[at-1])
	return insert(lines, at+1, p.section(indent))
}

// example returns the index of the line behind the commented example of the channel in the section
// that begins at head; 0 if there is none, or a section could not stand there, because what follows
// belongs to another one.
func (p pairing) example(lines []string, head, indent int) int {
	key := regexp.MustCompile(`^[ \t]*#[ \t]*` + regexp.QuoteMeta(p.channel) + `:[ \t]*(?:#.*)?$`)
	at := 0
	for i := head + 1; i < len(lines) && !topLevel(lines[i]); i++ {
		if key.MatchString(strings.TrimRight(lines[i], "\n")) {
			at = i + 1
			break
		}
	}
	if at == 0 {
		return 0
	}
	for own := depth(lines[at-1]); at < len(lines) && isComment(lines[at]) && depth(lines[at]) > own; at++ {
	}
	for _, next := range lines[at:] {
		if text := strings.TrimSpace(next); text != "" && !isComment(next) {
			if n := len(next) - len(strings.TrimLeft(next, " ")); n > indent {
				return 0
			}
			break
		}
	}
	return at
}

// depth is how deep a comment stands: the column of its #, or of its text where all # stand at the
// left edge.
func depth(line string) int {
	if n := len(line) - len(strings.TrimLeft(line, " \t")); n > 0 {
		return n
	}
	return len(line) - len(strings.TrimLeft(line, "# \t"))
}

func isComment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

// topLevel reports whether a line begins a part of the file: a setting, or a heading of comments.
func topLevel(line string) bool {
	return line != "" && !strings.ContainsRune(" \t\r\n#", rune(line[0])) || strings.HasPrefix(line, "## ")
}

// indexLine returns the index of the first line that matches; -1 if none does.
func indexLine(lines []string, is *regexp.Regexp) int {
	for i, line := range lines {
		if is.MatchString(strings.TrimRight(line, "\n")) {
			return i
		}
	}
	return -1
}

// ended returns a line with its line break, which the last one of a file may lack.
func ended(line string) string {
	if line == "" || strings.HasSuffix(line, "\n") {
		return line
	}
	return line + "\n"
}

// beside adds lines before the first setting of a mapping and the comments that belong to it.
func (p pairing) beside(text string, mapping ast.Node, lines func(indent int) string) (string, error) {
	m, ok := mapping.(*ast.MappingNode)
	if !ok || m.IsFlowStyle || len(m.Values) == 0 {
		return "", errors.New("the configuration writes channels in braces")
	}
	at := m.Values[0].Key.GetToken().Position
	all, line := strings.SplitAfter(text, "\n"), at.Line
	for line > 1 && strings.HasPrefix(all[line-2], spaces(at.Column-1)+"#") {
		line--
	}
	return insert(all, line, lines(at.Column-1)), nil
}

// insert adds text before a line. Lines count from 1.
func insert(lines []string, before int, text string) string {
	before = min(before, len(lines)+1)
	return strings.Join(lines[:before-1], "") + text + strings.Join(lines[before-1:], "")
}
