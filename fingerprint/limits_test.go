//go:build unix

package fingerprint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"approver.example/fingerprint/disk"
)

// A limit is one bound of this package and a disk that is beyond it.
type limit struct {
	name, command string
	lay           func(p *playground)
	want          string // a part of a name, or of the error
}

func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, strings.ReplaceAll(format, "%", "%[1]d"), i)
	}
	return b.String()
}

func writes(name, text string) func(*playground) {
	return func(p *playground) { p.write(name, text) }
}

var long = "\n# " + strings.Repeat("x", disk.MaxText) + "\n"

// runners are scripts that run each other, one more than are followed.
func runners(p *playground) {
	for n := range disk.MaxFollowed + 2 {
		p.write(fmt.Sprintf("r%d.sh", n), fmt.Sprintf("#!/bin/sh\nbash ./r%d.sh\n", n+1))
	}
}

// limits are all but two: matches of a pattern, and files of a folder, have their stories.
var limits = []limit{
	{"text of make", "make", writes("Makefile", "all:\n\t./evil.sh"+long), "what Makefile runs"},
	{"text of an included file", "make", func(p *playground) {
		p.write("Makefile", "include x.mk\n")
		p.write("x.mk", "all:\n\t./evil.sh"+long)
	}, "what x.mk runs"},
	{"text of a script", "bash run.sh", writes("run.sh", "./evil.sh"+long), "what run.sh runs"},
	{"text of a script without a name", "bash run", writes("run", "./evil.sh"+long), "what run runs"},
	{"text of package.json", "npm test", writes("package.json",
		`{"scripts":{"test":"./evil.sh"},"x":"`+long[3:len(long)-1]+`"}`), "what package.json runs"},
	{"text of Taskfile", "task x", writes("Taskfile.yml", "cmds: ./evil.sh"+long), "what Taskfile.yml names"},
	{"text of go.mod", "go run .", writes("go.mod", "//"+long[2:]+"module m\n"), "what go.mod names"},
	{"text of a Go file", "go run .", func(p *playground) {
		p.write("go.mod", "module m\n")
		p.write("main.go", "package main\n//"+long[2:]+"import _ \"m/lib\"\n")
	}, "what main.go imports"},
	{"a sparse Go file", "go run .", func(p *playground) {
		p.write("go.mod", "module m\n")
		p.write("main.go", "package main\n")
		if err := os.Truncate(p.path("main.go"), 64<<30); err != nil {
			p.Fatal(err)
		}
	}, "what main.go imports"},
	{"a Go file that is none", "go run .", func(p *playground) {
		p.write("go.mod", "module m\n")
		p.write("main.go", "import main\n")
	}, "what main.go imports"},
	{"a go.mod without a module", "go run .", func(p *playground) {
		p.write("go.mod", "go 1.26\n")
		p.write("main.go", "package main\n")
	}, "what go.mod names"},
	{"text of the settings of git", "git push", writes(".git/config", "[core]\nhooksPath = h"+long),
		"what .git/config names"},
	{"hooks by an odd name", "git push", writes(".git/config", "[core]\nhooksPath = \"h\\x\"\n"),
		"what .git/config names"},
	{"words of settings", "task x", writes("Taskfile.yml", lines(disk.MaxWords+1, "./a% ")+"./evil.sh"),
		"what Taskfile.yml names"},
	{"scripts that run scripts", "bash r0.sh", runners, "what r8.sh runs"},
	{"settings that name settings", "task x", func(p *playground) {
		p.write("Taskfile.yml", "./t0.yml")
		for n := range disk.MaxFollowed + 2 {
			p.write(fmt.Sprintf("t%d.yml", n), fmt.Sprintf("./t%d.yml", n+1))
		}
	}, "what t7.yml names"},
	{"make that runs make", "make -C m0", func(p *playground) {
		for n := range disk.MaxFollowed + 2 {
			p.write(fmt.Sprintf("m%d/Makefile", n), fmt.Sprintf("all:\n\tmake -C ../m%d\n", n+1))
		}
	}, "/Makefile runs"},
	{"npm that runs npm", "npm run a0", writes("package.json", func() string {
		text := `{"scripts":{"z":""`
		for n := range disk.MaxFollowed + 2 {
			text += fmt.Sprintf(`,"a%d":"npm run a%d"`, n, n+1)
		}
		return text + `}}`
	}()), "what package.json runs"},
	{"lines of recipes", "make", writes("Makefile", "all:\n"+lines(disk.MaxWalks+1, "\techo %\n")+"\t./$(X)\n"),
		"further recipes and scripts"},
	{"targets", "make", writes("Makefile", "all: "+lines(maxTargets+1, "t% ")+"z\nz:\n\t./evil.sh\n"),
		"what Makefile runs"},
	{"values", "make", writes("Makefile", func() string {
		text := ""
		for _, c := range "abcdefghi" {
			text += fmt.Sprintf("%c = %s\n", c, strings.Repeat(fmt.Sprintf("$(%c)", c+1), 20))
		}
		return text + "j =\nall:\n\t./$(a)evil.sh\n"
	}()), "what Makefile runs"},
	{"values in values", "make", writes("Makefile", lines(disk.MaxNested+2, "V% = $(W%)\nW% = $(V%1)\n")+
		func() string {
			text := ""
			for n := range disk.MaxNested + 2 {
				text += fmt.Sprintf("A%d = $(A%d)\n", n, n+1)
			}
			return text
		}()+"all:\n\t./$(A0)evil.sh\n"), "what Makefile runs"},
	{"length of a value", "make", writes("Makefile", "A = "+strings.Repeat("x", disk.MaxText/4)+
		"\nall:\n\techo $(A)$(A)$(A)$(A)$(A); ./evil.sh\n"), "what Makefile runs"},
	{"a script that cannot be parsed", "bash run.sh", writes("run.sh", "if then ((\n./evil.sh\n"), "what run.sh runs"},
	{"a package.json that cannot be parsed", "npm test", writes("package.json", `{"scripts":{"test":"./evil.sh",}}`),
		"what package.json runs"},
	{"files of a pattern", "bash ./many/*", func(p *playground) {
		for n := range disk.MaxFiles + 1 {
			p.write(fmt.Sprintf("many/f%05d", n), "")
		}
	}, "names more than 1024"},
	{"folders below **", "bash **/x.sh", func(p *playground) {
		for n := range disk.MaxTree + 1 {
			if err := os.MkdirAll(p.path(fmt.Sprintf("d/%d", n)), 0o755); err != nil {
				p.Fatal(err)
			}
		}
	}, "all folders below"},
	{"folders that words name", "make " + lines(disk.MaxBases+5, "-C d% "), func(p *playground) {
		for n := range disk.MaxBases + 5 {
			p.write(fmt.Sprintf("d%d/Makefile", n), "all:\n\ttrue\n")
		}
	}, "what lies in more than 64 folders"},
	{"packages", "go run .", func(p *playground) {
		p.write("go.mod", "module m\n")
		text := "package main\n"
		for n := range disk.MaxTree + 1 {
			text += fmt.Sprintf("import _ \"m/p%d\"\n", n)
		}
		p.write("main.go", text)
	}, "the packages that"},
	{"a program that is huge", "./huge", func(p *playground) {
		p.write("huge", "")
		if err := os.Truncate(p.path("huge"), disk.MaxCallBytes+1); err != nil {
			p.Fatal(err)
		}
	}, "/huge"},
	{"a long word", "run --files=" + lines(disk.MaxParts+1, "./f%.sh,"), writes("x", ""), "names"},
	{"the kernel's files as code", "bash /proc/self/environ /proc/1/cmdline", writes("x", ""),
		"which the kernel makes up"},
	{"what the agent has open", "bash /dev/fd/9", writes("x", ""), "/dev/fd/9, which is open"},
	{"a pipe in a folder", "kubectl apply -f k8s/", func(p *playground) {
		p.write("k8s/a.yaml", "")
		if err := syscall.Mkfifo(p.path("k8s/b.yaml"), 0o600); err != nil {
			p.Fatal(err)
		}
	}, "k8s/b.yaml, which is no file"},
}

// The story: an agent pads a Makefile with a long comment, or the words of a Taskfile,
// or a folder with empty files. What was too much for this package counted as nothing:
// the card named no script, the script was swapped behind it, and the yes released it.
// Now each bound is an error, or what was not read has a name on the card.
func TestWhatIsBeyondALimitIsNamedOrRefused(t *testing.T) {
	for _, l := range limits {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			p := newPlayground(t, "evil.sh")
			l.lay(p)
			files, unbound, err := p.b.Files(t.Context(), p.call(l.command))
			if err != nil && strings.Contains(err.Error(), l.want) {
				return
			}
			if errors.Is(err, errSlow) { // it is refused, too: the race detector takes longer than people may wait
				t.Skip(err)
			}
			if err != nil || !slices.ContainsFunc(unbound, func(n string) bool { return strings.Contains(n, l.want) }) {
				t.Errorf("%q is not said: %q, %v, %d files", l.want, unbound, err, len(files))
			}
		})
	}
}

// Odd spellings of what names a script bind it, or it is named.
func TestWhatNamesAScriptBindsItOrIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ command, file, text string }{
		"main is no text":      {"npm test", "package.json", `{"scripts":{"test":"./evil.sh"},"main":false}`},
		"a script is no text":  {"npm test", "package.json", `{"scripts":{"test":"./evil.sh","x":1}}`},
		"scripts are null too": {"npm test", "package.json", `{"scripts":null,"scripts":{"test":"./evil.sh"}}`},
		"a mark before it":     {"npm test", "package.json", "\ufeff" + `{"scripts":{"test":"./evil.sh"}}`},
		"two marks":            {"npm test", "package.json", "\ufeff\ufeff" + `{"scripts":{"test":"./evil.sh"}}`},
		"another case":         {"npm test", "package.json", `{"scripts":{"test":"./evil.sh"},"Scripts":{"test":"true"}}`},
		"another case before": {"npm test", "package.json",
			`{"SCRIPTS":{"test":"true"},"scripts":{"test":"./evil.sh","Test":"true"}}`},
		"twice":                {"npm test", "package.json", `{"scripts":{"test":"./evil.sh","test":"true"}}`},
		"twice, the other way": {"npm test", "package.json", `{"scripts":{"test":"true","test":"./evil.sh"}}`},
		"scripts twice":        {"npm test", "package.json", `{"scripts":{"test":"./evil.sh"},"scripts":{}}`},
		"escaped":              {"npm test", "package.json", `{"scr\u0069pts":{"t\u0065st":".\/evil.sh"}}`},
		"a comment":            {"bun test", "package.json", "{// x\n\"scripts\":{\"test\":\"./evil.sh\"}}"},
		"a comma":              {"bun run test", "package.json", `{"scripts":{"test":"./evil.sh"},}`},
		"something behind":     {"npm test", "package.json", `{"scripts":{"test":"./evil.sh"}} {}`},
		"a list":               {"npm test", "package.json", `[{"scripts":{"test":"./evil.sh"}}]`},
		"cut off":              {"npm test", "package.json", `{"scripts":{"test":"./evil.sh"`},
		"deep": {"npm test", "package.json",
			`{"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `,"scripts":{"test":"./evil.sh"}}`},
		"a name that is unknown": {"npm run $X", "package.json", `{"scripts":{"odd":"./evil.sh"}}`},
		"the second of two":      {"npm run a && npm run b", "package.json", `{"scripts":{"a":"true","b":"./evil.sh"}}`},
		"the second target":      {"make a && make b", "Makefile", "S=evil\na:\n\ttrue\nb:\n\t./$(S).sh\n"},
		"an unknown target":      {"make $X", "Makefile", "S=evil\na:\n\ttrue\nb:\n\t./$(S).sh\n"},
		"an unknown need":        {"make", "Makefile", "S=evil\na: $(shell ls)\n\ttrue\nb:\n\t./$(S).sh\n"},
		"many words":             {"task x", "Taskfile.yml", lines(600, "a%.b ") + "./evil.sh"},
		"a name in two scripts":  {"task x", "Taskfile.yml", "«./evil.sh»"},
		"hooks in one line":      {"git push", ".git/config", "[core] hooksPath = .\n"},
		"hooks and a remark":     {"git push", ".git/config", "[core]\n hooksPath = . # x\n"},
		"a script of no kind":    {"bash run", "run", "./evil.sh\n"},
		"a search for logs":      {"find . -name '*.log' -exec bash {} +", "evil.log", "x"},
		"a search in modules":    {"find . -name 'ev*' -exec bash {} +", "node_modules/evil.sh", "x"},
		"a search in any case":   {"find . -iname 'EV*' -exec bash {} +", "evil.sh", "x"},
		"** that is *":           {"bash **/evil.sh", "node_modules/evil.sh", "x"},
	} {
		p := newPlayground(t, "evil.sh")
		p.write(c.file, c.text)
		evil := "evil.sh"
		if strings.Contains(c.file, "evil") {
			evil = c.file
		}
		if !slices.Contains(p.bound(c.command), evil) && p.unbound(c.command) == nil {
			t.Errorf("%s: %s is neither bound nor named: %q", name, evil, p.bound(c.command))
		}
	}
}

// A folder that is a link is gone through like any other, and so is one below it.
func TestFoldersBehindLinksAreBound(t *testing.T) {
	p := newPlayground(t, "far/evil.yaml", "k8s/a.yaml", "hooks/pre-push", ".git/config")
	for link, to := range map[string]string{"link": "far", "k8s/sub": "../far", ".git/hooks": "../hooks"} {
		must(t, os.Symlink(to, p.path(link)))
	}
	for command, want := range map[string]string{"kubectl apply -f link": "far/evil.yaml",
		"kubectl apply -f k8s/": "far/evil.yaml", "git push": "hooks/pre-push"} {
		if got := p.bound(command); !slices.Contains(got, want) {
			t.Errorf("%s binds %q", command, got)
		}
	}
}

// Ordinary projects have nothing that is not bound: a name that is always there would be
// read by nobody.
func TestOrdinaryProjectsAreBound(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes under the race detector, which has the small folders of the other tests")
	}
	p := newPlayground(t, "bin/make", "bin/npm", "bin/go", "bin/terraform", "bin/docker", "bin/kubectl",
		"bin/pytest", "bin/git")
	p.write("app/Makefile", "CFLAGS := $(CFLAGS) -O2\nSRC := $(wildcard *.c)\n.PHONY: all test\nall: $(SRC:.c=.o) "+
		"lib\n\t$(CC) $(CFLAGS) -o app $^\nlib:\n\t@./scripts/build.sh\n%.o: %.c\n\t$(CC) -c $<\n")
	p.write("app/scripts/build.sh", "#!/usr/bin/env bash\nset -euo pipefail\ncd \"$(dirname \"$0\")\"\nfor f in *.c; do "+
		"gcc -c \"$f\" || exit 1; done\n. ./lib.sh\n")
	p.write("app/scripts/lib.sh", "log() { echo \"$@\" >&2; }\n")
	p.write("app/package.json",
		`{"name":"x","main":"index.js","scripts":{"test":"jest --ci","build":"tsc && node build.js"},"jest":{}}`)
	p.write("app/build.js", "x")
	p.write("app/package-lock.json", "{"+strings.Repeat(`"x":"./y.js",`, 200_000)+"}")
	p.write("app/node_modules/.bin/jest", "#!/usr/bin/env node\nrequire('jest')\n")
	p.write("app/node_modules/jest/index.js", "x")
	p.write("app/go.mod", "module example.com/m // x\n\ngo 1.26\n")
	p.write("app/cmd/x/main.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"example.com/m/lib\"\n)\n")
	p.write("app/lib/lib.go", "package lib\n")
	p.write("app/main.tf", lines(3000, "resource \"aws_vpc\" \"v%\" { id = aws_subnet.s%.id\n }\n")+
		"module \"m\" { source = \"./modules/m\" }\n")
	p.write("app/modules/m/main.tf", "variable \"x\" {}\n")
	p.write("app/compose.yaml", "services:\n  web:\n    image: nginx:1.27@sha256:0123\n    env_file: .env.prod\n    "+
		"volumes: [\"./data:/data\", \"/var/run/docker.sock:/var/run/docker.sock\"]\n")
	p.write("app/.env.prod", "A=b\n")
	p.write("app/k8s/a.yaml", "kind: Pod\n")
	p.write("app/.kube/config", "x\n")
	p.write("app/conftest.py", "import pytest\n")
	p.write("app/tests/test_x.py", "def test(): pass\n")
	p.write("app/.git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@github.com:a/b.git\n")
	p.write("app/.git/hooks/pre-commit.sample", "#!/bin/sh\n")
	repo, err := filepath.Abs("..")
	must(t, err)
	for dir, commands := range map[string][]string{
		p.path("app"): {"make", "make -j4 all", "npm test", "npm run build", "go test ./...", "go run ./cmd/x",
			"go build ./cmd/...", "terraform plan", "docker compose up", "docker compose up -d", "kubectl apply -f k8s/",
			"pytest", "git push", "git commit -m 'fix it'", "bash scripts/build.sh", "./scripts/build.sh",
			"git commit -m '" + strings.Repeat("a long text, with a/b: c. ", 300) + "'"},
		repo: {"make", "make test", "go test ./...", "go run ./cmd/approver", "go build ./...", "go vet ./fingerprint",
			"docker build .", "git push", "git commit -am x"},
	} {
		for _, command := range commands {
			call := p.call(command)
			call.Dir = dir
			if files, unbound, err := p.b.Files(t.Context(), call); err != nil || unbound != nil || len(files) < 2 {
				t.Errorf("%s: %.60s: %d files, not bound: %q, %v", filepath.Base(dir), command, len(files), unbound, err)
			}
		}
	}
}

// Whatever a package.json is, it is read or refused.
func FuzzPackageScripts(f *testing.F) {
	f.Add(`{"scripts":{"a":"b","a":1,"x":{}},"Scripts":[]}`)
	f.Add("\ufeff{}")
	f.Fuzz(func(t *testing.T, text string) {
		scripts, err := packageScripts(text)
		for name, all := range scripts {
			if len(all) == 0 {
				t.Errorf("%q has no script (%v)", name, err)
			}
		}
	})
}

// The story: the card shows kubectl --context $(cat ctx). Ada reads the file, which says
// dev, and says yes; the agent writes prod into it. The file counted as only shown to
// the agent, because cat reads it. Now a reader shows only what goes to the agent.
func TestWhatIsReadForAnotherCommandIsBound(t *testing.T) {
	p := newPlayground(t, "ctx", "a.sql", "Makefile", "package.json")
	p.write("Makefile", "all:\n\tkubectl --context $$(cat ctx) delete ns x\n")
	p.write("package.json", `{"scripts":{"test":"kubectl --context $(cat ctx) delete ns x"}}`)
	for _, command := range strings.Split(`kubectl --context $(cat ctx) rollout restart deploy/x
kubectl --context "$(head -1 ctx)" delete ns x
kubectl --context "$(grep . ctx)" delete ns x
kubectl --context `+"`cat ctx`"+` delete ns x
C=$(head -1 ctx); kubectl --context "$C" scale deploy/x
export KUBECONFIG=$(cat ctx); kubectl delete ns x
AWS_PROFILE=$(cat ctx) terraform destroy
psql "$(cat ctx)" -f a.sql
kubectl apply -f <(cat ctx)
cat ctx | kubectl delete -f -
cat ctx | helm upgrade x y -f -
cat ctx | tail -1 | kubectl delete -f -
cat ctx |& wrangler secret put X
cat ctx | while read x; do kubectl delete ns $x; done
cat ctx | { kubectl delete -f -; }
cat ctx | sudo kubectl delete -f -
(cat ctx) | kubectl delete -f -
bash -c 'kubectl --context $(cat ctx) delete ns x'
eval 'kubectl --context $'"(cat ctx) delete ns x"
f() { cat ctx; }; kubectl --context $(f) delete ns x
echo $(echo $(cat ctx)) | xargs kubectl delete ns
kubectl delete ns x <<< "$(cat ctx)"
KUBECONFIG=ctx kubectl apply -f a.yaml
KUBECONFIG=$HOME/ctx kubectl apply -f a.yaml
export KUBECONFIG="ctx"; kubectl delete ns x
env KUBECONFIG=ctx kubectl delete ns x
make
npm test`, "\n") {
		if !slices.Contains(p.bound(command), "ctx") {
			t.Errorf("%q binds %q", command, p.bound(command))
		}
	}
}

// The story: the agent works in a linked working tree, where .git is a file. Nothing of
// the repository was bound, and a hook that was swapped behind the card ran.
func TestLinkedTreesOfGitAreBound(t *testing.T) {
	p := newPlayground(t, "main/.git/hooks/pre-push", "main/.git/config", "tree/hk/pre-push")
	p.write("main/.git/worktrees/tree/commondir", "../..\n")
	p.write("tree/.git", "gitdir: "+p.path("main/.git/worktrees/tree")+"\n")
	p.write("main/.git/config", "[core]\n\thooksPath = hk\n")
	p.write("tree/sub/x", "")
	p.write("odd/.git", "x: y\n")
	for _, command := range []string{"cd tree && git push --force origin f", "cd tree/sub && git commit -m x",
		"git -C tree push"} {
		for _, want := range []string{"main/.git/hooks/pre-push", "main/.git/config", "tree/.git", "tree/hk/pre-push"} {
			if !slices.Contains(p.bound(command), want) {
				t.Errorf("%s does not bind %s: %q", command, want, p.bound(command))
			}
		}
		if got := p.unbound(command); got != nil {
			t.Errorf("%s: %q", command, got)
		}
	}
	if got := p.unbound("cd odd && git push"); got == nil {
		t.Error("a .git that leads nowhere is not named")
	}
}

// In a home of mode 0700 the first card said that a yes did not bind "/home/ada/--force", as if an
// option were a file. For such a word the folder is named; every other keeps its name, and
// something is always said.
func TestAnOptionIsNoName(t *testing.T) {
	p := newPlayground(t)
	p.b.shared.Stat = func(path string) (fs.FileInfo, error) {
		if strings.HasPrefix(path, p.dir+"/") {
			return nil, fs.ErrPermission
		}
		return os.Stat(path)
	}
	folder := "what lies in " + p.dir + "/, which cannot be searched"
	for command, run := range map[string]string{
		"git push --force origin main": "", "git push -f": "", "terraform destroy -auto-approve": "", "rm -rf x": "",
		"rm -- -x": "", "make --always-make": "Makefile",
		"cp --reflink=auto a b": "", "./deploy.sh --force": "deploy.sh", "sh deploy.sh -x": "deploy.sh",
		"python3 run.py --yes":    "run.py",
		"bash -c './in.sh --now'": "in.sh", "node app.js --inspect": "app.js", "source env.sh -v": "env.sh",
		"kubectl delete ns prod --now": "", "npm publish --force": "package.json",
		"docker build -f Other .": "Other", "perl -i x.pl --z": "", "go run main.go -x": "main.go",
		"git -c a.b=c push --force-with-lease": "",
	} {
		names := p.unbound(command)
		for _, name := range names {
			if base := filepath.Base(name); strings.HasPrefix(base, "-") {
				t.Errorf("%s: an option is named as a file: %q", command, names)
			}
		}
		if !slices.Contains(names, folder) {
			t.Errorf("%s: the folder is not named: %q", command, names)
		}
		if run != "" && !slices.Contains(names, p.path(run)) {
			t.Errorf("%s: %s is not named: %q", command, run, names)
		}
	}
}
