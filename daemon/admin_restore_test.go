package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
)

// backBench is a admin on one store, which starts anew with other approver lists.
type backBench struct {
	*authorityBench
	room *roomLife
}

func newBackBench(t *testing.T) *backBench {
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	t.Cleanup(l.stop)
	b := &backBench{newAuthorityBench(t), l}
	b.kv, b.isolated = l.store, true
	return b
}

// admin has these lines below channels.
func (b *backBench) admin(channels string) *Admin {
	b.Helper()
	text := "dir: /d\nsockets: {submit: /s, resolve: /r}\nchannels:\n" + channels
	cfg, err := configs.Parse("/etc/x/approver.yaml", []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	return &Admin{People: b.room.people, authority: b.start(cfg), log: slog.New(slog.DiscardHandler)}
}

const chatOf = "  telegram:\n    token: \"123456:AAEhBP0av28FrPBmiRhTLD2ucWOCrDqUmZs\"\n" +
	"    chats: [{id: \"-1001\"}]\n    approvers: "

// op does one operation as an operator who is trusted.
func (b *backBench) op(d *Admin, op, body string) (adminapi.ControlAnswer, error) {
	doc, err := d.do(b.Context(), approver.Peer{Known: true, UID: 7}, op, json.RawMessage(body))
	got, _ := doc.(adminapi.ControlAnswer)
	return got, err
}

// otherSeen are what a caller may send in place of what it was shown.
func otherSeen(seen, otherOp string) map[string]string {
	return map[string]string{
		"nothing":                     `{"person":"ada"}`,
		"an empty digest":             `{"person":"ada","seen":""}`,
		"a part of it":                `{"person":"ada","seen":"` + seen[:32] + `"}`,
		"in capitals":                 `{"person":"ada","seen":"` + strings.ToUpper(seen) + `x"}`,
		"with a space":                `{"person":"ada","seen":" ` + seen + `"}`,
		"that of another operation":   `{"person":"ada","seen":"` + otherOp + `"}`,
		"a digest and seeing nothing": `{"person":"ada","seen":"` + seen + `","unseen":true}`,
		"a wrong one, seeing nothing": `{"person":"ada","seen":"x","unseen":true}`,
		"seeing nothing, not true":    `{"person":"ada","unseen":false}`,
	}
}

// The story: root ran approver people recover and read who waits: bob. While root read, the
// agent, which has the daemon's uid, started the daemon anew with mallory in the list, and
// root's yes let mallory count. The yes names what was shown now, and anything else in the
// lists ends it.
func TestRecoverHoldsForWhatWasShown(t *testing.T) {
	const shown = chatOf + "[{id: \"2\", person: bob}]\n"
	swaps := map[string]string{
		"one more":                  chatOf + "[{id: \"2\", person: bob}, {id: \"666\"}]\n",
		"one more account of bob":   chatOf + "[{id: \"2\", person: bob}, {id: \"666\", person: bob}]\n",
		"another account as bob":    chatOf + "[{id: \"666\", person: bob}]\n",
		"his account as another":    chatOf + "[{id: \"2\", person: eve}]\n",
		"his account for itself":    chatOf + "[{id: \"2\"}]\n",
		"a longer id":               chatOf + "[{id: \"22\", person: bob}]\n",
		"a person in capitals":      chatOf + "[{id: \"2\", person: Bob}]\n",
		"a person with a space":     chatOf + "[{id: \"2\", person: \"bob \"}]\n",
		"a person that looks alike": chatOf + "[{id: \"2\", person: \"b\\u043eb\"}]\n",
		"a server of the agent's":   "  telegram:\n    api_url: http://127.0.0.1:1\n" + shown[len("  telegram:\n"):],
		"a terminal that answers":   shown + "  terminal: {allow_answers: true, approvers: [{id: \"1000\"}]}\n",
		"a terminal of bob's":       shown + "  terminal: {approvers: [{id: \"1000\", person: bob}]}\n",
		"nobody but a terminal":     "  terminal: {approvers: [{id: \"1000\", person: bob}]}\n",
		"two in the place of him":   chatOf + "[{id: \"3\"}, {id: \"4\"}]\n",
		"Discord in place of it all": "  discord: {token: \"x.y.z\", channels: [\"200000000000000002\"], approvers: [{id: " +
			"\"200000000000000002\", person: bob}]}\n",
	}
	for name, swapped := range swaps {
		t.Run(name, func(t *testing.T) {
			b := newBackBench(t)
			b.admin(chatOf + "[{id: \"1\"}]\n") // of whom nobody is left
			b.room.people.Approvers.Set(approver.People{})
			d := b.admin(shown)
			doc, err := b.op(d, adminapi.OpRecover, `{"show":true}`)
			if err != nil || doc.Done || doc.Text != `channels.telegram.approvers: 2, person "bob"` || len(doc.Seen) != 64 {
				t.Fatalf("%+v, %v", doc, err)
			}
			yes := fmt.Sprintf(`{"seen":%q}`, doc.Seen)
			other := b.admin(swapped)
			before := b.on()
			if doc, err := b.op(other, adminapi.OpRecover, yes); !errors.Is(err, errNotAsShown) || doc.Done || b.on() != before {
				t.Errorf("%+v, %v: %q counts, and %q before", doc, err, b.on(), before)
			}
			d = b.admin(shown) // the daemon has what was shown again
			if name == "one more" {
				for what, body := range otherSeen(doc.Seen, strings.Repeat("0", 64)) {
					if doc, err := b.op(d, adminapi.OpRecover, body); !errors.Is(err, errNotAsShown) || doc.Done {
						t.Errorf("%s: %+v, %v", what, doc, err)
					}
				}
			}
			if doc, err := b.op(d, adminapi.OpRecover, yes); err != nil || !doc.Done || b.on() != "2" {
				t.Errorf("as shown: %+v, %v, %q counts", doc, err, b.on())
			}
		})
	}
}

// A daemon that has just started hears nothing yet, so nobody could approve. An operator who
// waited for that let count what people were to be asked about. Root alone is not kept from it.
func TestRecoverWaitsForTheChats(t *testing.T) {
	b := newBackBench(t)
	b.admin(chatOf + "[{id: \"1\"}]\n")
	b.room.people.Approvers.Set(approver.People{})
	d := b.admin(chatOf + "[{id: \"2\", person: bob}]\n")
	d.started = time.Now()
	for uid, want := range map[uint32]string{7: "has just started", 0: ""} {
		_, err := d.do(t.Context(), approver.Peer{Known: true, UID: uid}, adminapi.OpRecover,
			json.RawMessage(`{"show":true}`))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("uid %d: %v", uid, err)
		}
	}
	d.started = time.Now().Add(-channelsBegin)
	if doc, err := b.op(d, adminapi.OpRecover, `{"show":true}`); err != nil || doc.Seen == "" {
		t.Errorf("later: %+v, %v", doc, err)
	}
}

// The story: ada was removed. The agent wrote its own account into the configuration under
// her name and started the daemon anew; status said sudo approver people restore ada, and
// with her that account counted, by root's word, which root had never seen. Root sees each
// account that comes back with her now, and the yes is for those alone.
func TestRestoreHoldsForWhatWasShown(t *testing.T) {
	const lists = chatOf + "[{id: \"1\", person: ada}, {id: \"2\", person: bob}]\n"
	const added = chatOf + "[{id: \"1\", person: ada}, {id: \"2\", person: bob}, {id: \"666\", person: ada}]\n"
	remove := func(b *backBench, d *Admin) {
		b.Helper()
		if _, err := b.op(d, adminapi.OpRemove, `{"person":"ada","reason":"left"}`); err != nil {
			b.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		meanwhile func(b *backBench, d *Admin) *Admin
		want      error
	}{
		"nothing":                  {func(_ *backBench, d *Admin) *Admin { return d }, nil},
		"a restart":                {func(b *backBench, _ *Admin) *Admin { return b.admin(lists) }, nil},
		"one more account of hers": {func(b *backBench, _ *Admin) *Admin { return b.admin(added) }, errNotAsShown},
		"another account in its place": {func(b *backBench, _ *Admin) *Admin {
			return b.admin(strings.Replace(added, `{id: "1", person: ada}, `, "", 1))
		}, errNotAsShown},
		"fewer": {func(b *backBench, _ *Admin) *Admin { return b.admin(chatOf + "[{id: \"2\", person: bob}]\n") },
			errNotAsShown},
		"a terminal": {func(b *backBench, _ *Admin) *Admin {
			return b.admin(lists + "  terminal: {approvers: [{id: \"1000\", person: ada}]}\n")
		}, errNotAsShown},
		"she is removed anew": {func(b *backBench, d *Admin) *Admin { remove(b, d); return d }, errNotAsShown},
		"she is back, and removed anew": {func(b *backBench, d *Admin) *Admin {
			if _, err := b.op(d, adminapi.OpRestore, `{"person":"ada","unseen":true}`); err != nil {
				b.Fatal(err)
			}
			remove(b, d)
			return d
		}, errNotAsShown},
		"she is back": {func(b *backBench, d *Admin) *Admin {
			if _, err := b.op(d, adminapi.OpRestore, `{"person":"ada","unseen":true}`); err != nil {
				b.Fatal(err)
			}
			return d
		}, broadcaster.ErrNotRemoved},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBackBench(t)
			d := b.admin(lists)
			remove(b, d)
			doc, err := b.op(d, adminapi.OpRestore, `{"person":"ada","show":true}`)
			if err != nil || doc.Done || !strings.Contains(doc.Text, "ada was removed by uid 7") || len(doc.Seen) != 64 ||
				!strings.Contains(doc.Text, "this counts here by the yes:\n  channels.telegram.approvers: 1, person \"ada\"") {
				t.Fatalf("%+v, %v", doc, err)
			}
			d = c.meanwhile(b, d)
			before := b.on()
			if c.want == nil {
				for what, body := range otherSeen(doc.Seen, strings.Repeat("0", 64)) {
					if doc, err := b.op(d, adminapi.OpRestore, body); !errors.Is(err, errNotAsShown) || doc.Done || b.on() != before {
						t.Errorf("%s: %+v, %v", what, doc, err)
					}
				}
			}
			doc, err = b.op(d, adminapi.OpRestore, fmt.Sprintf(`{"person":"ada","seen":%q}`, doc.Seen))
			if !errors.Is(err, c.want) || doc.Done != (c.want == nil) {
				t.Errorf("%+v, %v", doc, err)
			}
			if c.want != nil && b.on() != before {
				t.Errorf("%q counts, and %q before", b.on(), before)
			} else if c.want == nil && b.on() != "1 2" {
				t.Errorf("%q counts", b.on())
			}
		})
	}
	t.Run("where people are asked they are shown it", func(t *testing.T) {
		b := newBackBench(t)
		d := b.admin(lists)
		remove(b, d)
		d.notice = "NOT ISOLATED"
		if doc, err := b.op(d, adminapi.OpRestore, `{"person":"ada","show":true}`); err != nil || doc.Seen != "" || doc.Done {
			t.Errorf("%+v, %v", doc, err)
		}
	})
}

// The story: on an install where the agent has the daemon's own uid it ran approver people
// remove terminal:0 --unlisted, and sudo approver approve ID was closed until somebody found
// out that root had to be brought back. Nobody but root removes root now, by whatever name;
// whoever shares a name with it is removed all the same.
func TestOnlyRootRemovesRoot(t *testing.T) {
	id, root := broadcaster.Owner()
	const alone = "  terminal: {approvers: [{id: \"1000\"}]}\n"
	const listed = "  terminal: {approvers: [{id: \"0\"}]}\n"
	const asAda = chatOf +
		"[{id: \"1\", person: ada}]\n  terminal: {approvers: [{id: \"0\", person: ada}, {id: \"1000\"}]}\n"
	const asRoot = "  terminal: {approvers: [{id: \"0\", person: root}]}\n"
	const chatAsRoot = chatOf +
		"[{id: \"1\", person: \"terminal:0\"}]\n  terminal: {approvers: [{id: \"0\"}, {id: \"1000\"}]}\n"
	gone := func(channel, id, person string) [3]string { return [3]string{channel, id, person} }
	for _, c := range []struct {
		lists, person string
		unlisted      bool
		refused       bool // with ErrOnlyRoot
		away          [3]string
	}{
		{alone, "terminal:0", true, true, [3]string{}},
		{listed, "terminal:0", false, true, [3]string{}},
		{listed, "terminal:0", true, true, [3]string{}},
		{asAda, "terminal:0", false, true, [3]string{}},
		{asAda, "terminal:0", true, true, [3]string{}},
		{chatAsRoot, "terminal:0", false, true, [3]string{}},
		{asAda, "ada", false, false, gone("telegram", "1", "")},
		{asAda, "ada", true, false, gone("terminal", "0", "ada")},
		{asAda, "telegram:1", false, false, gone("telegram", "1", "")},
		{chatAsRoot, "telegram:1", false, false, gone("telegram", "1", "terminal:0")},
		{chatAsRoot, "telegram:1", true, false, gone("telegram", "1", "other")},
		{asRoot, "root", false, false, gone("terminal", "0", "root")},
		{alone, "root", true, false, gone("x", "y", "root")},
		{alone, "0", true, false, gone("x", "y", "0")},
		{alone, "uid 0", true, false, gone("x", "y", "uid 0")},
		{alone, "terminal:root", true, false, gone("terminal", "root", "")},
		{alone, "terminal:00", true, false, gone("terminal", "00", "")},
		{alone, "terminal:+0", true, false, gone("terminal", "+0", "")},
		{alone, "terminal:0x0", true, false, gone("terminal", "0x0", "")},
		{alone, "terminal: 0", true, false, gone("terminal", " 0", "")},
		{alone, "terminal:0 ", true, false, gone("terminal", "0 ", "")},
		{alone, " terminal:0", true, false, gone(" terminal", "0", "")},
		{alone, "Terminal:0", true, false, gone("Terminal", "0", "")},
		{alone, "terminal::0", true, false, gone("terminal", ":0", "")},
		{alone, "terminal:0,terminal:1", true, false, gone("terminal", "0,terminal:1", "")},
		{alone, "terminal:0\x00", true, false, gone("terminal", "0\x00", "")},
		{alone, "terminal:4294967296", true, false, gone("terminal", "4294967296", "")},
		{alone, "root of this machine", true, false, gone("x", "y", "root of this machine")},
		{alone, "*", true, false, gone("x", "y", "*")},
	} {
		t.Run(c.person, func(t *testing.T) {
			b := newBackBench(t)
			d := b.admin(c.lists)
			d.notice = "NOT ISOLATED"
			for _, peer := range []approver.Peer{{Known: true, UID: 1000}, {UID: 0}, {Known: true, UID: 1 << 31}} {
				body, err := json.Marshal(adminapi.PersonRequest{Person: c.person, Unlisted: c.unlisted})
				if err != nil {
					t.Fatal(err)
				}
				_, err = d.do(t.Context(), peer, adminapi.OpRemove, body)
				if errors.Is(err, broadcaster.ErrOnlyRoot) != c.refused || err != nil && !c.refused {
					t.Errorf("%+v: %v", peer, err)
				}
				now, _, err := d.People.Controls.Load(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if line, away := now.Removed.Of(id, root); away {
					t.Errorf("%+v: root is away: %+v", peer, line)
				}
				if who := (approver.Person{ID: c.away[2]}); c.away[0] != "" {
					if _, away := now.Removed.Of(approver.Identity{Channel: c.away[0], ID: c.away[1]}, who); !away {
						t.Errorf("%+v: %q is not away: %+v", peer, c.away, now.Removed)
					}
				}
			}
		})
	}
	t.Run("by root", func(t *testing.T) {
		b := newBackBench(t)
		d := b.admin(asAda)
		for person, back := range map[string]string{"terminal:0": "ada", "ada": "ada"} {
			doc, err := d.do(t.Context(), approver.Peer{Known: true}, adminapi.OpRemove, []byte(`{"person":"`+person+`"}`))
			if err != nil || !strings.Contains(doc.(adminapi.ControlAnswer).Text, "until sudo approver people restore "+back) {
				t.Errorf("%+v, %v", doc, err)
			}
		}
		now, _, err := d.People.Controls.Load(t.Context())
		if _, away := now.Removed.Of(id, root); !away || err != nil {
			t.Errorf("%+v, %v", now, err)
		}
		d.channels = []approver.Channel{aChat{}}
		if way := d.wayOut(t.Context()); !strings.Contains(way, "daemon runs as root") &&
			!strings.Contains(way, "sudo approver people restore ada") {
			t.Error(way)
		}
	})
}

// The story: an alarm froze an agent a moment before root lifted what somebody had frozen by
// hand. Both were lifted, and root was told "the freeze is lifted". Now it says which there
// were, by whom, since when and why.
func TestUnfreezeSaysWhatItLifted(t *testing.T) {
	l := startRoom(t, daemontest.EmbeddedPlace(), t.TempDir())
	defer l.stop()
	d := &Admin{People: l.people, log: slog.New(slog.DiscardHandler)}
	me := approver.Peer{Known: true, UID: 7}
	lift := func() adminapi.ControlAnswer {
		t.Helper()
		doc, err := d.do(t.Context(), me, adminapi.OpUnfreeze, json.RawMessage(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		return doc.(adminapi.ControlAnswer)
	}
	who := broadcaster.Who{Peer: approver.Peer{Known: true, UID: 1000}, Agent: "claude", Project: "/repo",
		Session: "s\u202e1"}
	if _, err := d.People.Controls.Hold(t.Context(), who, "approver", "the hook was bypassed\nlifted"); err != nil {
		t.Fatal(err)
	}
	doc := lift()
	if n := strings.Count(doc.Text, "\n"); n != 1 ||
		!strings.Contains(doc.Text,
			"\nclaude in /repo of uid 1000, and its session s⟨U+202E⟩1 wherever it goes: frozen by approver at 20") ||
		!strings.Contains(doc.Text, "UTC, the hook was bypassed") || doc.Lifted.Freeze != nil || len(doc.Lifted.Held) != 1 {
		t.Errorf("%+v", doc)
	}
	if _, err := d.People.Controls.Freeze(t.Context(), "uid 9", "runaway"); err != nil {
		t.Fatal(err)
	}
	who.Session = ""
	if _, err := d.People.Controls.Hold(t.Context(), who, "approver", ""); err != nil {
		t.Fatal(err)
	}
	doc = lift()
	if n := strings.Count(doc.Text, "\n"); n != 2 || !strings.Contains(doc.Text, "\neverything: frozen by uid 9 at 20") ||
		!strings.Contains(doc.Text, "UTC, runaway\n") ||
		!strings.Contains(doc.Text, "\nclaude in /repo of uid 1000: frozen by approver at 20") ||
		!strings.HasSuffix(doc.Text, "UTC, no reason given") {
		t.Errorf("%s", doc.Text)
	}
	raw, err := json.Marshal(doc)
	var read struct {
		Lifted struct {
			Freeze struct{ By, Reason, At string }
			Agents []struct{ By, At string } `json:"frozen_agents"`
		}
	}
	if err == nil {
		err = json.Unmarshal(raw, &read)
	}
	if got := read.Lifted; err != nil || got.Freeze.By != "uid 9" || got.Freeze.Reason != "runaway" ||
		got.Freeze.At == "" || len(got.Agents) != 1 || got.Agents[0].By != "approver" {
		t.Errorf("%v: %s", err, raw)
	}
	if _, err := d.do(t.Context(), me, adminapi.OpUnfreeze, json.RawMessage(`{}`)); !errors.Is(err,
		broadcaster.ErrNotFrozen) {
		t.Error(err)
	}
}
