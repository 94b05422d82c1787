package gitrepo

import (
	"path"
	"strings"
	"unicode"

	"approver.example/reflexcore/disk"
)

// Limits of names for people, in bytes.
const (
	maxOwner  = 100
	maxBranch = 120
)

// Named returns the name of the repository of a folder for people: owner/name of the remote origin,
// or else the name of its folder. branch is the one that is checked out. What is not known is empty.
// Both come from files that anybody who writes to the project can change: they are one short line,
// and decide nothing.
func (d *Reader) Named(dir string) (name, branch string) {
	dir, ok := disk.Real(d.Disk, dir)
	if !ok {
		return "", ""
	}
	root, common, own := d.folders(dir)
	if root == "" {
		return "", ""
	}
	name = path.Base(root)
	if common == "" {
		return plainName(name, maxOwner), ""
	}
	if of := d.origin(common + "/config"); of != "" {
		name = of
	}
	if head, err := d.Disk.ReadFile(own+"/HEAD", MaxPath); err == nil {
		if ref, is := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/"); is {
			branch = plainName(ref, maxBranch)
		}
	}
	return plainName(name, maxOwner), branch
}

// folders returns the root of the working tree that holds a folder, and the folders of git: the
// common one, and that of the working tree. It reads no index.
func (d *Reader) folders(dir string) (root, common, own string) {
	for dir := range disk.Up(dir) {
		info, err := d.Disk.Lstat(path.Join(dir, ".git"))
		switch {
		case err != nil:
			continue
		case info.IsDir():
			return dir, path.Join(dir, ".git"), path.Join(dir, ".git")
		case info.Mode().IsRegular():
			common, own = d.Link(path.Join(dir, ".git"), dir)
		}
		return dir, common, own
	}
	return "", "", ""
}

// origin returns owner/name of the remote origin in a file of settings.
func (d *Reader) origin(file string) string {
	const most = 64 << 10
	b, err := d.Disk.ReadFile(file, most)
	if err != nil {
		return ""
	}
	inside := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = line == `[remote "origin"]`
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if inside && strings.EqualFold(strings.TrimSpace(key), "url") {
			return ownerName(strings.TrimSpace(value))
		}
	}
	return ""
}

// ownerName returns the last two names of an address: acme/shop of git@github.com:acme/shop.git.
func ownerName(address string) string {
	address = strings.TrimSuffix(strings.TrimRight(address, "/"), ".git")
	_, rest, is := strings.Cut(address, "://")
	if is {
		_, rest, _ = strings.Cut(rest, "/") // without the host, and the password before it
	} else if _, rest, is = strings.Cut(address, ":"); !is {
		return "" // a folder
	}
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts[len(parts)-2:], "/")
}

// plainName returns a name that is one short line of letters, digits and signs, empty otherwise.
func plainName(name string, most int) string {
	if len(name) > most || strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./+#@~=", r)
	}) {
		return ""
	}
	return name
}
