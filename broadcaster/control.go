package broadcaster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"log/slog"

	"approver.example"
	"approver.example/display"
)

// This file holds what people have said of the whole installation: that nothing
// runs (a freeze), or that for a while nobody is asked (a pause; observe.go).

// Controls are in one record of the store, so that they change at once for
// every daemon that shares it. The zero value is neither frozen, paused nor
// observing; what a store without a record says is a freeze.
type Controls struct {
	// Version counts the changes: it never goes back.
	Version uint64 `json:"version,omitempty"`
	// Missing means that the store has no record, or an older one than it had.
	Missing bool   `json:"-"`
	Freeze  Freeze `json:"freeze,omitzero"`
	// Here says why the freeze holds in this process alone: what the store said when it
	// was to take it. Empty: the store has it, or nothing is frozen.
	Here  string `json:"-"`
	Pause Pause  `json:"pause,omitzero"`
	// Observe outlives its end, to tell when it was.
	Observe Observe `json:"observe,omitzero"`
	// Burned is when the newest freeze began, also after it was lifted: no yes
	// to a request that was made before, and no grant, runs anything any more.
	Burned time.Time `json:"burned,omitzero"`
	// Holds are the freezes of one agent each.
	Holds []Hold `json:"holds,omitempty"`
	// Removed are the people who were taken away, whatever an approver list says.
	Removed []Removal `json:"removed,omitempty"`
	// Unrecorded is since when the audit lacks a freeze or a removal, because it could not
	// be written; zero is nothing.
	Unrecorded time.Time `json:"unrecorded,omitzero"`

	held *heldFreeze // what of this process is in it; nil is nothing
	must bool        // of a change: the room that is kept free is for it
}

// A Freeze stops every call, or those of one agent.
type Freeze struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	// Who says whose calls it stops; empty is everybody's. It is not stored.
	Who string `json:"-"`
}

// A Pause lets calls that would be put before people through to the agent's own
// permission flow.
type Pause struct {
	Until time.Time `json:"until"`
	By    string    `json:"by"`
	// All includes calls that are CATASTROPHIC; otherwise those are still asked.
	All bool `json:"all,omitempty"`
}

// also is the reason of a freeze that somebody froze once more, for another reason. Where
// both have no room, the first one keeps it: the audit has each.
func (f Freeze) also(by, reason string) string {
	switch {
	case reason == "" || f.Reason == reason || strings.Contains("; "+f.Reason, "; "+reason+" ("+by+")"):
		return f.Reason
	case f.Reason == "":
		return cutText(reason+" ("+by+")", maxReason)
	}
	if both := f.Reason + "; " + reason + " (" + by + ")"; len(both) <= maxReason {
		return both
	}
	return f.Reason
}

// MaxPause bounds a pause.
const MaxPause = time.Hour

// Frozen reports whether every call is stopped now.
func (c Controls) Frozen() bool { return c.Missing || !c.Freeze.At.IsZero() }

// Paused reports whether nobody is asked about a call of this severity.
func (c Controls) Paused(s approver.Severity, now time.Time) bool {
	return !c.Frozen() && now.Before(c.Pause.Until) && (s == approver.High || c.Pause.All)
}

// Burns reports whether a yes to what was made at this time must not run
// anything.
func (c Controls) Burns(made time.Time) bool {
	return c.Frozen() || !c.Burned.IsZero() && !made.After(c.Burned)
}

// Notice is what cards say while something is frozen, observed or paused.
func (c Controls) Notice(now time.Time) string {
	switch {
	case c.Missing:
		return "FROZEN because " + c.Freeze.Reason
	case c.Frozen():
		text := "FROZEN by " + display.SafeLine(c.Freeze.By) + " since " + c.Freeze.At.UTC().Format("15:04:05 UTC")
		if c.Here != "" {
			text += ", by this daemon alone until it is restarted or the store takes the freeze: " + display.OneLine(c.Here)
		}
		return text
	case len(c.Held()) > 0:
		return strings.Join(append([]string{"FROZEN: " + c.FrozenText()}, c.loosened(now)...), "; ")
	}
	return strings.Join(c.loosened(now), "")
}

// loosened says whether something is observed or paused.
func (c Controls) loosened(now time.Time) []string {
	var text string
	switch {
	case c.Observing(now):
		text = c.Observe.notice()
	case c.Paused(approver.Catastrophic, now):
		text = "PAUSED until " + c.Pause.Until.UTC().Format("15:04:05 UTC") + " by " + display.Safe(c.Pause.By) + ": nobody is asked"
	case c.Paused(approver.High, now):
		text = "PAUSED until " + c.Pause.Until.UTC().Format("15:04:05 UTC") + " by " + display.Safe(c.Pause.By) + ": HIGH calls are not asked"
	default:
		return nil
	}
	return []string{text}
}

func controlKey() string { return approver.Key("control", "all") }

// A Controller changes the controls: it freezes, pauses and observes.
type Controller struct {
	requests *Requests
	backlog  *backlog
	editor   *editor
	records  *records
	audit    approver.Recorder
	log      *slog.Logger
	mark     *ControlMark
	store    approver.KV

	distrusted distrusted
	frozen     frozenLine
}

// Load reads the controls and the store's clock.
func (k *Controller) Load(ctx context.Context) (c Controls, now time.Time, err error) {
	c, _, now, err = loadControls(ctx, k.store, k.mark)
	return c, now, err
}

// LoadControls reads the controls as the store has them, whatever was known before.
func LoadControls(ctx context.Context, store approver.KV) (Controls, error) {
	return readControls(ctx, store, nil)
}

func loadControls(ctx context.Context, store approver.KV, mark *ControlMark) (c Controls, rev approver.Rev, now time.Time, err error) {
	known, held := mark.Version(), mark.holding()
	value, rev, now, err := approver.GetNow(ctx, store, controlKey())
	if held != nil && mark.holding() == nil { // see readControls
		value, rev, now, err = approver.GetNow(ctx, store, controlKey())
	}
	if errors.Is(err, approver.ErrTampered) {
		var clockErr error
		if now, clockErr = store.Now(ctx); clockErr != nil {
			err = clockErr
		}
	}
	if c, err = decodeControls(value, err); err != nil {
		return c, rev, now, err
	}
	return mark.check(c, known), rev, now, nil
}

func readControls(ctx context.Context, store approver.KV, mark *ControlMark) (Controls, error) {
	c, err := readStored(ctx, store, mark)
	if err != nil {
		if held := mark.Held(); held.Frozen() { // whatever becomes of calls when the store fails
			return held, nil
		}
	}
	return c, err
}

// readStored is readControls where it counts that the store says it: who was removed is
// not known from a freeze that this process holds alone.
func readStored(ctx context.Context, store approver.KV, mark *ControlMark) (Controls, error) {
	known, held := mark.Version(), mark.holding()
	value, _, err := store.Get(ctx, controlKey())
	if held != nil && mark.holding() == nil {
		// The store took what held here while it was read: before that, it seems.
		value, _, err = store.Get(ctx, controlKey())
	}
	c, err := decodeControls(value, err)
	if err != nil {
		return c, err
	}
	return mark.check(c, known), nil
}

// decodeControls reads the record. None, or one that is not ours, is a freeze: it is
// written at the first start and never removed. readErr is how the reading of it ended.
func decodeControls(value []byte, readErr error) (c Controls, err error) {
	if readErr == nil && json.Unmarshal(value, &c) != nil {
		readErr = approver.ErrTampered
	}
	switch {
	case readErr == nil:
		return c, nil
	case errors.Is(readErr, approver.ErrNotFound):
		return Controls{Missing: true, Freeze: Freeze{By: "approver", Reason: vanished}}, nil
	case errors.Is(readErr, approver.ErrTampered):
		why := fmt.Sprintf("%s (the key %s)", forged, controlKey())
		return Controls{Missing: true, Freeze: Freeze{By: "approver", Reason: why}}, nil
	}
	return Controls{}, fmt.Errorf("whether approver is frozen: %w", readErr)
}

// change applies one step to the controls.
func (k *Controller) change(ctx context.Context, step func(*Controls, time.Time) error) (Controls, error) {
	c, err := changeControls(ctx, k.store, k.mark, k.records.put, func(c *Controls, now time.Time) error {
		missing, why := c.Missing, c.Freeze.Reason
		if err := step(c, now); err != nil {
			return err
		}
		if missing && !c.Missing {
			if err := k.backlog.tellLoss(ctx, why); err != nil {
				k.log.Error("what is wrong with the store could not be noted everywhere", "error", err)
			}
		}
		return nil
	})
	if err == nil {
		k.backlog.loss.over()
	}
	return c, err
}

// A putFunc is KV.Put.
type putFunc func(ctx context.Context, key string, value []byte, prev, next approver.Rev, due, keepUntil time.Time) error

func changeControls(
	ctx context.Context, store approver.KV, mark *ControlMark, put putFunc, step func(*Controls, time.Time) error,
) (Controls, error) {
	for {
		c, rev, now, err := loadControls(ctx, store, mark)
		if err != nil {
			return c, err
		}
		tampered := c.Missing && rev == "" && c.Freeze.Reason != vanished
		if err := step(&c, now); err != nil {
			return c, err
		}
		if c.Missing {
			return c, ErrFrozen // a record may only come back as a freeze, or by who lifts it
		}
		c.Version = max(c.Version, mark.Version()) + 1
		c.bound()
		value, err := json.Marshal(c)
		if err != nil {
			return c, err
		}
		if err := c.fits(value); err != nil {
			return c, err
		}
		if d, ok := store.(approver.Discarder); ok && tampered {
			if err := d.Discard(ctx, controlKey()); err != nil && !errors.Is(err, approver.ErrConflict) {
				return c, err
			}
		}
		// A freeze stays until it is lifted: the record must outlive it.
		err = put(ctx, controlKey(), value, rev, approver.NewRev(), time.Time{}, now.Add(controlsKeep))
		if err == nil {
			mark.check(c, 0)
		}
		if !errors.Is(err, approver.ErrConflict) {
			return c, err
		}
	}
}

const controlsKeep = 10 * 365 * 24 * time.Hour

// Errors of the controls.
var (
	ErrFrozen    = errors.New("approver is frozen: lift that first with approver unfreeze")
	ErrNotFrozen = errors.New("approver is not frozen")

	errFrozenAnew = errors.New("approver was frozen anew meanwhile: look at approver status, and lift it again")
)

// Freeze stops every call from now on, denies the open requests and burns every
// grant. It returns how many requests it denied. A second freeze is as good as
// the first, and keeps who froze first; another reason is kept beside the first.
//
// It holds in this process at once. One that the store does not take goes on to hold here,
// and is an error that says so; [Broadcaster.Run] gives it to the store again and again.
func (k *Controller) Freeze(ctx context.Context, by, reason string) (denied int, err error) {
	denied, _, err = k.FreezeBeside(ctx, by, reason)
	return denied, err
}

// FreezeBeside is Freeze, and returns the freeze that held before; the zero Freeze is none.
func (k *Controller) FreezeBeside(ctx context.Context, by, reason string) (denied int, before Freeze, err error) {
	by, reason = cutText(by, maxBy), cutText(reason, maxReason)
	k.mark.hold(Freeze{At: time.Now(), By: by, Reason: reason})
	denied, before, err = k.freeze(ctx, by, reason, false)
	if !k.mark.refused(err) {
		return denied, before, err
	}
	k.log.Error("FROZEN by this daemon alone: the store does not take it", "by", by, "reason", reason, "error", err)
	// No frozen: at the next start that would be a store that has lost it.
	note := fmt.Sprintf("frozen by %s, %s, by this daemon alone: the store does not take it: %v",
		by, cmp.Or(reason, "no reason given"), err)
	_, auditErr := k.audit.Record(context.WithoutCancel(ctx), approver.Record{Event: approver.EventAlarm, Alarm: approver.AlarmStore, Note: note})
	err = fmt.Errorf("frozen here until restart or until the store takes it: this daemon denies every call from now on, "+
		"and other daemons on the store go on: stop them, or mend the store; the store said: %w", err)
	return 0, Freeze{}, errors.Join(err, auditErr)
}

// freeze is Freeze in the store. With again it is what holds here already, which somebody
// may have lifted meanwhile.
func (k *Controller) freeze(ctx context.Context, by, reason string, again bool) (denied int, before Freeze, err error) {
	var c Controls
	if again {
		c, err = k.freezeHeld(ctx)
	} else {
		by, reason = cutText(by, maxBy), cutText(reason, maxReason)
		c, err = k.change(ctx, func(c *Controls, now time.Time) error {
			c.must, before = true, Freeze{}
			if c.Frozen() && !c.Missing && (c.Here == "" || c.held.last.After(c.held.At)) {
				before = c.Freeze
			}
			switch {
			case c.Here != "":
				c.Freeze.At, c.Freeze.Reason = now, c.Freeze.also(by, reason)
			case c.Missing:
				c.Missing, c.Freeze = false, c.Freeze.beside(Freeze{At: now, By: by, Reason: reason})
			case !c.Frozen():
				c.Freeze = Freeze{At: now, By: by, Reason: reason}
			default:
				c.Freeze.Reason = c.Freeze.also(by, reason)
			}
			c.Burned, c.Pause, c.Observe = now, Pause{}, Observe{}
			return nil
		})
	}
	if err != nil {
		return 0, before, err
	}
	if again {
		by, reason = c.held.By, c.held.Reason
	} else {
		k.mark.took(c.held)
	}
	k.frozen.tell(k.log, by, reason)
	auditErr := k.backlog.record(ctx, frozenRecord(c.Burned, Freeze{By: by, Reason: reason}))
	if auditErr != nil {
		auditErr = fmt.Errorf("every call is denied from now on, but the freeze could not be recorded: %w", auditErr)
	}
	denied, err = k.denyOpen(ctx, approver.Frozen, func(approver.ToolCall) bool { return true })
	return denied, before, errors.Join(auditErr, err)
}

// Unfreeze lifts a freeze, and those of agents. What they burned stays burned. The
// record of it is durable first.
func (k *Controller) Unfreeze(ctx context.Context, by string) error {
	c, _, err := k.Load(ctx)
	if err != nil {
		return err
	}
	return k.UnfreezeAs(ctx, c, by)
}

// UnfreezeAs is Unfreeze of these controls, which those have seen whose word it is. It
// fails if a freeze began or ended since, or somebody was removed: it may be their word.
func (k *Controller) UnfreezeAs(ctx context.Context, c Controls, by string) error {
	now, err := k.store.Now(ctx)
	if err != nil {
		return err
	}
	if c.FrozenText() == "" {
		return ErrNotFrozen
	}
	if c.hidden() { // nobody has seen it: it comes into store and audit, and this lift is of another
		_, _, err := k.freeze(ctx, c.held.By, c.held.Reason, true)
		return errors.Join(errFrozenAnew, err)
	}
	if err := k.backlog.pay(ctx, c); err != nil {
		return err
	}
	note := "lifted by " + by
	if held := c.Held(); len(held) > 0 {
		note += ": " + c.FrozenText()
	}
	if _, err := k.audit.Record(ctx, approver.Record{Event: approver.EventUnfrozen, At: now, Note: note}); err != nil {
		return err
	}
	err = k.lift(ctx, c)
	if err != nil && k.mark.Held().Frozen() {
		err = fmt.Errorf("the store does not take the end of a freeze that this daemon alone holds: "+
			"make the store work, or restart the daemon: %w", err)
	}
	if err != nil {
		return k.notDone(ctx, approver.EventUnfrozen, note, err)
	}
	k.log.Warn("the freeze is lifted", "by", by)
	if _, err := k.denyOpen(ctx, approver.Frozen, func(approver.ToolCall) bool { return false }); err != nil {
		k.log.Warn("questions about the freeze may still be open; a yes to them does nothing", "error", err)
	}
	return nil
}

// notDone says of what was recorded before it was done that it was not, so that
// nobody reads in the audit of a time that never was. It returns err, and what
// goes wrong with that record.
func (k *Controller) notDone(ctx context.Context, e approver.Event, note string, err error) error {
	said := "this is not known to have taken effect: "
	never := func(why error) bool { return errors.Is(err, why) }
	if slices.ContainsFunc([]error{ErrFrozen, ErrNotFrozen, errFrozenSince, errRemovedSince, errFullControls}, never) {
		said = "this did not take effect: "
	}
	_, auditErr := k.audit.Record(context.WithoutCancel(ctx), approver.Record{Event: e, Note: said + note + ": " + err.Error()})
	return errors.Join(err, auditErr)
}
