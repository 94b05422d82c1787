package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// globalWindow is the time in which the requests of a bot are counted together.
const globalWindow = time.Second

// limited answers 429 as Discord does.
func limited(w http.ResponseWriter, after time.Duration, global bool) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Retry-After", strconv.Itoa(int(after/time.Second)+1))
	h.Set("X-RateLimit-Scope", "user")
	if global {
		h.Set("X-RateLimit-Global", "true")
		h.Set("X-RateLimit-Scope", "global")
	}
	w.WriteHeader(http.StatusTooManyRequests)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"message": "You are being rate limited.", "retry_after": after.Seconds(), "global": global,
	})
}

// bucketOf is what a request is counted in, and how many of them a channel takes; zero for any number. A bucket is of
// a method and a channel: the message is none of its parts.
func (s *Server) bucketOf(r *http.Request) (name string, limit int) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/api/v10/channels/")
	channel, _, messages := strings.Cut(rest, "/messages")
	if !ok || !messages {
		return "", 0
	}
	switch r.Method {
	case http.MethodPost:
		limit = s.PostLimit
	case http.MethodPatch:
		limit = s.EditLimit
	}
	return r.Method + " " + channel, limit
}

// within keeps the rate limits and writes the headers of a channel's own. It answers a request that is too early.
func (s *Server) within(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/api/v10/")
	answers := strings.HasPrefix(path, "interactions/") || strings.HasPrefix(path, "webhooks/")
	if s.GlobalLimit > 0 && !answers {
		if _, reset, full := s.count("", s.GlobalLimit, globalWindow); full {
			limited(w, reset, true)
			return false
		}
	}
	name, limit := s.bucketOf(r)
	if limit == 0 {
		return true
	}
	left, reset, full := s.count(name, limit, s.PostWindow)
	h := w.Header()
	h.Set("X-RateLimit-Bucket", fmt.Sprintf("%x", name))
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(time.Now().Add(reset).UnixMilli())/1000))
	h.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", reset.Seconds()))
	if full {
		limited(w, reset, false)
	}
	return !full
}

// count counts a request in a bucket unless it is full. It returns how many more fit, and when there is room again.
// The caller holds mu.
func (s *Server) count(bucket string, limit int, window time.Duration) (left int, reset time.Duration, full bool) {
	now := time.Now()
	recent := slices.DeleteFunc(s.requests[bucket], func(t time.Time) bool { return now.Sub(t) >= window })
	if full = len(recent) >= limit; !full {
		recent = append(recent, now)
	}
	s.requests[bucket] = recent
	return max(limit-len(recent), 0), window - now.Sub(recent[0]), full
}
