package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/claudehooks"
	"approver.example/daemon/words"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
	"approver.example/shieldcore/evaluator"
)

// This file is about with whose eyes doctor and check look. What a daemon finds is what
// its own user may read and write; root may everything, and another user little.

// loadAsDaemon loads the configuration of the daemon that this user speaks to, and root
// as the user whom it belongs to.
func loadAsDaemon(path string) (configs.Config, error) {
	if s := newSudoer(); s.euid == 0 {
		return s.load(path)
	}
	return configs.LoadOrDefault(path)
}

// runsAs is whom the daemon runs as: this user, and where that is root, the owner of
// the daemon's data.
func runsAs(dir string) uint32 {
	own := uint32(os.Geteuid())
	if owner, err := ownerOf(dir); own == 0 && err == nil {
		return owner
	}
	return own
}

// become makes this process one of another user, for good, if it is root's. of is
// something that belongs to the user, for a group where the system knows none.
func become(uid uint32, of string) error {
	if os.Geteuid() != 0 || uid == 0 {
		return nil
	}
	gid, groups, home := groupOf(of), []int{}, "/"
	if u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil {
		if gid, err = strconv.Atoi(u.Gid); err != nil {
			return fmt.Errorf("the group of uid %d: %w", uid, err)
		}
		ids, err := u.GroupIds()
		if err != nil {
			return fmt.Errorf("the groups of uid %d: %w", uid, err)
		}
		for _, id := range ids {
			if n, err := strconv.Atoi(id); err == nil {
				groups = append(groups, n)
			}
		}
		home = u.HomeDir
	}
	err := errors.Join(syscall.Setgroups(groups), syscall.Setgid(gid), syscall.Setuid(int(uid)), os.Setenv("HOME", home))
	if err != nil {
		return fmt.Errorf("cannot look as uid %d: %w: run it as that user", uid, err)
	}
	if dir, err := os.Getwd(); err != nil || syscall.Access(dir, 1) != nil {
		return os.Chdir("/") // no project that this user could be in
	}
	return nil
}

// groupOf is the group of a file, or nobody's.
func groupOf(path string) int {
	info, err := os.Stat(path)
	if err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Gid != 0 {
			return int(st.Gid)
		}
	}
	return claudehooks.Nobody
}

// isDaemon reports that this user is the one whom the daemon runs as.
func (d *doctor) isDaemon() bool {
	owner, err := ownerOf(d.cfg.Dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && owner == uint32(os.Geteuid())
}

// sealed reports that agents have users of their own.
func (d *doctor) sealed() bool {
	who, err := d.cfg.Sockets.Submitters()
	return err == nil && who.Named()
}

// unseen says what this user may not see. That is as it should be.
func (d *doctor) unseen(check, what, config string) {
	fix := approver.AsRoot("doctor")
	if config != "" {
		fix += " --config " + words.ShellWord(config)
	}
	d.say(check, warn, fmt.Sprintf("not checked as this user (uid %d): %s", os.Geteuid(), what), fix)
}

// outside makes the checks that a user can make who may not read the configuration, as an
// agent's of an isolated daemon.
func (d *doctor) outside(c doctorCmd, why error) {
	d.unseen("config", "the configuration, and what it names: "+why.Error(), c.Config)
	home, _ := os.UserHomeDir() // Dir tells what is missing
	dir, err := socketpath.Dir(home)
	pin, pinned, pinErr := socketpath.ReadPin(cmp.Or(d.pin, socketpath.PinFile), 0)
	switch {
	case pinErr != nil:
		d.say("socket", fail, pinErr.Error(), "")
	case pinned:
		d.cfg.Sockets.Submit = pin.Socket
	case err == nil:
		d.cfg.Sockets.Submit = filepath.Join(dir, socketpath.Submit)
	}
	refused := false
	if submit := d.cfg.Sockets.Submit; submit != "" {
		err := answers(submit)
		if refused = errors.Is(err, errTurnedAway); refused {
			d.say("socket", warn, fmt.Sprintf("the daemon answers on %s, and it does not admit this user (uid %d)", submit, os.Geteuid()), submitCure)
		} else if errors.Is(err, httpapi.ErrSilent) {
			d.say("socket", fail, "somebody listens on "+submit+", where agents ask, and does not answer: it may be stopped or overloaded", silentCure)
		} else if err != nil {
			d.say("socket", fail, "nobody answers on "+submit+", where agents ask: "+err.Error(), "start the daemon: sudo systemctl start approver, or as it is started here")
		} else {
			d.say("socket", ok, "submit: the daemon answers on "+submit, "")
		}
	}
	d.hookOutside(c.Target, refused && !operates(d.cfg.Sockets.Submit))
	d.path()
	d.service(c.units())
}

// operates reports that this user may answer: then no agent runs as them.
func operates(submit string) bool {
	return answers(filepath.Join(filepath.Dir(submit), socketpath.Resolve)) == nil
}

// hookOutside looks at the hook as far as that shows without the configuration. refused
// says that the daemon takes no calls of this user.
func (d *doctor) hookOutside(which claudehooks.Target, refused bool) {
	path, err := which.Path()
	if err != nil {
		d.say("hook", fail, err.Error(), "")
		return
	}
	sources := doctorPlaces(which, path, false).Sources()
	h, there := claudehooks.HookIn(sources, path)
	if !there {
		d.say("hook", warn, "no settings that this user's Claude Code reads have a hook of approver", approver.AsRoot("install claude --system"))
		return
	}
	err = d.hookFinds(h)
	if err == nil {
		_, err = os.Stat(h.Program())
	}
	if err == nil && refused {
		d.say("hook", fail, h.Program()+" asks on "+d.cfg.Sockets.Submit+", which refuses this user, so every call is denied", submitCure)
		return
	}
	d.judge("hook", err, h.Program()+" asks on "+d.cfg.Sockets.Submit+"; how long it waits is not checked as this user", approver.AsRoot("install claude --system"))
}

// errTurnedAway means that the daemon answers, and does not admit this user.
var errTurnedAway = errors.New("it does not admit this user")

// submitCure is for whoever may not ask.
const submitCure = "if agents are to run as this user: add the uid to sockets.submit_uids in the daemon's configuration, and restart the daemon"

// answers asks who listens on a socket. errTurnedAway means that it is a daemon that does
// not admit this user: it says so, or the connection ends at once. ErrSilent of httpapi
// means that somebody listens who does not answer.
func answers(path string) error {
	client := http.Client{Timeout: firstByte, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
			if err != nil {
				return nil, err
			}
			return httpapi.Asking(conn), nil
		},
	}}
	res, err := client.Get("http://approver/v1/health")
	for _, away := range []error{io.EOF, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, away) {
			return errTurnedAway
		}
	}
	if os.IsTimeout(err) || errors.Is(err, syscall.EAGAIN) {
		return httpapi.ErrSilent
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusForbidden {
		return err
	}
	return errTurnedAway
}

// sockets asks who listens. One daemon that is not there is told once, and so is one that
// does not answer.
func (d *doctor) sockets() {
	asked := [2]struct{ name, path string }{{"submit", d.cfg.Sockets.Submit}, {"resolve", d.cfg.Sockets.Resolve}}
	var errs [len(asked)]error
	var both sync.WaitGroup // a stopped one lets each wait for its whole time
	for i, at := range asked {
		both.Go(func() { errs[i] = answers(at.path) })
	}
	both.Wait()
	var silent, stuck []string
	for i, at := range asked {
		switch err := errs[i]; {
		case err == nil, errors.Is(err, errTurnedAway): // whoever runs the daemon may look, and not submit
			d.say("socket", ok, at.name+": the daemon answers on "+at.path, "")
		case errors.Is(err, httpapi.ErrSilent):
			stuck = append(stuck, at.name+": somebody listens on "+at.path+" and does not answer: it may be stopped or overloaded")
		default:
			silent = append(silent, at.name+": nobody answers on "+at.path+": "+err.Error())
		}
	}
	if len(stuck) > 0 {
		d.say("socket", fail, strings.Join(stuck, "\n"), silentCure)
	}
	if len(silent) > 0 {
		fix := "start the daemon: " + startsDaemon(d.cfg)
		if d.cfg.File == "" {
			fix = "approver init, and then " + fix
		}
		d.say("socket", fail, strings.Join(silent, "\n"), fix)
	}
}

// evaluator has one small evaluation made, so that a wrong model, key or address shows
// before a call needs it.
func (d *doctor) evaluator(ctx context.Context, offline bool) {
	cfg := d.cfg.Shield.Evaluator
	if cfg == nil {
		return
	}
	e, err := evaluator.New(*cfg)
	switch {
	case err != nil:
		return // told with the files
	case offline:
		d.say("evaluator", ok, e.String()+": not asked (--offline)", "")
		return
	}
	said, err := e.Health(ctx)
	if theirs := d.status.Shield; theirs != nil && d.status.Up && theirs.Evaluator != e.String() {
		d.say("evaluator", elseThan(theirs), fmt.Sprintf("the daemon asks %s, and the configuration says %s", cmp.Or(theirs.Evaluator, "none"), e),
			"restart the daemon, which asks those who approve where the change loosens")
	} else if err == nil && theirs.Fails() {
		d.say("evaluator", fail, fmt.Sprintf("the daemon's last evaluation failed at %s; it answers now, and the daemon will see that at the next call, or within %v",
			theirs.LastFailure.Format(time.DateTime+" UTC"), adminapi.ProbeMost), "")
		return
	}
	switch {
	case err != nil:
		d.say("evaluator", fail, approver.OneLine(err.Error()), "shield.evaluator in the configuration; docs/evaluator.md")
	case said != "ALLOW":
		d.say("evaluator", warn, fmt.Sprintf("%s answers, and says %s to a plain ls", e, said), "another model; docs/evaluator.md")
	default:
		d.say("evaluator", ok, e.String()+": it answers as it must", "")
	}
}

// elseThan is how bad it is that the daemon asks another evaluator than the file names.
func elseThan(s *adminapi.Shield) result {
	if s.Fails() {
		return fail
	}
	return warn
}
