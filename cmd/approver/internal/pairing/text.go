package pairing

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// A pairing is what to add to a channel's section: one item for each of its lists.
type pairing struct {
	channel string
	fresh   []string // further settings, if the section is new
	lists   []string // in the order of a new section
	items   map[string]item
}

// An item is a plain text, or a mapping with the lines "key: value". The first line, "id: …",
// distinguishes it from other items.
type item struct {
	id    string
	lines []string // of the mapping; none: the item is only the id
}

// is reports whether a node of the list already is the item.
func (i item) is(node ast.Node) bool {
	if len(i.lines) == 0 {
		var id string
		return yaml.NodeToValue(node, &id) == nil && id == i.id
	}
	var have struct {
		ID     string
		Thread int
	}
	if yaml.NodeToValue(node, &have) != nil {
		return false
	}
	if have.Thread != 0 {
		have.ID += "/" + strconv.Itoa(have.Thread)
	}
	return have.ID == i.id
}

// flow returns the item on one line.
func (i item) flow() string {
	if len(i.lines) == 0 {
		return strconv.Quote(i.id)
	}
	return "{" + strings.Join(i.lines, ", ") + "}"
}

// block returns the item as lines of a list.
func (i item) block(indent int) string {
	lines := i.lines
	if len(lines) == 0 {
		lines = []string{strconv.Quote(i.id)}
	}
	var b strings.Builder
	for n, line := range lines {
		start := "- "
		if n > 0 {
			start = "  "
		}
		b.WriteString(spaces(indent) + start + line + "\n")
	}
	return b.String()
}

// emptyChannels matches the line of a channels section without content.
var emptyChannels = regexp.MustCompile(`(?m)^channels:[ \t]*(?:#.*)?$`)

// into returns the text with the additions, and the changes as lines that start with + or -. It
// only adds lines or extends one, so that comments and order stay.
func (p pairing) into(text []byte) (next []byte, diff []string, err error) {
	now := string(text)
	for _, list := range p.lists {
		then, err := p.add(now, list)
		if err != nil {
			return nil, nil, err
		}
		diff = append(diff, changedLines(now, then)...)
		now = then
	}
	return []byte(now), diff, nil
}

// changedLines returns the diff of two texts that differ in one place. It has no context lines,
// because these could contain secrets.
func changedLines(was, becomes string) (diff []string) {
	before, after := strings.Split(was, "\n"), strings.Split(becomes, "\n")
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	for _, line := range before {
		diff = append(diff, "-"+line)
	}
	for _, line := range after {
		diff = append(diff, "+"+line)
	}
	return diff
}

func (p pairing) add(text, list string) (string, error) {
	file, err := parser.ParseBytes([]byte(text), parser.ParseComments)
	if err != nil {
		return "", errors.New("the configuration cannot be read: approver doctor says where")
	}
	channels, err := lookup(file, "$.channels")
	if at := emptyChannels.FindStringIndex(text); err != nil && at != nil {
		return text[:at[1]] + "\n" + p.section(list, 2) + strings.TrimPrefix(text[at[1]:], "\n"), nil
	}
	if err != nil {
		return strings.TrimRight(text, "\n") + "\n\nchannels:\n" + p.section(list, 2), nil
	}
	section, err := lookup(file, "$.channels."+p.channel)
	if err != nil {
		return p.beside(text, channels, func(indent int) string { return p.section(list, indent) })
	}
	node, err := lookup(file, "$.channels."+p.channel+"."+list)
	if err != nil {
		return p.beside(text, section, func(indent int) string { return p.list(list, indent) })
	}
	seq, ok := node.(*ast.SequenceNode)
	if !ok {
		return "", fmt.Errorf("channels.%s.%s is no list", p.channel, list)
	}
	it := p.items[list]
	if slices.ContainsFunc(seq.Values, it.is) {
		return text, nil
	}
	at := seq.Start.Position
	lines := strings.SplitAfter(text, "\n")
	if seq.IsFlowStyle {
		more := it.flow()
		if len(seq.Values) > 0 {
			more += ", "
		}
		line := lines[at.Line-1]
		lines[at.Line-1] = line[:at.Column] + more + line[at.Column:]
		return strings.Join(lines, ""), nil
	}
	return insert(lines, at.Line, it.block(at.Column-1)), nil
}

func lookup(file *ast.File, path string) (ast.Node, error) {
	p, err := yaml.PathString(path)
	if err != nil {
		return nil, err
	}
	node, err := p.FilterFile(file)
	if err == nil && (node == nil || node.Type() == ast.NullType) {
		err = errors.New("it is empty")
	}
	return node, err
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
	return strings.Join(lines[:before-1], "") + text + strings.Join(lines[before-1:], "")
}

func (p pairing) section(list string, indent int) string {
	text := spaces(indent) + p.channel + ":\n"
	for _, setting := range p.fresh {
		text += spaces(indent+2) + setting + "\n"
	}
	return text + p.list(list, indent+2)
}

func (p pairing) list(list string, indent int) string {
	return spaces(indent) + list + ":\n" + p.items[list].block(indent+2)
}

func spaces(n int) string { return strings.Repeat(" ", n) }
