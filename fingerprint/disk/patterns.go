package disk

import (
	"path/filepath"
	"slices"
	"strings"
)

// kinds are patterns of names. Most of them are an ending.
type kinds struct {
	endings map[string]bool
	others  []string
}

func kindsOf(patterns []string) kinds {
	k := kinds{endings: map[string]bool{}}
	for _, p := range patterns {
		if end, ok := strings.CutPrefix(p, "*"); ok && strings.LastIndexByte(end, '.') == 0 && !strings.ContainsAny(end,
			"*?[\\") {
			k.endings[strings.ToLower(end)] = true
		} else {
			k.others = append(k.others, p)
		}
	}
	return k
}

// Like is the function Like, for patterns that are used often.
func (k kinds) Like(name string) bool {
	return len(k.endings)+len(k.others) == 0 || k.endings[strings.ToLower(filepath.Ext(name))] ||
		len(k.others) > 0 && Like(name, k.others)
}

// Like reports whether a name matches one of some patterns, without regard to case. No patterns match all.
func Like(name string, patterns []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		// A bad pattern here may be a good one for the program.
		ok, err := filepath.Match(strings.ToLower(p), strings.ToLower(name))
		return ok || err != nil
	})
}

// IsPattern reports whether a shell may expand a word on the disk.
func IsPattern(word string) bool {
	return strings.ContainsAny(word, "*?[") || closes(word, strings.IndexByte(word, '(')) > 0
}

// closes returns the end of the group that begins at open, or 0 if it is not closed: then
// "(" is a part of a name.
func closes(word string, open int) (end int) {
	for i, depth := max(open, 0), 0; open >= 0 && i < len(word); i++ {
		switch word[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// Loose converts a shell's pattern to one of package filepath: [!x] becomes [^x], and an
// extended pattern becomes *.
func Loose(pattern string) string {
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	for from := 0; ; {
		open := strings.IndexByte(pattern[from:], '(')
		if open < 0 {
			return pattern
		}
		open += from
		end := closes(pattern, open)
		if end == 0 {
			from = open + 1
			continue
		}
		start := open
		if start > 0 && strings.IndexByte("?*+@!", pattern[start-1]) >= 0 {
			start--
		}
		pattern = pattern[:start] + "*" + pattern[end:]
		from = start
	}
}
