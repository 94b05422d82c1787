package telegramtest

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Limits are how many messages and edits of the bot the service takes beside the rate of SetRate. The zero value is
// none. Telegram's own are about a few at once and then one a second in a chat, and 20 a minute in a group.
type Limits struct {
	// Burst is how many a chat takes at once, before it takes one a second.
	Burst int
	// Group is how many a group takes in a minute.
	Group int
}

// SetLimits sets the limits of each chat.
func (s *Server) SetLimits(l Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = l
}

// SetRate sets how many messages and edits the bot may send in a second; 30 at
// the start.
func (s *Server) SetRate(perSecond int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.perSecond = perSecond
}

// A sending is a message or an edit that the service took.
type sending struct {
	chat int64
	at   time.Time
}

// throttle counts a message or an edit against the limits; s.mu is held. One that is refused does not count.
func (s *Server) throttle(chat int64) error {
	now := time.Now()
	s.sent = slices.DeleteFunc(s.sent, func(m sending) bool { return now.Sub(m.at) >= time.Minute })
	here := func(m sending) bool { return m.chat == chat }
	wait := s.full(now, time.Second, s.perSecond, func(sending) bool { return true })
	if s.perSecond <= 0 {
		wait = time.Second
	}
	if s.limits.Group > 0 && chat < 0 {
		wait = max(wait, s.full(now, time.Minute, s.limits.Group, here))
	}
	if s.limits.Burst > 0 {
		wait = max(wait, s.crowded(now, here))
	}
	if wait > 0 {
		seconds := int((wait + time.Second - 1) / time.Second)
		return &APIError{Code: http.StatusTooManyRequests, RetryAfter: seconds,
			Description: fmt.Sprintf("Too Many Requests: retry after %d", seconds)}
	}
	s.sent = append(s.sent, sending{chat, now})
	return nil
}

// full is how long it is until fewer than most were sent within a window.
func (s *Server) full(now time.Time, window time.Duration, most int, of func(sending) bool) time.Duration {
	var within []time.Time
	for _, m := range s.sent {
		if of(m) && now.Sub(m.at) < window {
			within = append(within, m.at)
		}
	}
	if most <= 0 || len(within) < most {
		return 0
	}
	return window - now.Sub(within[len(within)-most])
}

// crowded is how long it is until a chat that takes a burst, and then one a second, takes another message.
func (s *Server) crowded(now time.Time, here func(sending) bool) time.Duration {
	var free time.Time // when all of the burst is free again
	for _, m := range s.sent {
		if here(m) {
			if free.Before(m.at) {
				free = m.at
			}
			free = free.Add(time.Second)
		}
	}
	return max(free.Add(-time.Duration(s.limits.Burst-1)*time.Second).Sub(now), 0)
}
