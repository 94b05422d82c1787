package agents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"approver.example/agents/settings"
)

// The timeouts, from the shortest to the longest: people have the TTL. The daemon has grace
// more to commit, record and answer. The courier gives up at that deadline, or at usualPatience if
// that is later. It then has a tenth of the hook's timeout, and at least margin, to block by
// itself. If the hook's timeout came first, the tool would run.
const (
	usualPatience  = 290 * time.Second // the courier's own default
	grace          = settings.Grace
	margin         = 2 * time.Second
	reportDeadline = 8 * time.Second // of the hooks for which nobody is asked
	step           = 10 * time.Second
	minTTL         = 5 * time.Second
	maxTTL         = time.Hour
)

// deadline returns how long the courier waits before a tool. If the agent does not wait long enough
// for people, the courier parks the call: it tells the agent to make the same call again later.
func (h *hooked) deadline(ttl time.Duration) (d time.Duration, parks bool) {
	d = max(usualPatience, ttl+grace).Truncate(time.Second)
	most := h.install.most
	if most == 0 || hookTimeout(d) <= most {
		return d, false
	}
	d = (most - max(most/10, margin)).Truncate(time.Second)
	return d, d < ttl+grace
}

// hookTimeout returns the timeout of a hook with a deadline: later by a tenth of it or more, in whole
// steps.
func hookTimeout(deadline time.Duration) time.Duration {
	steps := math.Ceil(float64(deadline+max(deadline/9, margin)) / float64(step))
	return time.Duration(steps) * step
}

// hookable returns an error if a hook cannot be written with these values.
func hookable(program, socket string, ttl time.Duration) error {
	switch {
	case !plainPath(program):
		return fmt.Errorf("the hook program %s: give an absolute path", quote(program))
	case socket != "" && !plainPath(socket):
		return fmt.Errorf("the socket %s: give an absolute path", quote(socket))
	case ttl < minTTL || ttl > maxTTL:
		return fmt.Errorf("a ttl of %v: from %v to %v is possible", ttl, minTTL, maxTTL)
	}
	return nil
}

// plainPath reports whether a path can be in a command line.
func plainPath(s string) bool {
	return filepath.IsAbs(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// Timeout implements [Installer].
func (h *hooked) Timeout(hook json.RawMessage) time.Duration {
	d, err := timeoutOf(hook, h.install)
	switch {
	case h.install.unit == 0:
		return h.install.most
	case err != nil:
		d = unsetPatience
	}
	return min(d, cmp.Or(h.install.most, d))
}

// unsetPatience is the shortest time that an agent waits for a hook for which its settings say none.
const unsetPatience = 30 * time.Second

// timeoutOf returns the timeout of a hook; zero if the agent has none.
func timeoutOf(hook json.RawMessage, in *installation) (time.Duration, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(hook, &keys); err != nil || in.unit == 0 {
		return 0, err
	}
	var n float64
	if err := json.Unmarshal(keys[in.timeout], &n); err != nil || n <= 0 {
		return 0, fmt.Errorf("the hook has no %q that is a number above 0", in.timeout)
	}
	if in.milliseconds > 0 && n >= float64(in.milliseconds) {
		return time.Duration(n * float64(time.Millisecond)), nil
	}
	return time.Duration(n * float64(in.unit)), nil
}
