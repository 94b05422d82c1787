package checks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/services"
	"approver.example/configs"
	"approver.example/daemon/hookfiles"
	"approver.example/httpapi/socketpath"
)

// This file checks what connects an agent to the daemon, and what starts the daemon.

// hook checks that agents ask the daemon: the agent that was named, and those that approver was
// installed for; without any of them, the first agent. It also names those on this machine that
// approver was not installed for.
func (d *doctor) hook(which settings.Target, named string) {
	all, err := hookfiles.ReadInstalls(d.cfg.Dir)
	if err != nil {
		d.say("hook", finding.Warn, err.Error(), "")
	}
	for _, in := range all.Installs {
		if agent := in.Of(); in.Changing && agent != nil {
			d.say("hook", finding.Warn, "an install or uninstall for "+in.Path+" was ended before it was done, and the "+
				"daemon does not watch that file", hookfiles.Cure(agent.Files(), which, in.Path))
		}
	}
	checked := false
	var others []agents.Installer
	for _, agent := range agents.Installers() {
		installed := slices.ContainsFunc(all.Installs, func(in hookfiles.Installed) bool {
			return in.Key().Agent == agent.Name()
		})
		if installed || agent.Name() == named {
			checked = true
			d.hookOf(agent, which, agent.Name() == named, all)
		} else {
			others = append(others, agent)
		}
	}
	if !checked {
		d.hookOf(others[0], which, true, all)
		others = others[1:]
	}
	for _, agent := range others {
		f := agent.Files()
		if at := f.Found(); at != "" && which == (settings.Target{ConfigFile: which.ConfigFile}) {
			d.say("hook", finding.Warn, fmt.Sprintf("%s is on this machine (%s), and approver is not installed for it: "+
				"nobody is asked about its calls", f.Title, at), f.Install())
		}
	}
}

// hookOf checks that one agent asks the daemon, given all the settings that the agent merges,
// and that its hook waits long enough. One that was not named, and that has no settings of the machine or of a
// project, has its hooks in those of its user.
func (d *doctor) hookOf(agent agents.Installer, which settings.Target, named bool, all hookfiles.Installs) {
	files := agent.Files()
	path, err := which.Path(files)
	if !named && (which.System && files.Managed == "" || which.Project != "" && files.Unread != "") {
		which.System = false
		path, err = settings.Target{}.Path(files)
	}
	if err == nil {
		err = which.Exists()
	}
	if err != nil {
		d.say("hook", finding.Fail, err.Error(), "")
		return
	}
	ofAgents := d.sealed() && !d.submits() && which.File == "" && which.Project == "" && files.Managed != ""
	if ofAgents {
		which.System = true // an agent reads neither this user's settings nor root's
		path, _ = which.Path(files)
	}
	places, sources := hookfiles.Look(files, which, path, ofAgents)
	if !ofAgents && hookfiles.Elsewhere(agent, which, sources, path) {
		which.System = true // the managed settings have the hooks, so no others are needed
	}
	path = hookfiles.Holder(agent, which, sources, path)
	want, sure := d.wanted(agent, sources, path, which, all)
	if which.Names(files, path) {
		want.In = path
	}
	found, err := hookfiles.Standing(agent, which, path, places, sources, want, os.Environ())
	if err != nil {
		d.say("hook", finding.Fail, "nobody can say whether the hooks hold: "+err.Error(),
			"run it again when the machine has room")
		return
	}
	weak := slices.DeleteFunc(slices.Clone(found), func(f settings.Finding) bool { return f.Harmless })
	if len(weak) == 1 && strings.HasPrefix(weak[0].Text, "there is no ") {
		d.say("hook", finding.Warn, weak[0].String(), weak[0].Fix)
		return
	}
	good := sure && len(weak) == 0
	for _, f := range found {
		result := finding.Fail
		if f.Harmless {
			result = finding.Warn
		}
		d.say("hook", result, f.String(), f.Fix)
	}
	for _, s := range sources {
		if s.Place != settings.Managed || s.Missing {
			continue
		}
		if err := hookfiles.ReadableBy(files, s.Path, hookfiles.SubmitterUID(d.cfg)); err != nil {
			good = false
			_, chmod, _ := strings.Cut(err.Error(), ": chmod ")
			chmod = strings.TrimSuffix("chmod "+chmod, "chmod ")
			d.say("hook", finding.Fail, err.Error(), cmp.Or(chmod, hookfiles.Cure(files, which, s.Path)))
		}
	}
	if good {
		d.say("hook", finding.OK, path, "")
	}
	d.budget(agent, settings.ReadSource(settings.User, path), want)
	adviser, ok := agent.(agents.Adviser)
	if !ok {
		return
	}
	for _, f := range adviser.Advice(sources) {
		result := finding.Warn
		if f.Fine {
			result = finding.OK
		}
		d.say("hook", result, f.Text, f.Fix)
	}
}

// budget checks that nobody gives up on a call before who waits inside.
func (d *doctor) budget(agent agents.Installer, s settings.Source, want settings.Want) {
	for _, b := range hookfiles.Budgets(agent, s, want) {
		switch {
		case b.Open() != "":
			d.say("timeout", finding.Fail, b.Open(), agent.Files().Install())
		case b.Short() != "":
			d.say("timeout", finding.Warn, b.Short(), agent.Files().Install())
		default:
			d.say("timeout", finding.OK, b.String(), "")
		}
	}
}

// wanted returns the hooks that the settings must have, for the program that is there if it is
// this approver's courier. sure is false if a failure was reported.
func (d *doctor) wanted(
	agent agents.Installer, sources []settings.Source, path string, which settings.Target, all hookfiles.Installs,
) (want settings.Want, sure bool) {
	want = waitingFor(agent, d.cfg)
	files := agent.Files()
	program, sure := hookfiles.Sibling(), true
	if h, there := hookfiles.HookIn(agent, sources, path); there {
		known, err := hookfiles.Genuine(h.Program(), all)
		err = errors.Join(err, d.hookFinds(h))
		switch {
		case err != nil:
			sure = false
			d.say("hook", finding.Fail, err.Error(), hookfiles.Cure(files, which, path))
		case !known:
			d.say("hook", finding.Warn, "nothing here says whether "+h.Program()+" is the program of this approver",
				hookfiles.Cure(files, which, path))
		}
		if filepath.IsAbs(h.Program()) {
			program = h.Program()
		}
	}
	who, err := d.cfg.Sockets.Submitters()
	if err == nil {
		_, want.Hooks, err = hookfiles.WantedHooks(agent, d.cfg, who, cmp.Or(program, "/usr/local/bin/approver-hook"))
	}
	if err != nil {
		sure = false
		d.say("hook", finding.Fail, err.Error(), "")
	}
	return want, sure
}

// waitingFor returns how long an agent's hook has to wait under a configuration.
func waitingFor(agent agents.Installer, cfg configs.Config) settings.Want {
	evaluating := cfg.Evaluating()
	return settings.Want{TTL: cfg.Hold(agent.Name()) - evaluating, Before: evaluating}
}

// hookFinds checks that the hook asks where the daemon listens. A pin takes precedence over
// everything else.
func (d *doctor) hookFinds(h settings.Command) error {
	file := cmp.Or(d.pin, socketpath.PinFile)
	pin, pinned, err := socketpath.ReadPin(file, 0)
	asks := pin.Socket
	if err == nil && !pinned {
		if asks = h.Socket(); asks == "" {
			home, _ := os.UserHomeDir() // Dir says what is missing
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

// path checks that the shell finds this program, and not another one.
func (d *doctor) path() {
	self, err := os.Executable()
	if err != nil {
		d.say("path", finding.Warn, err.Error(), "")
		return
	}
	found, err := exec.LookPath("approver")
	if err != nil {
		d.say("path", finding.Warn, "approver is not in PATH",
			"put "+filepath.Dir(self)+" into PATH, or a link to "+self+" into a folder of it")
		return
	}
	if !asuser.SameFile(found, self) {
		d.say("path", finding.Warn, fmt.Sprintf("PATH leads to %s, and this is %s", found, self),
			"remove the one that is not in use")
		return
	}
	d.say("path", finding.OK, found, "")
}

// units returns the services that could start the daemon: the machine's and the user's.
func (c DoctorCmd) units() []services.Unit {
	return []services.Unit{{}, {User: true}}
}

// service checks that the system starts the daemon, and that the service is enabled.
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
	d.say("service", finding.Warn, "nothing starts the daemon when the machine or the user does",
		services.InstallsService())
}
