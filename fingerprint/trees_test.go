//go:build unix

package fingerprint

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/fingerprint/disk"
)

// bigRepository writes a repository of n files, half of them of Go, and returns its folder.
func bigRepository(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(text), 0o644))
	}
	for name, text := range map[string]string{
		"go.mod": "module m\n", "Makefile": "all:\n\tgo build -o app ./...\n", "Cargo.toml": "x", ".dockerignore": "app\n",
		"Dockerfile":         "FROM x@sha256:0123456789\nCOPY . .\n",
		"kustomization.yaml": "resources: [src]\n", "package.json": `{"scripts":{"build":"go build ./..."}}`,
		".git/config": "[a]\n", "main.go": "package main\nimport _ \"m/src/d001\"\n",
	} {
		write(name, text)
	}
	for i := range n {
		ending := []string{"go", "rs", "go", "yaml"}[i%4]
		text := fmt.Sprintf("a: %d\n", i)
		if ending == "go" {
			text = fmt.Sprintf("package d%03d\n\nimport \"fmt\"\n\nfunc F%d() { fmt.Println(%d) }\n", i/100, i, i)
		}
		write(fmt.Sprintf("src/d%03d/f%d.%s", i/100, i, ending), text)
	}
	return dir
}

// large are commands that read all of a repository, and a file of it that decides for each.
var large = []struct{ command, file string }{
	{"make", "src/d003/f300.go"}, {"go build ./...", "src/d003/f300.go"}, {"go test ./...", "src/d003/f302.go"},
	{"go vet ./... && go test ./...", "src/d003/f302.go"}, {"go generate ./...", "src/d003/f302.go"},
	{"docker build .", "src/d003/f303.yaml"}, {"kubectl apply -k .", "src/d003/f303.yaml"},
	{"npm run build", "src/d003/f300.go"}, {"cargo build", "src/d003/f301.rs"},
}

func largeRepository(t *testing.T) *playground {
	n := 10_000
	if testing.Short() {
		n = disk.MaxTree*4 + 400 // so that a quarter of them is too many
	}
	p := &playground{T: t, dir: bigRepository(t, n), b: New(engine())}
	f, err := os.Open(p.dir)
	must(t, err)
	defer func() { _ = f.Close() }()
	if !disk.TimesHold(f) {
		t.Skip("the times of files on this file system are not trusted: nothing in folders is bound here")
	}
	return p
}

// A team's repository of 10,000 files was "too large": each make, go test and docker build
// was asked about, again and again, and a yes for the session was refused. Now what is too
// many to read is bound by what the kernel says of it: nothing is named, and the binding is
// the same as long as nothing changes.
func TestALargeRepositoryIsBound(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes under the race detector, which has the small folders of the other tests")
	}
	p := largeRepository(t)
	for _, c := range large {
		before, unbound, err := p.b.Files(t.Context(), p.call(c.command))
		if err != nil || len(unbound) > 0 {
			t.Errorf("%s: %q is not bound, %v", c.command, unbound, err)
		}
		again := p.of(c.command)
		if !maps.Equal(before, again) {
			t.Errorf("%s: it differs, and nothing changed", c.command)
		}
		if !stampedIn(before) && !strings.HasPrefix(c.command, "cargo") { // few enough to be read
			t.Errorf("%s: no folder is bound by what the kernel says", c.command)
		}
	}
}

func stampedIn(files map[string]string) bool {
	for _, sum := range files {
		if strings.HasPrefix(sum, disk.StampedSum) {
			return true
		}
	}
	return false
}

// An agent waited for the yes, and then put other code of the same size into one of ten
// thousand files, with the old time of change. The time at which the kernel saw that cannot
// be put back, so nothing runs. Each other way to swap a file is seen as well.
func TestASwapInALargeRepositoryIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes under the race detector, which has the small folders of the other tests")
	}
	p := largeRepository(t)
	swaps := map[string]func(file string){
		"same size, old time": func(file string) {
			info, err := os.Stat(file)
			must(t, err)
			b, err := os.ReadFile(file)
			must(t, err)
			b[len(b)-2] ^= 1
			must(t, os.WriteFile(file, b, 0))
			must(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
		},
		"another file moved there": func(file string) {
			info, err := os.Stat(file)
			must(t, err)
			must(t, os.WriteFile(file+".new", make([]byte, info.Size()), info.Mode()))
			must(t, os.Chtimes(file+".new", info.ModTime(), info.ModTime()))
			must(t, os.Rename(file+".new", file))
		},
		"a link in its place": func(file string) {
			must(t, os.WriteFile(filepath.Join(p.dir, "evil"), []byte("x"), 0o644))
			must(t, os.Remove(file))
			must(t, os.Symlink(filepath.Join(p.dir, "evil"), file))
		},
		"what the link leads to": func(string) { p.write("evil", "y") },
		"removed":                func(file string) { must(t, os.Remove(file)) },
		"a further file": func(file string) {
			must(t, os.WriteFile(filepath.Join(filepath.Dir(file), "zz"+filepath.Ext(file)), []byte("package d003\n"), 0o644))
		},
		"other rights": func(file string) {
			must(t, os.Chmod(filepath.Join(filepath.Dir(file), "zz"+filepath.Ext(file)), 0o600))
		},
	}
	order := []string{"same size, old time", "another file moved there", "a link in its place", "what the link leads to",
		"removed", "a further file", "other rights"}
	commands := large
	if testing.Short() {
		commands = large[1:2]
	}
	for _, c := range commands {
		text, err := os.ReadFile(p.path(c.file))
		must(t, err)
		for _, how := range order {
			before := p.of(c.command)
			swaps[how](p.path(c.file))
			if maps.Equal(before, p.of(c.command)) && (how != "other rights" || stampedIn(before)) {
				t.Errorf("%s: %s: nobody sees it", c.command, how)
			}
		}
		p.write(c.file, string(text))
		must(t, os.Remove(filepath.Join(filepath.Dir(p.path(c.file)), "zz"+filepath.Ext(c.file))))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What a build writes beside its sources does not end a grant.
func TestABuildInALargeRepositoryKeepsItsBinding(t *testing.T) {
	if testing.Short() {
		t.Skip("what takes too long is not bound, and the race detector makes it take long")
	}
	p := largeRepository(t)
	for _, c := range []struct{ command, writes string }{
		{"go build -o app ./...", "app"}, {"go build ./...", "src/d003/d003"}, {"make", "app"}, {"go test ./...", "c.out"},
		{"npm run build", "dist/x.js"}, {"npm run build", "node_modules/.cache/x"}, {"cargo build", "target/debug/x.rs"},
		{"docker build .", "node.log"}, {"kubectl apply -k .", "app"},
	} {
		before := p.of(c.command)
		p.write(c.writes, "v2")
		if !maps.Equal(before, p.of(c.command)) {
			t.Errorf("%s: it wrote %s, and that counts", c.command, c.writes)
		}
	}
}

// What code in a large repository names beyond it is bound as well: a module in another
// folder, a file that is put into the program, a folder that a link leads to.
func TestWhatALargeRepositoryNamesIsBound(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes under the race detector, which has the small folders of the other tests")
	}
	p := largeRepository(t)
	other := t.TempDir()
	must(t, os.WriteFile(filepath.Join(other, "go.mod"), []byte("module z\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(other, "z.go"), []byte("package z\n"), 0o644))
	p.write("go.mod", "module m\nreplace z => "+other+"\n")
	p.write("src/d001/f9.go", "package d001\nimport _ \"z\"\n//go:embed asset.txt\nvar x string\n")
	p.write("src/d001/asset.txt", "v1")
	p.write("src/d001/testdata/broken.go", "pack age")
	before, unbound, err := p.b.Files(t.Context(), p.call("go build ./..."))
	if err != nil || len(unbound) > 0 || before[filepath.Join(other, "z.go")] == "" ||
		before[p.path("src/d001/asset.txt")] == "" {
		t.Errorf("%v is not bound, %v", unbound, err)
	}
	time.Sleep(2100 * time.Millisecond) // what a file says is kept from here on
	p.of("go build ./...")
	p.write("src/d001/f9.go", "package d001\n")
	if after := p.of("go build ./..."); after[filepath.Join(other, "z.go")] != "" {
		t.Error("what an older version of the file said still counts")
	}
	if names := p.unbound("go run ."); len(names) > 0 {
		t.Errorf("go run .: %q", names)
	}
	p.write("src/d001/f9.go", "pack age")
	if names := p.unbound("go build ./..."); len(names) != 1 ||
		!strings.Contains(names[0], "what src/d001/f9.go imports") {
		t.Errorf("a file that cannot be read: %q", names)
	}
}

// BenchmarkLargeRepository is the cost of a card in repositories of some sizes, once what
// files of Go say is known, and for the first time.
func BenchmarkLargeRepository(b *testing.B) {
	for _, n := range []int{10_000, 50_000} {
		dir := bigRepository(b, n)
		time.Sleep(2100 * time.Millisecond)
		for _, c := range large {
			call := approver.ToolCall{Agent: "claude", Tool: "Bash", Command: c.command, Args: []byte(`{}`), Dir: dir,
				Env: benchEnv(dir)}
			warm := New(engine())
			for _, cold := range []bool{true, false} {
				b.Run(fmt.Sprintf("%d/%s/first=%v", n, c.command, cold), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						binder := warm
						if cold {
							binder = New(engine())
						}
						if _, unbound, err := binder.Files(b.Context(), call); err != nil || len(unbound) > 0 {
							b.Fatal(unbound, err)
						}
					}
				})
			}
		}
	}
}
