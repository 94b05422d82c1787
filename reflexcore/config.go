package reflexcore

import (
	"errors"
	"fmt"

	"approver.example/reflexcore/code"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/sqltext"
	"approver.example/reflexcore/tools"
)

// A Config is the section reflex of the configuration: the budgets of the
// analysis of one call. What goes beyond a budget is asked about.
type Config struct {
	Shell   ShellBudget   `yaml:"shell"`
	Decode  DecodeBudget  `yaml:"decode"`
	Code    CodeBudget    `yaml:"code"`
	SQL     SQLBudget     `yaml:"sql"`
	Tools   ToolsBudget   `yaml:"tools"`
	Content ContentBudget `yaml:"content"`
}

// A ShellBudget bounds the walk of command lines, see [shell.Limits].
type ShellBudget struct {
	Bytes        int `yaml:"bytes"`
	Nesting      int `yaml:"nesting"`
	Depth        int `yaml:"depth"`
	Steps        int `yaml:"steps"`
	Expanded     int `yaml:"expanded"`
	Words        int `yaml:"words"`
	Rounds       int `yaml:"rounds"`
	Alternatives int `yaml:"alternatives"`
	Effects      int `yaml:"effects"`
}

// A DecodeBudget bounds the search for encoded texts, see [decode.Limits].
type DecodeBudget struct {
	Depth  int `yaml:"depth"`
	Bytes  int `yaml:"bytes"`
	Layers int `yaml:"layers"`
}

// A CodeBudget bounds the reading of other languages, see [code.Limits].
type CodeBudget struct {
	Bytes  int `yaml:"bytes"`
	Tokens int `yaml:"tokens"`
	Steps  int `yaml:"steps"`
	Depth  int `yaml:"depth"`
}

// An SQLBudget bounds the reading of SQL, see [sqltext.Limits].
type SQLBudget struct {
	Bytes  int `yaml:"bytes"`
	Tokens int `yaml:"tokens"`
	Depth  int `yaml:"depth"`
}

// A ToolsBudget bounds the reading of other tools' arguments, see [tools.Limits].
type ToolsBudget struct {
	Bytes  int `yaml:"bytes"`
	Values int `yaml:"values"`
	Depth  int `yaml:"depth"`
	Links  int `yaml:"links"`
	Bulk   int `yaml:"bulk"`
	File   int `yaml:"file"`
}

// A ContentBudget bounds the reading of what is written to files, see
// [content.Limits].
type ContentBudget struct {
	Bytes    int `yaml:"bytes"`
	YAML     int `yaml:"yaml"`
	Payloads int `yaml:"payloads"`
	Depth    int `yaml:"depth"`
}

// DefaultConfig is what counts where nothing is configured.
func DefaultConfig() Config {
	s, q, t, c := shell.DefaultLimits, sqltext.DefaultLimits(), tools.DefaultLimits(), content.DefaultLimits()
	return Config{
		Shell:   ShellBudget{s.Bytes, s.Nesting, s.Depth, s.Steps, s.Expanded, s.Fields, s.Rounds, s.Alternatives, s.Effects},
		Decode:  DecodeBudget{Depth: 4, Bytes: decode.MaxOutput, Layers: 64},
		Code:    CodeBudget{Bytes: 256 << 10, Tokens: 20_000, Steps: 100_000, Depth: 64},
		SQL:     SQLBudget{q.Bytes, q.Tokens, q.Depth},
		Tools:   ToolsBudget{t.Bytes, t.Args, t.Depth, t.Paths, t.Bulk, t.File},
		Content: ContentBudget{c.Bytes, c.YAML, c.Payloads, c.Depth},
	}
}

// Validate says what is wrong, each problem by the name of its key: a budget of
// nothing would ask about every call, a boundless one would let a call hold the
// daemon.
func (c Config) Validate() error {
	var errs []error
	for _, b := range []struct {
		key       string
		have, max int
	}{
		{"shell.bytes", c.Shell.Bytes, 1 << 20},
		{"shell.nesting", c.Shell.Nesting, 256},
		{"shell.depth", c.Shell.Depth, 32},
		{"shell.steps", c.Shell.Steps, 1_000_000},
		{"shell.expanded", c.Shell.Expanded, 64 << 20},
		{"shell.words", c.Shell.Words, 1 << 20},
		{"shell.rounds", c.Shell.Rounds, 10_000},
		{"shell.alternatives", c.Shell.Alternatives, 1024},
		{"shell.effects", c.Shell.Effects, 1 << 20},
		{"decode.depth", c.Decode.Depth, 16},
		{"decode.bytes", c.Decode.Bytes, 1 << 20},
		{"decode.layers", c.Decode.Layers, 1024},
		{"code.bytes", c.Code.Bytes, 4 << 20},
		{"code.tokens", c.Code.Tokens, 1_000_000},
		{"code.steps", c.Code.Steps, 10_000_000},
		{"code.depth", c.Code.Depth, 256},
		{"sql.bytes", c.SQL.Bytes, 4 << 20},
		{"sql.tokens", c.SQL.Tokens, 1_000_000},
		{"sql.depth", c.SQL.Depth, 64},
		{"tools.bytes", c.Tools.Bytes, 8 << 20},
		{"tools.values", c.Tools.Values, 1 << 20},
		{"tools.depth", c.Tools.Depth, 64},
		{"tools.links", c.Tools.Links, 1024},
		{"tools.bulk", c.Tools.Bulk, 1_000_000},
		{"tools.file", c.Tools.File, 16 << 20},
		{"content.bytes", c.Content.Bytes, 16 << 20},
		{"content.yaml", c.Content.YAML, 64 << 10},
		{"content.payloads", c.Content.Payloads, 100_000},
		{"content.depth", c.Content.Depth, 256},
	} {
		if b.have < 1 || b.have > b.max {
			errs = append(errs, fmt.Errorf("%s must be 1 to %d", b.key, b.max))
		}
	}
	return errors.Join(errs...)
}

// Limits are the same for [New].
func (c Config) Limits() Limits {
	s, sql := c.Shell, sqltext.Limits(c.SQL)
	inFiles := content.Limits(c.Content)
	return Limits{
		Shell: shell.Limits{
			Bytes: s.Bytes, Nesting: s.Nesting, Depth: s.Depth, Steps: s.Steps, Expanded: s.Expanded, Fields: s.Words, Rounds: s.Rounds,
			Alternatives: s.Alternatives, Effects: s.Effects,
		},
		Decode: decode.Limits(c.Decode),
		Code:   code.Limits{Bytes: c.Code.Bytes, Tokens: c.Code.Tokens, Steps: c.Code.Steps, Depth: c.Code.Depth},
		SQL:    sql,
		Tools: tools.Limits{
			Bytes: c.Tools.Bytes, Args: c.Tools.Values, Depth: c.Tools.Depth, Paths: c.Tools.Links, Bulk: c.Tools.Bulk, File: c.Tools.File,
			Content: inFiles, SQL: sql,
		},
	}
}
