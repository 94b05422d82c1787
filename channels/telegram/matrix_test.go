package telegram

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/internal/cards"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/tokens"
)

var rewrite = flag.Bool("update", false, "write the golden files anew")

// carl was an approver once; his private chat still gets cards.
const carl int64 = 10044

// A cell is one attempt of somebody somewhere: what makes it recognizable.
type cell struct {
	user    map[string]any
	chat    map[string]any
	thread  int
	request uuid.UUID
	code    tokens.Code
	message int
}

// A wayIn is a way in which somebody may try to answer; update is what Telegram sends the bot then.
type wayIn struct {
	name   string
	update func(b *bench, c cell) map[string]any
}

// waysIn are one of each kind that counts. What is no act of a person here and now is in TestNotHeard.
func waysIn() []wayIn {
	tap := func(action cards.Action) func(*bench, cell) map[string]any {
		return func(b *bench, c cell) map[string]any {
			return map[string]any{"callback_query": map[string]any{"id": b.s.NewQuery(c.user["id"].(int64)), "from": c.user,
				"message": c.card(action), "chat_instance": "1", "data": cards.ButtonData(c.request, action, 0)}}
		}
	}
	return []wayIn{
		{"tap Approve once", tap(cards.Approve)},
		{"tap Deny, say why…", tap(cards.DenyWhy)},
		{"/approve CODE", func(_ *bench, c cell) map[string]any { return c.says("/approve "+c.code.Reveal(), nil) }},
		{"/pending", func(_ *bench, c cell) map[string]any { return c.says("/pending", nil) }},
		{"no as a reply to the card", func(_ *bench, c cell) map[string]any {
			return c.says("no", map[string]any{"reply_to_message": c.card(cards.Deny)})
		}},
		{"the reply to that question", func(b *bench, c cell) map[string]any {
			b.c.asked.add(place{c.chat["id"].(int64), c.thread}, c.message,
				why{person: ann, request: c.request.String(), card: c.message})
			question := c.copied(map[string]any{"text": "Ann, why not?", "from": botUser, "entities": []any{map[string]any{
				"type": "text_mention", "offset": 0, "length": 3, "user": map[string]any{"id": ann, "first_name": "Ann"}}}})
			return c.says("not today", map[string]any{"reply_to_message": question})
		}},
	}
}

var botUser = map[string]any{"id": telegramtest.BotID, "is_bot": true, "first_name": "approver"}

// copied is a message as Telegram copies it into updates.
func (c cell) copied(more map[string]any) map[string]any {
	m := map[string]any{"message_id": c.message, "date": time.Now().Unix(), "chat": c.chat, "from": c.user}
	if c.thread != 0 {
		m["message_thread_id"], m["is_topic_message"] = c.thread, true
	}
	maps.Copy(m, more)
	return m
}

func (c cell) says(text string, more map[string]any) map[string]any {
	m := c.copied(map[string]any{"text": text})
	maps.Copy(m, more)
	return map[string]any{"message": m}
}

// card is a card of the bot with one button.
func (c cell) card(action cards.Action) map[string]any {
	return c.copied(map[string]any{"from": botUser, "text": "card", "reply_markup": map[string]any{
		"inline_keyboard": [][]any{{map[string]any{"text": "x", "callback_data": cards.ButtonData(c.request, action, 0)}}}}})
}

// mine reports whether a reply came of this cell.
func (c cell) mine(r approver.Reply) bool {
	return r.Request == c.request.String() || r.Code.Equal(c.code) && !c.code.IsZero() ||
		r.Want == approver.WantPending && r.Sender == fmt.Sprint(c.user["id"])
}

// said is how the table shows a reply.
func said(r approver.Reply) string {
	switch {
	case r.Want != approver.WantAnswer:
		return r.Want.String()
	case r.Approve:
		return "yes"
	case r.Reason != "":
		return "no, because"
	}
	return "no"
}

// A seat is a person at a place.
type seat struct {
	name   string
	person int64
	chat   int64
	thread int
}

// seats are the places of an approver, and the one that an ex-approver still has.
func seats() []seat {
	return []seat{
		{"chat with cards", ann, teamChat, 0}, {"topic with cards", ann, teamChat, topic},
		{"other topic", ann, teamChat, 8}, {"other chat", ann, otherChat, 0}, {"private chat", ann, ann, 0},
		{"ex-approver's own", carl, carl, 0},
	}
}

// Bug classes A1 and A5 of approval systems: some way in had no check, or another one. Who gets through where cards
// are is in channels/channeltest. Here are the places of Telegram. The golden file says what becomes a reply.
func TestWhoIsHeard(t *testing.T) {
	b := idle(t)
	cfg := testConfig(b.s)
	cfg.Chats = append(cfg.Chats, Chat{ID: text(carl)})
	c := newChannel(t, cfg)
	c.pace = quickPace()
	b.c = c
	b.run()
	ways := waysIn()
	rows := make([][]string, len(ways))
	for _, at := range seats() {
		for i, got := range b.tryAll(ways, at) {
			rows[i] = append(rows[i], got)
			allowed := at.person == ann && at.thread != 8 && at.chat != otherChat
			if (got != "-") != allowed {
				t.Errorf("%s, %s gave %q", at.name, ways[i].name, got)
			}
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-28s", "")
	for _, at := range seats() {
		fmt.Fprintf(&table, "| %-17s ", at.name)
	}
	table.WriteString("|\n")
	for i, way := range ways {
		fmt.Fprintf(&table, "%-28s", way.name)
		for _, got := range rows[i] {
			fmt.Fprintf(&table, "| %-17s ", got)
		}
		table.WriteString("|\n")
	}
	golden(t, table.String())
}

func golden(t *testing.T, table string) {
	t.Helper()
	t.Log("\n" + table)
	file := filepath.Join("testdata", "who-is-heard.golden")
	if *rewrite {
		if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if table != string(want) {
		t.Errorf("%s says otherwise: run go test -run TestWhoIsHeard -update and read it", file)
	}
}

// tryAll tries every way in from a seat, and returns what became of each.
func (b *bench) tryAll(ways []wayIn, at seat) []string {
	b.Helper()
	kind := map[bool]string{true: "private", false: "supergroup"}[at.chat > 0]
	cells := make([]cell, len(ways))
	before := len(b.got())
	for i, way := range ways {
		cells[i] = cell{user: map[string]any{"id": at.person, "is_bot": false, "first_name": "Ann"},
			chat: map[string]any{"id": at.chat, "type": kind}, thread: at.thread,
			request: uuid.Must(uuid.NewV7()), code: mint(b.T), message: 500_000 + len(ways)*before + i}
		b.s.Inject(way.update(b, cells[i]))
	}
	b.settled()
	out := make([]string, len(ways))
	for i, c := range cells {
		var got []string
		for _, r := range b.got()[before:] {
			if c.mine(r) && (r.Want == approver.WantPending) == (ways[i].name == "/pending") {
				got = append(got, said(r))
			}
		}
		if b.wasAsked(c) {
			got = append(got, "asked for it")
		}
		if out[i] = strings.Join(got, " + "); len(got) == 0 {
			out[i] = "-"
		}
	}
	return out
}

// wasAsked reports whether the bot asked somebody for the reason of a no to the request of a cell.
func (b *bench) wasAsked(c cell) bool {
	b.c.asked.mu.Lock()
	defer b.c.asked.mu.Unlock()
	for key, w := range b.c.asked.of {
		if w.request == c.request.String() && key.message != c.message {
			return true
		}
	}
	return false
}
