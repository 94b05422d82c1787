package shell

import (
	"path"
	"slices"
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

// cd changes the folder. Which one a pattern enters is not known; what it may be is
// kept beside.
func (bc builtinCall) cd() {
	args := bc.in.exp.fields[bc.mark+1:]
	for len(args) > 0 && (args[0].text == "" ||
		len(args[0].text) > 1 && args[0].text[0] == '-' && strings.Trim(args[0].text[1:], "LPe@-") == "") {
		args = args[1:]
	}
	from := bc.in.cwd.dir
	bc.in.dirs.moves++
	defer func() {
		if bc.in.cwd.before = from; !bc.in.dirs.surely(bc.in.cwd.dir, from) {
			bc.in.dirs.goesFrom(from)
		}
	}()
	defer bc.in.dirs.stacked(bc.in.cwd.dir, bc.in.exp.fields[bc.mark].text == "pushd")
	switch {
	case len(args) == 1 && args[0].folder != 0 && args[0].text == effect.Unknown && bc.in.dirs.enters(args[0].folder):
	case len(args) == 0:
		bc.in.cwd.dir, bc.in.cwd.may = bc.in.par.valueOf("HOME").text, ""
	case bc.in.cwd.refuses(args): // the folder stays
	case len(args) > 1: // an error, or words that zsh replaces in its path
		if bc.in.cwd.may = ""; strings.HasPrefix(bc.in.cwd.dir, "/") {
			bc.in.cwd.dir, bc.in.cwd.may = effect.Unknown, bc.in.cwd.dir
		}
	case args[0].text == "-" || strings.HasPrefix(args[0].text, "+") ||
		bc.in.par.lookup("CDPATH") != nil && strings.IndexByte("./", args[0].text[0]) < 0:
		bc.in.cwd.dir, bc.in.cwd.may = effect.Unknown, ""
	case args[0].glob, bc.in.cwd.may != "" && strings.HasPrefix(args[0].text, ".."):
		bc.in.cwd.may = bc.in.cwd.possiblePath(args[0].text)
		bc.in.cwd.dir = effect.Unknown
	default:
		if c := args[0].text[0]; c == '/' || c == 0 {
			bc.in.cwd.may = ""
		}
		bc.in.cwd.dir = bc.in.fs.abs(args[0].text)
	}
	if bc.in.cwd.dir == "" {
		bc.in.cwd.dir = effect.Unknown
	}
}

func (bc builtinCall) popd() {
	bc.in.cwd.dir, bc.in.cwd.may = effect.Unknown, ""
	if bc.in.vars.find("DIRSTACK") != nil {
		bc.in.assigner.setVariable("DIRSTACK", unknown)
	}
}

func (bc builtinCall) pwd() { bc.sink.add(data{text: bc.in.cwd.dir + "\n"}) }

// enters changes to such a folder, if it is known: a text that is no file's is where
// it runs. Settings may say that the working tree is another one.
func (ds *directories) enters(folder askedFolder) bool {
	if !strings.HasPrefix(ds.in.cwd.dir, "/") || !effect.IsKnown(ds.in.cwd.dir) || ds.in.cwd.may != "" {
		return false
	}
	if folder == ownFolder {
		return ds.in.par.zero.text == "bash" && ds.in.rep.depth == 1 && !ds.in.ctx.Written &&
			ds.in.cwd.dir == ds.in.ctx.Dir && ds.in.vars.find("BASH_SOURCE") == nil
	}
	if ds.in.Top == nil || ds.configured || ds.in.fs.created("git") != nil || ds.in.vars.find("PATH") != nil ||
		slices.ContainsFunc(topSettings, ds.in.vars.isGiven) || slices.ContainsFunc(ds.in.rep.res.Effects, changesGit) {
		return false
	}
	top := ds.in.Top(ds.in.cwd.dir)
	if top != "" {
		ds.in.cwd.dir = top
	}
	return top != ""
}

// topSettings are the variables that may make git take another folder for the top.
var topSettings = strings.Fields("GIT_DIR GIT_WORK_TREE GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_CONFIG_GLOBAL")

// changesGit reports whether an effect may change which folder git takes for the top.
func changesGit(e effect.Effect) bool {
	return (e.Kind == effect.Write || e.Kind == effect.Delete) &&
		(!effect.IsKnown(e.Target) || strings.Contains(e.Target, ".git"))
}

// stacked puts the folder that pushd left on the stack of folders, or changes its top.
func (ds *directories) stacked(before string, pushes bool) {
	v := ds.in.vars.find("DIRSTACK")
	if v == nil && !pushes {
		return
	}
	list := []data{{text: before}}
	if v != nil && v.array && len(v.list) > 0 {
		list = slices.Clone(v.list)
	}
	if pushes {
		list = slices.Insert(list, 0, data{text: ds.in.cwd.dir})
		list[1] = data{text: before}
	}
	list[0] = data{text: ds.in.cwd.dir}
	*ds.in.vars.slot("DIRSTACK") = variable{name: "DIRSTACK", array: true, list: list}
}

// stack is the element of the stack of folders that ~1 or ~-0 names.
func (ds *directories) stack(number string) data {
	if number == "0" || number == "+0" {
		return data{text: ds.in.cwd.dir}
	}
	v := ds.in.par.lookup("DIRSTACK")
	if v == nil || !v.array || len(v.list) == 0 {
		return unknown
	}
	list, digits := v.list, strings.TrimLeft(number, "+-")
	n, ok := ds.in.math.toInteger(digits, 0)
	if number[0] == '-' {
		n = int64(len(list)) - 1 - n
	}
	if !ok || n < 0 || n >= int64(len(list)) {
		return unknown
	}
	return list[n]
}

// printDirs prints the stack of folders.
func (bc builtinCall) printDirs() {
	args := bc.in.exp.fields[bc.mark+1:]
	list := []data{{text: bc.in.cwd.dir}}
	if v := bc.in.par.lookup("DIRSTACK"); v != nil {
		if list = v.list; !v.array {
			list = []data{unknown}
		}
	}
	long := len(args) > 0 && args[0].text == "-l"
	if long {
		args = args[1:]
	}
	switch {
	case len(args) == 0:
	case len(args) == 1 && isStackNumber(args[0].text):
		list = []data{bc.in.dirs.stack(args[0].text)}
	case len(args) == 1 && args[0].text == "-c":
		return
	default:
		list = []data{unknown}
	}
	if home := bc.in.par.valueOf("HOME").text; !long && len(home) > 1 {
		list = slices.Clone(list)
		for i := range list {
			if rest, ok := strings.CutPrefix(list[i].text, home); ok && (rest == "" || rest[0] == '/') {
				list[i].text = "~" + rest
			}
		}
	}
	d := join(list, " ")
	bc.sink.add(data{d.text + "\n", d.taint})
}

// surely reports whether cd from one folder to another does not fail: to one in which the
// first is, or that every machine has.
func (ds *directories) surely(to, from string) bool {
	return to == "/" || to == "/tmp" || to == ds.in.par.valueOf("HOME").text || to == from ||
		strings.HasPrefix(from, to+"/")
}

// atTop is a path below the working directory where that may be the root, a folder of
// the system or a home, since what is not known of it may be nothing: cd "/$X" && rm *.
// It is empty for any other, which scripts enter every day.
func (ds *directories) atTop(p string) string {
	if effect.IsKnown(ds.in.cwd.dir) || !strings.HasPrefix(p, ds.in.cwd.dir) {
		return ""
	}
	top := path.Clean(strings.ReplaceAll(ds.in.cwd.dir, effect.Unknown, ""))
	if !topFolders[top] && top != ds.in.par.valueOf("HOME").text {
		return ""
	}
	return path.Clean(ds.in.arena.concat(top, "/", p[len(ds.in.cwd.dir):]))
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
