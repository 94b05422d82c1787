package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example/channels/internal/calls"
	"approver.example/display"
	"approver.example/internal/secret"
)

const (
	// maxBody bounds what is read of one response, in bytes.
	maxBody = 8 << 20
	// maxErrorBody bounds what is read of an error response, in bytes.
	maxErrorBody = 64 << 10
	// answerWithin bounds how long Discord may take to answer.
	answerWithin = 10 * time.Second
	// maxRateWaits bounds how often one request waits for its rate limit.
	maxRateWaits = 8
)

// cures are what to do about some of Discord's error codes.
var cures = map[int]string{
	discordgo.ErrCodeMissingAccess:      permissionCure,
	discordgo.ErrCodeMissingPermissions: permissionCure,
	discordgo.ErrCodeUnknownChannel:     "check the channel id, and that the bot is a member of that server",
}

const permissionCure = "give the bot View Channel, Send Messages, Embed Links, Attach Files and Read Message History " +
	"in the channel"

// passing are the statuses and codes of refusals that may be temporary.
var passing = map[int]bool{
	http.StatusRequestTimeout: true, http.StatusTooEarly: true,
	40001:  true, // unauthorized
	40004:  true, // sending messages is disabled for a while
	40062:  true, // the resource is limited
	110001: true, // the feature is disabled for a while
	130000: true, // the resource is overloaded
}

// An answer is what Discord says to a request that is no success.
type answer struct {
	Code       int     `json:"code"` // Discord's own; zero if it gave none
	Message    string  `json:"message"`
	RetryAfter float64 `json:"retry_after"`
	Global     bool    `json:"global"`
}

// sorted is the error of an answer. after is how long to wait where the status is 429, and
// foreign is set if the answer did not come from Discord: a proxy's word is not Discord's.
func sorted(status int, a answer, after time.Duration, foreign error) *calls.Error {
	e := calls.Answered("", status)
	if foreign != nil {
		e.Words = foreign.Error()
	} else if a.Message != "" {
		e.Words += ": " + a.Message
	}
	if a.Code != 0 {
		e.Words += fmt.Sprintf(" (%d)", a.Code)
		e.Code, e.Cure = strconv.Itoa(a.Code), cures[a.Code]
	}
	switch {
	case status == http.StatusTooManyRequests:
		e.Kind, e.Wait = calls.Limited, after
		e.Words += fmt.Sprintf(": retry after %v", after.Round(time.Second))
	case foreign != nil:
	case status == http.StatusUnauthorized:
		e.Kind, e.Cure = calls.Revoked, "the bot token is not valid: put a current one into token_file"
	case a.Code != 0 && status >= 400 && status < 500 && !passing[status] && !passing[a.Code]:
		e.Kind = calls.Refused
	}
	return e
}

// A wire carries the requests of a discordgo session to the configured address, as version 10
// of the API. It keeps Discord's rate limits itself, because the library's limiter sleeps
// without looking at the context. It turns every unsuccessful response into a *calls.Error,
// because the library has a different kind of error for each status and hides the wait of a
// 429.
//
// It sends nothing to any place other than the API: every request carries the token.
type wire struct {
	base string // such as https://discord.com/api
	next calls.Presenter

	pauses calls.Pauses[string] // by route
}

const everyRoute = "*"

func newWire(base string, tokens ...*calls.Token) *wire {
	return &wire{base: base, next: calls.Presenter{Transport: calls.Transport(answerWithin), Tokens: tokens}}
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	path, ok := strings.CutPrefix(req.URL.String(), discordgo.EndpointAPI)
	if !ok {
		return nil, errors.New("refused to send a request to any other place than Discord's API")
	}
	target, err := url.Parse(w.base + "/v10/" + path)
	if err != nil {
		return nil, errors.New("the request has no valid address")
	}
	out := req.Clone(req.Context())
	out.URL, out.Host = target, ""
	route := req.Method + " " + target.Path
	if err := w.wait(req.Context(), route); err != nil {
		return nil, err
	}
	resp, err := w.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	w.note(route, resp.Header)
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, w.failure(route, resp)
	}
	// The library would sleep because of these headers, without looking at the context.
	for _, h := range []string{"Remaining", "Reset", "Reset-After", "Global"} {
		resp.Header.Del("X-RateLimit-" + h)
	}
	if err := judged(resp); err != nil {
		return nil, err
	}
	return resp, nil
}

// judged reads a success, and fails it if a proxy answered in Discord's place.
func judged(resp *http.Response) error {
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	raw, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, maxBody))
	if err != nil {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(raw))
	return calls.Judge(resp.StatusCode, raw)
}

// failure reads an error response and records what it says about rate limits.
func (w *wire) failure(route string, resp *http.Response) error {
	defer resp.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	var a answer
	foreign := calls.Judge(resp.StatusCode, raw, "code", "message")
	if json.Unmarshal(raw, &a) != nil {
		a = answer{}
	}
	a.Message, _ = display.Cut(display.OneLine(a.Message), 300)
	if resp.StatusCode != http.StatusTooManyRequests {
		return sorted(resp.StatusCode, a, 0, foreign)
	}
	after := seconds(a.RetryAfter)
	if after == 0 {
		s, _ := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
		after = max(seconds(s), time.Second)
	}
	if a.Global || resp.Header.Get("X-RateLimit-Global") != "" {
		route = everyRoute
	}
	w.pauses.Note(route, time.Now().Add(after))
	return sorted(resp.StatusCode, a, after, foreign)
}

// note closes a route if this response used up its last permitted request.
func (w *wire) note(route string, h http.Header) {
	if h.Get("X-RateLimit-Remaining") != "0" {
		return
	}
	if s, err := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64); err == nil && s > 0 {
		w.pauses.Note(route, time.Now().Add(seconds(s)))
	}
}

// wait returns when the route is open. If ctx ends before that, it returns at once.
func (w *wire) wait(ctx context.Context, route string) error {
	for {
		left := w.pauses.Left(route, everyRoute)
		if left == 0 {
			return ctx.Err()
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < left {
			return &calls.Error{Kind: calls.Limited, Wait: left,
				Words: fmt.Sprintf("Discord limits the rate: retry after %v", left.Round(time.Second))}
		}
		if err := calls.Sleep(ctx, left); err != nil {
			return err
		}
	}
}

func seconds(s float64) time.Duration {
	const most = 24 * 60 * 60
	return time.Duration(min(max(s, 0), most) * float64(time.Second))
}

// call makes one API request and reads the answer into out, which may be nil. It waits for rate
// limits within ctx. what names the attempt in errors.
func (c *Channel) call(ctx context.Context, what, method, path string, in any, files []*discordgo.File, out any) error {
	contentType, body := "application/json", []byte(nil)
	var err error
	switch {
	case len(files) > 0:
		contentType, body, err = discordgo.MultipartBodyWithJSON(in, files)
	case in != nil:
		body, err = json.Marshal(in)
	}
	if err != nil {
		return fmt.Errorf("discord: %s: %w", what, err)
	}
	var raw []byte
	for range maxRateWaits {
		used := c.token.Reveal()
		// Each call gets its own bucket, to bypass the library's limiter: it sleeps under a
		// lock, and would keep one bucket per interaction.
		bucket := discordgo.NewRatelimiter().LockBucket(path)
		raw, err = c.rest.RequestWithLockedBucket(method, discordgo.EndpointAPI+path, contentType, body, bucket, 0,
			discordgo.WithContext(ctx), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0))
		e, ok := errors.AsType[*calls.Error](err)
		again := ok && (e.Status == http.StatusTooManyRequests || c.token.Renewed(ctx, used, err, c.belongs, c.log))
		if !again {
			break
		}
	}
	if e, ok := errors.AsType[*calls.Error](err); ok {
		e.Call = "discord: " + what
		return e
	}
	if err != nil {
		return calls.OnTheWay("discord: "+what, err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("discord: %s: the answer is not readable: %w", what, err)
	}
	return nil
}

// belongs makes sure that Discord takes a new token, and that it is the same bot's, if a connection
// has said who that is.
func (c *Channel) belongs(ctx context.Context, token secret.Text) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, discordgo.EndpointAPI+"users/@me", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bot "+token.Reveal())
	resp, err := c.wire.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var me struct {
		ID string `json:"id"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&me); err != nil {
		return fmt.Errorf("the answer is not readable: %w", err)
	}
	if _, bot := c.self(); me.ID == "" || bot != "" && me.ID != bot {
		return calls.ErrOtherBot
	}
	return nil
}

// Holds implements [approver.Renewer].
func (c *Channel) Holds(file string) bool { return c.token.Holds(file) }

// twice repeats an idempotent request once if it is unknown whether the first try was carried
// out, or if the server had a temporary problem. If the second try fails too, twice returns the
// first error: the outcome stays unknown, whatever the second try says.
func (c *Channel) twice(ctx context.Context, request func() error) error {
	err := request()
	if err == nil || ctx.Err() != nil || !calls.Unclear(err) {
		return err
	}
	if calls.Sleep(ctx, 250*time.Millisecond) == nil && request() == nil {
		return nil
	}
	return err
}

// isAPI reports whether err is an answer with one of Discord's error codes.
func isAPI(err error, code int) bool { return calls.Coded(err, strconv.Itoa(code)) }
