//go:build unix

package fingerprint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/fingerprint"
	"approver.example/reflexcore"
	"approver.example/store/sqlitestore"
	"github.com/google/uuid"
)

// A chatChannel is a chat and an audit in one.
type chatChannel struct {
	reply approver.ReplyFunc
	ready chan struct{}
	cards chan approver.Card
}

func (r *chatChannel) Name() string { return "room" }

func (r *chatChannel) Run(ctx context.Context, reply approver.ReplyFunc) error {
	r.reply = reply
	close(r.ready)
	<-ctx.Done()
	return nil
}

func (r *chatChannel) Post(_ context.Context, to approver.Destination, c approver.Card) (approver.Ref, error) {
	r.cards <- c
	return approver.Ref{Destination: to, Message: c.Request}, nil
}

func (r *chatChannel) Update(context.Context, approver.Ref, approver.Card) error { return nil }

func (r *chatChannel) Record(context.Context, approver.Record) (string, error) { return "hash", nil }

// A fixture is a broadcaster with the real engine, and a folder in which an agent works.
type fixture struct {
	*testing.T
	*chatChannel
	dir     string
	session string
	people  *broadcaster.Broadcaster
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	silent := slog.New(slog.DiscardHandler)
	store, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "db")}, silent)
	must(t, err)
	engine := shared()
	h := &fixture{T: t, dir: t.TempDir(), session: uuid.NewString(),
		chatChannel: &chatChannel{ready: make(chan struct{}), cards: make(chan approver.Card, 16)}}
	people := approver.People{}
	people.Add("room", []approver.Approver{{ID: "1", Name: "Ada"}})
	binder := fingerprint.New(engine)
	must(t, broadcaster.BeginControls(t.Context(), store))
	h.people, err = broadcaster.NewBroadcaster(broadcaster.Options{
		Store: store, Audit: h.chatChannel, People: people, Channels: []approver.Channel{h.chatChannel},
		Destinations: []approver.Destination{{Channel: "room", Conversation: "r"}},
		Fingerprint: func(ctx context.Context, call approver.ToolCall) (approver.Binding, error) {
			return binder.Of(ctx, call, "rules")
		},
		Limit: func(context.Context, string, approver.ToolCall) error { return nil }, CodeKey: make([]byte, 32), Log: silent,
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = h.people.Run(ctx) })
	<-h.ready
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// shared is the engine of all houses; a walk remembers nothing.
var shared = sync.OnceValue(func() *reflexcore.Engine {
	engine, err := reflexcore.New(nil, reflexcore.Limits{})
	if err != nil {
		panic(err)
	}
	return engine
})

func (h *fixture) write(name, text string) {
	h.Helper()
	file := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		h.Fatal(err)
	}
}

func (h *fixture) env() map[string]string {
	return map[string]string{"PATH": filepath.Join(h.dir, "bin") + ":/usr/bin:/bin", "HOME": h.dir}
}

// asks is the hook of a call. It returns at once; people are asked, or not.
func (h *fixture) asks(command string) <-chan approver.Verdict {
	h.Helper()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		h.Fatal(err)
	}
	call := approver.ToolCall{
		ID: strings.ReplaceAll(uuid.NewString(), "-", ""), Agent: "claude", Tool: "Bash", Session: h.session,
		Command: command, Args: args, Dir: h.dir, Env: h.env(), At: time.Now(),
	}
	ctx, cancel := context.WithTimeout(h.Context(), time.Minute)
	h.Cleanup(cancel)
	out := make(chan approver.Verdict, 1)
	go func() {
		out <- h.people.Ask(ctx, call, approver.Verdict{Decision: approver.Ask, Severity: approver.High,
			TTL: 50 * time.Second})
	}()
	return out
}

// card is the next card, or nothing if the call is answered without one.
func (h *fixture) card(answer <-chan approver.Verdict) (c approver.Card, asked bool, v approver.Verdict) {
	h.Helper()
	select {
	case c = <-h.cards:
		return c, true, v
	case v = <-answer:
		return c, false, v
	case <-time.After(30 * time.Second):
		h.Fatal("no card and no answer")
		return c, false, v
	}
}

func (h *fixture) says(c approver.Card, yes bool, term approver.Term) approver.Outcome {
	return h.reply(h.Context(), approver.Reply{
		Channel: "room", Conversation: "r", Sender: "1", Approve: yes, Method: approver.ByCommand, Code: c.Code, Grant: term,
		Message: c.Request,
	})
}

// runs does what an agent does with the answer.
func (h *fixture) runs(command string, v approver.Verdict) {
	if v.Decision != approver.Allow {
		return
	}
	c := exec.CommandContext(h.Context(), "bash", "-c", command)
	c.Dir, c.Env = h.dir, []string{}
	for k, v := range h.env() {
		c.Env = append(c.Env, k+"="+v)
	}
	_ = c.Run() // a tool may not be installed; the marker tells
}

func (h *fixture) ran(marker string) bool {
	_, err := os.Stat(filepath.Join(h.dir, marker))
	return err == nil
}

const script, evil = "#!/bin/bash\ntouch \"$HOME/honest\"\n", "#!/bin/bash\ntouch \"$HOME/evil\"\n"

// A spelling is a way to run a file, or to have a tool read it.
type spelling struct {
	command string
	file    string            // that is swapped; "deploy.sh" if empty
	more    map[string]string // further files
	runs    bool              // bash alone runs it: that is proved
	before  string            // the honest content; the script if empty
	after   string
}

var spellings = []spelling{
	// The script by another name.
	{command: "bash ./deploy.sh", runs: true},
	{command: "sudo bash ./deploy.sh"},
	{command: "./dep*.sh", runs: true},
	{command: "sudo bash ./dep*.sh"},
	{command: "bash deploy.s?", runs: true},
	{command: "bash deploy[.]sh", runs: true},
	{command: "bash [!x]eploy.sh", runs: true},
	{command: "$(pwd)/deploy.sh", runs: true},
	{command: "`pwd`/deploy.sh", runs: true},
	{command: "D=deploy; ./$D.sh", runs: true},
	{command: "D=dep; ./${D}loy.sh", runs: true},
	{command: "./deploy.{sh,none}", runs: true},
	{command: "bash ./{deploy,none}.sh", runs: true},
	{command: "~+/deploy.sh", runs: true},
	{command: "~/deploy.sh", runs: true},
	{command: "./deploy$'\\x2e'sh", runs: true},
	{command: "./dep\"l\"oy'.'sh", runs: true},
	{command: "./dep\\loy.sh", runs: true},
	{command: "${PWD%/}/deploy.sh", runs: true},
	{command: "$PWD/sub/../deploy.sh", more: map[string]string{"sub/x": ""}, runs: true},
	{command: "cd sub && ../deploy.sh", more: map[string]string{"sub/x": ""}, runs: true},
	{command: "cd s* && ../deploy.sh", more: map[string]string{"sub/x": ""}, runs: true},
	{command: "find . -name 'dep*.sh' -exec bash {} \\;", runs: true},
	{command: "find . -name deploy.sh -exec {} \\;", runs: true},
	{command: "find . -name deploy.sh | xargs bash", runs: true},
	{command: "echo ./deploy.sh | xargs bash", runs: true},
	{command: "for f in dep*.sh; do bash \"$f\"; done", runs: true},
	{command: "for f in ./deploy.sh; do $f; done", runs: true},
	{command: "f() { \"$@\"; }; f ./deploy.sh", runs: true},
	{command: "bash < deploy.sh", runs: true},
	{command: "cat deploy.sh | bash", runs: true},
	{command: "bash -c \"$(cat deploy.sh)\"", runs: true},
	{command: "eval \"$(<deploy.sh)\"", runs: true},
	{command: ". ./deploy.sh", runs: true},
	{command: "source deploy.sh", runs: true},
	{command: "BASH_ENV=./deploy.sh bash -c true", runs: true},
	{command: "bash <(cat deploy.sh)", runs: true},
	{command: "exec ./deploy.sh", runs: true},
	{command: "command bash deploy.sh", runs: true},
	{command: "env -i bash deploy.sh"},
	{command: "timeout 9 nice ./deploy.sh", runs: true},
	{command: "alias x=./deploy.sh; shopt -s expand_aliases; bash ./deploy.sh", runs: true},
	{command: "PATH=$PWD:$PATH deploy.sh", runs: true},
	{command: "trap ./deploy.sh EXIT", runs: true},
	{command: "python3 -c 'import os; os.system(\"./deploy.sh\")'", runs: true},
	{command: "awk 'BEGIN { system(\"./deploy.sh\") }'", runs: true},
	{command: "go=deploy; bash -c \"./$go.sh\"", runs: true},
	{command: "./link", more: map[string]string{}, runs: true},
	{command: "./outer.sh", more: map[string]string{"outer.sh": "#!/bin/sh\n. ./deploy.sh\n"}, runs: true},
	{command: "tool", file: "bin/tool", runs: true},
	{command: "xtool ./deploy.sh"},
	// Tools, and what they read by themselves.
	{command: "sudo make deploy", file: "Makefile", before: "deploy:\n\techo\n", after: "deploy:\n\ttouch evil\n"},
	{command: "make", file: "inc.mk", more: map[string]string{"Makefile": "include *.mk\nall: deploy\n"},
		before: "deploy:\n\techo\n", after: "deploy:\n\ttouch evil\n"},
	{command: "make -C sub deploy", file: "sub/Makefile", before: "deploy:\n", after: "deploy:\n\ttouch evil\n"},
	{command: "make deploy", more: map[string]string{"Makefile": "S = deploy\nall:\ndeploy: " +
		"check\n\t@./$(S).sh\ncheck:\n\ttrue\n"}},
	{command: "just deploy", file: "justfile", before: "deploy:\n", after: "deploy:\n\ttouch evil\n"},
	{command: "npm publish", file: "package.json", before: `{}`, after: `{"scripts":{"prepublishOnly":"touch evil"}}`},
	{command: "npm publish", file: "dist/index.js", more: map[string]string{"package.json": `{}`}},
	{command: "npm run release", more: map[string]string{
		"package.json": `{"scripts":{"release":"node -e 1 && ./deploy.sh"}}`}},
	{command: "yarn release", file: "node_modules/.bin/shipit",
		more: map[string]string{"package.json": `{"scripts":{"release":"shipit"}}`}},
	{command: "yarn shipit --now", file: "node_modules/.bin/shipit", more: map[string]string{"package.json": `{}`}},
	{command: "pnpm -C sub run x", file: "sub/package.json", before: `{}`, after: `{"scripts":{"x":"touch evil"}}`},
	{command: "terraform apply -auto-approve", file: "main.tf", before: "a", after: "b"},
	{command: "terraform -chdir=infra apply", file: "infra/main.tf", before: "a", after: "b"},
	{command: "terraform apply", file: "mod/x/main.tf",
		more: map[string]string{"main.tf": "module \"x\" { source = \"./mod/x\" }"}, before: "a", after: "b"},
	{command: "tofu apply plan.out", file: "plan.out", before: "a", after: "b"},
	{command: "docker compose up -d", file: "docker-compose.yml", before: "a", after: "b"},
	{command: "docker compose up", file: ".env.prod", more: map[string]string{"compose.yaml": "env_file: .env.prod"},
		before: "a", after: "b"},
	{command: "docker-compose -f c.yml up", file: "c.yml", before: "a", after: "b"},
	{command: "docker build -t x .", file: "Dockerfile", before: "a", after: "b"},
	{command: "docker build .", file: "src/app.py", more: map[string]string{"Dockerfile": "COPY . ."}, before: "a",
		after: "b"},
	{command: "kubectl apply -f k8s/a.yaml", file: "k8s/a.yaml", before: "a", after: "b"},
	{command: "kubectl apply -f k8s/", file: "k8s/a.yaml", before: "a", after: "b"},
	{command: "kubectl apply -f 'k8s'", file: "k8s/new.yaml", more: map[string]string{"k8s/a.yaml": "a"}, before: "-",
		after: "b"},
	{command: "kubectl apply -k over", file: "over/kustomization.yaml", before: "a", after: "b"},
	{command: "kubectl delete ns web", file: ".kube/config", before: "staging", after: "production"},
	{command: "helm upgrade x ./chart -f v.yaml", file: "chart/templates/a.yaml", before: "a", after: "b"},
	{command: "ansible-playbook site.yml", file: "roles/x/tasks/main.yml", more: map[string]string{"site.yml": "x"},
		before: "a", after: "b"},
	{command: "go run .", file: "main.go", more: map[string]string{"go.mod": "module m\n"}, before: "package main",
		after: "package  main"},
	{command: "go run ./cmd/x", file: "lib/lib.go",
		more:   map[string]string{"go.mod": "module m\n", "cmd/x/main.go": "package main\nimport _ \"m/lib\"\n"},
		before: "package lib", after: "package  lib"},
	{command: "go generate ./...", file: "a/b/c.go", more: map[string]string{"go.mod": "module m\n"}, before: "package b",
		after: "package  b"},
	{command: "cargo publish", file: "build.rs", more: map[string]string{"Cargo.toml": ""}, before: "a", after: "b"},
	{command: "cargo run", file: "src/main.rs", more: map[string]string{"Cargo.toml": ""}, before: "a", after: "b"},
	{command: "tox -e deploy", file: "tox.ini", before: "a", after: "b"},
	{command: "python3 -m pkg.run", file: "pkg/run.py", before: "a", after: "b"},
	{command: "pip install .", file: "setup.py", before: "a", after: "b"},
	{command: "poetry publish", file: "dist/x.whl", more: map[string]string{"pyproject.toml": ""}, before: "a",
		after: "b"},
	{command: "rake deploy", file: "Rakefile", before: "a", after: "b"},
	{command: "git commit -m x", file: ".git/hooks/pre-commit"},
	{command: "git push --force origin main", file: ".git/config", before: "[a]\nb = c\n", after: "[a]\nb = d\n"},
	{command: "git push", file: "hooks/pre-push", more: map[string]string{".git/config": "[core]\n\thooksPath = hooks\n"}},
	{command: "psql -f m.sql", file: "m.sql", before: "a", after: "b"},
	{command: "mysql db < m.sql", file: "m.sql", before: "a", after: "b"},
	{command: "cat m.sql | psql", file: "m.sql", before: "a", after: "b"},
	{command: "fly deploy", file: "fly.toml", before: "a", after: "b"},
	{command: "wrangler deploy", file: "wrangler.toml", before: "a", after: "b"},
	{command: "gradle publish", file: "build.gradle", before: "a", after: "b"},
	{command: "./mvnw deploy", file: "pom.xml", before: "a", after: "b"},
	{command: "vagrant up", file: "Vagrantfile", before: "a", after: "b"},
	{command: "pulumi up", file: "Pulumi.yaml", before: "a", after: "b"},
	{command: "cmake --install .", file: "cmake_install.cmake", before: "a", after: "b"},
}

func (h *fixture) lays(s *spelling) {
	h.Helper()
	if s.file == "" {
		s.file = "deploy.sh"
	}
	if s.before == "" {
		s.before, s.after = script, evil
	}
	for name, text := range s.more {
		h.write(name, text)
	}
	if s.before != "-" {
		h.write(s.file, s.before)
	}
	if s.command == "./link" {
		if err := os.Symlink("deploy.sh", filepath.Join(h.dir, "link")); err != nil {
			h.Fatal(err)
		}
	}
}

// The story: an agent asks for a deployment. While Ada reads the card, it writes
// another script. It used not to show if the script was not named by a plain word: her
// yes released a command that she had never seen. Whatever the spelling, the call is
// denied now, and the script does not run.
func TestWhatWasSwappedBehindTheCardDoesNotRun(t *testing.T) {
	for _, s := range slices.Concat(spellings, loads) {
		t.Run(s.command, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			h.lays(&s)
			if s.runs { // the spelling does lead to the script
				if h.runs(s.command, approver.Verdict{Decision: approver.Allow}); !h.ran("honest") {
					t.Skip("this machine's bash does not run it")
				}
			}
			answer := h.asks(s.command)
			card, asked, v := h.card(answer)
			if !asked {
				t.Fatalf("nobody was asked: %+v", v)
			}
			if strings.Contains(warned(card), "can change after you answer") {
				t.Errorf("the card says %q", warned(card))
			}
			h.write(s.file, s.after)
			h.says(card, true, approver.Term{})
			v = <-answer
			if v.Decision != approver.Deny {
				t.Errorf("%s was released after %s was swapped: %+v", s.command, s.file, v)
			}
			if h.runs(s.command, v); h.ran("evil") {
				t.Error("and it ran")
			}
		})
	}
}

// appearing are files that were not there when people were asked.
var appearing = []struct{ command, file, more string }{
	{"git push origin main", "bin/ssh", ".git/HEAD"},
	{"git push x::y", "bin/git-remote-x", ".git/HEAD"},
	{"npm run x", "bin/sh", "package.json"},
	{"LD_LIBRARY_PATH=lib ls -l", "lib/libselinux.so.1", "a"},
	{"DOCKER_CONFIG=v docker compose down", "v/cli-plugins/docker-compose", "a"},
	{"python3 a.py", "json.py", "a.py"},
	{"gradle build", ".gradle/init.d/x.gradle", "build.gradle"},
	{"cd sub && git commit -m x", ".git/hooks/pre-commit", ".git/HEAD"},
}

// The story: nothing lay at ~/bin/ssh when Ada said yes to git push for the session. Then the
// agent put a program there, and the same command ran it. What appears where the command
// would find it first stops the call that waits, and ends the grant.
func TestWhatAppearsBehindTheCardDoesNotRun(t *testing.T) {
	for _, c := range appearing {
		t.Run(c.command, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			h.write("bin/x", script)
			h.write("sub/x", script)
			h.write(c.more, "{}")
			answer := h.asks(c.command)
			card, _, _ := h.card(answer)
			out := h.says(card, true, approver.Term{Session: true})
			if v := <-answer; out.Kind != approver.OutcomeApproved || v.Decision != approver.Allow {
				t.Fatalf("a yes for the session: %+v, %+v", out, v)
			}
			if _, asked, v := h.card(h.asks(c.command)); asked || v.Decision != approver.Allow {
				t.Errorf("nothing changed, and the grant does not hold: asked %v, %+v", asked, v)
			}
			h.write(c.file, evil)
			answer = h.asks(c.command)
			card, asked, v := h.card(answer)
			if !asked {
				t.Fatalf("%s appeared, and nobody was asked: %+v", c.file, v)
			}
			must(t, os.Remove(filepath.Join(h.dir, c.file)))
			h.says(card, true, approver.Term{})
			if v := <-answer; v.Decision != approver.Deny {
				t.Errorf("%s is another one by now, and the call was released: %+v", c.file, v)
			}
		})
	}
}

// The story: Ada said yes for the session. The agent then writes another script, and the
// same command ran it without a card. Now the grant is for what she saw: as long as
// nothing changes the command runs, and after that she is asked again.
func TestAGrantEndsWithWhatItWasFor(t *testing.T) {
	for n, s := range slices.Concat(spellings, loads) {
		t.Run(s.command, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			h.lays(&s)
			term := approver.Term{Session: true}
			if n%2 == 1 {
				term = approver.Term{For: 15 * time.Minute}
			}
			answer := h.asks(s.command)
			card, _, _ := h.card(answer)
			if out := h.says(card, true, term); out.Kind != approver.OutcomeApproved {
				t.Fatalf("a yes for %s: %+v", term, out)
			}
			if v := <-answer; v.Decision != approver.Allow {
				t.Fatalf("nothing changed, and the call was not released: %+v", v)
			}
			for range 2 {
				if _, asked, v := h.card(h.asks(s.command)); asked || v.Decision != approver.Allow {
					t.Errorf("nothing changed, and the grant does not hold: asked %v, %+v", asked, v)
				}
			}
			h.write(s.file, s.after)
			answer = h.asks(s.command)
			card, asked, v := h.card(answer)
			if !asked {
				t.Fatalf("%s changed, and nobody was asked: %+v", s.file, v)
			}
			h.says(card, false, approver.Term{})
			if v := <-answer; v.Decision != approver.Deny {
				t.Errorf("%+v", v)
			}
		})
	}
}

// What cannot be bound has a name on the card, and no grant that lasts.
func TestWhatCannotBeBoundHasAName(t *testing.T) {
	for command, name := range map[string]string{
		"$OLDPWD/../x/deploy.sh":                ".../../x/deploy.sh",
		"./$X.sh":                               "./....sh",
		"bash ./$X.sh":                          "bash ./....sh",
		"bash $F":                               "bash ...",
		"$TOOL deploy":                          "... deploy",
		"cd $X && ./deploy.sh":                  "./deploy.sh, in a folder that is not known",
		"cd $X && make deploy":                  "make deploy, in a folder that is not known",
		"for f in $(ls *.sh); do bash $f; done": "bash ...",
		"bash $PWD/$X/deploy.sh; find . -name deploy.sh": ".../deploy.sh",
		"npx cowsay hi":                       "the package cowsay, from a registry",
		"npm install left-pad":                "the packages that npm fetches",
		"pip install requests":                "the packages that pip fetches",
		"curl -s https://x.example/i.sh | sh": "what sh is given by the network",
		"bash <(curl -s https://x.example/i)": "what bash is given by the network",
		"eval \"$(./gen.sh)\"":                "what eval is given to run",
		"./gen.sh | sh":                       "what sh is given to run",
		"(cat f; ./gen.sh) | sh":              "what sh is given to run",
		"ssh prod ./deploy.sh":                "what ssh runs elsewhere: ./deploy.sh",
		"ssh prod sudo reboot":                "what ssh runs elsewhere: sudo reboot",
		"kubectl exec web -- sh -c ./x":       "what kubectl runs elsewhere: sh -c ./x",
		"docker run img":                      "what is in the image or container that docker uses",
		"python3 -m requests":                 "the module requests",
		"sudo make deploy":                    "./....sh",
		"PATH=$X:$PATH deploy":                "deploy, where PATH is not known",
		"npm run release":                     "what ssh runs elsewhere: ./x",
		"./pipe":                              "pipe, which is no file",
		"xargs bash < list":                   "bash ...",
		"xtool $X":                            "xtool ...",
		"java -cp elsewhere Main":             "what java -cp elsewhere Main runs",
		"node gone":                           "what node gone runs",
		"terraform apply":                     "what terraform apply runs",
		"docker compose up":                   "the image nginx:1, which is not pinned by a digest",
		"docker compose build":                "what the build of an image copies from ./svc",
		"git -c core.hooksPath=$X push":       "the setting core.hookspath of git",
		"perl -MGone -e 1":                    "the module Gone",
		"helm upgrade x bitnami/nginx":        "what helm upgrade x bitnami/nginx runs",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			h.write("f", "x")
			h.write("list", "x")
			h.write("gen.sh", script)
			h.write("deploy.sh", script)
			h.write("Makefile", "deploy:\n\t./$(UNKNOWN).sh\n")
			h.write("package.json", `{"scripts":{"release":"ssh prod ./x"}}`)
			h.write("compose.yaml", "services:\n  a:\n    image: nginx:1\n  b:\n    build: ./svc\n")
			must(t, exec.CommandContext(t.Context(), "mkfifo", filepath.Join(h.dir, "pipe")).Run())
			answer := h.asks(command)
			card, asked, v := h.card(answer)
			if !asked {
				t.Fatalf("nobody was asked: %+v", v)
			}
			notice := strings.ReplaceAll(warned(card), h.dir+"/", "")
			if !strings.Contains(notice, "can change after you answer") || !strings.Contains(notice, name) {
				t.Errorf("the card says %q, and not %q", warned(card), name)
			}
			for _, term := range []approver.Term{{Session: true}, {For: time.Minute}} {
				if out := h.says(card, true, term); out.Kind != approver.OutcomeNeedCode {
					t.Errorf("a yes for %s: %+v", term, out)
				}
			}
			if out := h.says(card, true, approver.Term{}); out.Kind != approver.OutcomeApproved {
				t.Errorf("a yes for once: %+v", out)
			}
			if v := <-answer; v.Decision != approver.Allow {
				t.Errorf("%+v", v)
			}
			answer = h.asks(command)
			if card, asked, v := h.card(answer); !asked {
				t.Errorf("the second time nobody was asked: %+v", v)
			} else {
				h.says(card, false, approver.Term{})
				<-answer
			}
		})
	}
}

// Honest work goes on while a person thinks: logs grow, builds write their output,
// editors save files that have nothing to do with the call.
func TestHonestChangesDoNotVoidAYes(t *testing.T) {
	for _, c := range []struct{ command, changes string }{
		{"tail -n 50 app.log && systemctl restart app", "app.log"},
		{"tail -f notes.txt | grep x", "notes.txt"},
		{"grep -c x data.csv; git push --force origin main", "data.csv"},
		{"sudo tail app.log", "app.log"},
		{"wc -l < app.log", "app.log"},
		{"cat *.log", "new.log"},
		{"rm -f app.log", "app.log"},
		{"make deploy > out.txt 2>&1", "out.txt"},
		{"make deploy", "build/app.o"},
		{"make deploy", "README.md"},
		{"npm run build", "dist/app.js"},
		{"npm run build", "node_modules/x/index.js"},
		{"terraform apply", "terraform.tfstate"},
		{"cargo run", "target/debug/app"},
		{"docker compose up", "data/db.sqlite"},
		{"docker build .", "app.log"},
		{"cp deploy.sh copy.sh", "copy.sh"},
		{"git push --force origin main", "main.go"},
		{"git push --force origin main", ".git/index"},
		{"./deploy.sh", "other.sh"},
	} {
		t.Run(c.command+" "+c.changes, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			for _, name := range []string{"app.log", "notes.txt", "data.csv", "out.txt", "build/app.o", "dist/app.js", "copy.sh",
				"main.go", "target/debug/app", "README.md", "other.sh"} {
				h.write(name, "1")
				must(t, os.Chmod(filepath.Join(h.dir, name), 0o644))
			}
			h.write("deploy.sh", script)
			h.write("Makefile", "deploy: build/app.o\n\t./deploy.sh\n")
			h.write("package.json", `{"scripts":{"build":"tsc"}}`)
			h.write("compose.yaml", "volumes: ./data:/data")
			answer := h.asks(c.command)
			card, asked, v := h.card(answer)
			if !asked {
				t.Fatalf("nobody was asked: %+v", v)
			}
			h.write(c.changes, "2")
			h.says(card, true, approver.Term{})
			if v := <-answer; v.Decision != approver.Allow {
				t.Errorf("%s changed and the yes did not count: %+v", c.changes, v)
			}
		})
	}
}

// The story: an agent writes files that were too much for the fingerprint: a Makefile
// with 1 MiB of remarks, a package.json that only npm can read, a link for a folder of
// hooks. The card named no script, the script was swapped behind it, and the yes
// released it. Now the call is denied, or the card says that something may change.
func TestWhatIsTooMuchIsDeniedOrOnTheCard(t *testing.T) {
	remarks := "\n# " + strings.Repeat("x", 1<<20) + "\n"
	for _, c := range []struct{ name, command, file, text string }{
		{"a long makefile", "make", "Makefile", "all:\n\t./deploy.sh" + remarks},
		{"main is no text", "npm test", "package.json", `{"scripts":{"test":"./deploy.sh"},"main":false}`},
		{"a mark and a twin", "npm test", "package.json",
			"\ufeff" + `{"scripts":{"test":"./deploy.sh"},"Scripts":{"test":"true"}}`},
		{"a comment", "bun run test", "package.json", "{/**/\"scripts\":{\"test\":\"./deploy.sh\"}}"},
		{"many words", "task x", "Taskfile.yml", strings.Repeat("a1.b b2.c ", 600) + "./deploy.sh"},
		{"a long script", "bash run.sh", "run.sh", "./deploy.sh\nexit" + remarks},
		{"the second target", "make a && make b", "Makefile", "S=deploy\na:\n\ttrue\nb:\n\t./$(S).sh\n"},
		{"a target of another file", "make", "Makefile", "include x.mk\nall: b\nS=deploy\nb: c\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			h.write("deploy.sh", script)
			h.write("x.mk", "other:\n\ttrue\nc:\n\t./$(S).sh\n")
			h.write(c.file, c.text)
			answer := h.asks(c.command)
			card, asked, v := h.card(answer)
			if !asked {
				t.Fatalf("nobody was asked: %+v", v)
			}
			h.write("deploy.sh", evil)
			h.says(card, true, approver.Term{})
			if v := <-answer; v.Decision != approver.Deny && !strings.Contains(warned(card), "can change after you answer") {
				t.Errorf("the swapped script was released, and the card said %q", warned(card))
			}
		})
	}
}

// A pattern that matches more than can be looked at is refused before anybody is asked:
// its list used to be empty, and what it matched could be swapped.
func TestAPatternThatMatchesTooMuchIsRefused(t *testing.T) {
	h := newFixture(t)
	for n := range 20_100 {
		h.write(fmt.Sprintf("many/f%05d", n), "")
	}
	if _, asked, v := h.card(h.asks("bash ./many/*; git push --force origin main")); asked || v.Decision != approver.Deny {
		t.Errorf("asked %v, %+v", asked, v)
	}
}

// must fails a test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// warned are the warnings of a card.
func warned(card approver.Card) string { return strings.Join(card.Warnings, " ") }
