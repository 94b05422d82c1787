package filenames

import (
	"strings"

	"approver.example/reflexcore/disk"
)

// A hard link is the same file, and nothing in its name says so. Approver's own files have
// one name each, so the few that have two are looked for under the other.

// maxOwnNames bounds how many files of approver's own folders are looked at.
const maxOwnNames = 256

// ownNames adds approver's own files that have a second name on the disk.
func (n *Finder) ownNames(g *found) {
	looked := 0
	var walk func(dir, name string, deep int)
	walk = func(dir, own string, deep int) {
		names, err := n.disk.ReadDir(dir, maxOwnNames)
		if err != nil {
			return
		}
		for _, name := range names {
			if looked++; looked > maxOwnNames {
				return
			}
			info, err := n.disk.Lstat(dir + "/" + name)
			switch {
			case err != nil:
			case info.IsDir() && deep > 0:
				walk(dir+"/"+name, own+"/"+name, deep-1)
			case !disk.HasOneName(info):
				g.names, g.twice = append(g.names, own+"/"+name), true
			}
		}
	}
	for _, dir := range [...]string{g.home + "/.approver", "/var/lib/approver", "/etc/approver", "/run/approver"} {
		if strings.HasPrefix(dir, "/") {
			if to, ok := disk.Real(n.disk, dir); ok {
				walk(to, dir, 1)
			}
		}
	}
}
