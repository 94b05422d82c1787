// Package filenames finds the other names of a file.
//
// A command can reach a file under a name that differs from the protected one: links lead to it,
// /proc leads to the folder of a process, and a settings file may itself be a link to where its
// owner keeps it. Before approver protects its own files and the settings of agents, it finds the
// other names of each path that a call reaches, as they are on the disk at that time. What cannot be
// read has only the name that the call uses.
package filenames

import (
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"approver.example"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/protected"
	"approver.example/reflexcore/shell"
)

const (
	maxReaches = 4096 // targets of one call that are looked up
	usualDepth = 16   // of a target; deeper ones count as several, because they need more lookups
	maxMatches = 512  // names that the patterns of one call find
)

// An alias is a path on the disk that is protected under another name.
type alias struct{ at, name string }

// A Finder finds the other names of files for one call, and remembers the results.
type Finder struct {
	disk   disk.Disk
	links  *disk.Links
	shared *Cache
	call   *approver.ToolCall
	home   string
	text   string         // of the call
	Dotted []shell.Dotted // paths with .. in them, as written

	looked  int
	matched int
	TooMany bool // there were too many targets to look up all
	asked   bool // protected is filled
	twice   bool // a file of approver's own has a second name on the disk
	aliases []alias
	names   []string // of the settings files
}

// A Cache keeps the protected paths for calls that come soon after. It is safe for concurrent use.
type Cache struct{ last atomic.Pointer[protection] }

// Begin starts a call.
func (n *Finder) Begin(d disk.Disk, l *disk.Links, s *Cache, call *approver.ToolCall, home, text string) {
	n.disk, n.links, n.shared, n.call, n.home, n.text = d, l, s, call, home, text
}

// Forget resets the finder, and keeps the allocated memory.
func (n *Finder) Forget() {
	*n = Finder{aliases: n.aliases[:0], names: n.names[:0], Dotted: n.Dotted[:0]}
}

// Others returns the names of an effect's target other than the one in the effect.
func (n *Finder) Others(ef *effect.Effect) []string {
	p := n.Located(ef)
	if p == "" {
		return nil
	}
	if n.looked += 1 + strings.Count(p, "/")/usualDepth; n.looked > maxReaches {
		n.TooMany = n.TooMany || ef.Kind == effect.Write || ef.Kind == effect.Delete
		return nil
	}
	follow := ef.Kind != effect.Delete || ef.Bits&effect.Recursive != 0 && !removesLink[ef.By]
	n.protect()
	changes := ef.Kind != effect.Read || effect.Links(ef) || n.twice
	if p == ef.Target && n.isPlain(p, follow, changes) {
		return nil
	}
	var out []string
	for _, name := range n.Seen(p, follow, changes) {
		if name != ef.Target && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// isPlain reports whether a path has no other name: it is no link, it is not protected under another
// name, and it is no pattern that matches such a name. Most paths are plain.
func (n *Finder) isPlain(p string, follow, changes bool) bool {
	if len(n.Dotted) > 0 {
		return false
	}
	static, pattern := p, false
	if i := strings.IndexAny(p, "*?[{\x00"); i >= 0 {
		cut := strings.LastIndexByte(p[:i], '/')
		static, pattern = p[:max(cut, 1)], true
	}
	r := n.links.Look(n.disk, static)
	if r.Seen && r.To != static || !r.Seen && (follow || pattern) {
		return false
	}
	n.protect()
	if slices.ContainsFunc(n.aliases, func(a alias) bool { return disk.Below(p, a.at) }) {
		return false
	}
	if !changes || r.Gone {
		return true
	}
	if pattern {
		return false // a match may be a link
	}
	if !follow {
		return true
	}
	info, err := n.disk.Lstat(p)
	return err != nil || disk.HasOneName(info)
}

// removesLink are programs that remove a link, and not what it leads to.
var removesLink = map[string]bool{
	"rm": true, "grm": true, "unlink": true, "git rm": true, "git clean": true, "rimraf": true, "shutil.rmtree": true,
}

// Located returns an effect's target as an absolute path. It is empty if the target is no path, or
// is on another machine.
func (n *Finder) Located(ef *effect.Effect) string {
	p, dir := strings.TrimPrefix(ef.Target, "unix://"), n.call.Dir
	if ef.Bits&effect.Remote != 0 || p == "" {
		return ""
	}
	switch ef.Kind {
	case effect.Read, effect.Write, effect.Delete, effect.Persist, effect.Permission:
	case effect.Discard:
		if dir = ef.Dir; dir == "" {
			dir = n.call.Dir
		}
	case effect.NetIn, effect.NetOut: // a socket is a file
		if strings.Contains(p, "://") || p[0] != '/' && !n.isSocket(ef) {
			return ""
		}
	default:
		return ""
	}
	switch {
	case p[0] == '/':
	case p[0] == 0, !strings.HasPrefix(dir, "/"), strings.Contains(p, ":"), ef.Kind == effect.Permission,
		ef.Kind == effect.Persist:
		return "" // a word, such as world
	default:
		p = dir + "/" + p
	}
	return n.OfProcess(p)
}

// OfProcess resolves paths in /proc of a process, its folder and its root, as if it were the process
// that runs the call.
func (n *Finder) OfProcess(p string) string {
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
		case link == "cwd" && strings.HasPrefix(n.call.Dir, "/"):
			p = n.call.Dir + "/" + rest
		default:
			return p
		}
	}
	return p
}

// Seen returns the names that a path has on the disk. follow means that the last name is followed,
// too, and wild that patterns are expanded.
func (n *Finder) Seen(p string, follow, wild bool) (out []string) {
	out = append(out, p)
	add := func(name string) {
		if name != p {
			out = append(out, name)
		}
		out = append(out, n.protectedNames(name)...)
	}
	for _, d := range n.Dotted { // .. goes up from where the link leads
		if disk.Below(p, d.Path) {
			if to, ok := n.links.Real(n.disk, n.OfProcess(d.Written)+p[len(d.Path):]); ok {
				add(to)
			}
		}
	}
	i := strings.IndexAny(p, "*?[{\x00")
	if i < 0 {
		n.through(p, follow, add)
		return out
	}
	cut := strings.LastIndexByte(p[:i], '/')
	if to, ok := n.links.Real(n.disk, path.Clean("/"+p[:cut])); ok {
		add(strings.TrimSuffix(to, "/") + p[cut:])
	}
	if wild {
		n.Matches(path.Clean("/"+p[:cut]), strings.Split(p[cut+1:], "/"), func(found string) {
			n.through(found, follow, add)
		})
	}
	return out
}

// through yields where a path leads, and if the last name is followed, also the link itself.
func (n *Finder) through(p string, follow bool, add func(string)) {
	p = path.Clean(p)
	if dir, ok := n.links.Real(n.disk, path.Dir(p)); ok && p != "/" {
		add(path.Join(dir, path.Base(p)))
	}
	if !follow {
		return
	}
	if to, ok := n.links.Real(n.disk, p); ok {
		add(to)
		n.hardLinks(to, add)
	}
}

// Matches yields the paths that match a pattern, name by name. An unknown part matches anything.
func (n *Finder) Matches(dir string, rest []string, found func(string)) {
	for len(rest) > 0 && rest[0] == "" {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		found(dir)
		return
	}
	name := strings.ReplaceAll(strings.ReplaceAll(rest[0], effect.Unknown, "*"), "[!", "[^")
	if !strings.ContainsAny(name, "*?[{") {
		n.Matches(dir+"/"+name, rest[1:], found)
		return
	}
	to, ok := n.links.Real(n.disk, path.Clean(dir))
	if !ok {
		return
	}
	names, err := n.disk.ReadDir(to, disk.MaxListed)
	if err != nil {
		return
	}
	for _, entry := range names {
		if ok, err := path.Match(name, entry); !ok && err == nil && !strings.Contains(name, "{") {
			continue
		}
		if n.matched++; n.matched > maxMatches {
			return
		}
		n.Matches(strings.TrimSuffix(dir, "/")+"/"+entry, rest[1:], found)
	}
}

// hardLinks yields the settings file that is the same file under another name.
func (n *Finder) hardLinks(p string, add func(string)) {
	info, err := n.disk.Lstat(p)
	if err != nil || disk.HasOneName(info) {
		return
	}
	n.protect()
	for _, name := range n.names {
		if f, err := n.disk.Lstat(name); err == nil && os.SameFile(f, info) && name != p {
			add(name)
		}
	}
}

// protectedNames returns the names under which a path on the disk is protected.
func (n *Finder) protectedNames(p string) (out []string) {
	n.protect()
	for _, a := range n.aliases {
		if disk.Below(p, a.at) {
			out = append(out, a.name+p[len(a.at):])
		}
	}
	return out
}

// A protection is the result of protect, for calls that come soon after.
type protection struct {
	home, dir, agent string
	at               time.Time
	aliases          []alias
	names            []string
	twice            bool
}

// keepProtection is how long the result is used. An attacker who could change the links in that time
// could also change them after a fresh look.
const keepProtection = time.Second

// protect finds once where the protected folders of this call are on the disk. A person may keep
// them elsewhere, behind a link or by an environment variable.
func (n *Finder) protect() {
	if n.asked {
		return
	}
	n.asked = true
	now := time.Now()
	g := n.shared.last.Load()
	if g == nil || !g.isCurrent(n, now) {
		g = n.lookAtGuarded(now)
		n.shared.last.Store(g)
	}
	n.aliases, n.names, n.twice = append(n.aliases, g.aliases...), append(n.names, g.names...), g.twice
	for _, h := range protected.SettingsHomes {
		if dir := n.call.Env[h.Variable]; strings.HasPrefix(dir, "/") {
			n.aliases = n.aliasOf(n.aliases, path.Clean(dir), n.home+"/"+h.Folder)
		}
	}
}

// isCurrent reports whether the result is about the same folders and recent.
func (g *protection) isCurrent(n *Finder, now time.Time) bool {
	if age := now.Sub(g.at); age < 0 || age > keepProtection {
		return false
	}
	return g.home == n.home && g.dir == n.call.Dir && g.agent == n.call.Agent
}

// aliasOf adds the path of a name on the disk, if it differs from the name.
func (n *Finder) aliasOf(list []alias, p, name string) []alias {
	to, ok := n.links.Real(n.disk, p)
	if !ok {
		to = p
	}
	if to == name {
		return list
	}
	return append(list, alias{to, name})
}

func (n *Finder) lookAtGuarded(now time.Time) *protection {
	g := &protection{home: n.home, dir: n.call.Dir, agent: n.call.Agent, at: now}
	folders := []string{".approver", ".claude"}
	if own := "." + n.call.Agent; protected.AgentFolders[own] && own != ".claude" {
		folders = append(folders, own)
	}
	for _, place := range [...]string{n.home, strings.TrimSuffix(n.call.Dir, "/")} {
		if !strings.HasPrefix(place, "/") {
			continue
		}
		for _, folder := range folders {
			name := path.Clean(place + "/" + folder)
			g.aliases = n.aliasOf(g.aliases, name, name)
			if folder != ".claude" {
				continue
			}
			for _, file := range protected.SettingsFiles {
				g.aliases = n.aliasOf(g.aliases, name+"/"+file, name+"/"+file)
				g.names = append(g.names, name+"/"+file)
			}
		}
	}
	n.ownNames(g)
	return g
}

// isSocket reports whether the target is a socket in the file system, including one without a
// folder.
func (n *Finder) isSocket(ef *effect.Effect) bool {
	switch {
	case ef.What == "socket", strings.Contains(ef.Target, ".sock"), strings.HasPrefix(ef.Target, "unix:"),
		strings.HasPrefix(ef.By, "net."):
		return true
	case ef.By == "nc", ef.By == "ncat", ef.By == "netcat":
		return strings.Contains(n.text, "-U") || strings.Contains(n.text, "--unixsock")
	}
	return strings.Contains(n.text, "UNIX") || strings.Contains(n.text, "unix") || strings.Contains(n.text, "Unix")
}

// A hard link is the same file, and its name does not show it. Approver's own files usually have one
// name each, so only those with two are searched for.

// maxOwnNames limits the files in approver's own folders that are checked.
const maxOwnNames = 256

// ownNames adds approver's own files that have a second name on the disk.
func (n *Finder) ownNames(g *protection) {
	looked := 0
	var walk func(dir, name string, deep int)
	walk = func(dir, own string, deep int) {
		names, err := n.disk.ReadDir(dir, maxOwnNames)
		if err != nil {
			return
		}
		for _, name := range names {
			if looked++; looked > maxOwnNames {
				return
			}
			info, err := n.disk.Lstat(dir + "/" + name)
			switch {
			case err != nil:
			case info.IsDir() && deep > 0:
				walk(dir+"/"+name, own+"/"+name, deep-1)
			case !disk.HasOneName(info):
				g.names, g.twice = append(g.names, own+"/"+name), true
			}
		}
	}
	for _, dir := range [...]string{g.home + "/.approver", "/var/lib/approver", "/etc/approver", "/run/approver"} {
		if strings.HasPrefix(dir, "/") {
			if to, ok := disk.Real(n.disk, dir); ok {
				walk(to, dir, 1)
			}
		}
	}
}
