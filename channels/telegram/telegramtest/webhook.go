package telegramtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"time"

	"approver.example/channels/channeltest/fake"
)

// This file brings updates to a webhook, in the place of polls.

// SetWebhook sets a webhook, as another program with the same token would. No update is brought there.
func (s *Server) SetWebhook(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endWebhook()
	s.webhook = address
	s.notify()
}

var secretToken = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// webhookPause is how long the service waits after an update that was not taken; Telegram waits longer each time.
const webhookPause = 50 * time.Millisecond

// setWebhook makes the service bring each update to an address, and no other of its queue before it was taken there.
// Telegram wants HTTPS; on loopback HTTP will do. s.mu is held.
func (s *Server) setWebhook(p params) (any, error) {
	address, secret := p.Get("url"), p.Get("secret_token")
	u, err := url.Parse(address)
	switch {
	case address == "":
		return s.deleteWebhook(p)
	case err != nil || u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "127.0.0.1"):
		return nil, bad("bad webhook: An HTTPS URL must be provided for webhook")
	case secret != "" && !secretToken.MatchString(secret):
		return nil, bad("secret token contains unallowed characters")
	}
	if err := p.read("allowed_updates", &s.allowed); err != nil {
		return nil, err
	}
	if p.Get("drop_pending_updates") == "true" {
		s.updates = nil
	}
	s.endWebhook()
	ctx, cancel := context.WithCancel(context.Background())
	s.webhook, s.endPush = address, cancel
	s.pushing.Go(func() { s.push(ctx, address, secret) })
	return true, nil
}

// deleteWebhook makes polls possible again; s.mu is held.
func (s *Server) deleteWebhook(p params) (any, error) {
	s.endWebhook()
	if p.Get("drop_pending_updates") == "true" {
		s.updates = nil
	}
	return true, nil
}

// endWebhook ends the bringing of updates; s.mu is held.
func (s *Server) endWebhook() {
	if s.endPush != nil {
		s.endPush()
	}
	s.webhook, s.endPush, s.webhookError = "", nil, ""
}

func (s *Server) webhookInfo(params) (any, error) {
	info := map[string]any{"url": s.webhook, "has_custom_certificate": false, "pending_update_count": len(s.updates)}
	if s.webhookError != "" {
		info["last_error_message"], info["last_error_date"] = s.webhookError, time.Now().Unix()
	}
	return info, nil
}

// queueOf names what an update is kept in order with: what one person taps, and what is said in one chat. Those of
// different queues are brought at once.
func queueOf(raw []byte) string {
	var u struct {
		Tap struct {
			From struct{ ID int64 }
		} `json:"callback_query"`
		Message struct {
			Chat struct{ ID int64 }
		}
	}
	_ = json.Unmarshal(raw, &u) // what cannot be read is one queue
	return fmt.Sprint(u.Tap.From.ID, u.Message.Chat.ID)
}

// push brings updates to an address until ctx ends, those of one queue one after the other. One that is not taken
// comes again.
func (s *Server) push(ctx context.Context, address, secret string) {
	client := &http.Client{Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	busy := map[string]bool{} // guarded by s.mu
	var all sync.WaitGroup
	defer all.Wait()
	for ctx.Err() == nil {
		s.mu.Lock()
		changed := s.changed
		for _, u := range s.updates {
			if queue := queueOf(u.raw); !busy[queue] && !s.away() {
				busy[queue] = true
				all.Go(func() { s.pushOne(ctx, client, address, secret, u, func() { delete(busy, queue) }) })
			}
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// away reports whether the service brings nothing.
func (s *Server) away() bool {
	f, _ := s.Fault()
	return f != fake.Healthy && f != fake.RateLimited
}

// pushOne brings one update. It calls done, with the lock held, when the next of its queue may follow.
func (s *Server) pushOne(ctx context.Context, client *http.Client, address, secret string, u update, done func()) {
	problem := bring(ctx, client, address, secret, u.raw)
	if ctx.Err() == nil && problem != "" {
		s.mu.Lock()
		s.webhookError = problem
		s.mu.Unlock()
		select {
		case <-time.After(webhookPause):
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	defer done()
	switch {
	case ctx.Err() != nil || problem != "":
	case s.loseAnswers > 0:
		s.loseAnswers--
	default:
		s.webhookError = ""
		s.updates = slices.DeleteFunc(s.updates, func(o update) bool { return o.id == u.id })
	}
}

// LoseWebhookAnswers loses the next n answers of a webhook that took an update: the update comes again.
func (s *Server) LoseWebhookAnswers(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loseAnswers = n
}

// Webhook is the address where updates are brought; empty while there is none.
func (s *Server) Webhook() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.webhook
}

// bring sends one update, and returns what was wrong with the answer.
func bring(ctx context.Context, client *http.Client, address, secret string, raw []byte) (problem string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(raw))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	if secret != "" {
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "Connection failed"
	}
	_ = resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return "Wrong response from the webhook: " + resp.Status
	}
	return ""
}
