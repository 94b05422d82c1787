// Package hookwatch watches the hooks that install wrote: it raises an alarm when they are
// weakened, and says whether changed settings would take them away.
package hookwatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/hookfiles"
	"approver.example/daemon/words"
)

// A Watch watches the hooks that install wrote. It says whether changed settings would take
// them away, and raises an alarm when they were taken away.
//
// It polls. A kernel watch ends when an editor replaces the watched file, and misses changes
// in the folders above it. Checking a few files takes microseconds.
type Watch struct {
	Config  configs.Config
	Managed string // the folder of managed settings; empty: each agent's own
	Audit   approver.Recorder
	Log     *slog.Logger
	every   time.Duration // zero means hookLook
	Homes   []string      // the settings folders of agents' users; nil: as the system says

	// These are used only by Look, so they need no lock.
	programs map[string]lookedAt
	installs map[hookfiles.Key]hookfiles.Installed // of the last look; nil before the first

	mu    sync.Mutex
	weak  map[hookfiles.Key][]string // what was wrong with an installed file when it was last checked
	blind map[hookfiles.Key]string   // why a file cannot be checked now
	brief map[string]settings.Budget // by agent: the shortest time for which it waits, if that is too short
	owed  []approver.Record          // what the audit did not take yet, the oldest first
}

// maxOwed bounds the records that are kept while the audit fails. The first ones say how it began.
const maxOwed = 256

// hookLook is how often the installed files are checked, and hookRead how often a
// program is read again that seems to be unchanged.
const (
	hookLook = 2 * time.Second
	hookRead = time.Minute
)

// A lookedAt is the result of checking a program, and its file info at that time.
type lookedAt struct {
	at   time.Time
	info fs.FileInfo
	err  error
}

// Run calls Look at regular intervals until ctx ends.
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
	was, owed := w.weak, w.owed
	w.owed = nil
	w.mu.Unlock()
	for _, rec := range owed {
		w.record(ctx, rec)
	}
	now, blind, brief := map[hookfiles.Key][]string{}, map[hookfiles.Key]string{}, map[string]settings.Budget{}
	record := w.list()
	all, err := hookfiles.ReadInstalls(w.Config.Dir)
	switch {
	case settings.Unseen(err):
		blind[record] = err.Error()
		now = maps.Clone(was)
	case err != nil: // the record cannot say any more which files it had
		now = maps.Clone(was)
		if now == nil {
			now = map[hookfiles.Key][]string{}
		}
		now[record] = []string{err.Error()}
	default:
		w.noteInstalls(ctx, all)
	}
	for _, in := range all.Installs {
		if in.Changing {
			continue
		}
		weak, err := w.Weakness(in, all)
		if err != nil {
			blind[in.Key()] = err.Error()
			weak = was[in.Key()]
		}
		now[in.Key()] = weak
		for _, b := range budgets(in) {
			if shortest, there := brief[b.Agent]; b.Open() != "" && (!there || b.Hook < shortest.Hook) {
				brief[b.Agent] = b
			}
		}
	}
	w.mu.Lock()
	w.weak, w.blind, w.brief = now, blind, brief
	w.mu.Unlock()
	for file, why := range blind {
		w.Log.Warn("the hooks CANNOT BE LOOKED AT now, so nobody can say whether they hold", "file", file.Path, "error", why)
	}
	w.compare(ctx, was, now, blind)
}

// budgets returns the times of the hooks of an installed file.
func budgets(in hookfiles.Installed) []settings.Budget {
	agent := in.Of()
	if agent == nil {
		return nil
	}
	return hookfiles.Budgets(agent, settings.ReadSource(settings.User, in.Path), settings.Want{})
}

// Left returns how long an agent still waits for the answer about a call, if it gives up before its
// courier does and could then run the call. remaining is what is left of the courier's own time.
func (w *Watch) Left(agent string, remaining time.Duration) (left time.Duration, short bool) {
	if w == nil {
		return 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	b, short := w.brief[agent]
	return b.Hook - max(0, b.Courier-remaining), short
}

// list is the key of what is wrong with the list of installed files itself.
func (w *Watch) list() hookfiles.Key {
	return hookfiles.Key{Agent: facts.Example(), Path: hookfiles.InstallsFile(w.Config.Dir)}
}

// compare reports what changed since the last look.
func (w *Watch) compare(
	ctx context.Context, was, now map[hookfiles.Key][]string, blind map[hookfiles.Key]string,
) {
	for file, weak := range now {
		switch {
		case blind[file] != "", slices.Equal(weak, was[file]):
		case len(weak) > 0:
			call := approver.ToolCall{Agent: file.Agent, Paths: []string{file.Path}}
			w.alarm(ctx, call, "the hooks of "+file.Path+" were weakened: "+strings.Join(weak, "; "))
		default:
			w.Log.Info("the hooks hold again", "file", file.Path)
		}
	}
}

// noteInstalls records which files were installed or uninstalled since the last look. What was done while the
// daemon did not run is not known.
func (w *Watch) noteInstalls(ctx context.Context, all hookfiles.Installs) {
	was, now := w.installs, map[hookfiles.Key]hookfiles.Installed{}
	for _, in := range all.Installs {
		old, had := was[in.Key()]
		switch in.Folders = nil; {
		case !in.Changing:
			now[in.Key()] = in
		case had:
			now[in.Key()] = old
		}
	}
	w.installs = now
	if was == nil {
		return
	}
	for file, in := range now {
		if old, had := was[file]; !had {
			w.Log.Info("hooks were installed", "file", file.Path)
			w.noteInstall(ctx, file, "hooks were installed in "+file.Path)
		} else if !reflect.DeepEqual(in, old) {
			w.Log.Info("hooks were installed anew", "file", file.Path)
			w.noteInstall(ctx, file, "other hooks were installed in "+file.Path+", or another program of them")
		}
	}
	for file := range was {
		if _, still := now[file]; !still {
			const gone = "the hooks are no longer watched: they were uninstalled, or the record was removed"
			w.Log.Warn(gone, "file", file.Path)
			w.noteInstall(ctx, file, gone)
		}
	}
}

func (w *Watch) noteInstall(ctx context.Context, file hookfiles.Key, what string) {
	w.record(ctx, approver.Record{
		Event: approver.EventHooks, At: time.Now(), Note: what,
		Call: approver.ToolCall{Agent: file.Agent, Paths: []string{file.Path}},
	})
}

// Weakness returns what is wrong with one installed file. An error says that it cannot be
// checked now.
func (w *Watch) Weakness(in hookfiles.Installed, all hookfiles.Installs) ([]string, error) {
	agent := in.Of()
	if agent == nil {
		return []string{in.Path + ": " + in.Agent + " is no agent that this approver knows"}, nil
	}
	f := agent.Files()
	which := settings.Target{Managed: w.Managed, ConfigFile: w.Config.File}
	if home, err := configs.DefaultPath(); err == nil && home == w.Config.File {
		which.ConfigFile = "" // where the commands look by themselves
	}
	p := settings.Places{Managed: which.ManagedDir(f)}
	p.Home = w.userFolder(f, in.Path)
	if project, ok := f.ProjectOf(in.Path); ok && (p.Home == "" || f.Local != "") { // a home has the form of a project
		p.Projects = []string{project}
	}
	if filepath.Dir(in.Path) != p.Managed && filepath.Base(in.Path) == f.File {
		p.Config = filepath.Dir(in.Path)
	}
	if which.OfMachine(f, in.Path) {
		// Variables in a user's settings override managed hooks. If the daemon may not read them, the
		// hook for changed settings refuses the change, and doctor sees it if that user runs it.
		p.Users = w.Homes
		if p.Users == nil {
			p.Users = settings.UserFolders(f, w.Config.Sockets.SubmitUIDs)
		}
	}
	sources := slices.DeleteFunc(p.Sources(f), func(s settings.Source) bool {
		return s.Place == settings.Global && len(p.Users) > 0 && errors.Is(s.Err, fs.ErrPermission)
	})
	if !slices.ContainsFunc(sources, func(s settings.Source) bool { return s.Path == in.Path }) {
		sources = append(sources, settings.ReadSource(settings.User, in.Path))
	}
	var weak []string
	want := settings.Want{Hooks: in.Hooks, In: in.Path}
	found, err := hookfiles.Standing(agent, which, in.Path, p, sources, want, nil)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if !f.Harmless {
			weak = append(weak, f.String()+adminapi.FixMark+f.Fix)
		}
	}
	if err := w.program(in, all); settings.Unseen(err) {
		return nil, err
	} else if err != nil {
		weak = append(weak, err.Error()+adminapi.FixMark+hookfiles.Cure(f, which, in.Path))
	}
	return weak, nil
}

// userFolder returns the folder of a user's own settings if a path is that of these; else "".
func (w *Watch) userFolder(f settings.Files, path string) string {
	folders := settings.UserFolders(f, w.Config.Sockets.SubmitUIDs)
	if own, err := f.UserFolder(); err == nil {
		folders = append(folders, own)
	}
	for _, folder := range folders {
		if path == filepath.Join(folder, f.File) {
			return folder
		}
	}
	return ""
}

// program returns an error if an installed program is not the one that was installed.
func (w *Watch) program(in hookfiles.Installed, all hookfiles.Installs) error {
	info, err := os.Stat(in.Program)
	key := in.Program + " " + in.SHA256
	last, there := w.programs[key]
	same := there && err == nil && last.info != nil && os.SameFile(info, last.info) &&
		info.ModTime().Equal(last.info.ModTime()) && info.Size() == last.info.Size() && info.Mode() == last.info.Mode()
	if same && time.Since(last.at) < hookRead {
		return last.err
	}
	_, wrong := hookfiles.Genuine(in.Program, all)
	if settings.Unseen(wrong) {
		return wrong // it is checked again the next time
	}
	if w.programs == nil {
		w.programs = map[string]lookedAt{}
	}
	w.programs[key] = lookedAt{time.Now(), info, wrong}
	return wrong
}

// alarm writes an alarm to the log and the audit. It names what is wrong with the settings,
// but nothing else of their content.
func (w *Watch) alarm(ctx context.Context, call approver.ToolCall, what string) {
	w.Log.Error("THE HOOKS ARE WEAKENED", "what", what)
	w.note(ctx, call, what)
}

// Refused writes a change of the settings that a session was told not to apply to the log and
// the audit. The hooks of that session still hold; [Watch.Look] judges the file itself.
func (w *Watch) Refused(ctx context.Context, call approver.ToolCall, what string) {
	w.Log.Warn("a change of the agent's settings was refused", "what", what)
	w.note(ctx, call, what)
}

// note writes an alarm to the audit.
func (w *Watch) note(ctx context.Context, call approver.ToolCall, what string) {
	call.At = time.Now()
	w.record(ctx, approver.Record{
		Event: approver.EventAlarm, Alarm: approver.AlarmHooks, At: call.At, Call: call, Note: what,
		Verdict: approver.Verdict{Severity: approver.High},
	})
}

// record writes to the audit. What it does not take now is tried again at the next look.
func (w *Watch) record(ctx context.Context, rec approver.Record) {
	if _, err := w.Audit.Record(context.WithoutCancel(ctx), rec); err != nil {
		w.Log.Error("what happened to the hooks could not be recorded; trying again", "error", err)
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.owed) < maxOwed {
			w.owed = append(w.owed, rec)
		}
	}
}

// Now returns what is wrong or cannot be checked, one line each.
func (w *Watch) Now() (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for file, why := range w.blind {
		lines = append(lines,
			adminapi.CannotLook+"whether the hooks of "+file.Path+" hold: "+why+adminapi.FixMark+
				"raise the limit that the error names, such as LimitNOFILE= of the service")
	}
	for _, weak := range w.weak {
		lines = append(lines, weak...)
	}
	slices.Sort(lines)
	return lines
}

// Weakens returns what approver's hooks would lose if an agent applied its settings as they
// are on disk now. It checks all of them, because the agent rereads all when it applies one.
// Settings that cannot be read count as lost. An error says that the daemon cannot check now.
func (w *Watch) Weakens(ev agents.Event, env map[string]string) ([]string, error) {
	adapter, _ := agents.For(ev.Agent)
	agent, ok := adapter.(agents.Installer)
	if !ok {
		return []string{"approver knows nothing of the settings of " + ev.Agent}, nil
	}
	f := agent.Files()
	p := settings.Places{Managed: settings.Target{Managed: w.Managed}.ManagedDir(f), Home: ev.Home}
	if home := env["HOME"]; p.Home == "" && filepath.IsAbs(home) {
		p.Home = filepath.Join(home, f.Folder)
	}
	if dir := filepath.Dir(ev.Changed); filepath.Base(dir) == f.Folder && dir != p.Home {
		p.Projects = append(p.Projects, filepath.Dir(dir)) // a local file, too
	}
	p.Projects = append(p.Projects, ev.Call.Dir)
	all, err := hookfiles.ReadInstalls(w.Config.Dir)
	if err != nil {
		return []string{err.Error()}, settings.Blindness(err)
	}
	sources, closed := withoutClosed(p.Sources(f))
	if err := settings.FirstUnseen(sources); err != nil {
		return []string{err.Error()}, err
	}
	want := settings.Want{Anywhere: true}
	for _, s := range sources {
		if in, ok := all.Of(agent.Name(), s.Path); ok {
			want.Hooks = in.Hooks
			if _, err := hookfiles.Genuine(in.Program, all); err != nil {
				return []string{err.Error()}, settings.Blindness(err)
			}
			break
		}
	}
	if want.Hooks == nil {
		who, err := w.Config.Sockets.Submitters()
		if err != nil {
			return []string{err.Error()}, settings.Blindness(err)
		}
		program, err := hookfiles.HookProgram("")
		if err != nil {
			return []string{"it is not known what was installed: " + f.Install()}, settings.Blindness(err)
		}
		_, want.Hooks, err = hookfiles.WantedHooks(agent, w.Config, who, program)
		if err != nil {
			return []string{err.Error()}, settings.Blindness(err)
		}
	}
	return append(closed, settings.Weak(agent.Compare(sources, want))...), nil
}

// withoutClosed removes the files that the daemon may not read, and describes them in one
// line, because they have one cause: a home folder that is closed to others.
func withoutClosed(sources []settings.Source) (open []settings.Source, closed []string) {
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
	what := fmt.Sprintf("%s cannot be read by the daemon's user, so nobody can say what it does to the hooks: "+
		"permission denied", paths[0])
	if len(paths) > 1 {
		what = fmt.Sprintf("%s, and %s beside it, cannot be read by the daemon's user, so nobody can say what they do to "+
			"the hooks: permission denied", paths[0], words.Count(uint64(len(paths)-1), "file"))
	}
	return open, []string{what}
}
