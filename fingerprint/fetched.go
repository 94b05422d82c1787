package fingerprint

import (
	"path/filepath"
	"slices"
	"strings"

	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// A fetching is a command that fetches packages, which lock files can pin.
type fetching struct {
	Programs, Words string // Bare says that no word means the first of them
	Bare            bool
	Locks           string // one of them pins; "" is none
	Asks            string // the file without which nothing is fetched
}

var fetchings = tableOf[fetching]("fetched.txt")

// fetchingsOf are the rows of a program.
var fetchingsOf = rowsOf(fetchings, func(f fetching) string { return f.Programs })

// A requirementsReader reads the files that say which packages a command fetches.
type requirementsReader struct{ reading }

// bind reports the packages that a step fetches without a lock file.
func (r requirementsReader) bind() {
	words := r.c.Argv[1:]
	for _, n := range fetchingsOf()[r.name] {
		f := fetchings()[n]
		at := slices.IndexFunc(words, operand)
		asked := f.Bare && at < 0 || slices.ContainsFunc(words, func(w string) bool { return wordset.Has(f.Words, w) })
		if !asked {
			continue
		}
		lies := func(names string) bool {
			return slices.ContainsFunc(r.bases, func(base string) bool {
				return slices.ContainsFunc(r.upwards(base), func(at string) bool {
					return slices.ContainsFunc(strings.Fields(names), func(file string) bool {
						r.Visit(filepath.Join(at, file), disk.Code)
						return r.Bound[filepath.Join(at, file)] != ""
					})
				})
			})
		}
		if (f.Asks == "" || lies(f.Asks)) && !lies(f.Locks) {
			r.reportUnbound("the packages that %s fetches without a lock file", r.name)
		}
	}
	if strings.HasPrefix(r.name, "pip") || r.name == "uv" {
		r.required(words)
	}
}

// required reports packages that pip fetches for requirements files and for folders.
func (r requirementsReader) required(words []string) {
	n := slices.IndexFunc(words, func(w string) bool { return wordset.Has("install download wheel sync", w) })
	if n < 0 {
		return
	}
	words = words[n+1:]
	alone := slices.Contains(words, "--no-deps")
	for n, w := range words {
		value, is := flagAt(words, n, "-r --requirement -c --constraint")
		for _, base := range r.bases {
			switch {
			case is && !effect.IsKnown(value), is && strings.Contains(value, "://"):
				r.reportUnbound("the packages of %s, which no hash pins", effect.Show(value))
			case is:
				r.requirements(filepath.Clean(abs(base, value)), 0)
			case operand(w) && !alone && (strings.Contains(w, "/") || w == ".") && r.needsOthers(abs(base, w)):
				r.reportUnbound("the packages that %s needs, which no hash pins", w)
			}
		}
	}
}

// needsOthers reports whether a folder is a Python package that requires others.
func (r requirementsReader) needsOthers(dir string) bool {
	for _, name := range []string{"pyproject.toml", "setup.py", "setup.cfg"} {
		file := filepath.Join(dir, name)
		if !r.BindCode(file) {
			continue
		}
		if text, ok := r.TextOf(file, "asks for"); !ok || strings.Contains(text, "requires") || strings.Contains(text,
			"dependencies") {
			return true
		}
	}
	return false
}

// requirements binds a requirements file and those that it includes, and reports it if it
// has a requirement without a hash.
func (r requirementsReader) requirements(file string, depth int) {
	if !r.Once("requirements", file) || r.Visit(file, disk.Code) {
		return
	}
	text, ok := r.follow(file, "asks for", depth)
	if !ok {
		return
	}
	unpinned := false
	for line := range strings.Lines(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")) {
		line, _, _ = strings.Cut(" "+line, " #")
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		other, is := flagAt(words, 0, "-r --requirement -c --constraint")
		switch {
		case is && !strings.Contains(other, "://"):
			r.requirements(filepath.Clean(abs(filepath.Dir(file), other)), depth+1)
		case is, words[0][0] != '-' && !strings.Contains(line, "--hash="), words[0] == "-e", strings.HasPrefix(words[0],
			"--editable"):
			unpinned = true
		}
	}
	if unpinned {
		r.reportUnbound("the packages of %s, which no hash pins", filepath.Base(file))
	}
}
