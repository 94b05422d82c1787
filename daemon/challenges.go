package daemon

import (
	"errors"
	"sync"
	"time"

	"approver.example/tokens"
)

// challenges are codes that root was shown, each good for one try. The zero value has
// none.
type challenges struct {
	mu  sync.Mutex
	all map[string]challenge // by request
}

type challenge struct {
	code tokens.Code
	upto int // which identical calls root was shown with it
	due  time.Time
}

// Bounds of challenges.
const (
	challengeFor    = 2 * time.Minute
	maxChallenges   = 64
	challengeLength = 8
)

// mint makes a new code for a request of which root is shown the calls up to that one; a
// former code is void.
func (c *challenges) mint(request string, upto int, now time.Time) (tokens.Code, error) {
	code, err := tokens.Mint(challengeLength)
	if err != nil {
		return code, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, old := range c.all {
		if !now.Before(old.due) {
			delete(c.all, id)
		}
	}
	if c.all == nil {
		c.all = map[string]challenge{}
	}
	if len(c.all) >= maxChallenges {
		return tokens.Code{}, errors.New("too many requests are shown to root at once: wait two minutes")
	}
	c.all[request] = challenge{code, upto, now.Add(challengeFor)}
	return code, nil
}

// take reports whether this is the code for the request, and what was shown with it. It is
// void then, right or wrong.
func (c *challenges) take(request, typed string, now time.Time) (upto int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, ok := c.all[request]
	delete(c.all, request)
	code, err := tokens.Parse(typed)
	return was.upto, ok && err == nil && now.Before(was.due) && code.Equal(was.code)
}
