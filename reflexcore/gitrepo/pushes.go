package gitrepo

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
)

// This file finds out where a push goes, so that people read it. What git's settings may lead elsewhere is
// not known: then nothing is said.

// Limits of names for people, in bytes.
const (
	maxOwner  = 100
	maxBranch = 120
)

// maxSettings limits a file of git's settings, in bytes.
const maxSettings = 64 << 10

// A Push says where a push goes. What is not known for certain is empty.
type Push struct {
	Remote string // its name or address
	Repo   string // owner/name on github.com, or host/owner/name
	Branch string // that a push without a refspec overwrites
	Mapped bool   // a setting sends branches to others than those that a command names, or may
	// Rewritten says that a setting makes another address of the one that a command names, or may.
	Rewritten bool
}

// UserSettings are the files of git's settings outside of a repository.
func UserSettings(home, xdg string) []string {
	list := []string{"/etc/gitconfig"}
	if path.IsAbs(home) {
		list = append(list, home+"/.gitconfig")
	}
	switch {
	case path.IsAbs(xdg):
		list = append(list, xdg+"/git/config")
	case path.IsAbs(home):
		list = append(list, home+"/.config/git/config")
	}
	return list
}

// Pushes returns where a push from a folder goes. to is the remote that the command names, empty if it
// names none, and user are the further files of settings.
func (d *Reader) Pushes(dir, to string, user []string) Push {
	p := Push{Remote: to}
	_, common, own := d.folders(dir)
	if common == "" {
		return p
	}
	s, ok := d.allSettings(user, common, own)
	if !ok {
		p.Mapped, p.Rewritten = true, true // perhaps
		return p
	}
	p.Rewritten = s.rewrites()
	branch := d.checkedOut(own)
	if p.Remote == "" {
		p.Remote = s.remoteOf(branch)
	}
	for _, key := range []string{"push", "mirror"} {
		if len(s.remote(p.Remote, key)) > 0 {
			return Push{Remote: to, Mapped: true, Rewritten: p.Rewritten}
		}
	}
	p.Branch, p.Mapped = s.byDefault(branch)
	urls := s.remote(p.Remote, "pushurl")
	if len(urls) == 0 {
		urls = s.remote(p.Remote, "url")
	}
	if len(urls) == 0 && to != "" {
		urls = []string{to} // an address
		p.Mapped = p.Mapped || d.older(common, to)
	}
	if len(urls) == 1 && !p.Rewritten {
		p.Repo = repoName(urls[0])
	}
	return p
}

// older reports whether a remote is of the kind that had files of its own, with settings of its own.
func (d *Reader) older(common, name string) bool {
	return !strings.ContainsAny(name, ":/") && (disk.Exists(d.Disk, path.Join(common, "remotes", name)) ||
		disk.Exists(d.Disk, path.Join(common, "branches", name)))
}

// byDefault returns which branch a push overwrites that names none, and whether the way pushes are set also sends
// a branch that is named to another one.
func (g gitSettings) byDefault(branch string) (overwrites string, mapped bool) {
	merge := g.branch(branch, "merge")
	switch g.last("push.default") {
	case "current":
		return branch, false
	case "", "simple":
		if merge == "" || merge == "refs/heads/"+branch {
			return branch, false
		}
		return "", false
	case "nothing":
		return "", false
	}
	return "", true
}

// MapsPushes reports whether settings may send a branch to another one than a push from a folder names, whatever
// its remote. unnamed is a push that names no branch: then the one that is checked out counts.
func (d *Reader) MapsPushes(dir string, user []string, unnamed bool) bool {
	_, common, own := d.folders(dir)
	if common == "" {
		return false // there is no repository yet
	}
	s, ok := d.allSettings(user, common, own)
	if !ok {
		return true
	}
	if slices.ContainsFunc(s, func(x content.GitSetting) bool {
		return strings.HasPrefix(x.Key, "remote.") &&
			(strings.HasSuffix(x.Key, ".push") || strings.HasSuffix(x.Key, ".mirror"))
	}) {
		return true
	}
	branch := d.checkedOut(own)
	overwrites, mapped := s.byDefault(branch)
	return mapped || unnamed && (branch == "" || overwrites != branch)
}

// checkedOut returns the branch that a working tree has checked out, by its own folder of git.
func (d *Reader) checkedOut(own string) string {
	head, err := d.Disk.ReadFile(own+"/HEAD", MaxPath)
	ref, is := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if err != nil || !is {
		return ""
	}
	return plainName(ref, maxBranch)
}

// CheckedOut returns the branch that is checked out in a folder, as people may read it; empty if it is not
// known.
func (d *Reader) CheckedOut(dir string) string {
	_, _, own := d.folders(dir)
	if own == "" {
		return ""
	}
	return d.checkedOut(own)
}

// ReadsHead reports whether a command of git works on the branch that is checked out. words are those
// after the subcommand. An approval of such a command is bound to the branch.
func ReadsHead(sub string, words []string) bool {
	switch sub {
	case "reset", "rebase", "merge", "pull", "commit", "cherry-pick", "revert", "am":
		return true
	case "push", "send-pack":
	default:
		return false
	}
	refs := Refspecs(words)
	for _, ref := range refs {
		from, _, _ := strings.Cut(strings.TrimPrefix(ref, "+"), ":")
		if from == "HEAD" || from == "@" || strings.ContainsAny(from, "~^@\x00") {
			return true
		}
	}
	return len(refs) == 0
}

// Refspecs returns the words behind the remote of a push, and Remote the remote itself.
func Refspecs(words []string) []string {
	if words = operands(words); len(words) > 1 {
		return words[1:]
	}
	return nil
}

// Remote returns the remote that a push names; empty if it names none. ok is false if an option may name
// another one.
func Remote(words []string) (name string, ok bool) {
	for _, w := range words {
		if strings.HasPrefix(w, "--rep") {
			return "", false
		}
	}
	if words = operands(words); len(words) > 0 {
		name = words[0]
	}
	return name, true
}

// operands returns the words of a push that are no options.
func operands(words []string) (out []string) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "--":
			return append(out, words[i+1:]...)
		case w == "-o" || w == "--push-option" || w == "--receive-pack" || w == "--exec":
			i++
		case !strings.HasPrefix(w, "-"):
			out = append(out, w)
		}
	}
	return out
}

// gitSettings are settings of git in the order in which git reads them: a later one counts.
type gitSettings []content.GitSetting

// maxIncluded limits how deep files of settings include others.
const maxIncluded = 5

// allSettings returns the settings that hold in a working tree. Those of its own count only where those of the
// repository itself say so.
func (d *Reader) allSettings(user []string, common, own string) (s gitSettings, ok bool) {
	files := append(slices.Clone(user), common+"/config")
	switch list, ok := d.read(common + "/config"); {
	case !ok:
		return nil, false
	case truthy(gitSettings(list).last("extensions.worktreeconfig")):
		files = append(files, own+"/config.worktree")
	}
	for _, file := range files {
		if !d.settings(&s, file, 0) {
			return nil, false
		}
	}
	return s, true
}

// truthy reports whether git reads a value as yes. Of one that it refuses, it does nothing.
func truthy(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return false
	}
	return true
}

// read returns the settings in a file, without those that it includes; none if there is no such file.
func (d *Reader) read(file string) (list []content.GitSetting, ok bool) {
	b, err := d.Disk.ReadFile(file, maxSettings)
	if disk.IsMissing(err) {
		return nil, true
	}
	list, broken := content.GitSettings(string(b))
	return list, err == nil && broken == nil && len(b) < maxSettings
}

// settings adds the settings of a file and of those that it includes. ok is false if one cannot be read, or if one
// that may count or not says something about pushes.
func (d *Reader) settings(all *gitSettings, file string, depth int) (ok bool) {
	list, ok := d.read(file)
	if !ok || depth > maxIncluded {
		return false
	}
	for _, s := range list {
		switch {
		case s.Key == "include.path":
			if !path.IsAbs(file) || strings.HasPrefix(s.Value, "~") || strings.HasPrefix(s.Value, "%") ||
				!d.settings(all, disk.Absolute(s.Value, path.Dir(file)), depth+1) {
				return false
			}
		case strings.HasPrefix(s.Key, "include"):
			return false
		}
		*all = append(*all, s)
	}
	return true
}

// last returns the value of a setting that counts.
func (g gitSettings) last(key string) (value string) {
	for _, s := range g {
		if s.Key == key {
			value = s.Value
		}
	}
	return value
}

// of returns the values of a setting with a name in quotes.
func (g gitSettings) of(section, name, key string) (values []string) {
	for _, s := range g {
		if s.Quoted == name && strings.HasPrefix(s.Key, section+".") && strings.HasSuffix(s.Key, "."+key) {
			values = append(values, s.Value)
		}
	}
	return values
}

func (g gitSettings) remote(name, key string) []string { return g.of("remote", name, key) }

func (g gitSettings) branch(name, key string) string {
	if values := g.of("branch", name, key); len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// remoteOf returns the remote to which a branch is pushed.
func (g gitSettings) remoteOf(branch string) string {
	for _, name := range []string{
		g.branch(branch, "pushremote"), g.last("remote.pushdefault"), g.branch(branch, "remote"),
	} {
		if name != "" {
			return name
		}
	}
	names := map[string]bool{}
	for _, s := range g {
		if s.Quoted != "" && strings.HasPrefix(s.Key, "remote.") && strings.HasSuffix(s.Key, ".url") {
			names[s.Quoted] = true
		}
	}
	if len(names) == 1 {
		for name := range names {
			return name
		}
	}
	return "origin"
}

// rewrites reports whether addresses of remotes may be changed.
func (g gitSettings) rewrites() bool {
	return slices.ContainsFunc(g, func(s content.GitSetting) bool {
		return strings.HasSuffix(s.Key, "insteadof") || strings.HasSuffix(s.Key, ".vcs") ||
			strings.HasSuffix(s.Key, "proxy") || s.Key == "core.sshcommand"
	})
}

// folders returns the root of the working tree that holds a folder, and the folders of git: the
// common one, and that of the working tree. It reads no index.
func (d *Reader) folders(dir string) (root, common, own string) {
	dir, ok := disk.Real(d.Disk, dir)
	if !ok {
		return "", "", ""
	}
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

// repoName returns the name of the repository of an address: acme/shop of git@github.com:acme/shop.git,
// with the host for any other one. It is empty for a folder, and for what must not be shown.
func repoName(address string) string {
	address = strings.TrimSuffix(strings.TrimRight(address, "/"), ".git")
	scheme, rest, is := strings.Cut(address, "://")
	if !is {
		host, way, ok := strings.Cut(address, ":")
		if !ok || strings.Contains(host, "/") {
			return "" // a folder
		}
		rest = host + "/" + way
	} else if scheme == "file" {
		return ""
	}
	host, way, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:] // without the password
	if way = strings.Trim(way, "/"); host == "" || !strings.Contains(way, "/") ||
		strings.Contains(way, "//") || strings.Contains(way, "..") {
		return ""
	}
	if strings.EqualFold(host, "github.com") && strings.Count(way, "/") == 1 {
		return plainName(way, maxOwner)
	}
	name, port, found := strings.Cut(host, ":")
	if found {
		name += "/" + port
	}
	return plainName(name+"/"+way, maxOwner)
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
