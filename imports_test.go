package approver_test

import (
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "approver.example"

// goList runs go list with a template over the module.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// layers is the table of the design: a package may import packages of a lower
// layer and its own subpackages, never sideways.
var layers = []struct {
	prefix string
	layer  int
}{
	{"internal/strictyaml", 3}, // the reader of files: it names places in them, which is a word of the root
	{"tokens", 0},
	{"internal/", 0},    // leaves: each by itself, nothing of the project below them
	{"display", 1},      // below the root: it knows texts only, and the gate's own findings are masked too
	{"", 2},             // the root
	{"agents/facts", 0}, // a leaf: a table, which the courier links in
	{"gate", 3},
	{"broadcaster", 3},
	{"agents", 3},
	{"reflexcore", 3},
	{"shieldcore", 3},
	{"audit", 3},
	{"fingerprint", 3},
	{"channels/", 3}, // each channel by itself
	{"store/", 3},    // each store by itself
	{"httpapi", 3},
	{"configs", 4},
	{"daemon", 5},
	{"cmd/", 6},
}

// place returns the layer of a package and the folder that is its unit there.
func place(t *testing.T, pkg string) (layer int, unit string) {
	t.Helper()
	rel := strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
	for _, l := range layers {
		dir := strings.TrimSuffix(l.prefix, "/")
		switch {
		case rel == l.prefix && l.prefix == "":
			return l.layer, ""
		case l.prefix == "" || rel != dir && !strings.HasPrefix(rel, dir+"/"):
			continue
		case strings.HasSuffix(l.prefix, "/"):
			name, _, _ := strings.Cut(strings.TrimPrefix(rel, l.prefix), "/")
			return l.layer, l.prefix + name
		}
		return l.layer, dir
	}
	t.Fatalf("package %s has no place in the design: add it to the table, or move it", pkg)
	return 0, ""
}

// shared lists what every member of a group may import, the common parts of
// the folder, the reader of files, and the one exception: fingerprint reads what
// reflexcore finds.
func shared(from, to string) bool {
	group := func(unit, dir string) bool { return strings.HasPrefix(unit, dir+"/") }
	// fakes and tests use the suite
	common := to == "channels/internal" || to == "channels/intent" || to == "channels/channeltest"
	return group(from, "channels") && common ||
		group(from, "store") && to == "store/internal" ||
		to == "internal/strictyaml" ||
		from == "fingerprint" && to == "reflexcore"
}

func TestImportDirection(t *testing.T) {
	for _, line := range goList(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...") {
		pkg, imports, _ := strings.Cut(line, " ")
		layer, unit := place(t, pkg)
		for imp := range strings.FieldsSeq(imports) {
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				continue
			}
			to, toUnit := place(t, imp)
			switch {
			case to < layer, unit == toUnit, shared(unit, toUnit):
			case layer == 6 && to == 6: // commands share their parts
			default:
				t.Errorf("%s imports %s: imports go tokens, internal <- display <- approver <- {gate broadcaster agents "+
					"reflexcore shieldcore audit fingerprint channels/* store/* httpapi} <- configs <- daemon <- cmd, never sideways",
					pkg, imp)
			}
		}
	}
}

// The words import nothing but codes, so that they stay words.
func TestTheRootStaysSmall(t *testing.T) {
	allowed := map[string]string{
		"approver.example/tokens":       "codes",
		"approver.example/agents/facts": "which tool is an agent's shell, and which words are for its user",
		"approver.example/display":      "what people see of a call",
		"github.com/google/uuid":        "ids of requests and revisions",
	}
	for imp := range strings.FieldsSeq(strings.Join(goList(t, "-f", `{{join .Imports " "}}`, "."), " ")) {
		if strings.Contains(imp, ".") && allowed[imp] == "" {
			t.Errorf("the root imports %s", imp)
		}
	}
	for imp := range strings.FieldsSeq(strings.Join(goList(t, "-f", `{{join .Imports " "}}`, "./tokens"), " ")) {
		if strings.Contains(imp, ".") {
			t.Errorf("tokens imports %s; it uses the standard library only", imp)
		}
	}
}

// The product does not carry its tests' servers around, the demo and the
// benchmark excepted.
func TestFakesStayOutOfTheDaemon(t *testing.T) {
	for _, line := range goList(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...") {
		pkg, imports, _ := strings.Cut(line, " ")
		for imp := range strings.FieldsSeq(imports) {
			fake := strings.HasPrefix(imp, module) && strings.HasSuffix(imp, "test")
			if fake && !strings.HasSuffix(pkg, "test") && !strings.Contains(pkg, "/cmd/approver/demo") &&
				!strings.Contains(pkg, "/cmd/approver/bench") {
				t.Errorf("%s imports the fake %s", pkg, imp)
			}
			if imp == "testing" && !strings.HasSuffix(pkg, "test") {
				t.Errorf("%s imports testing", pkg)
			}
		}
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	for _, line := range goList(t, "-f", `{{.Dir}}|{{join .GoFiles " "}}`, "./...") {
		dir, files, _ := strings.Cut(line, "|")
		documented := false
		for name := range strings.FieldsSeq(files) {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil,
				parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			documented = documented || f.Doc != nil && len(f.Doc.Text()) > 40
		}
		if !documented && files != "" {
			t.Errorf("%s has no package comment", filepath.Base(dir))
		}
	}
}
