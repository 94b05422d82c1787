package hookfiles

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"

	"approver.example/agents"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
	"approver.example/daemon/words"
)

// asking returns approver's hooks that run before tools, in one settings file.
func asking(agent agents.Installer, s settings.Source) (all []json.RawMessage) {
	hooks, err := agent.ReadHooks(s.Path, s.Text)
	if s.Missing || s.Err != nil || err != nil {
		return nil
	}
	for _, m := range hooks[facts.At(agent.Name(), "").Name] {
		for _, raw := range m.Hooks {
			if settings.CommandOf(raw).Ours(agent.Name()) {
				all = append(all, raw)
			}
		}
	}
	return all
}

// Asking returns the commands of approver's hooks that run before tools, in one settings file.
func Asking(agent agents.Installer, s settings.Source) (all []settings.Command) {
	for _, raw := range asking(agent, s) {
		all = append(all, settings.CommandOf(raw))
	}
	return all
}

// HookIn returns the hook before tools of the file at path, or else the first one of any file.
func HookIn(agent agents.Installer, sources []settings.Source, path string) (first settings.Command, there bool) {
	for _, s := range sources {
		all := Asking(agent, s)
		switch {
		case len(all) == 0:
		case s.Path == path:
			return all[0], true
		case !there:
			first, there = all[0], true
		}
	}
	return first, there
}

// Budgets returns the different times of approver's hooks that run before tools, in one settings file.
func Budgets(agent agents.Installer, s settings.Source, want settings.Want) (all []settings.Budget) {
	for _, raw := range asking(agent, s) {
		c := settings.CommandOf(raw)
		_, waits := c.Deadline()
		b := settings.Budget{Agent: agent.Name(), Hook: agent.Timeout(raw), Courier: waits, Parks: c.Parks(),
			People: want.TTL, Before: want.Before}
		if !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	return all
}

// Short returns a finding for each hook before tools that does not wait as long as people may
// take by the configuration, because it was installed for a shorter ttl.
func Short(agent agents.Installer, sources []settings.Source, want settings.Want) (found []settings.Finding) {
	for _, s := range sources {
		for _, c := range Asking(agent, s) {
			if _, waits := c.Deadline(); want.Short(waits) != "" {
				found = append(found, settings.Finding{Path: s.Path, Text: want.Short(waits)})
			}
		}
	}
	return found
}

// Findings returns how an agent's settings, and files beside them, affect the hooks. An error
// says that they cannot be checked now.
func Findings(
	agent agents.Installer, p settings.Places, sources []settings.Source, want settings.Want,
) (found []settings.Finding, err error) {
	if err := settings.FirstUnseen(sources); err != nil {
		return nil, err
	}
	found = agent.Compare(sources, want)
	with, err := companions(agent, sources, want)
	if err != nil {
		return nil, err
	}
	found = append(found, with...)
	if searcher, ok := agent.(agents.Searcher); ok {
		beside, err := searcher.Beside(p, sources, want)
		return append(found, beside...), err
	}
	return found, nil
}

// companions says which files are not as the hooks need them. They are only worth reporting for
// settings that need not have the hooks.
func companions(
	agent agents.Installer, sources []settings.Source, want settings.Want,
) (found []settings.Finding, err error) {
	accompanied, ok := agent.(agents.Accompanied)
	if !ok {
		return nil, nil
	}
	holds := false
	for _, s := range sources {
		if len(Asking(agent, s)) == 0 {
			continue
		}
		good := true
		for _, c := range accompanied.Companions(s.Path, s.Text, s.Text) {
			lacking, refused, err := lacks(s.Place, c)
			switch {
			case err != nil:
				return nil, err
			case lacking != "":
				good = false
				found = append(found, settings.Finding{Path: c.Path, Text: lacking, Harmless: want.In != "" && s.Path != want.In,
					Fix: mending(Cure(agent.Files(), settings.Target{}, s.Path), lacking, refused)})
			}
		}
		holds = holds || good && (want.In == "" || want.In == s.Path)
	}
	for i := range found {
		found[i].Harmless = found[i].Harmless || holds
	}
	return found, nil
}

// lacks says how a companion is not as it has to be; "" means that it is. With refused, install does not
// change it. An error says that nobody can know at the moment.
func lacks(place settings.Place, c agents.Companion) (lacking string, refused, err error) {
	s := settings.ReadSource(place, c.Path)
	switch {
	case settings.Unseen(s.Err):
		return "", nil, s.Err
	case s.Err != nil:
		refused = settings.Refuse("make it a file that this user can read",
			"it cannot be read, so nobody can say what it does to the hooks: %v", s.Err)
		return settings.Why(refused), refused, nil
	}
	text, refused := c.Change(s.Text)
	switch {
	case refused != nil:
		return settings.Why(refused), refused, nil
	case !bytes.Equal(text, s.Text) || text == nil != s.Missing:
		return c.Lacking(s.Text), nil, nil
	}
	return "", nil, nil
}

// Elsewhere reports whether no file was named, and the managed settings have the hooks while
// those of the user have none.
func Elsewhere(agent agents.Installer, which settings.Target, sources []settings.Source, path string) bool {
	if which.File != "" || which.Project != "" || which.System {
		return false
	}
	managed := false
	for _, s := range sources {
		has := len(Asking(agent, s)) > 0
		if has && s.Path == path {
			return false
		}
		managed = managed || has && s.Place == settings.Managed
	}
	return managed
}

// Holder returns the file in which to look for the hooks: the one that was named. For the
// managed settings it is the file that has them, and for a project without hooks it is the
// settings file of its user.
func Holder(agent agents.Installer, which settings.Target, sources []settings.Source, path string) string {
	for _, s := range sources {
		may := which.System && s.Place == settings.Managed || s.Path == path
		if may && len(Asking(agent, s)) > 0 {
			return s.Path
		}
	}
	if which.Project != "" {
		for _, s := range sources {
			if s.Place == settings.User {
				return s.Path
			}
		}
	}
	return path
}

// Cure returns the command that installs an agent's hooks into a file.
func Cure(f settings.Files, which settings.Target, path string) string {
	user, _ := settings.Target{}.Path(f) // without a home there is none
	cure := f.Install()
	project, inProject := f.ProjectOf(path)
	switch {
	case path == user || path == "":
	case f.Managed != "" && path == filepath.Join(which.ManagedDir(f), f.ManagedFile):
		cure += " --system"
	case inProject && filepath.Base(path) == filepath.Base(f.InProject()):
		cure += " --project " + words.ShellWord(project)
	default:
		cure += " --file " + words.ShellWord(path)
	}
	if which.ConfigFile != "" {
		cure += " --config " + words.ShellWord(which.ConfigFile)
	}
	return cure
}
