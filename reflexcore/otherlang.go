package reflexcore

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// shellCalls are the ways into a shell of languages that have no lexer here. What
// follows one, in quotes or to the end of the line, is a command line.
var shellCalls = map[string][]string{
	"vim":    {"!", "system(", "systemlist(", "term_start(", "jobstart("},
	"gdb":    {"shell ", "!", "python "},
	"elisp":  {"(shell-command", "(call-process", "(start-process", "(async-shell-command", "(shell-command-to-string", "(process-lines"},
	"tcl":    {"exec ", "open \"|", "open {|"},
	"less":   {"!"},
	"dc":     {"!"},
	"m4":     {"syscmd(", "esyscmd("},
	"scheme": {"(system"},
	"":       {"system(", "system ", "popen(", "exec(", "shell_exec(", "os.execute(", "sh -c", "Runtime.getRuntime().exec(", "ProcessBuilder(", "`", "sh(", "run("},
}

// otherCode looks in code of a language without a lexer for the ways into a
// shell. The code itself runs in any case, which its caller has noted.
func otherCode(lang, src string, yield func(shell.Found) bool) {
	if lang == "npm-script" || lang == "enter:execute" {
		return
	}
	calls, ok := shellCalls[lang]
	if !ok {
		calls = shellCalls[""]
	}
	for _, call := range calls {
		for rest := src; ; {
			_, after, found := strings.Cut(rest, call)
			if !found {
				break
			}
			rest = after
			text, known := literal(after)
			if text == "" && known {
				continue
			}
			f := shell.Found{Effect: effect.Effect{Kind: effect.Opaque, Target: lang + " code", Bits: effect.Partial}}
			if known {
				f.Shell = text
			}
			if !yield(f) {
				return
			}
		}
	}
}

// literal is the quoted text that follows a call, or the rest of the line after a
// sign that needs no quotes.
func literal(s string) (text string, known bool) {
	s = strings.TrimLeft(s, " \t([,")
	if s == "" {
		return "", true
	}
	if q := s[0]; q == '"' || q == '\'' || q == '`' || q == '{' {
		if q == '{' {
			q = '}'
		}
		if end := strings.IndexByte(s[1:], q); end >= 0 {
			return s[1 : 1+end], true
		}
		return "", false
	}
	line, _, _ := strings.Cut(s, "\n")
	return line, true
}
