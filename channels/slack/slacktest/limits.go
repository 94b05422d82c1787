package slacktest

import "time"

// A limitError is the answer 429 to a call that comes too early: how long it has to wait. It is an error.
type limitError time.Duration

// Error returns Slack's code.
func (limitError) Error() string { return "ratelimited" }

// seconds is what the header Retry-After says: whole seconds, one at least.
func (t limitError) seconds() int {
	return max(int((time.Duration(t)+time.Second-1)/time.Second), 1)
}

// A bucket allows bursts, then one a second.
type bucket struct {
	left float64
	at   time.Time
}

// take returns an error if another call does not fit; the lock is held.
func (s *Server) take(key string, burst int) error {
	b := s.buckets[key]
	now := time.Now()
	if b == nil {
		b = &bucket{left: float64(burst), at: now}
		s.buckets[key] = b
	}
	b.left = min(b.left+now.Sub(b.at).Seconds(), float64(burst))
	b.at = now
	if b.left < 1 {
		wait := time.Duration((1 - b.left) * float64(time.Second))
		return limitError(max(wait, s.opts.RetryAfter))
	}
	b.left--
	return nil
}
