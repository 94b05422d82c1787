package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// A workdir is the working directory of the shell, as far as it is known.
type workdir struct {
	dir    string
	may    string // what stands before the first slash of dir may be this folder, where that is not known
	before string // where it still is if the last cd failed; empty: it did not
	beside string // where it may still be if one of the last cd failed: a folder of settings
}

// refuses reports whether cd with two words is an error in every shell.
func (w *workdir) refuses(args []field) bool {
	return len(args) == 2 && args[0].known() && args[1].known() && effect.IsKnown(w.dir) &&
		!strings.Contains(w.dir, args[0].text)
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

// firstOf is the first folder of a path from the root.
func firstOf(p string) string {
	if end := strings.IndexByte(p[1:], '/'); end >= 0 {
		return p[:end+1]
	}
	return p
}

// topFolders are the root and the folders of a system and of its people that lie in it.
var topFolders = wordset.Of(section("top folders"))

// isStackNumber reports whether what follows a tilde is a number of the stack of folders.
func isStackNumber(s string) bool {
	digits := strings.TrimLeft(s, "+-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" && len(s)-len(digits) < 2
}

// longest is how long a folder may be of which only a pattern is known.
const longest = 256

// isDescriptors reports whether a folder is that of the descriptors of this process, or
// may be: /proc/$$/fd.
func isDescriptors(folder string) bool {
	if folder == "/dev/fd/" {
		return true
	}
	rest, ok := strings.CutPrefix(folder, "/proc/")
	if !ok {
		return false
	}
	process, rest, _ := strings.Cut(rest, "/")
	if process != "self" && process != "thread-self" && effect.IsKnown(process) {
		return false
	}
	if _, thread, found := strings.Cut(rest, "task/"); found {
		_, rest, _ = strings.Cut(thread, "/")
	}
	return rest == "fd/"
}

// socket is the host and port of bash's /dev/tcp.
func socket(p string) (string, bool) {
	if !strings.HasPrefix(p, "/dev/tcp/") && !strings.HasPrefix(p, "/dev/udp/") {
		return "", false
	}
	host, port, _ := strings.Cut(p[len("/dev/tcp/"):], "/")
	return host + ":" + port, true
}

// within reports whether a folder is the other one, or lies in it.
func within(p, dir string) bool {
	return dir != "" && (p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
}

// anyFile is the kind of an execution of a file of whose path nothing is known.
func anyFile(path string) string {
	if folder := path[:strings.LastIndexByte(path, '/')+1]; isDescriptors(folder) && !effect.IsKnown(path[len(folder):]) {
		return "any"
	}
	if path != "" && strings.Trim(path, effect.Unknown+"./") == "" && !effect.IsKnown(path) {
		return "any"
	}
	return ""
}

// installed reports whether a program lies where only an installation puts one, or a
// package manager, so that it is what its name says. What is called git in another folder is taken for
// git, and for whatever else somebody put there.
func installed(file string) bool {
	return wordset.HasAnyPrefix(file, systemFolders...) || wordset.ContainsAny(file, programFolders...) ||
		!strings.HasPrefix(file, "/") // no path of this kind of machine
}

// systemFolders are where only an installation puts programs, and programFolders where package
// managers do.
var (
	systemFolders = strings.Fields(`/usr/ /bin/ /sbin/ /opt/ /nix/store/ /snap/bin/ /System/ /Library/ /Applications/
		/home/linuxbrew/`)
	programFolders = strings.Fields("/node_modules/.bin/ /.venv/bin/ /venv/bin/ /.cargo/bin/ /go/bin/ /.local/bin/")
)

// covert reports whether a file lies where nobody looks: in memory, or hidden among
// temporary files.
func covert(p string) bool {
	return strings.HasPrefix(p, "/dev/shm/") || temporary(p) && strings.Contains(p, "/.")
}

// temporary reports whether a path lies in a folder in which everybody may write.
func temporary(p string) bool {
	return wordset.HasAnyPrefix(p, "/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/")
}

// add adds an effect, and where its path is only known to be in a folder that may be
// one or another, what it is in that one as well.
func (in *interp) add(e effect.Effect) {
	in.rep.addEffect(e)
	switch e.Kind {
	case effect.Read, effect.Write, effect.Delete, effect.Permission, effect.Exec:
		if e.Bits&effect.Remote != 0 {
			break
		}
		others := [...]string{in.cwd.mayBe(e.Target), in.cwd.ifStill(e.Target), in.dirs.atTop(e.Target)}
		if e.Kind == effect.Read || e.Kind == effect.Exec {
			others[1] = ""
		}
		for _, e.Target = range others {
			if e.Target != "" {
				in.rep.addEffect(e)
			}
		}
	default: // the others have no path
	}
}
