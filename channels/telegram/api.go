package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"

	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
	"approver.example/internal/secret"
)

const (
	// callTimeout bounds one call whose context has no earlier end.
	callTimeout = 20 * time.Second
	// longestWait is longer than any poll is held.
	longestWait = time.Minute
	// maxTries bounds how often one call waits out a rate limit.
	maxTries = 6
	// maxAnswer bounds what is read of one answer, in bytes. 100 updates of
	// full-length texts stay far below.
	maxAnswer = 16 << 20
)

// Codes for what Telegram says only in words.
const (
	unparsed  = "markup"   // the markup was not understood
	unchanged = "same"     // the edit changed nothing
	conflict  = "conflict" // another process receives for the same bot
	webhook   = "webhook"  // a webhook is set, which excludes receiving
)

// call runs one API call. It waits out rate limits as far as ctx allows, including those that
// earlier calls for the same chat met. Every error that it returns is a *calls.Error. A call that
// is for no chat passes 0.
func (c *Channel) call(ctx context.Context, chat int64, method string, do func(context.Context) error) error {
	for try := 1; ; try++ {
		for wait := c.floods.left(chat); wait > 0; wait = c.floods.left(chat) {
			if err := c.rest(ctx, method, wait); err != nil {
				return err
			}
		}
		used := c.token.Reveal()
		err := c.attempt(ctx, method, do)
		if try < maxTries && c.token.Renewed(ctx, used, err, c.belongs, c.log) {
			continue
		}
		if calls.KindOf(err) != calls.Limited {
			return err
		}
		c.floods.note(chat, calls.Asked(err))
		if try == maxTries {
			return err
		}
		if err := c.rest(ctx, method, calls.Asked(err)); err != nil {
			return err
		}
	}
}

// belongs makes sure that a new token is the same bot's.
func (c *Channel) belongs(_ context.Context, token secret.Text) error {
	if id, err := botOf(token.Reveal()); err != nil || id != c.guard.bot {
		return calls.ErrOtherBot
	}
	return nil
}

// Holds implements [approver.Renewer].
func (c *Channel) Holds(file string) bool { return c.token.Holds(file) }

// rest waits because Telegram asked for it. It fails at once if ctx would end sooner.
func (c *Channel) rest(ctx context.Context, method string, wait time.Duration) error {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
		return sorted("telegram "+method, http.StatusTooManyRequests, "", wait)
	}
	if err := calls.Sleep(ctx, wait); err != nil {
		return c.fail(method, err)
	}
	return nil
}

func (c *Channel) attempt(ctx context.Context, method string, do func(context.Context) error) error {
	if ctx.Err() != nil {
		return c.fail(method, ctx.Err())
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := do(ctx); err != nil {
		return c.fail(method, err)
	}
	return nil
}

// fail sorts an error of the library.
func (c *Channel) fail(method string, err error) error {
	call := "telegram " + method
	if tooMany, ok := errors.AsType[*bot.TooManyRequestsError](err); ok {
		return sorted(call, http.StatusTooManyRequests, "", max(time.Duration(tooMany.RetryAfter)*time.Second, time.Second))
	}
	if migrated, ok := errors.AsType[*bot.MigrateError](err); ok {
		return &calls.Error{Kind: calls.Refused, Call: call, Status: http.StatusBadRequest,
			Words: fmt.Sprintf("the group has become the supergroup %d", migrated.MigrateToChatID),
			Cure:  "put that id under chats in the configuration"}
	}
	for status, known := range libraryErrors {
		if errors.Is(err, known) {
			return sorted(call, status, c.scrub(err.Error()), 0)
		}
	}
	e := calls.OnTheWay(call, err)
	if _, foreign := errors.AsType[*calls.ForeignError](err); !foreign {
		e.Words = c.scrub(e.Words)
	}
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		e.Cause = nil // it may quote the token
	}
	if strings.Contains(strings.ToLower(e.Words), "request entity too large") {
		e.Kind = calls.Refused
	}
	return e
}

// libraryErrors are how the library names statuses.
var libraryErrors = map[int]error{
	http.StatusUnauthorized: bot.ErrorUnauthorized, http.StatusNotFound: bot.ErrorNotFound,
	http.StatusConflict:   bot.ErrorConflict,
	http.StatusBadRequest: bot.ErrorBadRequest, http.StatusForbidden: bot.ErrorForbidden,
}

// sorted is the error of a status of the Bot API. words are Telegram's own, and wait is for 429.
func sorted(call string, status int, words string, wait time.Duration) error {
	e := &calls.Error{Call: call, Words: words, Status: status}
	low := strings.ToLower(words)
	switch status {
	case http.StatusTooManyRequests:
		e.Kind, e.Wait = calls.Limited, wait
		e.Words = fmt.Sprintf("rate limited by Telegram for %v", wait.Round(time.Millisecond))
	case http.StatusUnauthorized:
		e.Kind = calls.Revoked
	case http.StatusConflict:
		e.Code, e.Cure = conflict, "another program polls this bot, so answers may go to it and be lost. Stop it, or give "+
			"each approver its own bot; no restart is needed"
		if strings.Contains(low, "webhook") {
			e.Code, e.Cure = webhook, "it is deleted; if it comes back, another program uses the same bot: stop it, or give "+
				"each its own"
		}
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		e.Kind = calls.Refused
		switch {
		case status == http.StatusNotFound && !strings.Contains(low, "method not found"):
			e.Kind = calls.Revoked
		case strings.Contains(low, "can't parse entities"):
			e.Code = unparsed
		case strings.Contains(low, "message is not modified"):
			e.Code = unchanged
		}
		for _, h := range hints {
			if strings.Contains(low, h[0]) {
				e.Cure = h[1]
			}
		}
	}
	if e.Kind == calls.Revoked {
		e.Cure = "the bot token is not valid (any more): get one from @BotFather and put it into its file; no restart is " +
			"needed, nor if this one works again"
	}
	return e
}

// hints tell the person who configured the bot what to do.
var hints = [...][2]string{
	{"chat not found", "check the id under chats, and that the bot is a member there; in a private chat the person must " +
		"press Start first"},
	{"can't initiate conversation", "the person must open the bot and press Start first"},
	{"bot was blocked", "the person has blocked the bot"},
	{"bot was kicked", "add the bot to the group again"},
	{"bot is not a member", "add the bot to the chat"},
	{"message thread not found", "check the thread number under chats"},
	{"topic_closed", "open the topic again, or let the bot manage topics"},
	{"not enough rights", "let the bot send messages and files in that chat"},
}

// scrub takes the token out of a text and keeps one bounded line of it.
func (c *Channel) scrub(text string) string {
	const longest = 300
	_, secret, _ := strings.Cut(c.token.Reveal(), ":") // the part before it is the bot's public id
	text = strings.ReplaceAll(text, secret, "<token>")
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if r := []rune(text); len(r) > longest {
		text = string(r[:longest]) + "…"
	}
	return text
}

// A doer sends the library's requests. It limits what is read of an answer, and fails an answer
// that is not the Bot API's: the library would quote the whole page of a proxy.
type doer struct{ client *http.Client }

// Do sends one request.
func (d doer) Do(r *http.Request) (*http.Response, error) {
	resp, err := d.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if err := calls.Judge(resp.StatusCode, body, "ok"); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// newClient makes a client of its own, so that its idle connections can be closed without
// affecting others. It follows no redirect, which would carry the token, a part of the path, to
// another server.
func newClient(tokens ...*calls.Token) *http.Client {
	return &http.Client{
		Transport:     calls.Presenter{Transport: calls.Transport(longestWait), Tokens: tokens},
		CheckRedirect: calls.NoRedirect,
	}
}

// allowedUpdates are the kinds of update that are asked for.
var allowedUpdates = []string{"message", "edited_message", "callback_query"}

// getUpdates asks for new updates. The library's own polling retries for ever whatever the
// error, and confirms updates before they are handled, so this one call is made by hand. Edited messages
// never count; they are asked for so that whoever edits an answer can be told. Its
// errors are the library's. Each update is returned undecoded: one that cannot be read must not
// hide the others.
func (c *Channel) getUpdates(ctx context.Context, offset int64, wait time.Duration) ([]json.RawMessage, error) {
	form := url.Values{
		"timeout":         {strconv.Itoa(int(wait / time.Second))},
		"allowed_updates": {`["` + strings.Join(allowedUpdates, `","`) + `"]`},
	}
	if offset != 0 {
		form.Set("offset", strconv.FormatInt(offset, 10))
	}
	// The margin is for the answer to travel: while a poll hangs, we receive nothing.
	ctx, cancel := context.WithTimeout(ctx, wait+c.pace.margin)
	defer cancel()
	const method = "getUpdates"
	result, err := c.raw(ctx, method, form, cards.File{})
	if err != nil {
		return nil, c.fail(method, err)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(result, &batch); err != nil {
		return nil, c.fail(method, fmt.Errorf("the answer is not readable: %w", err))
	}
	return batch, nil
}

// raw makes one call by hand, for what the library does not know. A file with a name is sent as the
// document. The errors are those of the library.
func (c *Channel) raw(ctx context.Context, method string, form url.Values, f cards.File) (json.RawMessage, error) {
	body, kind, err := encoded(form, f)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/bot"+c.token.StandIn()+"/"+method, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	resp, err := doer{c.client}.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var a result
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, fmt.Errorf("%s: the answer is not readable: %w", calls.Status(resp.StatusCode), err)
	}
	if !a.OK {
		return nil, a.err()
	}
	return a.Result, nil
}

// encoded writes the body of a call, and says of which kind it is.
func encoded(form url.Values, f cards.File) (io.Reader, string, error) {
	if f.Name == "" {
		return strings.NewReader(form.Encode()), "application/x-www-form-urlencoded", nil
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	var errs []error
	for name := range form {
		errs = append(errs, w.WriteField(name, form.Get(name)))
	}
	part, err := w.CreateFormFile("document", f.Name)
	if err == nil {
		_, err = io.WriteString(part, f.Content)
	}
	err = errors.Join(append(errs, err, w.Close())...)
	return &b, w.FormDataContentType(), err
}

// result is the Bot API's answer to any call.
type result struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Description string          `json:"description"`
	Code        int             `json:"error_code"`
	Parameters  struct {
		RetryAfter int `json:"retry_after"`
	} `json:"parameters"`
}

func (a result) err() error {
	if a.Code == http.StatusTooManyRequests {
		return &bot.TooManyRequestsError{Message: a.Description, RetryAfter: a.Parameters.RetryAfter}
	}
	if err, known := libraryErrors[a.Code]; known {
		return fmt.Errorf("%w, %s", err, a.Description)
	}
	return fmt.Errorf("error %d: %s", a.Code, a.Description)
}
