package approver_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mayName are the files of the middle that may name a channel or a store, each with the
// reason. A name that ends in a slash is a folder.
var mayName = map[string]string{
	"configs/channels.go":   "the list of channels",
	"configs/store.go":      "the list of stores, and the one that is used where none is set",
	"daemon/words/words.go": "the command that hints name to somebody who has no chat",
	"cmd/approver/bench.go": "its flags name what it measures",
	"cmd/approver/demo.go":  "its flags name what it shows",
	"cmd/approver/bench/":   "it measures each store by name",
	"cmd/approver/demo/":    "it plays three chat apps by name",
	"daemon/daemontest/":    "the places of tests",
}

// ofTerminal is what the commands may import besides: they are the other half of the channel
// terminal, which draws its cards and folds lines at the width of a terminal.
const ofTerminal = "cmd/approver/"

// The story: a fifth channel was forgotten in the list of settings that take people's yes,
// far from its folder. What is particular to a channel or a store is in its folder; the rest
// knows all of them by a list. It is words of code that count, not of comments.
func TestTheMiddleNamesNoChannelAndNoStore(t *testing.T) {
	names := append(members(t, "channels", ""), members(t, "store", "store")...)
	if len(names) < 6 {
		t.Fatalf("only %v", names)
	}
	forbidden := map[string]bool{}
	for _, name := range slices.DeleteFunc(names, isTerminal) {
		forbidden[name], forbidden[name+"store"], forbidden[name+"test"] = true, true, true
	}
	found := map[string]bool{}
	for _, top := range []string{".", "gate", "broadcaster", "httpapi", "audit", "configs", "daemon", "cmd/approver"} {
		err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || top == "." && path != "."):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			for _, at := range namedIn(t, path, forbidden) {
				if allowed := allowedFor(path); allowed != "" {
					found[allowed] = true
					continue
				}
				t.Errorf("%s: what is particular to a channel or a store belongs into its own folder", at)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range mayName {
		if !found[name] {
			t.Errorf("%s names none any more: take it out of the list", name)
		}
	}
}

func isTerminal(name string) bool { return name == "terminal" }

// members are the folders of a group that are members of it: what their names have behind
// suffix is no part of the name.
func members(t *testing.T, group, suffix string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(group)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if name := e.Name(); e.IsDir() && name != "internal" && !strings.HasSuffix(name, "test") {
			names = append(names, strings.TrimSuffix(name, suffix))
		}
	}
	return names
}

// words are the words of a text or an identifier.
var words = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// namedIn are the places of a file whose imports, names or literals have a forbidden word, or that
// import the channel terminal and are no command.
func namedIn(t *testing.T, path string, forbidden map[string]bool) (places []string) {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		text := ""
		switch n := n.(type) {
		case *ast.FuncDecl:
			return n.Name.Name != "Help" // its examples name one
		case *ast.Ident:
			text = n.Name
		case *ast.BasicLit:
			text = n.Value
		default:
			return true
		}
		named := text == `"`+module+`/channels/terminal"` && !strings.HasPrefix(filepath.ToSlash(path), ofTerminal)
		for _, word := range words.FindAllString(text, -1) {
			named = named || forbidden[strings.ToLower(word)]
		}
		if named {
			places = append(places, files.Position(n.Pos()).String()+" "+text[:min(len(text), 60)])
		}
		return true
	})
	return places
}

// allowedFor is the entry of mayName that a file falls under, empty if there is none.
func allowedFor(path string) string {
	path = filepath.ToSlash(path)
	for name := range mayName {
		if path == name || strings.HasSuffix(name, "/") && strings.HasPrefix(path, name) {
			return name
		}
	}
	return ""
}
