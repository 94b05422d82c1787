package slack

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/calls/callstest"
	"approver.example/channels/slack/slacktest"
	"approver.example/internal/secret"
)

// What Slack says, what it means, and whether the call may have been carried out.
func TestKinds(t *testing.T) {
	said := func(code string) error { return slack.SlackErrorResponse{Err: code} }
	type row struct {
		err     error
		want    calls.Kind
		unclear bool
	}
	rows := map[string]row{
		"429":                 {err: &slack.RateLimitedError{RetryAfter: 7 * time.Second}, want: calls.Limited},
		"429 without a time":  {err: slack.StatusCodeError{Code: 429}, want: calls.Limited},
		"404":                 {err: slack.StatusCodeError{Code: 404}},
		"500":                 {err: slack.StatusCodeError{Code: 500}, unclear: true},
		"503":                 {err: slack.StatusCodeError{Code: 503}, unclear: true},
		"no connection":       {err: &net.OpError{Op: "dial", Err: errors.New("refused")}},
		"a cut connection":    {err: &net.OpError{Op: "read", Err: errors.New("reset")}, unclear: true},
		"no time left":        {err: context.DeadlineExceeded, unclear: true},
		"a proxy's page":      {err: &calls.ForeignError{Status: 200}, unclear: true},
		"brand_new_trouble":   {err: said("brand_new_trouble")},
		"team_added_to_org":   {err: said("team_added_to_org")},
		"too_many_websockets": {err: said("too_many_websockets")},
	}
	for kind, codes := range map[calls.Kind]string{
		calls.Revoked: "invalid_auth not_authed account_inactive token_revoked token_expired",
		calls.Fatal: "missing_scope no_permission not_allowed_token_type team_access_not_granted org_login_required " +
			"link_disabled",
		calls.Refused: "not_in_channel channel_not_found is_archived message_not_found thread_not_found " +
			"cannot_reply_to_message cant_update_message edit_window_closed restricted_action " +
			"restricted_action_read_only_channel restricted_action_thread_only_channel " +
			"restricted_action_non_threadable_channel restricted_action_thread_locked " +
			"method_not_supported_for_channel_type messages_tab_disabled user_is_restricted access_denied " +
			"ekm_access_denied no_text msg_too_long msg_blocks_too_long invalid_blocks invalid_blocks_format " +
			"invalid_arguments",
		calls.Limited:   "ratelimited rate_limited",
		calls.Transient: "internal_error fatal_error request_timeout service_unavailable",
	} {
		for code := range strings.FieldsSeq(codes) {
			rows[code] = row{said(code), kind, kind == calls.Transient}
		}
	}
	for code := range answers {
		if _, tested := rows[code]; !tested {
			t.Errorf("%s is known and not tested", code)
		}
	}
	for name, c := range rows {
		err := sorted("chat.postMessage", c.err)
		if calls.KindOf(err) != c.want || calls.Unclear(err) != c.unclear {
			t.Errorf("%s: %+v", name, err)
		}
		var p approver.Patience
		if errors.Is(err, approver.ErrFinal) != (c.want == calls.Refused || c.want == calls.Fatal) ||
			errors.As(err, &p) != (c.want == calls.Limited) {
			t.Errorf("%s means something else to the core: %v", name, err)
		}
		if again := sorted("another", err); again != err {
			t.Errorf("%s is sorted twice: %v", name, again)
		}
	}
}

// The story: nobody closed the connection to Slack, but nothing came through it any more. Slack
// sends a ping now and then; a connection without one is left, and a press comes through.
func TestADeadSocketIsLeft(t *testing.T) {
	const ann, here = "U0ANN12345", "C0HERE1234"
	s := slacktest.New(slacktest.Options{PingInterval: 50 * time.Millisecond})
	t.Cleanup(s.Close)
	s.AddUser(slacktest.User{ID: ann, Name: "ann"})
	s.AddConversation(slacktest.Conversation{ID: here})
	front := callstest.NewFront(t, s.Addr, callstest.Certificate{})
	c, err := New(Config{
		BotToken: secret.New(slacktest.BotToken), AppToken: secret.New(slacktest.AppToken), Channels: []string{here},
		Approvers: []approver.Approver{{ID: ann}}, APIURL: "http://" + front.Addr + "/api/", Connections: 1,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.silence != 30*time.Second {
		t.Errorf("a silent connection is noticed after %v", c.silence)
	}
	c.silence = 500 * time.Millisecond
	heard := make(chan approver.Reply, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- c.Run(ctx, func(_ context.Context, r approver.Reply) approver.Outcome {
			heard <- r
			return approver.Outcome{Kind: approver.OutcomeDenied, Text: "Denied."}
		})
	}()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	opened := func(n int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			if _, ever := s.Connections(); ever >= n && c.Reception().Up {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("waited in vain for connection %d: %+v", n, c.Reception())
			}
		}
	}
	opened(1)
	card := approver.Card{Request: "01a202c8-d1ca-7ed5-8a27-ef64d1726bbc", State: approver.Pending,
		Severity: approver.High, OneTap: true, Push: "🟠 HIGH · Deploy"}
	ref, err := c.Post(ctx, approver.Destination{Channel: Name, Conversation: here}, card)
	if err != nil {
		t.Fatal(err)
	}
	front.Tunnel.Die()
	opened(2)
	if err := s.Tap(ann, here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	select {
	case <-heard:
	case <-time.After(time.Minute):
		t.Error("the press was lost")
	}
}
