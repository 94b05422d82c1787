package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"log/slog"

	"approver.example"
	"approver.example/display"
)

// This file takes a person away: from one moment on none of their accounts counts, on
// no channel and on no daemon that shares the store, and what they approved and nobody
// has used yet is void.

// A Removal is one person who was taken away. It is part of the controls, so it holds
// at once everywhere, outlives restarts, and cannot vanish unseen. The approver lists
// of the configuration do not matter to it.
type Removal struct {
	// Person is the id of the person, and Identities are the accounts that were known
	// as theirs: an account does not count again because another list gives it to
	// somebody else.
	Person     string              `json:"person"`
	Identities []approver.Identity `json:"identities,omitempty"`
	At         time.Time           `json:"at"`
	By         string              `json:"by"`
	Reason     string              `json:"reason,omitempty"`
	// Last is when they were removed anew while they were away, by LastBy; zero if never.
	Last       time.Time `json:"last,omitzero"`
	LastBy     string    `json:"last_by,omitempty"`
	LastReason string    `json:"last_reason,omitempty"`
	// Back is when they were brought back; zero while they are away. What they had
	// approved before stays void.
	Back time.Time `json:"back,omitzero"`
	// Ended is the pause or observe mode that their removal ended: it may be by their word.
	Ended string `json:"ended,omitempty"`
	// Unlisted says that no approver list has them, as far as was known, and that nobody
	// who is trusted removed them. Few such removals may stand.
	Unlisted bool `json:"unlisted,omitempty"`
	// ByRoot says that root orders it, by the word of the kernel: nobody else removes root.
	ByRoot bool `json:"-"`
}

// Errors of removals.
var (
	ErrNotRemoved   = errors.New("nobody of that name was removed: approver people list")
	errFrozenSince  = errors.New("a freeze began or ended while people were asked, so their yes does not count: ask anew")
	errRemovedSince = errors.New("somebody was removed or brought back while people were asked, so their yes does not count: ask anew")
	ErrRemovedAnew  = errors.New("they were removed anew, or brought back, since this was looked at, so it does not count: look at approver people list, and ask anew")
)

// Stands reports that the person is away.
func (r Removal) Stands() bool { return !r.At.IsZero() && r.Back.IsZero() }

// is reports whether an account, or the person it stands for, is the one who was removed.
func (r Removal) is(id approver.Identity, who approver.Person) bool {
	return who.ID != "" && shortName(who.ID) == shortName(r.Person) ||
		slices.ContainsFunc(r.Identities, func(gone approver.Identity) bool { return boundedIdentity(gone) == boundedIdentity(id) })
}

// Line says it for people.
func (r Removal) Line() string {
	text := fmt.Sprintf("%s was removed by %s at %s", display.SafeLine(r.Person), display.SafeLine(r.By), r.At.UTC().Format("2006-01-02 15:04 UTC"))
	if r.Reason != "" {
		text += " (" + display.SafeLine(r.Reason) + ")"
	}
	if r.Ended != "" {
		text += ", which ended: " + display.SafeLine(r.Ended)
	}
	if r.Last.IsZero() {
		return text
	}
	text += fmt.Sprintf(", and anew by %s at %s", display.SafeLine(r.LastBy), r.Last.UTC().Format("2006-01-02 15:04 UTC"))
	if r.LastReason != "" {
		text += " (" + display.SafeLine(r.LastReason) + ")"
	}
	return text
}

// same reports that nobody was removed anew, or brought back, between two looks.
func (r Removal) same(seen Removal) bool {
	return r.Person == seen.Person && r.At.Equal(seen.At) && r.Last.Equal(seen.Last) && r.Back.Equal(seen.Back) &&
		slices.Equal(r.Identities, seen.Identities)
}

// Removal returns the removal of whoever has this account, if they are away.
func (c Controls) Removal(id approver.Identity, who approver.Person) (Removal, bool) {
	for _, r := range c.Removed {
		if r.Stands() && r.is(id, who) {
			return r, true
		}
	}
	return Removal{}, false
}

// Away returns the people who are away.
func (c Controls) Away() []Removal {
	return slices.DeleteFunc(slices.Clone(c.Removed), func(r Removal) bool { return !r.Stands() })
}

// takesBack reports whether an answer is void because whoever gave it was removed after
// it, also if they are back.
func (c Controls) takesBack(res approver.Resolution) bool {
	return res.Cause == approver.ByPerson && res.Approve && slices.ContainsFunc(c.Removed, func(r Removal) bool {
		return r.is(res.Identity, res.Person) && (r.Stands() || !res.At.After(r.Back))
	})
}

// StillAs fails if a freeze began or ended, or somebody was removed, since people were
// asked about these controls, also if that is over: they said yes to how it was before,
// and it may be a yes of who was removed.
func (c Controls) StillAs(asked Controls) error { return c.stillAs(&asked) }

func (c Controls) stillAs(asked *Controls) error {
	switch {
	case asked == nil:
		return nil
	case !c.SameFreezes(*asked):
		return errFrozenSince
	case !slices.EqualFunc(c.Removed, asked.Removed, Removal.same):
		return errRemovedSince
	}
	return nil
}

// Loosened says which pause and observe mode are in force; empty if none is.
func (c Controls) Loosened(now time.Time) string { return c.endLoosened(now) }

// endLoosened ends a pause and observe mode, and says which there was.
func (c *Controls) endLoosened(now time.Time) string {
	observing := c.loosened(now)
	c.Observe = Observe{}
	if paused := c.loosened(now); !slices.Equal(observing, paused) {
		observing = append(observing, paused...)
	}
	c.Pause = Pause{}
	return strings.Join(observing, "; ")
}

// remove adds a removal, and ends a pause and observe mode: by whose word they began is
// not known for certain. A second one of the same person adds accounts, and keeps who was
// first and who was last. One of somebody whom a list has always finds a place.
func (c *Controls) remove(gone Removal, now time.Time) error {
	if err := gone.check(); err != nil {
		return err
	}
	if !gone.ByRoot {
		var err error
		if gone, err = gone.sparesRoot(); err != nil {
			return err
		}
	}
	gone = gone.bounded()
	c.Removed = slices.DeleteFunc(slices.Clone(c.Removed), func(r Removal) bool {
		return !r.Back.IsZero() && now.Sub(r.Back) > holdKeep // older than any yes
	})
	unlisted := 0
	for _, r := range c.Removed {
		if r.Stands() && r.Person == gone.Person {
			gone.Unlisted = gone.Unlisted && r.Unlisted
		} else if r.Stands() && r.Unlisted {
			unlisted++
		}
	}
	if gone.Unlisted && unlisted >= maxUnlisted {
		return errManyGone
	}
	gone.Ended = c.endLoosened(now)
	if i := placeOf(gone, c.Removed); i >= 0 {
		old := c.Removed[i]
		ids := slices.Clone(old.Identities) // they come first: see maxGoneAccounts
		for _, id := range gone.Identities {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		gone.Identities = ids
		if gone.At, gone.Back = now, (time.Time{}); old.Stands() {
			gone.Last, gone.LastBy, gone.LastReason = now, gone.By, gone.Reason
			gone.At, gone.By, gone.Reason = old.At, old.By, old.Reason
			gone.Ended = cmp.Or(gone.Ended, old.Ended)
		}
		c.Removed[i] = gone
		return nil
	}
	gone.At = now
	c.Removed = append(c.Removed, gone)
	return nil
}

// restore brings a person back, if their removal is still the one that was seen.
func (c *Controls) restore(seen Removal, now time.Time) error {
	c.Removed = slices.Clone(c.Removed)
	for i, r := range c.Removed {
		switch {
		case !r.Stands() || r.Person != seen.Person:
			continue
		case !r.same(seen):
			return ErrRemovedAnew
		}
		c.Removed[i].Back, c.must = now, true
		return nil
	}
	return ErrNotRemoved
}

// Removals takes people away, and brings them back.
type Removals struct {
	controls *Controller
	grants   *Grants
	requests *Requests
	backlog  *backlog
	editor   *editor
	records  *records
	audit    approver.Recorder
	log      *slog.Logger
}

// Remove takes a person away, for every daemon that shares the store: none of their
// answers counts from now on, and each yes of theirs that has run nothing yet is void.
// It returns how many of those there were. It needs nobody's yes. If the store does not
// take it, nothing has changed, and the error says so: no answer counts there either.
func (m *Removals) Remove(ctx context.Context, gone Removal) (voided int, err error) {
	if gone.Person == "" {
		return 0, errors.New("it is not said who is to be removed")
	}
	var at time.Time
	ended := ""
	c, err := m.controls.change(ctx, func(c *Controls, now time.Time) error {
		if at = now; c.Missing { // it was frozen for that, and stays so
			c.Missing, c.Freeze, c.Burned = false, Freeze{At: now, By: c.Freeze.By, Reason: c.Freeze.Reason}, now
		}
		ended = c.Loosened(now)
		return c.remove(gone, now)
	})
	gone = gone.bounded()
	if err != nil {
		return 0, fmt.Errorf("%s was NOT removed (approver freeze stops everything): %w", display.Safe(gone.Person), err)
	}
	removal := removedRecord(at, gone, ended)
	m.log.Warn("PEOPLE: " + removal.Note)
	if err = m.backlog.record(ctx, removal); err != nil {
		err = fmt.Errorf("%s is removed, but that could not be recorded: %w", display.Safe(gone.Person), err)
	}
	voided, voidErr := m.voidYeses(ctx, c, "revoked because "+gone.Person+" was removed by "+gone.By)
	return voided, errors.Join(err, voidErr)
}

// accounts names identities for people.
func accounts(ids []approver.Identity) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = approver.SelfPerson(id.Channel, id.ID)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// voidYeses ends the requests and lasting grants of which a removal voids the yes, so
// that cards and lists say so. What it misses is void all the same: see [Controls.void].
func (m *Removals) voidYeses(ctx context.Context, c Controls, note string) (voided int, err error) {
	open, err := m.requests.Open(ctx)
	for _, r := range open {
		if r.State != approver.Approved || !c.takesBack(r.Resolution) {
			continue
		}
		failErr := m.voidRequest(ctx, r, c, note)
		switch {
		case failErr == nil:
			voided++
		case !errors.Is(failErr, ErrSettled) && !errors.Is(failErr, approver.ErrNotFound):
			err = errors.Join(err, failErr)
		}
	}
	scopes, listErr := m.records.listed(ctx, "grant")
	err = errors.Join(err, listErr)
	for _, scope := range scopes {
		g, _, loadErr := m.grants.load(ctx, scope)
		if loadErr != nil || g.Ended != "" || !c.takesBack(g.Request.Resolution) {
			if !errors.Is(loadErr, approver.ErrNotFound) {
				err = errors.Join(err, loadErr)
			}
			continue
		}
		switch endErr := m.grants.end(ctx, scope, "revoked", note); {
		case endErr == nil:
			voided++
		case !errors.Is(endErr, ErrNoGrant) && !errors.Is(endErr, approver.ErrNotFound):
			err = errors.Join(err, endErr)
		}
	}
	return voided, err
}

// voidRequest takes a yes back that was not released yet.
func (m *Removals) voidRequest(ctx context.Context, r Request, c Controls, note string) error {
	waited := r.Granted()
	r, err := m.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		if r.State != approver.Approved || !c.takesBack(r.Resolution) {
			return r, ErrSettled
		}
		return r.Fail(approver.Revoked, now)
	})
	if err != nil {
		return err
	}
	if waited {
		_, err = m.audit.Record(ctx, approver.Record{
			Event: approver.EventRevoked, Request: r.ID, Fingerprint: r.Fingerprint, Call: r.Call, Verdict: r.Verdict, Note: note,
		})
	}
	m.editor.settle(r.ID)
	return err
}

// Restore brings back somebody who was removed, for every daemon that shares the store.
// They count where an approver list in force names them. What they had approved before
// stays void. seen is the removal as those saw it who decided: who was removed anew since
// stays away, with ErrRemovedAnew. The record of it is durable first.
func (m *Removals) Restore(ctx context.Context, seen Removal, by string) error {
	c, now, err := m.controls.Load(ctx)
	if err != nil {
		return err
	}
	if err := c.restore(seen, now); err != nil {
		return err
	}
	note := seen.Person + " is BROUGHT BACK by " + by + ": their answers count again where an approver list names them"
	if _, err := m.audit.Record(ctx, approver.Record{Event: approver.EventPolicy, At: now, Note: note}); err != nil {
		return err
	}
	_, err = m.controls.change(ctx, func(c *Controls, now time.Time) error {
		return c.restore(seen, now)
	})
	if err != nil {
		return m.controls.notDone(ctx, approver.EventPolicy, note, err)
	}
	m.log.Warn("PEOPLE: " + note)
	return nil
}

// shown are the channels that get cards.
func (h *Channels) shownWhere() map[string]bool {
	names := map[string]bool{}
	for _, d := range h.destinations {
		names[d.Channel] = true
	}
	return names
}

// takes reports whether a request of this severity can be approved on a channel.
func (h *Channels) takes(channel string, s approver.Severity) bool {
	taker, is := h.byName[channel].(approver.Taker)
	return !is || taker.Takes(s)
}
