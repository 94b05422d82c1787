package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/daemon"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
	"approver.example/display"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
)

// This file has what doctor learns from the running daemon.

// ask asks the daemon for its status, once.
func (d *doctor) ask(ctx context.Context) (adminapi.Status, error) {
	if !d.asked {
		socket := d.cfg.Sockets.Resolve
		client := httpapi.ResolveClient{Socket: socket, Trust: func(uid uint32) error {
			d.listener = uid
			return socketpath.Trust(socket, uid)
		}}
		d.err = adminclient.OperateOn(ctx, client, adminapi.OpStatus, struct{}{}, &d.status)
		d.asked = true
	}
	return d.status, d.err
}

// beside reports on the daemon if its configuration cannot be used: it may still be running.
func (d *doctor) beside(ctx context.Context, config string) {
	asks := adminclient.Cmd{At: adminclient.At{Config: config, Told: &adminclient.Told{Keep: true}}}
	switch err := asks.Operate(ctx, adminapi.OpStatus, struct{}{}, &d.status); {
	case err == nil:
		d.say("daemon", finding.Warn,
			fmt.Sprintf("version %s runs, pid %d: it goes on with what it read at its start, and does not start again with "+
				"this file", d.status.Version, d.status.PID),
			"mend the file before the daemon is restarted: approver check")
		d.troubles(d.status)
	case errors.Is(err, httpapi.ErrSilent):
		d.say("daemon", finding.Fail, err.Error(), "")
	case adminclient.IsDown(err):
		d.say("daemon", finding.Fail, err.Error(), "mend the configuration first: approver check")
	}
}

// config reports which configuration there is, and which files the running daemon does not use.
func (d *doctor) config() {
	switch was := d.status.Config; {
	case d.cfg.File == "" && was != "":
		d.say("config", finding.Fail,
			"there is none any more: the daemon that runs goes on with what it read of "+was+
				" at its start, and after a restart nobody could be asked", "put "+was+" back before the daemon is restarted")
	case d.cfg.File == "":
		d.say("config", finding.Warn, "there is none, so all defaults hold and nobody can be asked", "approver init")
	default:
		d.say("config", finding.OK, d.cfg.File, "")
	}
	for _, u := range d.status.NotInForce {
		if u.File != "" && (u.File != d.status.Config || d.cfg.File != "") {
			cure := "restart the daemon; approver check says before whether it would start"
			if u.Refused {
				cure = "mend it first: approver check; then restart the daemon"
			}
			d.say(u.What, finding.Warn, "NOT USED: "+u.String(), cure)
		}
	}
}

// daemon reports the version of the running daemon: after an update it may still be the old
// one.
func (d *doctor) daemon(ctx context.Context) {
	doc, err := d.ask(ctx)
	switch {
	case err != nil && (errors.Is(err, fs.ErrNotExist) || adminclient.IsRefused(err) || errors.Is(err, httpapi.ErrSilent)):
		return // already reported by sockets
	case err != nil:
		d.say("daemon", finding.Fail, err.Error(), "run this as the daemon's user, or restart the daemon")
		return
	case doc.Version != adminapi.BuildVersion():
		d.say("daemon", finding.Warn,
			fmt.Sprintf("it runs version %s, and this program is %s", doc.Version, adminapi.BuildVersion()),
			"restart the daemon")
	default:
		d.say("daemon", finding.OK,
			fmt.Sprintf("version %s, of uid %d on %s", doc.Version, d.listener, d.cfg.Sockets.Resolve), "")
	}
	d.troubles(doc)
}

// troubles reports what status fails for, and the mode. That nobody can approve is only a
// warning, in people: a terminal that nobody watches right now is not a mistake in what doctor
// checks.
func (d *doctor) troubles(doc adminapi.Status) {
	for _, t := range doc.Troubles() {
		switch t.Part {
		case adminapi.PartMode, adminapi.PartPeople: // reported by mode and people
		default:
			d.say("daemon", finding.Fail, t.Text(), t.Cure)
		}
	}
	d.mode(doc)
}

// mode reports in one finding what applies besides the rules, and why.
func (d *doctor) mode(doc adminapi.Status) {
	switch alarms := doc.TroublesOf(adminapi.PartMode); {
	case len(alarms) > 0:
		d.say(adminapi.PartMode, finding.Fail, alarms[0].Text(), alarms[0].Cure)
	case doc.Control != "":
		d.say(adminapi.PartMode, finding.Warn, doc.ModeText(), doc.ModeCure())
	}
}

// people reports that nobody can approve, according to the daemon or else the configuration,
// and who was removed but is still in the configuration.
func (d *doctor) people() {
	if why := cmp.Or(d.status.Nobody, nobodyApproves(d.cfg)); why != "" {
		text, cure, said := strings.Cut(why, ". ") // the daemon's text ends with the way out
		if !said {
			cure = d.peopleCure()
		}
		d.say("people", finding.Warn, text, cure)
	}
	for _, kept := range daemon.OutOfReach(d.cfg, asuser.RunsAs(d.cfg.Dir)) {
		text, cure, _ := strings.Cut(kept, ". ")
		d.say("people", finding.Warn, text, cure)
	}
	for _, waits := range d.status.Waiting {
		d.say("people", finding.Warn, adminapi.WaitsLine(waits), waitsCure(d.status.Nobody))
	}
	for _, gone := range d.status.Removed {
		if strings.Contains(gone, adminapi.StillListed) {
			d.say("people", finding.Warn, gone,
				"take them out of the approver lists in "+d.cfg.File+", and restart; approver people restore brings them back")
		}
	}
}

// peopleCure returns the way out when no daemon answers that could say it.
func (d *doctor) peopleCure() string {
	pair := "approver " + words.PairExample + " --token-file FILE"
	if isolated(d.cfg) {
		pair = display.AsRoot(words.PairExample+" --config ") + words.ShellWord(d.cfg.File) + " --token-file FILE"
	}
	if local := d.cfg.Channels.Local(); local != nil && !local.Answers() {
		pair += "; or channels.terminal.allow_answers: true in " + d.cfg.File + ", to answer in approver watch"
	}
	return pair + "; docs/nobody.md"
}

// notInForce says why a kind of file, such as the policy, is not in force, according to the
// daemon. It is empty if the file is in force or no daemon answers.
func (d *doctor) notInForce(what string) string {
	for _, u := range d.status.NotInForce {
		if u.What == what {
			return u.String()
		}
	}
	return ""
}
