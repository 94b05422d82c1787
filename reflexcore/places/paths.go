package places

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
	"approver.example/reflexcore/wordset"
)

// Surroundings are the folders in which a call works.
type Surroundings struct {
	Dir, Home string
	Tree      bool // dir is in a working tree that lies in one of the [servedFolders]
}

// Around returns the surroundings of a call from a directory. The tree is not known yet.
func Around(dir, home string) Surroundings {
	s := Surroundings{Dir: strings.TrimSuffix(dir, "/"), Home: strings.TrimSuffix(home, "/")}
	if !isProject(s.Dir, s.Home) {
		s.Dir = ""
	}
	return s
}

// Of returns the place of an effect's target.
func (s *Surroundings) Of(e *effect.Effect, known *Cache) Place {
	switch e.Kind {
	case effect.NetIn, effect.NetOut:
		if e.Target == "" || IsPackage(e) || isPort(e.Target) {
			return 0
		}
		return URL * Place(urls.Classify(e.Target).Flags)
	case effect.Exec:
		if strings.IndexByte(e.Target, '/') >= 0 {
			return s.path(e, known)
		}
	case effect.Read:
		if e.Target != "environment" { // which is no file
			return s.path(e, known)
		}
	case effect.Delete, effect.Write, effect.Permission, effect.Persist:
		return s.path(e, known)
	case effect.Publish:
		if e.What == effect.Folder {
			return s.path(e, known)
		}
	default: // of the others rules name the target itself
	}
	return 0
}

// packagers are programs that fetch packages by name.
var packagers = wordset.Of("npm pnpm yarn bun npx bunx pnpx pip pipx uv uvx poetry conda mamba rye pdm hatch " +
	"micromamba brew apt apt-get dnf yum apk pacman zypper snap flatpak nix nix-env cargo go gem bundle composer dotnet " +
	"nuget choco winget scoop opam stack cabal mix luarocks cpan port docker podman helm gh code asdf mise nvm " +
	"pyenv rustup volta deno jsr easy_install")

// isPort reports whether a target is a small number, which is the value of a flag that no table has.
// As an address it would be in 0.0.0.0/16.
func isPort(target string) bool {
	n, err := strconv.ParseUint(target, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == target && n > 0
}

// IsPackage reports whether a target is the name of a package and not an address.
func IsPackage(e *effect.Effect) bool {
	if strings.Contains(e.Target, "://") {
		return false
	}
	by := strings.TrimSuffix(strings.TrimSuffix(e.Program(), ".exe"), ".cmd")
	return packagers[by] || packagers[strings.TrimRight(by, "0123456789.-")] // pip3.11
}

func (s *Surroundings) path(e *effect.Effect, known *Cache) Place {
	p := e.Target
	if rest, ok := strings.CutPrefix(p, "secret:"); ok && rest != "" {
		return Secret
	}
	var out Place
	if p == "" {
		return 0
	}
	sink := known.Classify(p)
	if sink.Secret && e.What != "cookies" && e.What != "setting" {
		out |= Secret
	}
	if sink.Kind != content.Unclear && sink.Kind != content.Plain {
		out |= Content << sink.Kind
	}
	if e.Bits&effect.Remote != 0 {
		return out | onOther(p)
	}
	return out | s.Path(p, e)
}

// onOther returns the place of a path on another machine: only whether it is the whole machine.
func onOther(p string) Place {
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

// systemDirs are the folders of the operating system, on Unix and on Windows.
var systemDirs = []string{
	"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/var", "/sys", "/proc", "/opt", "/srv",
	"/System", "/Library", "/Applications", "/private/etc", "/private/var", "/nix", "/snap", "/run",
	"c:/windows", "c:/program files", "c:/programdata",
}

// topFolders are folders without which a machine or its users' work is lost.
var topFolders = []string{
	"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/var", "/sys", "/proc", "/dev", "/home",
	"/root", "/Users", "/System", "/Library", "/Applications", "/nix",
	"c:/windows", "c:/users", "c:/program files", "c:/programdata",
}

func isTop(p string) bool {
	if slices.Contains(topFolders, strings.TrimRight(p, "/*")) {
		return true
	}
	pattern := strings.TrimSuffix(strings.TrimRight(p, "/"), "/*")
	return strings.LastIndexByte(pattern, '/') == 0 && matchesTop(pattern, topFolders)
}

// matchesTop reports whether the first name of a path is a pattern that matches one of the top
// folders but not every name.
func matchesTop(p string, folders []string) bool {
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

// isFilled reports whether an effect deletes below a folder whose name is not known but checked not to
// be empty, as in "${X:?}/x". Only the rules of recursive deletes and of patterns ask about such folders.
func isFilled(p string, e *effect.Effect) bool {
	return e.Bits&effect.Filled != 0 && e.Bits&(effect.Recursive|effect.Glob) != 0 && !strings.Contains(p, "/.")
}

// Path returns the place of a path on this machine, from its text alone.
func (s *Surroundings) Path(p string, e *effect.Effect) Place {
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
	if e.Kind == effect.Delete && (isPackageCache(p) || isBytecode(p)) {
		return Build | Outside
	}
	out := s.Folder(p, bare)
	if !effect.IsKnown(p) {
		out |= Unclear
	}
	if isTop(p) {
		out |= Top
	}
	if s.Home != "" && (bare == s.Home || matches(bare, s.Home)) || disk.Below(s.Home, bare) && bare != "" {
		out |= Top
	}
	if s.Dir != "" && disk.Below(s.Dir, bare) {
		out |= Whole
	}
	if inside, ok := cutGit(p); ok {
		if e.Kind == effect.Delete && isLeftOver(inside) {
			return out | Recoverable
		}
		out |= Git
	}
	if s.isBuilt(p) {
		out |= Build
	}
	if s.Tree && out&(Project|System|Whole|Git|Top) == Project|System &&
		(e.Kind == effect.Permission || e.Kind == effect.Delete && e.Bits&(effect.Recursive|effect.Glob|effect.Splits) == 0) {
		out &^= System // people's own work; a deleted folder, however, may be what is served
	}
	return out
}

// packageCaches are folders in which package managers keep what they can fetch again.
var packageCaches = strings.Fields("/var/lib/apt/lists /var/cache/apt /var/cache/yum /var/cache/dnf /var/cache/apk " +
	"/var/cache/zypp /var/cache/pacman/pkg /var/cache/libdnf5")

// isPackageCache reports whether a path is known to lie in one of them.
func isPackageCache(p string) bool {
	return strings.HasPrefix(p, "/var/") && effect.IsKnown(p) && !strings.Contains(p, "/..") && belowAny(p, packageCaches)
}

// isBytecode reports whether a path of the system is a folder in which Python keeps what it compiled, and compiles
// again.
func isBytecode(p string) bool {
	return strings.HasPrefix(p, "/usr/") && !strings.Contains(p, "/..") &&
		strings.TrimLeft(path.Base(p), "*") == "__pycache__"
}

// cutGit returns the name of a path in the folder of a repository's own files.
func cutGit(p string) (string, bool) {
	if i := strings.Index(p, "/.git/"); i >= 0 {
		return p[i+len("/.git/"):], true
	}
	return "", strings.HasSuffix(p, "/.git")
}

// isLeftOver reports whether a file or folder in a repository is what git leaves behind when it is
// interrupted, and tells people to remove, or an example of a hook.
func isLeftOver(name string) bool {
	name = strings.TrimSuffix(name, "/")
	return strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "hooks/") && strings.HasSuffix(name, ".sample") ||
		name == "rebase-merge" || name == "rebase-apply" || name == "sequencer"
}

// servedFolders are system folders in which people keep working trees.
var servedFolders = []string{"/srv", "/opt", "/var/www", "/usr/src", "/usr/local/src"}

// InTree reports whether a folder is in a git working tree below one of the served folders. The name
// alone is not enough, because programs are installed there, too.
func InTree(d disk.Disk, dir string) bool {
	i := slices.IndexFunc(servedFolders, func(s string) bool { return disk.Below(dir, s) })
	if i < 0 || disk.Below(dir, "/opt/homebrew") {
		return false
	}
	for at := dir; at != servedFolders[i]; at = path.Dir(at) {
		if _, err := d.Lstat(path.Join(at, ".git")); err == nil || !disk.IsMissing(err) {
			return err == nil
		}
	}
	return false
}

// temporary are the folders for temporary files. One in which a call works is a project all the same:
// what an agent is given to work on may lie below /tmp.
var temporary = []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders",
	"/dev/shm"}

// Folder returns which of the main folders a path lies in.
func (s *Surroundings) Folder(p, bare string) Place {
	var out Place
	inTemp := belowAny(p, temporary)
	switch {
	case strings.HasPrefix(p, "/dev/") && !inTemp:
		if IsDisk(p) {
			return Device | Outside
		}
		return 0
	case s.Dir != "" && s.Dir != "/" && disk.Below(p, s.Dir) && !slices.Contains(temporary, s.Dir):
		if out = Project; inTemp {
			return out
		}
	case inTemp:
		if slices.Contains(temporary, bare) {
			return Temp | Outside
		}
		return Temp
	default:
		out = Outside
	}
	if belowAny(p, systemDirs) || matchesTop(p, systemDirs) {
		return out | System
	}
	if s.Home != "" && disk.Below(p, s.Home) || disk.Below(p, "/root") {
		out |= Home
	}
	return out
}

// matches reports whether a path is a pattern that matches a folder.
func matches(pattern, folder string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	ok, err := path.Match(pattern, folder)
	return ok && err == nil
}

// IsDisk reports whether a device holds data.
func IsDisk(p string) bool {
	rest, ok := strings.CutPrefix(p, "/dev/")
	return ok && (wordset.HasAnyPrefix(rest, disks...) ||
		wordset.HasAnyPrefix(strings.TrimPrefix(rest, "r"), numberedDisks...))
}

// disks are how the names of block devices and of memory begin: Linux, macOS, the volume managers.
var disks = strings.Fields("sd hd nvme vd xvd disk mapper/ md mmcblk rdisk dm- loop mem kmem port zd ram pmem dax " +
	"dasd nbd rbd bcache drbd mtd ubi zvol/ block/ cciss/ ubd vblk rssd skd zram nvd nda vtbd mfid mfisyspd aacd gpt/ " +
	"label/ ufsid/ diskid/")

// numberedDisks are those of BSD, whose short names begin other words too.
var numberedDisks = func() []string {
	var out []string
	for _, name := range []string{"da", "ada", "ad", "wd", "cd"} {
		for digit := '0'; digit <= '9'; digit++ {
			out = append(out, name+string(digit))
		}
	}
	return out
}()

// isBuilt reports whether a path, by its name, is made by builds and tools. Outside of the project
// only caches and unambiguous names count.
func (s *Surroundings) isBuilt(p string) bool {
	named := func(rest string) bool {
		m, _ := buildnames.First(rest)
		return m != buildnames.ByHand || buildnames.IsFile(path.Base(rest))
	}
	if s.Dir == "" && s.Home == "" && !strings.HasPrefix(p, "/") { // nothing is known of the place
		return named(p)
	}
	if rest, ok := strings.CutPrefix(p, s.Dir+"/"); ok && s.Dir != "" {
		return !strings.Contains(rest, ":") && named(rest) // with a colon it is on another machine
	}
	if buildnames.IsCache(s.Home, p) || buildnames.IsCache("/root", p) {
		return true
	}
	if rest, ok := strings.CutPrefix(p, s.Home+"/"); ok && s.Home != "" {
		for part := range strings.SplitSeq(strings.TrimRight(rest, "/*"), "/") {
			if buildnames.Of(part) == buildnames.Always && part != ".cache" && part != ".npm" && part != ".gradle" &&
				part != ".ivy2" && part != ".pub-cache" && part != ".tmp" && part != ".temp" {
				return true
			}
		}
	}
	return false
}

// noProjects are folders in which nobody works on a project.
var noProjects = []string{"/etc", "/usr/bin", "/usr/lib", "/usr/sbin", "/usr/share", "/bin", "/sbin", "/lib", "/lib64",
	"/boot", "/sys", "/proc", "/dev", "/System", "/Library", "/nix", "/private/etc", "/var/lib", "/private/var/db"}

// belowAny reports whether a path is one of the folders or lies below one.
func belowAny(p string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return disk.Below(p, folder) })
}

// isProject reports whether a working directory can be a project: it is no home and no folder of the
// system.
func isProject(dir, home string) bool {
	if dir == "" || dir == home || isTop(dir) || slices.Contains(systemDirs, dir) || home != "" && disk.Below(home, dir) {
		return false
	}
	for _, homes := range []string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(dir, homes); ok && !strings.Contains(rest, "/") {
			return false
		}
	}
	if belowAny(dir, noProjects) && !belowAny(dir, temporary) {
		return false
	}
	if !strings.Contains(dir, "/.") {
		return true
	}
	return !wordset.ContainsAny(dir+"/", "/.ssh/", "/.gnupg/", "/.aws/", "/.kube/", "/.git/")
}
