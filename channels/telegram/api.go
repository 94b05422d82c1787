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

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
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

// A kind sorts failures by what is to be done about them.
type kind uint8

const (
	passing   kind = iota // temporary trouble on the way: try again later
	rejected              // Telegram understood and refused: the same call fails again
	revoked               // Telegram does not accept the token, or does not for a moment
	conflict              // another process receives for the same bot
	webhook               // a webhook is set, which excludes receiving
	limited               // wait, then try again
	unparsed              // the markup was not understood
	unchanged             // the edit changed nothing
)

// A failure is a failed call. Its text is safe to log and to show: it never holds the token,
// and at most one line of a server's answer.
type failure struct {
	kind  kind
	text  string
	cause error // the context's error, approver.ErrFinal, an approver.Patience, or nil
}

// Error returns the text.
func (f *failure) Error() string { return f.text }

// Unwrap returns what the failure means for the next try.
func (f *failure) Unwrap() error { return f.cause }

// refusal is an error of our own that would recur with the same card, or the same message.
func refusal(err error) error {
	return &failure{kind: rejected, text: err.Error(), cause: approver.ErrFinal}
}

// limit is the failure of a call that came too soon.
func limit(method string, wait time.Duration) *failure {
	wait = wait.Round(time.Millisecond)
	err := fmt.Errorf("telegram %s: rate limited by Telegram for %v", method, wait)
	return &failure{kind: limited, text: err.Error(), cause: calls.Limited(err, wait)}
}

// kindOf returns the kind of an error of call; passing for any other error.
func kindOf(err error) kind {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.kind
	}
	return passing
}

// call runs one API call. It waits out rate limits as far as ctx allows, including those that
// earlier calls for the same chat met. Every error that it returns is a *failure. A call that
// is for no chat passes 0.
func (c *Channel) call(ctx context.Context, chat int64, method string, do func(context.Context) error) error {
	for try := 1; ; try++ {
		for wait := c.floods.left(chat); wait > 0; wait = c.floods.left(chat) {
			if err := c.rest(ctx, method, wait); err != nil {
				return err
			}
		}
		err := c.attempt(ctx, method, do)
		if kindOf(err) != limited {
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

// rest waits because Telegram asked for it. It fails at once if ctx would end sooner.
func (c *Channel) rest(ctx context.Context, method string, wait time.Duration) error {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
		return limit(method, wait)
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

// fail turns an error of the library into a *failure.
func (c *Channel) fail(method string, err error) error {
	f := &failure{text: c.scrub(err.Error())}
	var tooMany *bot.TooManyRequestsError
	var migrated *bot.MigrateError
	if foreign, ok := errors.AsType[*calls.ForeignError](err); ok {
		f.text = foreign.Error()
	}
	low := strings.ToLower(f.text)
	switch {
	case errors.Is(err, context.Canceled):
		f.cause = context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		f.cause = context.DeadlineExceeded
	case errors.As(err, &tooMany):
		return limit(method, max(time.Duration(tooMany.RetryAfter)*time.Second, time.Second))
	case errors.As(err, &migrated):
		f.kind = rejected
		f.text = fmt.Sprintf("the group has become the supergroup %d: put that id under chats in the configuration",
			migrated.MigrateToChatID)
	case errors.Is(err, bot.ErrorUnauthorized),
		errors.Is(err, bot.ErrorNotFound) && !strings.Contains(low, "method not found"):
		f.kind = revoked
		f.text += ": the bot token is not valid (any more): get one from @BotFather, put it in its place and restart; no " +
			"restart is needed if this one works again"
	case errors.Is(err, bot.ErrorConflict):
		f.kind = conflict
		if strings.Contains(low, "webhook") {
			f.kind = webhook
		}
	case errors.Is(err, bot.ErrorBadRequest), errors.Is(err, bot.ErrorForbidden), errors.Is(err, bot.ErrorNotFound):
		f.kind = kindOfText(low)
		f.text += hint(low)
	case strings.Contains(low, "request entity too large"):
		f.kind = rejected
	}
	if f.kind == rejected || f.kind == unparsed {
		f.cause = approver.ErrFinal
	}
	f.text = "telegram " + method + ": " + f.text
	return f
}

func kindOfText(low string) kind {
	switch {
	case strings.Contains(low, "can't parse entities"):
		return unparsed
	case strings.Contains(low, "message is not modified"):
		return unchanged
	}
	return rejected
}

// hint tells the person who configured the bot what to do.
func hint(low string) string {
	for _, h := range [...][2]string{
		{"chat not found", "check the id under chats, and that the bot is a member there; in a private chat the person " +
			"must press Start first"},
		{"can't initiate conversation", "the person must open the bot and press Start first"},
		{"bot was blocked", "the person has blocked the bot"},
		{"bot was kicked", "add the bot to the group again"},
		{"bot is not a member", "add the bot to the chat"},
		{"message thread not found", "check the thread number under chats"},
		{"topic_closed", "open the topic again, or let the bot manage topics"},
		{"not enough rights", "let the bot send messages and files in that chat"},
	} {
		if strings.Contains(low, h[0]) {
			return " (" + h[1] + ")"
		}
	}
	return ""
}

// scrub takes the token out of a text and keeps one bounded line of it.
func (c *Channel) scrub(text string) string {
	const longest = 300
	_, secret, _ := strings.Cut(c.token, ":") // the part before it is the bot's public id
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
func newClient() *http.Client {
	return &http.Client{Transport: calls.Transport(longestWait), CheckRedirect: calls.NoRedirect}
}

// getUpdates asks for new updates. The library's own polling retries for ever whatever the
// error, and confirms updates before they are handled, so this one call is made by hand. Edited messages
// never count; they are asked for so that whoever edits an answer can be told. Its
// errors are the library's. Each update is returned undecoded: one that cannot be read must not
// hide the others.
func (c *Channel) getUpdates(ctx context.Context, offset int64, wait time.Duration) ([]json.RawMessage, error) {
	form := url.Values{
		"timeout":         {strconv.Itoa(int(wait / time.Second))},
		"allowed_updates": {`["message","edited_message","callback_query"]`},
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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/bot"+c.token+"/"+method, body)
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
	err, known := map[int]error{
		http.StatusUnauthorized: bot.ErrorUnauthorized, http.StatusNotFound: bot.ErrorNotFound,
		http.StatusConflict:   bot.ErrorConflict,
		http.StatusBadRequest: bot.ErrorBadRequest, http.StatusForbidden: bot.ErrorForbidden,
	}[a.Code]
	if known {
		return fmt.Errorf("%w, %s", err, a.Description)
	}
	return fmt.Errorf("error %d: %s", a.Code, a.Description)
}
