package approver_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/agents"
	"approver.example/configs"
)

// A block is a fenced piece of a page.
type block struct{ page, kind, text string }

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// pages are README and the pages of channels and agents.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names := []string{"README.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/*.md", "docs/channels/*.md", "docs/agents/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	out := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}

func blocks(t *testing.T, kind string) (out []block) {
	t.Helper()
	for page, text := range pages(t) {
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			if m[1] == kind {
				out = append(out, block{page, kind, m[2]})
			}
		}
	}
	return out
}

// What a page shows as a configuration is one that the daemon takes.
func TestPagesShowGoodConfigurations(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	seen := map[string]bool{}
	for _, b := range blocks(t, "yaml") {
		switch {
		case b.page == "docs/policy.md": // rules, which the tests of shieldcore load
			continue
		case strings.HasPrefix(b.text, "display_information:"): // Slack's manifest, which the tests of channels/slack read
			continue
		}
		c, err := configs.Parse("/etc/x/approver.yaml", []byte(b.text))
		if err != nil {
			t.Errorf("%s:\n%v", b.page, err)
			continue
		}
		if len(c.People()) == 0 || len(c.Destinations()) == 0 {
			t.Errorf("%s shows a configuration in which nobody is asked:\n%s", b.page, b.text)
		}
		seen[b.page] = true
	}
	channels := reflect.TypeFor[configs.Channels]()
	for i := range channels.NumField() {
		if page := "docs/channels/" + channels.Field(i).Tag.Get("yaml") + ".md"; !seen[page] {
			t.Errorf("%s shows no configuration", page)
		}
	}
	if !seen["README.md"] {
		t.Error("README.md shows no configuration")
	}
}

var hookProgram = regexp.MustCompile(`"command": *"(\S+/approver-hook) --agent`)

// The settings of an agent that a page shows are the ones that its adapter makes,
// but for the place of the program.
func TestPagesShowTheHooksSettings(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range blocks(t, "json") {
		program := hookProgram.FindStringSubmatch(b.text)
		if program == nil {
			continue
		}
		name := "claude"
		if of, is := strings.CutPrefix(b.page, "docs/agents/"); is {
			name = strings.TrimSuffix(of, ".md")
		}
		adapter, _ := agents.For(name)
		installer, ok := adapter.(agents.Installer)
		if !ok {
			t.Errorf("%s shows settings of an agent that cannot be installed", b.page)
			continue
		}
		made, err := installer.HookConfig(program[1], "", configs.Default().TTL)
		if err != nil {
			t.Errorf("%s: %v", b.page, err)
			continue
		}
		var shown, want any
		if err := json.Unmarshal([]byte(b.text), &shown); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(made, &want); err != nil {
			t.Fatal(err)
		}
		events, _ := want.(map[string]any)["hooks"].(map[string]any) // the outermost keys of some agents' files
		delete(events, "hooksDisabled")                              // Droid's, in the machine's settings alone
		if !reflect.DeepEqual(shown, want) && !reflect.DeepEqual(shown, any(events)) {
			t.Errorf("%s shows\n%s\nHookConfig makes\n%s", b.page, b.text, made)
		}
		seen[b.page] = true
	}
	for _, page := range []string{"README.md", "docs/agents/claude.md"} {
		if !seen[page] {
			t.Errorf("%s shows no settings of Claude Code", page)
		}
	}
	for _, name := range agents.Names() {
		if _, ok := pages(t)["docs/agents/"+name+".md"]; !ok {
			t.Errorf("docs/agents/%s.md is missing", name)
		}
	}
	// "They fit any ttl up to 280 s" is what the page says.
	edge := func(ttl time.Duration) bool {
		a, errA := agents.Claude{}.HookConfig("/h", "", configs.Default().TTL)
		b, errB := agents.Claude{}.HookConfig("/h", "", ttl)
		return errA == nil && errB == nil && slices.Equal(a, b)
	}
	if !edge(280*time.Second) || edge(281*time.Second) {
		t.Error("the settings do not fit exactly the ttls up to 280 s")
	}
}

var testName = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)[`/]")

// The tests that pages call upon are there.
func TestPagesNameTests(t *testing.T) {
	var code strings.Builder
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]int{}
	for page, text := range pages(t) {
		for _, m := range testName.FindAllStringSubmatch(text, -1) {
			named[page]++
			if !strings.Contains(code.String(), "\nfunc "+m[1]+"(") {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}
	for _, page := range []string{"docs/threat-model.md", "docs/bad-input.md"} {
		if named[page] < 8 {
			t.Errorf("%s names only %d tests", page, named[page])
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)

// A link within the repository leads somewhere.
func TestPagesLink(t *testing.T) {
	n := 0
	for page, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			n++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d links", n)
	}
}
