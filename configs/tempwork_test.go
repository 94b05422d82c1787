package configs_test

import (
	"os"
	"os/exec"
	"testing"
)

// gitIn runs git in a folder, with nobody's settings. The test is skipped without git.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=ada",
		"GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

// A project below /tmp was taken for temporary files because of its path: `rm -rf src` passed there,
// and nowhere else. Sandboxes and benchmarks put what an agent works on below /tmp, /workspace, /app
// and /testbed.
func TestAProjectBelowTmp(t *testing.T) {
	top, err := os.MkdirTemp("/tmp", "project-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	project, other, clone := top+"/shop", top+"/other", top+"/clone"
	for _, dir := range []string{project, other} {
		put(t, dir, "src/a.go", "package a\n")
		gitIn(t, dir, "init", "-q", "-b", "main")
		gitIn(t, dir, "add", ".")
		gitIn(t, dir, "commit", "-q", "-m", "one")
	}
	put(t, project, "notes/plan.md", "x")
	put(t, project, "node_modules/a/b.js", "x")
	gitIn(t, top, "clone", "-q", "file://"+other, clone)
	put(t, top, "scratch/out.txt", "x")
	judge := in(t, project, map[string]string{"HOME": "/home/ada"})
	asks(t, judge, true, `
		rm -rf notes
		rm -rf .
		rm -rf "$PWD"
		rm -rf .git
		find . -type f -delete
		rm -rf ../other
		rm -rf `+other+`
		rm -rf `+top+`
		rm -rf `+top+`/*
		rm -rf `+top+`/o*
		rm -rf `+other+`/.git
		git clean -fdx`)
	asks(t, judge, false, `
		rm -rf src
		rm -rf node_modules
		rm -rf `+top+`/scratch
		rm -rf `+top+`/sc*
		rm -rf `+clone+`
		rm -f `+top+`/scratch/out.txt
		mkdir -p /tmp/x/y && rm -rf /tmp/x
		d=$(mktemp -d); git init -q "$d"; rm -rf "$d"
		rm -rf /tmp/not-there`)

	// What was added to the clone is nowhere else.
	for _, work := range []func(){
		func() { put(t, clone, "new.go", "package b\n") },
		func() { gitIn(t, clone, "add", ".") },
		func() { gitIn(t, clone, "commit", "-q", "-m", "two") },
		func() { gitIn(t, clone, "gc", "-q") },
	} {
		work()
		asks(t, judge, true, `rm -rf `+clone)
	}
}

// The folders of containers are projects as any other.
func TestAProjectOfAContainer(t *testing.T) {
	for _, dir := range []string{"/workspace", "/workspace/shop", "/app", "/testbed", "/tmp/shop", "/var/tmp/shop",
		"/dev/shm/shop"} {
		judge := in(t, dir, map[string]string{"HOME": "/root"})
		asks(t, judge, true, `
			rm -rf notes
			rm -rf `+dir+`/*
			chmod -R 777 .`)
		asks(t, judge, false, `
			rm -rf /tmp/x
			echo x > notes/a.md
			mkdir -p src/new`)
	}
}
