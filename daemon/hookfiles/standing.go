package hookfiles

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/agents"
	"approver.example/agents/settings"
)

// Look reads the settings that an agent reads that is started here, and the file at path. With
// managedOnly, these are only the machine's.
func Look(f settings.Files, which settings.Target, path string, managedOnly bool) (settings.Places, []settings.Source) {
	p := settings.Places{Managed: which.ManagedDir(f)}
	if !managedOnly {
		p.Home, _ = f.UserFolder() // no home, no user settings
		p.Projects = projects(f, which, path)
	}
	sources := p.Sources(f)
	if !slices.ContainsFunc(sources, func(s settings.Source) bool { return s.Path == path }) {
		sources = append(sources, settings.ReadSource(settings.User, path))
	}
	return p, sources
}

// projects returns the project whose settings are meant, or else the current folder.
func projects(f settings.Files, which settings.Target, path string) []string {
	project, ofProject := f.ProjectOf(path)
	switch {
	case which.Project != "" && f.Unread != "": // it has no hooks of its own, and other settings
		if dir, err := filepath.Abs(which.Project); err == nil {
			return []string{dir}
		}
	case ofProject && (which.Project != "" || which.File != ""):
		return []string{project}
	case which.File != "" && filepath.Base(path) == filepath.Base(f.File): // with a link for its folder
		return []string{filepath.Dir(filepath.Dir(path))}
	}
	if dir, err := os.Getwd(); err == nil {
		return []string{dir}
	}
	return nil
}

// Standing returns how settings that were read, the files beside them and an environment affect an
// agent's hooks, which are in the file at path. Each finding says how to repair it, and none is there
// twice. Install, doctor and the daemon say the same.
func Standing(
	agent agents.Installer, which settings.Target, path string, p settings.Places, sources []settings.Source,
	want settings.Want, env []string,
) (found []settings.Finding, err error) {
	all, err := Findings(agent, p, sources, want)
	if err != nil {
		return nil, err
	}
	if adviser, ok := agent.(agents.Adviser); ok {
		all = append(all, adviser.Environment(env)...)
	}
	for _, f := range all {
		if slices.ContainsFunc(found, func(other settings.Finding) bool { return other.String() == f.String() }) {
			continue
		}
		if f.Fix == "" {
			at := path
			if f.Path != "" {
				at = f.Path
			}
			f.Fix = mending(Cure(agent.Files(), which, at), f.Text, refused(agent, at, want.Hooks))
		}
		found = append(found, f)
	}
	return found, nil
}

// mending returns the command of install or, if that refuses a file, what has to be done before. text says
// already what is wrong.
func mending(install, text string, refused error) string {
	if refused == nil {
		return install
	}
	first := settings.Why(refused)
	if r := (*settings.RefusalError)(nil); errors.As(refused, &r) {
		if first = r.Cure; !strings.Contains(text, r.Why) {
			first = r.Why + ": " + r.Cure
		}
	}
	return first + ", then " + install
}

// refused says why install would not put hooks into a file, or returns nil.
func refused(agent agents.Installer, path string, want settings.Hooks) error {
	was := settings.ReadSource(settings.User, path)
	if was.Err != nil {
		return settings.Refuse("make it a file that this user can read", "%s cannot be read: %v", path, was.Err)
	}
	becomes, err := agent.WithHooks(path, was.Text, want)
	accompanied, ok := agent.(agents.Accompanied)
	if err != nil || !ok {
		return err
	}
	for _, c := range accompanied.Companions(path, was.Text, becomes) {
		if _, err := c.Change(settings.ReadSource(settings.User, c.Path).Text); err != nil {
			return err
		}
	}
	return nil
}
