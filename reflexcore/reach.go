package reflexcore

import (
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// A file has more names than the one that a command writes: links lead to it, /proc
// leads to the folder of a process, and a settings file may itself be a link to where
// its owner keeps it. Before approver protects its own files and those by which agents
// ask it, it finds the other names of what a call reaches, as the disk has them now.
// What cannot be seen has no other name than the one that is written.

const (
	maxReaches = 4096 // targets of one call that are looked up
	maxMatches = 512  // names that the patterns of one call find
)

// An alias is a place of the disk that is protected under another name.
type alias struct{ at, name string }

// reach is what became known of names in one call.
type reach struct {
	looked  int
	matched int
	too     bool // there were more targets than are looked up
	asked   bool // protected is filled
	twice   bool // a file of approver's own has a second name on the disk
	aliases []alias
	names   []string // of the settings files
	dotted  []shell.Dotted
	named   []shell.Mention // files that commands name, of which no effect tells anything
	// programs are those that are started by their path.
	programs []shell.Program
}

func (r *reach) forget() {
	*r = reach{aliases: r.aliases[:0], names: r.names[:0], dotted: r.dotted[:0], named: r.named[:0], programs: r.programs[:0]}
}

// otherNames returns the names that an effect's target has besides the one that is
// written.
func (e *Engine) otherNames(w *work, ef *effect.Effect) []string {
	p := w.located(ef)
	if p == "" {
		return nil
	}
	r := &w.reach
	if r.looked++; r.looked > maxReaches {
		r.too = r.too || ef.Kind == effect.Write || ef.Kind == effect.Delete
		return nil
	}
	follow := ef.Kind != effect.Delete || ef.Bits&effect.Recursive != 0 && !removesLink[ef.By]
	e.protect(w)
	changes := ef.Kind != effect.Read || effect.Links(ef) || r.twice
	if p == ef.Target && e.isPlain(w, p, follow, changes) {
		return nil
	}
	var out []string
	for _, name := range e.seen(w, p, follow, changes) {
		if name != ef.Target && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// isPlain reports whether a path is itself and nothing else: no link, and nothing that is
// protected under another name, nor a pattern that finds such a name. Most are.
func (e *Engine) isPlain(w *work, p string, follow, changes bool) bool {
	if len(w.reach.dotted) > 0 {
		return false
	}
	static, pattern := p, false
	if i := strings.IndexAny(p, "*?[{\x00"); i >= 0 {
		cut := strings.LastIndexByte(p[:i], '/')
		static, pattern = p[:max(cut, 1)], true
	}
	r := w.links.Look(e.files, static)
	if r.Seen && r.To != static || !r.Seen && (follow || pattern) {
		return false
	}
	e.protect(w)
	if slices.ContainsFunc(w.reach.aliases, func(a alias) bool { return disk.Below(p, a.at) }) {
		return false
	}
	if !changes || r.Gone {
		return true
	}
	if pattern {
		return false // what it finds may be a link
	}
	if !follow {
		return true
	}
	info, err := e.files.Lstat(p)
	return err != nil || disk.HasOneName(info)
}

// removesLink are the programs that take a link away, and not what it leads to.
var removesLink = map[string]bool{
	"rm": true, "grm": true, "unlink": true, "git rm": true, "git clean": true, "rimraf": true, "shutil.rmtree": true,
}

// located is an effect's target as an absolute path; empty: it is none, or on another machine.
func (w *work) located(ef *effect.Effect) string {
	p, dir := strings.TrimPrefix(ef.Target, "unix://"), w.call.Dir
	if ef.Bits&effect.Remote != 0 || p == "" {
		return ""
	}
	switch ef.Kind {
	case effect.Read, effect.Write, effect.Delete, effect.Persist, effect.Permission:
	case effect.Discard:
		if dir = ef.Dir; dir == "" {
			dir = w.call.Dir
		}
	case effect.NetIn, effect.NetOut: // a socket is a file
		if strings.Contains(p, "://") || p[0] != '/' && !w.isSocket(ef) {
			return ""
		}
	default:
		return ""
	}
	switch {
	case p[0] == '/':
	case p[0] == 0, !strings.HasPrefix(dir, "/"), strings.Contains(p, ":"), ef.Kind == effect.Permission, ef.Kind == effect.Persist:
		return "" // a word, such as world
	default:
		p = dir + "/" + p
	}
	return w.ofProcess(p)
}

// ofProcess takes what /proc says of a process for what it is of the one that runs the
// call: its folder and its root.
func (w *work) ofProcess(p string) string {
	for range 4 {
		rest, ok := strings.CutPrefix(p, "/proc/")
		if !ok {
			break
		}
		_, rest, _ = strings.Cut(strings.TrimPrefix(rest, "self/task/"), "/")
		link, rest, _ := strings.Cut(rest, "/")
		switch {
		case link == "root":
			p = "/" + rest
		case link == "cwd" && strings.HasPrefix(w.call.Dir, "/"):
			p = w.call.Dir + "/" + rest
		default:
			return p
		}
	}
	return p
}

// seen returns the names that a path has on the disk. With follow its last name is
// followed too; with wild, what its patterns find is looked at.
func (e *Engine) seen(w *work, p string, follow, wild bool) (out []string) {
	out = append(out, p)
	add := func(name string) {
		if name != p {
			out = append(out, name)
		}
		out = append(out, e.protectedNames(w, name)...)
	}
	for _, d := range w.reach.dotted { // .. goes up from where the link leads
		if disk.Below(p, d.Path) {
			if to, ok := disk.Real(e.files, w.ofProcess(d.Written)+p[len(d.Path):]); ok {
				add(to)
			}
		}
	}
	i := strings.IndexAny(p, "*?[{\x00")
	if i < 0 {
		e.through(w, p, follow, add)
		return out
	}
	cut := strings.LastIndexByte(p[:i], '/')
	if to, ok := w.links.Real(e.files, path.Clean("/"+p[:cut])); ok {
		add(strings.TrimSuffix(to, "/") + p[cut:])
	}
	if wild {
		e.matches(w, path.Clean("/"+p[:cut]), strings.Split(p[cut+1:], "/"), func(found string) {
			e.through(w, found, follow, add)
		})
	}
	return out
}

// through hands on where a path leads, and if its last name is followed also the link
// itself.
func (e *Engine) through(w *work, p string, follow bool, add func(string)) {
	p = path.Clean(p)
	if dir, ok := w.links.Real(e.files, path.Dir(p)); ok && p != "/" {
		add(path.Join(dir, path.Base(p)))
	}
	if !follow {
		return
	}
	if to, ok := w.links.Real(e.files, p); ok {
		add(to)
		e.hardLinks(w, to, add)
	}
}

// matches hands on the paths that a pattern finds, name by name. A part that is not
// known may be anything.
func (e *Engine) matches(w *work, dir string, rest []string, found func(string)) {
	for len(rest) > 0 && rest[0] == "" {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		found(dir)
		return
	}
	name := strings.ReplaceAll(strings.ReplaceAll(rest[0], effect.Unknown, "*"), "[!", "[^")
	if !strings.ContainsAny(name, "*?[{") {
		e.matches(w, dir+"/"+name, rest[1:], found)
		return
	}
	to, ok := w.links.Real(e.files, path.Clean(dir))
	if !ok {
		return
	}
	names, err := e.files.ReadDir(to, disk.MaxListed)
	if err != nil {
		return
	}
	for _, n := range names {
		if ok, err := path.Match(name, n); !ok && err == nil && !strings.Contains(name, "{") {
			continue
		}
		if w.reach.matched++; w.reach.matched > maxMatches {
			return
		}
		e.matches(w, strings.TrimSuffix(dir, "/")+"/"+n, rest[1:], found)
	}
}

// hardLinks hands on the settings file that a file is, under another name.
func (e *Engine) hardLinks(w *work, p string, add func(string)) {
	info, err := e.files.Lstat(p)
	if err != nil || disk.HasOneName(info) {
		return
	}
	e.protect(w)
	for _, name := range w.reach.names {
		if f, err := e.files.Lstat(name); err == nil && os.SameFile(f, info) && name != p {
			add(name)
		}
	}
}

// protectedNames are the names under which a place of the disk is protected.
func (e *Engine) protectedNames(w *work, p string) (out []string) {
	e.protect(w)
	for _, a := range w.reach.aliases {
		if disk.Below(p, a.at) {
			out = append(out, a.name+p[len(a.at):])
		}
	}
	return out
}

// settingsFiles are those of an agent's folder that its hooks are in.
var settingsFiles = [...]string{"settings.json", "settings.local.json"}

// settingsHomes are the variables that say where an agent keeps its settings, and the
// folder that they stand for.
var settingsHomes = [...]struct{ variable, folder string }{
	{"CLAUDE_CONFIG_DIR", ".claude"}, {"CODEX_HOME", ".codex"}, {"CURSOR_CONFIG_DIR", ".cursor"},
	{"COPILOT_HOME", ".copilot"}, {"QWEN_HOME", ".qwen"}, {"FACTORY_HOME", ".factory"},
}

// A guarded is what protect found, for calls that come soon after.
type guarded struct {
	home, dir, agent string
	at               time.Time
	aliases          []alias
	names            []string
	twice            bool
}

// keepGuarded is how long that is taken for true. Who could turn the links meanwhile can
// turn them after the look as well.
const keepGuarded = time.Second

// protect finds where the protected folders of this call are on the disk, once: a
// person may keep them elsewhere, behind a link, or say so in the environment.
func (e *Engine) protect(w *work) {
	r := &w.reach
	if r.asked {
		return
	}
	r.asked = true
	now := time.Now()
	g := e.guarded.Load()
	if g == nil || !g.holds(w, now) {
		g = e.lookAtGuarded(w, now)
		e.guarded.Store(g)
	}
	r.aliases, r.names, r.twice = append(r.aliases, g.aliases...), append(r.names, g.names...), g.twice
	for _, h := range settingsHomes {
		if dir := w.call.Env[h.variable]; strings.HasPrefix(dir, "/") {
			r.aliases = e.aliasOf(w, r.aliases, path.Clean(dir), w.around.Home+"/"+h.folder)
		}
	}
}

// holds reports whether what was found is of the same place, and new.
func (g *guarded) holds(w *work, now time.Time) bool {
	if age := now.Sub(g.at); age < 0 || age > keepGuarded {
		return false
	}
	return g.home == w.around.Home && g.dir == w.call.Dir && g.agent == w.call.Agent
}

// aliasOf adds where a place is on the disk, if that is another one than its name says.
func (e *Engine) aliasOf(w *work, list []alias, p, name string) []alias {
	to, ok := w.links.Real(e.files, p)
	if !ok {
		to = p
	}
	if to == name {
		return list
	}
	return append(list, alias{to, name})
}

func (e *Engine) lookAtGuarded(w *work, now time.Time) *guarded {
	g := &guarded{home: w.around.Home, dir: w.call.Dir, agent: w.call.Agent, at: now}
	folders := []string{".approver", ".claude"}
	if own := "." + w.call.Agent; agentFolders[own] && own != ".claude" {
		folders = append(folders, own)
	}
	for _, place := range [...]string{w.around.Home, strings.TrimSuffix(w.call.Dir, "/")} {
		if !strings.HasPrefix(place, "/") {
			continue
		}
		for _, folder := range folders {
			name := path.Clean(place + "/" + folder)
			g.aliases = e.aliasOf(w, g.aliases, name, name)
			if folder != ".claude" {
				continue
			}
			for _, file := range settingsFiles {
				g.aliases = e.aliasOf(w, g.aliases, name+"/"+file, name+"/"+file)
				g.names = append(g.names, name+"/"+file)
			}
		}
	}
	e.ownNames(g)
	return g
}
