package slack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/internal/calls"
)

const (
	callTimeout   = 15 * time.Second
	maxResponse   = 8 << 20 // bytes of one Web API answer
	maxLimited    = 5       // times that one call waits for a rate limit
	maxLimitPause = 2 * time.Minute
)

// fatalCodes are the errors from Slack that no retry can cure, with what to do.
var fatalCodes = map[string]string{
	"invalid_auth":            "the token is wrong: copy it again from the app's page",
	"not_authed":              "no token was sent: set bot_token_file and app_token_file",
	"account_inactive":        "the token's user or workspace is gone: install the app again",
	"token_revoked":           "the token was revoked: install the app again",
	"token_expired":           "the token has expired: install the app again without token rotation",
	"missing_scope":           "the token lacks a scope: add it under OAuth & Permissions and install the app again",
	"no_permission":           "the workspace does not let this app do that: ask its admin",
	"not_allowed_token_type":  "this is another kind of token: bot_token is xoxb-…, app_token is xapp-…",
	"team_access_not_granted": "the organization has not granted the app access to this workspace: ask its admin",
	"org_login_required":      "the workspace was moved into an organization: install the app again",
	"link_disabled":           "Socket Mode is off: enable it on the app's page",
}

// refusals are the errors from Slack that would recur with the same card, with what to do if
// something can be done. An unknown error may be temporary.
var refusals = map[string]string{
	"not_in_channel": "the bot is not in the conversation: type /invite @bot there",
	"channel_not_found": "the conversation does not exist or the bot is not in it: type /invite " +
		"@bot there, or correct the id under channels",
	"is_archived":                              "the conversation is archived: unarchive it, or use another one",
	"message_not_found":                        "somebody deleted the card",
	"thread_not_found":                         "somebody deleted the thread",
	"cannot_reply_to_message":                  "",
	"cant_update_message":                      "the message is not the bot's own",
	"edit_window_closed":                       "the workspace does not let messages be edited for so long: ask its admin",
	"restricted_action":                        "the workspace does not let the bot post there: ask its admin",
	"restricted_action_read_only_channel":      "only some may post there: let the bot, or use another conversation",
	"restricted_action_thread_only_channel":    "the conversation takes replies only: use another one",
	"restricted_action_non_threadable_channel": "the conversation takes no replies: use another one",
	"restricted_action_thread_locked":          "the thread is locked",
	"method_not_supported_for_channel_type":    "use a conversation of another kind",
	"messages_tab_disabled":                    "switch on the app's Messages tab under App Home",
	"user_is_restricted":                       "the bot is a restricted user: ask the workspace's admin",
	"access_denied":                            "ask the workspace's admin",
	"ekm_access_denied":                        "the organization has suspended access by its keys: ask its admin",
	"no_text":                                  "",
	"msg_too_long":                             "",
	"msg_blocks_too_long":                      "",
	"invalid_blocks":                           "",
	"invalid_blocks_format":                    "",
	"invalid_arguments":                        "",
}

// passing are the errors from Slack that are about our connections, not about a card.
var passing = map[string]string{
	"too_many_websockets": "Slack allows an app ten connections, and all are taken: with connections: 1 ten daemons " +
		"fit; docs/channels/slack.md says what to do with more",
}

// A fatalError is one that only people can cure. For a card it is final, except if a token was
// refused: a single refusal may be a hiccup.
type fatalError struct{ err error }

func (e fatalError) Error() string        { return e.err.Error() }
func (e fatalError) Unwrap() error        { return e.err }
func (e fatalError) Is(target error) bool { return target == approver.ErrFinal && !tokenGone(e.err) }

func fatal(format string, args ...any) error { return fatalError{fmt.Errorf(format, args...)} }

func isFatal(err error) bool {
	_, ok := errors.AsType[fatalError](err)
	return ok
}

// explain names the method and says what to do. It drops URLs, because an upload or socket URL
// is itself a secret. Tokens travel in headers and forms, which no error quotes.
func explain(method string, err error) error {
	if err == nil {
		return nil
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, websocket.ErrBadHandshake) {
		err = fmt.Errorf("%w: the answer is no WebSocket: a proxy or a wrong URL?", err)
	}
	if e, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		if hint, isFatal := fatalCodes[e.Err]; isFatal {
			if e.Needed != "" {
				hint += " (needed: " + e.Needed + ")"
			}
			return fatal("slack: %s: %w: %s", method, err, hint)
		}
		if cure, ok := passing[e.Err]; ok {
			return fmt.Errorf("slack: %s: %w: %s", method, err, cure)
		}
		cure, refused := refusals[e.Err]
		if len(e.ResponseMetadata.Messages) > 0 {
			cure = e.ResponseMetadata.Messages[0]
		}
		if cure != "" {
			err = fmt.Errorf("%w: %s", err, cure)
		}
		if refused {
			return calls.Final("slack: %s: %w", method, err)
		}
	}
	return fmt.Errorf("slack: %s: %w", method, err)
}

// tokenRefusals are the fatalCodes that are about the token itself.
var tokenRefusals = []string{"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"}

// tokenGone reports that the bot token will never work again.
func tokenGone(err error) bool {
	e, ok := errors.AsType[slack.SlackErrorResponse](err)
	return ok && slices.Contains(tokenRefusals, e.Err)
}

// halfDone are errors from Slack after which the call may still have been carried out.
var halfDone = map[string]bool{"internal_error": true, "fatal_error": true, "request_timeout": true,
	"service_unavailable": true}

// certain reports whether an error proves that Slack did not carry out the
// call. Anything else is ambiguous.
func certain(err error) bool {
	if e, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return !halfDone[e.Err]
	}
	if _, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		return true
	}
	if e, ok := errors.AsType[slack.StatusCodeError](err); ok {
		return e.Code < 500
	}
	if _, ok := errors.AsType[approver.Patience](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// await returns when a method may be called. If that is later than ctx allows, or more than
// maxLimitPause away, it returns an error at once.
func (c *Channel) await(ctx context.Context, method string) error {
	d := c.pauses.Left(method)
	if d == 0 {
		return ctx.Err()
	}
	if deadline, ok := ctx.Deadline(); d > maxLimitPause || ok && time.Until(deadline) < d {
		return calls.Limited(fmt.Errorf("slack limits the rate for another %v, longer than there is time",
			d.Round(time.Millisecond)), d)
	}
	return calls.Sleep(ctx, d)
}

// limited reports how long Slack wants us to wait.
func limited(err error) (time.Duration, bool) {
	if e, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		return max(e.RetryAfter, 100*time.Millisecond), true
	}
	if e, ok := errors.AsType[slack.StatusCodeError](err); ok && e.Code == http.StatusTooManyRequests {
		return time.Second, true
	}
	if e, ok := errors.AsType[slack.SlackErrorResponse](err); ok && (e.Err == "ratelimited" || e.Err == "rate_limited") {
		return time.Second, true
	}
	return 0, false
}

// call runs one Web API method, waiting out rate limits as far as ctx allows.
func (c *Channel) call(ctx context.Context, method string, f func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		if err := c.await(ctx, method); err != nil {
			return explain(method, err)
		}
		err := f(ctx)
		d, ok := limited(err)
		if !ok || attempt == maxLimited {
			if ok {
				c.pauses.Note(method, time.Now().Add(d))
				err = calls.Limited(err, d)
			}
			err = explain(method, err)
			if tokenGone(err) {
				select {
				case c.dead <- err: // it ends Run
				default:
				}
			}
			return err
		}
		c.pauses.Note(method, time.Now().Add(d))
	}
}

// newHTTPClient follows no redirect, which would carry the token to another place, and limits
// the time and size of an answer. api is the URL of the Web API.
func newHTTPClient(api string) *http.Client {
	return &http.Client{
		Timeout:       callTimeout,
		Transport:     bounded{calls.Transport(callTimeout), api},
		CheckRedirect: calls.NoRedirect,
	}
}

type bounded struct {
	*http.Transport
	api string
}

// RoundTrip fails if a proxy answers with a success in Slack's place. For any other status the
// library shows only the status text, which RoundTrip replaces with our own.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.Transport.RoundTrip(r)
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
