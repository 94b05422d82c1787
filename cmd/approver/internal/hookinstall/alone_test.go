package hookinstall

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"approver.example/daemon/hookfiles"
)

// The story: eight installs at once ended with exit code 0, and the record had four of them. The daemon did
// not watch the others, and uninstall --all left them where they were.
func TestInstallsAtOnceAreAllRecorded(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	dir := filepath.Join(home, "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	config, program := filepath.Join(home, "approver.yaml"), filepath.Join(home, "approver-hook")
	for path, text := range map[string]string{config: "dir: " + dir + "\n", program: "#!/bin/sh\n"} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"claude", "qwen", "gemini", "kiro", "pi", "cline", "droid", "opencode", "windsurf"}
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			c := AgentCmd{Agent: name, Config: config, Hook: program}
			if err := c.Install(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
	record, err := hookfiles.ReadInstalls(dir)
	if err != nil || len(record.Installs) != len(names) {
		t.Fatalf("%d of %d are recorded: %v", len(record.Installs), len(names), err)
	}
	for _, name := range names {
		all.Go(func() {
			c := UninstallAgentCmd{Agent: name, Config: config}
			if err := c.Run(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
	left, err := os.ReadDir(home)
	if err != nil || len(left) != 3 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
