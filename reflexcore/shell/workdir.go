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
	may    string // if dir begins with an unknown part, that part may be this directory
	before string // the directory if the last cd failed; empty: it cannot have failed
	beside string // a directory of settings, or of the system, if a recent cd failed
}

// refuses reports whether cd with these two words is an error in every shell.
func (w *workdir) refuses(args []field) bool {
	return len(args) == 2 && args[0].known() && args[1].known() && effect.IsKnown(w.dir) &&
		!strings.Contains(w.dir, args[0].text)
}

// possiblePath returns a path in the directory that may be the working directory, or an empty
// string if nothing is known about it.
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

// mayBe returns what a path below an unknown directory may be, or an empty string if there is no
// candidate for that directory.
func (w *workdir) mayBe(p string) string {
	if w.may == "" {
		return ""
	}
	if p == "." || p == ".." || strings.HasPrefix(p, "../") { // the unknown directory consumed one ".."
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

// ifStill returns what a path in the working directory is if the cd to that directory failed. It
// is empty if there is no directory of settings that it could be in.
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

// firstOf returns the first directory of an absolute path.
func firstOf(p string) string {
	if end := strings.IndexByte(p[1:], '/'); end >= 0 {
		return p[:end+1]
	}
	return p
}

// topFolders are the root and top-level directories, of the system and of its users.
var topFolders = wordset.Of(section("top folders"))

// isStackNumber reports whether the text after a tilde is an index into the directory stack.
func isStackNumber(s string) bool {
	digits := strings.TrimLeft(s, "+-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" && len(s)-len(digits) < 2
}

// longest is the limit, in bytes, on paths of which only a pattern is known.
const longest = 256

// isDescriptors reports whether a directory is, or may be, that of the descriptors of this
// process, such as /proc/$$/fd.
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

// socket returns the host:port of /dev/tcp and /dev/udp in bash.
func socket(p string) (string, bool) {
	if !strings.HasPrefix(p, "/dev/tcp/") && !strings.HasPrefix(p, "/dev/udp/") {
		return "", false
	}
	host, port, _ := strings.Cut(p[len("/dev/tcp/"):], "/")
	return host + ":" + port, true
}

// within reports whether path p is dir or lies in it.
func within(p, dir string) bool {
	return dir != "" && (p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
}

// anyFile returns "any" if nothing is known about the path of an executed file, otherwise an
// empty string.
func anyFile(path string) string {
	if folder := path[:strings.LastIndexByte(path, '/')+1]; isDescriptors(folder) && !effect.IsKnown(path[len(folder):]) {
		return "any"
	}
	if path != "" && strings.Trim(path, effect.Unknown+"./") == "" && !effect.IsKnown(path) {
		return "any"
	}
	return ""
}

// installed reports whether a program is in a directory to which only installers and package
// managers write, so that its name says what it is. A program called git in any other directory
// is taken both for git and for an unknown file.
func installed(file string) bool {
	return wordset.HasAnyPrefix(file, systemFolders...) || wordset.ContainsAny(file, programFolders...) ||
		!strings.HasPrefix(file, "/") // not an absolute Unix path
}

// systemFolders are the directories of installed programs, programFolders those of package
// managers.
var (
	systemFolders = strings.Fields(`/usr/ /bin/ /sbin/ /opt/ /nix/store/ /snap/bin/ /System/ /Library/ /Applications/
		/home/linuxbrew/`)
	programFolders = strings.Fields("/node_modules/.bin/ /.venv/bin/ /venv/bin/ /.cargo/bin/ /go/bin/ /.local/bin/")
)

// covert reports whether a file is where nobody looks: in shared memory, or hidden below a
// temporary directory.
func covert(p string) bool {
	return strings.HasPrefix(p, "/dev/shm/") || temporary(p) && strings.Contains(p, "/.")
}

// temporary reports whether a path is below a world-writable directory.
func temporary(p string) bool {
	return wordset.HasAnyPrefix(p, "/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/")
}

// add adds an effect. If its path may be in several directories, it adds the effect for each of
// them.
func (in *interp) add(e effect.Effect) {
	if e.Kind == effect.Exec && len(in.fs.list) > 0 {
		in.fs.runsFetched(&e)
	}
	in.rep.addEffect(e)
	if e.Kind == effect.Write && len(in.rep.aways) > 0 {
		in.carries(&e)
	}
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
	default: // the others have no file path
	}
}
