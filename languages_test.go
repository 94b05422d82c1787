package approver_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"approver.example"
	"approver.example/configs"
	"approver.example/display"
	"approver.example/reflexcore"
)

// sayers are the functions that take texts of approver's own, with the places of those among their
// arguments.
var sayers = map[string][]int{
	"Msg": {0}, "Text": {0}, "Sentence": {0}, "newOutcome": {1}, "none": {1}, "effectOf": {1, 2},
}

// A collector finds the texts in the code that people are shown in their language.
type collector struct {
	consts map[string]string // by folder and name
	said   map[string]string // by text: where
	all    map[string]bool   // every text in the code
}

// collect reads the code of the module, without its tests.
func collect(t *testing.T) collector {
	t.Helper()
	c := collector{map[string]string{}, map[string]string{}, map[string]bool{}}
	fset := token.NewFileSet()
	files := map[string]*ast.File{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (d.Name() == "testdata" || path == "cmd/approver-classifier" || d.Name()[0] == '.' ||
			strings.HasSuffix(d.Name(), "test")):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files[path], err = parser.ParseFile(fset, path, nil, parser.ParseComments)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a constant may be made of later ones
		for path, f := range files {
			c.constants(filepath.Dir(path), f)
		}
	}
	for path, f := range files {
		dir := filepath.Dir(path)
		note := func(n ast.Node, texts ...string) {
			for _, text := range texts {
				if needsTranslation(text) {
					c.said[text] = fset.Position(n.Pos()).String()
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				for _, at := range sayers[nameOf(n.Fun)] {
					if at < len(n.Args) {
						note(n, c.texts(dir, n.Args[at])...)
					}
				}
			case *ast.CompositeLit:
				for _, says := range said(n) {
					note(n, c.texts(dir, says)...)
				}
			case *ast.GenDecl:
				if marked(n.Doc) {
					note(n, c.within(dir, n)...)
				}
			case *ast.FuncDecl:
				if marked(n.Doc) {
					note(n, c.within(dir, n)...)
				}
			case ast.Expr:
				if text, ok := c.value(dir, n); ok {
					c.all[text] = true
				}
			}
			return true
		})
	}
	return c
}

// said are the texts of a Phrase or a Message, or of a list of such.
func said(n *ast.CompositeLit) (texts []ast.Expr) {
	of := n.Type
	list, is := of.(*ast.ArrayType)
	if is {
		of = list.Elt
	}
	if name := nameOf(of); name != "Phrase" && name != "Message" {
		return nil
	}
	all := []ast.Expr{n}
	if is {
		all = n.Elts
	}
	for _, e := range all {
		if lit, one := e.(*ast.CompositeLit); one && (lit == n || lit.Type == nil) && len(lit.Elts) > 0 {
			first := lit.Elts[0]
			if kv, keyed := first.(*ast.KeyValueExpr); keyed {
				first = kv.Value
			}
			texts = append(texts, first)
		}
	}
	return texts
}

// marked reports a declaration whose texts people are shown.
func marked(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return c.Text == "//approver:texts" })
}

func nameOf(n ast.Expr) string {
	switch n := n.(type) {
	case *ast.Ident:
		return n.Name
	case *ast.SelectorExpr:
		return n.Sel.Name
	}
	return ""
}

func (c collector) constants(dir string, f *ast.File) {
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			continue
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			for i, name := range spec.Names {
				if i < len(spec.Values) {
					if text, ok := c.value(dir, spec.Values[i]); ok {
						c.consts[dir+"."+name.Name] = text
					}
				}
			}
		}
	}
}

// value is the text that an expression is: a literal, a constant of its package, or a sum of such.
func (c collector) value(dir string, n ast.Expr) (string, bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(n.Value)
		return text, n.Kind == token.STRING && err == nil
	case *ast.Ident:
		text, ok := c.consts[dir+"."+n.Name]
		return text, ok
	case *ast.BinaryExpr:
		a, one := c.value(dir, n.X)
		b, two := c.value(dir, n.Y)
		return a + b, n.Op == token.ADD && one && two
	}
	return "", false
}

// texts is value, also of each argument of cmp.Or.
func (c collector) texts(dir string, n ast.Expr) (all []string) {
	if call, is := n.(*ast.CallExpr); is && nameOf(call.Fun) == "Or" {
		for _, arg := range call.Args {
			all = append(all, c.texts(dir, arg)...)
		}
	}
	if text, ok := c.value(dir, n); ok {
		all = append(all, text)
	}
	return all
}

// within is every text of several words in a declaration, but not the keys of its maps.
func (c collector) within(dir string, n ast.Node) (all []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if kv, is := n.(*ast.KeyValueExpr); is {
			all = append(all, c.within(dir, kv.Value)...)
			return false
		}
		e, is := n.(ast.Expr)
		if !is {
			return true
		}
		text, ok := c.value(dir, e)
		if ok && strings.Contains(text, " ") {
			all = append(all, text)
		}
		return !ok
	})
	return all
}

var verbs = regexp.MustCompile(`%(\[\d+\])?[a-z%]`)

// needsTranslation reports a text that has words.
func needsTranslation(text string) bool {
	return strings.ContainsFunc(verbs.ReplaceAllString(text, ""), unicode.IsLetter)
}

// losses are what the engine says is lost by the words in its table.
var losses = regexp.MustCompile(`(?m)^[a-z-]+ [0-9]+ ([^:\n]+):`)

// texts are all texts that a language should have, with where they stand.
func texts(t *testing.T, c collector) map[string]string {
	t.Helper()
	all := maps.Clone(c.said)
	rules, err := configs.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		all[r.Reason] = "the rule " + r.ID
	}
	table, err := os.ReadFile("reflexcore/losses.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range losses.FindAllStringSubmatch(string(table), -1) {
		all[m[1]] = "reflexcore/losses.txt"
	}
	for _, label := range append(display.Labels(), "Told to the agent", "Agent says (not checked)", "NOT ISOLATED") {
		all[label] = "a label of a card"
	}
	for _, text := range reflexcore.Texts() {
		all[text] = "reflexcore"
	}
	for cause := range approver.Cause(1 << 6) { // more than there are: of the others it is the same sentence
		all[cause.Sentence()] = "the cause " + cause.String()
	}
	return all
}

// A catalogFile is the catalog of one language, as it stands.
type catalogFile struct {
	Language, Name string
	Reviewed       bool
	Texts          map[string]any
}

func catalogOf(t *testing.T, tag string) catalogFile {
	t.Helper()
	data, err := os.ReadFile("display/texts/" + tag + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var c catalogFile
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestGermanHasEveryText(t *testing.T) {
	german := catalogOf(t, "de")
	all := texts(t, collect(t))
	if len(all) < 500 {
		t.Fatalf("only %d texts were found", len(all))
	}
	for _, text := range slices.Sorted(maps.Keys(all)) {
		if german.Texts[text] == nil {
			t.Errorf("%s: display/texts/de.json lacks %q", all[text], text)
		}
	}
}

func TestEveryTranslationIsUsed(t *testing.T) {
	c := collect(t)
	all := texts(t, c)
	for _, l := range display.Languages() {
		for _, text := range slices.Sorted(maps.Keys(catalogOf(t, l.Tag).Texts)) {
			if all[text] == "" && !c.all[text] {
				t.Errorf("display/texts/%s.json: nothing says %q", l.Tag, text)
			}
		}
	}
}

func TestPageOfLanguages(t *testing.T) {
	all := texts(t, collect(t))
	var table strings.Builder
	table.WriteString("| tag | language | translated | reviewed |\n|---|---|---|---|\n")
	for _, l := range display.Languages() {
		n, of := len(all), catalogOf(t, l.Tag)
		if l.Tag != "en" {
			n = 0
			for text := range all {
				if of.Texts[text] != nil {
					n++
				}
			}
		}
		fmt.Fprintf(&table, "| `%s` | %s | %d of %d, %d %% | %s |\n", l.Tag, l.Name, n, len(all), 100*n/len(all),
			map[bool]string{true: "yes", false: "no"}[l.Reviewed])
	}
	page, err := os.ReadFile("docs/languages.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), table.String()) {
		t.Errorf("docs/languages.md does not have this table:\n%s", table.String())
	}
}
