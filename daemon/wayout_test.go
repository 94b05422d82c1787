package daemon

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/terminal"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
)

// After people remove, status advised to pair a chat. What brings somebody back stands
// there now, for each of those who were removed.
func TestTheWayOutFitsTheCause(t *testing.T) {
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	defer l.stop()
	b := newAuthorityBench(t)
	b.kv = l.store
	h := b.start(b.lists("", "1"))
	d := &Admin{People: l.people, authority: h, log: slog.New(slog.DiscardHandler)}
	if got := d.backAgain(t.Context()); len(got) != 0 {
		t.Errorf("nobody is away and nothing waits: %q", got)
	}
	d.authority = b.start(b.lists("", "1", "2"))
	if got := d.backAgain(t.Context()); len(got) != 1 || !strings.HasPrefix(got[0], "sudo approver people recover") {
		t.Errorf("one waits: %q", got)
	}
	if got := (&Admin{People: l.people,
		channels: []approver.Channel{aChat{}}}).wayOut(t.Context()); strings.Contains(strings.ToLower(got), "pair a chat") {
		t.Errorf("a chat is there: %s", got)
	}
}

// The story: everybody was removed, and status advised sudo approver approve ID. No request
// waits where no answer counts: each call is denied at once. It is advised where it works.
func TestRootApprovesWhatWaits(t *testing.T) {
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	defer l.stop()
	unwatched, err := terminal.New(terminal.Config{Approvers: []approver.Approver{{ID: "7"}}},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d := &Admin{People: l.people, authority: newAuthorityBench(t).start(configs.Default()),
		log: slog.New(slog.DiscardHandler)}
	want := func(what string, channels []approver.Channel, commands ...string) {
		t.Helper()
		d.channels = channels
		if got := d.rootApproves(t.Context()); !slices.Equal(got, commands) {
			t.Errorf("%s: %q", what, got)
		}
		way := d.wayOut(t.Context())
		if strings.HasPrefix(way, ";") || os.Getuid() != 0 && strings.Contains(way, "approve ID") != (len(commands) > 0) ||
			!strings.Contains(way, "daemon runs as root") && !strings.Contains(way, "sudo approver unfreeze") {
			t.Errorf("%s: %q", what, way)
		}
	}
	chat := []approver.Channel{aChat{}}
	l.people.Approvers.Set(approver.People{{Channel: "telegram", ID: "1"}: {ID: "ada"},
		{Channel: "telegram", ID: "2"}: {ID: "bob"}})
	want("a chat", chat, "sudo approver approve ID")
	want("a terminal that nobody watches", []approver.Channel{unwatched},
		"sudo approver approve ID (while approver watch is open)")
	want("no channel", nil)
	remove := func(person string) {
		t.Helper()
		if _, err := l.people.Removals.Remove(t.Context(), broadcaster.Removal{Person: person, ByRoot: true}); err != nil {
			t.Fatal(err)
		}
	}
	remove("ada")
	want("one is left", chat, "sudo approver approve ID")
	remove("terminal:0")
	want("root is away", chat, "sudo approver people restore terminal:0 (root was removed)", "sudo approver approve ID")
	remove("bob")
	want("everybody is away", chat)
	l.people.Approvers.Set(approver.People{})
	want("nobody counts", chat)
}

// aChat is a channel that has a name and nothing else.
type aChat struct{ approver.Channel }

func (aChat) Name() string { return "telegram" }
