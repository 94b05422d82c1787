package fingerprint

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// This file has what is asked of words and paths, whatever program they belong to.

// first is the name of a step's program without its folder.
func first(st *shell.Step) string {
	if len(st.Argv) == 0 {
		return ""
	}
	return path.Base(st.Argv[0])
}

func abs(base, word string) string {
	if filepath.IsAbs(word) {
		return word
	}
	return base + "/" + word
}

// operand reports whether a word is no flag.
func operand(word string) bool { return word != "" && word[0] != '-' }

// oneOf reports whether a word is in a list of words.
func oneOf(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// letters are those with which a group of flags begins.
func letters(group string) string {
	end := strings.IndexFunc(group, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		return group
	}
	return group[:end]
}

// flagValue is the value that a word has for one of some flags: --x=v, -xv, or "" if it
// is the next word.
func flagValue(word, flags string) (value string, has bool) {
	for flag := range strings.FieldsSeq(flags) {
		switch rest, ok := strings.CutPrefix(word, flag); {
		case !ok:
		case rest == "" || rest[0] == '=':
			return strings.TrimPrefix(rest, "="), true
		case len(flag) == 2 && flag != "--":
			return rest, true
		}
	}
	return "", false
}

// flagAt is the value that the word at n has for one of some flags, also where it is the next word.
func flagAt(words []string, n int, flags string) (value string, has bool) {
	if value, has = flagValue(words[n], flags); has && value == "" && n+1 < len(words) {
		value = words[n+1]
	}
	return value, has
}

// flagValues are the values of flags of a step, as far as they are known.
func flagValues(st *shell.Step, flags string) (values []string) {
	for n := 1; n < len(st.Argv); n++ {
		if value, is := flagAt(st.Argv, n, flags); is && value != "" && effect.IsKnown(value) {
			values = append(values, value)
		}
	}
	return values
}

// has reports whether a step has one of some words.
func has(st *shell.Step, words string) bool {
	return slices.ContainsFunc(st.Argv[1:], func(w string) bool { return oneOf(words, w) })
}

// above are a folder and those above it.
func above(dir string) (list []string) {
	if !filepath.IsAbs(dir) || !effect.IsKnown(dir) {
		return nil
	}
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if list = append(list, dir); dir == "/" {
			break
		}
	}
	return list
}

func within(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/")
}

// system reports whether a program is in a folder of the system.
func system(file string) bool {
	for _, at := range []string{"/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"} {
		if strings.HasPrefix(file, at) && path.Clean(file) == file {
			return true
		}
	}
	return false
}

// shells are those whose text the walk reads.
var shells = strings.Fields("sh bash dash ash ksh zsh")

// quoted is a text in quotes at the beginning of an argument.
var quoted = regexp.MustCompile(`^["']([^"'\n]*)["']`)

// fromHome is a path that may begin with the home's sign.
func fromHome(file, home string) string {
	if rest, is := strings.CutPrefix(file, "~/"); is {
		return filepath.Join(home, rest)
	}
	return file
}

// systemPath is where a shell looks if nothing says where.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

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

// like is the function of that name, for patterns that are asked often.
func (k kinds) like(name string) bool {
	return len(k.endings)+len(k.others) == 0 || k.endings[strings.ToLower(filepath.Ext(name))] ||
		len(k.others) > 0 && like(name, k.others)
}

func like(name string, patterns []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		// What is no pattern here may be one for the program.
		ok, err := filepath.Match(strings.ToLower(p), strings.ToLower(name))
		return ok || err != nil
	})
}

// isPattern reports whether a shell may expand a word on the disk.
func isPattern(word string) bool {
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

// loose makes a shell's pattern one of package filepath: [!x] is [^x], and an extended
// pattern anything.
func loose(pattern string) string {
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

var (
	objects = []string{".o", ".lo", ".obj", ".d"}
	sources = []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".s", ".S", ".m"}
)
