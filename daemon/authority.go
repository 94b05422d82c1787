package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/daemon/judges"
	"approver.example/daemon/sealed"
	"approver.example/display"
)

// An authority keeps in the store whose answers count, so that neither an edit of the
// configuration nor a restart can add an approver without asking. What the configuration adds
// waits until the current approvers have approved it; what it removes stops counting at once.
type authority struct {
	sealed.Record
	cfg      configs.Config // as the file says
	isolated bool
	audit    approver.Recorder
	older    bool                             // the audit has records from before this start, so it is not the first
	doubt    func(format string, args ...any) // reports a reason to distrust the store
	log      *slog.Logger
	admitted func(approver.People) // puts a new approver list in force

	mu   sync.Mutex // held while the record changes
	kept storedAuthority
	away []string // the lines of removed people: they wait for approver people restore
	// stuck means that nobody is left who could approve what waits. Then the record stays
	// unchanged, so that putting one of the former approvers back helps.
	stuck bool
}

// A storedAuthority is the record in the store.
type storedAuthority struct {
	Lines []string `json:"lines"` // of configs.Config.Authority
	// Decides says that the lines once included somebody who could approve a CATASTROPHIC
	// request. Before that, nobody can be asked about further approvers.
	Decides bool `json:"decides"`
}

// start determines which lines of the configuration count.
func (h *authority) start(ctx context.Context) error {
	var kept storedAuthority
	c, err := broadcaster.LoadControls(ctx, h.Store)
	if err != nil {
		return err
	}
	h.away = h.linesOf(c)
	err = h.Load(ctx, &kept)
	lines := without(h.cfg.Authority(), h.away)
	kept.Decides = kept.Decides || h.decides(kept.Lines) // isolation may be new, and makes a terminal decide
	switch {
	case errors.Is(err, approver.ErrNotFound) && h.older:
		h.doubt("the store does not say any more whose answers counted, so look whether the approver lists are as you "+
			"want them%s", h.Cure())
		h.log.Error("the store does not say whose answers counted before, although the audit is older: the approver lists "+
			"are taken as they stand, so look whether they are as you want them",
			"lists", lines, "lost_from", h.Where)
		return h.put(ctx, lines,
			"NO FORMER LISTS are in the store, although the audit is older: they are taken as they stand")
	case errors.Is(err, approver.ErrNotFound):
		return h.put(ctx, lines, "the first of this installation")
	case errors.Is(err, approver.ErrAway): // its error has the cure
		return fmt.Errorf("it cannot be read whose answers counted last: %w", err)
	case err != nil:
		return fmt.Errorf("it cannot be read whose answers counted last, so it is not known whom the approver lists add: "+
			"%w: "+
			"if a key was replaced, list the old one behind the new one; otherwise look for who changed %s, and remove it "+
			"only if the approver lists are as you want them: "+
			"the next start takes them as the first (with the file, open requests, grants and a freeze are lost too)", err,
			h.Where)
	case !kept.Decides && !slices.Equal(kept.Lines, lines):
		for _, line := range without(lines, kept.Lines) {
			h.log.Warn("the configuration adds somebody, or something, whose answers count from now on, and nobody was "+
				"asked: before, nobody could approve a CATASTROPHIC request", "adds", line)
		}
		return h.put(ctx, lines, "nobody could be asked: before, nobody could approve a CATASTROPHIC request")
	}
	return h.hold(ctx, kept, lines)
}

// hold makes the lines count that both the configuration and the record have.
func (h *authority) hold(ctx context.Context, kept storedAuthority, lines []string) error {
	both := without(lines, without(lines, kept.Lines))
	h.kept = storedAuthority{both, kept.Decides}
	waiting := h.waiting()
	for _, line := range waiting {
		h.log.Warn("the configuration adds somebody, or something, whose answers do not count until people approve it",
			"adds", line)
	}
	switch {
	case kept.Decides && !h.decides(both):
		h.stuck = true
		h.log.Error(nobodyLeft(h.cfg.PeopleHeldTo(both))+
			": of those whose answers counted, none is in the configuration who could approve a CATASTROPHIC request, so "+
			"nobody can be asked about others",
			"counted", kept.Lines, "waiting", waiting,
			"cure", "put one of those who counted back into the configuration and restart; if none of them can answer any "+
				"more: docs/nobody.md")
	case len(both) < len(kept.Lines):
		return h.put(ctx, both, "others were removed, or taken out of the configuration")
	}
	return nil
}

// nobodyLeft returns the alarm for when nobody can be asked about further approvers. Somebody
// may still be able to approve HIGH requests.
func nobodyLeft(counting approver.People) string {
	if len(counting) == 0 {
		return "NOBODY IS LEFT WHO COULD APPROVE"
	}
	return "NOBODY IS LEFT WHO COULD APPROVE A CATASTROPHIC REQUEST"
}

// decides reports whether the lines include somebody who can approve a CATASTROPHIC request.
func (h *authority) decides(lines []string) bool {
	channels := h.cfg.HeldTo(lines).Channels
	answers := h.isolated && channels.AnswersHere()
	for id := range h.cfg.PeopleHeldTo(lines) {
		if !channels.IsLocal(id.Channel) || answers {
			return true
		}
	}
	return false
}

// without returns the lines of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(line string) bool { return slices.Contains(b, line) })
}

// put makes exactly these lines count: it writes the audit first, then the store.
func (h *authority) put(ctx context.Context, lines []string, how string) error {
	ctx = context.WithoutCancel(ctx)
	note := "whose answers count: " + how + ": " + strings.Join(lines, " | ")
	if _, err := h.audit.Record(ctx,
		approver.Record{Event: approver.EventPolicy, At: time.Now(), Note: note}); err != nil {
		return fmt.Errorf("a change of the approver lists could not be recorded: %w", err)
	}
	next := storedAuthority{lines, h.kept.Decides || h.decides(lines)}
	if err := h.Replace(ctx, h.audit, next); err != nil {
		return fmt.Errorf("the approver lists could not be stored: %w", err)
	}
	h.kept, h.stuck = next, false
	return nil
}

// admit makes more lines count, which people or a trusted operator approved.
func (h *authority) admit(ctx context.Context, lines []string, how string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := slices.Concat(h.kept.Lines, without(lines, h.kept.Lines))
	slices.Sort(all)
	all = without(all, h.away)
	if err := h.put(ctx, all, how); err != nil {
		return err
	}
	h.admitted(h.cfg.PeopleHeldTo(all))
	return nil
}

// counting returns the lines that count.
func (h *authority) counting() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.kept.Lines
}

// waiting returns the lines of the configuration that do not count yet, except those of
// removed people, about whom a start does not ask.
func (h *authority) waiting() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return without(without(h.cfg.Authority(), h.kept.Lines), h.away)
}

// allowsLocal reports whether the next start will take answers on this machine.
func (h *authority) allowsLocal() bool {
	channels := h.cfg.HeldTo(h.counting()).Channels
	return channels.AnswersHere()
}

// listed returns everybody whom the configuration names, whether their answers count or not.
func (h *authority) listed() approver.People { return h.cfg.People() }

// counted reports whether a person's answers count here, apart from removals.
func (h *authority) counted(person string) bool {
	for _, who := range h.cfg.PeopleHeldTo(h.counting()) {
		if who.ID == person {
			return true
		}
	}
	return false
}

// linesOf returns the lines of the people who are removed in these controls.
func (h *authority) linesOf(c broadcaster.Controls) (lines []string) {
	for id, who := range h.cfg.People() {
		if _, away := c.Removed.Of(id, who); away {
			lines = append(lines, configs.ApproverLine(id.Channel, id.ID, who.ID))
		}
	}
	slices.Sort(lines)
	return lines
}

// takeAway takes removed people off the record of who counts. After that only people's
// approval brings them back, whatever happens to the removal. If nobody would be left, the
// record stays unchanged, as in hold, and only the removal keeps them out.
func (h *authority) takeAway(ctx context.Context, c broadcaster.Controls, how string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.away = h.linesOf(c)
	left := without(h.kept.Lines, h.away)
	h.admitted(h.cfg.PeopleHeldTo(left))
	switch {
	case len(left) == len(h.kept.Lines):
		return nil
	case h.kept.Decides && !h.decides(left):
		h.stuck = true
		h.log.Error(nobodyLeft(h.cfg.PeopleHeldTo(left))+": everybody who could was removed", "why", how, "counting", left,
			"cure", "docs/nobody.md")
		return nil
	}
	return h.put(ctx, left, how)
}

// bringBack makes these lines of a removed person count again.
func (h *authority) bringBack(ctx context.Context, lines []string, how string) error {
	h.mu.Lock()
	h.away = without(h.away, lines)
	h.mu.Unlock()
	return h.admit(ctx, lines, how)
}

// run asks people, once per start, whether the waiting lines should count. ask puts a call
// before the current approvers.
func (h *authority) run(
	ctx context.Context, ask func(context.Context, approver.ToolCall, approver.Verdict) approver.Verdict,
) error {
	adds := h.waiting()
	h.mu.Lock()
	stuck := h.stuck
	h.mu.Unlock()
	if len(adds) == 0 || stuck {
		return nil
	}
	diff := make([]string, len(adds))
	for i, line := range adds {
		diff[i] = "+" + line
	}
	call, why, err := judges.OwnQuestion("add_approvers", "approvers_added",
		map[string]any{"file": h.cfg.File, "diff": diff},
		"changes whose answers count: whoever is added could then allow what agents do",
		display.Summary{Title: display.Phrase{Text: "Change who may approve"},
			Why: display.Sentence("whoever is added could then allow what agents do")})
	if err != nil {
		return err
	}
	v := ask(ctx, call, why)
	if v.Decision != approver.Allow {
		h.log.Warn("what the configuration adds to the approver lists was not approved, so it does not count; the next "+
			"start asks again", "adds", adds, "why", v.Reason)
		return nil
	}
	if err := h.admit(ctx, adds, v.Reason); err != nil {
		h.log.Error("people approved what was added to the approver lists, which does not count yet", "error", err)
		return nil
	}
	h.log.Warn("people approved what was added to the approver lists: people count now, settings from the next start",
		"adds", adds)
	return nil
}
