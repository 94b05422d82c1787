package channeltest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"approver.example/channels/discord"
	"approver.example/channels/slack"
	"approver.example/channels/telegram"
)

// The story (C22): a configuration said how many people must approve, and what silence means. It was read, checked and
// printed, and nothing looked at it. Each setting of each chat is read by code that does not only check it.
func TestEverySettingIsRead(t *testing.T) {
	for name, config := range map[string]any{
		"telegram": telegram.Config{}, "discord": discord.Config{}, "slack": slack.Config{},
	} {
		used := usedFields(t, filepath.Join("..", name))
		settings := reflect.TypeOf(config)
		for i := range settings.NumField() {
			if field := settings.Field(i); field.Tag.Get("yaml") != "-" && !used[field.Name] {
				t.Errorf("%s: nothing reads the setting %s", name, field.Tag.Get("yaml"))
			}
		}
		if settings.NumField() < 4 {
			t.Errorf("%s has only %d settings", name, settings.NumField())
		}
	}
}

// usedFields are the fields that the code in a folder reads outside of functions that validate.
func usedFields(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no code in %s: %v", folder, err)
	}
	used := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range code.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || strings.HasPrefix(strings.ToLower(f.Name.Name), "validate") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if of, is := n.(*ast.SelectorExpr); is && isConfig(of.X) {
					used[of.Sel.Name] = true
				}
				return true
			})
		}
	}
	return used
}

// isConfig reports whether an expression is called like a configuration: c or cfg, or something's cfg.
func isConfig(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "c" || x.Name == "cfg"
	case *ast.SelectorExpr:
		return x.Sel.Name == "cfg"
	}
	return false
}
