package gitrepo

import (
	"io/fs"
	"path"
	"strings"

	"approver.example/reflexcore/buildnames"
	"approver.example/reflexcore/disk"
)

// A Look finds out whether git has the content of files that are to be deleted.
type Look struct {
	Reader *Reader
	Budget *Budget
	repo   *Repository
}

// A Budget counts the lookups for one call.
type Budget struct {
	looked, read int
}

const (
	// MaxLooked limits the files and folders that are looked at for one call.
	MaxLooked = 2000
	maxRead   = 4 << 20 // bytes of files that are read for one call
	maxObject = 1 << 20 // bytes of one file
)

// Repository returns the repository of a folder.
func (l *Look) Repository(dir string) *Repository {
	if l.repo == nil {
		l.repo = l.Reader.Find(dir)
	}
	return l.repo
}

// Recoverable reports whether version control has everything that a delete removes. The last name
// may be a pattern.
func (l *Look) Recoverable(target string) bool {
	pattern := ""
	if i := strings.IndexAny(target, "*?[{\x00"); i >= 0 {
		cut := strings.LastIndexByte(target[:i], '/')
		target, pattern = target[:cut], target[cut+1:]
		if strings.ContainsAny(pattern, "/{\x00") {
			return false
		}
	}
	dir := target
	if pattern == "" {
		dir = path.Dir(target)
	}
	r := l.Repository(dir)
	if r == nil || r.Index == nil || !disk.Below(target, r.Root) || target == r.Root && pattern == "" {
		return false
	}
	if pattern == "" {
		return l.isRecoverable(r, target, true)
	}
	names, err := l.Reader.Disk.ReadDir(target, MaxLooked)
	if err != nil {
		return false
	}
	any := false
	for _, name := range names {
		if ok, err := path.Match(pattern, name); err != nil {
			return false
		} else if ok {
			if any = true; !l.isRecoverable(r, target+"/"+name, true) {
				return false
			}
		}
	}
	return any
}

// isRecoverable reports whether git has the file, or all files of the folder, unchanged. Build
// output does not count. Other untracked files count if all of the folder is deleted.
func (l *Look) isRecoverable(r *Repository, p string, all bool) bool {
	if l.Budget.looked++; l.Budget.looked > MaxLooked || path.Base(p) == ".git" {
		return false
	}
	info, err := l.Reader.Disk.Lstat(p)
	if err != nil {
		return false // also if it is not there: until the call runs, it may be
	}
	if !info.IsDir() {
		return l.unchanged(r, p, info, all)
	}
	if r.Index.entry(r.Name(p)) != nil { // a repository of its own, or a folder in the place of a file
		return false
	}
	names, err := l.Reader.Disk.ReadDir(p, MaxLooked)
	if err != nil {
		return false
	}
	for _, name := range names {
		child := p + "/" + name
		if level := buildnames.Of(name); level != buildnames.ByHand && !r.Index.Tracked(r.Name(child)) &&
			(level == buildnames.Always || l.Reader.Ignored(r, r.Name(child))) {
			continue
		}
		if !l.isRecoverable(r, child, all) {
			return false
		}
	}
	return true
}

// unchanged reports whether git has the file's content.
func (l *Look) unchanged(r *Repository, p string, info fs.FileInfo, all bool) bool {
	entry := r.Index.entry(r.Name(p))
	switch {
	case entry == nil:
		return !all || info.Mode().IsRegular() && buildnames.IsFile(path.Base(p)) && l.Reader.Ignored(r, r.Name(p)) ||
			strings.HasSuffix(p, ".pyc")
	case entry.vague || !entry.hasType(info):
		return false
	case r.Index.same(entry, info):
		return true
	case !info.Mode().IsRegular() || info.Size() != int64(entry.size) && entry.size != 0 || info.Size() > maxObject:
		return false // git notes no size where it is not sure
	}
	if l.Budget.read += int(info.Size()); l.Budget.read > maxRead {
		return false
	}
	content, err := l.Reader.Disk.ReadFile(p, maxObject)
	return err == nil && blobOf(content) == entry.blob
}

// Clean reports whether all tracked files of a folder are unchanged. Missing files do not count as
// changed.
func (l *Look) Clean(r *Repository, name string) bool {
	check := func(entry *entry) bool {
		if l.Budget.looked++; l.Budget.looked > MaxLooked || entry.vague {
			return false
		}
		p := r.Root + "/" + entry.name
		info, err := l.Reader.Disk.Lstat(p)
		return disk.IsMissing(err) || err == nil && l.unchanged(r, p, info, true)
	}
	if entry := r.Index.entry(name); entry != nil {
		return check(entry)
	}
	list := r.Index.below(name)
	for i := range list {
		if !check(&list[i]) {
			return false
		}
	}
	return len(list) > 0
}
