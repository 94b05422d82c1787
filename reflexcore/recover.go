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

// This file finds out from the disk what a delete loses: where links lead, whether build output is
// tracked after all, and whether version control has all of it. Everything else counts as lost.

// maxMoves limits the moves that are compared with a delete; if there are more, one may be into it.
const maxMoves = 64

// onDisk corrects the place of an effect's target, which comes from its name, by what the disk says.
func (e *Engine) onDisk(j *judgment, i int, p places.Place) places.Place {
	ef := &j.call.Effects[i]
	p = e.marked(j, ef, p)
	switch {
	case ef.Kind == effect.Discard:
		return p | e.discardPlace(j, ef)
	case ef.Kind == effect.Publish && ef.By == "git push":
		return p | e.pushesSecret(j, i)
	case ef.Kind == effect.Permission:
		e.ownFiles(j, ef, p)
		return p
	case ef.Kind == effect.Write && p&places.System != 0 && e.isLocal(j, i),
		ef.Kind == effect.Delete && p&places.Outside != 0 && e.isReplaced(j, i):
		return p | places.Local
	case ef.Kind == effect.Exec && p&places.Project == 0:
		return p | e.ownHost(j, ef)
	case ef.Kind == effect.Delete && p&notBuilt == places.Outside && e.isBuiltElsewhere(j, ef):
		return p | places.Build
	case ef.Kind == effect.NetOut && (ef.Taint&effect.Gathered != 0 || ef.Taint&effect.File != 0 && j.readsSample()):
		return p | e.leavesFor(j, ef)
	case ef.Kind == effect.Write && ef.What == effect.Emptied && ef.Bits&effect.Remote == 0 && effect.IsPlain(ef.Target):
		return p | e.emptyPlace(j, ef, p)
	case ef.Kind != effect.Delete || ef.Bits&effect.Remote != 0 || p&(places.Temp|places.Build|places.Project) == 0 ||
		!strings.HasPrefix(ef.Target, "/"):
		return p
	}
	return e.deletedPlace(j, i, p)
}

// marked adds to a place what makes an effect there harmless: it is a container's own, only says where tools lie,
// or shows no secret to anybody. What only the words of an effect say of it is taken back if it is not so.
func (e *Engine) marked(j *judgment, ef *effect.Effect, p places.Place) places.Place {
	if ef.Bits&effect.Contained != 0 && ef.Bits&effect.Later != 0 && e.isOverridden(j) {
		ef.Bits &^= effect.Contained
	}
	if e.inContainer(j, ef, p) {
		p |= places.Container
	}
	switch {
	case ef.Kind != effect.Privilege || ef.What != shell.OwnFiles && ef.What != shell.SaidOwn:
	case ef.What == shell.SaidOwn && !saysSelf(j.call.Text), !e.isForOwnFiles(j):
		ef.What = ""
	}
	if ef.Kind == effect.Write && p&startup != 0 && (e.addsPlainly(j, ef) ||
		e.writesCompletion(j, ef) || j.isPlainEditorFile(ef)) ||
		e.runsOwnTools(j, ef, p) || ef.Kind == effect.Persist && ef.By == "git config" && e.setsOwnHooks(j, ef) {
		p |= places.Plain
	}
	if ef.Kind == effect.Read && p&places.Secret != 0 &&
		(e.keepsSecret(j, ef, p) || j.assignsToken(ef) || e.isPublicSetting(j, ef, p)) {
		p |= places.Kept
	}
	return p
}

// deletedPlace is the place of what a call deletes of the project, of build output or of temporary files.
func (e *Engine) deletedPlace(j *judgment, i int, p places.Place) places.Place {
	ef := &j.call.Effects[i]
	if j.movedIn(i) {
		if p&places.Project == 0 {
			p |= places.Outside
		}
		return p &^ (places.Build | places.Temp)
	}
	look := e.diskCheck(j)
	target, q := look.followLinks(ef, p)
	if q&places.Temp != 0 && ef.Bits&(effect.Recursive|effect.Glob) != 0 && look.holdsWork(target) {
		return q&^places.Temp | places.Outside
	}
	if q&places.Project == 0 || q&places.Temp != 0 {
		return q
	}
	if q&places.Build != 0 && !look.isBuildOutput(target) {
		q &^= places.Build
	}
	if q&(places.Build|places.Whole|places.Git|places.System|places.Top) == 0 {
		q |= look.recoverable(j, ef, target)
	}
	if q&(places.Build|places.Git|places.Recoverable) == 0 && ef.Bits&effect.Recursive == 0 &&
		len(j.call.Effects) <= bulk && !isSaved(ef, j.call.Effects[:i]) && !refuses(ef) {
		q |= look.lost(j, target)
	}
	return q
}

// pushesSecret reports whether a push sends a file of settings that the same call added with all the others,
// because git does not ignore it.
func (e *Engine) pushesSecret(j *judgment, before int) places.Place {
	look := e.look(j)
	for i := range j.call.Effects[:before] {
		added := &j.call.Effects[i]
		if added.Kind != effect.Read || added.By != "git add" || !effect.IsPlain(added.Target) {
			continue
		}
		r := look.Repository(added.Target)
		if r == nil || r.Index == nil {
			continue
		}
		for _, name := range [...]string{".env", ".env.local", ".env.production", ".npmrc", ".netrc", "credentials.json"} {
			file := path.Join(added.Target, name)
			info, err := e.analyzer.Files.Lstat(file)
			if err == nil && info.Mode().IsRegular() && !r.Index.Tracked(r.Name(file)) && !look.Reader.Ignored(r, r.Name(file)) {
				return places.Secret
			}
		}
	}
	return 0
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
	look := e.diskCheck(j)
	return look.unsaved(ef.Target)
}

// lost is unsaved for what a call deletes: it may save it before, or make it again.
func (l *diskCheck) lost(j *judgment, target string) places.Place {
	q := l.unsaved(target)
	if q != 0 && (j.savesFirst(&l.git, target, q == places.Untracked) || locksAgain(j.call.ToolCall.Command, target)) {
		return 0
	}
	return q
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

// keepers are commands that do not take other files of a folder with them.
const keepers = copiers + " mkdir echo printf ls cd test true chmod touch sed"

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
		case j.movesAway(m) && disk.Below(e.Target, target) && effect.IsKnown(e.Target): // out of it
		case disk.Below(e.Target, target), disk.Below(target, e.Target), !effect.IsKnown(e.Target):
			into = true
		default:
			from = from || m >= len(j.places) || j.places[m]&(places.Temp|places.Build|places.Recoverable) == 0
		}
	}
	return into && from
}

// movesAway reports whether a move takes a file from where it is, and does not put one there: the program
// has read it just before.
func (j *judgment) movesAway(m int) bool {
	e := &j.call.Effects[m]
	if m == 0 || e.Kind != effect.Write || !wordset.Has("mv gmv", e.By) {
		return false
	}
	r := &j.call.Effects[m-1]
	return r.Kind == effect.Read && r.By == e.By && r.Target == e.Target && r.Step == e.Step
}

// diskCheck has what is needed for looking at the disk during one judgment.
type diskCheck struct {
	disk   disk.Disk
	around *places.Surroundings
	links  *disk.Links
	git    gitrepo.Look
}

// look is what looks at git during one judgment.
func (e *Engine) look(j *judgment) gitrepo.Look {
	return gitrepo.Look{Reader: e.analyzer.Git, Budget: &j.gitBudget}
}

func (e *Engine) diskCheck(j *judgment) diskCheck {
	return diskCheck{disk: e.analyzer.Files, around: &j.call.Around, links: &j.call.Links, git: e.look(j)}
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
	if strings.ContainsAny(text, `'"`) {
		text = plainlyQuoted().ReplaceAllString(text, "")
	}
	return !strings.ContainsAny(text, ";&|\n`(){}[<>'\"") &&
		!wordset.ContainsAny(strings.ToLower(text), "pwsh", "powershell")
}

// plainlyQuoted is a part of a word that says the same in quotes, but for its blanks.
var plainlyQuoted = lazyregexp.New(`'[\w .-]*'|"[\w .-]*"`)

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
