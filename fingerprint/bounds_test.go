//go:build unix

package fingerprint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"approver.example/fingerprint/disk"
)

// many is a text that is repeated with a number.
func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// A reviewer put what decides behind more of the same than is read: a program in a kubeconfig 40
// levels deep, a value behind 32 others, a text behind 512. It counted as nothing, and he swapped
// what it named. Now what is not read has a name on the card.
func TestWhatIsBehindABoundHasAName(t *testing.T) {
	deep := strings.Repeat(`{"a":`, disk.MaxNested+8) + `{"command":"./evil.sh"}` + strings.Repeat("}", disk.MaxNested+8)
	for _, c := range []struct{ command, file, text, want string }{
		{"kubectl get pods", ".kube/config", deep, "config starts"},
		{"kubectl get pods", ".kube/config", "x: &c ./evil.sh\nusers:\n- exec:\n    command: *c\n", "config starts"},
		{"pnpm -r run a", "pnpm-workspace.yaml", deep, "pnpm-workspace.yaml names"},
		{"nx run a:b", "a/project.json", deep, "project.json runs"},
		{"kubectl apply -k .", "kustomization.yaml", deep, "kustomization.yaml names"},
		{"aws s3 ls", ".aws/config", many(disk.MaxWords+1, "[p%d]\ncredential_process = true\n"), "config names"},
		{"terraform plan", ".terraformrc", many(disk.MaxWords+1, "plugin_cache_dir = \"/usr/%d\"\n"), ".terraformrc names"},
		{"gcc a.c", "a.c", many(disk.MaxWords+1, "#include \"h%d.h\"\n"), "a.c names"},
		{"rake x", "Rakefile", many(disk.MaxWords+1, "require 'x%d'\n"), "Rakefile names"},
		{"cargo build", "Cargo.toml", "[workspace]\nmembers = [" + many(disk.MaxWords+1, "'m%d',") + "]\n",
			"Cargo.toml names"},
		{"helm template ch", "ch/Chart.yaml", many(disk.MaxWords+1, "  repository: file://../c%d\n"), "Chart.yaml names"},
		{"npm ci", ".pnpmfile.cjs", many(disk.MaxWords+1, "require('./m%d')\n"), ".pnpmfile.cjs names"},
		{many(disk.MaxNested+1, "export GIT_SSH=./s%d; ") + "git push", ".git/HEAD", "x", "further values of GIT_SSH"},
		{many(disk.MaxBases+1, "cd /x%d; ") + "KUBECONFIG=evil.sh kubectl get pods", "x", "x", "more than 64 folders"},
		{"make", "Makefile", "VPATH = " + many(disk.MaxBases+1, "d%d ") + "\nall: x\n\t./x\n", "what Makefile runs"},
		{"rake x", "Rakefile", "sh 'sh q'\n", ""},
	} {
		p := newPlayground(t, "evil.sh", "nx.json", "package.json")
		p.write("package.json", "{}")
		p.write("package-lock.json", "{}")
		p.write(c.file, c.text)
		if names := p.unbound(c.command); c.want != "" &&
			!slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, c.want) }) {
			t.Errorf("%.60s: %q is not named: %q", c.command, c.want, names)
		}
	}
}

// A script without an ending that a build file names is bound, however large it is, and named
// where it is too large to be read.
func TestALargeScriptThatABuildFileNames(t *testing.T) {
	p := newPlayground(t)
	p.write("Rakefile", "sh 'sh q'\n")
	p.write("q", strings.Repeat("# x\n", disk.MaxText/4+1))
	if bound := p.bound("rake x"); !slices.Contains(bound, "q") {
		t.Errorf("%q", bound)
	}
	if names := p.unbound("rake x"); !slices.Contains(names, "what q runs") {
		t.Errorf("%q", names)
	}
}

// FuzzYAML: whatever a text of YAML is, it is read to its end.
func FuzzYAML(f *testing.F) {
	for _, text := range []string{
		"", "a: b", "- a\n- b: [c, {d: e}]", "x: &a !t b\ny: *a\nz: {<<: *a}", "? a\n: |\n  b", "---\n---\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		y, err := yamlOf(text)
		again, errAgain := yamlOf(text)
		if (err == nil) != (errAgain == nil) || !slices.Equal(y.texts, again.texts) || len(y.maps) != len(again.maps) {
			t.Errorf("%q: %v, %v", text, y, again)
		}
	})
}
