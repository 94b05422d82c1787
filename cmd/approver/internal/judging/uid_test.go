package judging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"strings"
	"testing"

	"approver.example"
	"approver.example/daemon/daemontest"
)

// The story: a rule denied make to the agent's user. policy explain and judge judged as
// whoever typed them, "uid" in a line was skipped over, and both said pass.
func TestACallIsJudgedAsTheUserItIsOf(t *testing.T) {
	policy := daemontest.UIDPolicy(t)
	uid := func(n uint32) *uint32 { return &n }
	for name, tt := range map[string]struct {
		flag *uint32
		line string
		want string
	}{
		"whoever asks": {nil, `{"tool":"Bash","command":"make x"}`, `"decision":"pass"`},
		"the flag": {uid(daemontest.OneUID), `{"tool":"Bash","command":"make x"}`,
			`"rule":"ours.never"`},
		"the flag, another": {uid(daemontest.OtherUID), `{"tool":"Bash","command":"make x"}`,
			`"rule":"ours.ask"`},
		"the line": {nil, `{"tool":"Bash","command":"make x","uid":61005}`, `"rule":"ours.never"`},
		"the line is nearer": {uid(daemontest.OtherUID), `{"tool":"Bash","command":"make x","uid":61005}`,
			`"rule":"ours.never"`},
		"neither of them": {uid(0), `{"tool":"Bash","command":"make x","uid":61007}`, `"decision":"pass"`},
		"root is a user as any other": {uid(daemontest.OneUID), `{"tool":"Bash","command":"make x","uid":0}`,
			`"decision":"pass"`},
		"another key": {nil, `{"tool":"Bash","command":"make x","user":61005}`,
			`"error":"not a call: unknown key \"user\": one of id, `},
		"another key, though it is null": {nil, `{"tool":"Bash","command":"make x","peer_uid":null}`,
			`unknown key \"peer_uid\"`},
		"a name":           {nil, `{"tool":"Bash","command":"make x","uid":"ada"}`, `"error":"not a call: `},
		"none that can be": {nil, `{"tool":"Bash","command":"make x","uid":-1}`, `"error":"not a call: `},
		"two objects": {nil, `{"tool":"Bash","command":"ls"}{"tool":"Bash","command":"make x","uid":61005}`,
			"more than one JSON object"},
	} {
		j, err := Flags{Policy: policy}.Open("", false)
		if err != nil {
			t.Fatal(err)
		}
		UIDFlag{tt.flag}.JudgeAs(j)
		var out bytes.Buffer
		if _, err := j.Stream(t.Context(), strings.NewReader(tt.line), &out); err != nil ||
			!strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %s, %v", name, out.String(), err)
		}
		if strings.Contains(tt.want, "error") || strings.Contains(tt.want, "key") || strings.Contains(tt.want, "more than") {
			continue
		}
		x, err := j.Explained(t.Context(), tt.line)
		if text, _ := json.Marshal(x); err != nil || !strings.Contains(string(text), tt.want) {
			t.Errorf("%s: policy explain says %s, %v", name, text, err)
		}
	}
}

// Every key of a line that judge knows, and each alone, is no reason to refuse it.
func TestLinesWithEveryKey(t *testing.T) {
	j := testJudge(t, "")
	for _, keys := range []string{
		`"command":"ls"`, `"command":"ls","id":1`, `"command":"ls","id":{"a":[1]}`, `"command":"ls","id":null`,
		`"command":"ls","agent":"claude"`, `"command":"ls","agent":"codex"`,
		`"command":"ls","session":"s"`, `"command":"ls","cwd":"/srv"`, `"command":"ls","cwd":""`, `"command":"ls","uid":0`,
		`"command":"ls","uid":null`, `"command":"ls","uid":4294967295`,
		`"args":{"command":"ls"}`, `"args":{"command":"ls","description":"look","user":"ada"}`, `"command":"ls","args":null`,
		`"command":"ls","args":{"user":"ada"}`,
		`"command":"ls","result":"a b"`, `"command":"ls","result":""`, `"command":"ls","error":"exit 1"`, `"command":"ls" `,
		`"id":1,"agent":"claude","session":"s","cwd":"/srv","uid":7,"command":"ls","args":{},"result":"x","error":""`,
	} {
		if _, ev, err := j.decode([]byte(`{"tool":"Bash",` + keys + "} ")); err != nil || ev.Call.Command != "ls" {
			t.Errorf("%s: %+v, %v", keys, ev.Call, err)
		}
	}
}

// The home of another user is the one that this machine's accounts say; whose it does not
// know has that of whoever asks, as before.
func TestTheHomeOfAnotherUser(t *testing.T) {
	j := &Judge{env: map[string]string{"HOME": "/home/asks"}}
	for _, uid := range []uint32{0, 1, uint32(os.Getuid()), daemontest.OneUID} {
		want := "/home/asks"
		if u, err := user.LookupId(fmt.Sprint(uid)); err == nil && int(uid) != os.Getuid() {
			want = u.HomeDir
		}
		if got := j.envOf(approver.Peer{Known: true, UID: uid})["HOME"]; got != want {
			t.Errorf("uid %d: %s, not %s", uid, got, want)
		}
	}
}
