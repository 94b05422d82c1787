package content

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/effect"
)

func TestReadPrompt(t *testing.T) {
	for _, c := range []struct {
		path, text string
		commands   []string
		adds       string
		hidden     bool
	}{
		{"a.md", "", nil, "", false},
		{"a.md", "Say `x`! And `y`.", nil, "", false},
		{"a.md", "The `!` sign negates `x`.", nil, "", false},
		{"a.md", "Hello!`x`", nil, "", false},
		{"a.md", "!`x`", []string{"x"}, "", false},
		{"a.md", " !`x y` !`z`", []string{"x y", "z"}, "", false},
		{"a.md", "!`x\r\ny`", []string{"x\ny"}, "", false},
		{"a.md", "\u2028!`x`\u3000!`y`", []string{"x", "y"}, "", false},
		{"a.md", "!``", nil, "", false},
		{"a.md", "!`x", nil, "", false},
		{"a.md", "```!\nx\ny\n```", []string{"x\ny"}, "", false},
		{"a.md", "a```! x```", []string{"x"}, "", false},
		{"a.md", "```!\nx", nil, "", false},
		{"a.md", "---\nname: a\nhooks:\n  Stop: []\n---\nx", nil, "hooks", false},
		{"a.md", "---\ndescription: a\nhooks : {}\n---\nx", nil, "hooks", false},
		{"a.md", "---\n? hooks\n: {}\n---\nx", nil, "hooks", true},
		{"a.md", "---\na: b --- c\n---\nhooks: x", nil, "", false},
		{"a.md", "---\n{name: a, hooks\n : {}}\n---\nx", nil, "hooks", true},
		{"a.md", "---\n? \"hooks\" # c\n\n: {}\n---\nx", nil, "hooks", true},
		{"a.md", "---\ndescription: \"style, hooks\"\nname: x\n---\nx", nil, "", false},
		{"a.md", "x\n---\nhooks: y\n---\n", nil, "", false},
		{"a.md", "---\nhooks: y\n", nil, "", false},
		{"a.md", "--- \t\nhooks: y\n---", nil, "hooks", false},
		{"a.md", "---\ndescription: about hooks and servers\n---\n", nil, "", false},
		{"a.md", "---\nmcpServers: [github]\n---\n", nil, "", false},
		{"a.md", "---\nmcpServers: {x: {command: y}}\n---\n", nil, "servers", false},
		{"a.md", "---\n\"h\\u006foks\": 1\n---\n", nil, "hooks", true},
		{"a.md", "---\n<<: *x\n---\n", nil, "hooks", true},
		{"a.md", "---\n*h : 1\n---\n", nil, "hooks", true},
		{"a.md", "\xff\xfea\x00", nil, "", true},
		{"a.md", strings.Repeat("!`x`\n", 65), slices.Repeat([]string{"x"}, 64), "", true},
		{"a.md", "---\n" + strings.Repeat("a: b\n", 20_000) + "---\n", nil, "", true},
		{".gemini/commands/a.toml", "prompt = \"!{a {b} c} d !{e}\"", []string{"a {b} c", "e"}, "", false},
		{".gemini/commands/a.toml", "prompt = \"!`a`\"", nil, "", false},
		{".gemini/commands/a.toml", "prompt = \"\\u0021{a}\"", nil, "", true},
		{".opencode/command/a.md", "x!`y`", []string{"y"}, "", false},
	} {
		p := ReadPrompt(c.path, c.text)
		if !slices.Equal(p.Commands, c.commands) || p.Adds != c.adds || (p.Hidden != "") != c.hidden {
			t.Errorf("%.60q: %q, %q, %q", c.text, p.Commands, p.Adds, p.Hidden)
		}
	}
}

// The patterns of Claude Code 2.1.330.
var (
	itsBlocks = regexp.MustCompile("(?s)```!\\s*\\n?(.*?)\\n?```")
	itsInline = regexp.MustCompile("(?m)(?:^|[\\s\\v\\x{feff}\\p{Z}])!`([^`]+)`")
)

func FuzzReadPrompt(f *testing.F) {
	for _, s := range []string{"!`x`", "a ```! b``` !`c`", "---\nhooks:\n---\n", "!{a{b}}",
		"---\narguments: a b\n---\n!`$a $1 $ARGUMENTS[0]`", "``!``!`a`"} {
		f.Add(s, "y z")
	}
	f.Fuzz(func(t *testing.T, text, args string) {
		for _, p := range []string{"a.md", ".gemini/commands/a.toml", "opencode/command/a.md", "x.json"} {
			got := ReadPrompt(p, text)
			if len(got.Commands) > maxPromptCommands {
				t.Fatalf("%d commands", len(got.Commands))
			}
			if filled, ok := got.Fill(text, args, 0); ok && len(filled) > 2*maxFilled+len(text) {
				t.Fatalf("%d bytes", len(filled))
			}
			if p != "a.md" || got.Hidden != "" {
				continue
			}
			for _, re := range []*regexp.Regexp{itsBlocks, itsInline} {
				for _, m := range re.FindAllStringSubmatch(strings.TrimPrefix(text, "\ufeff"), -1) {
					want := strings.TrimSpace(strings.ReplaceAll(m[1], "\r\n", "\n"))
					if want != "" && !slices.Contains(got.Commands, want) {
						t.Fatalf("%q is not found in %q: %q", want, text, got.Commands)
					}
				}
			}
		}
		Payloads(".claude/commands/a.md", text, DefaultLimits(), func(effect.Payload) {})
		Part(".claude/commands/a.md", text, DefaultLimits(), func(effect.Payload) {})
	})
}
