package pairing

import (
	"errors"
	"fmt"
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
	heading string   // the comment over a new section that has no other
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

// into returns the text with the additions, and the changes as lines that start with + or -. It
// only adds lines or extends one, so that comments and order stay.
func (p pairing) into(text []byte) (next []byte, diff []string, err error) {
	now, ending := string(text), "\n"
	if n := strings.Count(now, "\n"); n > 0 && n == strings.Count(now, "\r\n") {
		now, ending = strings.ReplaceAll(now, "\r\n", "\n"), "\r\n" // every line: a file of Windows
	}
	for _, list := range p.lists {
		then, err := p.add(now, list)
		if err != nil {
			return nil, nil, err
		}
		diff = append(diff, changedLines(now, then)...)
		now = then
	}
	return []byte(strings.ReplaceAll(now, "\n", ending)), diff, nil
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
	if err != nil {
		return p.begin(text), nil
	}
	section, err := lookup(file, "$.channels."+p.channel)
	if err != nil {
		return p.another(text, channels)
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

// section returns a new section with all lists.
func (p pairing) section(indent int) string {
	text := spaces(indent) + p.channel + ":\n"
	if p.heading != "" {
		text = spaces(indent) + "# " + p.heading + "\n" + text
	}
	for _, setting := range p.fresh {
		text += spaces(indent+2) + setting + "\n"
	}
	for _, list := range p.lists {
		text += p.list(list, indent+2)
	}
	return text
}

func (p pairing) list(list string, indent int) string {
	return spaces(indent) + list + ":\n" + p.items[list].block(indent+2)
}

func spaces(n int) string { return strings.Repeat(" ", n) }
