package adminapi

import (
	"errors"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
)

// The story: status said that on-call receives, which nothing ever does there.
func TestAChannelThatOnlyCallsPeopleDoesNotReceive(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	to := approver.Destination{Channel: "oncall", Conversation: "pagerduty"}
	for name, c := range map[string]struct {
		state  broadcaster.ChannelState
		says   string
		fails  bool
		posted string
	}{
		"not used yet": {broadcaster.ChannelState{Pages: true}, "not used since the daemon started, so not checked",
			false, ""},
		"used": {broadcaster.ChannelState{Pages: true, Cards: []broadcaster.CardsState{{To: to, LastPost: at}}},
			"the last time at 2026-11-30 12:00:00 UTC", false, ""},
		"refused": {broadcaster.ChannelState{Pages: true,
			Cards: []broadcaster.CardsState{{To: to, NoneSince: at, Problem: "copy the key again"}}},
			"nobody can answer there", true,
			"NO CARD WENT OUT to chat pagerduty since 2026-11-30 12:00:00 UTC: copy the key again"},
		"ended": {broadcaster.ChannelState{Pages: true, Ended: errors.New("panic")}, "DOES NOT RECEIVE: panic", true, ""},
	} {
		s := ChannelOf("oncall", c.state, nil)
		if s.Receives || !s.Pages || !strings.Contains(s.Receiving(), c.says) || s.Fails() != c.fails ||
			!strings.Contains(s.Posting(), c.posted) {
			t.Errorf("%s: %+v says %q, %q", name, s, s.Receiving(), s.Posting())
		}
	}
}
