package checks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/agents"
	"approver.example/agents/claudesettings"
	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/services"
	"approver.example/configs"
	"approver.example/daemon/claudehooks"
	"approver.example/httpapi/socketpath"
)

// This file has the checks of what stands between agent and daemon, and of what
// starts the daemon.

var hookSocketAt = regexp.MustCompile(` --socket ('[^']*'|\S+)`)

// hook looks whether Claude Code asks us, with all the settings that it merges, and
// whether it waits long enough.
func (d *doctor) hook(which claudehooks.Target) {
	path, err := which.Path()
	if err != nil {
		d.say("hook", finding.Fail, err.Error(), "")
		return
	}
	all, err := claudehooks.ReadInstalls(d.cfg.Dir)
	if err != nil {
		d.say("hook", finding.Warn, err.Error(), "")
	}
	ofAgents := d.sealed() && !d.submits() && which.File == "" && which.Project == ""
	if ofAgents {
		which.System = true // neither this user's settings nor root's are those of an agent
		path, _ = which.Path()
	}
	places := doctorPlaces(which, path, ofAgents)
	sources := places.Sources()
	if !slices.ContainsFunc(sources, func(s claudesettings.Source) bool { return s.Path == path }) {
		sources = append(sources, claudehooks.ReadSource(claudesettings.User, path))
	}
	if !ofAgents && which.Elsewhere(sources, path) {
		which.System = true // the managed settings have the hooks, and need no second ones
	}
	path = which.Holder(sources, path)
	want, sure := d.wanted(sources, path, which, all)
	if which.Names(path) {
		want.In = path
	}
	beside, err := places.Beside(sources, want)
	if err = errors.Join(err, claudehooks.FirstUnseen(sources)); err != nil {
		d.say("hook", finding.Fail, "nobody can say whether the hooks hold: "+err.Error(), "run it again when the machine has room")
		return
	}
	found := append(claudesettings.Compare(sources, want), beside...)
	found = append(found, claudesettings.Environment(os.Environ(), false)...)
	if weak := claudesettings.Weak(found); len(weak) == 1 && strings.HasPrefix(weak[0], "there is no ") {
		d.say("hook", finding.Warn, weak[0], which.Cure(path))
		return
	}
	good := sure
	for _, f := range found {
		if f.Harmless {
			d.say("hook", finding.Warn, f.String(), cmp.Or(f.Fix, which.Cure(f.Path)))
			continue
		}
		good = false
		d.say("hook", finding.Fail, f.String(), cmp.Or(f.Fix, which.Cure(cmp.Or(f.Path, path))))
	}
	for _, s := range sources {
		if s.Place == claudesettings.Managed && !s.Missing {
			if err := claudehooks.ReadableBy(s.Path, claudehooks.SubmitterUID(d.cfg)); err != nil {
				good = false
				_, chmod, _ := strings.Cut(err.Error(), ": chmod ")
				d.say("hook", finding.Fail, err.Error(), cmp.Or(strings.TrimSuffix("chmod "+chmod, "chmod "), which.Cure(s.Path)))
			}
		}
	}
	if good {
		d.say("hook", finding.OK, path, "")
	}
	d.singleStarts(sources)
}

// singleStarts says what no settings of a user can stop, and which holes managed
// settings with the hooks leave open.
func (d *doctor) singleStarts(sources []claudesettings.Source) {
	managed, open := claudesettings.Managedness(sources)
	switch {
	case !managed:
		d.say("hook", finding.Warn, "a single start of claude with --bare, --safe-mode, --restricted, --settings, --managed-settings, --setting-sources, --agents or --worktree, or with CLAUDE_CODE_SIMPLE, CLAUDE_CODE_USE_COWORK_PLUGINS or CLAUDE_CONFIG_DIR, can run without the hooks of a user or a project; claude mcp serve asks no hook at all",
			"approver install claude --system as root; docs/agents/claude.md says what else managed settings close")
	case len(open) > 0:
		d.say("hook", finding.Warn, "the managed settings leave open: "+strings.Join(open, "; "), "docs/agents/claude.md, managed settings")
	}
	if managed {
		d.say("hook", finding.OK, "claude mcp serve asks no hook, not even a managed one: when a person or another program starts it, its tools run unasked",
			"start it nowhere but in a sandbox; docs/threat-model.md")
	}
}

// doctorPlaces are the folders that a Claude Code started here reads.
// With managedOnly they are those of the machine.
func doctorPlaces(which claudehooks.Target, path string, managedOnly bool) claudehooks.Places {
	p := claudehooks.Places{Managed: which.ManagedDir()}
	if managedOnly {
		return p
	}
	p.Home, _ = claudehooks.Home() // without one there is none
	switch {
	case which.Project != "":
		p.Projects = []string{filepath.Dir(filepath.Dir(path))}
	case which.File != "" && filepath.Base(path) == "settings.json":
		p.Projects = []string{filepath.Dir(filepath.Dir(path))}
	default:
		if dir, err := os.Getwd(); err == nil {
			p.Projects = []string{dir}
		}
	}
	return p
}

// wanted is what has to stand in the settings, for the program that stands there if it
// is the courier of this approver.
func (d *doctor) wanted(sources []claudesettings.Source, path string, which claudehooks.Target, all claudehooks.Installs) (want claudesettings.Want, sure bool) {
	want = waitingFor(d.cfg)
	program, sure := claudehooks.Sibling(), true
	if h, there := claudehooks.HookIn(sources, path); there {
		known, err := claudehooks.Genuine(h.Program(), all)
		err = errors.Join(err, d.hookFinds(h))
		switch {
		case err != nil:
			sure = false
			d.say("hook", finding.Fail, err.Error(), which.Cure(path))
		case !known:
			d.say("hook", finding.Warn, "nothing here says whether "+h.Program()+" is the program of this approver", which.Cure(path))
		}
		if filepath.IsAbs(h.Program()) {
			program = h.Program()
		}
	}
	who, err := d.cfg.Sockets.Submitters()
	if err == nil {
		var s claudesettings.Settings
		_, s, err = claudehooks.WantedHooks(d.cfg, who, cmp.Or(program, "/usr/local/bin/approver-hook"))
		want.Hooks = s.Hooks
	}
	if err != nil {
		sure = false
		d.say("hook", finding.Fail, err.Error(), "")
	}
	return want, sure
}

// waitingFor is how long a hook has to wait with a configuration.
func waitingFor(cfg configs.Config) claudesettings.Want {
	evaluating := cfg.Evaluating()
	return claudesettings.Want{TTL: cfg.Hold(agents.Claude{}.Name()) - evaluating, Before: evaluating}
}

// hookFinds checks that the hook asks where the daemon listens. A pin decides
// over everything else.
func (d *doctor) hookFinds(h claudesettings.Entry) error {
	file := cmp.Or(d.pin, socketpath.PinFile)
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
		d.say("path", finding.Warn, err.Error(), "")
		return
	}
	found, err := exec.LookPath("approver")
	if err != nil {
		d.say("path", finding.Warn, "approver is not in PATH", "put "+filepath.Dir(self)+" into PATH, or a link to "+self+" into a folder of it")
		return
	}
	if !asuser.SameFile(found, self) {
		d.say("path", finding.Warn, fmt.Sprintf("PATH leads to %s, and this is %s", found, self), "remove the one that is not in use")
		return
	}
	d.say("path", finding.OK, found, "")
}

// units are the files that could start the daemon, the machine's and the user's.
func (c DoctorCmd) units() []services.Unit {
	return []services.Unit{{}, {User: true}}
}

// service looks whether the daemon is started by the system, and enabled.
func (d *doctor) service(units []services.Unit) {
	for _, u := range units {
		path, err := u.Place()
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
			d.say("service", finding.Warn, err.Error(), "")
		case exeErr == nil && !strings.Contains(string(text), self):
			d.say("service", finding.Warn, path+" starts another program than "+self, "approver service install"+u.Flag())
		case u.System() == "systemd" && !services.Enabled(path, u):
			d.say("service", finding.Warn, path+" is not enabled: the daemon does not start with the machine", u.Start(path))
		default:
			d.say("service", finding.OK, path, "")
		}
		return
	}
	d.say("service", finding.Warn, "nothing starts the daemon when the machine or the user does", services.InstallsService())
}
