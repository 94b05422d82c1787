package flow

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// A Source gives a label to data from certain places. If several sources match, the highest label
// counts.
type Source struct {
	Label Label `yaml:"label" json:"label"`
	// Paths are patterns of whole paths: * and ? match within a name, and ** matches any number of
	// folders. They begin with /, ~/ or **/.
	Paths []string `yaml:"paths" json:"paths,omitempty"`
	// Basenames are patterns of file names in any folder.
	Basenames []string `yaml:"basenames" json:"basenames,omitempty"`
	// Hosts are patterns of host names. *.example.com matches example.com and every host below it.
	Hosts []string `yaml:"hosts" json:"hosts,omitempty"`
}

// Bounds of sources: each path of a call is compared with each pattern.
const (
	maxSources  = 64
	maxPatterns = 256
	maxPattern  = 256 // bytes
	maxPath     = 4096
	maxSteps    = 1 << 18
	maxSpread   = 3 // times **/ in a pattern

	leastKnown = 2 // letters of a path
)

// SourceFaults lists the problems of sources; name is their key.
func SourceFaults(name string, list []Source) (out []error) {
	patterns := 0
	for i, s := range list {
		bad := func(key string, k int, format string, args ...any) {
			out = append(out, fmt.Errorf("%s[%d].%s[%d]: %s", name, i, key, k, fmt.Sprintf(format, args...)))
		}
		if len(s.Paths)+len(s.Basenames)+len(s.Hosts) == 0 {
			out = append(out, fmt.Errorf("%s[%d] names nothing: give it paths, basenames or hosts", name, i))
		}
		for k, p := range s.Paths {
			switch {
			case patternFault(p) != "":
				bad("paths", k, "%s", patternFault(p))
			case !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~/") && !strings.HasPrefix(p, "**/"):
				bad("paths", k, "%q begins nowhere: begin it with /, ~/ or **/", p)
			case strings.Trim(strings.TrimPrefix(p, "~"), "/*?") == "":
				bad("paths", k, "%q is every file: name a folder", p)
			case path.Clean(p) != strings.TrimSuffix(p, "/"):
				bad("paths", k, "%q is not a clean path: write it without //, /./ and /../", p)
			}
		}
		for k, p := range s.Basenames {
			switch {
			case patternFault(p) != "":
				bad("basenames", k, "%s", patternFault(p))
			case strings.Contains(p, "/"):
				bad("basenames", k, "%q has a slash: put it under paths", p)
			case strings.Trim(p, "*?") == "":
				bad("basenames", k, "%q is every file: name some letters", p)
			}
		}
		for k, p := range s.Hosts {
			rest := strings.TrimPrefix(p, "*.")
			if patternFault(p) != "" || rest == "" || strings.ContainsAny(rest, "/:*?@ ") {
				bad("hosts", k, "%q is no host: write example.com, or *.example.com for all below it", p)
			}
		}
		patterns += len(s.Paths) + len(s.Basenames) + len(s.Hosts)
	}
	if len(list) > maxSources || patterns > maxPatterns {
		out = append(out, fmt.Errorf("%s has %d entries with %d patterns: at most %d with %d, because each path is "+
			"compared with all", name, len(list), patterns, maxSources, maxPatterns))
	}
	return out
}

// patternFault returns what is wrong with the text of a pattern.
func patternFault(p string) string {
	switch {
	case p == "":
		return "an empty pattern: leave it out"
	case len(p) > maxPattern:
		return fmt.Sprintf("a pattern of %d bytes: at most %d", len(p), maxPattern)
	case strings.ContainsFunc(p, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return fmt.Sprintf("%q has a control character", p)
	case strings.Count(p, "**/") > maxSpread:
		return fmt.Sprintf("%q has **/ more than %d times", p, maxSpread)
	case strings.ContainsAny(p, "[]{}\\"):
		return fmt.Sprintf("%q has one of []{}\\: only *, ? and ** are patterns", p)
	}
	return ""
}

// without returns the patterns of a source that the others do not have with an equal or higher
// label.
func (s Source) without(others []Source) (out []string) {
	lost := func(of func(Source) []string) {
		for _, p := range of(s) {
			if !slices.ContainsFunc(others, func(o Source) bool { return o.Label <= s.Label && slices.Contains(of(o), p) }) {
				out = append(out, p)
			}
		}
	}
	lost(func(s Source) []string { return s.Paths })
	lost(func(s Source) []string { return s.Basenames })
	lost(func(s Source) []string { return s.Hosts })
	return out
}

// Sources are compiled sources. The zero value has none.
type Sources struct{ list []Source }

// CompileSources compiles sources. Relative patterns are below root.
func CompileSources(root string, list []Source) Sources {
	var out Sources
	for _, s := range list {
		c := Source{Label: s.Label}
		for _, p := range s.Paths {
			if root != "" && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~/") && !strings.HasPrefix(p, "**/") {
				p = root + "/" + p
			}
			c.Paths = append(c.Paths, expandStars(strings.ToLower(strings.TrimSuffix(p, "/")))...)
		}
		for _, p := range s.Basenames {
			c.Basenames = append(c.Basenames, strings.ToLower(p))
		}
		for _, p := range s.Hosts {
			c.Hosts = append(c.Hosts, strings.ToLower(p))
		}
		out.list = append(out.list, c)
	}
	return out
}

// And returns the sources of both.
func (s Sources) And(others Sources) Sources {
	return Sources{append(s.list[:len(s.list):len(s.list)], others.list...)}
}

// AnyHost reports whether any source has hosts.
func (s Sources) AnyHost() bool {
	return slices.ContainsFunc(s.list, func(src Source) bool { return len(src.Hosts) > 0 })
}

// None reports whether there are no sources.
func (s Sources) None() bool { return len(s.list) == 0 }

// Path returns the label of a file, ignoring case. A path with wildcards or unknown parts has the
// highest label that it may have, unless almost nothing of it is known. A folder has the labels of
// everything below it, because reading the folder reads that. home is the home folder of the call,
// empty if it is not known.
func (s Sources) Path(p, home string) Label {
	out := Public
	if len(s.list) == 0 || p == "" {
		return out
	}
	if len(p) > maxPath {
		p = p[:maxPath] + effect.Unknown // it may be any of them
	}
	p, home = strings.ToLower(p), strings.ToLower(home)
	base := p[strings.LastIndexByte(p, '/')+1:]
	wild := strings.ContainsAny(p, "*?[{(\x00")
	if wild && len(strings.Trim(p, "/*?\x00")) < leastKnown {
		return out
	}
	for _, src := range s.list {
		if src.Label >= out {
			continue
		}
		if slices.ContainsFunc(src.Basenames, func(pattern string) bool { return canMatch(pattern, base, wild) }) ||
			slices.ContainsFunc(src.Paths, func(pattern string) bool { return reaches(pattern, p, home, wild) }) {
			out = src.Label
		}
	}
	return out
}

// Host returns the label of data from a host.
func (s Sources) Host(host string) Label {
	out := Public
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, src := range s.list {
		if src.Label >= out || host == "" {
			continue
		}
		if slices.ContainsFunc(src.Hosts, func(pattern string) bool {
			rest, all := strings.CutPrefix(pattern, "*.")
			return host == rest || all && strings.HasSuffix(host, "."+rest) || strings.IndexByte(host, 0) >= 0
		}) {
			out = src.Label
		}
	}
	return out
}

// reaches reports whether a path matches a pattern, lies below a match, or is a folder above one.
func reaches(pattern, p, home string, wild bool) bool {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		if home != "" && p[0] == '/' && !mayBegin(p, home, wild) {
			return false
		}
		if strings.HasPrefix(p, "~/") {
			p = p[2:]
			pattern = rest
		} else if home == "" {
			pattern = "**/" + rest // any home
		} else {
			pattern = home + "/" + rest
		}
	}
	fixed := fixedPart(pattern)
	above := strings.TrimSuffix(p, "/")
	switch {
	case len(above) < len(fixed) && fixed[:len(above)] == above && fixed[len(above)] == '/':
		return true
	case !mayBegin(p, strings.TrimSuffix(fixed, "/"), wild):
		return false // nearly all end here
	}
	for _, form := range [...]string{pattern, strings.TrimSuffix(pattern, "/**"), pattern + "/**"} {
		if canMatch(form, p, wild) {
			return true
		}
	}
	return false
}

// mayBegin reports whether one of p and text is a prefix of the other, comparing p up to its first
// wildcard.
func mayBegin(p, text string, wild bool) bool {
	if wild {
		p = p[:strings.IndexAny(p, "*?[{(\x00")]
	}
	n := min(len(p), len(text))
	return p[:n] == text[:n]
}

// fixedPart returns the part of a pattern before the first name with a wildcard.
func fixedPart(pattern string) string {
	i := strings.IndexAny(pattern, "*?")
	if i < 0 {
		return pattern
	}
	return pattern[:strings.LastIndexByte(pattern[:i], '/')+1]
}
