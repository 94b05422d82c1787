package selfprotect

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"approver.example"
	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/protected"
	"approver.example/reflexcore/wordset"
)

// Copying, moving or unpacking a whole folder can change settings, too. The content of a folder can
// be looked at, but not the content of an archive.

// maxLookups limits the copied files that are looked at.
const maxLookups = 1024

// fillers are programs that put files into a folder that their words do not name.
var fillers = wordset.Of(`tar gtar bsdtar unzip 7z 7za 7zz 7zr unrar unar cpio gcpio pax ditto rsync docker
	podman nerdctl finch docker.io ln mount patch gpatch hg svn scp sftp rclone aws gsutil gcloud kubectl degit
	tiged giget stow gh git extractall unpack_archive`)

// archivers are the fillers that unpack an archive.
var archivers = wordset.Of(`tar gtar bsdtar unzip 7z 7za 7zz 7zr unrar unar cpio gcpio pax ditto extractall
	unpack_archive jar ar`)

// replaces says whether an effect on a folder changes settings in it: the folder is deleted, moved
// or unpacked over, or files are put there. Pass means no, and Ask means perhaps.
func (c *Check) replaces(ef *effect.Effect) approver.Decision {
	by := ef.Program()
	by = by[strings.LastIndexByte(by, '.')+1:]
	folder, moved := protected.IsAgentFolder(path.Base(ef.Target)), effect.Moves(ef) && by != "rsync"
	switch {
	case ef.Kind == effect.Delete:
		if folder && (ef.Bits&effect.Recursive != 0 || moved) {
			return approver.Deny
		}
		return approver.Pass
	case folder && fillers[by] && !moved:
		return approver.Deny
	case archivers[by] && c.Around.Home != "" && path.Clean(ef.Target) == c.Around.Home && ef.What != effect.Members:
		return approver.Ask
	case c.isPacked(ef, by):
		return approver.Pass
	}
	worst, named := approver.Pass, false
	for i := range c.Effects {
		r := &c.Effects[i]
		if r.Kind != effect.Read && r.Kind != effect.NetIn && (r.Kind != effect.Write || !moved) ||
			r.Bits&effect.Remote != ef.Bits&effect.Remote {
			continue
		}
		if r.By != ef.By && (by != "cpio" || r.By != "find") {
			continue
		}
		if !folder && r.Kind == effect.NetIn && !protected.IsAgentFolder(r.Target[strings.LastIndexAny(r.Target, "/:")+1:]) {
			continue
		}
		if c.lookups++; c.lookups > maxLookups {
			if folder {
				return approver.Deny // nobody copies so many files there one by one
			}
			return worst
		}
		named = named || r.Kind == effect.Read
		if folder && moved && r.Kind == effect.Read && r.Target == ef.Target {
			return approver.Deny // the folder itself is moved
		}
		if r.Target != ef.Target {
			worst = min(worst, c.brings(ef, r, folder))
		}
	}
	if folder && moved && !named {
		return approver.Deny // renamed by a program that says no more
	}
	return worst
}

// packs matches names of archives.
var packs = lazyregexp.New(`(?i)\.(?:tar(?:\.\w+)?|t[gbx]z2?|txz|tzst|zip|7z)$`)

// isPacked reports whether a file is an archive that is being written: it is not a folder, and
// nothing else in the call makes it.
func (c *Check) isPacked(ef *effect.Effect, by string) bool {
	if !archivers[by] && by != "zip" || by == "ditto" || ef.Kind != effect.Write || !packs().MatchString(ef.Target) ||
		ef.Bits&effect.Append != 0 {
		return false
	}
	for i := range c.Effects {
		if o := &c.Effects[i]; o.Kind == effect.Write && o.Target == ef.Target && o.By != ef.By {
			return false
		}
	}
	info, err := c.Analyzer.Files.Lstat(ef.Target)
	return err == nil && info.Mode().IsRegular() || errors.Is(err, fs.ErrNotExist)
}

// brings says whether copying, linking or moving a file or folder puts settings into a folder.
func (c *Check) brings(to, from *effect.Effect, folder bool) approver.Decision {
	base := path.Base(from.Target)
	if folder && protected.IsSettings(to.Target+"/"+base, c.Analyzer.Paths) {
		return approver.Deny
	}
	if from.Kind == effect.NetIn {
		if protected.IsAgentFolder(base[strings.LastIndexByte(base, ':')+1:]) {
			return approver.Deny
		}
		return approver.Pass
	}
	if from.Target != "" && from.Target[0] == 0 { // what find or ls printed
		if folder || !c.isLive(to.Target) {
			return approver.Pass
		}
		return c.listedBrings()
	}
	if !folder && strings.ContainsAny(from.Target, "*?[\x00") && c.isLive(to.Target) {
		return c.patternBrings(from)
	}
	switch {
	case folder, protected.IsAgentFolder(base), protected.FindsAgentFolder(base):
		return c.holds(from)
	case (from.What == "inside" || copiesInside(from.By)) && c.isLive(to.Target):
		worst := c.insideBrings(from)
		if from.What != "inside" && worst < approver.Pass {
			return approver.Ask // the folder itself may be meant, which is put beside
		}
		return worst
	}
	return approver.Pass
}

// insideBrings says whether a folder contains an agent's settings.
func (c *Check) insideBrings(from *effect.Effect) approver.Decision {
	worst := approver.Pass
	for name := range protected.AgentFolders {
		inner := *from
		inner.Target += "/" + name
		if _, err := c.Analyzer.Files.Lstat(inner.Target); err == nil {
			worst = min(worst, c.holds(&inner))
		}
	}
	return worst
}

// listedBrings is insideBrings for folders that find or ls lists for the program that copies.
func (c *Check) listedBrings() approver.Decision {
	worst := approver.Pass
	for i := range c.Effects {
		r := &c.Effects[i]
		if r.Kind == effect.Read && (r.By == "find" || r.By == "ls") && !c.isLive(r.Target) {
			worst = min(worst, c.insideBrings(r))
		}
	}
	if worst < approver.Pass {
		return approver.Ask
	}
	return worst
}

// copiesInside reports whether a function copies the content of a folder, and not the folder.
func copiesInside(by string) bool {
	if strings.HasPrefix(by, "fs.") && strings.HasSuffix(by, ".cp") {
		return true
	}
	switch strings.ToLower(by[strings.LastIndexAny(by, ".:>")+1:]) {
	case "copytree", "copy_tree", "cpsync", "copysync", "cp_r", "dircopy", "tar", "gtar", "bsdtar", "ditto",
		"robocopy", "find":
		return true // find hands it to cpio
	}
	return false
}

// patternBrings says whether a pattern matches a folder of an agent's settings. An unknown part of
// the pattern may be one.
func (c *Check) patternBrings(from *effect.Effect) approver.Decision {
	p := c.Names.Located(from)
	cut := strings.LastIndexByte(p[:max(0, strings.IndexAny(p, "*?[\x00"))], '/')
	if cut < 0 {
		return approver.Pass
	}
	last := path.Base(p)
	hidden := strings.HasPrefix(last, ".") || strings.Contains(last, effect.Unknown)
	for _, option := range [...]string{"dotglob", "globdots", "GLOBIGNORE"} {
		hidden = hidden || strings.Contains(c.Text, option)
	}
	worst := approver.Pass
	if !hidden {
		return worst
	}
	c.Names.Matches(path.Clean("/"+p[:cut]), strings.Split(p[cut+1:], "/"), func(found string) {
		if !protected.IsAgentFolder(path.Base(found)) {
			return
		}
		inner := *from
		inner.Target = found
		worst = min(worst, c.holds(&inner))
	})
	if worst < approver.Pass && !effect.IsKnown(last) {
		return approver.Ask // it is one of the names that it may be
	}
	return worst
}

// isLive reports whether settings in a folder apply to this call: it is the home, the working
// directory, or a folder above it.
func (c *Check) isLive(folder string) bool {
	dir := path.Clean(c.ToolCall.Dir)
	return folder == c.Around.Home || strings.HasPrefix(dir, "/") && disk.Below(dir, path.Clean(folder))
}

// holds says whether a folder that becomes an agent's folder, or part of one, contains settings or
// hooks. A folder that does not exist yet may contain anything, unless the call itself writes it as
// a file.
func (c *Check) holds(from *effect.Effect) approver.Decision {
	p := c.Names.Located(from)
	if p == "" || strings.ContainsAny(p, "*?[\x00") {
		return approver.Pass // a pattern is judged by the names that it may find
	}
	to, ok := c.Links.Real(c.Analyzer.Files, path.Clean(p))
	if !ok {
		return c.unseen(from)
	}
	info, err := c.Analyzer.Files.Lstat(to)
	switch {
	case err != nil:
		return c.unseen(from)
	case !info.IsDir():
		return approver.Pass
	}
	names, err := c.Analyzer.Files.ReadDir(to, disk.MaxListed)
	if err != nil {
		return approver.Ask
	}
	if slices.ContainsFunc(names, func(name string) bool {
		return name == "hooks" || protected.IsAgentFolder(name) || protected.IsSettings("/.claude/"+name, c.Analyzer.Paths)
	}) {
		return approver.Deny
	}
	for i := range c.Effects { // what the call puts into it first
		if f := &c.Effects[i]; f.Kind == effect.Write && disk.Below(f.Target, p) && f.Target != p &&
			protected.IsSettings("/.claude"+f.Target[len(p):], c.Analyzer.Paths) {
			return approver.Deny
		}
	}
	return approver.Pass
}

// unseen is [Check.holds] for a folder that cannot be read. It is a question if the call fills the
// folder first, if all of its content goes into the other folder, or if it is moved and may become
// that folder. A copy with the same name was judged by the name.
func (c *Check) unseen(from *effect.Effect) approver.Decision {
	byName := path.Ext(path.Base(from.Target)) != "" && !protected.IsAgentFolder(path.Base(from.Target)) &&
		from.Bits&effect.Recursive == 0
	worst := approver.Pass
	if from.What == "inside" || !byName && (effect.Moves(from) || protected.IsAgentFolder(path.Base(from.Target))) {
		worst = approver.Ask
	}
	for i := range c.Effects {
		f := &c.Effects[i]
		if f == from {
			break
		}
		if f.Kind != effect.Write || !disk.Below(f.Target, from.Target) || effect.Moves(f) {
			continue
		}
		if protected.IsSettings("/.claude"+f.Target[len(from.Target):], c.Analyzer.Paths) {
			return approver.Deny
		}
		if fillers[f.Program()] {
			worst = approver.Ask
		}
	}
	return worst
}

// connects judges a connection to a socket in the file system.
func (c *Check) connects(ef *effect.Effect) (approver.Decision, string) {
	p := strings.TrimPrefix(ef.Target, "unix://")
	if p == "" || strings.Contains(p, "://") ||
		strings.IndexByte(p, '/') < 0 && ef.What != "socket" && !strings.HasSuffix(p, ".sock") {
		return approver.Pass, ""
	}
	if effect.IsPlain(p) {
		switch {
		case p[0] == '/' && protected.IsOwn(path.Clean(p)):
			return approver.Deny, "it speaks to approver in a person's place, or in a hook's"
		case path.Base(p) == "resolve.sock", path.Base(p) == "submit.sock":
			return approver.Ask, "it speaks to what may be approver's own socket"
		}
		return approver.Pass, ""
	}
	if p[0] != '/' && ef.What != "socket" {
		return approver.Pass, ""
	}
	folders := []string{c.Around.Home + "/.approver/run/", "/run/approver/", "/var/run/approver/", "/var/lib/approver/",
		"/etc/approver/"}
	for _, folder := range folders {
		for _, name := range [...]string{"resolve.sock", "submit.sock"} {
			if mayBe(p, folder+name) {
				return approver.Ask, "it speaks to a socket that may be approver's own"
			}
		}
	}
	return approver.Pass, ""
}

// mayBe reports whether a text with unknown parts or patterns may be another text.
func mayBe(p, text string) bool {
	parts := strings.FieldsFunc(p, func(r rune) bool { return r == 0 || r == '*' || r == '?' || r == '[' || r == ']' })
	if len(parts) == 0 {
		return true
	}
	if open := strings.IndexAny(p, "\x00*?["); open > 0 && !strings.HasPrefix(text, p[:open]) {
		return false
	}
	if strings.IndexByte(p, '[') >= 0 { // what stands in brackets is one of several letters
		return true
	}
	for _, part := range parts {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return text == "" || strings.ContainsAny(p[len(p)-1:], "\x00*?")
}
