package fingerprint

import (
	"embed"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file has helpers for words and paths.

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

// operand reports whether a word is not empty and no flag.
func operand(word string) bool { return word != "" && word[0] != '-' }

// rowsOf indexes the rows of a table by each of their words; rows without words are under "".
func rowsOf[T any](table func() []T, words func(T) string) func() map[string][]int {
	return sync.OnceValue(func() map[string][]int {
		of := map[string][]int{}
		for n, row := range table() {
			for name := range strings.SplitSeq(strings.Join(strings.Fields(words(row)), " "), " ") {
				of[name] = append(of[name], n)
			}
		}
		return of
	})
}

// splitAny splits a text at each of some characters, and leaves out empty parts.
func splitAny(text, separators string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) })
}

// letters are the letters at the start of a group of flags.
func letters(group string) string {
	end := strings.IndexFunc(group, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		return group
	}
	return group[:end]
}

// flagValue is the value of one of some flags in a word: --x=v, -xv, or "" if the value is
// the next word.
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

// flagAt is the value of one of some flags at n, also if it is the next word.
func flagAt(words []string, n int, flags string) (value string, has bool) {
	if value, has = flagValue(words[n], flags); has && value == "" && n+1 < len(words) {
		value = words[n+1]
	}
	return value, has
}

// flagValues are the known values of some flags of a step.
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
	return slices.ContainsFunc(st.Argv[1:], func(w string) bool { return wordset.Has(words, w) })
}

// above lists a folder and its parents.
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

// quoted is a text in quotes at the beginning of an argument.
var quoted = regexp.MustCompile(`^["']([^"'\n]*)["']`)

// fromHome replaces ~ at the start of a path.
func fromHome(file, home string) string {
	if rest, is := strings.CutPrefix(file, "~/"); is {
		return filepath.Join(home, rest)
	}
	return file
}

// systemPath is the PATH that a shell uses by default.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// tableOf returns the rows of the table in a file.
func tableOf[T any](file string) func() []T {
	return sync.OnceValue(func() []T { return readTable[T](textOf(file)) })
}

// textOf is the text of a table. A missing file is a bug, and panics.
func textOf(file string) string {
	text, err := texts.ReadFile(file)
	if err != nil {
		panic("fingerprint: " + err.Error())
	}
	return string(text)
}

//go:embed *.txt
var texts embed.FS

// readTable reads the text of a table. Empty lines separate rows. A line has a setting and its
// value; a line that begins with a tab continues the value above it; # begins a comment. A setting
// is the field of that name. An unknown setting is a bug, and panics.
func readTable[T any](text string) []T {
	var rows []T
	for block := range strings.SplitSeq(strings.ReplaceAll(text, "\n\t", " "), "\n\n") {
		var row T
		for line := range strings.SplitSeq(strings.TrimSpace(block), "\n") {
			if line[0] == '#' {
				continue
			}
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimSpace(value)
			field := reflect.ValueOf(&row).Elem().FieldByName(strings.ToUpper(name[:1]) + name[1:])
			switch field := field.Addr().Interface().(type) {
			case *string:
				*field = value
			case *bool:
				*field = true
			case **regexp.Regexp:
				*field = regexp.MustCompile(value)
			case **strings.Replacer:
				*field = replacerOf(value)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// replacerOf makes a replacer of words such as old=new. A word without a sign is dropped.
func replacerOf(words string) *strings.Replacer {
	var pairs []string
	for word := range strings.FieldsSeq(words) {
		before, after, _ := strings.Cut(word, "=")
		pairs = append(pairs, before, after)
	}
	return strings.NewReplacer(pairs...)
}
