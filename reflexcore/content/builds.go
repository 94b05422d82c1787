package content

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// makefile yields the recipes, and what $(shell …) runs while make reads the file.
func (x *extractor) makefile(content string) {
	var recipe strings.Builder
	flush := func() {
		x.emit(effect.Shell, recipe.String(), "a recipe")
		recipe.Reset()
	}
	just := strings.Contains(strings.ToLower(x.path), "justfile")
	lines(content, "", func(line string) {
		for rest := line; ; {
			i := strings.Index(rest, "$(shell ")
			if i < 0 {
				break
			}
			rest = rest[i+len("$(shell "):]
			end := closing(rest)
			x.emit(effect.Shell, withoutVariables(rest[:end]), "a makefile's $(shell)")
			rest = rest[end:] // what is called inside is part of it
		}
		if i := strings.Index(line, "!="); i > 0 && !strings.HasPrefix(line, "\t") {
			x.emit(effect.Shell, withoutVariables(line[i+2:]), "a makefile's !=")
		}
		if !strings.HasPrefix(line, "\t") && (!just || !strings.HasPrefix(line, " ")) {
			flush()
			if i := strings.Index(line, ";"); i > 0 && strings.Contains(line[:i], ":") && !strings.Contains(line[:i], "=") {
				x.emit(effect.Shell, withoutVariables(line[i+1:]), "a recipe")
			}
			return
		}
		recipe.WriteString(withoutVariables(strings.TrimLeft(strings.TrimSpace(line), "@-+")))
		recipe.WriteByte('\n')
	})
	flush()
}

// closing returns the index of the bracket that closes the one before s; the length of s if there
// is none.
func closing(s string) int {
	depth := 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// withoutVariables replaces make's variables by unknown parts, and $$ by $.
func withoutVariables(s string) string {
	if strings.IndexByte(s, '$') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '$' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case '$':
			b.WriteByte('$')
		case '(', '{':
			depth := 0
			for ; i < len(s); i++ {
				if s[i] == '(' || s[i] == '{' {
					depth++
				} else if s[i] == ')' || s[i] == '}' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			b.WriteString(effect.Unknown)
		default:
			b.WriteString(effect.Unknown)
		}
	}
	return b.String()
}

// withoutComments leaves out the lines that are comments, as Docker does before it joins lines.
func withoutComments(content string) string {
	if !strings.Contains(content, "#") {
		return content
	}
	var b strings.Builder
	for line := range strings.Lines(content) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// groovy yields the shell steps of a Jenkinsfile.
func (x *extractor) groovy(content string) {
	for i := 0; i < len(content); i++ {
		if content[i] != '\'' && content[i] != '"' {
			continue
		}
		q := content[i : i+1]
		if strings.HasPrefix(content[i:], q+q+q) {
			q = q + q + q
		}
		start := i + len(q)
		end := start
		for end < len(content) && !strings.HasPrefix(content[end:], q) {
			if content[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(content))
		start = min(start, end)
		before := strings.TrimRight(content[max(0, i-40):i], " \t(\n")
		before = strings.TrimRight(strings.TrimSuffix(before, "script:"), " \t(")
		lang := effect.Shell
		switch {
		case strings.HasSuffix(before, "powershell"), strings.HasSuffix(before, "pwsh"):
			lang = effect.PowerShell
		case strings.HasSuffix(before, "bat"):
			lang = effect.Batch
		case endsWithWord(before, "sh"):
		default:
			lang = ""
		}
		if lang != "" {
			x.emit(lang, content[start:end], "a step of a pipeline")
		}
		i = end + len(q) - 1
	}
}

func endsWithWord(s, word string) bool {
	rest, ok := strings.CutSuffix(s, word)
	return ok && (rest == "" || strings.ContainsRune(" \t\n{;(", rune(rest[len(rest)-1])))
}
