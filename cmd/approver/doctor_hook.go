package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"approver.example/httpapi/socketpath"
)

// This file has the checks of what stands between agent and daemon, and of what
// starts the daemon.

var (
	hookDeadline = regexp.MustCompile(` --deadline (\S+)`)
	hookSocketAt = regexp.MustCompile(` --socket ('[^']*'|\S+)`)
)

// hook looks whether Claude Code asks us, and whether it waits long enough.
func (d *doctor) hook(which claudeFile) {
	path, err := which.path()
	if err != nil {
		d.say("hook", fail, err.Error(), "")
		return
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		d.say("hook", warn, "there is no "+path, "approver install claude")
		return
	}
	var s hookSettings
	if err == nil {
		s, err = readSettings(path, text)
	}
	if err = errors.Join(err, s.off(path), localOff(path)); err != nil {
		d.say("hook", fail, err.Error(), "")
		return
	}
	for _, m := range s.Hooks["PreToolUse"] {
		for _, h := range m.Hooks {
			if ours(h) {
				d.judge("hook", d.hookFits(m.Matcher, h), path, "approver install claude")
				return
			}
		}
	}
	d.say("hook", fail, path+" has no hook of approver before tools", "approver install claude")
}

// localOff returns why no hook runs with the settings that are one person's own
// beside those of a project, or nil.
func localOff(path string) error {
	path = filepath.Join(filepath.Dir(path), "settings.local.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var s hookSettings
	if err == nil {
		s, err = readSettings(path, text)
	}
	return errors.Join(err, s.off(path))
}

// A hookEntry is one command of Claude Code's settings.
type hookEntry struct {
	Type        string
	Command     string
	Timeout     float64 // seconds
	OnFailure   string
	Async       bool
	AsyncRewake bool   // implies Async
	If          string // a pattern of calls
}

// program returns what the command runs.
func (h hookEntry) program() string {
	program, _, _ := strings.Cut(h.Command, " --agent")
	return strings.TrimSuffix(strings.Trim(program, "'"), " hook")
}

func (d *doctor) hookFits(matcher string, raw json.RawMessage) error {
	var h hookEntry
	if err := json.Unmarshal(raw, &h); err != nil {
		return err
	}
	deadline := time.Duration(0)
	if m := hookDeadline.FindStringSubmatch(h.Command); m != nil {
		deadline, _ = time.ParseDuration(m[1]) // zero is told below
	}
	timeout := time.Duration(h.Timeout * float64(time.Second))
	switch {
	case !filepath.IsAbs(h.program()):
		return fmt.Errorf("the hook %s is no absolute path: a project could put another in its place", h.program())
	case matcher != "*" && matcher != "":
		return errors.New("the hook is only for tools that match " + strconv.Quote(matcher))
	case h.Type != "command":
		return fmt.Errorf("the hook is of type %q, and claude does not run its command", h.Type)
	case h.Async || h.AsyncRewake:
		return errors.New(`the hook is "async": claude runs the call without waiting for its answer`)
	case h.If != "":
		return errors.New("the hook is only for calls that match " + strconv.Quote(h.If))
	case deadline < d.cfg.TTL:
		return fmt.Errorf("the hook gives people %v, less than the ttl of %v", deadline, d.cfg.TTL)
	case deadline < d.cfg.TTL+d.cfg.Evaluating():
		return fmt.Errorf("the hook waits for %v, less than the ttl of %v and the %v that the evaluator may take before", deadline, d.cfg.TTL, d.cfg.Evaluating())
	case timeout <= deadline:
		return fmt.Errorf("claude kills the hook after %v, before its deadline of %v, and then runs the call", timeout, deadline)
	case h.OnFailure != "block":
		return errors.New(`the hook has no "onFailure": "block": a call runs when the hook is killed`)
	}
	if info, err := os.Stat(h.program()); err != nil {
		return fmt.Errorf("the hook program: %w", err)
	} else if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("the hook program %s cannot be run", h.program())
	}
	return d.hookFinds(h)
}

// hookFinds checks that the hook asks where the daemon listens. A pin decides
// over everything else.
func (d *doctor) hookFinds(h hookEntry) error {
	file := firstText(d.pin, socketpath.PinFile)
	pin, pinned, err := socketpath.ReadPin(file, 0)
	asks := pin.Socket
	if err == nil && !pinned {
		if m := hookSocketAt.FindStringSubmatch(h.Command); m != nil {
			asks = strings.Trim(m[1], "'")
		} else {
			home, _ := os.UserHomeDir() // Dir tells what is missing
			asks, err = socketpath.Dir(home)
			asks = filepath.Join(asks, socketpath.Submit)
		}
	}
	switch {
	case err != nil:
		return err
	case asks != d.cfg.Sockets.Submit:
		return fmt.Errorf("the hook asks on %s, and the daemon listens on %s", asks, d.cfg.Sockets.Submit)
	}
	return nil
}

// path looks whether the person's shell finds this program, and no other one.
func (d *doctor) path() {
	self, err := os.Executable()
	if err != nil {
		d.say("path", warn, err.Error(), "")
		return
	}
	found, err := exec.LookPath("approver")
	if err != nil {
		d.say("path", warn, "approver is not in PATH", "put "+filepath.Dir(self)+" into PATH, or a link to "+self+" into a folder of it")
		return
	}
	if !sameFile(found, self) {
		d.say("path", warn, fmt.Sprintf("PATH leads to %s, and this is %s", found, self), "remove the one that is not in use")
		return
	}
	d.say("path", ok, found, "")
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// units are the files that could start the daemon, the machine's and the user's.
func (c doctorCmd) units() []unit {
	return []unit{{}, {User: true}}
}

// service looks whether the daemon is started by the system, and enabled.
func (d *doctor) service(units []unit) {
	for _, u := range units {
		path, err := u.path()
		if err != nil {
			continue
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		self, exeErr := os.Executable()
		switch {
		case err != nil:
			d.say("service", warn, err.Error(), "")
		case exeErr == nil && !strings.Contains(string(text), self):
			d.say("service", warn, path+" starts another program than "+self, "approver service install"+u.flag())
		case u.manager() == "systemd" && !enabled(path, u):
			d.say("service", warn, path+" is not enabled: the daemon does not start with the machine", u.start(path))
		default:
			d.say("service", ok, path, "")
		}
		return
	}
	d.say("service", warn, "nothing starts the daemon when the machine or the user does", "approver service install, or with --user")
}

func (u unit) flag() string {
	if u.User {
		return " --user"
	}
	return ""
}

// enabled reports whether a target wants the unit: systemctl enable makes a link
// beside it.
func enabled(path string, u unit) bool {
	target := "multi-user.target.wants"
	if u.User {
		target = "default.target.wants"
	}
	_, err := os.Lstat(filepath.Join(filepath.Dir(path), target, filepath.Base(path)))
	return err == nil
}
