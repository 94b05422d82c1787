package reflexcore

import (
	"path"
	"regexp"
	"strings"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
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

// isCopier reports whether a program puts what it reads into a folder under the same name.
func isCopier(by string) bool { return wordset.Has("mv gmv cp gcp install ginstall ln", by) }

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

// loaded are folders of libraries and data from which programs that are there load by themselves.
var loaded = strings.Fields("python perl ruby site_ruby node_modules systemd security udev modules php " +
	"bash-completion zsh fish applications dbus polkit xsessions ca-certificates git-core")

// isFree reports whether a new path below /usr/local or /opt is one from which nothing that is there
// runs or loads by itself.
func (e *Engine) isFree(p string) bool {
	rest, ok := strings.CutPrefix(p, "/usr/local/")
	if !ok {
		return strings.HasPrefix(p, "/opt/")
	}
	first, name, deeper := strings.Cut(rest, "/")
	switch first {
	case "bin":
		return deeper && !strings.Contains(name, "/") && !e.isProgram(name)
	case "etc", "sbin", "libx32", "lib32", "lib64":
		return false
	case "include", "src", "man":
		return deeper
	case "lib", "libexec", "share":
		folder, below, _ := strings.Cut(name, "/")
		if first == "share" && below != "" && wordset.Has("man doc info licenses fonts icons", folder) {
			return true
		}
		return deeper && (below != "" || first == "share") && !wordset.HasAnyPrefix(folder, loaded...) &&
			!disk.Exists(e.analyzer.Files, "/usr/local/"+first+"/"+folder)
	}
	return !disk.Exists(e.analyzer.Files, "/usr/local/"+first)
}

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
// same call, from what it reads or builds.
func (e *Engine) isReplaced(j *judgment, i int) bool {
	ef := &j.call.Effects[i]
	target := strings.TrimSuffix(ef.Target, "/")
	if ef.Bits&(effect.Remote|effect.Splits|effect.Partial|effect.Rooted) != 0 || !effect.IsPlain(target) ||
		!isInstalled(target, j.call.Around.Home) || wordset.ContainsAny(j.call.Text, "||", "--help", "mount") ||
		wordset.Says(j.call.Text, stops) {
		return false
	}
	for k := i + 1; k < len(j.call.Effects); k++ {
		w := &j.call.Effects[k]
		if w.Kind != effect.Write || effect.OnlyMakes(w) || w.Bits&(effect.Remote|effect.Partial) != 0 {
			continue
		}
		if w.Target == target && w.What != effect.Emptied {
			return true
		}
		if w.Target == path.Dir(target) && isCopier(w.By) {
			for _, name := range copied(j.call.Effects, k) {
				if path.Base(name) == path.Base(target) {
					return true
				}
			}
		}
	}
	return disk.Below(target, "/usr/local") && installs.MatchString(j.call.Text)
}

// stops are words after which the rest of a call may not run.
var stops = wordset.Of("exit return false break continue exec trap kill")

// installs matches a build's own installation.
var installs = regexp.MustCompile(`\b(?:make|gmake|ninja|meson|just|cmake)\b[^;&|\n]*[ -]install\b`)

// isInstalled reports whether a path is one folder of something that people installed by themselves.
func isInstalled(p, home string) bool {
	for _, folder := range []string{"/opt", "/usr/local", "/usr/local/share", "/usr/local/lib", "/usr/local/libexec",
		"/usr/local/include", "/usr/local/src"} {
		if path.Dir(p) == folder {
			return !wordset.Has("bin etc games include lib lib32 lib64 libexec man sbin share src", path.Base(p)) &&
				(!strings.HasPrefix(p, "/usr/local/") || !wordset.HasAnyPrefix(path.Base(p), loaded...))
		}
	}
	rest, ok := strings.CutPrefix(p, home+"/.local/")
	return ok && home != "" && strings.Count(rest, "/") > 0
}

// own matches a change of the owner to the user who runs it.
var own = regexp.MustCompile(`\bchown(?:\s+-\S+)*\s+["']?` +
	`(?:\$USER|\$\{USER\}|\$LOGNAME|\$\((?:whoami|id -un?|logname)\)|` + "`(?:whoami|id -un?)`)" + `["']?(?::|["'\s])`)

// ownFiles notes that files are given to the user who runs the call: nobody else gets them. What
// belongs to the system is another matter.
func (e *Engine) ownFiles(j *judgment, ef *effect.Effect, p places.Place) {
	const others = places.System | places.Root | places.Top | places.Device | places.Unclear
	if ef.What != "owner" || ef.By != "chown" || p&others != 0 ||
		wordset.ContainsAny(j.call.Text, "USER=", "LOGNAME=", "whoami()", "id()") {
		return
	}
	if n := strings.Count(j.call.Text, "chown"); n > 0 && len(own.FindAllStringIndex(j.call.Text, n+1)) == n {
		ef.What = "own"
	}
}
