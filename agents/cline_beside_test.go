package agents

import (
	"os"
	"path/filepath"
	"testing"

	"approver.example/agents/settings"
)

// The story: a project had a file .env with CLINE_DIR in it. Cline 3.0.65 took that as its own folder, found
// no hook there, and ran every call. A bunfig.toml ran the project's code in Cline. Nothing was reported.
func TestClineIsStartedInAProject(t *testing.T) {
	for _, c := range []struct {
		file, text string
		found      int
	}{
		{".env", "A=1\nCLINE_DIR=/x\n", 1},
		{".env", "\ufeffCLINE_DIR = x", 1},
		{".env", "  export CLINE_JS_RUNTIME_PATH=x\nCLINE_HUB_PORT=1\n", 2},
		{".env", "A=1\rCLINE_DIR=x", 1},
		{".env", "# a comment\rCLINE_DIR=x", 1},
		{".env", "A=1\n\vCLINE_DIR\v=x", 1},
		{".env", "A=1\n\xa0export\xa0CLINE_DIR\xa0=x", 1},
		{".env.local", "CLINE_DIR=x", 1},
		{".env.production.local", "LD_PRELOAD=x", 1},
		{".env", "# CLINE_DIR=x\nCLINE_API_KEY=x\nMY_CLINE_DIR=x\nBUILD_LD_X=1\n", 0},
		{".env.example", "CLINE_DIR=x", 0},
		{"sub/.env", "CLINE_DIR=x", 0},
		{"bunfig.toml", "preload = ['./x.js']\n", 1},
		{"bunfig.toml", "\"pre\\u006coad\" = './x.js'\n", 1},
		{"bunfig.toml", "preload = [\n", 1},
		{"bunfig.toml", "[test]\npreload = ['./x.js']\n", 0},
		{"package.json", "{}", 0},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, c.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := Searcher(cline).Beside(settings.Places{Projects: []string{dir}}, nil, settings.Want{})
		if err != nil || len(settings.Weak(found)) != c.found {
			t.Errorf("%s with %q: %q, %v", c.file, c.text, settings.Weak(found), err)
		}
	}
}
