// Package patches reads patches: which files they name, and what they make of them.
//
// Read reader.go, then difference.go.
package patches

import (
	"regexp"
	"strings"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/filenames"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/protected"
	"approver.example/reflexcore/shell"
)

// A Reader reads the patches that a call may apply, from the disk or from the call itself.
type Reader struct {
	Disk    disk.Disk
	Links   *disk.Links
	Names   *filenames.Finder
	Shell   bool   // it is a command of a shell
	Text    string // of the call
	Written []shell.Text
	Effects []effect.Effect
	Paths   *places.Cache
}

// Bounds.
const (
	MaxBytes = 1 << 20 // bytes of a difference that is read
	Max      = 16      // of one call
)

var (
	// applies matches a command that applies a patch, and dryRun one that only checks it.
	applies = regexp.MustCompile(`(?:^|[\s;|&('"])g?patch(?:\s|$)|\bgit\s[^;&|\n]*\b(?:apply|am)\b`)
	dryRun  = regexp.MustCompile(`\s--(?:check|dry-run|stat|numstat|summary)\b`)
)

// Applies reports whether the call applies a patch.
func (r *Reader) Applies() bool {
	says := strings.Contains(r.Text, "patch") || strings.Contains(r.Text, "git") &&
		(strings.Contains(r.Text, "apply") || strings.Contains(r.Text, " am"))
	return says && r.Shell && applies.MatchString(r.Text) && !dryRun.MatchString(r.Text)
}

// OwnFile returns a protected settings file, or a git hook, that a patch changes. It is empty if
// there is none.
func (r *Reader) OwnFile() string {
	if !r.Applies() {
		return ""
	}
	texts, _ := r.Texts()
	for _, text := range texts {
		if p := r.ownIn(text); p != "" {
			return p
		}
	}
	return ""
}

// Texts returns the texts that the call may apply as patches; false if one of them cannot be read.
func (r *Reader) Texts() (texts []string, ok bool) {
	ok = true
	add := func(text string) {
		if text, readable := Decode(text); readable {
			texts = append(texts, text)
		} else {
			ok = false
		}
	}
	if strings.Contains(r.Text, "\n") {
		add(r.Text)
	}
	for _, t := range r.Written {
		if len(texts) <= Max && effect.IsKnown(t.Text) {
			add(t.Text)
		}
	}
	read := 0
	for i := range r.Effects {
		ef := &r.Effects[i]
		if ef.Kind != effect.Read || !effect.IsKnown(ef.Target) {
			continue
		}
		file := r.Names.Located(ef)
		if file == "" {
			continue
		}
		for _, name := range r.Names.Seen(file, true, true) {
			if read++; read > Max {
				return texts, ok
			}
			to, is := r.Links.Real(r.Disk, name)
			if !is {
				continue
			}
			if data, err := r.Disk.ReadFile(to, MaxBytes); err == nil {
				add(string(data))
			} else if info, err := r.Disk.Lstat(to); err == nil && feedsPatch[ef.By] {
				ok = ok && (!info.Mode().IsRegular() || info.Size() <= MaxBytes)
			}
		}
	}
	return texts, ok
}

// ownIn returns the first protected settings file that a patch names.
func (r *Reader) ownIn(text string) string {
	names, _ := Names(text)
	for _, p := range names {
		for rest := p; rest != ""; {
			if strings.HasPrefix(rest, ".git/hooks/") || strings.HasPrefix(rest, ".") &&
				protected.IsSettings("/"+rest, r.Paths) {
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
