package reflexcore

import (
	"regexp"
	"strings"

	"approver.example/reflexcore/effect"
)

// A difference that is applied changes the files that it names, and no word of the call
// says which. It is read where it lies on the disk or stands in the call.

const (
	maxPatch   = 1 << 20 // bytes of a difference that is read
	maxPatches = 16      // of one call
)

var (
	// applies finds a command that applies a difference, tries one that only looks at it.
	applies = regexp.MustCompile(`(?:^|[\s;|&('"])g?patch(?:\s|$)|\bgit\s[^;&|\n]*\b(?:apply|am)\b`)
	tries   = regexp.MustCompile(`\s--(?:check|dry-run|stat|numstat|summary)\b`)
	// changed finds the files that a difference names.
	changed = regexp.MustCompile(`(?m)^(?:\+\+\+ |--- |\*\*\* |rename to |copy to |Index: |diff --git \S+ )"?([^\t\n"]+)`)
)

// patched returns a file by which agents ask that a difference changes, or a hook of git;
// empty: there is none, or it cannot be read.
func (e *Engine) patched(w *work) string {
	says := strings.Contains(w.text, "patch") || strings.Contains(w.text, "git") &&
		(strings.Contains(w.text, "apply") || strings.Contains(w.text, " am"))
	if !says || w.call.Command == "" || !applies.MatchString(w.text) || tries.MatchString(w.text) {
		return ""
	}
	if p := e.ownInPatch(w.text); p != "" && strings.Contains(w.text, "\n") {
		return p
	}
	read := 0
	for i := range w.effects {
		ef := &w.effects[i]
		if ef.Kind != effect.Read || !effect.IsKnown(ef.Target) {
			continue
		}
		file := w.located(ef)
		if file == "" {
			continue
		}
		for _, name := range e.seen(w, file, true, true) {
			if read++; read > maxPatches {
				return ""
			}
			if to, ok := w.links.real(e.files, name); ok {
				if data, err := e.files.ReadFile(to, maxPatch); err == nil {
					if p := e.ownInPatch(string(data)); p != "" {
						return p
					}
				}
			}
		}
	}
	return ""
}

// ownInPatch is the first file by which agents ask that a difference names.
func (e *Engine) ownInPatch(text string) string {
	for _, m := range changed.FindAllStringSubmatch(text, maxListed) {
		p := strings.TrimSpace(m[1])
		for rest := p; rest != ""; {
			if strings.HasPrefix(rest, ".git/hooks/") || strings.HasPrefix(rest, ".") && settings("/"+rest, e.paths) {
				return p
			}
			_, rest, _ = strings.Cut(rest, "/")
		}
	}
	return ""
}
