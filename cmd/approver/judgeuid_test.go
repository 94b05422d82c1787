package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/shieldcore"
)

// Users of the tests: nobody's tests run as them.
const (
	oneUID   = 61005
	otherUID = 61006
)

// uidPolicy denies make to one user, and asks for another.
func uidPolicy(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "policy.yaml")
	text := fmt.Sprintf(`version: 1
tools: {known: [Bash]}
rules:
  - {name: ours.never, tools: [Bash], command: '^make', when: {uids: [%d]}, decision: deny}
  - {name: ours.ask, tools: [Bash], command: '^make', when: {uids: [%d]}, decision: ask, severity: high}
`, oneUID, otherUID)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// The story: a rule denied make to the agent's user. policy explain and judge judged as
// whoever typed them, "uid" in a line was skipped over, and both said pass.
func TestACallIsJudgedAsTheUserItIsOf(t *testing.T) {
	policy := uidPolicy(t)
	uid := func(n uint32) *uint32 { return &n }
	for name, tt := range map[string]struct {
		flag *uint32
		line string
		want string
	}{
		"whoever asks":                   {nil, `{"tool":"Bash","command":"make x"}`, `"decision":"pass"`},
		"the flag":                       {uid(oneUID), `{"tool":"Bash","command":"make x"}`, `"rule":"ours.never"`},
		"the flag, another":              {uid(otherUID), `{"tool":"Bash","command":"make x"}`, `"rule":"ours.ask"`},
		"the line":                       {nil, `{"tool":"Bash","command":"make x","uid":61005}`, `"rule":"ours.never"`},
		"the line is nearer":             {uid(otherUID), `{"tool":"Bash","command":"make x","uid":61005}`, `"rule":"ours.never"`},
		"neither of them":                {uid(0), `{"tool":"Bash","command":"make x","uid":61007}`, `"decision":"pass"`},
		"root is a user as any other":    {uid(oneUID), `{"tool":"Bash","command":"make x","uid":0}`, `"decision":"pass"`},
		"another key":                    {nil, `{"tool":"Bash","command":"make x","user":61005}`, `"error":"not a call: unknown key \"user\": one of id, `},
		"another key, though it is null": {nil, `{"tool":"Bash","command":"make x","peer_uid":null}`, `unknown key \"peer_uid\"`},
		"a name":                         {nil, `{"tool":"Bash","command":"make x","uid":"ada"}`, `"error":"not a call: `},
		"none that can be":               {nil, `{"tool":"Bash","command":"make x","uid":-1}`, `"error":"not a call: `},
		"two objects":                    {nil, `{"tool":"Bash","command":"ls"}{"tool":"Bash","command":"make x","uid":61005}`, "more than one JSON object"},
	} {
		j, err := policyFlags{Policy: policy}.openJudge("", false)
		if err != nil {
			t.Fatal(err)
		}
		uidFlag{tt.flag}.judgeAs(j)
		var out bytes.Buffer
		if _, err := j.stream(t.Context(), strings.NewReader(tt.line), &out); err != nil || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %s, %v", name, out.String(), err)
		}
		if strings.Contains(tt.want, "error") || strings.Contains(tt.want, "key") || strings.Contains(tt.want, "more than") {
			continue
		}
		x, err := j.explained(t.Context(), tt.line)
		if text, _ := json.Marshal(x); err != nil || !strings.Contains(string(text), tt.want) {
			t.Errorf("%s: policy explain says %s, %v", name, text, err)
		}
	}
}

// Every key of a line that judge knows, and each alone, is no reason to refuse it.
func TestLinesWithEveryKey(t *testing.T) {
	j := testJudge(t, "")
	for _, keys := range []string{
		`"command":"ls"`, `"command":"ls","id":1`, `"command":"ls","id":{"a":[1]}`, `"command":"ls","id":null`, `"command":"ls","agent":"claude"`, `"command":"ls","agent":"codex"`,
		`"command":"ls","session":"s"`, `"command":"ls","cwd":"/srv"`, `"command":"ls","cwd":""`, `"command":"ls","uid":0`, `"command":"ls","uid":null`, `"command":"ls","uid":4294967295`,
		`"args":{"command":"ls"}`, `"args":{"command":"ls","description":"look","user":"ada"}`, `"command":"ls","args":null`, `"command":"ls","args":{"user":"ada"}`,
		`"command":"ls","result":"a b"`, `"command":"ls","result":""`, `"command":"ls","error":"exit 1"`, `"command":"ls" `,
		`"id":1,"agent":"claude","session":"s","cwd":"/srv","uid":7,"command":"ls","args":{},"result":"x","error":""`,
	} {
		if _, ev, err := j.decode([]byte(`{"tool":"Bash",` + keys + "} ")); err != nil || ev.Call.Command != "ls" {
			t.Errorf("%s: %+v, %v", keys, ev.Call, err)
		}
	}
}

// The story: report said of a call that a rule for the agent's user had denied "judged
// again now, alone: ask", because it judged it as root.
func TestReportJudgesACallAsTheUserItWasOf(t *testing.T) {
	policy := policyFlags{Policy: uidPolicy(t)}
	at := time.Now()
	record := func(command string, peer approver.Peer, v approver.Verdict) approver.Record {
		call := approver.ToolCall{ID: "c", Agent: "claude", Session: "s", Tool: "Bash", Command: command, Args: fmt.Appendf(nil, `{"command":%q}`, command), Dir: "/srv", At: at, Peer: peer}
		return approver.Record{Event: approver.EventVerdict, At: at, Call: call, Verdict: v}
	}
	known := func(uid uint32) approver.Peer { return approver.Peer{Known: true, UID: uid} }
	never := approver.Verdict{Decision: approver.Deny, By: shieldcore.By, Rule: "ours.never"}
	r, err := reportCmd{}.read(t.Context(), recorded(t,
		record("make denied", known(oneUID), never), record("make otherwise", known(otherUID), never), record("make whose", approver.Peer{}, never),
	), at.Add(-time.Hour), at.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	r.again(t.Context(), policy)
	got := map[string]string{}
	for _, c := range r.Rules[0].Commands {
		got[c.Command] = c.Explain + "|" + c.Now
	}
	for command, want := range map[string]string{
		"make denied":    fmt.Sprintf("approver policy explain --uid %d --cwd /srv -- 'make denied'|", oneUID),
		"make otherwise": "|ask high by policy/ours.ask, tier 0",
		"make whose":     "|", // of nobody, who may be anybody; no command judges so
	} {
		if got[command] != want {
			t.Errorf("%s: %q", command, got[command])
		}
	}
}

// A call that two users made is judged for each of them when two policies are compared.
func TestDiffJudgesEachUsersCall(t *testing.T) {
	at := time.Now()
	var records []approver.Record
	for _, uid := range []uint32{61007, oneUID, otherUID} {
		call := approver.ToolCall{
			ID: "c", Agent: "claude", Session: "s", Tool: "Bash", Command: "make x", Args: json.RawMessage(`{"command":"make x"}`), Dir: "/srv", At: at,
			Peer: approver.Peer{Known: true, UID: uid},
		}
		records = append(records, approver.Record{Event: approver.EventVerdict, At: at, Call: call, Verdict: approver.Verdict{Decision: approver.Pass}})
	}
	dir := recorded(t, records...)
	becomes, err := loadPolicy(uidPolicy(t))
	if err != nil {
		t.Fatal(err)
	}
	was, err := shieldcore.Load("was", []byte("version: 1\ntools: {known: [Bash]}\nrules:\n  - {name: a, command: '^ls', decision: deny}\n"))
	if err != nil {
		t.Fatal(err)
	}
	out := printedOut(t, func() {
		if err := (policyDiffCmd{}).replay(t.Context(), dir, was, becomes); err != nil {
			t.Error(err)
		}
	})
	if !strings.Contains(out, "3 calls, 3 different, 2 changed") || !strings.Contains(out, "(ours.never)") || !strings.Contains(out, "(ours.ask)") {
		t.Errorf("%s", out)
	}
}

// The home of another user is the one that this machine's accounts say; whose it does not
// know has that of whoever asks, as before.
func TestTheHomeOfAnotherUser(t *testing.T) {
	j := &judge{env: map[string]string{"HOME": "/home/asks"}}
	for _, uid := range []uint32{0, 1, uint32(os.Getuid()), oneUID} {
		want := "/home/asks"
		if u, err := user.LookupId(fmt.Sprint(uid)); err == nil && int(uid) != os.Getuid() {
			want = u.HomeDir
		}
		if got := j.envOf(approver.Peer{Known: true, UID: uid})["HOME"]; got != want {
			t.Errorf("uid %d: %s, not %s", uid, got, want)
		}
	}
}
