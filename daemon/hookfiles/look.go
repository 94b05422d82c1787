package hookfiles

import (
	"path/filepath"

	"approver.example/agents"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
	"approver.example/daemon/words"
)

// Asking are the command lines of approver's hooks before tools in one file.
func Asking(agent agents.Installer, s settings.Source) (all []settings.Command) {
	hooks, err := agent.ReadHooks(s.Path, s.Text)
	if s.Missing || s.Err != nil || err != nil {
		return nil
	}
	for _, m := range hooks[facts.At(agent.Name(), "").Name] {
		for _, raw := range m.Hooks {
			if c := settings.CommandOf(raw); c.Ours(agent.Name()) {
				all = append(all, c)
			}
		}
	}
	return all
}

// HookIn returns the hook before tools of a file, or else the first of any.
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

// Short says which hooks of approver before tools do not wait as long as the configuration
// lets people take: those that were installed for a shorter ttl.
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

// Findings are what an agent's settings, and files beside them, do to the hooks. An error
// says that nobody can look just now.
func Findings(
	agent agents.Installer, p settings.Places, sources []settings.Source, want settings.Want,
) (found []settings.Finding, err error) {
	if err := settings.FirstUnseen(sources); err != nil {
		return nil, err
	}
	found = agent.Compare(sources, want)
	if searcher, ok := agent.(agents.Searcher); ok {
		beside, err := searcher.Beside(p, sources, want)
		return append(found, beside...), err
	}
	return found, nil
}

// Elsewhere reports that no file was named, and that the managed settings have the hooks
// and those of the user have none.
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

// Holder is the file that is looked at for the hooks: the one that was named, but of
// the managed settings the one that has them, and of a project those of its user where
// it has none itself.
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

// Cure is the command that puts an agent's hooks into a file.
func Cure(f settings.Files, which settings.Target, path string) string {
	user, _ := settings.Target{}.Path(f) // without a home there is none
	cure := f.Install()
	switch {
	case path == user || path == "":
	case f.Managed != "" && path == filepath.Join(which.ManagedDir(f), f.ManagedFile):
		cure += " --system"
	case filepath.Base(path) == f.File && filepath.Base(filepath.Dir(path)) == f.Folder:
		cure += " --project " + words.ShellWord(filepath.Dir(filepath.Dir(path)))
	default:
		cure += " --file " + words.ShellWord(path)
	}
	if which.ConfigFile != "" {
		cure += " --config " + words.ShellWord(which.ConfigFile)
	}
	return cure
}
