package slack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"approver.example/channels/internal/calls"
	"approver.example/internal/secret"
)

const (
	callTimeout   = 15 * time.Second
	maxResponse   = 8 << 20 // bytes of one Web API answer
	maxLimited    = 5       // times that one call waits for a rate limit
	maxLimitPause = 2 * time.Minute
)

// An answer is what an error from Slack means, and what to do if something can be done.
type answer struct {
	kind calls.Kind
	cure string
}

// answers are the errors from Slack that are known. Any other may be temporary.
var answers = map[string]answer{
	"invalid_auth":     {calls.Revoked, "the token is wrong: copy it again from the app's page"},
	"not_authed":       {calls.Revoked, "no token was sent: set bot_token_file and app_token_file"},
	"account_inactive": {calls.Revoked, "the token's user or workspace is gone: install the app again"},
	"token_revoked":    {calls.Revoked, "the token was revoked: install the app again"},
	"token_expired":    {calls.Revoked, "the token has expired: install the app again without token rotation"},
	"missing_scope": {calls.Fatal, "the token lacks a scope: add it under OAuth & Permissions and " +
		"install the app again"},
	"no_permission": {calls.Fatal, "the workspace does not let this app do that: ask its admin"},
	"not_allowed_token_type": {calls.Fatal, "this is another kind of token: bot_token is xoxb-…, " +
		"app_token is xapp-…"},
	"team_access_not_granted": {calls.Fatal, "the organization has not granted the app access to this " +
		"workspace: ask its admin"},
	"org_login_required": {calls.Fatal, "the workspace was moved into an organization: install the app again"},
	"link_disabled":      {calls.Fatal, "Socket Mode is off: enable it on the app's page"},
	"not_in_channel":     {calls.Refused, "the bot is not in the conversation: type /invite @bot there"},
	"channel_not_found": {calls.Refused, "the conversation does not exist or the bot is not in it: type " +
		"/invite @bot there, or correct the id under channels"},
	"is_archived":             {calls.Refused, "the conversation is archived: unarchive it, or use another one"},
	"message_not_found":       {calls.Refused, "somebody deleted the card"},
	"thread_not_found":        {calls.Refused, "somebody deleted the thread"},
	"cannot_reply_to_message": {calls.Refused, ""},
	"cant_update_message":     {calls.Refused, "the message is not the bot's own"},
	"edit_window_closed": {calls.Refused, "the workspace does not let messages be edited for so long: " +
		"ask its admin"},
	"restricted_action": {calls.Refused, "the workspace does not let the bot post there: ask its admin"},
	"restricted_action_read_only_channel": {calls.Refused, "only some may post there: let the bot, or " +
		"use another conversation"},
	"restricted_action_thread_only_channel": {calls.Refused, "the conversation takes replies only: use " +
		"another one"},
	"restricted_action_non_threadable_channel": {calls.Refused, "the conversation takes no replies: use " +
		"another one"},
	"restricted_action_thread_locked":       {calls.Refused, "the thread is locked"},
	"method_not_supported_for_channel_type": {calls.Refused, "use a conversation of another kind"},
	"messages_tab_disabled":                 {calls.Refused, "switch on the app's Messages tab under App Home"},
	"user_is_restricted":                    {calls.Refused, "the bot is a restricted user: ask the workspace's admin"},
	"access_denied":                         {calls.Refused, "ask the workspace's admin"},
	"ekm_access_denied":                     {calls.Refused, "the organization has withdrawn its keys: ask its admin"},
	"no_text":                               {calls.Refused, ""},
	"msg_too_long":                          {calls.Refused, ""},
	"msg_blocks_too_long":                   {calls.Refused, ""},
	"invalid_blocks":                        {calls.Refused, ""},
	"invalid_blocks_format":                 {calls.Refused, ""},
	"invalid_arguments":                     {calls.Refused, ""},
	"ratelimited":                           {calls.Limited, ""},
	"rate_limited":                          {calls.Limited, ""},
	"too_many_websockets": {calls.Transient, "Slack allows an app ten connections, and all are taken: by " +
		"daemons with stores of their own, or with different numbers under connections; docs/channels/slack.md says what " +
		"to do"},
}

// halfDone are errors from Slack after which the call may still have been carried out.
var halfDone = map[string]bool{"internal_error": true, "fatal_error": true, "request_timeout": true,
	"service_unavailable": true}

// sorted is the error of a method. It drops URLs, because an upload or socket URL is itself a
// secret. Tokens travel in headers and forms, which no error quotes.
func sorted(method string, err error) error {
	call := "slack: " + method
	if _, done := errors.AsType[*calls.Error](err); done || err == nil {
		return err
	}
	if e, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		return &calls.Error{Kind: calls.Limited, Call: call, Words: err.Error(), Status: http.StatusTooManyRequests,
			Wait: max(e.RetryAfter, 100*time.Millisecond)}
	}
	if e, ok := errors.AsType[slack.StatusCodeError](err); ok {
		a := calls.Answered(call, e.Code)
		a.Words = e.Error()
		if e.Code == http.StatusTooManyRequests {
			a.Kind, a.Wait = calls.Limited, time.Second
		}
		return a
	}
	e, ok := errors.AsType[slack.SlackErrorResponse](err)
	if !ok {
		return calls.OnTheWay(call, err)
	}
	known := answers[e.Err]
	if len(e.ResponseMetadata.Messages) > 0 && known.kind != calls.Fatal && known.kind != calls.Revoked {
		known.cure = e.ResponseMetadata.Messages[0]
	}
	if e.Needed != "" {
		known.cure += " (needed: " + e.Needed + ")"
	}
	out := &calls.Error{Kind: known.kind, Call: call, Words: e.Err, Cure: known.cure, Code: e.Err,
		Unclear: halfDone[e.Err], Cause: err}
	if out.Kind == calls.Limited {
		out.Wait = time.Second
	}
	return out
}

// fatal makes an error that only people can cure.
func fatal(format string, args ...any) error { return calls.Errorf(calls.Fatal, format, args...) }

// certain reports whether an error proves that Slack did not carry out the call.
func certain(err error) bool { return !calls.Unclear(err) }

// await returns when a method may be called. If that is later than ctx allows, or more than
// maxLimitPause away, it returns an error at once.
func (c *Channel) await(ctx context.Context, method string) error {
	d := c.pauses.Left(method)
	if d == 0 {
		return ctx.Err()
	}
	if deadline, ok := ctx.Deadline(); d > maxLimitPause || ok && time.Until(deadline) < d {
		return &calls.Error{Kind: calls.Limited, Call: "slack: " + method, Wait: d,
			Words: fmt.Sprintf("slack limits the rate for another %v, longer than there is time", d.Round(time.Millisecond))}
	}
	return calls.Sleep(ctx, d)
}

// call runs one Web API method, waiting out rate limits as far as ctx allows.
func (c *Channel) call(ctx context.Context, method string, f func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		if err := c.await(ctx, method); err != nil {
			return sorted(method, err)
		}
		used := c.token.Reveal()
		err := sorted(method, f(ctx))
		kind := calls.KindOf(err)
		if attempt < maxLimited && c.token.Renewed(ctx, used, err, c.belongs, c.log) {
			continue
		}
		if kind == calls.Limited {
			c.pauses.Note(method, time.Now().Add(calls.Asked(err)))
			if attempt < maxLimited {
				continue
			}
		}
		if err != nil && kind == calls.Revoked {
			select {
			case c.dead <- err: // it ends Run
			default:
			}
		}
		return err
	}
}

// belongs makes sure that Slack takes a new bot token, and that it is the same bot's, if Slack has
// said who that is.
func (c *Channel) belongs(ctx context.Context, token secret.Text) error {
	me, err := slack.New(token.Reveal(), slack.OptionAPIURL(c.url), slack.OptionHTTPClient(c.http),
		slack.OptionLog(quiet())).AuthTestContext(ctx)
	if err != nil {
		return sorted("auth.test", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bot != "" && c.bot != identity(me) {
		return calls.ErrOtherBot
	}
	return nil
}

// sameApp makes sure that a new app token is the same app's, as far as its text says so.
func (c *Channel) sameApp(_ context.Context, token secret.Text) error {
	was, now := appInToken().FindStringSubmatch(c.app.Reveal()), appInToken().FindStringSubmatch(token.Reveal())
	if was != nil && now != nil && was[1] != now[1] {
		return calls.ErrOtherBot
	}
	return nil
}

// identity is who we are, wherever else the name occurs.
func identity(me *slack.AuthTestResponse) string { return me.TeamID + " " + me.UserID }

// Holds implements [approver.Renewer].
func (c *Channel) Holds(file string) bool { return c.token.Holds(file) || c.app.Holds(file) }

// newHTTPClient follows no redirect, which would carry the token to another place, and limits
// the time and size of an answer. api is the URL of the Web API.
func newHTTPClient(api string, tokens ...*calls.Token) *http.Client {
	return &http.Client{
		Timeout:       callTimeout,
		Transport:     bounded{calls.Presenter{Transport: calls.Transport(callTimeout), Tokens: tokens}, api},
		CheckRedirect: calls.NoRedirect,
	}
}

type bounded struct {
	calls.Presenter
	api string
}

// RoundTrip fails if a proxy answers with a success in Slack's place. For any other status the
// library shows only the status text, which RoundTrip replaces with our own.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.Presenter.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body, resp.Status = http.MaxBytesReader(nil, resp.Body, maxResponse), calls.Status(resp.StatusCode)
	if !strings.HasPrefix(r.URL.String(), b.api) {
		return resp, nil // an upload is answered in plain text
	}
	defer resp.Body.Close()
	good := resp.StatusCode == http.StatusOK
	body, err := io.ReadAll(resp.Body)
	if err != nil && good {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	switch foreign := calls.Judge(resp.StatusCode, body, "ok"); {
	case foreign != nil && good:
		return nil, foreign
	case foreign != nil:
		resp.Status = foreign.Error()
	}
	return resp, nil
}

// quiet discards the library's own log; what matters reaches us as errors.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
