package reflexcore

import (
	"path"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/buildnames"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file knows where people install what they build themselves: below /usr/local and /opt. A new name
// there takes nothing away and stands in the way of nothing, and a folder that the call puts there anew is
// replaced, not lost.

// maxSources limits the effects that are searched for what a program copies.
const maxSources = 32

// isLocal reports whether a write makes something new below /usr/local or /opt. What comes from the
// network does not count: nobody has looked at it. Nor does what is not the container's own in one.
func (e *Engine) isLocal(j *judgment, i int) bool {
	ef := &j.call.Effects[i]
	if j.call.ToolCall.Container != nil || ef.What == effect.Emptied || ef.Taint&(effect.Network|effect.Decoded) != 0 ||
		ef.Bits&(effect.Remote|effect.Splits|effect.Partial|effect.Rooted) != 0 || !effect.IsPlain(ef.Target) ||
		ef.Target != "/opt" && !disk.Below(ef.Target, "/usr/local") {
		return false
	}
	info, err := e.analyzer.Files.Lstat(ef.Target)
	switch {
	case disk.IsMissing(err):
		return e.isFree(ef.Target)
	case err != nil || !info.IsDir() || !isCopier(ef.By):
		return false
	}
	sources := copied(j.call.Effects, i)
	for _, name := range sources {
		p := path.Join(ef.Target, path.Base(name))
		if _, err := e.analyzer.Files.Lstat(p); !disk.IsMissing(err) || !effect.IsPlain(name) || !e.isFree(p) {
			return false
		}
	}
	return len(sources) > 0
}

// copiers are programs that copy or move files and folders.
const copiers = "cp gcp mv gmv"

// isCopier reports whether a program puts what it reads into a folder under the same name.
func isCopier(by string) bool { return wordset.Has(copiers+" install ginstall ln", by) }

// copied returns what the program of a write reads.
func copied(effects []effect.Effect, i int) (out []string) {
	for k := i - 1; k >= 0 && k > i-maxSources && effects[k].By == effects[i].By; k-- {
		if effects[k].Kind == effect.Read {
			out = append(out, effects[k].Target)
		}
	}
	return out
}

// programFolders are those of a usual search path beside /usr/local/bin.
var programFolders = []string{"/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/sbin", "/opt/homebrew/bin",
	"/snap/bin"}

// homes are names of folders in which programs that are there look for more, with or without a version.
const homes = "bin sbin lib etc local homebrew pkg x11 google applications aclocal autoload ca cmake dbus dict emacs " +
	"fish fonts gdb gir git glib guile gtk icons keyrings locale lua mime modules node nvim perl php pkgconfig polkit " +
	"python qt r ruby security site systemd tcl terminfo texmf udev vim vulkan wayland xml xsessions zsh"

// isHome reports whether a name is one of homes.
func isHome(name string) bool {
	low := strings.ToLower(name)
	letters := low[:len(low)-len(strings.TrimLeft(low, "abcdefghijklmnopqrstuvwxyz"))]
	return wordset.Has(homes, low) || wordset.Has(homes, letters)
}

// tellers are parts of names that other programs call.
var tellers = []string{"askpass", "credential", "pinentry", "plugin", "hook", "shim"}

// isFree reports whether a new path below /usr/local or /opt is one from which nothing that is there runs
// or loads by itself: a program that no other calls, manuals, sources, and a folder with a name of its own.
func (e *Engine) isFree(p string) bool {
	if rest, ok := strings.CutPrefix(p, "/opt/"); ok {
		return e.isOwnFolder("/opt", rest)
	}
	rest, _ := strings.CutPrefix(p, "/usr/local/")
	first, name, deeper := strings.Cut(rest, "/")
	switch {
	case !deeper:
		return false
	case first == "bin":
		return !strings.Contains(name, "/") && e.isOwnName(name) && !e.isProgram(name)
	case first == "src", first == "opt":
		return e.isOwnFolder("/usr/local/"+first, name)
	}
	if tool, ok := completedTool(name); ok && first == "share" {
		return e.isOwnName(tool)
	}
	folder, _, inside := strings.Cut(name, "/")
	return first == "share" && (inside && wordset.Has("man doc", folder) || e.isOwnFolder("/usr/local/share", name))
}

// completedTool returns the program for which bash or fish load completions of a name below share, when somebody
// types that program. For zsh the text of a file says which programs it is for.
func completedTool(name string) (tool string, ok bool) {
	if tool, ok = strings.CutPrefix(name, "bash-completion/completions/"); !ok {
		if tool, ok = strings.CutPrefix(name, "fish/vendor_completions.d/"); ok {
			tool, ok = strings.CutSuffix(tool, ".fish")
		}
	}
	tool = strings.TrimLeft(strings.TrimSuffix(tool, ".bash"), "_")
	return tool, ok && !strings.Contains(tool, "/")
}

// isOwnFolder reports whether a path in a folder is, or lies in, something new with a name of its own.
func (e *Engine) isOwnFolder(in, name string) bool {
	name, _, _ = strings.Cut(name, "/")
	if !e.isOwnName(name) || isHome(name) {
		return false
	}
	for _, folder := range []string{in, "/usr/share", "/usr/lib", "/etc"} {
		if disk.Exists(e.analyzer.Files, folder+"/"+name) {
			return false
		}
	}
	return true
}

// isOwnName reports whether a name is neither that of a program that people have nor one that such a
// program looks for: git-x, docker-credential-x, x-askpass.
func (e *Engine) isOwnName(name string) bool {
	low := strings.ToLower(name)
	if low == "" || strings.Trim(low, "abcdefghijklmnopqrstuvwxyz0123456789-_.+") != "" || low[0] == '.' ||
		wordset.ContainsAny(low, tellers...) {
		return false
	}
	first := low[:len(low)-len(strings.TrimLeft(low, "abcdefghijklmnopqrstuvwxyz0123456789"))]
	for _, n := range []string{low, first, strings.TrimRight(first, "0123456789")} {
		if e.analyzer.Shell.Table.Find(n) != nil || wordset.Has(agents, n) || n != "" && e.isProgram(n) {
			return false
		}
	}
	return !wordset.HasAnyPrefix(low, callers...)
}

// agents are names of programs that act for people, and have their rights.
const agents = "claude codex gemini qwen copilot cursor opencode aider amp droid goose cline windsurf kiro " +
	"factory approver"

// callers are the beginnings of names by which programs that may be missing here call others.
var callers = strings.Fields("git docker podman kubectl kubectx krew helm ssh gpg cargo rust npm node yarn pnpm " +
	"pip py gh- aws az- gcloud terraform tofu vault protoc buildctl buildkit containerd containers- cni runc mount " +
	"umount fsck mkfs nss pam systemd dpkg apt rpm hg- svn- code- go- nix pass- x86 aarch arm ld. ld- cc- gcc " +
	"clang c++ g++ sudo doas")

// isProgram reports whether another folder of programs has one of a name.
func (e *Engine) isProgram(name string) bool {
	for _, folder := range programFolders {
		if disk.Exists(e.analyzer.Files, folder+"/"+name) {
			return true
		}
	}
	return false
}

// isReplaced reports whether a deleted folder of something that was installed is put there anew by the
// command directly behind: a folder that exists is moved or copied there, or a build installs itself.
func (e *Engine) isReplaced(j *judgment, i int) bool {
	ef := &j.call.Effects[i]
	target := strings.TrimSuffix(ef.Target, "/")
	if ef.Bits&(effect.Remote|effect.Splits|effect.Partial|effect.Rooted) != 0 || !effect.IsPlain(target) ||
		ef.By != "rm" || !isInstalled(target, j.call.Around.Home) || holdsData(path.Base(target)) {
		return false
	}
	behind := behindDelete(shell.Chain(j.call.Text), path.Base(target))
	if len(behind) == 0 {
		return false
	}
	if isInstall(behind) {
		return disk.Below(target, "/usr/local")
	}
	return isFolderCopy(behind) && e.putsFolder(j, i, target)
}

// putsFolder reports whether the effects after a delete put a folder that exists where it was.
func (e *Engine) putsFolder(j *judgment, i int, target string) bool {
	for k := i + 1; k < len(j.call.Effects); k++ {
		w := &j.call.Effects[k]
		if w.Kind != effect.Write || w.Bits&(effect.Remote|effect.Partial) != 0 || !isCopier(w.By) {
			continue
		}
		sources := copied(j.call.Effects, k)
		if len(sources) == 1 && w.Target == sources[0] { // it is moved away
			continue
		}
		if len(sources) != 1 || !effect.IsPlain(sources[0]) || disk.Below(sources[0], target) {
			return false
		}
		info, err := e.analyzer.Files.Lstat(sources[0])
		return err == nil && info.IsDir() &&
			(w.Target == target || path.Join(w.Target, path.Base(sources[0])) == target)
	}
	return false
}

// behindDelete returns the words of the command that && joins directly behind the only rm, which deletes
// nothing but one folder of a name.
func behindDelete(chain []shell.Link, name string) (words []string) {
	at := -1
	for i, l := range chain {
		if !slices.Contains(l.Words, "rm") {
			continue
		}
		operands := l.Operands()
		if l.Words[0] != "rm" || at >= 0 || len(operands) != 1 || path.Base(operands[0]) != name {
			return nil
		}
		at = i
	}
	if at < 0 || at+1 >= len(chain) || !chain[at+1].After {
		return nil
	}
	return chain[at+1].Words
}

// isFolderCopy reports whether words move a folder, or copy all of one.
func isFolderCopy(words []string) bool {
	if len(words) < 3 || !wordset.Has(copiers, words[0]) {
		return false
	}
	all := strings.HasSuffix(words[0], "mv")
	for _, w := range words[1:] {
		if flags, ok := strings.CutPrefix(w, "-"); ok {
			if strings.Trim(flags, "aRrpvfT") != "" {
				return false
			}
			all = all || strings.ContainsAny(flags, "aRr")
		}
	}
	return all
}

// isInstall reports whether words are a build's own installation, and nothing but that.
func isInstall(words []string) bool {
	rest := words[1:]
	switch words[0] {
	case "make", "gmake", "ninja":
		if len(rest) == 3 && rest[0] == "-C" {
			rest = rest[2:]
		}
		return len(rest) == 1 && rest[0] == "install"
	case "meson":
		return len(rest) > 0 && rest[0] == "install" && (len(rest) == 1 || len(rest) == 3 && rest[1] == "-C")
	case "cmake":
		return len(rest) == 2 && rest[0] == "--install"
	}
	return false
}

// notBuilt are places in which nothing is another project's build output.
const notBuilt = places.Outside | places.System | places.Top | places.Root | places.Whole | places.Project |
	places.Temp | places.Secret | places.Git | places.Unclear | places.Device

// isBuiltElsewhere reports whether a deleted folder is the build output of another project: its name says so,
// and so does a manifest beside it, with git knowing nothing in it, or the call builds it again.
func (e *Engine) isBuiltElsewhere(j *judgment, ef *effect.Effect) bool {
	target := strings.TrimSuffix(ef.Target, "/")
	dir, level := path.Dir(target), buildnames.Of(path.Base(target))
	if ef.Bits&(effect.Remote|effect.Splits|effect.Partial|effect.Rooted|effect.Glob) != 0 || !effect.IsPlain(target) ||
		level == buildnames.ByHand || level == buildnames.Maybe || strings.Count(dir, "/") < 2 ||
		dir == j.call.Around.Home {
		return false
	}
	if real, seen := j.call.Links.Real(e.analyzer.Files, target); !seen || real != target {
		return false
	}
	if ef.By == "rm" && !isOfPeople(dir) && buildsAgain(shell.Chain(j.call.Text), target) {
		return true
	}
	look := diskCheck{disk: e.analyzer.Files, around: &j.call.Around, links: &j.call.Links,
		git: gitrepo.Look{Reader: e.analyzer.Git, Budget: &j.gitBudget}}
	return look.manifest(dir) && look.isBuildFolder(target, level)
}

// isOfPeople reports whether a folder is the home of somebody, or lies where disks are mounted.
func isOfPeople(dir string) bool {
	return wordset.HasAnyPrefix(dir+"/", "/mnt/", "/media/", "/Volumes/", "/data/", "/srv/", "/net/") ||
		wordset.Has("/home /Users", path.Dir(dir))
}

// builds are the words with which programs build the project in whose folder they run. Behind them may be
// how many do it at once.
var builds = map[string]string{
	"make": " all build", "gmake": " all build", "ninja": " all", "cmake": "", "npm": "install|ci|run build",
	"pnpm": "install|run build|build", "yarn": "|install|build|run build", "bun": "install|run build",
	"cargo": "build", "go": "build", "mvn": "package|install|compile", "gradle": "build|assemble",
	"./gradlew": "build|assemble", "./mvnw": "package|install|compile", "meson": "compile", "dotnet": "build",
	"swift": "build",
}

// buildsProject reports whether a command builds the project in its folder.
func buildsProject(words []string) bool {
	told, ok := builds[words[0]]
	rest := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool {
		return strings.HasPrefix(w, "-j") && strings.Trim(w[2:], "0123456789") == "" || w == "--release" || w == "./..."
	})
	if strings.HasPrefix(told, " ") { // what is built is named, or nothing is
		return len(rest) == 0 || len(rest) == 1 && wordset.Has(told, rest[0])
	}
	if words[0] == "cmake" {
		return len(rest) == 2 && rest[0] == "--build" || len(rest) > 0 && rest[0] == "-B"
	}
	return ok && slices.Contains(strings.Split(told, "|"), strings.Join(rest, " "))
}

// buildsAgain reports whether a command deletes one folder, and what && joins directly behind it enters the
// folder above it and builds there.
func buildsAgain(chain []shell.Link, target string) bool {
	entered := false
	for i, l := range chain {
		switch name := l.Words[0]; {
		case i == 0:
			operands := l.Operands()
			if name != "rm" || len(operands) != 1 || strings.TrimSuffix(operands[0], "/") != target {
				return false
			}
		case !l.After:
			return false
		case name == "mkdir":
		case name == "cd" && len(l.Words) == 2:
			entered = strings.TrimSuffix(l.Words[1], "/") == path.Dir(target)
		default:
			return entered && buildsProject(l.Words)
		}
	}
	return false
}

// dataNames are parts of names of folders with data, which no copy of a program brings back.
var dataNames = strings.Fields("data db pg sql mongo redis maria elastic backup bak customer client user account " +
	"store storage upload volume registry secret key vault wallet mail container git state save log media home www site " +
	"archive document photo queue kafka influx prometheus grafana etcd consul ldap repo")

// holdsData reports whether a name is like that of a folder with data.
func holdsData(name string) bool { return wordset.ContainsAny(strings.ToLower(name), dataNames...) }

// isInstalled reports whether a path is one folder of something that people installed by themselves.
func isInstalled(p, home string) bool {
	if name := path.Base(p); isHome(name) || wordset.Has("games include lib32 lib64 libexec man share src opt", name) {
		return false
	}
	folders := []string{"/opt", "/usr/local", "/usr/local/share", "/usr/local/lib", "/usr/local/libexec",
		"/usr/local/include", "/usr/local/src"}
	return slices.Contains(folders, path.Dir(p)) ||
		strings.Count(home, "/") > 1 && wordset.Has("/.local/opt /.local/lib", strings.TrimPrefix(path.Dir(p), home))
}

// own matches a change of the owner to the user who runs it.
var own = lazyregexp.New(`\bchown(?:\s+-[Rvfch]+)*\s+["']?` +
	`(?:\$USER|\$\{USER\}|\$LOGNAME|\$\((?:whoami|id -un?|logname)\)|` + "`(?:whoami|id -un?)`)" + `["']?(?::|["'\s])`)

// ownFiles notes that files are given to the user who runs the call: nobody else gets them. What
// belongs to the system is another matter.
func (e *Engine) ownFiles(j *judgment, ef *effect.Effect, p places.Place) {
	const others = places.System | places.Root | places.Top | places.Device | places.Unclear
	if ef.What != "owner" || ef.By != "chown" || p&others != 0 ||
		wordset.ContainsAny(j.call.Text, "USER=", "LOGNAME=", "whoami()", "id()") {
		return
	}
	if n := strings.Count(j.call.Text, "chown"); n > 0 && len(own().FindAllStringIndex(j.call.Text, n+1)) == n {
		ef.What = "own"
	}
}
