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
	{"tokens", 0},
	{"", 1}, // the root
	{"agents", 2},
	{"reflexcore", 2},
	{"shieldcore", 2},
	{"audit", 2},
	{"fingerprint", 2},
	{"channels/", 2}, // each channel by itself
	{"store/", 2},    // each store by itself
	{"httpapi", 2},
	{"configs", 3},
	{"daemon", 4},
	{"cmd/", 5},
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
// the folder, and the one exception: fingerprint reads what reflexcore finds.
func shared(from, to string) bool {
	group := func(unit, dir string) bool { return strings.HasPrefix(unit, dir+"/") }
	return group(from, "channels") && (to == "channels/internal" || to == "channels/channeltest") || // fakes and tests use the suite
		group(from, "store") && to == "store/internal" ||
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
			case layer == 5 && to == 5: // commands share their parts
			default:
				t.Errorf("%s imports %s: imports go tokens <- approver <- {agents reflexcore shieldcore audit fingerprint channels/* store/* httpapi} <- configs <- daemon <- cmd, never sideways", pkg, imp)
			}
		}
	}
}

// The words import nothing but codes, so that they stay words.
func TestTheRootStaysSmall(t *testing.T) {
	allowed := map[string]string{
		"approver.example/tokens": "codes",
		"github.com/google/uuid":  "ids of requests and revisions",
		"github.com/gowebpki/jcs": "canonical JSON of fingerprints",
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
			if fake && !strings.HasSuffix(pkg, "test") && !strings.Contains(pkg, "/cmd/approver/demo") && !strings.Contains(pkg, "/cmd/approver/bench") {
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
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
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
