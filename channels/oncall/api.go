package oncall

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"approver.example/channels/internal/calls"
	"approver.example/internal/secret"
)

const (
	callTimeout = 10 * time.Second
	maxAnswer   = 64 << 10 // bytes
	// usualPause is how long a service that limits the rate is left alone if it does not say.
	usualPause = 5 * time.Second
	maxPause   = 2 * time.Minute
)

// A service is one paging service.
type service struct {
	dialect

	name, title, base string
	key               *calls.Token
}

// A dialect is what one service says its own way.
type dialect interface {
	open(p page) message
	close(request, result string) message
	// check is a call that changes nothing, if there is one.
	check() (message, bool)
	// sign puts the key into a call, if it is not in its body.
	sign(r *http.Request, key string)
	// members are what each answer of the service has one of.
	members() []string
	// sorted says what a refusal means. words are the service's own.
	sorted(status int, body []byte) (kind calls.Kind, words, cure string)
}

// A message is one call. One without a body is a GET.
type message struct {
	path string
	body func(key string) any
	gone bool // that there is no such thing is as good as a success
}

// newHTTPClient follows no redirect, which would carry the key to another place.
func newHTTPClient() *http.Client {
	return &http.Client{Timeout: callTimeout, Transport: calls.Transport(callTimeout), CheckRedirect: calls.NoRedirect}
}

// call makes a call of a service, once a pause that it asked for is over, and once more if its key was
// replaced. what names it in errors.
func (c *Channel) call(ctx context.Context, s *service, what string, m message) error {
	what = s.name + ": " + what
	for again := true; ; again = false {
		if err := c.await(ctx, s, what); err != nil {
			return err
		}
		key := s.key.Reveal()
		err := c.once(ctx, s, what, key, m)
		if calls.KindOf(err) == calls.Limited {
			c.pauses.Note(s.name, time.Now().Add(calls.Asked(err)))
		}
		if again && s.key.Renewed(ctx, key, err, anyKey, c.log) {
			continue
		}
		return err
	}
}

// anyKey takes every key: a service says of none whose it is, and the call that follows tries it.
func anyKey(context.Context, secret.Text) error { return nil }

// await waits until a service may be called, or says how long that takes if there is no time for it.
func (c *Channel) await(ctx context.Context, s *service, what string) error {
	d := c.pauses.Left(s.name)
	if d == 0 {
		return ctx.Err()
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return &calls.Error{Kind: calls.Limited, Call: what, Wait: d,
			Words: fmt.Sprintf("it limits the rate for another %v, longer than there is time", d.Round(time.Millisecond))}
	}
	return calls.Sleep(ctx, d)
}

func (c *Channel) once(ctx context.Context, s *service, what, key string, m message) error {
	method, body := http.MethodGet, io.Reader(nil)
	if m.body != nil {
		data, err := json.Marshal(m.body(key))
		if err != nil {
			return calls.Final("%s: %w", what, err)
		}
		method, body = http.MethodPost, bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.base+m.path, body)
	if err != nil {
		return calls.Final("%s: the address cannot be used", what)
	}
	r.Header.Set("Content-Type", "application/json")
	s.sign(r, key)
	res, err := c.http.Do(r)
	if err != nil {
		return calls.OnTheWay(what, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return calls.OnTheWay(what, err)
	}
	return s.judge(what, res, answer, key, m)
}

// judge says what came of a call.
func (s *service) judge(what string, res *http.Response, answer []byte, key string, m message) error {
	status := res.StatusCode
	foreign := calls.Judge(status, answer, s.members()...)
	switch {
	case foreign == nil && status >= 200 && status < 300, m.gone && foreign == nil && status == http.StatusNotFound:
		return nil
	case status == http.StatusTooManyRequests:
		return &calls.Error{Kind: calls.Limited, Call: what, Words: calls.Status(status), Status: status, Wait: wait(res)}
	case foreign != nil:
		return calls.OnTheWay(what, foreign)
	}
	e := calls.Answered(what, status)
	kind, words, cure := s.sorted(status, answer)
	words = strings.ReplaceAll(words, key, "…") // they are shown and logged
	e.Kind, e.Words, e.Cure = kind, cmp.Or(words, e.Words), cure
	return e
}

// wait is how long a service wants to be left alone.
func wait(res *http.Response) time.Duration {
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		return usualPause
	}
	return min(time.Duration(seconds)*time.Second, maxPause)
}

// check says, after the service's name, what is known of its key.
func (c *Channel) check(ctx context.Context, s *service) (said string, err error) {
	const unknown = " (not checked until it is used)"
	m, can := s.check()
	if !can {
		return unknown, nil
	}
	err = c.call(ctx, s, "count alerts", m)
	if e, is := errors.AsType[*calls.Error](err); is && (e.Status == http.StatusForbidden ||
		e.Status == http.StatusNotFound) {
		return unknown, nil // the key may create alerts and not read any
	}
	return "", err
}
