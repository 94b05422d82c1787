//go:build unix

package fingerprint

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// started are programs that others start through PATH: what runs, what the makers of a
// system put into its folder ("sys"), what was put into an earlier folder ("own") behind the card.
var started = []struct{ command, files, sys, own string }{
	// Those that lie in a later folder.
	{"git push origin main", gitHead, "ssh", "ssh"},
	{"git commit", gitHead, "vi", "vi"},
	{"git -p log", gitHead, "less", "less"},
	{"npm run x", "package.json={\"scripts\":{\"x\":\"true\"}}", "sh node", "sh"},
	{"npm run x", "package.json={\"scripts\":{\"x\":\"true\"}}", "sh node", "node"},
	{"go build .", "go.mod=module m; main.go=package main", "gcc", "gcc"},
	{"make", "Makefile=all:|\ttrue", "sh", "sh"},
	{"terraform init", "main.tf=x", "git", "git"},
	{"psql -f m.sql", "m.sql=x", "less", "less"},
	{"rsync a host:b", "a=x", "ssh", "ssh"},
	{"./mine", "mine=\x7fELF", "anything", "anything"},
	{"python3 x.py", "x.py=x", "anything", "anything"},
	{"tar xf a.tgz", "a.tgz=x", "gzip", "gzip"},
	{"man x", "", "groff", "groff"},
	{"sudo make", "Makefile=all:|\ttrue", "cc", "cc"},
	{"sh -c 'git push'", gitHead, "ssh", "ssh"},
	{"./t", "t=#!/bin/sh|git push; " + gitHead, "ssh", "ssh"},
	{"git push && true", gitHead, "ssh", "ssh"},
	{"xargs git push < list", gitHead + "list=x", "ssh", "ssh"},
	{"docker compose up", "compose.yaml=x", "runc", "runc"},
	{"pip install .", "setup.py=x", "cc", "cc"},
	{"crontab -e", "", "vi", "vi"},
	// Those that lie nowhere yet.
	{"git push foo::x", gitHead, "", "git-remote-foo"},
	{"git foo", gitHead, "", "git-foo"},
	{"git push", gitHead, "", "ssh"},
	{"git add .", gitHead, "", "git-lfs"},
	{"kubectl foo", "", "kubectl", "kubectl-foo"},
	{"kubectl get pods", "", "kubectl", "aws-iam-authenticator"},
	{"docker foo", "", "docker", "docker-foo"},
	{"docker push x", "", "docker", "docker-credential-desktop"},
	{"cargo foo", "Cargo.toml=x", "cargo", "cargo-foo"},
	{"cargo build", "Cargo.toml=x", "cargo", "rustc"},
	{"go build .", "go.mod=module m; main.go=package main", "go", "gcc"},
	{"aws ssm start-session", "", "aws", "session-manager-plugin"},
	{"protoc --foo_out=. a.proto", "a.proto=x", "protoc", "protoc-gen-foo"},
	{"ansible-playbook site.yml", "site.yml=x", "", "sshpass"},
}

// The story: people allowed "git push". Then a program named ssh appeared in ~/.local/bin,
// which PATH names before the system's folders, and git started it. The folders of PATH that
// an agent can write to now count: what appears there under such a name ends the approval.
func TestWhatProgramsStartThroughPATHIsBound(t *testing.T) {
	for _, c := range started {
		t.Run(c.command+" "+c.own, func(t *testing.T) {
			t.Parallel()
			p := newPlayground(t)
			h := hole{files: c.files + "; own/x=; sys/y="}
			for name := range strings.FieldsSeq(c.sys + " git npm node go make sudo sh") {
				h.files += "; sys/" + name + "=\x7fELF"
			}
			h.lay(p)
			call := p.call(c.command)
			call.Env["PATH"] = p.path("gone") + ":" + p.path("own") + ":" + p.path("sys")
			bind := func() map[string]string {
				files, _, err := p.b.Files(t.Context(), call)
				must(t, err)
				return files
			}
			before := bind()
			if !maps.Equal(before, bind()) {
				t.Fatal("it changes by itself")
			}
			p.write("own/no-such-tool", "v1")
			if !maps.Equal(before, bind()) {
				t.Error("a new tool of another name counts")
			}
			p.write("own/"+c.own, "v1")
			must(t, os.Chmod(p.path("own/"+c.own), 0o755))
			appeared := bind()
			if maps.Equal(before, appeared) {
				t.Errorf("%s appeared, and nobody sees it", c.own)
			}
			p.write("own/"+c.own, "v2")
			if maps.Equal(appeared, bind()) {
				t.Errorf("%s changed, and nobody sees it", c.own)
			}
			must(t, os.Rename(p.path("own"), p.path("gone")))
			p.write("gone/"+c.own, "v1")
			if maps.Equal(before, bind()) {
				t.Errorf("%s appeared in a folder that was not there, and nobody sees it", c.own)
			}
		})
	}
}

// A program that starts no others costs nothing, and does not ask for them.
func TestPlainProgramsStartNothing(t *testing.T) {
	for _, command := range []string{"rm -rf build", "cp a b", "mkdir x", "touch x", "kill 1", "echo x", "cat x"} {
		p := newPlayground(t, "own/x", "sys/ssh")
		call := p.call(command)
		call.Env["PATH"] = p.path("own") + ":" + p.path("sys")
		before, err := p.files(call)
		must(t, err)
		p.write("own/ssh", "v1")
		if after, err := p.files(call); err != nil || !maps.Equal(before, after) {
			t.Errorf("%s: a new ssh counts: %v", command, err)
		}
	}
}
