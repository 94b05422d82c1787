package courier

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"approver.example"
	"approver.example/httpapi/wire"
)

// The story: a grant was given with DATABASE_URL of the test database and used with that
// of production, because the daemon believed in variables that the hook did not send.
// All that the daemon looks for is sent.
func TestWhatTheDaemonLooksForIsCarried(t *testing.T) {
	names := 0
	for _, from := range []struct{ file, decl string }{{"../../../environment.go", "alwaysShown"}, {"../../../fingerprint/language.go", "languages"}} {
		file, err := parser.ParseFile(token.NewFileSet(), from.file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch d := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.FuncDecl:
				return d.Name.Name == from.decl
			case *ast.ValueSpec:
				return d.Names[0].Name == from.decl
			case *ast.KeyValueExpr: // of a language only these are variables
				field, ok := d.Key.(*ast.Ident)
				return !ok || field.Name == "options" || field.Name == "paths"
			case *ast.BasicLit:
				list, err := strconv.Unquote(d.Value)
				if err != nil || d.Kind != token.STRING {
					return true
				}
				for name := range strings.FieldsSeq(list) {
					if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_nmpcofigsrthel") != "" || len(name) < 2 || name == "loader" {
						continue
					}
					if names++; !isCarried(name) && !isCarried(name+"X") {
						t.Errorf("%s of %s is not carried", name, from.file)
					}
				}
			}
			return true
		})
	}
	if names < 60 {
		t.Errorf("only %d names were found", names)
	}
}

// What may say to somebody's own program where to act is compared, by a name that no
// shell can have; secrets and what differs from window to window are not sent at all.
func TestFurtherVariablesAreCompared(t *testing.T) {
	if wire.Compared != approver.ComparedEnv {
		t.Error("both ends call them otherwise")
	}
	for _, name := range []string{"TARGET_HOST", "STAGE", "CLUSTER", "deploy_cmd", "APP_DATABASE", "MY_KUBE_CONTEXT", "SERVICE_ENDPOINT", "X_REGION", "TOOL_OPTS", "PRE_HOOKS", "FOO_PATH"} {
		got, err := selectEnv([]string{name + "=x", name + "=y"})
		if err != nil || string(got) != "#"+name+"=x\x00" {
			t.Errorf("%s is sent as %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"TERM", "PWD", "OLDPWD", "SHLVL", "USER", "LANG", "XDG_RUNTIME_DIR", "CLAUDE_PROJECT_DIR", "WINDOWID", "DB_PASSWORD", "API_TOKEN", "X_SECRET", "#HOST", "a-HOST", "LS_COLORS"} {
		if got, err := selectEnv([]string{name + "=x"}); err != nil || len(got) != 0 {
			t.Errorf("%s is sent as %q, %v", name, got, err)
		}
	}
	for _, value := range []string{"\xff\xfe", strings.Repeat("é", maxValue), "https://u:hunter22@h"} {
		got, err := selectEnv([]string{"TARGET_URL=" + value})
		if err != nil || len(got) > maxValue*2 || !utf8.Valid(got) || strings.Contains(string(got), "hunter22") {
			t.Errorf("%.20q is sent as %.60q, %v", value, got, err)
		}
	}
	long := make([]string, 0, 20)
	for i := range 20 {
		long = append(long, "V"+strconv.Itoa(i)+"_PATH="+strings.Repeat("x", maxValue))
	}
	if _, err := selectEnv(long); err == nil {
		t.Error("what is too long to compare is left out without a word")
	}
}
