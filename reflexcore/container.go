package reflexcore

import (
	"path"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/wordset"
)

// This file finds out what a call changes in a container: only the container's own system, which is
// made from an image and gone with it, or what stays. When in doubt, it stays. Which rules leave the
// system of a container alone is said in them: never: [container].

// inContainer reports whether an effect at a place changes only the system of the call's container.
func (e *Engine) inContainer(j *judgment, ef *effect.Effect, p places.Place) bool {
	if ef.Bits&effect.Contained != 0 && listens(ef) {
		return true
	}
	if j.call.ToolCall.Container == nil || ef.Bits&(effect.Remote|effect.Later) != 0 || j.leavesRoot() {
		return false
	}
	if j.letsIn(ef) {
		return false
	}
	switch ef.Kind {
	case effect.Privilege, effect.Kill, effect.Discard: // packages
		return true
	case effect.Permission:
		return isAccount(ef) && !j.isMounted("/etc/passwd") || j.isOwnSetting(ef) || e.isOwn(j, ef, p)
	case effect.Persist: // that of services; what starts with a shell is the user's
		return wordset.Has(analysis.Services, ef.Program()) && !touches(j.call.ToolCall.Container.Mounts, j.call.Around.Home)
	case effect.Publish: // only what the container's ports let through is reached
		return ef.Target == "control" || ef.What == "control" ||
			ef.What == effect.Folder && !touches(j.call.ToolCall.Container.Mounts, ef.Target)
	case effect.Write:
		if p&places.Secret != 0 && (ef.Taint&effect.Network == 0 || isKeyring(ef.Target)) &&
			(isSudo(ef.Target) || e.isNew(ef)) {
			p &^= places.Secret
			return p&(places.System|places.Home) != 0 && e.isOwn(j, ef, p)
		}
		return p&places.System != 0 && (!isSudo(ef.Target) || ef.Taint&effect.Network == 0) && e.isOwn(j, ef, p) &&
			!e.replacesUsed(j, ef)
	case effect.Delete:
		return (p&places.System != 0 || isDotFolder(ef.Target, j.call.Around.Home)) &&
			(effect.IsKnown(ef.Target) || j.isFound(ef)) && !keepsData(ef.Target) &&
			e.isOwn(j, ef, p) && !e.holdsOther(j, ef) && !e.holdsWork(j, ef)
	default:
		return false
	}
}

// listens reports whether an effect only opens something to who reaches the machine that it runs on.
func listens(ef *effect.Effect) bool {
	const listeners = "control port folder share"
	return ef.Kind == effect.Publish && (wordset.Has(listeners, ef.Target) || wordset.Has(listeners, ef.What))
}

// ownSettings are the programs that change settings of the system, and the files in which it has them.
var ownSettings = map[string][]string{
	"ldconfig":           {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"},
	"passwd":             {"/etc/shadow", "/etc/passwd"},
	"chpasswd":           {"/etc/shadow", "/etc/passwd"},
	"chsh":               {"/etc/passwd"},
	"add-apt-repository": {"/etc/apt"},
	"apt-add-repository": {"/etc/apt"},
	"apt-key":            {"/etc/apt"},
	"dnf":                {"/etc/dnf", "/etc/yum.repos.d", "/etc/pki"},
	"yum":                {"/etc/yum.conf", "/etc/yum.repos.d", "/etc/pki"},
	"zypper":             {"/etc/zypp", "/etc/pki"},
	"rpm":                {"/etc/pki", "/var/lib/rpm"},
	"git":                {"/etc/gitconfig"},
}

// isOwnSetting reports whether a program changes a setting that the container's own system has. Of git
// it is only which repositories it works in at all.
func (j *judgment) isOwnSetting(ef *effect.Effect) bool {
	files := ownSettings[ef.Program()]
	if ef.Program() == "git" && (ef.What != "trusted-repository" || j.isMounted(j.call.Around.Home)) {
		return false
	}
	return len(files) > 0 && !slices.ContainsFunc(files, j.isMounted)
}

// isMounted reports whether a path is, has or lies in something that is not the container's own.
func (j *judgment) isMounted(p string) bool { return touches(j.call.ToolCall.Container.Mounts, p) }

// letsIn reports whether an effect says who may log in, and lets in everybody, or the call lets others reach the
// container by ssh.
func (j *judgment) letsIn(ef *effect.Effect) bool {
	logins := ef.Kind == effect.Permission && (isAccount(ef) || wordset.Has("passwd chpasswd", ef.Program())) ||
		ef.Kind == effect.Write && (disk.Below(ef.Target, "/etc/ssh") || disk.Below(ef.Target, "/etc/pam.d") ||
			wordset.Has("/etc/passwd /etc/shadow", ef.Target))
	return logins && (strings.Contains(j.call.Text, "pam_permit") || startsLogins().MatchString(j.call.Text))
}

// startsLogins matches commands that start the server of ssh.
var startsLogins = lazyregexp.New(`(?:^|[\s;&|]|bin/)sshd(?:$|[\s;&|])|\b(?:service|rc-service)\s+sshd?\s|` +
	`\bsystemctl\s[^;&|\n]*\bsshd?\b|init\.d/sshd?\b|\bdropbear\b`)

// isSudo reports whether a file says who may become root, and nothing else.
func isSudo(p string) bool {
	return effect.IsPlain(p) && (p == "/etc/sudoers" || disk.Below(p, "/etc/sudoers.d"))
}

// isKeyring reports whether a file has public keys of those who make packages.
func isKeyring(p string) bool {
	return disk.Below(p, "/etc/apt") || disk.Below(p, "/usr/share/keyrings") || disk.Below(p, "/etc/pki/rpm-gpg")
}

// isNew reports whether what is written is not there yet, so that nothing is replaced.
func (e *Engine) isNew(ef *effect.Effect) bool {
	if !effect.IsPlain(ef.Target) {
		return false
	}
	_, err := e.analyzer.Files.Lstat(ef.Target)
	return disk.IsMissing(err)
}

// isDotFolder reports whether a path is, or lies in, a folder of a home in which tools keep what they need, and
// can get again: ~/.ghc. Folders with other names are those of people.
func isDotFolder(p, home string) bool {
	rest, ok := strings.CutPrefix(p, "/root/")
	if !ok && strings.Count(home, "/") > 0 && len(home) > 1 {
		rest, ok = strings.CutPrefix(p, home+"/")
	}
	if !ok || !effect.IsPlain(p) || len(rest) < 2 || rest[0] != '.' || strings.Contains(rest, "..") {
		return false
	}
	name, _, _ := strings.Cut(rest[1:], "/")
	return wordset.Has(ownFolders, name)
}

// ownFolders are the names of such folders, without their dot.
const ownFolders = "ghc ghcup cabal stack cargo rustup npm npm-global nvm node-gyp node yarn pnpm " +
	"pnpm-store bun deno " +
	"cache m2 gradle ivy2 sbt pyenv rbenv nodenv jenv goenv phpenv bundle gem rvm composer conda virtualenvs " +
	"venv venvs tox " +
	"nuget dotnet sdkman opam asdf mise pub-cache dart cpan cpanm ccache conan conan2 vcpkg platformio elan juliaup " +
	"hex mix luarocks pip poetry uv vscode-server cursor-server electron electron-gyp cocoapods swiftpm zef cmake " +
	"oh-my-zsh linuxbrew texlive keras nltk_data ipython jupyter"

// holdsWork reports whether a folder of a home is, holds or lies in a working tree of git with work of its own.
func (e *Engine) holdsWork(j *judgment, ef *effect.Effect) bool {
	if !isDotFolder(ef.Target, j.call.Around.Home) {
		return false
	}
	look := e.diskCheck(j)
	return look.holdsWork(ef.Target)
}

// leavesRoot reports whether a part of the call runs in another root folder, or among other mounts:
// the paths in it say nothing about the container.
func (j *judgment) leavesRoot() bool {
	return slices.ContainsFunc(j.call.Effects, func(e effect.Effect) bool {
		return e.Kind == effect.Privilege && wordset.Has("chroot namespace host cluster", e.Target)
	})
}

// keepsData reports whether a folder of the system has people's data, such as databases, web sites
// and mail. Below /var that is everything but what is known to be made again.
func keepsData(p string) bool {
	below := func(folder string) bool { return disk.Below(p, folder) }
	return below("/srv") || below("/var/www") || below("/var") && !slices.ContainsFunc(madeAgain, below)
}

var madeAgain = strings.Fields(`/var/cache /var/log /var/run /var/lock /var/lib/apt /var/lib/dnf /var/lib/yum
	/var/lib/pacman /var/lib/dpkg /var/lib/rpm /var/lib/apk`)

// isAccount reports whether an effect changes the accounts of the machine. Those of a service, such
// as a database, are not the container's own.
func isAccount(ef *effect.Effect) bool {
	return wordset.Has(analysis.Accounts, path.Base(ef.Program()))
}

// neverOwn are the places that stay, or that a container needs as a whole.
const neverOwn = places.Root | places.Top | places.Whole | places.Project | places.Git | places.Secret | places.Device

// isOwn reports whether a path is on the container's own file system, with all that is below it, and
// so is what its links lead to.
func (e *Engine) isOwn(j *judgment, ef *effect.Effect, p places.Place) bool {
	static, isName := ef.Target, true
	if i := strings.IndexAny(static, "*?[{\x00"); i >= 0 {
		static, isName = static[:strings.LastIndexByte(static[:i], '/')+1], false
	}
	static = path.Clean(static)
	if j.isFound(ef) {
		p &^= places.Secret // which only the unknown part may hold
	}
	if p&neverOwn != 0 || !strings.HasPrefix(static, "/") || !isName && strings.Count(static, "/") < 2 &&
		(!j.isFound(ef) || j.call.Around.Path(static, ef)&neverOwn != 0) {
		return false
	}
	if !effect.IsKnown(ef.Target) && ef.Bits&(effect.Recursive|effect.Splits|effect.Glob) != 0 && !j.isFound(ef) {
		return false
	}
	real, seen := j.call.Links.Real(e.analyzer.Files, static)
	if !seen {
		return false
	}
	other := *ef
	other.Target = real
	if real != static && j.call.Around.Path(real, &other)&neverOwn != 0 {
		return false
	}
	return !places.InTree(e.analyzer.Files, real) && !touches(j.call.ToolCall.Container.Mounts, static) &&
		!touches(j.call.ToolCall.Container.Mounts, real)
}

// isFound reports whether what is not known of a path is what find finds below a folder that is written
// out. A variable may lead out of the folder, or be empty.
func (j *judgment) isFound(ef *effect.Effect) bool {
	static, rest, _ := strings.Cut(ef.Target, "/"+effect.Unknown)
	return effect.IsPlain(static) && (rest == "" || rest[0] == '/') && strings.Contains(j.call.Text, "find "+static+" ") &&
		!wordset.ContainsAny(j.call.Text, static+"/$", static+"/`", static+"/\"$", static+"\"/", static+"/{", "find()")
}

// holdsOther reports whether what a call deletes as a whole may hold what is not of the container's own
// system: the call itself moves or links it there, or follows the links in it.
func (e *Engine) holdsOther(j *judgment, ef *effect.Effect) bool {
	if ef.By == "find" && wordset.Says(j.call.Text, followsLinks) {
		return true
	}
	for i := range j.call.Effects {
		w := &j.call.Effects[i]
		if w.Kind != effect.Write || !effect.Moves(w) && (!effect.Links(w) || ef.Bits&effect.Recursive == 0) ||
			!disk.Below(w.Target, ef.Target) && !disk.Below(ef.Target, w.Target) {
			continue
		}
		if !e.isFromSystem(j, w, places.System|places.Temp) {
			return true
		}
	}
	return false
}

// followsLinks are the words with which find goes where links lead.
var followsLinks = wordset.Of("-L -follow")

// isFromSystem reports whether all that a program of a call writes somewhere comes from the container's
// own system, at one of the places.
func (e *Engine) isFromSystem(j *judgment, w *effect.Effect, at places.Place) bool {
	some := false
	for i := range j.call.Effects {
		from := &j.call.Effects[i]
		if from.Kind != effect.Read || from.By != w.By || from.Target == w.Target {
			continue
		}
		p := j.call.Around.Path(from.Target, from)
		if some = true; p&at == 0 || !e.isOwn(j, from, p) {
			return false
		}
	}
	return some
}

// searchPath are the folders in which programs are looked for.
var searchPath = append([]string{"/usr/local/bin"}, programFolders...)

// trusted are programs that people trust, and others that everybody runs, and nobody brings.
const trusted = analysis.Trusted + " " +
	"ls cat ps bash sh dash zsh env id cp mv rm mkdir chmod chown grep find scp sftp ssh-add ssh-agent ssh-keygen passwd"

// replacesUsed reports whether a call puts something from elsewhere in the place of a program that is
// there, or before it, and runs it: what runs then has the rights of the program, also on what is mounted.
// It need not run one that people trust, or be there before.
func (e *Engine) replacesUsed(j *judgment, ef *effect.Effect) bool {
	dir, name := path.Split(ef.Target)
	if !slices.Contains(searchPath, path.Clean(dir)) || !wordset.Has(trusted, name) && !runsNamed(j.call.Text, name) ||
		e.isFromSystem(j, ef, places.System) {
		return false
	}
	return wordset.Has(trusted, name) || slices.ContainsFunc(searchPath,
		func(folder string) bool { return disk.Exists(e.analyzer.Files, folder+"/"+name) })
}

// runsNamed reports whether a call has a name as a word of its own.
func runsNamed(text, name string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()`\"'", r) }) {
		if word == name {
			return true
		}
	}
	return false
}

// touches reports whether a path is one of the mounts, or lies below or above one.
func touches(mounts []string, p string) bool {
	return slices.ContainsFunc(mounts, func(m string) bool { return disk.Below(p, m) || disk.Below(m, p) })
}
