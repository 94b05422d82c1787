package daemon

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
	"approver.example/display"
)

// lifted says what the end of these freezes lifts, for people a line each.
func lifted(c broadcaster.Controls) (doc adminapi.Lifted, text string) {
	if doc.Held = c.Held(); c.Frozen() {
		doc.Freeze = &c.Freeze
	}
	return doc, strings.Join(c.FreezeLines(), "\n")
}

// frozenText says what a freeze did, beside one that held before, if any.
func frozenText(before broadcaster.Freeze, reason string, denied int) string {
	text := "frozen"
	if !before.At.IsZero() {
		text = fmt.Sprintf("frozen already since %s by %s: %s", before.At.UTC().Format(time.DateTime+" UTC"),
			display.OneLine(before.By), cmp.Or(display.OneLine(before.Reason), "no reason given"))
		if reason != "" && reason != before.Reason {
			text += "\nyour reason is recorded beside it"
		}
	}
	return fmt.Sprintf("%s: every call is denied until approver unfreeze; %s denied", text,
		words.CountWere(uint64(denied), "open request"))
}

func (d *Admin) unfreeze(
	ctx context.Context, peer approver.Peer, req adminapi.ControlRequest, by string,
) (adminapi.ControlAnswer, error) {
	c, _, err := d.People.Controls.Load(ctx)
	if err != nil {
		return adminapi.ControlAnswer{}, err
	}
	if c.FrozenText() == "" {
		return adminapi.ControlAnswer{}, broadcaster.ErrNotFrozen
	}
	if !d.trusts(peer) {
		if by, err = d.ask(ctx, peer, adminapi.OpUnfreeze, req.Args(""), req.Reason,
			"lifts the freeze of "+c.FrozenText()+": calls run again"); err != nil {
			return adminapi.ControlAnswer{}, err
		}
		if err := d.stillAs(ctx, c); err != nil {
			return adminapi.ControlAnswer{}, err
		}
	}
	err = d.People.Controls.UnfreezeAs(context.WithoutCancel(ctx), c, by)
	doc, lines := lifted(c)
	return adminapi.ControlAnswer{Done: true, Lifted: &doc,
		Text: "the freeze is lifted; grants and answers from before stay burned\n" + lines}, err
}

func (d *Admin) pause(
	ctx context.Context, peer approver.Peer, req adminapi.ControlRequest, by string,
) (adminapi.ControlAnswer, error) {
	if req.For < time.Minute || req.For > broadcaster.MaxPause {
		return adminapi.ControlAnswer{}, fmt.Errorf("a pause lasts 1m to %dm", int(broadcaster.MaxPause.Minutes()))
	}
	c, _, err := d.People.Controls.Load(ctx)
	switch {
	case err != nil:
		return adminapi.ControlAnswer{}, err
	case c.Frozen():
		return adminapi.ControlAnswer{}, broadcaster.ErrFrozen
	}
	what, which := "HIGH calls are", "HIGH calls"
	if req.All {
		what, which = "EVERY call, also a CATASTROPHIC one, is", "EVERY call, also a CATASTROPHIC one"
	}
	who, err := d.ask(ctx, peer, adminapi.OpPause, req.Args(which), req.Reason,
		fmt.Sprintf("for %v %s let through without asking anybody", req.For, what))
	if err != nil {
		return adminapi.ControlAnswer{}, err
	}
	if err := d.stillAs(ctx, c); err != nil {
		return adminapi.ControlAnswer{}, err
	}
	p, err := d.People.Controls.Pause(context.WithoutCancel(ctx), &c, req.For, req.All, who+", for "+by)
	return adminapi.ControlAnswer{Done: true, Until: p.Until.UTC(),
		Text: "paused until " + p.Until.UTC().Format("15:04:05 UTC") + ", approved by " + who}, err
}

// observe puts observe mode before people, and begins it.
func (d *Admin) observe(
	ctx context.Context, peer approver.Peer, req adminapi.ControlRequest, by string,
) (adminapi.ControlAnswer, error) {
	if req.For < broadcaster.MinObserve || req.For > broadcaster.MaxObserve {
		return adminapi.ControlAnswer{},
			fmt.Errorf("observing lasts %v to %v", broadcaster.MinObserve, words.Days(broadcaster.MaxObserve))
	}
	c, _, err := d.People.Controls.Load(ctx)
	switch {
	case err != nil:
		return adminapi.ControlAnswer{}, err
	case c.Frozen():
		return adminapi.ControlAnswer{}, broadcaster.ErrFrozen
	}
	who, err := d.ask(ctx, peer, adminapi.OpObserve, req.Args("EVERY call, also what a rule denies"), req.Reason,
		fmt.Sprintf("for %v NOTHING is asked or denied: every call goes on, and is only recorded", words.Days(req.For)))
	if err != nil {
		return adminapi.ControlAnswer{}, err
	}
	if err := d.stillAs(ctx, c); err != nil {
		return adminapi.ControlAnswer{}, err
	}
	o, err := d.People.Controls.Observe(context.WithoutCancel(ctx), &c, req.For, who+", for "+by)
	return adminapi.ControlAnswer{Done: true, Until: o.Until.UTC(),
		Text: "observing until " + words.Minute(o.Until) + ", approved by " + who + ": nothing is asked or denied"}, err
}

// enforce ends observe mode.
func (d *Admin) enforce(ctx context.Context, by string) (adminapi.ControlAnswer, error) {
	last, ended, err := d.People.Controls.Enforce(context.WithoutCancel(ctx), by)
	doc := adminapi.ControlAnswer{Done: true, Since: last.Since,
		Text: "rules were enforced already, and nothing was changed"}
	if ended {
		doc.Text, doc.Ended = "observe mode is over: rules are enforced", true
	}
	if nobody := d.nobody(ctx); nobody != "" {
		doc.Text += "\nWARNING: " + nobody
	}
	return doc, err
}
