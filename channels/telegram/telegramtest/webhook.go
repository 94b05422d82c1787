package telegramtest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"time"
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

// setWebhook makes the service bring each update to an address, and no other before it was taken there. Telegram wants
// HTTPS; on loopback HTTP will do. s.mu is held.
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

// push brings updates to an address, one after the other, until ctx ends. One that is not taken comes again.
func (s *Server) push(ctx context.Context, address, secret string) {
	client := &http.Client{Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	for {
		s.mu.Lock()
		changed := s.changed
		var next json.RawMessage
		var id int64
		if len(s.updates) > 0 {
			id, next = s.updates[0].id, s.updates[0].raw
		}
		s.mu.Unlock()
		if next == nil {
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
			continue
		}
		problem := bring(ctx, client, address, secret, next)
		s.mu.Lock()
		if ctx.Err() != nil {
			s.mu.Unlock()
			return
		}
		if s.webhookError = problem; problem == "" && len(s.updates) > 0 && s.updates[0].id == id {
			s.updates = s.updates[1:]
		}
		s.mu.Unlock()
		if problem != "" {
			select {
			case <-time.After(webhookPause):
			case <-ctx.Done():
				return
			}
		}
	}
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
