package approver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// The story: the daemon may not look into the agent's home. What lies there
// could be another program by the time the call runs, and the fingerprint would
// be the same. People are told so on the card, and their yes is for one run.
func TestFilesThatCannotBeRead(t *testing.T) {
	call := testCall("c1")
	open, err := FingerprintOf(call, "p", map[string]string{"/x": "sha256:1"})
	if err != nil || !open.Bound() {
		t.Errorf("%q, %v", open, err)
	}
	closed, err := FingerprintOf(call, "p", map[string]string{"/home/a/": unreadable})
	if err != nil || closed.Bound() || !closed.Equal(closed) || closed.Equal(open) {
		t.Errorf("%q, %v", closed, err)
	}
	story(t, func(t *testing.T, x *bench) {
		x.files = map[string]string{"/home/a/": unreadable}
		answer := x.askAsync(t.Context(), call, High)
		synctest.Wait()
		msg, card := x.tg.card(0)
		if !strings.HasPrefix(card.Notice, "FILES NOT BOUND") {
			t.Errorf("the card says %q", card.Notice)
		}
		lasting := Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: ByCommand, Code: card.Code, Grant: Term{Session: true}, Message: msg}
		if out := x.Reply(t.Context(), lasting); out.Kind != OutcomeNeedCode || !strings.Contains(out.Text, "once only") {
			t.Errorf("a lasting yes: %+v", out)
		}
		once := lasting
		once.Grant = Term{}
		if out := x.Reply(t.Context(), once); out.Kind != OutcomeApproved {
			t.Errorf("a yes for once: %+v", out)
		}
		if v := <-answer; v.Decision != Allow {
			t.Errorf("%+v", v)
		}
	})
}

// A working directory that is not there holds nothing that could be changed
// unseen; when it appears, the fingerprint is another.
func TestAMissingDirectoryIsBound(t *testing.T) {
	call := testCall("c1")
	call.Dir = filepath.Join(t.TempDir(), "later")
	of := func() Fingerprint {
		t.Helper()
		files, err := new(FileHasher).Of(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		fp, err := FingerprintOf(call, "p", files)
		if err != nil || !fp.Bound() {
			t.Errorf("%q, %v, %v", fp, files, err)
		}
		return fp
	}
	before := of()
	if err := os.Mkdir(call.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if of() == before {
		t.Error("the directory appeared and the fingerprint is the same")
	}
	call.Dir = ""
	of()
}
