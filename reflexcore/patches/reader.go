// Package patches reads patches: which files they name, and what they make of them.
//
// Read reader.go, then difference.go.
package patches

import (
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/protected"
)

// Max limits the patches of one call that are read.
const Max = 16

var (
	// applies matches a command that applies a patch, and dryRun one that only checks it.
	applies = lazyregexp.New(`(?:^|[\s;|&('"])g?patch(?:\s|$)|\bgit\s[^;&|\n]*\b(?:apply|am)\b`)
	dryRun  = lazyregexp.New(`\s--(?:check|dry-run|stat|numstat|summary)\b`)
)

// Applies reports whether the call applies a patch.
func Applies(call *analysis.Call) bool {
	says := strings.Contains(call.Text, "patch") || strings.Contains(call.Text, "git") &&
		(strings.Contains(call.Text, "apply") || strings.Contains(call.Text, " am"))
	return says && call.ToolCall.Command != "" && applies().MatchString(call.Text) && !dryRun().MatchString(call.Text)
}

// OwnFile returns a protected settings file, or a git hook, that a patch changes. It is empty if
// there is none.
func OwnFile(call *analysis.Call) string {
	if !Applies(call) {
		return ""
	}
	texts, _ := Texts(call)
	for _, text := range texts {
		if p := ownIn(text, call.Analyzer.Paths); p != "" {
			return p
		}
	}
	return ""
}

// Texts returns the texts that the call may apply as patches, from the disk or from the call itself;
// false if one of them cannot be read.
func Texts(call *analysis.Call) (texts []string, ok bool) {
	ok = true
	add := func(text string) {
		if text, readable := Decode(text); readable {
			texts = append(texts, text)
		} else {
			ok = false
		}
	}
	if strings.Contains(call.Text, "\n") {
		add(call.Text)
	}
	for _, t := range call.Texts {
		if len(texts) <= Max && effect.IsKnown(t.Text) {
			add(t.Text)
		}
	}
	read := 0
	for i := range call.Effects {
		ef := &call.Effects[i]
		if ef.Kind != effect.Read || !effect.IsKnown(ef.Target) {
			continue
		}
		file := call.Names.Located(ef)
		if file == "" {
			continue
		}
		for _, name := range call.Names.Seen(file, true, true) {
			if read++; read > Max {
				return texts, ok
			}
			to, is := call.Links.Real(call.Analyzer.Files, name)
			if !is {
				continue
			}
			if data, err := call.Analyzer.Files.ReadFile(to, analysis.MaxText); err == nil {
				add(string(data))
			} else if info, err := call.Analyzer.Files.Lstat(to); err == nil && feedsPatch[ef.By] {
				ok = ok && (!info.Mode().IsRegular() || info.Size() <= analysis.MaxText)
			}
		}
	}
	return texts, ok
}

// ownIn returns the first protected settings file that a patch names.
func ownIn(text string, known *places.Cache) string {
	names, _ := Names(text)
	for _, p := range names {
		for rest := p; rest != ""; {
			if strings.HasPrefix(rest, ".git/hooks/") || strings.HasPrefix(rest, ".") &&
				protected.IsSettings("/"+rest, known) {
				return p
			}
			_, rest, _ = strings.Cut(rest, "/")
		}
	}
	return ""
}

// feedsPatch are programs whose file arguments are the patch.
var feedsPatch = map[string]bool{
	"git apply": true, "git am": true, "patch": true, "gpatch": true, "cat": true, "redirection": true,
}
