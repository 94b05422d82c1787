package daemon

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
)

// A monitor watched the exit code of status. The gateway was never connected, the bot was
// kicked, the token revoked: status said "receives" and 0, and each call was denied. Now a
// channel receives only if its platform said so.
func TestStatusOfAChannel(t *testing.T) {
	at := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	one, none := 1, 0
	state := func(c broadcaster.CardsState, chat string) []broadcaster.CardsState {
		c.To.Conversation = chat
		return []broadcaster.CardsState{c}
	}
	kicked := func(since time.Time) []broadcaster.CardsState {
		return state(broadcaster.CardsState{NoneSince: since, Problem: "403: kicked"}, "C")
	}
	stale := func(since time.Time) []broadcaster.CardsState {
		return state(broadcaster.CardsState{LastPost: at, StaleSince: since, EditProblem: "502"}, "S")
	}
	fine := func(last time.Time) []broadcaster.CardsState {
		return state(broadcaster.CardsState{LastPost: last}, "G")
	}
	up := approver.Reception{Up: true, Since: at, Good: at.Add(time.Hour)}
	down := approver.Reception{Since: at, Bad: at.Add(time.Hour), Good: at.Add(-time.Hour),
		Problem: "409: another one polls"}
	for name, tt := range map[string]struct {
		state    broadcaster.ChannelState
		watchers *int
		receives bool
		fails    bool
		want     string // of both lines
	}{
		"it never connected": {broadcaster.ChannelState{Receiver: true}, nil, false, true,
			"DOES NOT RECEIVE: it has not reached its platform yet"},
		"it tried in vain": {broadcaster.ChannelState{Receiver: true,
			Reception: approver.Reception{Since: at, Bad: at, Problem: "dial"}}, nil, false, true,
			"DOES NOT RECEIVE since 2026-11-23 05:00:00 UTC: dial (approver"},
		"it receives": {broadcaster.ChannelState{Receiver: true, Reception: up}, nil, true, false,
			"slack receives since 2026-11-23 05:00:00 UTC"},
		"it failed, and is back": {broadcaster.ChannelState{Receiver: true,
			Reception: approver.Reception{Up: true, Since: at, Problem: "dial"}}, nil, true, false, "slack receives since"},
		"it did before": {broadcaster.ChannelState{Receiver: true, Reception: down}, nil, false, true,
			"another one polls; it last did at 2026-11-23 04:00:00 UTC"},
		"its token was revoked": {broadcaster.ChannelState{Receiver: true, Reception: down,
			Ended: errors.New("401\nUnauthorized")}, nil, false, true,
			"DOES NOT RECEIVE since 2026-11-23 05:00:00 UTC: 401 ⏎ Unauthorized"},
		"its own word is up still": {broadcaster.ChannelState{Receiver: true, Reception: up, Ended: errors.New("401")},
			nil, false, true, "DOES NOT RECEIVE"},
		"another daemon does not fit": {broadcaster.ChannelState{Receiver: true, Solo: true, Apart: "takes no answers in 11"},
			nil, false, true, "DOES NOT RECEIVE: takes no answers in 11"},
		"another daemon receives": {broadcaster.ChannelState{Receiver: true, Solo: true,
			There: &broadcaster.Receiving{Up: true}}, nil, false, false, "receives in another daemon that shares the store"},
		"it did here before": {broadcaster.ChannelState{Receiver: true, Solo: true, Reception: down,
			There: &broadcaster.Receiving{Up: true}}, nil, false, false,
			"receives in another daemon that shares the store, not in this one\n"},
		"another one does not": {broadcaster.ChannelState{Receiver: true, Solo: true, There: &broadcaster.Receiving{}},
			nil, false, true, "DOES NOT RECEIVE: it has not reached its platform yet"},
		"no other says anything": {broadcaster.ChannelState{Receiver: true, Solo: true}, nil, false, true,
			"DOES NOT RECEIVE: it has not reached its platform yet"},
		"it steps aside for nobody": {broadcaster.ChannelState{Receiver: true, Solo: true, Reception: down}, nil, false,
			true, "DOES NOT RECEIVE since 2026-11-23 05:00:00 UTC: 409: another one polls; it last did at"},
		"it was up when it stopped": {broadcaster.ChannelState{Receiver: true, Solo: true, Reception: up}, nil, false, true,
			"DOES NOT RECEIVE"},
		"it leads, and is down": {broadcaster.ChannelState{Receiver: true, Solo: true, Leads: true, Reception: down},
			nil, false, true, "DOES NOT RECEIVE"},
		"it leads, and receives": {broadcaster.ChannelState{Receiver: true, Solo: true, Leads: true, Reception: up}, nil,
			true, false, "slack receives since"},
		"it cannot say": {broadcaster.ChannelState{Leads: true}, nil, true, false, "slack receives"},
		"a chat gets no cards": {broadcaster.ChannelState{Receiver: true, Reception: up, Cards: kicked(at)}, nil, true,
			true, "NO CARD WENT OUT to chat C since 2026-11-23 05:00:00 UTC: 403: kicked"},
		"cards went out elsewhere": {broadcaster.ChannelState{Receiver: true, Reception: up,
			Cards: append(fine(at.Add(1)), kicked(at)...)}, nil, true, true,
			"NO CARD WENT OUT to chat C since 2026-11-23 05:00:00 UTC: 403: kicked"},
		"elsewhere, the other way": {broadcaster.ChannelState{Receiver: true, Reception: up,
			Cards: append(kicked(at), fine(at.Add(1))...)}, nil, true, true, "NO CARD WENT OUT to chat C"},
		"two chats get none": {broadcaster.ChannelState{Receiver: true, Reception: up,
			Cards: append(kicked(at.Add(time.Hour)), kicked(at)...)}, nil, true, true,
			"since 2026-11-23 05:00:00 UTC: 403: kicked; something is off in 1 other chat too"},
		"three chats get none": {broadcaster.ChannelState{Receiver: true, Reception: up,
			Cards: slices.Concat(kicked(at), kicked(at), kicked(at))}, nil, true, true, "off in 2 other chats too"},
		"a thread gets none": {broadcaster.ChannelState{Receiver: true, Reception: up,
			Cards: []broadcaster.CardsState{{To: approver.Destination{Conversation: "C", Thread: "7.1"}, NoneSince: at}}}, nil,
			true, true, "to chat C, thread 7.1 since"},
		"an old card stays": {broadcaster.ChannelState{Receiver: true, Reception: up, Cards: stale(at)}, nil, true,
			true, "CARDS IN chat S ARE NOT BROUGHT UP TO DATE since 2026-11-23 05:00:00 UTC: 502"},
		"no cards, and old ones": {broadcaster.ChannelState{Receiver: true, Reception: up,
			Cards: append(stale(at), kicked(at.Add(time.Hour))...)}, nil, true, true,
			"NO CARD WENT OUT to chat C since 2026-11-23 06:00:00 UTC: 403: kicked; something is off in 1 other chat"},
		"both in one chat": {broadcaster.ChannelState{Receiver: true, Reception: up,
			Cards: []broadcaster.CardsState{{NoneSince: at, StaleSince: at.Add(-1), Problem: "403"}}}, nil, true, true,
			"NO CARD WENT OUT"},
		"a failure that is over": {broadcaster.ChannelState{Receiver: true, Reception: up,
			Cards: []broadcaster.CardsState{{LastPost: at, Problem: "403", EditProblem: "502"}}}, nil, true, false,
			"slack receives since 2026-11-23 05:00:00 UTC\n"},
		"nobody watches": {broadcaster.ChannelState{Cards: kicked(at)}, &none, false, false,
			"nobody watches (approver watch)\n"},
		"somebody watches": {broadcaster.ChannelState{Cards: kicked(at)}, &one, true, false,
			"is watched by 1 terminal\n"},
		"the terminal has ended": {broadcaster.ChannelState{Ended: errors.New("panic")}, &one, false, true,
			"DOES NOT RECEIVE: panic"},
		"the zero value, no say": {broadcaster.ChannelState{Receiver: true, Solo: true, Leads: true}, nil, false, true,
			"has not reached its platform"},
		"it ended, another leads": {broadcaster.ChannelState{Receiver: true, Solo: true, Ended: errors.New("401")}, nil,
			false, true, "401"},
		"another daemon has its bot": {broadcaster.ChannelState{Receiver: true, Reception: approver.Reception{
			Up: true, Since: at, Contest: "another daemon receives: give each a bot", ContestSince: at.Add(time.Hour),
		}}, nil, true, true, "slack LOSES ANSWERS since 2026-11-23 06:00:00 UTC: another daemon receives: give each a bot"},
		"a card and answers missed": {broadcaster.ChannelState{Receiver: true, Reception: down, Cards: kicked(at)}, nil,
			false, true, "NO CARD WENT OUT"},
	} {
		t.Run(name, func(t *testing.T) {
			s := adminapi.ChannelOf("slack", tt.state, tt.watchers)
			said := s.Receiving() + "\n" + s.Contested() + s.Posting()
			if s.Receives != tt.receives || s.Fails() != tt.fails || !strings.Contains(said, tt.want) {
				t.Errorf("receives %v, fails %v, says %q\nwant %v, %v, %q", s.Receives, s.Fails(), said, tt.receives, tt.fails,
					tt.want)
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
	nobody := broadcaster.ChannelState{Receiver: true, Solo: true}
	elsewhere := nobody
	elsewhere.There = &broadcaster.Receiving{Up: true}
	here := broadcaster.ChannelState{Receiver: true, Solo: true, Leads: true,
		Reception: approver.Reception{Up: true, Since: time.Now()}}
	for name, tt := range map[string]struct {
		state   broadcaster.ChannelState
		trouble string
		shared  bool
		fails   bool
		want    string
	}{
		"another daemon does": {elsewhere, "", true, false, "receives in another daemon"},
		"the store is away": {elsewhere, "no quorum", true, true,
			"DOES NOT RECEIVE: the store does not say which daemon receives"},
		"it is away, and nobody shares": {elsewhere, "no quorum", false, true, "the store does not say"},
		"nobody shares the store": {nobody, "", false, true,
			"DOES NOT RECEIVE: it has not reached its platform yet (approver doctor"},
		"no other daemon says so": {nobody, "", true, true,
			"and no other daemon that shares the store says that it receives"},
		"it receives here":            {here, "", true, false, "slack receives since"},
		"here, and the store is away": {here, "no quorum", false, false, "slack receives since"},
	} {
		s := adminapi.WithStoreTrouble(adminapi.ChannelOf("slack", tt.state, nil), tt.state, tt.trouble, tt.shared)
		if s.Fails() != tt.fails || !strings.Contains(s.Receiving(), tt.want) {
			t.Errorf("%s: fails %v, says %q", name, s.Fails(), s.Receiving())
		}
	}
	at := time.Now().UTC()
	for _, times := range [][]time.Time{{at, at.Add(-time.Hour)}, {at.Add(-time.Hour), at}, {{}, at}, {at}} {
		var state broadcaster.ChannelState
		for _, last := range times {
			state.Cards = append(state.Cards, broadcaster.CardsState{LastPost: last})
		}
		if got := adminapi.ChannelOf("slack", state, nil).LastPost; !got.Equal(at) {
			t.Errorf("of %v the last post is %v", times, got)
		}
	}
}
