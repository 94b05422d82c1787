// Package hookwatch looks after the hooks that install wrote: it alarms when they are
// weakened, and says whether changed settings would take them away.
package hookwatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/claudesettings"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/claudehooks"
	"approver.example/daemon/words"
)

// A Watch looks after the hooks that install wrote: it says whether changed
// settings would take them away, and raises an alarm when they were.
//
// It polls. A watch by the kernel ends with the file that it watches, which editors
// replace, and sees nothing of what a folder above it does; the look at a few files
// costs microseconds.
type Watch struct {
	Config  configs.Config
	Managed string // the folder of managed settings
	Audit   approver.Recorder
	Log     *slog.Logger
	every   time.Duration // zero: hookLook
	Homes   []string      // where agents' users have their settings; nil: as the system says

	programs map[string]lookedAt // used by look alone, so it needs no lock

	mu    sync.Mutex
	weak  map[string][]string // by installed file, what is wrong with it, as far as it was seen
	blind map[string]string   // by file, why it cannot be looked at now
}

// hookLook is how often the installed files are looked at, and hookRead how often a
// program is read that seems to be unchanged.
const (
	hookLook = 2 * time.Second
	hookRead = time.Minute
)

// A lookedAt is what was found of a program, and what it looked like then.
type lookedAt struct {
	at   time.Time
	info fs.FileInfo
	err  error
}

// Run looks until ctx ends.
func (w *Watch) Run(ctx context.Context) error {
	every := w.every
	if every == 0 {
		every = hookLook
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		w.Look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Look compares every installed file with what was installed.
func (w *Watch) Look(ctx context.Context) {
	w.mu.Lock()
	was := w.weak
	w.mu.Unlock()
	now, blind := map[string][]string{}, map[string]string{}
	record := claudehooks.InstallsFile(w.Config.Dir)
	all, err := claudehooks.ReadInstalls(w.Config.Dir)
	switch {
	case claudehooks.Unseen(err):
		blind[record] = err.Error()
		now = maps.Clone(was)
	case err != nil: // which files it had, it does not say any more
		now = maps.Clone(was)
		if now == nil {
			now = map[string][]string{}
		}
		now[record] = []string{err.Error()}
	}
	for _, in := range all.Installs {
		weak, err := w.Weakness(in, all)
		if err != nil {
			blind[in.Path] = err.Error()
			weak = was[in.Path]
		}
		now[in.Path] = weak
	}
	w.mu.Lock()
	w.weak, w.blind = now, blind
	w.mu.Unlock()
	for path, why := range blind {
		w.Log.Warn("the hooks CANNOT BE LOOKED AT now, so nobody can say whether they hold", "file", path, "error", why)
	}
	w.compare(ctx, was, now, blind)
}

// compare tells what became of the hooks since the last look.
func (w *Watch) compare(ctx context.Context, was, now map[string][]string, blind map[string]string) {
	for path, weak := range now {
		switch {
		case blind[path] != "", slices.Equal(weak, was[path]):
		case len(weak) > 0:
			call := approver.ToolCall{Agent: agents.Claude{}.Name(), Paths: []string{path}}
			w.alarm(ctx, call, "the hooks of "+path+" were weakened: "+strings.Join(weak, "; "))
		default:
			w.Log.Info("the hooks hold again", "file", path)
		}
	}
	for path := range was {
		if _, still := now[path]; !still && path != claudehooks.InstallsFile(w.Config.Dir) {
			w.Log.Warn("the hooks are no longer watched: they were uninstalled, or the record was removed", "file", path)
		}
	}
}

// Weakness says what is wrong with one installed file. An error says that it cannot be
// looked at now.
func (w *Watch) Weakness(in claudehooks.Installed, all claudehooks.Installs) ([]string, error) {
	p := claudehooks.Places{Managed: w.Managed}
	if filepath.Base(filepath.Dir(in.Path)) == ".claude" {
		p.Projects = []string{filepath.Dir(filepath.Dir(in.Path))}
	}
	if filepath.Dir(in.Path) != w.Managed && filepath.Base(in.Path) == "settings.json" {
		p.Config = filepath.Dir(in.Path)
	}
	if (claudehooks.Target{Managed: w.Managed}).OfMachine(in.Path) {
		// Variables of a user go over managed hooks. What the daemon may not read, the hook
		// at ConfigChange refuses, and doctor sees it where the user runs it.
		p.Users = w.Homes
		if p.Users == nil {
			p.Users = claudehooks.AgentHomes(w.Config.Sockets.SubmitUIDs)
		}
	}
	sources := slices.DeleteFunc(p.Sources(), func(s claudesettings.Source) bool {
		return s.Place == claudesettings.Global && len(p.Users) > 0 && errors.Is(s.Err, fs.ErrPermission)
	})
	if !slices.ContainsFunc(sources, func(s claudesettings.Source) bool { return s.Path == in.Path }) {
		sources = append(sources, claudehooks.ReadSource(claudesettings.User, in.Path))
	}
	if err := claudehooks.FirstUnseen(sources); err != nil {
		return nil, err
	}
	var weak []string
	cure := claudehooks.Target{Managed: w.Managed, ConfigFile: w.Config.File}
	if home, err := configs.DefaultPath(); err == nil && home == w.Config.File {
		cure.ConfigFile = "" // where the commands look by themselves
	}
	want := claudesettings.Want{Hooks: in.Hooks, In: in.Path}
	beside, err := p.Beside(sources, want)
	if err != nil {
		return nil, err
	}
	for _, f := range append(claudesettings.Compare(sources, want), beside...) {
		if !f.Harmless {
			weak = append(weak, f.String()+adminapi.FixMark+cmp.Or(f.Fix, cure.Cure(in.Path)))
		}
	}
	if err := w.program(in, all); claudehooks.Unseen(err) {
		return nil, err
	} else if err != nil {
		weak = append(weak, err.Error()+adminapi.FixMark+cure.Cure(in.Path))
	}
	return weak, nil
}

// program says whether an installed program is what it was.
func (w *Watch) program(in claudehooks.Installed, all claudehooks.Installs) error {
	info, err := os.Stat(in.Program)
	key := in.Program + " " + in.SHA256
	last, there := w.programs[key]
	same := there && err == nil && last.info != nil && os.SameFile(info, last.info) &&
		info.ModTime().Equal(last.info.ModTime()) && info.Size() == last.info.Size() && info.Mode() == last.info.Mode()
	if same && time.Since(last.at) < hookRead {
		return last.err
	}
	_, wrong := claudehooks.Genuine(in.Program, all)
	if claudehooks.Unseen(wrong) {
		return wrong // it is looked at again the next time
	}
	if w.programs == nil {
		w.programs = map[string]lookedAt{}
	}
	w.programs[key] = lookedAt{time.Now(), info, wrong}
	return wrong
}

// alarm puts it into the log and the audit. What is recorded names no content of the
// settings but what is wrong with them.
func (w *Watch) alarm(ctx context.Context, call approver.ToolCall, what string) {
	w.Log.Error("THE HOOKS ARE WEAKENED", "what", what)
	w.record(ctx, call, what)
}

// Refused puts a change into the log and the audit that no session took. The hooks of this
// session hold; what stands on the disk, [hookWatch.look] judges by itself.
func (w *Watch) Refused(ctx context.Context, call approver.ToolCall, what string) {
	w.Log.Warn("a change of the agent's settings was refused", "what", what)
	w.record(ctx, call, what)
}

// record writes the alarm of the audit.
func (w *Watch) record(ctx context.Context, call approver.ToolCall, what string) {
	call.At = time.Now()
	rec := approver.Record{
		Event: approver.EventAlarm, Alarm: approver.AlarmHooks, At: call.At, Call: call, Note: what,
		Verdict: approver.Verdict{Severity: approver.High},
	}
	if _, err := w.Audit.Record(context.WithoutCancel(ctx), rec); err != nil {
		w.Log.Error("audit failed", "error", err)
	}
}

// Now is what is wrong, or cannot be looked at, a line each.
func (w *Watch) Now() (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, why := range w.blind {
		lines = append(lines, adminapi.CannotLook+"whether the hooks of "+path+" hold: "+why+adminapi.FixMark+"raise the limit that the error names, such as LimitNOFILE= of the service")
	}
	for _, weak := range w.weak {
		lines = append(lines, weak...)
	}
	slices.Sort(lines)
	return lines
}

// Weakens says what approver's hooks would lose if an agent took its settings as they
// are on the disk now: all of them, because the agent reads all again when it takes
// one. Whatever cannot be read counts as lost; an error says that the daemon cannot look
// just now.
func (w *Watch) Weakens(ev agents.Event, env map[string]string) ([]string, error) {
	p := claudehooks.Places{Managed: w.Managed, Home: ev.Home}
	if home := env["HOME"]; p.Home == "" && filepath.IsAbs(home) {
		p.Home = filepath.Join(home, ".claude")
	}
	if dir := filepath.Dir(ev.Changed); filepath.Base(dir) == ".claude" && dir != p.Home {
		p.Projects = append(p.Projects, filepath.Dir(dir))
	}
	p.Projects = append(p.Projects, ev.Call.Dir)
	all, err := claudehooks.ReadInstalls(w.Config.Dir)
	if err != nil {
		return []string{err.Error()}, claudehooks.Blindness(err)
	}
	sources, closed := withoutClosed(p.Sources())
	if err := claudehooks.FirstUnseen(sources); err != nil {
		return []string{err.Error()}, err
	}
	want := claudesettings.Want{Anywhere: true}
	for _, s := range sources {
		if in, ok := all.Of(s.Path); ok {
			want.Hooks = in.Hooks
			if _, err := claudehooks.Genuine(in.Program, all); err != nil {
				return []string{err.Error()}, claudehooks.Blindness(err)
			}
			break
		}
	}
	if want.Hooks == nil {
		who, err := w.Config.Sockets.Submitters()
		if err != nil {
			return []string{err.Error()}, claudehooks.Blindness(err)
		}
		program, err := claudehooks.HookProgram("")
		if err != nil {
			return []string{"it is not known what was installed: approver install claude"}, claudehooks.Blindness(err)
		}
		_, s, err := claudehooks.WantedHooks(w.Config, who, program)
		if err != nil {
			return []string{err.Error()}, claudehooks.Blindness(err)
		}
		want.Hooks = s.Hooks
	}
	return append(closed, claudesettings.Weak(claudesettings.Compare(sources, want))...), nil
}

// withoutClosed takes out the files that the daemon may not read, and says so in one line:
// they have one cause, a home that is closed to others.
func withoutClosed(sources []claudesettings.Source) (open []claudesettings.Source, closed []string) {
	var paths []string
	for _, s := range sources {
		if errors.Is(s.Err, fs.ErrPermission) {
			paths = append(paths, s.Path)
			continue
		}
		open = append(open, s)
	}
	if len(paths) == 0 {
		return open, nil
	}
	what := fmt.Sprintf("%s cannot be read by the daemon's user, so nobody can say what it does to the hooks: permission denied", paths[0])
	if len(paths) > 1 {
		what = fmt.Sprintf("%s, and %s beside it, cannot be read by the daemon's user, so nobody can say what they do to the hooks: permission denied", paths[0], words.Count(uint64(len(paths)-1), "file"))
	}
	return open, []string{what}
}
