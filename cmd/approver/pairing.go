package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"approver.example"
	"approver.example/channels/telegram"
)

// A pairing is what is added to a channel's section: to each of its lists an
// item, as the lines of a mapping.
type pairing struct {
	channel string
	fresh   []string            // further settings of a section that is not there yet
	lists   []string            // in the order of a new section
	items   map[string][]string // list → "key: value" lines; the first tells items apart
}

func telegramLines(who approver.Paired, c pairTelegramCmd, settings telegram.Config) pairing {
	p := pairing{channel: "telegram", lists: []string{"chats", "approvers"}, items: map[string][]string{
		"chats":     {"id: " + strconv.Quote(who.Chat)},
		"approvers": {"id: " + strconv.Quote(who.ID), "name: " + strconv.Quote(approver.Visible(who.Name))},
	}}
	if who.Thread != 0 {
		p.items["chats"] = append(p.items["chats"], fmt.Sprintf("thread: %d", who.Thread))
	}
	if c.TokenFile != "" {
		p.fresh = append(p.fresh, "token_file: "+strconv.Quote(settings.TokenFile))
	}
	if c.APIURL != "" {
		p.fresh = append(p.fresh, "api_url: "+strconv.Quote(c.APIURL))
	}
	return p
}

// telegramSection reads what a section says that need not be complete yet.
func telegramSection(text []byte) (found telegram.Config, err error) {
	var doc struct {
		Channels struct {
			Telegram struct {
				Token     string `yaml:"token"`
				TokenFile string `yaml:"token_file"`
				APIURL    string `yaml:"api_url"`
			} `yaml:"telegram"`
		} `yaml:"channels"`
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return found, errors.New("the configuration cannot be read: approver doctor says where")
	}
	t := doc.Channels.Telegram
	return telegram.Config{Token: approver.NewSecret(t.Token), TokenFile: t.TokenFile, APIURL: t.APIURL}, nil
}

// emptyChannels is the line of a group that nothing is in.
var emptyChannels = regexp.MustCompile(`(?m)^channels:[ \t]*(?:#.*)?$`)

// into returns the text with the additions. It adds lines and changes none, so
// that comments and order stay.
func (p pairing) into(text []byte) ([]byte, error) {
	for _, list := range p.lists {
		next, err := p.add(string(text), list)
		if err != nil {
			return nil, err
		}
		text = []byte(next)
	}
	return text, nil
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
	for _, item := range seq.Values {
		var have struct{ ID string }
		if err := yaml.NodeToValue(item, &have); err == nil && "id: "+strconv.Quote(have.ID) == p.items[list][0] {
			return text, nil
		}
	}
	at := seq.Start.Position
	lines := strings.SplitAfter(text, "\n")
	if seq.IsFlowStyle {
		item := "{" + strings.Join(p.items[list], ", ") + "}"
		if len(seq.Values) > 0 {
			item += ", "
		}
		line := lines[at.Line-1]
		lines[at.Line-1] = line[:at.Column] + item + line[at.Column:]
		return strings.Join(lines, ""), nil
	}
	return insert(lines, at.Line, p.item(list, at.Column-1)), nil
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

// beside adds lines before the first setting of a mapping.
func (p pairing) beside(text string, mapping ast.Node, lines func(indent int) string) (string, error) {
	m, ok := mapping.(*ast.MappingNode)
	if !ok || m.IsFlowStyle || len(m.Values) == 0 {
		return "", errors.New("the configuration writes channels in braces")
	}
	at := m.Values[0].Key.GetToken().Position
	return insert(strings.SplitAfter(text, "\n"), at.Line, lines(at.Column-1)), nil
}

// insert adds text before a line, counted from 1.
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
	return spaces(indent) + list + ":\n" + p.item(list, indent+2)
}

func (p pairing) item(list string, indent int) string {
	var b strings.Builder
	for i, line := range p.items[list] {
		start := "- "
		if i > 0 {
			start = "  "
		}
		b.WriteString(spaces(indent) + start + line + "\n")
	}
	return b.String()
}

func spaces(n int) string { return strings.Repeat(" ", n) }
