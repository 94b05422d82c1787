package slack_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/tokens"
)

var rewrite = flag.Bool("update", false, "write the golden files anew")

const (
	otherTeam = "T0OTHER123"
	quiet     = "C0QUIET123" // has cards of ours from before, and gets none now
)

// A seat is a kind of person at a place.
type seat struct{ kind, title, place string }

var seats = []seat{
	{approving, "where cards go", here}, {approving, "where they went", quiet}, {approving, "direct message", direct},
	{"member", "where cards go", here}, {outsider, "where cards go", here},
}

// approving are listed in our workspace; outsiders are, too, and their events come from another one.
const (
	approving = "approver"
	outsider  = "outsider"
)

// A cell is one attempt of somebody somewhere; each has a person and a card of its own.
type cell struct {
	b   *bench
	way wayIn
	seat
	user          string
	request, card string
	code          string
}

// A wayIn is a way in which somebody may try to answer.
type wayIn struct {
	name string
	send func(cell)
	// never says that it counts nowhere, and anywhere that it counts without a card.
	never, anywhere bool
}

// team is the workspace that an event names.
func (c cell) team() string {
	if c.kind == outsider {
		return otherTeam
	}
	return slacktest.Team
}

func (c cell) text(s string) string { return strings.ReplaceAll(s, "CODE", c.code) }

func (c cell) who(p object) object {
	p["team"] = object{"id": c.team()}
	return p
}

func (c cell) press(action string) {
	c.b.fake.Deliver("interactive", c.who(c.b.fake.ButtonPayload(c.user, c.place, c.card, "ap:"+c.request+":1", c.request,
		action)))
}

func (c cell) submit(modal, input, text string) {
	where, err := json.Marshal(map[string]string{"r": c.request, "c": c.place, "m": c.card})
	if err != nil {
		c.b.t.Fatal(err)
	}
	p := c.who(c.b.fake.ButtonPayload(c.user, c.place, c.card, "", "", ""))
	delete(p, "container")
	p["type"] = "view_submission"
	p["view"] = object{"callback_id": modal, "private_metadata": string(where), "state": object{"values": object{
		input: object{input: object{"type": "plain_text_input", "value": c.text(text)}}}}}
	c.b.fake.DeliverSubmission(c.user, p)
}

func (c cell) command(name, text string) {
	p := c.b.fake.CommandPayload(c.user, c.place, name, c.text(text))
	p["team_id"] = c.team()
	c.b.fake.DeliverCommand(c.user, p)
}

func (c cell) say(thread, text string) {
	p := c.b.fake.MessagePayload(c.user, c.place, thread, c.text(text))
	p["team_id"] = c.team()
	c.b.fake.Deliver("events_api", p)
}

// waysIn are one of each kind that counts, and the dialogs that are sent although none was opened. What is forged is
// in events_test.go and dialogs_test.go.
func waysIn() []wayIn {
	thread := func(text string) wayIn {
		return wayIn{name: "in the thread: " + text, send: func(c cell) { c.say(c.card, text) }}
	}
	return []wayIn{
		{name: "press Approve once", send: func(c cell) { c.press("approve") }},
		{name: "press Enter code…", send: func(c cell) { c.press("code") }},
		{name: "dialog: the code", send: func(c cell) { c.submit("ap:code", "code", "CODE") }},
		{name: "dialog: the reason", send: func(c cell) { c.submit("ap:why", "why", "use a branch") }},
		{name: "dialog: the command", send: func(c cell) { c.submit("ap:edit", "edit", "ls") }},
		{name: "/approve CODE session", send: func(c cell) { c.command("/approve", "CODE session") }},
		{name: "/approve pending", send: func(c cell) { c.command("/approve", "pending") }, anywhere: true},
		{name: "the app's Home", anywhere: true, send: func(c cell) {
			p := c.b.fake.HomePayload(c.user)
			p["team_id"] = c.team()
			c.b.fake.Deliver("events_api", p)
		}},
		thread("CODE"), thread("yes"), thread("no, use a branch instead"), thread("no CODE"),
		{name: "beside it: no CODE", send: func(c cell) { c.say("", "no CODE") }},
		{name: "beside it: no", send: func(c cell) { c.say("", "no") }, never: true},
	}
}

// became says what became of an attempt: the reply, or what the person was told instead.
func (c cell) became() string {
	var got []string
	for _, r := range c.b.got() {
		if r.Sender == c.user {
			got = append(got, said(r))
		}
	}
	if c.b.fake.Dialog(c.user) != "" {
		got = append(got, "opens the dialog")
	}
	if len(got) > 0 {
		return strings.Join(got, " + ")
	}
	told := strings.Join(append(c.b.fake.Told(c.user), c.b.fake.Home(c.user)), "\n")
	for part, tag := range map[string]string{"on the approver list": "told: not listed", "count only in": "told: not here",
		"cannot approve": "told: not by text", "did not understand": "told: how to", "which card": "told: which card",
		"can read the code": "told: it leaked",
	} {
		if strings.Contains(told, part) {
			return tag
		}
	}
	return "-" + strings.TrimSpace(told)
}

func said(r approver.Reply) string {
	switch {
	case r.Want != approver.WantAnswer:
		return r.Want.String()
	case r.Approve && r.Grant.Lasts():
		return "yes, for longer"
	case r.Approve:
		return "yes"
	case r.Reason != "":
		return "no, because"
	}
	return "no"
}

// Bug classes A1, A5 and A6 of approval systems: some way in had no check, or another one. Who gets through where
// cards are is in channels/channeltest. Here are the places of Slack, its workspaces and its settings. The golden file
// says what became of each.
func TestWhoIsHeard(t *testing.T) {
	var table strings.Builder
	for _, texts := range []bool{false, true} {
		ways := waysIn()
		if texts {
			ways = slices.DeleteFunc(ways, func(w wayIn) bool { return !strings.HasPrefix(w.name, "in the thread") })
		}
		cells := attempts(t, ways, texts)
		table.WriteString(settled(fmt.Sprintf("text_approvals: %v", texts), cells))
		for _, c := range slices.Concat(cells...) {
			got := c.became()
			may := c.kind == approving && !c.way.never && (c.place == here || c.way.anywhere)
			if heard := !strings.HasPrefix(got, "told:") && !strings.HasPrefix(got, "-"); heard && !may {
				t.Errorf("%s, %s: %s became %q", c.kind, c.title, c.way.name, got)
			}
		}
	}
	t.Log("\n" + table.String())
	golden(t, table.String())
}

// attempts makes everybody try every way.
func attempts(t *testing.T, ways []wayIn, texts bool) [][]cell {
	id := func(seat, way int) string { return fmt.Sprintf("U0%c%03dXX", 'A'+seat, way) }
	b := start(t, setup{config: func(c *slack.Config) {
		for k, at := range seats {
			for way := range ways {
				if at.kind != "member" {
					c.Approvers = append(c.Approvers, approver.Approver{ID: id(k, way)})
				}
			}
		}
		c.TextApprovals = texts
	}, fake: func(f *slacktest.Server) { f.AddConversation(slacktest.Conversation{ID: quiet}) }})
	template := b.full()
	b.post(template)
	blocks := string(b.fake.Messages(here)[0].Blocks)
	cells := make([][]cell, len(ways))
	for w, way := range ways {
		for k, at := range seats {
			c := cell{b: b, way: way, seat: at, user: id(k, w), request: uuid.Must(uuid.NewV7()).String(), code: minted(t)}
			u := slacktest.User{ID: c.user, Name: "ann"}
			if at.kind == outsider {
				u.Team = otherTeam
			}
			b.fake.AddUser(u)
			c.card = b.fake.AddMessage(at.place, slacktest.Message{User: slacktest.BotUser, BotID: slacktest.BotID,
				Blocks: json.RawMessage(strings.ReplaceAll(blocks, template.Request, c.request))})
			cells[w] = append(cells[w], c)
			way.send(c)
		}
		b.pass()
	}
	return cells
}

// settled waits until nothing changes any more, and returns the table.
func settled(title string, cells [][]cell) (table string) {
	for same := 0; same < 5; time.Sleep(100 * time.Millisecond) {
		var out strings.Builder
		fmt.Fprintf(&out, "%-40s", title)
		for _, at := range seats {
			fmt.Fprintf(&out, "| %-25s ", at.kind+", "+at.title)
		}
		out.WriteString("|\n")
		for _, row := range cells {
			fmt.Fprintf(&out, "%-40s", row[0].way.name)
			for _, c := range row {
				fmt.Fprintf(&out, "| %-25s ", c.became())
			}
			out.WriteString("|\n")
		}
		if same++; out.String() != table {
			same = 0
		}
		table = out.String()
	}
	return table + "\n"
}

func minted(t *testing.T) string {
	t.Helper()
	code, err := tokens.Mint(8)
	if err != nil {
		t.Fatal(err)
	}
	return code.Reveal()
}

func golden(t *testing.T, got string) {
	t.Helper()
	file := filepath.Join("testdata", "who-is-heard.golden")
	if *rewrite {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s says otherwise: run go test -run TestWhoIsHeard -update and read it", file)
	}
}
