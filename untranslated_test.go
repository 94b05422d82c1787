package approver_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// shows are the fields and functions of the channels by which people are shown a text.
var shows = map[string]bool{
	"Label": true, "Placeholder": true, "Title": true, "Text": true, "Content": true, "Details": true, "Submit": true,
	"Close": true, "Description": true, "InputFieldPlaceholder": true, "Caption": true, "title": true,
	"plainText": true, "plainSection": true, "private": true, "note": true, "add": true, "shorten": true, // functions
}

// bare are texts that are the same in every language.
var bare = map[string]bool{"approver": true, "CONFIRM-…": true, "details.txt": true}

// untranslated are the literals with words in a text that people are shown. What goes through Texts, or is a
// message for it, has none.
func untranslated(n ast.Expr) (all []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			_, says := sayers[nameOf(n.Fun)]
			return !says
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			words := verbs.ReplaceAllString(text, "")
			if n.Kind == token.STRING && err == nil && strings.ContainsFunc(words, unicode.IsLetter) && !bare[text] &&
				!strings.HasPrefix(text, "/") && !strings.ContainsAny(text, "<{^") { // no command and no markup
				all = append(all, text)
			}
		}
		return true
	})
	return all
}

// findUntranslated returns the texts of a file that people are shown in English only.
func findUntranslated(f *ast.File) (all []string) {
	look := func(name string, n ast.Expr) {
		if shows[name] {
			all = append(all, untranslated(n)...)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			_, own := n.Fun.(*ast.Ident)
			adds := nameOf(n.Fun) == "add"
			if page := adds && len(n.Args) == 2 && nameOf(n.Args[0]) != ""; page || own && !adds { // a page has styles
				for _, arg := range n.Args {
					look(nameOf(n.Fun), arg)
				}
			}
		case *ast.CompositeLit:
			of := n.Type
			if list, is := of.(*ast.ArrayType); is {
				of = list.Elt
			}
			return nameOf(of) != "Step" // of approver pair
		case *ast.KeyValueExpr:
			look(nameOf(n.Key), n.Value)
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if len(n.Rhs) == len(n.Lhs) {
					look(nameOf(to), n.Rhs[i])
				}
			}
		}
		return true
	})
	return all
}

// A channel shows people nothing that does not go through their language: no label, placeholder or title of
// a dialog, and no text of a message. What approver pair and approver watch print is English.
func TestChannelsShowNothingUntranslated(t *testing.T) {
	files, err := filepath.Glob("channels/*/*.go")
	inner, errInner := filepath.Glob("channels/internal/*/*.go")
	if err != nil || errInner != nil || len(files) < 50 {
		t.Fatal(err, errInner, len(files))
	}
	for _, path := range append(files, inner...) {
		base := filepath.Base(path)
		if strings.HasSuffix(base, "_test.go") || strings.HasPrefix(path, "channels/channeltest/") || base == "config.go" {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range findUntranslated(f) {
			t.Errorf("%s: %q goes past Texts", path, text)
		}
	}
}

func TestUntranslatedIsFound(t *testing.T) {
	for src, want := range map[string]int{
		`var _ = slack.Modal{Title: plainText("Approve")}`:            2, // the field, and the function
		`var _ = discordgo.TextInput{Label: "Type the code"}`:         1,
		`var _ = approver.Outcome{Text: "No: " + err.Error()}`:        1,
		`func f() { out.Text = "Your answer was taken: " + word }`:    1,
		`func f() { p.add(plain, "Why not?") }`:                       1,
		`var _ = discordgo.TextInput{Label: t.Text("Type the code")}`: 0,
		`func f() { p.add(plain, ", " + t.Text("why not?")) }`:        0,
		`var _ = discordgo.TextInput{Placeholder: "CONFIRM-…"}`:       0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+src, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := findUntranslated(f); len(got) != want {
			t.Errorf("%s: %q", src, got)
		}
	}
}
