package broadcaster

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// Controls are one record of the store, so that they change at once for every daemon that
// shares it. The zero value is neither frozen, paused nor observing. A store without a record
// counts as frozen.
type Controls struct {
	// Version counts the changes: it never goes back.
	Version uint64 `json:"version,omitempty"`
	// Missing means that the store has no record, or an older one than it had.
	Missing bool   `json:"-"`
	Freeze  Freeze `json:"freeze,omitzero"`
	// Here is the store's error if the freeze holds in this process alone. It is empty if
	// the store has the freeze, or nothing is frozen.
	Here  string `json:"-"`
	Pause Pause  `json:"pause,omitzero"`
	// Observe stays after its end, to say when it was.
	Observe Observe `json:"observe,omitzero"`
	// Burned is when the newest freeze began, also after it was lifted: no yes
	// to a request that was made before, and no grant, runs anything any more.
	Burned time.Time `json:"burned,omitzero"`
	// Holds are the freezes of one agent each.
	Holds []Hold `json:"holds,omitempty"`
	// Removed are the people who were removed, whatever an approver list says.
	Removed RemovedPeople `json:"removed,omitempty"`
	// Events are those that brought a freeze of everything.
	Events events `json:"events,omitempty"`
	// Unrecorded is since when the audit lacks a freeze or a removal, because it could not
	// be written; zero if it lacks nothing.
	Unrecorded time.Time `json:"unrecorded,omitzero"`

	held        *heldFreeze // the freeze of this process that is part of it, or nil
	usesReserve bool        // this change may use the reserved room
}

// Errors of the controls.
var (
	ErrFrozen    = errors.New("approver is frozen: lift that first with approver unfreeze")
	ErrNotFrozen = errors.New("approver is not frozen")

	errFrozenAnew = errors.New("approver was frozen anew meanwhile: look at approver status, and lift it again")
)

// A Freeze stops every call, or those of one agent.
type Freeze struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	// Who says whose calls it stops; empty is everybody's. It is not stored.
	Who string `json:"-"`
}

// also adds the reason of a second freeze. If both are too long, the first one stays: the
// audit has each.
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

// beside is a freeze that replaces lost controls: its reason names the loss first.
func (f Freeze) beside(other Freeze) Freeze {
	f.At = other.At
	why := other.Reason
	if why == "" && other.By != f.By {
		why = "frozen by " + other.By
	}
	f.Reason = f.also(other.By, why)
	return f
}

// bounded shortens the texts of a freeze.
func (f Freeze) bounded() Freeze {
	f.By, f.Reason = cutText(f.By, maxBy), cutText(f.Reason, maxReason)
	return f
}

// A Pause lets calls that would be put before people through to the agent's own
// permission flow.
type Pause struct {
	Until time.Time `json:"until"`
	By    string    `json:"by"`
	// All includes calls that are CATASTROPHIC; otherwise those are still asked.
	All bool `json:"all,omitempty"`
}

// MaxPause bounds a pause.
const MaxPause = time.Hour

// An Observe is the time in which findings of rules are recorded and not
// enforced. The zero value is over.
type Observe struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // from here on everything is enforced, by itself
	By    string    `json:"by"`
}

// says describes observe mode.
func (o Observe) says() display.Phrase {
	return display.Phrase{Text: "OBSERVING until %s by %s: nothing is asked or denied, it is only recorded",
		Args: []string{o.Until.UTC().Format("2006-01-02 15:04 UTC"), o.By}}
}

// notice is says in English, for status and logs.
func (o Observe) notice() string { return display.Texts{}.Say(o.says()) }

// How long observe mode may last, and lasts unless something else is said.
const (
	MinObserve     = time.Minute
	MaxObserve     = 30 * 24 * time.Hour
	DefaultObserve = 7 * 24 * time.Hour
)

// starting checks a duration and returns the Observe that begins now.
func starting(now time.Time, d time.Duration, by string) (Observe, error) {
	if d < MinObserve || d > MaxObserve {
		return Observe{}, fmt.Errorf("observing for %v: from %v to %d days are possible", d, MinObserve,
			MaxObserve/(24*time.Hour))
	}
	return Observe{Since: now, Until: now.Add(d), By: by}, nil
}

// A Hold is a freeze of one agent. Lifting it makes its At zero. The record is then kept
// for holdKeep, because a yes from before Burned stays void.
type Hold struct {
	Freeze
	Who    Who       `json:"who"`
	Burned time.Time `json:"burned,omitzero"`
}

// A heldFreeze holds in this process until the store takes it.
type heldFreeze struct {
	Freeze           // the first one
	last   time.Time // when the newest one came
	why    string    // the store's error
}

// is reports whether both are the same freezes.
func (f *heldFreeze) is(g *heldFreeze) bool {
	return f != nil && g != nil && f.in(g.Freeze) && f.last.Equal(g.last)
}

// in reports whether a freeze of the store is this one.
func (f *heldFreeze) in(g Freeze) bool { return f.At.Equal(g.At) && f.By == g.By }

// Frozen reports whether every call is stopped now.
func (c Controls) Frozen() bool { return c.Missing || !c.Freeze.At.IsZero() }

// Paused reports whether nobody is asked about a call of this severity.
func (c Controls) Paused(s approver.Severity, now time.Time) bool {
	return !c.Frozen() && now.Before(c.Pause.Until) && (s == approver.High || c.Pause.All)
}

// Observing reports whether findings are recorded and not enforced now.
func (c Controls) Observing(now time.Time) bool {
	return !c.Frozen() && now.Before(c.Observe.Until)
}

// freezeVoids reports whether a freeze voids a yes to a request that was made at this time.
func (c Controls) freezeVoids(made time.Time) bool {
	return c.Frozen() || !c.Burned.IsZero() && !made.After(c.Burned)
}

// freezeVoidsFor reports whether a freeze, of everything or of the call's agent, voids a yes to this
// call whose request was made at that time.
func (c Controls) freezeVoidsFor(call approver.ToolCall, made time.Time) bool {
	if c.freezeVoids(made) {
		return true
	}
	if _, frozen := c.freezeOf(call); frozen {
		return true
	}
	return slices.ContainsFunc(c.Holds, func(h Hold) bool {
		return !h.Burned.IsZero() && !made.After(h.Burned) && h.Who.Is(call)
	})
}

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

// hidden reports whether this process holds a freeze that people do not see, because the store
// has another one.
func (c Controls) hidden() bool { return c.held != nil && c.Frozen() && !c.held.in(c.Freeze) }

// SameFreezes reports whether no freeze, of everything or of one agent, began or ended between
// c and d.
func (c Controls) SameFreezes(d Controls) bool {
	return c.Burned.Equal(d.Burned) && slices.EqualFunc(c.Holds, d.Holds, func(a, b Hold) bool {
		return a.At.Equal(b.At) && a.Burned.Equal(b.Burned) && a.Who == b.Who
	})
}

// changedSince reports whether a freeze, of everything or of an agent, began or ended
// after a request was made.
func (c Controls) changedSince(made Request) bool {
	return c.Burned.After(made.Created) || slices.ContainsFunc(c.Holds, func(h Hold) bool {
		return h.At.After(made.Created) || h.Burned.After(made.Created)
	})
}

// Errors of removals.
var (
	ErrNotRemoved   = errors.New("nobody of that name was removed: approver people list")
	errFrozenSince  = errors.New("a freeze began or ended while people were asked, so their yes does not count: ask anew")
	errRemovedSince = errors.New("somebody was removed or brought back while people were asked, so their yes does not " +
		"count: ask anew")
	ErrRemovedAnew = errors.New("they were removed anew, or brought back, since this was looked at, so it does not " +
		"count: look at approver people list, and ask anew")
)

// StillAs fails if a freeze began or ended, or somebody was removed, since people were asked
// about these controls, even if that is over. They said yes to the earlier state, and the yes
// may come from the person who was removed. Without controls that people were asked about it
// never fails.
func (c Controls) StillAs(asked *Controls) error {
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

// Notice is what is said while something is frozen, observed or paused, in English.
func (c Controls) Notice(now time.Time) string { return english(c.notices(now)) }

func english(all []display.Phrase) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = display.Texts{}.Say(p)
	}
	return strings.Join(texts, "; ")
}

// notices are what cards say while something is frozen, observed or paused.
func (c Controls) notices(now time.Time) (all []display.Phrase) {
	since := c.Freeze.At.UTC().Format("15:04:05 UTC")
	switch {
	case c.Missing:
		return []display.Phrase{{Text: "FROZEN because %s", Args: []string{c.Freeze.Reason}}}
	case c.Frozen() && c.Here != "":
		return []display.Phrase{{Text: "FROZEN by %s since %s, by this daemon alone until it is restarted or the store " +
			"takes the freeze: %s", Args: []string{c.Freeze.By, since, c.Here}}}
	case c.Frozen():
		return []display.Phrase{{Text: "FROZEN by %s since %s", Args: []string{c.Freeze.By, since}}}
	}
	held := c.Held()
	for _, h := range held[:min(len(held), maxNamed)] {
		says := display.Phrase{Text: "FROZEN: %s in %s by %s", Args: []string{h.Who.Agent, h.Who.Project, h.By}}
		if uid := strconv.FormatUint(uint64(h.Who.Peer.UID), 10); h.Who.Peer.Known {
			says = display.Phrase{Text: "FROZEN: %s in %s of uid %s by %s",
				Args: []string{h.Who.Agent, h.Who.Project, uid, h.By}}
		}
		all = append(all, says)
	}
	if more := len(held) - maxNamed; more > 0 {
		all = append(all, display.Phrase{Text: "FROZEN: and %s more", Args: []string{strconv.Itoa(more)}})
	}
	return append(all, c.loosened(now)...)
}

// loosened describes the observe mode or the pause in force.
func (c Controls) loosened(now time.Time) []display.Phrase {
	pause := []string{c.Pause.Until.UTC().Format("15:04:05 UTC"), c.Pause.By}
	switch {
	case c.Observing(now):
		return []display.Phrase{c.Observe.says()}
	case c.Paused(approver.Catastrophic, now):
		return []display.Phrase{{Text: "PAUSED until %s by %s: nobody is asked", Args: pause}}
	case c.Paused(approver.High, now):
		return []display.Phrase{{Text: "PAUSED until %s by %s: HIGH calls are not asked", Args: pause}}
	}
	return nil
}

// Loosened describes the pause and the observe mode in force; empty if there is none.
func (c Controls) Loosened(now time.Time) string { return c.endLoosened(now) }

// endLoosened ends a pause and observe mode, and returns what was in force.
func (c *Controls) endLoosened(now time.Time) string {
	observing := c.loosened(now)
	c.Observe = Observe{}
	if paused := c.loosened(now); english(observing) != english(paused) {
		observing = append(observing, paused...)
	}
	c.Pause = Pause{}
	return english(observing)
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

// FreezeLines say of each freeze in force what it stops, by whom, since when and why, in English.
func (c Controls) FreezeLines() (lines []string) {
	for _, m := range c.freezes() {
		lines = append(lines, display.Texts{}.Message(m))
	}
	return lines
}

// freezes say of each freeze in force what it stops, by whom, since when and why.
func (c Controls) freezes() (lines []display.Message) {
	line := func(what display.Message, f Freeze) {
		why := display.Msg("no reason given")
		if f.Reason != "" {
			why = display.Msg("%s", f.Reason)
		}
		if f.At.IsZero() { // unknown if it replaces a lost record
			lines = append(lines, display.Msg("%s: frozen by %s, %s", what, f.By, why))
			return
		}
		at := f.At.UTC().Format("2006-01-02 15:04:05 UTC")
		lines = append(lines, display.Msg("%s: frozen by %s at %s, %s", what, f.By, at, why))
	}
	if c.Frozen() {
		what := display.Msg("everything")
		if c.Here != "" {
			what = display.Msg("everything, by this daemon alone")
		}
		line(what, c.Freeze)
	}
	for _, h := range c.Held() {
		what := h.Who.says()
		if h.Who.Session != "" {
			what = display.Msg("%s, and its session %s wherever it goes", what, h.Who.Session)
		}
		line(what, h.Freeze)
	}
	return lines
}
