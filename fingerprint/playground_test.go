//go:build unix

package fingerprint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"approver.example"
	"approver.example/reflexcore"
)

// A playground is a folder with scripts, which is also HOME.
type playground struct {
	*testing.T
	dir string
	b   *Binder
}

// engine walks as the daemon's does; rules do not matter to a walk.
var engine = sync.OnceValue(func() *reflexcore.Engine {
	e, err := reflexcore.New(nil, reflexcore.Limits{})
	if err != nil {
		panic(err)
	}
	return e
})

func newPlayground(t *testing.T, files ...string) *playground {
	p := &playground{T: t, dir: t.TempDir(), b: New(engine())}
	for _, name := range files {
		p.write(name, "v1")
	}
	return p
}

func (p *playground) path(name string) string { return filepath.Join(p.dir, name) }

func (p *playground) write(name, text string) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *playground) call(command string) approver.ToolCall {
	return approver.ToolCall{
		Agent: "claude", Tool: "Bash", Command: command, Dir: p.dir,
		Env: map[string]string{"HOME": p.dir, "PATH": p.path("bin") + ":/nonexistent", "WHERE": "sub"},
	}
}

// of are the files of a command.
func (p *playground) of(command string) map[string]string {
	p.Helper()
	files, err := p.files(p.call(command))
	if err != nil {
		p.Fatalf("%.100s: %v", command, err)
	}
	return files
}

// unbound are the names of what a command does not bind.
func (p *playground) unbound(command string) []string {
	p.Helper()
	_, unbound, err := p.b.Files(p.Context(), p.call(command))
	if err != nil {
		p.Fatalf("%.100s: %v", command, err)
	}
	return unbound
}

// bound are the names below the playground that a command binds.
func (p *playground) bound(command string) []string {
	p.Helper()
	var out []string
	for path := range p.of(command) {
		if rest, ok := strings.CutPrefix(path, p.dir+"/"); ok {
			out = append(out, rest)
		}
	}
	slices.Sort(out)
	return out
}

// files are what a call binds.
func (p *playground) files(call approver.ToolCall) (map[string]string, error) {
	files, _, err := p.b.Files(p.Context(), call)
	return files, err
}
