package reflexcore

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/buildnames"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file finds out from the disk what a delete loses: where links lead, whether build output is
// tracked after all, and whether version control has all of it. Everything else counts as lost.

// maxMoves limits the moves that are compared with a delete; if there are more, one may be into it.
const maxMoves = 64

// onDisk corrects the place of an effect's target, which comes from its name, by what the disk says.
func (e *Engine) onDisk(j *judgment, i int, p places.Place) places.Place {
	ef := &j.call.Effects[i]
	if e.inContainer(j, ef, p) {
		p |= places.Container
	}
	if ef.Kind == effect.Privilege && ef.What == shell.OwnFiles && !e.isForOwnFiles(j) {
		ef.What = ""
	}
	if ef.Kind == effect.Write && p&startup != 0 && e.addsPlainly(j, ef) {
		p |= places.Plain
	}
	if ef.Kind == effect.Read && p&places.Secret != 0 && e.keepsSecret(j, ef, p) {
		p |= places.Kept
	}
	switch {
	case ef.Kind == effect.Discard:
		return p | e.discardPlace(j, ef)
	case ef.Kind == effect.Permission:
		e.ownFiles(j, ef, p)
		return p
	case ef.Kind == effect.Write && p&places.System != 0 && e.isLocal(j, i),
		ef.Kind == effect.Delete && p&places.Outside != 0 && e.isReplaced(j, i):
		return p | places.Local
	case ef.Kind == effect.NetOut && ef.Taint&effect.Gathered != 0:
		return p | e.leavesFor(j, ef)
	case ef.Kind == effect.Write && ef.What == effect.Emptied && ef.Bits&effect.Remote == 0 && effect.IsPlain(ef.Target):
		return p | e.emptyPlace(j, ef, p)
	case ef.Kind != effect.Delete || ef.Bits&effect.Remote != 0 || p&(places.Temp|places.Build|places.Project) == 0 ||
		!strings.HasPrefix(ef.Target, "/"):
		return p
	}
	if j.movedIn(i) {
		if p&places.Project == 0 {
			p |= places.Outside
		}
		return p &^ (places.Build | places.Temp)
	}
	look := diskCheck{disk: e.analyzer.Files, around: &j.call.Around, links: &j.call.Links,
		git: gitrepo.Look{Reader: e.analyzer.Git, Budget: &j.gitBudget}}
	target, q := look.followLinks(ef, p)
	if q&places.Temp != 0 && ef.Bits&(effect.Recursive|effect.Glob) != 0 && look.holdsWork(target) {
		return q&^places.Temp | places.Outside
	}
	if q&places.Project != 0 && q&places.Temp == 0 {
		if q&places.Build != 0 && !look.isBuildOutput(target) {
			q &^= places.Build
		}
		if q&(places.Build|places.Whole|places.Git|places.System|places.Top) == 0 {
			q |= look.recoverable(j, ef, target)
		}
		if q&(places.Build|places.Git|places.Recoverable) == 0 && ef.Bits&effect.Recursive == 0 &&
			len(j.call.Effects) <= bulk && !isSaved(ef, j.call.Effects[:i]) {
			q |= look.unsaved(target)
		}
	}
	return q
}

// emptyPlace tells what an emptied file had in it. What is not there yet, or has nothing, loses nothing.
func (e *Engine) emptyPlace(j *judgment, ef *effect.Effect, p places.Place) places.Place {
	info, err := e.analyzer.Files.Lstat(ef.Target)
	if err != nil && !disk.IsMissing(err) || err == nil && !info.Mode().IsRegular() {
		return 0
	}
	if err != nil || info.Size() == 0 || j.wasMade(ef) {
		return places.Recoverable
	}
	if p&(places.Project|places.Temp|places.Build|places.Git) != places.Project {
		return 0
	}
	look := diskCheck{git: gitrepo.Look{Reader: e.analyzer.Git, Budget: &j.gitBudget}, disk: e.analyzer.Files}
	return look.unsaved(ef.Target)
}

// unsaved tells what git says of a single file that would be lost: it has changes that are in no commit,
// or git has none of it. What git ignores can be made again, or is a secret.
func (l *diskCheck) unsaved(target string) places.Place {
	if !effect.IsPlain(target) || strings.ContainsRune(target, '{') || !l.isSingleFile(target) {
		return 0
	}
	r := l.git.Repository(path.Dir(target))
	if r == nil || r.Index == nil || !disk.Below(target, r.Root) {
		return 0
	}
	switch name := r.Name(target); {
	case r.Index.Tracked(name) && l.git.Clean(r, name):
		return 0
	case r.Index.Tracked(name):
		return places.Changed
	case l.git.Reader.Ignored(r, name):
		return 0
	}
	return places.Untracked
}

// startup is the place of files that a shell runs when it starts.
var startup, _ = places.Named("startup")

// addsPlainly reports whether an effect adds nothing to a start-up file of a shell but what says where
// an installed tool lies. All that the call writes there must be known, and it must do nothing else that
// could put a program where the shell then finds it.
func (e *Engine) addsPlainly(j *judgment, ef *effect.Effect) bool {
	const other = effect.Network | effect.Decoded | effect.Secret
	home := j.call.Around.Home
	if !isShellFile(ef.Target, home) || ef.Bits != effect.Append || ef.Taint&other != 0 ||
		slices.ContainsFunc(j.call.Effects, func(ef effect.Effect) bool {
			later := ef.Bits&effect.Later != 0 // what the lines do, which is looked at below
			return ef.Kind != effect.Read && !later && ef.By != "mkdir" && !isShellFile(ef.Target, home)
		}) || !shell.OnlyAddsLines(j.call.Text) {
		return false
	}
	known, project := false, e.analyzer.Git.Top(j.call.Around.Dir)
	for i := range j.call.Texts {
		t := &j.call.Texts[i]
		if t.Path == ef.Target {
			if known = project != "" && shell.PlainStartup(home, project, t.Text); !known {
				return false
			}
		}
	}
	return known
}

// isShellFile reports whether a path is a start-up file of a shell in a home.
func isShellFile(p, home string) bool {
	return path.Dir(p) == home &&
		wordset.Has(".bashrc .zshrc .profile .bash_profile .zprofile .zshenv", path.Base(p))
}

// isForOwnFiles reports whether all that a call deletes with rm is build output of the project, and all
// that gets another owner lies in the project or below the home, wherever links lead. Temporary files may
// be those of others.
func (e *Engine) isForOwnFiles(j *judgment) bool {
	const vital = places.Root | places.Top | places.Whole | places.System | places.Git | places.Device
	home := j.call.Around.Home
	if len(j.call.Effects) > maxMoves {
		return false
	}
	for i := range j.call.Effects {
		ef := &j.call.Effects[i]
		own := places.Place(0)
		switch {
		case ef.Kind == effect.Delete && ef.By == "rm":
			if e.onDisk(j, i, j.call.Around.Of(ef, e.analyzer.Paths))&places.Build == 0 {
				return false
			}
			own = places.Project
		case ef.Kind == effect.Permission && ef.By == "chown":
			own = places.Project | places.Home
			if !effect.IsPlain(ef.Target) && ef.Bits&effect.Recursive == 0 {
				return false // what a pattern fits may be a link, which is followed
			}
		default:
			continue
		}
		real, seen := j.call.Links.Real(e.analyzer.Files, ef.Target)
		at := *ef
		at.Target = real
		p := j.call.Around.Of(&at, e.analyzer.Paths)
		if ef.Kind == effect.Permission && seen && real == j.call.Around.Dir && real != home && disk.Below(real, home) {
			continue // the project itself
		}
		if !seen || p&own == 0 || p&vital != 0 || disk.Below(home, real) || real == "/tmp" {
			return false
		}
	}
	return true
}

// keepsSecret reports whether a credential of the project is only copied or moved to another name beside
// it that says the same: nobody sees it, and whoever reads it later is asked about. Nothing else in the
// call may take the folder with it.
func (e *Engine) keepsSecret(j *judgment, ef *effect.Effect, p places.Place) bool {
	const here = places.Project | places.Secret
	if !wordset.Has("cp gcp mv gmv", ef.By) || p&here != here || !effect.IsPlain(ef.Target) ||
		ef.Bits&effect.Remote != 0 || !onlyKeeps(shell.Chain(j.call.Text)) {
		return false
	}
	kept := false
	for i := range j.call.Effects {
		w := &j.call.Effects[i]
		switch {
		case w.By != ef.By || w.Kind == effect.Read || w.Kind == effect.Delete:
			continue
		case w.Kind != effect.Write || w.Bits&(effect.Remote|effect.Later) != 0:
			return false
		case w.Target == ef.Target: // it is moved away
			continue
		}
		kept = j.call.Around.Of(w, e.analyzer.Paths)&here == here && isBeside(w.Target, ef.Target)
		if !kept || isShown(strings.TrimPrefix(w.Target, j.call.Around.Dir)) {
			return false
		}
		root, seen := j.call.Links.Real(e.analyzer.Files, j.call.Around.Dir)
		folder, found := path.Dir(w.Target), true
		if effect.IsKnown(folder) {
			folder, found = j.call.Links.Real(e.analyzer.Files, folder)
		}
		if !seen || !found || !disk.Below(folder, root) {
			return false
		}
	}
	return kept
}

// keepers are commands that do not take other files of a folder with them.
const keepers = "cp gcp mv gmv mkdir echo printf ls cd test true chmod touch sed"

// onlyKeeps reports whether a call has nothing but commands that leave other files where they are.
func onlyKeeps(chain []shell.Link) bool {
	return len(chain) > 0 && !slices.ContainsFunc(chain, func(l shell.Link) bool {
		return !wordset.Has(keepers, l.Words[0])
	})
}

// isBeside reports whether a path is a copy of a credential beside it by its name: .env.local of .env, or
// the same name with .bak or .example.
func isBeside(p, of string) bool {
	if path.Dir(p) != path.Dir(of) {
		return false
	}
	return p == of+".bak" || p == of+".example" ||
		strings.HasPrefix(path.Base(p), ".env") && strings.HasPrefix(path.Base(of), ".env")
}

// isShown reports whether a path lies in a folder that is shown, packed or built from.
func isShown(p string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(strings.ToLower(p)), "/"), func(folder string) bool {
		return wordset.Has("public public_html www wwwroot htdocs html static assets dist docs doc build out site _site "+
			"target release", folder)
	})
}

// recoverable reports whether a deleted path can be had again. One file is looked up only if many are
// deleted. A recursive delete of a single file is an ordinary one.
func (l *diskCheck) recoverable(j *judgment, ef *effect.Effect, target string) places.Place {
	if ef.Bits&effect.Recursive != 0 && l.isSingleFile(target) {
		ef.Bits &^= effect.Recursive
	}
	target = searched(target)
	if (ef.Bits&effect.Recursive != 0 || len(j.call.Effects) > bulk) &&
		(l.isMissing(j, target) || l.git.Recoverable(target)) {
		return places.Recoverable
	}
	return 0
}

// searched returns the folder in which find looks for what it deletes, or the target as it is.
func searched(target string) string {
	if i := strings.Index(target, "/"+effect.Unknown+"/"); i > 0 && effect.IsPlain(target[:i]) {
		return target[:i]
	}
	return target
}

// movedIn reports whether the call, before a delete, moves something into the deleted folder or a
// part of it away, and what it moves is neither temporary nor build output.
func (j *judgment) movedIn(i int) bool {
	target := strings.TrimRight(j.call.Effects[i].Target, "/*")
	into, from := false, false
	for n, m := range j.facts.moves {
		if m >= i {
			break
		}
		if n >= maxMoves {
			return true
		}
		switch e := &j.call.Effects[m]; {
		case disk.Below(e.Target, target), disk.Below(target, e.Target), !effect.IsKnown(e.Target):
			into = true
		default:
			from = from || m >= len(j.places) || j.places[m]&(places.Temp|places.Build|places.Recoverable) == 0
		}
	}
	return into && from
}

// diskCheck has what is needed for looking at the disk during one judgment.
type diskCheck struct {
	disk   disk.Disk
	around *places.Surroundings
	links  *disk.Links
	git    gitrepo.Look
}

// followLinks follows the links of a target. It returns the real path and its place.
func (l *diskCheck) followLinks(ef *effect.Effect, p places.Place) (string, places.Place) {
	named := ef.Target
	static, rest := named, ""
	if i := strings.IndexAny(named, "*?[{\x00"); i >= 0 {
		cut := strings.LastIndexByte(named[:i], '/')
		static, rest = named[:cut], named[cut:]
	} else if ef.Bits&effect.Recursive == 0 { // the link itself is deleted
		static, rest = path.Dir(named), "/"+path.Base(named)
	}
	seen, ok := l.links.Real(l.disk, static)
	if !ok || seen == path.Clean(static) {
		return named, p
	}
	if dir, ok := l.links.Real(l.disk, l.around.Dir); ok && l.around.Dir != "" && disk.Below(seen, dir) {
		seen = l.around.Dir + seen[len(dir):]
	}
	if seen == path.Clean(static) {
		return named, p
	}
	other := *ef
	other.Target = strings.TrimSuffix(seen, "/") + rest
	q := l.around.Path(other.Target, &other)
	const harmless = places.Temp | places.Build | places.Project
	return other.Target, p&^harmless | q&^harmless | p&q&harmless | q&p&places.Temp
}

// holdsWork reports whether a target in a folder for temporary files is, has in it, or is part of, a
// repository with work that is nowhere else. A name below /tmp does not make work temporary. Of a
// name that is not known nothing can be said.
func (l *diskCheck) holdsWork(target string) bool {
	look := l.git
	if !effect.IsKnown(target) || strings.ContainsRune(target, '{') {
		return false
	}
	if strings.ContainsAny(target, "*?[") {
		return look.MatchesWork(target)
	}
	r := look.Repository(path.Dir(target))
	return look.HoldsWork(target) ||
		r != nil && l.around.Folder(r.Root, r.Root) == places.Temp && !look.Recoverable(target)
}

// isBuildOutput reports whether a path with the name of build output is build output. In a
// repository, git must track no file in it, and must ignore it if the name alone is ambiguous.
// Without a repository, an ambiguous name needs a manifest beside it. Without a disk the name is
// enough.
func (l *diskCheck) isBuildOutput(target string) bool {
	if _, err := l.disk.Lstat(l.around.Dir); err != nil {
		return true
	}
	rest := strings.TrimPrefix(target, l.around.Dir+"/")
	named := false
	for at := 0; at < len(rest); {
		level, end := buildnames.First(rest[at:])
		if level == buildnames.ByHand {
			break
		}
		at += end
		if named = true; l.isBuildFolder(l.around.Dir+"/"+rest[:at], level) {
			return true
		}
	}
	return !named || buildnames.IsFile(path.Base(rest)) // the name of a file
}

// isBuildFolder is output for one folder.
func (l *diskCheck) isBuildFolder(folder string, level buildnames.Certainty) bool {
	if strings.ContainsAny(folder, "*?[{\x00") {
		return true
	}
	r := l.git.Repository(path.Dir(folder))
	switch {
	case r == nil:
		return level != buildnames.Maybe || l.manifest(path.Dir(folder))
	case r.Index == nil:
		return level == buildnames.Always
	case r.Index.Tracked(r.Name(folder)):
		return false
	}
	return level != buildnames.Maybe || l.git.Reader.Ignored(r, r.Name(folder))
}

// manifests are files beside which builds put their output.
var manifests = strings.Fields("package.json Cargo.toml go.mod pom.xml build.gradle build.gradle.kts Makefile " +
	"CMakeLists.txt meson.build composer.json Gemfile mix.exs pyproject.toml setup.py Package.swift pubspec.yaml " +
	"WORKSPACE MODULE.bazel build.sbt stack.yaml dune-project")

var manifestEndings = []string{".csproj", ".fsproj", ".sln", ".vcxproj", ".cabal", ".gemspec", ".nimble"}

func (l *diskCheck) manifest(dir string) bool {
	if slices.ContainsFunc(manifests, func(name string) bool {
		_, err := l.disk.Lstat(dir + "/" + name)
		return err == nil
	}) {
		return true
	}
	names, err := l.disk.ReadDir(dir, gitrepo.MaxLooked)
	return err == nil && slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains(manifestEndings, path.Ext(name))
	})
}

// isSingleFile reports whether a target is a single file.
func (l *diskCheck) isSingleFile(target string) bool {
	if strings.ContainsAny(target, "*?[{\x00") {
		return false
	}
	info, err := l.disk.Lstat(target)
	return err == nil && info.Mode().IsRegular()
}

// isMissing reports whether the target does not exist yet, or nothing matches it, so that nothing can
// be lost. A call that may mount or rename something there does not count.
func (l *diskCheck) isMissing(j *judgment, target string) bool {
	if strings.ContainsAny(target, "{(\x00") ||
		wordset.ContainsAny(j.call.Text, "mount", "sshfs", "bindfs", "rename", "globstar", "nocaseglob") {
		return false
	}
	if _, err := l.disk.Lstat(l.around.Dir); err != nil {
		return false
	}
	if i := strings.IndexAny(target, "*?["); i >= 0 {
		return isAlone(j.call.Text) && l.matchesNothing(target, strings.LastIndexByte(target[:i], '/'))
	}
	_, err := l.disk.Lstat(target)
	return disk.IsMissing(err)
}

// isAlone reports whether a text is one plain command. What runs before it may make, move or unpack what
// a pattern then matches, and in brackets shells have more than one language of patterns.
func isAlone(text string) bool {
	return !strings.ContainsAny(text, ";&|\n`(){}[<>'\"") &&
		!wordset.ContainsAny(strings.ToLower(text), "pwsh", "powershell")
}

// matchesNothing reports whether no file fits a pattern. cut is where the folder ends in which the
// first pattern is. What fits a pattern for folders is not looked for.
func (l *diskCheck) matchesNothing(target string, cut int) bool {
	if cut <= 0 {
		return false
	}
	names, err := l.disk.ReadDir(target[:cut], gitrepo.MaxLooked)
	pattern, _, _ := strings.Cut(target[cut+1:], "/")
	return disk.IsMissing(err) || err == nil && !slices.ContainsFunc(names, func(name string) bool {
		ok, err := path.Match(pattern, name)
		return ok || err != nil
	})
}

// discardPlace reports whether what a command of git discards can be recovered.
func (e *Engine) discardPlace(j *judgment, ef *effect.Effect) places.Place {
	if strings.HasPrefix(ef.What, "remote-history") || strings.HasPrefix(ef.Target, "remote-history") {
		return e.pushPlace(ef)
	}
	if ef.Target == "environment" && (ef.By == "poetry" || ef.By == "pipenv") || ef.Target == "gems" && ef.By == "bundle" {
		return places.Recoverable // from the lock file
	}
	by := strings.TrimPrefix(strings.TrimPrefix(ef.By, "git "), "git-")
	if by == ef.By || !strings.HasPrefix(ef.Dir, "/") || !effect.IsKnown(ef.Dir) ||
		ef.Bits&(effect.Remote|effect.Partial|effect.Splits) != 0 || !effect.IsKnown(ef.Target) {
		return 0
	}
	verb, _, _ := strings.Cut(by, " ")
	switch verb {
	case "checkout", "restore", "reset", "switch":
	default:
		return 0
	}
	dir, ok := j.call.Links.Real(e.analyzer.Files, ef.Dir)
	if !ok {
		return 0
	}
	look := gitrepo.Look{Reader: e.analyzer.Git, Budget: &j.gitBudget}
	r := look.Repository(dir)
	if r == nil || r.Index == nil || !disk.Below(dir, r.Root) {
		return 0
	}
	if ef.Target == "uncommitted" {
		if r.Index.Whole && e.analyzer.Git.Head(r) == r.Index.Tree && look.Clean(r, "") {
			return places.Recoverable
		}
		return 0
	}
	if ef.Target == "" || strings.ContainsAny(ef.Target, "*?[:\\") || verb == "reset" || verb == "switch" {
		return 0
	}
	target := path.Join(dir, ef.Target)
	if strings.HasPrefix(ef.Target, "/") {
		target = path.Clean(ef.Target)
	}
	if !disk.Below(target, r.Root) {
		return 0
	}
	if _, err := e.analyzer.Files.Lstat(target); disk.IsMissing(err) && !r.Index.Tracked(r.Name(target)) ||
		look.Clean(r, r.Name(target)) {
		return places.Recoverable
	}
	return 0
}

// pushPlace reports whether a push replaces history only on a branch that is not shared.
func (e *Engine) pushPlace(ef *effect.Effect) places.Place {
	if ef.Bits&(effect.Bulk|effect.Splits|effect.Partial) != 0 || !effect.IsKnown(ef.Target) {
		return 0
	}
	branch := ef.Target
	if strings.HasPrefix(branch, "remote-history") || branch == "HEAD" || branch == "@" { // the one that is checked out
		if !strings.HasPrefix(ef.Dir, "/") {
			return 0
		}
		if branch = e.analyzer.Git.Branch(ef.Dir); branch == "" {
			return 0
		}
	}
	if isShared(branch) {
		return 0
	}
	return places.Feature
}

// isShared reports whether the name of a branch is one that others build on.
func isShared(branch string) bool {
	branch = strings.ToLower(strings.TrimPrefix(branch, "refs/heads/"))
	if strings.HasPrefix(branch, "refs/") || strings.ContainsAny(branch, "*:+ ") || branch == "" {
		return true
	}
	switch branch {
	case "main", "master", "develop", "development", "dev", "trunk", "mainline", "default", "next", "stable", "staging",
		"production", "release", "gh-pages", "head", "@":
		return true
	}
	for _, prefix := range []string{"release/", "release-", "releases/", "rel/", "prod", "hotfix/", "stable/", "stable-",
		"support/", "maint", "v"} {
		if rest, ok := strings.CutPrefix(branch, prefix); ok &&
			(prefix != "v" || rest != "" && rest[0] >= '0' && rest[0] <= '9') {
			return true
		}
	}
	return false
}
