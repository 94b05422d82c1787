package daemon

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/daemon/adminapi"
)

// A monitor watched the exit code of status. The gateway was never connected, the bot was
// kicked, the token revoked: status said "receives" and 0, and each call was denied. Now a
// channel receives only if its platform said so.
func TestStatusOfAChannel(t *testing.T) {
	at := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	one, none := 1, 0
	state := func(c approver.CardsState, chat string) []approver.CardsState {
		c.To.Conversation = chat
		return []approver.CardsState{c}
	}
	kicked := func(since time.Time) []approver.CardsState {
		return state(approver.CardsState{NoneSince: since, Problem: "403: kicked"}, "C")
	}
	stale := func(since time.Time) []approver.CardsState {
		return state(approver.CardsState{LastPost: at, StaleSince: since, EditProblem: "502"}, "S")
	}
	fine := func(last time.Time) []approver.CardsState { return state(approver.CardsState{LastPost: last}, "G") }
	up := approver.Reception{Up: true, Since: at, Good: at.Add(time.Hour)}
	down := approver.Reception{Since: at, Bad: at.Add(time.Hour), Good: at.Add(-time.Hour), Problem: "409: another one polls"}
	for name, tt := range map[string]struct {
		state    approver.ChannelState
		watchers *int
		receives bool
		fails    bool
		want     string // of both lines
	}{
		"it never connected":          {approver.ChannelState{Receiver: true}, nil, false, true, "DOES NOT RECEIVE: it has not reached its platform yet"},
		"it tried in vain":            {approver.ChannelState{Receiver: true, Reception: approver.Reception{Since: at, Bad: at, Problem: "dial"}}, nil, false, true, "DOES NOT RECEIVE since 2026-11-23 05:00:00 UTC: dial (approver"},
		"it receives":                 {approver.ChannelState{Receiver: true, Reception: up}, nil, true, false, "slack receives since 2026-11-23 05:00:00 UTC"},
		"it failed, and is back":      {approver.ChannelState{Receiver: true, Reception: approver.Reception{Up: true, Since: at, Problem: "dial"}}, nil, true, false, "slack receives since"},
		"it did before":               {approver.ChannelState{Receiver: true, Reception: down}, nil, false, true, "another one polls; it last did at 2026-11-23 04:00:00 UTC"},
		"its token was revoked":       {approver.ChannelState{Receiver: true, Reception: down, Ended: errors.New("401\nUnauthorized")}, nil, false, true, "DOES NOT RECEIVE since 2026-11-23 05:00:00 UTC: 401 ⏎ Unauthorized"},
		"its own word is up still":    {approver.ChannelState{Receiver: true, Reception: up, Ended: errors.New("401")}, nil, false, true, "DOES NOT RECEIVE"},
		"another daemon does not fit": {approver.ChannelState{Receiver: true, Solo: true, Apart: "takes no answers in 11"}, nil, false, true, "DOES NOT RECEIVE: takes no answers in 11"},
		"another daemon receives":     {approver.ChannelState{Receiver: true, Solo: true, There: &approver.Receiving{Up: true}}, nil, false, false, "receives in another daemon that shares the store"},
		"it did here before":          {approver.ChannelState{Receiver: true, Solo: true, Reception: down, There: &approver.Receiving{Up: true}}, nil, false, false, "receives in another daemon that shares the store, not in this one\n"},
		"another one does not":        {approver.ChannelState{Receiver: true, Solo: true, There: &approver.Receiving{}}, nil, false, true, "DOES NOT RECEIVE: it has not reached its platform yet"},
		"no other says anything":      {approver.ChannelState{Receiver: true, Solo: true}, nil, false, true, "DOES NOT RECEIVE: it has not reached its platform yet"},
		"it steps aside for nobody":   {approver.ChannelState{Receiver: true, Solo: true, Reception: down}, nil, false, true, "DOES NOT RECEIVE since 2026-11-23 05:00:00 UTC: 409: another one polls; it last did at"},
		"it was up when it stopped":   {approver.ChannelState{Receiver: true, Solo: true, Reception: up}, nil, false, true, "DOES NOT RECEIVE"},
		"it leads, and is down":       {approver.ChannelState{Receiver: true, Solo: true, Leads: true, Reception: down}, nil, false, true, "DOES NOT RECEIVE"},
		"it leads, and receives":      {approver.ChannelState{Receiver: true, Solo: true, Leads: true, Reception: up}, nil, true, false, "slack receives since"},
		"it cannot say":               {approver.ChannelState{Leads: true}, nil, true, false, "slack receives"},
		"a chat gets no cards":        {approver.ChannelState{Receiver: true, Reception: up, Cards: kicked(at)}, nil, true, true, "NO CARD WENT OUT to chat C since 2026-11-23 05:00:00 UTC: 403: kicked"},
		"cards went out elsewhere":    {approver.ChannelState{Receiver: true, Reception: up, Cards: append(fine(at.Add(1)), kicked(at)...)}, nil, true, true, "NO CARD WENT OUT to chat C since 2026-11-23 05:00:00 UTC: 403: kicked"},
		"elsewhere, the other way":    {approver.ChannelState{Receiver: true, Reception: up, Cards: append(kicked(at), fine(at.Add(1))...)}, nil, true, true, "NO CARD WENT OUT to chat C"},
		"two chats get none":          {approver.ChannelState{Receiver: true, Reception: up, Cards: append(kicked(at.Add(time.Hour)), kicked(at)...)}, nil, true, true, "since 2026-11-23 05:00:00 UTC: 403: kicked; something is off in 1 other chat too"},
		"three chats get none":        {approver.ChannelState{Receiver: true, Reception: up, Cards: slices.Concat(kicked(at), kicked(at), kicked(at))}, nil, true, true, "off in 2 other chats too"},
		"a thread gets none":          {approver.ChannelState{Receiver: true, Reception: up, Cards: []approver.CardsState{{To: approver.Destination{Conversation: "C", Thread: "7.1"}, NoneSince: at}}}, nil, true, true, "to chat C, thread 7.1 since"},
		"an old card stays":           {approver.ChannelState{Receiver: true, Reception: up, Cards: stale(at)}, nil, true, true, "CARDS IN chat S ARE NOT BROUGHT UP TO DATE since 2026-11-23 05:00:00 UTC: 502"},
		"no cards, and old ones":      {approver.ChannelState{Receiver: true, Reception: up, Cards: append(stale(at), kicked(at.Add(time.Hour))...)}, nil, true, true, "NO CARD WENT OUT to chat C since 2026-11-23 06:00:00 UTC: 403: kicked; something is off in 1 other chat"},
		"both in one chat":            {approver.ChannelState{Receiver: true, Reception: up, Cards: []approver.CardsState{{NoneSince: at, StaleSince: at.Add(-1), Problem: "403"}}}, nil, true, true, "NO CARD WENT OUT"},
		"a failure that is over":      {approver.ChannelState{Receiver: true, Reception: up, Cards: []approver.CardsState{{LastPost: at, Problem: "403", EditProblem: "502"}}}, nil, true, false, "slack receives since 2026-11-23 05:00:00 UTC\n"},
		"nobody watches":              {approver.ChannelState{Cards: kicked(at)}, &none, false, false, "nobody watches (approver watch)\n"},
		"somebody watches":            {approver.ChannelState{Cards: kicked(at)}, &one, true, false, "is watched by 1 terminal\n"},
		"the terminal has ended":      {approver.ChannelState{Ended: errors.New("panic")}, &one, false, true, "DOES NOT RECEIVE: panic"},
		"the zero value, no say":      {approver.ChannelState{Receiver: true, Solo: true, Leads: true}, nil, false, true, "has not reached its platform"},
		"it ended, another leads":     {approver.ChannelState{Receiver: true, Solo: true, Ended: errors.New("401")}, nil, false, true, "401"},
		"a card and answers missed":   {approver.ChannelState{Receiver: true, Reception: down, Cards: kicked(at)}, nil, false, true, "NO CARD WENT OUT"},
	} {
		t.Run(name, func(t *testing.T) {
			s := adminapi.ChannelOf("slack", tt.state, tt.watchers)
			said := s.Receiving() + "\n" + s.Posting()
			if s.Receives != tt.receives || s.Fails() != tt.fails || !strings.Contains(said, tt.want) {
				t.Errorf("receives %v, fails %v, says %q\nwant %v, %v, %q", s.Receives, s.Fails(), said, tt.receives, tt.fails, tt.want)
			}
			if well := (adminapi.Status{Up: true, Channels: []adminapi.Channel{s}}).Well(); well == tt.fails {
				t.Errorf("status is well: %v", well)
			}
			if s.Error != "" && s.Receives {
				t.Error("it receives, with an error")
			}
		})
	}
}

// The story: the store was away, so no daemon had the lease of the bot. Status said that
// another daemon receives, and was well. That is said only where the store grants leases
// and another daemon can have one.
func TestWhoReceivesElsewhere(t *testing.T) {
	nobody := approver.ChannelState{Receiver: true, Solo: true}
	elsewhere := nobody
	elsewhere.There = &approver.Receiving{Up: true}
	here := approver.ChannelState{Receiver: true, Solo: true, Leads: true, Reception: approver.Reception{Up: true, Since: time.Now()}}
	for name, tt := range map[string]struct {
		state   approver.ChannelState
		trouble string
		shared  bool
		fails   bool
		want    string
	}{
		"another daemon does":           {elsewhere, "", true, false, "receives in another daemon"},
		"the store is away":             {elsewhere, "no quorum", true, true, "DOES NOT RECEIVE: the store does not say which daemon receives"},
		"it is away, and nobody shares": {elsewhere, "no quorum", false, true, "the store does not say"},
		"nobody shares the store":       {nobody, "", false, true, "DOES NOT RECEIVE: it has not reached its platform yet (approver doctor"},
		"no other daemon says so":       {nobody, "", true, true, "and no other daemon that shares the store says that it receives"},
		"it receives here":              {here, "", true, false, "slack receives since"},
		"here, and the store is away":   {here, "no quorum", false, false, "slack receives since"},
	} {
		s := adminapi.WithStoreTrouble(adminapi.ChannelOf("slack", tt.state, nil), tt.state, tt.trouble, tt.shared)
		if s.Fails() != tt.fails || !strings.Contains(s.Receiving(), tt.want) {
			t.Errorf("%s: fails %v, says %q", name, s.Fails(), s.Receiving())
		}
	}
	at := time.Now().UTC()
	for _, times := range [][]time.Time{{at, at.Add(-time.Hour)}, {at.Add(-time.Hour), at}, {{}, at}, {at}} {
		var state approver.ChannelState
		for _, last := range times {
			state.Cards = append(state.Cards, approver.CardsState{LastPost: last})
		}
		if got := adminapi.ChannelOf("slack", state, nil).LastPost; !got.Equal(at) {
			t.Errorf("of %v the last post is %v", times, got)
		}
	}
}
