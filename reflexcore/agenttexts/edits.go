package agenttexts

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"unicode"
)

// An edit in place by sed of a text that agents load is judged by what comes out, where that
// is plain: one replacement of words in one file.

const (
	sedCall  = `^\s*g?sed\s+(?:-(?:i|E|r|s|Ei|ri|i ''|i "")\s+)*(?:-i|-Ei|-ri|-i ''|-i "")\s+(?:-[Ers]\s+)*(?:-e\s+)?`
	sedFile  = `\s+[\w./~-]+\s*$`
	sedWords = `s/([^/QUOTE&;]+)/([^/QUOTE&;]*)/(g?)|s\|([^|QUOTE&;]+)\|([^|QUOTE&;]*)\|(g?)|s#([^#QUOTE&;]+)#([^#QUOTE&;]*)#(g?)|s,([^,QUOTE&;]+),([^,QUOTE&;]*),(g?)`
	sedBare  = `s([/,])([\w.:@%+=-]+)[/,]([\w.:@%+=-]*)[/,](g?)`
)

// plainSeds find such a call, by how its script is written: in either quotes, or in none.
var plainSeds = [...]*regexp.Regexp{
	regexp.MustCompile(sedCall + `'(?:` + strings.ReplaceAll(sedWords, "QUOTE", "'") + `)'` + sedFile),
	regexp.MustCompile(sedCall + `"(?:` + strings.ReplaceAll(sedWords, "QUOTE", `"!`) + `)"` + sedFile),
	regexp.MustCompile(sedCall + sedBare + sedFile),
}

// sedReplaces is what a call of sed replaces; ok: nothing else is done by it.
func sedReplaces(command string) (from, to string, all, ok bool) {
	if strings.ContainsAny(command, "`\\$\n") {
		return "", "", false, false
	}
	for _, form := range plainSeds {
		m := form.FindStringSubmatch(command)
		if m == nil {
			continue
		}
		if len(m) == 5 { // in no quotes
			from, to, all = m[2], m[3], m[4] != ""
			return from, to, all, !strings.Contains(from+to, m[1])
		}
		for i := 1; i < len(m); i += 3 {
			if m[i] != "" {
				return m[i], m[i+1], m[i+2] != "", true
			}
		}
	}
	return "", "", false, false
}

// editedPlainly judges an edit in place by what comes out; false: that is not known.
func (r *Reader) editedPlainly(target string) bool {
	from, to, all, ok := sedReplaces(r.Call.Text)
	if !ok || strings.ContainsAny(from, `*[]^+?(){}|`) {
		return false
	}
	b, err := r.Call.Analyzer.Files.ReadFile(target, MaxPrompt)
	if errors.Is(err, fs.ErrNotExist) {
		return true // then nothing is edited
	}
	before := string(b)
	dotted := strings.Contains(from, ".")
	if err != nil || dotted && strings.ContainsFunc(before, func(r rune) bool { return r > unicode.MaxASCII }) {
		return false // a dot is a letter or a byte, as the language of the machine says
	}
	matches := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(from), `\.`, "."))
	lines := strings.Split(before, "\n")
	for i, line := range lines {
		if at := matches.FindStringIndex(line); all {
			lines[i] = matches.ReplaceAllLiteralString(line, to)
		} else if at != nil {
			lines[i] = line[:at[0]] + to + line[at[1]:]
		}
	}
	r.Changed(target, before, strings.Join(lines, "\n"))
	return true
}
