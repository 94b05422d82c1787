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
)

// An authority keeps in the store whose answers count, so that neither an edit
// of the configuration nor a restart adds an approver unasked. What the
// configuration adds waits until those who count have approved it; what it takes
// away is gone at once.
type authority struct {
	sealed.Record
	cfg      configs.Config // as the file has it
	isolated bool
	audit    approver.Recorder
	older    bool                             // the audit has records of before this start, so it is not the first
	doubt    func(format string, args ...any) // of the store
	log      *slog.Logger
	admitted func(approver.People) // puts another list in force

	mu   sync.Mutex // held while the record changes
	kept storedAuthority
	away []string // the lines of those who were removed: they wait for approver people restore
	// stuck means that nobody is left who could approve what waits. Then the record
	// stays as it is: putting one of them back is the cure.
	stuck bool
}

// A storedAuthority is the record.
type storedAuthority struct {
	Lines []string `json:"lines"` // of configs.Config.Authority
	// Decides says that among them was somebody who could approve a CATASTROPHIC
	// request. Before there is one, nobody can be asked who else may.
	Decides bool `json:"decides"`
}

// start finds out what counts of the configuration.
func (h *authority) start(ctx context.Context) error {
	var kept storedAuthority
	c, err := broadcaster.LoadControls(ctx, h.Store)
	if err != nil {
		return err
	}
	h.away = h.linesOf(c)
	err = h.Load(ctx, &kept)
	lines := without(h.cfg.Authority(), h.away)
	kept.Decides = kept.Decides || h.decides(kept.Lines) // an isolated terminal may not have been isolated before
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

// hold lets count what the configuration and the record both have.
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

// nobodyLeft says who is not left, where nobody could be asked who else may approve.
// Somebody may still approve what is HIGH.
func nobodyLeft(counting approver.People) string {
	if len(counting) == 0 {
		return "NOBODY IS LEFT WHO COULD APPROVE"
	}
	return "NOBODY IS LEFT WHO COULD APPROVE A CATASTROPHIC REQUEST"
}

// decides reports whether somebody among the lines can approve a CATASTROPHIC request.
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

// put makes these lines those that count: in the audit first, then in the store.
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

// admit lets more lines count, which people, or a trusted operator, approved.
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

// waiting returns the lines of the configuration that do not count yet, without those of
// people who were removed: no start asks about them.
func (h *authority) waiting() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return without(without(h.cfg.Authority(), h.kept.Lines), h.away)
}

// allowsLocal reports whether answers are taken on this machine from the next start on.
func (h *authority) allowsLocal() bool {
	channels := h.cfg.HeldTo(h.counting()).Channels
	return channels.AnswersHere()
}

// listed is everybody whom the configuration names, whether they count or not.
func (h *authority) listed() approver.People { return h.cfg.People() }

// counted reports whether somebody's answers count here, if nobody has removed them.
func (h *authority) counted(person string) bool {
	for _, who := range h.cfg.PeopleHeldTo(h.counting()) {
		if who.ID == person {
			return true
		}
	}
	return false
}

// linesOf are the lines of those who were removed.
func (h *authority) linesOf(c broadcaster.Controls) (lines []string) {
	for id, who := range h.cfg.People() {
		if _, away := c.Removed.Of(id, who); away {
			lines = append(lines, configs.ApproverLine(id.Channel, id.ID, who.ID))
		}
	}
	slices.Sort(lines)
	return lines
}

// takeAway takes those who were removed off the record of who counts, so that they come
// back by people's yes only, whatever becomes of the removal. If nobody would be left, the
// record stays as it is, as in hold: the removal alone keeps them out.
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

// bringBack lets these lines, of somebody who was removed, count again.
func (h *authority) bringBack(ctx context.Context, lines []string, how string) error {
	h.mu.Lock()
	h.away = without(h.away, lines)
	h.mu.Unlock()
	return h.admit(ctx, lines, how)
}

// run asks people, once a start, whether what waits shall count. ask puts a call
// before those who count.
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
		"changes whose answers count: whoever is added could then allow what agents do")
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
