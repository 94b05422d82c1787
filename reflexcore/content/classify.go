package content

import (
	_ "embed"
	"strings"

	"approver.example/reflexcore/wordset"
)

// maxSegments and maxPath limit a path. No file system has longer ones.
const (
	maxSegments = 64
	maxPath     = 4096
)

// setsText has sets of words that do not change.
//
//go:embed sets.txt
var setsText string

var sets = wordset.Sets(setsText)

// parsed is a path, split into clean names in lower case.
type parsed struct {
	space      [512]byte // the folded path, or long if it has no room here
	long       []byte
	used       int
	segs       [maxSegments][2]uint16
	n          int
	home       int // index of the first name below a home, -1 if it lies in none
	rooted     bool
	tilde      bool // the path began with a home
	above      int  // how many .. went above what is known
	glob       bool
	ignoreWeak bool // test data or source code: weak rows do not count
}

func (p *parsed) seg(i int) []byte { return p.slice(int(p.segs[i][0]), int(p.segs[i][1])) }

func (p *parsed) slice(from, to int) []byte {
	if p.long != nil {
		return p.long[from:to]
	}
	return p.space[from:to]
}

// found is the best row that matched so far.
type found struct {
	row        int // the first, counted from 1; 0 is none
	ignoreWeak bool
}

func (f *found) add(row int) {
	if row == 0 || f.ignoreWeak && built().rows[row-1].weak {
		return
	}
	if f.row == 0 || row < f.row {
		f.row = row
	}
}

func (f *found) sink(may bool) Sink {
	if f.row == 0 {
		return Sink{Kind: Plain, May: may}
	}
	r := &built().rows[f.row-1]
	return Sink{Kind: r.kind, Secret: r.secret, May: may, Lang: r.lang, Name: r.name, format: r.format}
}

// Classify returns what a path is for.
func Classify(path string) Sink {
	if path == "" || len(path) > maxPath {
		return Sink{}
	}
	var p parsed
	if !p.parse(path) {
		return Sink{}
	}
	if strings.IndexByte(path, 0) >= 0 {
		return p.unknown()
	}
	if p.glob {
		return p.wildcards()
	}
	x := built()
	f := found{ignoreWeak: p.ignoreWeak}
	if p.rooted {
		p.walk(&x.root, 0, &f)
	}
	if p.home >= 0 {
		p.walk(&x.home, p.home, &f)
	}
	for i := range p.n {
		seg := p.seg(i)
		if to := x.any.lit[string(seg)]; to != nil {
			p.walk(to, i+1, &f)
		}
		for _, list := range [2][]edge{x.first[seg[0]], x.last[seg[len(seg)-1]]} {
			for _, e := range list {
				if matchName(e.pattern, seg) {
					p.walk(e.to, i+1, &f)
				}
			}
		}
	}
	if p.n > 0 {
		base := p.seg(p.n - 1)
		for i, c := range base {
			if c == '.' {
				f.add(x.endings[string(base[i:])])
			}
		}
	}
	if p.home >= 0 && f.row == 0 && p.secretWord() {
		return Sink{Kind: Credential, Secret: true, Name: "a program's credentials"}
	}
	return f.sink(false)
}

// walk follows the tree from name i on.
func (p *parsed) walk(at *node, i int, f *found) {
	f.add(at.deep)
	if i == p.n {
		f.add(at.leaf)
		return
	}
	if at.lit == nil && at.wild == nil {
		return
	}
	seg := p.seg(i)
	if to := at.lit[string(seg)]; to != nil {
		p.walk(to, i+1, f)
	}
	for _, e := range at.wild {
		if matchName(e.pattern, seg) {
			p.walk(e.to, i+1, f)
		}
	}
}

// matchName matches one name with * and ?.
func matchName(pattern string, name []byte) bool {
	pi, ni, star, mark := 0, 0, -1, 0
	for ni < len(name) {
		switch {
		case pi < len(pattern) && pattern[pi] == '*':
			star, mark = pi, ni
			pi++
		case pi < len(pattern) && (pattern[pi] == '?' || pattern[pi] == name[ni]):
			pi++
			ni++
		case star >= 0:
			mark++
			pi, ni = star+1, mark
		default:
			return false
		}
	}
	for pi < len(pattern) && pattern[pi] == '*' {
		pi++
	}
	return pi == len(pattern)
}

// parse splits a path into names in lower case, without . and .. and double slashes, and finds the
// home. It returns false if there are too many names.
func (p *parsed) parse(path string) bool {
	p.home = -1
	if len(path) > len(p.space) {
		p.long = make([]byte, len(path))
	}
	windows := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') || strings.HasPrefix(path, `\\`) ||
		strings.HasPrefix(path, "%")
	if windows && len(path) > 1 && path[1] == ':' {
		path = path[2:]
	}
	rest, tilde := withoutHome(path)
	p.tilde = tilde
	p.rooted = !tilde && (strings.HasPrefix(rest, "/") || windows)
	start := -1
	for i := 0; i <= len(rest); i++ {
		if i < len(rest) && rest[i] != '/' && (!windows || rest[i] != '\\') {
			c := rest[i]
			if start < 0 {
				start = p.used
			}
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			p.glob = p.glob || c == '*' || c == '?' || c == '[' || c == '{' || c == '('
			p.slice(p.used, p.used+1)[0] = c
			p.used++
			continue
		}
		if start < 0 {
			continue
		}
		if !p.push(start) {
			return false
		}
		start = -1
	}
	p.findHome()
	p.look()
	return true
}

// push adds the name that begins at start.
func (p *parsed) push(start int) bool {
	name := p.slice(start, p.used)
	switch string(name) {
	case ".":
		p.used = start
		return true
	case "..":
		p.used = start
		if p.n > 0 {
			p.n--
			return true
		}
		// The root is above a home, and above an unknown folder after enough steps.
		if p.above++; p.tilde || p.above > 2 {
			p.rooted = true
		}
		return true
	}
	// macOS keeps /etc, /var and /tmp under /private; WSL mounts drives.
	if p.rooted && p.n == 1 && string(p.seg(0)) == "private" &&
		(string(name) == "etc" || string(name) == "var" || string(name) == "tmp") {
		p.n = 0
	}
	if p.rooted && p.n == 1 && string(p.seg(0)) == "mnt" && len(name) == 1 {
		p.n = 0
		p.used = start
		return true
	}
	// The root of a process is a root, as in /proc/1/root/etc/shadow, and its folder is unknown.
	if p.rooted && p.n == 2 && string(p.seg(0)) == "proc" && string(name) == "root" {
		p.n = 0
		p.used = start
		return true
	}
	if p.rooted && p.n == 2 && string(p.seg(0)) == "proc" && string(name) == "cwd" {
		p.n, p.rooted = 0, false
		p.used = start
		return true
	}
	if p.n == maxSegments {
		return false
	}
	p.segs[p.n] = [2]uint16{uint16(start), uint16(p.used)}
	p.n++
	return true
}

// withoutHome removes ~, $HOME and similar prefixes.
func withoutHome(path string) (rest string, ok bool) {
	for _, prefix := range [...]string{"~", "$HOME", "${HOME}", "%USERPROFILE%", "%userprofile%", "$env:USERPROFILE",
		"$env:HOME", "%HOME%"} {
		if after, ok := strings.CutPrefix(path, prefix); ok {
			if after == "" || after[0] == '/' || after[0] == '\\' {
				return after, true
			}
			if prefix == "~" && after[0] != '$' { // ~user
				if i := strings.IndexByte(after, '/'); i > 0 && i < 33 {
					return after[i:], true
				}
			}
		}
	}
	return path, false
}

// findHome finds the first name below a home.
func (p *parsed) findHome() {
	switch {
	case p.tilde && p.above == 0:
		p.home = 0
	case !p.rooted || p.n == 0:
	case string(p.seg(0)) == "root":
		p.home = 1
	case p.n > 1 && (string(p.seg(0)) == "home" || string(p.seg(0)) == "users") && string(p.seg(1)) != "**":
		p.home = 2
	case p.n > 1 && string(p.seg(0)) == "var" && string(p.seg(1)) == "root":
		p.home = 2
	}
}

// codeEndings are endings of source code, whose names say what the code is about, not what it
// contains.
var codeEndings = sets["source code"]

// look decides whether the weak rows count.
func (p *parsed) look() {
	for i := 0; i < p.n-1; i++ {
		switch string(p.seg(i)) {
		case "testdata", "fixtures", "__fixtures__", "examples", "docs":
			p.ignoreWeak = true
		case "example", "sample", "samples", "sample-inventory", "contrib":
			p.ignoreWeak = p.ignoreWeak || p.isTerraform()
		}
	}
	if p.n > 0 {
		base := p.seg(p.n - 1)
		for i := len(base) - 1; i > 0; i-- {
			if base[i] == '.' {
				p.ignoreWeak = p.ignoreWeak || codeEndings[string(base[i:])]
				break
			}
		}
	}
}

// isTerraform reports whether the file has values of terraform. Many projects show how to set theirs.
func (p *parsed) isTerraform() bool {
	base := string(p.seg(p.n - 1))
	return (strings.HasSuffix(base, ".tfvars") || strings.HasSuffix(base, ".tfvars.json")) &&
		!wordset.ContainsAny(base, "prod", "live", "secret", "cred")
}

// secretWords are words in the names of files with credentials, in folders where programs keep
// their data.
var secretWords = sets["secret"]

// secretWord reports whether the file is in a program's folder in a home, and has one of these
// words in its name.
func (p *parsed) secretWord() bool {
	if p.ignoreWeak || p.n <= p.home {
		return false
	}
	dir := string(p.seg(p.home)) == "library" || string(p.seg(p.home)) == "appdata"
	for i := p.home; i < p.n; i++ {
		dir = dir || p.seg(i)[0] == '.' && len(p.seg(i)) > 2
	}
	if !dir {
		return false
	}
	base := p.seg(p.n - 1)
	if base[0] == '.' {
		base = base[1:]
	}
	start := 0
	for i := 0; i <= len(base); i++ {
		if i < len(base) && base[i] >= 'a' && base[i] <= 'z' {
			continue
		}
		if secretWords[string(base[start:i])] && (start == 0 || base[start-1] < '0' || base[start-1] > '9') { // 1password
			return true
		}
		start = i + 1
	}
	return false
}
