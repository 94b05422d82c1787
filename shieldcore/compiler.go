package shieldcore

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"approver.example/internal/strictyaml"
)

// A compiler turns the file as written into a policy and notes problems.
type compiler struct {
	*strictyaml.File
	defines map[string]string
	steps   int // of all regular expressions so far

	audience Audience // nil: not known
}

func (c *compiler) toolGlobs(at string, names []string) []toolGlob {
	var out []toolGlob
	for i, name := range names {
		if _, err := path.Match(name, ""); err != nil || strings.TrimSpace(name) == "" || strings.Contains(name, "\\") {
			c.Report(fmt.Sprintf("%s[%d]", at, i),
				fmt.Sprintf("tool %q is not a name: write it as the agent does, with * for any part", name))
		}
		out = append(out, toolGlob(name))
	}
	return out
}

func (c *compiler) pathGlobs(at string, patterns []string) (out []pathGlob) {
	for i, text := range patterns {
		g, err := newPathGlob(text)
		if err != nil {
			c.Report(fmt.Sprintf("%s[%d]", at, i), fmt.Sprintf("path %q %s", text, err))
		}
		out = append(out, g)
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }

func unknownWord(what, word string, words []string) string {
	if near := strictyaml.Nearest(word, words); near != "" {
		return fmt.Sprintf("unknown %s %q: did you mean %q?", what, word, near)
	}
	return fmt.Sprintf("unknown %s %q: one of %s", what, word, strings.Join(words, ", "))
}

// sortedNames returns the keys of a map in order, so that problems and
// compilation do not depend on chance.
func sortedNames(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
