package reflexcore

import (
	"path"
	"slices"
	"strings"
	"time"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/urls"
)

// destination names where an effect sends data to or fetches it from, so that it can
// be known again: a host, or for what has no address, what does it and where; at -1
// the server of the tool. Empty is one that cannot be known again. fresh says that it
// has to be so now, and not some seconds ago.
func (e *Engine) destination(w *work, i int, fresh bool) string {
	if i < 0 {
		server, _ := ofServer(w.a.ToolCall.Tool)
		return "server " + server
	}
	ef := &w.a.Effects[i]
	const most = 200
	if len(ef.Target) > most || !effect.IsKnown(ef.Target) || ef.Bits&(effect.Partial|effect.Splits) != 0 || len(ef.By) > most/2 {
		return ""
	}
	target := strings.ToLower(ef.Target)
	if by, _, _ := strings.Cut(ef.By, " "); by == "git" && !strings.Contains(target, "://") && !strings.Contains(target, "@") {
		return e.remote(w, target, fresh)
	}
	if ef.Kind != effect.Publish || strings.Contains(target, "://") {
		if host := urls.Classify(ef.Target).Host; strings.ContainsAny(host, ".:") {
			return "host " + host
		}
	}
	return strings.ToLower(ef.By) + " to " + target
}

// destinations are all that the call uses.
func (e *Engine) destinations(w *work) (out []string) {
	const most = 32
	for i := range w.a.Effects {
		if s, ok := w.sink(i); ok && s == flow.External && len(out) < most {
			if to := e.destination(w, i, false); to != "" && !slices.Contains(out, to) {
				out = append(out, to)
			}
		}
	}
	if server, _ := ofServer(w.a.ToolCall.Tool); server != "" && w.a.ToolCall.Command == "" {
		out = append(out, e.destination(w, -1, false))
	}
	return out
}

// gitRemotes are those of git in a folder, as they were read last.
type gitRemotes struct {
	dir  string
	at   time.Time // by the calls' clock
	urls map[string]string
}

// remotesFor is how long they count where it does no harm if they have changed.
const remotesFor = 10 * time.Second

// remote is the address of a remote of git: its name can be turned to another one.
// What is no remote is a branch, and goes where the only remote is.
func (e *Engine) remote(w *work, name string, fresh bool) string {
	if strings.Contains(w.a.Text, "remote") || strings.Contains(w.a.Text, "config") || strings.Contains(strings.ToLower(w.a.Text), "insteadof") {
		return "" // the call itself may turn it
	}
	r := e.remotes.Load()
	if age := time.Duration(0); r != nil {
		age = w.a.ToolCall.At.Sub(r.at)
		fresh = fresh || r.dir != w.a.ToolCall.Dir || age < 0 || age > remotesFor
	}
	if r == nil || fresh {
		r = &gitRemotes{dir: strings.Clone(w.a.ToolCall.Dir), at: w.a.ToolCall.At, urls: e.analyzer.Git.Remotes(path.Join(e.project(w.a.ToolCall.Dir), ".git", "config"))}
		e.remotes.Store(r)
	}
	if to := r.urls[name]; to != "" || len(r.urls) != 1 {
		return to
	}
	for _, to := range r.urls {
		return to
	}
	return ""
}

// addedLabel is the label of the files that the call puts into a repository by name.
// Of a folder, [Engine.pushedLabel] looks at the files by themselves.
func (e *Engine) addedLabel(w *work) flow.Label {
	out := flow.Public
	for i := range w.a.Effects {
		ef := &w.a.Effects[i]
		l := flow.Of(ef.Taint)
		if ef.Kind != effect.Read || l >= flow.Internal || !intoRepository(ef.By) {
			continue
		}
		if info, err := e.analyzer.Files.Lstat(ef.Target); err != nil || !info.IsDir() {
			out = flow.Join(out, l)
		}
	}
	return out
}

// intoRepository reports whether what a program reads goes into a repository.
func intoRepository(by string) bool {
	return by == "git add" || by == "git commit" || by == "git stash" || by == "git stage"
}

// repositoryLabel is what a repository is remembered by into which labelled files
// were put: a file with the label, its own folder.
func (e *Engine) repositoryLabel(w *work) []memory.File {
	if w.flows.policy == nil {
		return nil
	}
	l := e.addedLabel(w)
	if l >= flow.Internal {
		return nil
	}
	return []memory.File{{Path: path.Join(e.project(w.a.ToolCall.Dir), ".git"), Taint: l.Taint()}}
}

// pushedLabel is the label of what a push publishes: of labelled files that were put
// into the repository by name, and of those in its folder that git is not told to
// ignore.
func (e *Engine) pushedLabel(w *work) flow.Label {
	out := e.addedLabel(w)
	if w.a.Past == nil {
		return out
	}
	root := e.project(w.a.ToolCall.Dir)
	var r *gitrepo.Repository
	files, err := w.a.Past.Labelled(root)
	w.flows.fail(err)
	for _, f := range files {
		if f.Path != root && f.Path != path.Join(root, ".git") {
			if r == nil {
				if r = e.analyzer.Git.Find(root); r == nil {
					r = &gitrepo.Repository{Root: root}
				}
			}
			if name := r.Name(f.Path); r.Index == nil || !r.Index.Tracked(name) {
				if r.Common != "" && e.analyzer.Git.Ignored(r, name) || !disk.Exists(e.analyzer.Files, f.Path) {
					continue
				}
			}
		}
		out = flow.Join(out, flow.Of(f.Taint|effect.File))
	}
	return out
}
