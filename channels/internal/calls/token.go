package calls

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"approver.example/internal/secret"
)

// A Token is a secret of a platform. If it lies in a file, another one that is put there is taken
// while the platform refuses this one: no restart is needed. Libraries are given a stand-in, so
// that they need not be made anew, and cannot show the token.
type Token struct {
	name, file string
	stand      string
	check      func(secret.Text) error

	mu    sync.Mutex
	now   secret.Text
	renew sync.Mutex // one renewal at a time
}

// NewToken reads the token of the usual pair of settings. check says what is wrong with a text
// that is no such token.
func NewToken(name string, value secret.Text, file string, check func(secret.Text) error) (*Token, error) {
	now, err := secret.From(name, value, file)
	if err != nil {
		return nil, err
	}
	if err := check(now); err != nil {
		return nil, err
	}
	t := &Token{name: name, check: check, now: now, stand: "stand-in-" + rand.Text()}
	if secret.IsPath(file) {
		t.file = file
	}
	return t, nil
}

// StandIn is what stands for the token in requests: [Present] puts the token in its place.
func (t *Token) StandIn() string { return t.stand }

// Reveal returns the token itself.
func (t *Token) Reveal() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.Reveal()
}

// Holds reports whether this is the token's file, and holds the token that is in use.
func (t *Token) Holds(file string) bool {
	if file == "" || file != t.file {
		return false
	}
	there, err := secret.From(t.name, secret.Text{}, t.file)
	return err == nil && there.Reveal() == t.Reveal()
}

// Renewed takes what the token's file holds now if err, of a call that used a token, is that the
// platform refuses it. belongs makes sure that the platform takes the new one, and that it is the
// same bot's. It reports whether another token is in use now; if a new one cannot be used, err
// says why.
func (t *Token) Renewed(
	ctx context.Context, used string, err error, belongs func(context.Context, secret.Text) error, log *slog.Logger,
) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != Revoked {
		return false
	}
	renewed, why := t.replace(ctx, used, belongs)
	switch {
	case why != nil:
		e.Cure = why.Error()
	case renewed:
		log.Info("the platform refused the token, and its file holds a new one, which is in use now", "file", t.file)
	}
	return renewed
}

func (t *Token) replace(
	ctx context.Context, used string, belongs func(context.Context, secret.Text) error,
) (bool, error) {
	if t.file == "" {
		return false, nil
	}
	t.renew.Lock()
	defer t.renew.Unlock()
	if used != t.Reveal() {
		return true, nil // another call has renewed it
	}
	there, err := secret.From(t.name, secret.Text{}, t.file)
	if err != nil || there.Reveal() == used {
		return false, err
	}
	if err = t.check(there); err == nil {
		err = belongs(ctx, there)
	}
	if err != nil {
		return false, fmt.Errorf("the new token in %s is not used: %w", t.file, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = there
	return true, nil
}

// ErrOtherBot is the reason not to use a token: cards of before belong to the other bot, which
// alone can edit them.
var ErrOtherBot = errors.New("it belongs to another bot, which could not edit the cards of this one: put a token of " +
	"this bot there, or restart the daemon to change the bot")

// A Presenter is a transport that puts tokens in the place of their stand-ins: in the path, the
// header Authorization, and a form. No error of an HTTP client then holds a token.
type Presenter struct {
	*http.Transport
	Tokens []*Token
}

// RoundTrip implements http.RoundTripper.
func (p Presenter) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	body, form := []byte(nil), r.Body != nil && r.Header.Get("Content-Type") == "application/x-www-form-urlencoded"
	if form {
		var err error
		body, err = io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
	}
	for _, t := range p.Tokens {
		now := t.Reveal()
		out.URL.Path = strings.Replace(out.URL.Path, t.stand, now, 1)
		if h := r.Header.Get("Authorization"); strings.Contains(h, t.stand) {
			out.Header.Set("Authorization", strings.Replace(h, t.stand, now, 1))
		}
		body = bytes.ReplaceAll(body, []byte(t.stand), []byte(url.QueryEscape(now)))
	}
	if form {
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return p.Transport.RoundTrip(out)
}
