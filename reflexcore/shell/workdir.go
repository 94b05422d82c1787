package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
)

// longest is how long a folder may be of which only a pattern is known.
const longest = 256

// refuses reports whether cd with two words is an error in every shell.
func (w *workdir) refuses(args []field) bool {
	return len(args) == 2 && args[0].known() && args[1].known() && effect.IsKnown(w.dir) && !strings.Contains(w.dir, args[0].text)
}

// possiblePath is the path that one may be in the folder that may be the present one; empty
// if nothing is known of it.
func (w *workdir) possiblePath(p string) string {
	if p == "" || p[0] != '/' {
		dir := w.dir
		if rest, ok := strings.CutPrefix(dir, effect.Unknown); ok {
			dir = w.may + rest
		}
		if dir == "" || dir[0] != '/' {
			return ""
		}
		p = dir + "/" + p
	}
	if p = path.Clean(p); len(p) > longest {
		return ""
	}
	return p
}

// mayBe is what a path below a folder that is not known may be: empty if there is
// no folder that it may be.
func (w *workdir) mayBe(p string) string {
	if w.may == "" {
		return ""
	}
	if p == "." || p == ".." || strings.HasPrefix(p, "../") { // the folder took one of the dots
		if w.dir != effect.Unknown || w.may[0] != '/' {
			return ""
		}
		return path.Clean(path.Dir(w.may) + "/" + p)
	}
	rest, ok := strings.CutPrefix(p, effect.Unknown+"/")
	if !ok {
		return ""
	}
	return w.may + "/" + rest
}

// ifStill is what a path in the present folder is if the cd to that failed; empty where
// it is nothing worse.
func (w *workdir) ifStill(p string) string {
	if w.beside == "" || w.beside == w.dir {
		return ""
	}
	rest, ok := strings.CutPrefix(p, w.dir+"/")
	if !ok || rest == "" {
		return ""
	}
	return w.beside + "/" + rest
}

// goesFrom notes the folder that cd leaves, where it stays if it fails. One of settings
// or of the system is kept longer.
func (ds *directories) goesFrom(dir string) {
	ds.in.cwd.before = dir
	if ds.isHidden(dir) {
		ds.in.cwd.beside = dir
	}
}

// isHidden reports whether a folder is one whose files change what a program or the
// system does.
func (ds *directories) isHidden(dir string) bool {
	if !effect.IsKnown(dir) || dir == "" || dir[0] != '/' {
		return false
	}
	for _, top := range [...]string{"/etc", "/boot", "/dev", "/usr", "/bin", "/sbin", "/lib", "/System", "/Library"} {
		if rest, ok := strings.CutPrefix(dir, top); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	if strings.HasPrefix(dir[strings.LastIndexByte(dir, '/')+1:], ".") {
		return true
	}
	rest, ok := strings.CutPrefix(dir, ds.in.ctx.Dir+"/")
	return ok && (strings.HasPrefix(rest, ".") || strings.Contains(rest, "/."))
}

// firstOf is the first folder of a path from the root.
func firstOf(p string) string {
	if end := strings.IndexByte(p[1:], '/'); end >= 0 {
		return p[:end+1]
	}
	return p
}

// atTop is a path below the working directory where that may be the root, a folder of
// the system or a home, since what is not known of it may be nothing: cd "/$X" && rm *.
// It is empty for any other, which scripts enter every day.
func (ds *directories) atTop(p string) string {
	if effect.IsKnown(ds.in.cwd.dir) || !strings.HasPrefix(p, ds.in.cwd.dir) {
		return ""
	}
	top := path.Clean(strings.ReplaceAll(ds.in.cwd.dir, effect.Unknown, ""))
	if !isTopFolder(top) && top != ds.in.par.valueOf("HOME").text {
		return ""
	}
	return path.Clean(ds.in.arena.concat(top, "/", p[len(ds.in.cwd.dir):]))
}

// isTopFolder reports whether a path is the root, or one of the folders of a system and
// of its people that lie in it.
func isTopFolder(p string) bool {
	switch p {
	case "/", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/var", "/home", "/root", "/boot", "/dev", "/opt", "/srv", "/proc", "/sys", "/run", "/nix", "/Users", "/System", "/Library", "/Applications", "/private":
		return true
	}
	return false
}

// add adds an effect, and where its path is only known to be in a folder that may be
// one or another, what it is in that one as well.
func (in *interp) add(e effect.Effect) {
	in.rep.effect(e)
	switch e.Kind {
	case effect.Read, effect.Write, effect.Delete, effect.Permission, effect.Exec:
		if e.Bits&effect.Remote != 0 {
			break
		}
		target := e.Target
		if p := in.cwd.mayBe(target); p != "" {
			e.Target = p
			in.rep.effect(e)
		}
		if p := in.cwd.ifStill(target); p != "" && e.Kind != effect.Read && e.Kind != effect.Exec {
			e.Target = p
			in.rep.effect(e)
		}
		if p := in.dirs.atTop(target); p != "" {
			e.Target = p
			in.rep.effect(e)
		}
	default: // the others have no path
	}
}
