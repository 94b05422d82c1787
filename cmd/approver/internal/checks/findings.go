package checks

import (
	"errors"
	"io/fs"
	"os"

	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
)

// A doctor makes the checks.
type doctor struct {
	cfg   configs.Config
	pin   string // the file that pins couriers; empty: the machine's
	found []finding.Finding

	asked    bool            // whether the daemon was asked
	listener uint32          // the uid that answered
	status   adminapi.Status // what it said; zero where it did not
	err      error           // why not
}

func (d *doctor) say(check string, r finding.Result, text, fix string) {
	d.found = append(d.found, finding.Finding{Check: check, Result: r, Text: text, Fix: fix})
}

// judge is say for an error, whose text mostly holds its cure.
func (d *doctor) judge(check string, err error, good, fix string) {
	if err != nil {
		d.say(check, finding.Fail, err.Error(), fix)
		return
	}
	d.say(check, finding.OK, good, "")
}

// submits reports that this user is one whom agents run as.
func (d *doctor) submits() bool {
	who, err := d.cfg.Sockets.Submitters()
	if err != nil {
		return false
	}
	in, err := who.Has(uint32(os.Geteuid()))
	return err == nil && in
}

// isDaemon reports that this user is the one whom the daemon runs as.
func (d *doctor) isDaemon() bool {
	owner, err := asuser.OwnerOf(d.cfg.Dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && owner == uint32(os.Geteuid())
}

// sealed reports that agents have users of their own.
func (d *doctor) sealed() bool {
	who, err := d.cfg.Sockets.Submitters()
	return err == nil && who.Named()
}
