package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
)

// The codes that root is shown are good once, for their own request, for two minutes, and
// there are only so many.
func TestChallengesOfRoot(t *testing.T) {
	now := time.Now()
	var c challenges
	takes := func(request, typed string, now time.Time) bool {
		_, ok := c.take(request, typed, now)
		return ok
	}
	if takes("r", "", now) || takes("r", "CONFIRM-AAAAAAAA", now) {
		t.Error("a code that nobody was shown is taken")
	}
	minted := func(request string) string {
		t.Helper()
		code, err := c.mint(request, 0, now)
		if err != nil {
			t.Fatal(err)
		}
		return code.Reveal()
	}
	for name, tt := range map[string]struct {
		typed func(code string) string
		after time.Duration
		want  bool
	}{
		"as shown":       {func(code string) string { return code }, 0, true},
		"just in time":   {func(code string) string { return code }, challengeFor - 1, true},
		"too late":       {func(code string) string { return code }, challengeFor, false},
		"of another":     {func(string) string { return minted("other") }, 0, false},
		"nothing":        {func(string) string { return "" }, 0, false},
		"no code":        {func(string) string { return "yes" }, 0, false},
		"less of it":     {func(code string) string { return code[:len(code)-1] }, 0, false},
		"the one before": {func(code string) string { minted("r"); return code }, 0, false},
	} {
		code := minted("r")
		if got := takes("r", tt.typed(code), now.Add(tt.after)); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		if takes("r", code, now) {
			t.Errorf("%s: a second try counts", name)
		}
	}
	c = challenges{}
	for i := range maxChallenges {
		minted(fmt.Sprint(i))
	}
	if _, err := c.mint("one more", 0, now); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Error(err)
	}
	if _, err := c.mint("one more", 0, now.Add(challengeFor)); err != nil || len(c.all) != 1 {
		t.Errorf("two minutes later: %v, %d are kept", err, len(c.all))
	}
}

// The story: an agent under the daemon's own user speaks to the socket itself, and asks for
// the code that only root is shown; or the daemon is root, so that an agent could be. Neither
// gets a code, and neither approves, whatever it types.
func TestOnlyRootIsShownACode(t *testing.T) {
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	defer l.stop()
	d := &Admin{People: l.people, authority: &authority{}, log: slog.New(slog.DiscardHandler)}
	request, answer := l.ask("c1", false)
	for name, tt := range map[string]struct {
		peer approver.Peer
		id   string
		want string
	}{
		"the daemon's user":      {approver.Peer{Known: true, UID: 7}, request, "only root"},
		"nobody knows who it is": {approver.Peer{}, request, "only root"},
		"root, while others can": {approver.Peer{Known: true}, request,
			map[bool]string{true: "the daemon runs as root", false: "others can approve it"}[os.Getuid() == 0]},
		"root, of another request": {approver.Peer{Known: true}, "0", "there is no request"},
	} {
		for _, op := range []string{adminapi.OpOwnerShow, adminapi.OpOwnerApprove} {
			doc, err := d.do(t.Context(), tt.peer, op,
				fmt.Appendf(nil, `{"request":%q,"code":"CONFIRM-AAAAAAAA"}`, tt.id))
			if shown, _ := doc.(adminapi.OwnerAnswer); shown.Code != "" || shown.Done {
				t.Errorf("%s, %s: %+v", name, op, shown)
			}
			if tt.id != request && op == adminapi.OpOwnerShow {
				continue // as everybody is told
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, %s: %v", name, op, err)
			}
		}
	}
	l.says(request, false, approver.Term{})
	<-answer
	if _, err := d.do(t.Context(), approver.Peer{Known: true}, adminapi.OpOwnerApprove,
		fmt.Appendf(nil, `{"request":%q}`, request)); err == nil || !strings.Contains(err.Error(), "the request is over") {
		t.Error(err)
	}
}

// An operator removes, restores and recovers, on the embedded store and on Redis: by the
// account as by the person, only whom somebody knows unless they say otherwise, and never
// past people who can be asked. The lists say who does not count, and why.
func TestThePeopleOfAnAdmin(t *testing.T) {
	for where, open := range bothPlaces() {
		t.Run(where, func(t *testing.T) {
			l := startRoom(t, open(t), t.TempDir())
			defer l.stop()
			b := newAuthorityBench(t)
			b.kv = l.store
			h := b.start(b.lists("", "1", "2"))
			d := &Admin{People: l.people, authority: h, log: slog.New(slog.DiscardHandler)}
			me := approver.Peer{Known: true, UID: 7}
			do := func(op, body, want string) {
				t.Helper()
				doc, err := d.do(t.Context(), me, op, []byte(body))
				if got := fmt.Sprintf("%+v %v", doc, err); !strings.Contains(got, want) {
					t.Errorf("%s %s: %s, want %q", op, body, got, want)
				}
			}
			counts := func(want bool) {
				t.Helper()
				if got := slices.ContainsFunc(h.counting(), func(line string) bool {
					return strings.HasSuffix(line, "telegram.approvers: 1 is telegram:1") ||
						strings.Contains(line, "telegram.approvers: 1")
				}); got != want {
					t.Errorf("counts: %q", h.counting())
				}
			}
			counts(true)
			do(adminapi.OpRemove, `{"person":"nobody"}`, "nobody here is")
			do(adminapi.OpRemove, `{"person":"","unlisted":true}`, "nobody here is")
			do(adminapi.OpRestore, `{"person":"telegram:1"}`, broadcaster.ErrNotRemoved.Error())
			do(adminapi.OpRemove, `{"person":"telegram:1","reason":"left"}`, "telegram:1 is removed")
			counts(false)
			do(adminapi.OpPeople, `{}`, "telegram:1 was removed by uid 7")
			c, _, err := d.People.Controls.Load(t.Context())
			if lines := d.removed(c); err != nil || len(lines) != 1 || !strings.HasSuffix(lines[0], adminapi.StillListed) {
				t.Errorf("%q, %v", lines, err)
			}
			do(adminapi.OpRestore, `{"person":"telegram:1"}`, errNotAsShown.Error())
			counts(false)
			do(adminapi.OpRestore, `{"person":"telegram:1","unseen":true}`, "telegram:1 is back")
			counts(true)
			do(adminapi.OpRemove, `{"person":"slack:U1","unlisted":true}`, "slack:U1 is removed")
			if c, _, err = d.People.Controls.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, away := c.Removed.Of(approver.Identity{Channel: "slack", ID: "U1"}, approver.Person{ID: "other"}); !away {
				t.Error("her account counts")
			}
			do(adminapi.OpRecover, `{}`, "there are people who can approve")
			d.notice = "NOT ISOLATED"
			do(adminapi.OpRecover, `{}`,
				map[bool]string{true: "the daemon runs as root", false: "only the owner"}[os.Getuid() == 0])
			b.audit.Fail = true
			d.notice = ""
			if _, err := d.do(t.Context(), me, adminapi.OpRemove, []byte(`{"person":"telegram:2"}`)); err == nil ||
				errors.Is(err, broadcaster.ErrNotRemoved) {
				t.Errorf("the lists could not be recorded: %v", err)
			}
		})
	}
}
