package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
)

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
