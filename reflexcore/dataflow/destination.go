package dataflow

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/urls"
)

// destination names where an effect sends data to or fetches it from, so that later calls can be
// compared with it: a host, or if there is no address, the program and its folder. For index -1 it
// is the server of the tool. It is empty if the destination cannot be named. fresh means that a name
// from some seconds ago must not be used.
func (f *Flow) destination(i int, fresh bool) string {
	if i < 0 {
		server, _ := serverOf(f.call.ToolCall.Tool)
		return "server " + server
	}
	ef := &f.call.Effects[i]
	const most = 200
	if len(ef.Target) > most || !effect.IsKnown(ef.Target) || ef.Bits&(effect.Partial|effect.Splits) != 0 ||
		len(ef.By) > most/2 {
		return ""
	}
	target := strings.ToLower(ef.Target)
	if by, _, _ := strings.Cut(ef.By, " "); by == "git" && !strings.Contains(target, "://") &&
		!strings.Contains(target, "@") {
		return f.remote(target, fresh)
	}
	if ef.Kind != effect.Publish || strings.Contains(target, "://") {
		if host := urls.Classify(ef.Target).Host; strings.ContainsAny(host, ".:") {
			return "host " + host
		}
	}
	return strings.ToLower(ef.By) + " to " + target
}

// destinations returns all destinations of the call.
func (f *Flow) destinations() (out []string) {
	const most = 32
	for i := range f.call.Effects {
		if s, ok := f.sink(i); ok && s == flow.External && len(out) < most {
			if to := f.destination(i, false); to != "" && !slices.Contains(out, to) {
				out = append(out, to)
			}
		}
	}
	if server, _ := serverOf(f.call.ToolCall.Tool); server != "" && f.call.ToolCall.Command == "" {
		out = append(out, f.destination(-1, false))
	}
	return out
}

// A Cache keeps the git remotes that were read last. It is safe for concurrent use.
type Cache struct{ last atomic.Pointer[gitRemotes] }

// gitRemotes are the remotes of a folder, as they were read last.
type gitRemotes struct {
	dir  string
	at   time.Time // by the calls' clock
	urls map[string]string
}

// remotesFor is how long they are used where a change in between does no harm.
const remotesFor = 10 * time.Second

// remote returns the address of a git remote; a remote can be pointed to another address while its
// name stays. A name that is no remote is a branch, which goes to the only remote.
func (f *Flow) remote(name string, fresh bool) string {
	if strings.Contains(f.call.Text, "remote") || strings.Contains(f.call.Text, "config") ||
		strings.Contains(strings.ToLower(f.call.Text), "insteadof") {
		return "" // the call itself may change it
	}
	r := f.cache.last.Load()
	if age := time.Duration(0); r != nil {
		age = f.call.ToolCall.At.Sub(r.at)
		fresh = fresh || r.dir != f.call.ToolCall.Dir || age < 0 || age > remotesFor
	}
	if r == nil || fresh {
		r = &gitRemotes{dir: strings.Clone(f.call.ToolCall.Dir), at: f.call.ToolCall.At,
			urls: f.call.Analyzer.Git.Remotes(path.Join(gitrepo.Project(f.call.Analyzer.Files, f.call.ToolCall.Dir), ".git",
				"config"))}
		f.cache.last.Store(r)
	}
	to := r.urls[name]
	if to == "" && len(r.urls) == 1 {
		for _, to = range r.urls { // the only one
		}
	}
	return to
}

// addedLabel returns the label of the files that the call adds to a repository by name. For folders,
// pushedLabel checks the single files.
func (f *Flow) addedLabel() flow.Label {
	out := flow.Public
	for i := range f.call.Effects {
		ef := &f.call.Effects[i]
		l := flow.Of(ef.Taint)
		if ef.Kind != effect.Read || l >= flow.Internal || !intoRepository(ef.By) {
			continue
		}
		if info, err := f.call.Analyzer.Files.Lstat(ef.Target); err != nil || !info.IsDir() {
			out = flow.Join(out, l)
		}
	}
	return out
}

// intoRepository reports whether a program adds what it reads to a repository.
func intoRepository(by string) bool {
	return by == "git add" || by == "git commit" || by == "git stash" || by == "git stage"
}

// repositoryLabel returns the folder of a repository with the label of the files that the call adds
// to it, for the memory.
func (f *Flow) repositoryLabel() []memory.File {
	if f.Policy == nil {
		return nil
	}
	l := f.addedLabel()
	if l >= flow.Internal {
		return nil
	}
	return []memory.File{{Path: path.Join(gitrepo.Project(f.call.Analyzer.Files, f.call.ToolCall.Dir), ".git"),
		Taint: l.Taint()}}
}

// pushedLabel returns the label of what a push publishes: labeled files that were added to the
// repository by name, and labeled files in its folder that git does not ignore.
func (f *Flow) pushedLabel() flow.Label {
	out := f.addedLabel()
	if f.call.Past == nil {
		return out
	}
	root := gitrepo.Project(f.call.Analyzer.Files, f.call.ToolCall.Dir)
	var r *gitrepo.Repository
	files, err := f.call.Past.Labeled(root)
	f.recordError(err)
	for _, file := range files {
		if file.Path != root && file.Path != path.Join(root, ".git") {
			if r == nil {
				r = cmp.Or(f.call.Analyzer.Git.Find(root), &gitrepo.Repository{Root: root})
			}
			name := r.Name(file.Path)
			tracked := r.Index != nil && r.Index.Tracked(name)
			if !tracked && (r.Common != "" && f.call.Analyzer.Git.Ignored(r, name) ||
				!disk.Exists(f.call.Analyzer.Files, file.Path)) {
				continue
			}
		}
		out = flow.Join(out, flow.Of(file.Taint|effect.File))
	}
	return out
}
