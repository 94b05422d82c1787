package channeltest_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/channeltest/fake"
	"approver.example/fingerprint"
	"approver.example/store/sqlitestore"
)

var update = flag.Bool("update", false, "write the golden files anew")

// An app is a chat platform with our channel on it, as the matrix uses it.
type app interface {
	fake.Platform
	fake.Filler
	postman

	// add makes somebody new of a kind, and returns their id; empty if the platform has none.
	add(kind string) string
	// open makes the channel for these approvers, and returns where its cards go.
	open(approvers []approver.Approver) (approver.Channel, approver.Destination, error)
	// press sends the press of a button that the card need not have, as a changed client could.
	press(user, conversation, message, request string, button fake.Button)
	// pressCopy sends the press of a button on a copy of the card in the conversation elsewhere, which gets none.
	pressCopy(t try, button fake.Button)
	elsewhere() string
	// pressAs sends the press of Approve by somebody with an id of the test's choice, who is called like an approver.
	pressAs(t try, id string)
	// gesture sends what else people do to a card and to their messages: reactions, and edits that make an answer.
	gesture(t try)
	// asks reports whether a person was shown something that waits for their text, or a page.
	asks(user string) bool
	// unseen are the ways in that the platform does not show to the bot.
	unseen() []string
	// also are the ways in that only this platform has.
	also() []way
}

// A try is one attempt of somebody to answer a card.
type try struct {
	app
	to      approver.Destination
	request string
	message string
	code    string
	other   other
	user    string
	unheard bool // the channel has no word for such a user, so no dialog opens
}

// An other is a card that nobody answers: what is taken from it must not count on another card.
type other struct{ request, code string }

// A way is one way in.
type way struct {
	name string
	send func(t try)
	// quiet says that the bot is not addressed: whoever is not on the list may hear nothing.
	quiet bool
	// never says that it counts for nobody.
	never bool
	// unseen says that the platform does not show it to the bot.
	unseen bool
}

// button is a press, whether or not the card has the button, and for some the text that it asks for.
func button(name string, b fake.Button, text string) way {
	return way{name: name, send: func(t try) {
		var err error
		switch {
		case text != "" && !t.unheard:
			err = t.Fill(t.user, t.to.Conversation, t.message, b, text)
		default:
			err = t.Tap(t.user, t.to.Conversation, t.message, b)
		}
		if err != nil {
			t.press(t.user, t.to.Conversation, t.message, t.request, b)
		}
	}}
}

func (t try) text(s string) string {
	return strings.NewReplacer("OTHER", t.other.code, "CODE", t.code).Replace(s)
}

func typed(text string, quiet bool) way {
	return way{name: text, quiet: quiet, send: func(t try) { t.Type(t.user, t.to.Conversation, t.text(text)) }}
}

func replied(text string) way {
	return way{name: "reply: " + text, quiet: true, send: func(t try) {
		t.ReplyTo(t.user, t.to.Conversation, t.message, t.text(text))
	}}
}

// entered is the other card's code in this card's own dialog, or where it has none, as a reply to it.
func (t try) entered() {
	for _, c := range t.Cards(t.to.Conversation) {
		if c.Message == t.message && slices.Contains(c.Buttons, fake.CodeButton) && !t.unheard &&
			t.EnterCode(t.user, t.to.Conversation, t.message, t.other.code) == nil {
			return
		}
	}
	t.ReplyTo(t.user, t.to.Conversation, t.message, t.other.code)
}

// elsewhere types something in a conversation that gets no cards.
func elsewhere(text string) way {
	return never(way{name: "elsewhere: " + text, quiet: true, send: func(t try) {
		t.Type(t.user, t.elsewhere(), t.text(text))
	}})
}

func never(w way) way { w.never = true; return w }

// ways are the ways in that all platforms have.
var ways = []way{
	button("Approve once", fake.ApproveButton, ""), button("15 min", fake.QuarterButton, ""),
	button("Session", fake.SessionButton, ""), button("Deny", fake.DenyButton, ""),
	button("Details", fake.DetailsButton, ""), button("+10 min", fake.TimeButton, ""),
	button("Not mine", fake.DisownButton, ""), button("Deny, say why…", fake.WhyButton, "use a branch instead"),
	button("Edit…", fake.EditButton, "make other"),
	{name: "Enter code…", send: func(t try) {
		if t.unheard || t.EnterCode(t.user, t.to.Conversation, t.message, t.code) != nil {
			t.press(t.user, t.to.Conversation, t.message, t.request, fake.CodeButton)
		}
	}},
	typed("/approve CODE", false), typed("/deny CODE use a branch", false), typed("CODE", true),
	replied("CODE"), replied("yes"), replied("no"), replied("no, use a branch instead"), replied("what is this?"),
	never(way{name: "Enter another card's code", quiet: true, send: try.entered}), never(replied("no OTHER")),
	never(way{name: "Approve another card", send: func(t try) {
		t.press(t.user, t.to.Conversation, t.message, t.other.request, fake.ApproveButton)
	}}),
	elsewhere("/approve CODE"), never(way{name: "elsewhere: Approve once", quiet: true, send: func(t try) {
		t.pressCopy(t, fake.ApproveButton)
	}}),
}

// The kinds of people, the one whose answers count last. All have the same name. Bots and outsiders stand on the
// list of approvers, which an attacker may have tricked somebody into.
var kinds = []string{"bot", "outsider", "member", "ex-approver", "approver"}

// A state is how the request stands when the answer comes.
type state struct {
	name  string
	sev   approver.Severity
	begin func(m *matrix)
}

var states = [...]state{
	{"open", approver.High, nil},
	{"open, CATASTROPHIC", approver.Catastrophic, nil},
	{"parked", approver.High, func(m *matrix) {
		m.wait(approver.Pending, func(r broadcaster.Request) bool { return r.Parked })
	}},
	{"approved", approver.High, func(m *matrix) { m.answerAll(true) }},
	{"denied", approver.High, func(m *matrix) { m.answerAll(false) }},
	{"expired", approver.High, func(m *matrix) { m.wait(approver.Expired, nil) }},
	{"withdrawn", approver.High, func(m *matrix) { m.leave(); m.wait(approver.Withdrawn, nil) }},
	{"frozen", approver.High, func(m *matrix) {
		if _, err := m.core.Controls.Freeze(m.t.Context(), "root", ""); err != nil {
			m.t.Fatal(err)
		}
		m.wait(approver.Denied, nil)
	}},
}

// A matrix is a running channel with one request for each way in, all in one state.
type matrix struct {
	app

	core  *broadcaster.Broadcaster
	t     *testing.T
	to    approver.Destination
	ways  []way
	tries []try // without their users; the last is that of the other card
	who   map[string][]string
	boss  string
	want  map[string]string // the cells of the golden file
	leave context.CancelFunc

	strangers sync.Mutex
}

// Bug classes A1 to A6, B12, C15, C18, C20 and C21 of approval systems: a way in that has no check or another
// one, a yes that lasts longer than it was meant to, an answer to what is over, silence. Every way in, as
// every kind of person, to a request in every state, on the three chat platforms: the golden file says who got
// through, and people read it. What must hold in each cell is checked whatever the file says.
func TestWhoGetsThrough(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while, and the race detector sees the same in the tests of each channel")
	}
	for name, start := range platforms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tableOf(t, name, start)
		})
	}
}

// platforms are the chats that have a fake.
var platforms = map[string]func(*testing.T) app{"telegram": newTelegram, "discord": newDiscord, "slack": newSlack}

// tableOf is the table of one platform, with all states at once.
func tableOf(t *testing.T, name string, start func(*testing.T) app) {
	tables := [len(states)]string{}
	var all sync.WaitGroup // they wait most of the time
	for i, s := range states {
		all.Go(func() {
			t.Run(s.name, func(t *testing.T) { tables[i] = newMatrix(t, start(t), s).table(s) })
		})
	}
	all.Wait()
	compare(t, name, strings.Join(tables[:], "\n"))
}

// newMatrix starts the channel and the core, and brings all requests into the state.
func newMatrix(t *testing.T, a app, s state) *matrix {
	m := &matrix{app: a, t: t, ways: append(slices.Clone(ways), a.also()...), who: map[string][]string{}}
	for i, w := range m.ways {
		m.ways[i].unseen = slices.Contains(a.unseen(), w.name)
	}
	var listed []approver.Approver
	add := func(kind, person string) string {
		id := a.add(kind)
		if id != "" && kind != "member" {
			listed = append(listed, approver.Approver{ID: id, Name: sameName, Person: person})
		}
		return id
	}
	m.boss = add("approver", "boss")
	for range m.ways {
		for _, kind := range kinds {
			m.who[kind] = append(m.who[kind], add(kind, kind))
		}
	}
	channel, to, err := a.open(listed)
	if err != nil {
		t.Fatal(err)
	}
	m.to, m.want = to, golden(to.Channel, s)
	kv := embeddedIn(t, filepath.Join(t.TempDir(), "m.db"))
	o := coreOptions(kv, channel, to, listed)
	if s.name == "expired" {
		o.TTL = 12 * time.Second // for all cards to be posted, also on a busy machine
	}
	m.run(o)
	m.ask(s)
	if _, err := m.core.Removals.Remove(t.Context(), broadcaster.Removal{Person: "ex-approver", By: "root"}); err != nil {
		t.Fatal(err)
	}
	if s.begin != nil {
		s.begin(m)
	}
	return m
}

// embeddedIn is a store in a file of its own.
func embeddedIn(t *testing.T, file string) approver.KV {
	kv, err := sqlitestore.Open(sqlitestore.Config{Path: file}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kv.Close() })
	return kv
}

// coreOptions are those of a core with one channel, which binds calls as the daemon does.
func coreOptions(
	kv approver.KV, channel approver.Channel, to approver.Destination, listed []approver.Approver,
) broadcaster.Options {
	people := approver.People{}
	people.Add(channel.Name(), listed)
	return broadcaster.Options{
		Store: kv, Audit: keeper{}, People: people, Channels: []approver.Channel{channel},
		Destinations: []approver.Destination{to}, CodeKey: make([]byte, 32), Log: slog.New(slog.DiscardHandler),
		Unlimited: true, // as the fakes are
		Fingerprint: func(_ context.Context, c approver.ToolCall) (approver.Binding, error) {
			return fingerprint.Bind(c, "policy", nil, nil)
		},
		Limit: func(context.Context, string, approver.ToolCall) error { return nil },
		Judge: func(context.Context, approver.ToolCall) approver.Verdict {
			return approver.Verdict{Decision: approver.Pass}
		},
	}
}

// run starts the core, and returns how to stop it.
func (m *matrix) run(o broadcaster.Options) (stop func()) {
	if err := broadcaster.BeginControls(m.t.Context(), o.Store); err != nil {
		m.t.Fatal(err)
	}
	var err error
	if m.core, err = broadcaster.NewBroadcaster(o); err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = m.core.Run(ctx) }()
	stop = func() { cancel(); <-ended }
	m.t.Cleanup(stop)
	return stop
}

var codeOnCard = regexp.MustCompile(`CONFIRM-\w+`)

// ask makes a request for each way in, and waits for their cards.
func (m *matrix) ask(s state) {
	ctx, leave := context.WithCancel(context.Background())
	m.leave = leave
	var all sync.WaitGroup
	m.t.Cleanup(func() { leave(); all.Wait() })
	for i := range len(m.ways) + 1 {
		call := approver.ToolCall{ID: fmt.Sprintf("%032d", i), Agent: "claude", Session: "s", Tool: "Bash",
			Command: fmt.Sprintf("make target-%02d", i), Dir: "/repo", At: time.Now(), Changes: true}
		call.Args = fmt.Appendf(nil, `{"command":%q}`, call.Command)
		call.Peer = approver.Peer{Known: true, UID: uint32(1000 + i)} //nolint:gosec // a few
		if s.name == "parked" {
			call.ParkAt = time.Now()
		}
		all.Go(func() {
			m.core.Ask(ctx, call, approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: s.sev})
		})
	}
	m.tries = make([]try, len(m.ways)+1)
	m.until("the cards", func() bool {
		open, _ := m.core.Requests.Open(m.t.Context())
		ready := 0
		for _, r := range open {
			var i int
			_, _ = fmt.Sscanf(r.Call.Command, "make target-%d", &i)
			for _, card := range m.Cards(m.to.Conversation) {
				code := codeOnCard.FindString(card.Text)
				if strings.Contains(card.Text, r.Call.Command) && code != "" && r.Postings[0].Phase == broadcaster.Posted {
					m.tries[i] = try{app: m.app, to: m.to, request: r.ID, message: card.Message, code: code}
					ready++
				}
			}
		}
		return ready == len(m.tries)
	})
	last := m.tries[len(m.ways)]
	for i := range m.tries {
		m.tries[i].other = other{last.request, last.code}
	}
}

func (m *matrix) until(what string, ok func() bool) {
	m.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			m.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// wait waits until all requests are in a state.
func (m *matrix) wait(s approver.State, also func(broadcaster.Request) bool) {
	for _, one := range m.tries {
		m.until(s.String(), func() bool {
			r := m.request(one.request)
			return r.State == s && (also == nil || also(r))
		})
	}
}

func (m *matrix) request(id string) broadcaster.Request {
	r, err := m.core.Requests.Get(context.Background(), id)
	if err != nil {
		m.t.Fatal(err)
	}
	return r
}

// answerAll has somebody else answer all requests.
func (m *matrix) answerAll(yes bool) {
	for _, one := range m.tries {
		m.core.Answers.Reply(m.t.Context(), approver.Reply{Channel: m.to.Channel, Conversation: m.to.Conversation,
			Sender: m.boss, Approve: yes, Method: approver.ByTap, Request: one.request, Message: one.message})
	}
	m.wait(map[bool]approver.State{true: approver.Consumed, false: approver.Denied}[yes], nil)
}

// table tries every way in as every kind of person. The ways have requests and people of their own, so they
// are tried at once.
func (m *matrix) table(s state) string {
	rows := make([]string, len(m.ways))
	other := m.request(m.tries[len(m.ways)].request)
	var all sync.WaitGroup
	for i, w := range m.ways {
		all.Go(func() {
			rows[i] = fmt.Sprintf("  %-32s%s", w.name, m.row(s, i))
		})
	}
	all.Wait()
	if now := m.request(other.ID); now.State != other.State || now.Resolution.Person != other.Resolution.Person {
		m.t.Errorf("%s: what was taken from the other card counted: it is %v", s.name, now.State)
	}
	head := fmt.Sprintf("%-34s", s.name)
	for _, kind := range kinds {
		head += fmt.Sprintf("%-14s", kind)
	}
	return regexp.MustCompile(` +\n`).ReplaceAllString(head+"\n"+strings.Join(rows, "\n")+"\n", "\n")
}

// row tries one way in.
func (m *matrix) row(s state, i int) (row string) {
	cells := make([]string, len(kinds))
	try := func(k int, kind string) {
		if kind != "approver" { // of many refusals at once the channels drop some
			m.strangers.Lock()
			defer m.strangers.Unlock()
		}
		one := m.tries[i]
		one.user, one.unheard = m.who[kind][i], kind == "bot" || kind == "outsider"
		was := m.request(one.request)
		m.ways[i].send(one)
		cells[k] = m.became(one, was, m.ways[i], kind)
		m.check(s, m.ways[i], kind, was, cells[k])
	}
	for k, kind := range kinds {
		if m.who[kind][i] != "" {
			try(k, kind)
		}
	}
	for k, kind := range kinds {
		if cells[k] == "-" && len(m.Told(m.who[kind][i])) > 0 { // it took longer
			cells[k] = "told"
		}
		row += fmt.Sprintf("%-14s", cells[k])
	}
	return row
}
