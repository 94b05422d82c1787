package reflexcore

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/buildnames"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/urls"
)

// A Place is what a path or a URL is, as far as rules care. Places add up.
type Place uint64

// The places of paths; those of package content follow, then those of URLs.
const (
	Root        Place = 1 << iota // the whole file system, or what may be it
	System                        // the operating system's folders
	Top                           // a folder without which a machine is gone, or a whole home
	Home                          // somewhere below the home
	Project                       // below the working directory
	Whole                         // the working directory itself, all of it, or a folder above it
	Temp                          // temporary files
	Build                         // what builds make: output, caches, dependencies
	Device                        // a disk or another device
	Git                           // a repository's own files
	Unclear                       // the path is not known
	Outside                       // none of project, temp
	Secret                        // a credential
	Recoverable                   // version control has all of it
	Feature                       // a branch on which others do not build
	placeContent
)

const placeURL = placeContent << 17

// placeNames are the words of rules for places.
var placeNames = func() map[string]Place {
	m := map[string]Place{
		"root": Root, "system": System, "top": Top, "home": Home, "project": Project, "whole": Whole, "temp": Temp, "build-output": Build, "device": Device, "git": Git,
		"unknown": Unclear, "outside": Outside, "secret": Secret, "recoverable": Recoverable, "feature-branch": Feature,
	}
	for _, k := range content.Kinds() {
		if k != content.Unclear && k != content.Plain {
			m[k.String()] |= placeContent << k
		}
	}
	for i, name := range urlNames {
		m[name] = placeURL << i
	}
	return m
}()

// urlNames are the words for the flags of package urls, in their order.
var urlNames = []string{
	"malformed", "unknown-host", "unknown-part", "credentials", "metadata", "internal", "loopback", "drop", "raw-code", "secret-query", "secret-path", "long-label", "odd-port", "disguised",
	"lookalike", "local-file", "code-url", "odd-scheme", "plaintext", "address",
}

// surroundings are the folders of a call.
type surroundings struct {
	dir, home string
	tree      bool // dir is in a working tree that lies in one of the [served] folders
}

// place says what an effect's target is.
func (s *surroundings) place(e *effect.Effect, known *memo) Place {
	switch e.Kind {
	case effect.NetIn, effect.NetOut:
		if e.Target == "" || isPackage(e) || isPort(e.Target) {
			return 0
		}
		return placeURL * Place(urls.Classify(e.Target).Flags)
	case effect.Exec:
		if strings.IndexByte(e.Target, '/') >= 0 {
			return s.path(e, known)
		}
	case effect.Delete, effect.Write, effect.Read, effect.Permission, effect.Persist:
		return s.path(e, known)
	default: // of the others rules name the target itself
	}
	return 0
}

// packagers are the programs that fetch packages by name.
var packagers = map[string]bool{
	"npm": true, "pnpm": true, "yarn": true, "bun": true, "npx": true, "bunx": true, "pnpx": true, "pip": true, "pipx": true, "uv": true, "uvx": true, "poetry": true, "conda": true, "mamba": true, "rye": true, "pdm": true,
	"hatch": true, "brew": true, "apt": true, "apt-get": true, "dnf": true, "yum": true, "apk": true, "pacman": true, "zypper": true, "snap": true, "flatpak": true, "nix": true, "nix-env": true, "cargo": true, "go": true,
	"gem": true, "bundle": true, "composer": true, "dotnet": true, "nuget": true, "choco": true, "winget": true, "scoop": true, "opam": true, "stack": true, "cabal": true, "mix": true, "luarocks": true, "cpan": true, "port": true,
	"docker": true, "podman": true, "helm": true, "gh": true, "code": true, "asdf": true, "mise": true, "nvm": true, "pyenv": true, "rustup": true, "volta": true, "deno": true, "jsr": true, "easy_install": true,
}

// isPort reports whether a target is a small number: the value of a flag that no
// table names. As an address it would be one of 0.0.0.0/16.
func isPort(target string) bool {
	n, err := strconv.ParseUint(target, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == target && n > 0
}

// isPackage reports whether a target is the name of a package and no address.
func isPackage(e *effect.Effect) bool {
	if strings.Contains(e.Target, "://") {
		return false
	}
	by, _, _ := strings.Cut(e.By, " ")
	by = strings.TrimSuffix(strings.TrimSuffix(by, ".exe"), ".cmd")
	return packagers[by] || packagers[strings.TrimRight(by, "0123456789.-")] // pip3.11
}

func (s *surroundings) path(e *effect.Effect, known *memo) Place {
	p := e.Target
	if rest, ok := strings.CutPrefix(p, "secret:"); ok && rest != "" {
		return Secret
	}
	var out Place
	if p == "" {
		return 0
	}
	sink := known.classify(p)
	if sink.Secret && e.What != "cookies" && e.What != "setting" {
		out |= Secret
	}
	if sink.Kind != content.Unclear && sink.Kind != content.Plain {
		out |= placeContent << sink.Kind
	}
	if e.Bits&effect.Remote != 0 {
		return out | s.remote(p)
	}
	return out | s.local(p, e)
}

// remote looks only at whether it is all of another machine.
func (s *surroundings) remote(p string) Place {
	if isRoot(p) {
		return Root
	}
	if isTop(p) {
		return Top | System
	}
	return 0
}

func isRoot(p string) bool {
	switch strings.TrimRight(p, "/*.") {
	case "", effect.Unknown:
		return p != "" && p != effect.Unknown && p[0] != '.' && p[0] != '*'
	}
	if len(p) >= 2 && p[1] == ':' && strings.Trim(p[2:], `\/*.`) == "" {
		return true
	}
	return false
}

// systemDirs are the folders of the operating system, of the Unix family and of
// Windows.
var systemDirs = []string{
	"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/var", "/sys", "/proc", "/opt", "/srv", "/System", "/Library", "/Applications", "/private/etc", "/private/var", "/nix", "/snap", "/run",
	"c:/windows", "c:/program files", "c:/programdata",
}

// tops are the folders without which a machine, or its people's work, is gone.
var tops = []string{
	"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/var", "/sys", "/proc", "/dev", "/home", "/root", "/Users", "/System", "/Library", "/Applications", "/nix",
	"c:/windows", "c:/users", "c:/program files", "c:/programdata",
}

func isTop(p string) bool {
	if slices.Contains(tops, strings.TrimRight(p, "/*")) {
		return true
	}
	pattern := strings.TrimSuffix(strings.TrimRight(p, "/"), "/*")
	return strings.LastIndexByte(pattern, '/') == 0 && findsTop(pattern, tops)
}

// findsTop reports whether the first name of a path is a pattern that finds one of the
// folders of the root, and not just any.
func findsTop(p string, folders []string) bool {
	if p == "" || p[0] != '/' {
		return false
	}
	if end := strings.IndexByte(p[1:], '/'); end >= 0 {
		p = p[:end+1]
	}
	if !strings.ContainsAny(p, "*?[") || strings.Trim(p, "/*?") == "" {
		return false
	}
	return slices.ContainsFunc(folders, func(folder string) bool {
		ok, err := path.Match(p, folder)
		return ok || err != nil
	})
}

// isFilled reports whether a delete is one of a folder that is shown to be something, and
// that no dots lead out of. Only the rules of recursive deletes ask about a folder that
// nobody knows.
func isFilled(p string, e *effect.Effect) bool {
	return e.Bits&effect.Filled != 0 && e.Bits&effect.Recursive != 0 && !strings.Contains(p, "/.")
}

func (s *surroundings) local(p string, e *effect.Effect) Place {
	switch {
	case isRoot(p) && (effect.IsKnown(p) || e.Kind == effect.Permission || e.Kind == effect.Delete && !isFilled(p, e)):
		return Root | Top | Outside | System
	case !effect.IsKnown(p) && (p[0] == 0 || e.Bits&effect.Splits != 0 && p == effect.Unknown):
		return Unclear
	}
	if strings.IndexByte(p, '\\') >= 0 {
		p = strings.ToLower(strings.ReplaceAll(p, `\`, "/"))
	}
	bare := strings.TrimRight(p, "/*")
	if strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..") {
		bare = p[:strings.LastIndexByte(p, '/')]
	}
	out := s.folder(p, bare)
	if !effect.IsKnown(p) {
		out |= Unclear
	}
	if isTop(p) {
		out |= Top
	}
	if s.home != "" && (bare == s.home || matches(bare, s.home)) || disk.Below(s.home, bare) && bare != "" {
		out |= Top
	}
	if s.dir != "" && disk.Below(s.dir, bare) {
		out |= Whole
	}
	if strings.Contains(p, "/.git/") || strings.HasSuffix(p, "/.git") {
		out |= Git
	}
	if s.isBuilt(p) {
		out |= Build
	}
	if s.tree && out&(Project|System|Whole|Git|Top) == Project|System && (e.Kind == effect.Permission || e.Kind == effect.Delete && e.Bits&(effect.Recursive|effect.Glob|effect.Splits) == 0) {
		out &^= System // people's own work; but a folder that goes may be what is served
	}
	return out
}

// served are folders of the system in which people keep working trees of their own.
var served = []string{"/srv", "/opt", "/var/www", "/usr/src", "/usr/local/src"}

// inTree reports whether a folder is in a working tree of git in one of those folders: a
// name alone says nothing, since programs are installed there too.
func (e *Engine) inTree(dir string) bool {
	i := slices.IndexFunc(served, func(s string) bool { return disk.Below(dir, s) })
	if i < 0 || disk.Below(dir, "/opt/homebrew") {
		return false
	}
	for at := dir; at != served[i]; at = path.Dir(at) {
		if _, err := e.files.Lstat(path.Join(at, ".git")); err == nil || !disk.IsMissing(err) {
			return err == nil
		}
	}
	return false
}

// folder says in which of the great folders a path lies.
func (s *surroundings) folder(p, bare string) Place {
	var out Place
	switch {
	case strings.HasPrefix(p, "/dev/"):
		if isDisk(p) {
			return Device | Outside
		}
		if disk.Below(p, "/dev/shm") {
			return Temp
		}
		return 0
	case disk.Below(p, "/tmp"), disk.Below(p, "/var/tmp"), disk.Below(p, "/private/tmp"), disk.Below(p, "/var/folders"), disk.Below(p, "/private/var/folders"):
		if bare == "/tmp" || bare == "/var/tmp" {
			return Temp | Outside
		}
		return Temp
	case s.dir != "" && s.dir != "/" && disk.Below(p, s.dir):
		out = Project
	default:
		out = Outside
	}
	for _, d := range systemDirs {
		if disk.Below(p, d) {
			return out | System
		}
	}
	if findsTop(p, systemDirs) {
		return out | System
	}
	if s.home != "" && disk.Below(p, s.home) || disk.Below(p, "/root") {
		out |= Home
	}
	return out
}

// matches reports whether a path is a pattern that finds a folder.
func matches(pattern, folder string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	ok, err := path.Match(pattern, folder)
	return ok && err == nil
}

// isDisk reports whether a device holds data.
func isDisk(p string) bool {
	for _, prefix := range []string{"/dev/sd", "/dev/hd", "/dev/nvme", "/dev/vd", "/dev/xvd", "/dev/disk", "/dev/mapper/", "/dev/md", "/dev/mmcblk", "/dev/rdisk", "/dev/dm-", "/dev/loop", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/zd", "/dev/ram"} {
		if strings.HasPrefix(p, prefix) {
			return true
		}
	}
	return false
}

// isBuilt reports whether a path is made by builds and tools, as far as names
// tell. Outside the project only caches are, and names that mean nothing else.
func (s *surroundings) isBuilt(p string) bool {
	if s.dir == "" && s.home == "" && !strings.HasPrefix(p, "/") { // nothing is known of the place
		m, _ := buildnames.First(p)
		return m != buildnames.ByHand || buildnames.IsFile(path.Base(p))
	}
	if rest, ok := strings.CutPrefix(p, s.dir+"/"); ok && s.dir != "" {
		if strings.Contains(rest, ":") { // on another machine
			return false
		}
		m, _ := buildnames.First(rest)
		return m != buildnames.ByHand || buildnames.IsFile(path.Base(rest))
	}
	if buildnames.IsCache(s.home, p) || buildnames.IsCache("/root", p) {
		return true
	}
	if rest, ok := strings.CutPrefix(p, s.home+"/"); ok && s.home != "" {
		for part := range strings.SplitSeq(strings.TrimRight(rest, "/*"), "/") {
			if buildnames.Of(part) == buildnames.Always && part != ".cache" && part != ".npm" && part != ".gradle" && part != ".ivy2" && part != ".pub-cache" && part != ".tmp" && part != ".temp" {
				return true
			}
		}
	}
	return false
}

// isProject reports whether a working directory can be one: nobody's home, and no
// folder of the system.
func isProject(dir, home string) bool {
	if dir == "" || dir == home || isTop(dir) || slices.Contains(systemDirs, dir) || home != "" && disk.Below(home, dir) {
		return false
	}
	for _, homes := range []string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(dir, homes); ok && !strings.Contains(rest, "/") {
			return false
		}
	}
	for _, d := range []string{"/etc", "/usr/bin", "/usr/lib", "/usr/sbin", "/usr/share", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/sys", "/proc", "/dev", "/System", "/Library", "/nix", "/private/etc", "/var/lib", "/private/var/db"} {
		if disk.Below(dir, d) {
			return false
		}
	}
	if !strings.Contains(dir, "/.") {
		return true
	}
	for _, secret := range []string{"/.ssh", "/.gnupg", "/.aws", "/.kube", "/.git"} {
		if strings.HasSuffix(dir, secret) || strings.Contains(dir, secret+"/") {
			return false
		}
	}
	return true
}
