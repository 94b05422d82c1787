// Package webhooks is the one HTTP listener on which chat platforms bring what people do, for channels
// that keep no connection to their platform.
//
// A [Hook] is the part of one platform: it judges requests and takes those that are genuine. A [Door]
// is the listener for all of them. Everybody can reach it, so it gives nothing away, and whoever is
// not a platform costs it little:
//
//   - Before a byte of the body is read, the header must look like the platform's.
//   - A request has a few seconds and at most MaxBody bytes. Nothing is parsed before it is verified.
//   - Connections are bounded. One more replaces the one that has been unverified for longest, so that
//     those of strangers never take the place of the platforms'.
//   - Answers to strangers are a status and nothing else. They are counted, not logged one by one.
//
// [Fresh], [Secret] and [Gate] are what hooks share.
package webhooks

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A Hook is where one platform brings what people do.
type Hook interface {
	// Head judges a request by its header alone, before any of its body is read. It is only a first look.
	Head(h http.Header) error
	// Verify says whether a request is the platform's own. An error refuses it.
	Verify(h http.Header, body []byte) error
	// Judged is told of every request: nil for one of the platform, otherwise why it was refused.
	Judged(refused error)
	// Take handles a verified request and returns what the platform is answered.
	Take(ctx context.Context, h http.Header, body []byte) Answer
}

// An Answer is what a platform is told. The zero value is 200 without a body.
type Answer struct {
	Status int
	Body   any // encoded as JSON; nil is no body
}

// Away is the answer while nobody receives: a platform that can brings the request again.
var Away = Answer{Status: http.StatusServiceUnavailable}

// ErrUnsigned refuses a request that does not even claim to come from the platform.
var ErrUnsigned = errors.New("it has no secret or signature of the platform")

// A Secret is a text that a platform sends along with each request. The zero value matches nothing.
type Secret struct {
	set bool
	sum [sha256.Size]byte
}

// NewSecret keeps a secret; an empty one matches nothing.
func NewSecret(text string) Secret { return Secret{text != "", sha256.Sum256([]byte(text))} }

// Matches compares in a time that depends on neither the secret nor how much of it is right: the
// hashes of both are compared.
func (s Secret) Matches(text string) bool {
	sum := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(s.sum[:], sum[:]) == 1 && s.set
}

// Fresh refuses a time stamp, in seconds since 1970, that is further from now than window: a request
// that somebody recorded must not count again later.
func Fresh(stamp string, now time.Time, window time.Duration) error {
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != stamp {
		return errors.New("its time stamp is not one")
	}
	if seconds < 0 || seconds > 1<<40 {
		return errors.New("its time stamp is not of this age")
	}
	if off := now.Sub(time.Unix(seconds, 0)).Round(time.Second); off.Abs() > window {
		return fmt.Errorf("its time stamp is %v away from this machine's clock, and at most %v count: is the clock right?",
			off.Abs(), window)
	}
	return nil
}

// A Gate leads requests to whoever receives at the time, if anybody does. The zero value is shut.
type Gate[T any] struct {
	mu sync.RWMutex
	to *T
}

// Open lets requests in, to whom it says, until shut is called. When shut returns, nobody is
// inside any more, nor comes in.
func (g *Gate[T]) Open(to *T) (shut func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.to = to
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.to == to {
			g.to = nil
		}
	}
}

// Enter calls do with whoever receives, and reports false if nobody does. do must not wait for long:
// shut waits for it.
func (g *Gate[T]) Enter(do func(to *T)) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.to == nil {
		return false
	}
	do(g.to)
	return true
}
