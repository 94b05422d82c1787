package broadcaster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"approver.example"
	"approver.example/display"
)

func envCall(id string, env map[string]string) approver.ToolCall {
	call := shellCall("kubectl delete namespace staging")
	call.ID, call.Session, call.Peer = id, "s", approver.Peer{Known: true, UID: 1000}
	call.Env = map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/dev"}
	maps.Copy(call.Env, env)
	return call
}

// The story: an agent's hook ran with KUBECONFIG=/x/PROD, a library to preload and
// programs from /tmp before all others, and asked to delete "staging". All that was
// bound to the approval, and nothing of it was on the card. It is now, on every
// channel's card and in the audit.
func TestTheEnvironmentIsOnTheCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBench(t, kv)
		x.Environments.Began(envCall("c0", map[string]string{"EDITOR": "vi"}))
		synctest.Wait()
		evil := envCall("c1", map[string]string{
			"KUBECONFIG": "/x/PROD", "LD_PRELOAD": "/x/y.so", "PATH": "/tmp/evil:/usr/bin:/bin", "EDITOR": "sh -c x",
		})
		x.askAsync(t.Context(), evil, approver.High)
		synctest.Wait()
		_, card := x.tg.card(0)
		for _, want := range []string{
			"KUBECONFIG=/x/PROD (was unset)", "LD_PRELOAD=/x/y.so (was unset)",
			"PATH begins with /tmp/evil, a folder for temporary files",
			"PATH has new folders: /tmp/evil", `EDITOR="sh -c x" (was vi)`,
		} {
			shown := labeled(card.Body, "Environment")
			if !strings.Contains(shown, want) || !strings.Contains(card.Whole(), want) {
				t.Errorf("the card lacks %q: %s", want, shown)
			}
		}
		for _, r := range x.audit.recorded() {
			if r.Event == approver.EventAsked && !slices.Contains(r.Call.Environment, "KUBECONFIG=/x/PROD (was unset)") {
				t.Errorf("the audit lacks it: %q", r.Call.Environment)
			}
		}
		if !card.OneTap {
			t.Error("what is shown whole takes a tap")
		}
		// Another process, or a replica, knows the beginning from the store.
		y := newBench(t, kv)
		if lines := y.Environments.changes(t.Context(), evil); !slices.Contains(lines, "KUBECONFIG=/x/PROD (was unset)") {
			t.Errorf("after a restart: %q", lines)
		}
		for key, r := range kv.records {
			if strings.Contains(key, ":environment:") && strings.Contains(string(r.value), "/usr/bin") {
				t.Errorf("the store has it in the clear: %s", r.value)
			}
		}
		x.stop()
		y.stop()
	})
}

func TestEnvironmentLines(t *testing.T) {
	x := newBench(t, newMemKV())
	first := map[string]string{"AWS_PROFILE": "dev", "EDITOR": "vi", "PIP_INDEX_URL": "https://pypi.org/simple"}
	if lines := x.Environments.changes(t.Context(), envCall("c0", first)); !slices.Equal(lines,
		[]string{"AWS_PROFILE=dev"}) {
		t.Errorf("the first call shows %q", lines)
	}
	for _, c := range []struct{ name, value, want string }{
		{"AWS_PROFILE", "prod", "AWS_PROFILE=prod (was dev)"},
		{"PIP_INDEX_URL", "https://u:hunter22@evil.example", `@evil.example" (was https://pypi.org/simple)`},
		{"BASH_ENV", "/x/rc", "BASH_ENV=/x/rc (was unset)"},
		{"BASH_FUNC_git%%", "() { rm -rf /\n}", `BASH_FUNC_git%%="() { rm -rf / ⏎ }" (was unset)`},
		{"GIT_SSH_COMMAND", "ssh -o ProxyCommand=x", `GIT_SSH_COMMAND="ssh -o ProxyCommand=x" (was unset)`},
		{"DOCKER_HOST", "x (was unset) · LD_PRELOAD=", `DOCKER_HOST="x (was unset) ⟨U+00B7⟩ LD_PRELOAD=" (was unset)`},
		{"KUBECONFIG", "/x/\u202eDORP", "⟨U+202E⟩"},
		{"PATH", ".:/usr/local/bin:/usr/bin:/bin", "PATH begins with ., a relative folder"},
		{"PATH", "/usr/bin:/bin", "PATH has another order, or fewer folders: it begins with /usr/bin"},
		{"PATH", ":/usr/local/bin:/usr/bin:/bin", `PATH begins with "", a relative folder`},
	} {
		env := maps.Clone(first)
		env[c.name] = c.value
		lines := x.Environments.changes(t.Context(), envCall("c1", env))
		if all := strings.Join(lines, "\n"); !strings.Contains(all, c.want) || strings.Contains(all, "hunter22") {
			t.Errorf("%s=%s shows %q, want %q", c.name, c.value, lines, c.want)
		}
	}
	if lines := x.Environments.changes(t.Context(),
		envCall("c2", map[string]string{"AWS_PROFILE": "dev", "EDITOR": "vi"})); !slices.Contains(lines,
		"PIP_INDEX_URL is unset (was https://pypi.org/simple)") {
		t.Errorf("%q", lines)
	}
	if lines := x.Environments.changes(t.Context(), envCall("c3", first)); len(lines) != 1 {
		t.Errorf("an unchanged environment shows %q", lines)
	}
	// An agent claims a new session, another folder or name, so that its changed
	// environment would be that of a first call. It is compared with its user's.
	other := envCall("c4", map[string]string{
		"KUBECONFIG": "/x/PROD", "AWS_REGION": "prod", "MAKEFLAGS": "--eval=x", "PATH": "/x:/usr/bin",
	})
	other.Session, other.Dir, other.Agent = "another", "/elsewhere", "codex"
	for range 2 { // its second call too
		lines := x.Environments.changes(t.Context(), other)
		for _, want := range []string{
			"KUBECONFIG=/x/PROD (was unset)", "AWS_REGION=prod (was unset)", "MAKEFLAGS=--eval=x (was unset)",
			"EDITOR is unset (was vi)",
		} {
			if !slices.Contains(lines, want) {
				t.Errorf("%q is not in %q", want, lines)
			}
		}
	}
	if someone := other; true { // another user has begun nothing
		someone.Peer = approver.Peer{Known: true, UID: 4711}
		if lines := x.Environments.changes(t.Context(), someone); !slices.Equal(lines, []string{"KUBECONFIG=/x/PROD"}) {
			t.Errorf("another user's first call shows %q", lines)
		}
	}
	for _, hidden := range []string{
		"DOCKER_HOST=tcp://confirm-‹10 characters hidden›:2375", "X=https://a.example/‹10 characters hidden, 3fa9c1›",
	} {
		if !display.HidesEnvironment([]string{hidden}) {
			t.Errorf("%q counts as shown", hidden)
		}
	}
	if display.HidesEnvironment([]string{"HTTPS_PROXY=http://u:‹8 characters hidden, 3fa9c1›@proxy.example:8080"}) {
		t.Error("a proxy's password hides where a command acts")
	}
	for _, lines := range [][]string{
		{
			"LD_PRELOAD=/x/ghp_‹36 characters hidden, 3fa9c1›",
		}, {"BASH_ENV=" + display.NewSetting("BASH_ENV", strings.Repeat("x", 5000), "").Shown},
	} {
		if r := (Request{Call: approver.ToolCall{Environment: lines}}); !obscured(r.Call) {
			t.Errorf("a tap is enough for %.80q", lines)
		}
	}
}

// The story: an agent set a thousand variables, 36 KB of them on one card, and the one
// that ran its code was among the last. Nobody reads that, and a tap approved it. Now the
// dangerous ones stand first, the rest is cut, and only the typed code approves, once.
func TestTooMuchEnvironmentTakesTheTypedCode(t *testing.T) {
	x := newBench(t, newMemKV())
	x.Environments.changes(t.Context(), envCall("c0", nil))
	env := map[string]string{"ZDOTDIR": "/x", "LD_PRELOAD": "/x.so"}
	for i := range 1000 {
		env[fmt.Sprintf("TF_VAR_a%d", i)] = strings.Repeat("v", 20)
	}
	call := envCall("c1", env)
	call.Environment = x.Environments.changes(t.Context(), call)
	r := Request{Call: call, Verdict: approver.Verdict{Severity: approver.High}, State: approver.Pending}
	card := x.Cards.Of(r)
	shown := labeled(card.Body, "Environment")
	if len(shown) > 8<<10 || !strings.Contains(shown, "LD_PRELOAD=/x.so") || !strings.Contains(shown, "CUT: ") {
		t.Errorf("%d bytes: %.200s", len(shown), shown)
	}
	if card.OneTap || !obscured(r.Call) || !strings.Contains(warned(card), "HIDDEN") {
		t.Errorf("a tap is enough: %q", warned(card))
	}
}

// What is only compared is told when it changes, and never shown or stored. A password
// in an address does not excuse a secret that is hidden elsewhere on the line.
func TestComparedVariables(t *testing.T) {
	kv := newMemKV()
	x := newBench(t, kv)
	x.Environments.changes(t.Context(), envCall("c0", map[string]string{
		"#STAGE": "dev", "#GONE": "x", "##DRY_RUN": "1", "##S": "same",
	}))
	lines := x.Environments.changes(t.Context(), envCall("c1", map[string]string{
		"#STAGE": "prodvalue", "#NEW": "newvalue", "##S": "same", "##A · LD_PRELOAD=": "newvalue",
	}))
	for _, want := range []string{"STAGE has another value (neither is shown)",
		"NEW is set (was unset; its value is not shown)", "GONE is unset (was set)", "DRY_RUN is unset (was set)",
		`"A ⟨U+00B7⟩ LD_PRELOAD=" is set (was unset; its value is not shown)`} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q lacks %q", lines, want)
		}
	}
	if all := strings.Join(lines, " "); strings.Contains(all, "prodvalue") || strings.Contains(all, "newvalue") {
		t.Errorf("a value is shown: %s", all)
	}
}

// The environments of sessions in memory are bounded; the store has the others.
func TestBegunSessionsInMemoryAreBounded(t *testing.T) {
	var m firstEnv
	for i := range 3 * maxBegan {
		m.note(fmt.Sprint("s", i), map[string]display.Setting{})
		if len(m.of) > maxBegan {
			t.Fatalf("%d sessions are in memory", len(m.of))
		}
		if _, ok := m.get(fmt.Sprint("s", i)); !ok {
			t.Fatalf("session %d is not", i)
		}
	}
}
