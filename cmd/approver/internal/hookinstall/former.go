package hookinstall

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"sync"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/daemon/safefile"
)

// This file takes approver out of one file, so that it becomes exactly what it was before, if nothing
// else was changed in it. No record is needed for that: what install makes out of a text is known, and
// so it is known whether a text was made out of a copy from before, also over several installs.

// An occupied is a file in which approver put something: settings or a companion.
type occupied struct {
	path string
	// ours reports whether something of approver is in a text.
	ours func(text []byte) bool
	// others reports whether the same is there for another agent.
	others func(text []byte) bool
	// makes reports whether install, or uninstall, makes one text out of another. The first is nil if there
	// was no file.
	makes func(from, to []byte) bool
	// without returns the text without what is approver's; nil means that there has to be no file.
	without func(text []byte) ([]byte, error)
}

// backups returns the copies of the file, the newest first.
func (f occupied) backups() []safefile.Backup {
	real, err := safefile.RealFile(f.path)
	if err != nil {
		return nil
	}
	return safefile.BackupsOf(real)
}

// takeOut takes approver out. If nothing else has changed since install, the file becomes exactly what
// it was before, a file that did not exist is removed, and the copies go. Otherwise everything else
// stays as it is. changed reports whether something of approver was there.
func (f occupied) takeOut(r *report) (changed bool, err error) {
	real, err := safefile.RealFile(f.path)
	if err != nil {
		return false, err
	}
	if err := safefile.RemoveTemporary(real); err != nil {
		return false, err
	}
	text, err := safefile.Read(f.path)
	if err != nil {
		return false, err
	}
	was, copies, known := f.before(text)
	switch {
	case text == nil:
		return false, forget(copies)
	case !f.ours(text):
	case known && was != nil:
		r.say("changed %s: it is what it was before approver was installed\n", f.path)
		return true, errors.Join(restore(real, *was), forget(copies))
	case known && !safefile.IsLink(f.path):
		r.say("removed %s: it held what approver wrote and nothing else\n", f.path)
		return true, errors.Join(os.Remove(f.path), forget(copies))
	}
	e := edit{path: f.path, old: text}
	if e.text, err = f.without(text); err != nil || e.nothing() {
		return false, err
	}
	if err := e.apply(); err != nil {
		return false, err
	}
	if e.tell(r); e.text != nil {
		r.say("all else in it was kept as it is now: it was changed since approver was installed, or no copy from before " +
			"is there\n")
	}
	return true, nil
}

// forget removes copies that say nothing more than the file itself.
func forget(copies []safefile.Backup) (err error) {
	for _, b := range copies {
		err = errors.Join(err, b.Remove())
	}
	return err
}

// before returns the state of a file before approver was installed, nil if there was no file. copies are
// those that were made between then and now. known is false if something else has changed.
func (f occupied) before(text []byte) (was *safefile.Backup, copies []safefile.Backup, known bool) {
	all := f.backups()
	if text != nil && f.others(text) {
		return nil, nil, false
	}
	for i, b := range all {
		if f.ours(b.Text) || f.others(b.Text) {
			continue
		}
		if copies, known = f.leads(b.Text, text, all); known {
			return &all[i], copies, true
		}
	}
	copies, known = f.leads(nil, text, all)
	return nil, copies, known
}

// leads reports whether a file with one text, or none, came to have another by installs alone, and
// returns the copies that were made on the way.
func (f occupied) leads(from, to []byte, all []safefile.Backup) (copies []safefile.Backup, known bool) {
	reached := [][]byte{from}
	comes := func(text []byte) bool {
		return slices.ContainsFunc(reached, func(r []byte) bool { return f.makes(r, text) })
	}
	for _, b := range slices.Backward(all) {
		switch {
		case slices.ContainsFunc(reached, func(r []byte) bool { return r != nil && bytes.Equal(r, b.Text) }):
		case comes(b.Text):
			reached = append(reached, b.Text)
		default:
			continue
		}
		copies = append(copies, b)
	}
	return copies, to == nil && from == nil || to != nil && comes(to)
}

// restore restores the text that a file had before install. Its mode stays, unless install
// changed it for managed settings.
func restore(path string, was safefile.Backup) error {
	if err := safefile.Restore(path, was.Text); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm() == was.Mode|0o444 {
		err = os.Chmod(path, was.Mode)
	}
	return err
}

// settingsOf returns an agent's settings, with approver's hooks in them.
func settingsOf(agent agents.Installer, path string) occupied {
	f := occupied{path: path}
	f.without = func(text []byte) ([]byte, error) {
		left, err := agent.WithHooks(path, text, nil)
		s, switched := agent.(agents.Switched)
		theirs := func(b safefile.Backup) bool {
			without, err := s.WithoutSwitch(path, b.Text)
			return !f.ours(b.Text) && err == nil && !bytes.Equal(without, b.Text)
		}
		if err != nil || !switched || bytes.Equal(left, text) || slices.ContainsFunc(f.backups(), theirs) {
			return left, err
		}
		return s.WithoutSwitch(path, left)
	}
	f.ours = func(text []byte) bool { return len(installedIn(agent, path, text)) > 0 }
	f.others = func(text []byte) bool { return foreign(agent, path, text) }
	bare := f.bare()
	f.makes = func(from, to []byte) bool {
		return slices.ContainsFunc(installing(agent, path, from, to), func(a agents.Installer) bool {
			if from == nil {
				return isNew(a, path, to, bare())
			}
			made, err := a.WithHooks(path, from, installedIn(a, path, to))
			return err == nil && bytes.Equal(made, to)
		})
	}
	return f
}

// bare returns a function that reports whether there is a copy with nothing of approver: the file was
// there before.
func (f occupied) bare() func() bool {
	return sync.OnceValue(func() bool {
		return slices.ContainsFunc(f.backups(), func(b safefile.Backup) bool { return !f.ours(b.Text) && !f.others(b.Text) })
	})
}

// installing returns an agent, and the others whose hooks are in these texts.
func installing(agent agents.Installer, path string, texts ...[]byte) (all []agents.Installer) {
	for _, a := range agents.Installers() {
		has := func(text []byte) bool {
			return bytes.Contains(text, []byte(" --agent "+a.Name())) && len(installedIn(a, path, text)) > 0
		}
		if agent != nil && a.Name() == agent.Name() || slices.ContainsFunc(texts, has) {
			all = append(all, a)
		}
	}
	return all
}

// foreign reports whether hooks of approver for other agents are in a text.
func foreign(agent agents.Installer, path string, text []byte) bool {
	another := func(a agents.Installer) bool { return a.Name() != agent.Name() }
	return slices.ContainsFunc(installing(nil, path, text), another)
}

// isNew reports whether a text is what install writes where no file is. Where there never was another
// text it is also one with approver's hooks and nothing else, in whatever form.
func isNew(agent agents.Installer, path string, text []byte, bare bool) bool {
	hooks := installedIn(agent, path, text)
	whole, err := agent.NewFile(path, hooks)
	if len(hooks) == 0 || err != nil {
		return false
	}
	made, err := agent.WithHooks(path, nil, hooks)
	if bytes.Equal(whole, text) || err == nil && bytes.Equal(made, text) {
		return true
	}
	rest, restErr := agent.WithHooks(path, text, nil)
	least, err := agent.WithHooks(path, whole, nil)
	left := bytes.Join(bytes.Fields(rest), nil)
	return !bare && errors.Join(restErr, err) == nil &&
		(len(left) == 0 || string(left) == "{}" || bytes.Equal(left, bytes.Join(bytes.Fields(least), nil)))
}

// installedIn returns the matchers that have approver's hooks.
func installedIn(agent agents.Installer, path string, text []byte) settings.Hooks {
	hooks, err := agent.ReadHooks(path, text)
	if err != nil {
		return nil
	}
	ours := func(hook json.RawMessage) bool { return settings.CommandOf(hook).Ours(agent.Name()) }
	found := settings.Hooks{}
	for event, matchers := range hooks {
		for _, m := range matchers {
			if slices.ContainsFunc(m.Hooks, ours) {
				found[event] = append(found[event], m)
			}
		}
	}
	return found
}

// companionAt returns a companion of settings that had these texts, and now have another.
func companionAt(agent agents.Installer, path string, i int, texts [][]byte, now []byte) occupied {
	change := func(was, becomes, text []byte) ([]byte, error) {
		return companionsOf(agent, path, was, becomes)[i].Change(text)
	}
	f := occupied{path: companionsOf(agent, path, nil, now)[i].Path, others: func([]byte) bool { return false }}
	f.without = func(text []byte) (out []byte, err error) {
		out = text
		for _, was := range texts {
			if out, err = change(was, now, out); err != nil || out == nil {
				return nil, err
			}
		}
		return out, nil
	}
	f.ours = func(text []byte) bool {
		out, err := f.without(text)
		return err == nil && (out == nil || !bytes.Equal(out, text))
	}
	bare := f.bare()
	f.makes = func(from, to []byte) bool {
		for _, becomes := range texts {
			for _, was := range append([][]byte{nil}, texts...) {
				made, err := change(was, becomes, from)
				if err == nil && made != nil && bytes.Equal(made, to) && f.ours(to) {
					return true
				}
			}
		}
		out, err := f.without(to)
		return from == nil && err == nil && out == nil && !bare()
	}
	return f
}
