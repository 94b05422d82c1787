package broadcaster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file freezes one agent: after a call of it ran that was not let through.

// A Who says whose calls are meant: those of one user's agent in one project, and
// those of its session wherever it goes. The session is the agent's own claim, so it
// never makes them fewer.
type Who struct {
	Peer    approver.Peer `json:"peer"` // its pid does not count
	Agent   string        `json:"agent"`
	Project string        `json:"project"` // a folder
	Session string        `json:"session,omitempty"`
}

// Is reports whether a call is one of theirs.
func (w Who) Is(call approver.ToolCall) bool {
	if call.Control != "" || w.Agent != call.Agent || w.Peer.Known != call.Peer.Known || w.Peer.UID != call.Peer.UID {
		return false
	}
	return w.Session != "" && shortSession(w.Session) == shortSession(call.Session) || inFolder(w.Project, call.Dir)
}

// Bounds of what is kept of a freeze, in bytes. All freezes are one record, which the
// store takes up to a size, and agents name their sessions and folders themselves.
const (
	maxSession = 256
	maxProject = 4096 // no folder has a longer path
	maxReason  = 1024
)

// shortSession is a session, or of a long one its hash.
func shortSession(s string) string {
	if len(s) <= maxSession {
		return s
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(s)))
}

// bounded is the same agent in a few words, and never fewer calls.
func (w Who) bounded() Who {
	w.Session = shortSession(w.Session)
	if len(w.Project) > maxProject {
		w.Project = "/"
	}
	return w
}

// inFolder reports whether dir is project, or in it, by whatever name: with dots,
// through links, or as another mount of the same folder. Where this process cannot
// look, the names count. A folder below /proc counts as in every project, because it
// can lead anywhere.
func inFolder(project, dir string) bool {
	if clean := filepath.Clean(dir); below(filepath.Clean(project), clean) || below("/proc", clean) {
		return true
	}
	project, dir = resolved(project), resolved(dir)
	if below(project, dir) {
		return true
	}
	held, err := os.Stat(project)
	if err != nil {
		return false
	}
	for ; ; dir = filepath.Dir(dir) {
		if at, err := os.Stat(dir); err == nil && os.SameFile(held, at) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// resolved is a path without links, as far as that is known here.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// below reports whether a folder is project, or in it.
func below(project, dir string) bool {
	project = strings.TrimSuffix(project, "/")
	return dir == project || strings.HasPrefix(dir, project+"/")
}

// sameAgent reports whether both are of one user's agent.
func (w Who) sameAgent(other Who) bool { return w.Agent == other.Agent && w.Peer == other.Peer }

// String names them for people, in one line: agents name their folders themselves.
func (w Who) String() string {
	who := display.SafeLine(w.Agent) + " in " + display.SafeLine(w.Project)
	if w.Peer.Known {
		who = fmt.Sprintf("%s of uid %d", who, w.Peer.UID)
	}
	return who
}

// A Hold is a freeze of one agent. Lifting it makes its At zero. The record is then kept
// for holdKeep, because a yes from before Burned stays void.
type Hold struct {
	Freeze
	Who    Who       `json:"who"`
	Burned time.Time `json:"burned,omitzero"`
}

// Bounds of holds that stand. A user's agent with more than maxHoldsEach is frozen
// everywhere, because projects and sessions are what it claims. Beyond maxHolds, everything
// is frozen. As many that were lifted less than holdKeep ago are kept; see merge.
const (
	maxHolds     = 64
	maxHoldsEach = 6
	// holdKeep is longer than any yes waits.
	holdKeep = 48 * time.Hour
)

// freezeOf returns the freeze that stops a call, of everything or of its agent.
func (c Controls) freezeOf(call approver.ToolCall) (Freeze, bool) {
	if c.Frozen() {
		return c.Freeze, true
	}
	for _, h := range c.Holds {
		if !h.At.IsZero() && h.Who.Is(call) {
			f := h.Freeze
			f.Who = h.Who.String()
			return f, true
		}
	}
	return Freeze{}, false
}

// Held returns the freezes of single agents that hold now.
func (c Controls) Held() []Hold {
	return slices.DeleteFunc(slices.Clone(c.Holds), func(h Hold) bool { return h.At.IsZero() })
}

// BurnsFor reports whether a freeze, of everything or of the call's agent, voids a yes
// to this call that was made at that time.
func (c Controls) BurnsFor(call approver.ToolCall, made time.Time) bool {
	if c.Burns(made) {
		return true
	}
	if _, frozen := c.freezeOf(call); frozen {
		return true
	}
	return slices.ContainsFunc(c.Holds, func(h Hold) bool {
		return !h.Burned.IsZero() && !made.After(h.Burned) && h.Who.Is(call)
	})
}

// SameFreezes reports whether no freeze, of everything or of an agent, began or
// ended between these controls and others.
func (c Controls) SameFreezes(d Controls) bool {
	return c.Burned.Equal(d.Burned) && slices.EqualFunc(c.Holds, d.Holds, func(a, b Hold) bool {
		return a.At.Equal(b.At) && a.Burned.Equal(b.Burned) && a.Who == b.Who
	})
}

// merge forgets what is older than any yes, and makes of too many lifted holds fewer that
// burn no less: those of one agent become one for everywhere, and all of them a burn of
// everything.
func (c *Controls) merge(now time.Time) {
	lifted := func(h Hold) bool { return h.At.IsZero() }
	c.Holds = slices.DeleteFunc(slices.Clone(c.Holds), func(h Hold) bool {
		return lifted(h) && now.Sub(h.Burned) > holdKeep
	})
	for i := range c.Holds {
		c.Holds[i].Who = c.Holds[i].Who.bounded()
	}
	count := func(f func(Hold) bool) (n int, newest time.Time) {
		for _, h := range c.Holds {
			if lifted(h) && f(h) {
				n++
				if h.Burned.After(newest) {
					newest = h.Burned
				}
			}
		}
		return n, newest
	}
	for _, of := range slices.Clone(c.Holds) {
		same := func(h Hold) bool { return of.Who.sameAgent(h.Who) }
		n, newest := count(same)
		if n <= maxHoldsEach {
			continue
		}
		c.Holds = slices.DeleteFunc(c.Holds, func(h Hold) bool { return lifted(h) && same(h) })
		everywhere := Who{Agent: of.Who.Agent, Peer: of.Who.Peer, Project: "/"}
		c.Holds = append(c.Holds, Hold{Who: everywhere, Burned: newest})
	}
	if n, newest := count(func(Hold) bool { return true }); n > maxHolds {
		c.Holds = slices.DeleteFunc(c.Holds, lifted)
		if newest.After(c.Burned) {
			c.Burned = newest
		}
	}
}

// hold adds a freeze of one agent. A second one is as good as the first.
func (c *Controls) hold(h Hold, now time.Time) {
	c.merge(now)
	h.At, h.Burned, h.Who.Peer.PID = now, now, 0
	each, stand := 0, 0
	for _, old := range c.Holds {
		if old.At.IsZero() {
			continue
		}
		if stand++; h.Who.sameAgent(old.Who) && old.Who != h.Who {
			each++
		}
	}
	if each >= maxHoldsEach {
		h.Who.Project, h.Who.Session = "/", ""
		c.Holds = slices.DeleteFunc(c.Holds, func(old Hold) bool { return h.Who.sameAgent(old.Who) && old.Who != h.Who })
	}
	for i, old := range c.Holds {
		if old.Who == h.Who {
			if !old.At.IsZero() {
				h.Freeze = old.Freeze
			}
			c.Holds[i] = h
			return
		}
	}
	if stand < maxHolds {
		c.Holds = append(c.Holds, h)
		return
	}
	if !c.Frozen() {
		c.Freeze = h.Freeze
	}
	c.Burned, c.Pause, c.Observe = now, Pause{}, Observe{}
}

// lift ends every freeze. What each burned stays burned.
func (c *Controls) lift(now time.Time) {
	if c.Frozen() {
		c.Freeze, c.Missing, c.Burned = Freeze{}, false, now
	}
	c.Holds = slices.Clone(c.Holds)
	for i := range c.Holds {
		if h := &c.Holds[i]; !h.At.IsZero() {
			h.Freeze, h.Burned = Freeze{}, now
		}
	}
}

// FrozenText says what is frozen, for people; empty if nothing is.
func (c Controls) FrozenText() string {
	var parts []string
	if c.Frozen() {
		parts = append(parts, "everything by "+display.SafeLine(c.Freeze.By))
	}
	for _, h := range c.Held() {
		parts = append(parts, h.Who.String()+" by "+display.SafeLine(h.By))
	}
	if n := len(parts); n > maxNamed {
		parts = append(parts[:maxNamed], fmt.Sprintf("and %d more", n-maxNamed))
	}
	return strings.Join(parts, "; ")
}

// FreezeLines say of each freeze that holds what it stops, by whom, since when and why.
func (c Controls) FreezeLines() (lines []string) {
	line := func(what string, f Freeze) {
		text := what + ": frozen by " + display.SafeLine(f.By)
		if !f.At.IsZero() { // of one that stands for a lost record nobody knows
			text += " at " + f.At.UTC().Format("2006-01-02 15:04:05 UTC")
		}
		lines = append(lines, text+", "+cmp.Or(display.SafeLine(f.Reason), "no reason given"))
	}
	if c.Frozen() {
		what := "everything"
		if c.Here != "" {
			what += ", by this daemon alone"
		}
		line(what, c.Freeze)
	}
	for _, h := range c.Held() {
		what := h.Who.String()
		if h.Who.Session != "" {
			what += ", and its session " + display.SafeLine(h.Who.Session) + " wherever it goes"
		}
		line(what, h.Freeze)
	}
	return lines
}

// maxNamed is how many freezes are named in one line.
const maxNamed = 5

// Hold freezes one agent: every call of it is denied from now on, its open requests
// are, and every yes to one of its calls burns. It returns how many requests it
// denied. Where the store does not take it, everything is frozen, as Freeze does: that
// holds in this process until the store takes it.
func (k *Controller) Hold(ctx context.Context, who Who, by, reason string) (denied int, err error) {
	who = who.bounded()
	by, reason = cutText(by, maxBy), cutText(reason, maxReason)
	var at time.Time
	_, err = k.change(ctx, func(c *Controls, now time.Time) error {
		at, c.must = now, true
		c.hold(Hold{Freeze: Freeze{By: by, Reason: reason}, Who: who}, now)
		return nil
	})
	switch {
	case errors.Is(err, ErrFrozen):
		return 0, err
	case err != nil:
		denied, freezeErr := k.Freeze(ctx, by, who.String()+" was to be frozen, and the store does not take that: "+cmp.Or(reason, "no reason given"))
		return denied, errors.Join(fmt.Errorf("everything is frozen in place of one agent: %w", err), freezeErr)
	}
	k.log.Error("FROZEN: every call of one agent is denied", "who", who.String(), "by", by, "reason", reason)
	auditErr := k.backlog.record(ctx, heldRecord(at, Hold{Freeze: Freeze{By: by, Reason: reason}, Who: who}))
	if auditErr != nil {
		auditErr = fmt.Errorf("every call of %s is denied from now on, but the freeze could not be recorded: %w", who, auditErr)
	}
	denied, err = k.denyOpen(ctx, approver.Held, who.Is)
	return denied, errors.Join(auditErr, err)
}

// denyOpen denies the open requests of which frozen says so, and ends every question that
// was about what was frozen before. What is made later
// than this list, by calls that were judged before, is denied at its release.
func (k *Controller) denyOpen(ctx context.Context, why approver.Cause, frozen func(approver.ToolCall) bool) (denied int, err error) {
	open, err := k.requests.Open(ctx)
	for _, r := range open {
		cause := why
		if aboutFreezes(r.Call) {
			cause = approver.Moot
		} else if r.Call.Control != "" || !frozen(r.Call) {
			continue
		}
		_, failErr := k.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) { return r.Fail(cause, now) })
		switch {
		case failErr == nil:
			if cause == why {
				denied++
			}
			k.editor.settle(r.ID)
		case !errors.Is(failErr, ErrSettled):
			err = errors.Join(err, failErr)
		}
	}
	return denied, err
}
