package agents

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"approver.example/agents/facts"
)

// namers are the folders and files outside of this one that may name an agent, and why.
var namers = map[string]string{
	"reflexcore/":           "judges: what agents' programs, texts and settings do on a command line is data there",
	"shieldcore/denylist":   "judges: files of agents' settings that no call may write",
	"shieldcore/heuristics": "judges: the calls of the rules' examples",
	"cmd/approver/demo/":    "plays an agent, with a recorded payload",
	"cmd/approver/bench/":   "plays an agent",

	"cmd/approver-hook/courier/env.go": "which variables of an agent's process count is a rule for every agent's calls",
	"shieldcore/sanitize/json.go":      "keys of results whose values no person wrote, of any agent and server",
}

// words are names that mean something else as well, or are part of a word, as in decline.
var words = map[string]bool{"cursor": true, "copilot": true, "pi": true, "cline": true, "tool_call": true,
	"tool_result": true, "tool_output": true}

// distinct are the names of events and keys that are no plain words.
var distinct = regexp.MustCompile(`_|[a-z][A-Z]`)

// Outside of this folder nobody knows an agent: not its name, its title, the events of its
// hooks, or its folder of settings. What has to be known of one is in its own file.
func TestNobodyElseNamesAnAgent(t *testing.T) {
	var names, inTexts []string
	for _, a := range facts.All() {
		if !words[a.Name] {
			names = append(names, a.Name)
		}
	}
	for _, a := range adapters {
		for _, e := range a.Facts().Events {
			if distinct.MatchString(e.Name) && !words[e.Name] {
				inTexts = append(inTexts, e.Name)
			}
		}
		for _, f := range a.Facts().Returned {
			if distinct.MatchString(f.Key) && !words[f.Key] {
				inTexts = append(inTexts, f.Key)
			}
		}
		if i, ok := a.(Installer); ok {
			inTexts = append(inTexts, i.Files().Folder+"/")
			if title := i.Files().Title; !words[strings.ToLower(title)] {
				inTexts = append(inTexts, title)
			}
		}
	}
	pattern := func(words []string) string { return strings.Join(words, "|") }
	identifier := regexp.MustCompile(`(?i)` + pattern(names))
	text := regexp.MustCompile(`(?i)(?:^|[^a-z])(?:` + pattern(names) + `)(?:[^a-z]|$)|` + pattern(inTexts))
	used := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(path, "../"))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rel == "agents" || d.Name() == "testdata" || strings.HasSuffix(d.Name(), "test") ||
			d.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		exempt := ""
		for place := range namers {
			if strings.HasPrefix(rel, place) {
				exempt = place
			}
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			found := ""
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Ident:
				found = identifier.FindString(n.Name)
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					found = text.FindString(s)
				}
			}
			switch {
			case found == "":
			case exempt != "":
				used[exempt] = true
			default:
				t.Errorf("%s names an agent, %q: it belongs into that agent's file", files.Position(n.Pos()), found)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for place := range namers {
		if !used[place] {
			t.Errorf("%s names no agent any more: take it out of the list", place)
		}
	}
}
