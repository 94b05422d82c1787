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

// lifted returns what is lifted when these freezes end: as a document, and as text with a line
// each.
func lifted(c broadcaster.Controls) (doc adminapi.Lifted, text string) {
	if doc.Held = c.Held(); c.Frozen() {
		doc.Freeze = &c.Freeze
	}
	return doc, strings.Join(c.FreezeLines(), "\n")
}

// frozenText says what a freeze did, and mentions one that was in force before, if any.
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

// uidOf names the peer who asked for an operation.
func uidOf(peer approver.Peer) string { return fmt.Sprintf("uid %d", peer.UID) }

func (d *Admin) freeze(
	ctx context.Context, peer approver.Peer, req adminapi.ControlRequest,
) (adminapi.ControlAnswer, error) {
	denied, before, err := d.People.Controls.FreezeBeside(context.WithoutCancel(ctx), uidOf(peer), req.Reason, "")
	return adminapi.ControlAnswer{Done: true, Denied: denied, Text: frozenText(before, req.Reason, denied)}, err
}

func (d *Admin) unfreeze(
	ctx context.Context, peer approver.Peer, req adminapi.ControlRequest,
) (none adminapi.ControlAnswer, err error) {
	c, _, err := d.People.Controls.Load(ctx)
	if err != nil {
		return none, err
	}
	if c.FrozenText() == "" {
		return none, broadcaster.ErrNotFrozen
	}
	by := uidOf(peer)
	if !d.trusts(peer) {
		by, err = d.askAbout(ctx, peer, adminapi.OpUnfreeze, c, req, "",
			effectOf("lifts the freeze of "+c.FrozenText()+": calls run again", "calls run again", "Lift the freeze of %s",
				c.FrozenText()))
		if err != nil {
			return none, err
		}
	}
	err = d.People.Controls.UnfreezeAs(context.WithoutCancel(ctx), c, by)
	doc, lines := lifted(c)
	return adminapi.ControlAnswer{Done: true, Lifted: &doc,
		Text: "the freeze is lifted; grants and answers from before stay burned\n" + lines}, err
}

// pause begins a pause once people have approved it. With a zero duration it ends the pause in
// force, which needs no approval.
func (d *Admin) pause(
	ctx context.Context, peer approver.Peer, req adminapi.ControlRequest,
) (none adminapi.ControlAnswer, err error) {
	if req.For == 0 {
		_, err := d.People.Controls.Pause(ctx, nil, 0, false, uidOf(peer))
		return adminapi.ControlAnswer{Done: true, Text: "not paused: people are asked"}, err
	}
	if req.For < time.Minute || req.For > broadcaster.MaxPause {
		return none, fmt.Errorf("a pause lasts 1m to %dm", int(broadcaster.MaxPause.Minutes()))
	}
	const nobody = "what rules ask about runs, and nobody is asked"
	const through = "for %v %s let through without asking anybody"
	which, span := "HIGH calls", display.Duration(time.Duration(req.For))
	does := effectOf(fmt.Sprintf(through, req.For, "HIGH calls are"), nobody, "Stop asking about HIGH calls for %s", span)
	if req.All {
		which = "EVERY call, also a CATASTROPHIC one"
		does = effectOf(fmt.Sprintf(through, req.For, which+", is"), nobody, "Stop asking about every call for %s", span)
	}
	c, who, err := d.loosen(ctx, peer, adminapi.OpPause, req, which, does)
	if err != nil {
		return none, err
	}
	p, err := d.People.Controls.Pause(context.WithoutCancel(ctx), &c, req.For, req.All, who+", for "+uidOf(peer))
	return adminapi.ControlAnswer{Done: true, Until: p.Until.UTC(),
		Text: "paused until " + p.Until.UTC().Format("15:04:05 UTC") + ", approved by " + who}, err
}

// observe begins observe mode once people have approved it.
func (d *Admin) observe(
	ctx context.Context, peer approver.Peer, req adminapi.ControlRequest,
) (none adminapi.ControlAnswer, err error) {
	if req.For < broadcaster.MinObserve || req.For > broadcaster.MaxObserve {
		return none, fmt.Errorf("observing lasts %v to %v", broadcaster.MinObserve, words.Days(broadcaster.MaxObserve))
	}
	c, who, err := d.loosen(ctx, peer, adminapi.OpObserve, req, "EVERY call, also what a rule denies",
		effectOf(fmt.Sprintf("for %v NOTHING is asked or denied: every call goes on, and is only recorded",
			words.Days(req.For)), "every call runs, also what a rule denies", "Stop nothing, only record, for %s",
			fmt.Sprint(words.Days(req.For))))
	if err != nil {
		return none, err
	}
	o, err := d.People.Controls.Observe(context.WithoutCancel(ctx), &c, req.For, who+", for "+uidOf(peer))
	return adminapi.ControlAnswer{Done: true, Until: o.Until.UTC(),
		Text: "observing until " + words.Minute(o.Until) + ", approved by " + who + ": nothing is asked or denied"}, err
}

// enforce ends observe mode.
func (d *Admin) enforce(
	ctx context.Context, peer approver.Peer, _ adminapi.ControlRequest,
) (adminapi.ControlAnswer, error) {
	last, ended, err := d.People.Controls.Enforce(context.WithoutCancel(ctx), uidOf(peer))
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

// loosen asks people about a pause or observe mode, unless everything is frozen. It returns
// who approved it, and the controls for which it was approved.
func (d *Admin) loosen(
	ctx context.Context, peer approver.Peer, op string, req adminapi.ControlRequest, which string, does effect,
) (c broadcaster.Controls, who string, err error) {
	c, _, err = d.People.Controls.Load(ctx)
	switch {
	case err != nil:
		return c, "", err
	case c.Frozen():
		return c, "", broadcaster.ErrFrozen
	}
	who, err = d.askAbout(ctx, peer, op, c, req, which, does)
	return c, who, err
}

// askAbout asks people about a change of these controls, and returns who approved it. It fails
// if the controls have changed in the meantime.
func (d *Admin) askAbout(
	ctx context.Context, peer approver.Peer, op string, c broadcaster.Controls, req adminapi.ControlRequest,
	which string, does effect,
) (who string, err error) {
	if who, err = d.ask(ctx, peer, op, req.Args(which), req.Reason, does); err == nil {
		err = d.stillAs(ctx, c)
	}
	return who, err
}
