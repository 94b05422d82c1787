package disk

import (
	"path/filepath"
	"slices"
	"strings"
)

// This file knows the patterns of a shell and of the tables.

// kinds are patterns of names, of which most are an ending.
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

// Like is the function of that name, for patterns that are asked often.
func (k kinds) Like(name string) bool {
	return len(k.endings)+len(k.others) == 0 || k.endings[strings.ToLower(filepath.Ext(name))] ||
		len(k.others) > 0 && Like(name, k.others)
}

// Like reports whether a name is like one of some patterns, in any case of letters; none match all.
func Like(name string, patterns []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		// What is no pattern here may be one for the program.
		ok, err := filepath.Match(strings.ToLower(p), strings.ToLower(name))
		return ok || err != nil
	})
}

// IsPattern reports whether a shell may expand a word on the disk.
func IsPattern(word string) bool {
	return strings.ContainsAny(word, "*?[") || closes(word, strings.IndexByte(word, '(')) > 0
}

// closes returns where the group ends that begins at open, or 0: then "(" is a letter
// as any other, as in the name of a folder.
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

// Loose makes a shell's pattern one of package filepath: [!x] is [^x], and an extended
// pattern anything.
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
