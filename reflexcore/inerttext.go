package reflexcore

import (
	"path"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/wordset"
)

// This file finds out which patterns say nothing in a text that is only written: a report says how a path climbed
// out of a folder, and the test of a scanner has something for it to find.

// dropInert drops the findings of patterns, from an index on, that mean nothing in documents and tests which a
// tool writes.
func (j *judgment) dropInert(from int) {
	if len(j.findings) == from || j.call.ToolCall.Command != "" || !j.writesInert() {
		return
	}
	j.dropFrom(from, func(f finding) bool {
		return f.rule.Layer == BuiltInLayer && (f.rule.ID == "system_read_by_dots" ||
			f.rule.ID == "secret_in_text" && j.hasOnlyTestSecrets())
	})
}

// writesInert reports whether a tool does nothing but write documents and tests that no agent loads.
func (j *judgment) writesInert() bool {
	wrote := j.call.Other.Wrote
	return len(wrote) > 0 && !slices.ContainsFunc(j.call.Effects, func(ef effect.Effect) bool {
		return ef.Kind != effect.Write && ef.Bits&effect.Later == 0 || ef.Kind == effect.Write && ef.Bits&effect.Later == 0 &&
			(!isDocument(ef.Target) && !isTest(ef.Target) || j.facts.paths.Classify(ef.Target).Prompts() ||
				j.call.Around.Of(&ef, j.facts.paths)&agentPlaces != 0)
	})
}

// agentPlaces are the places of what agents load.
var agentPlaces = func() (p places.Place) {
	for _, name := range [...]string{"agent", "instructions"} {
		place, _ := places.Named(name)
		p |= place
	}
	return p
}()

// isDocument reports whether a file is for people to read.
func isDocument(file string) bool {
	return wordset.Has(".md .mdx .rst .adoc .txt", path.Ext(file))
}

// isTest reports whether a file is a test by its name or its folder.
func isTest(file string) bool {
	base := strings.ToLower(path.Base(file))
	return wordset.ContainsAny(base, "_test.", ".test.", ".spec.", "_spec.") || strings.HasPrefix(base, "test_") ||
		slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(folder string) bool {
			return wordset.Has("test tests __tests__ spec testdata fixtures", folder)
		})
}

// secretShape finds what looks like a credential of a known form, with all of its letters.
var secretShape = lazyregexp.New(`(?i)-----BEGIN [A-Z ]*PRIVATE KEY-----|\bakia[0-9a-z]{16}\w*|\bgh[pousr]_\w+|` +
	`\bxox[baprs]-[\w-]+|\bsk-ant-[\w-]+|\bglpat-[\w-]+`)

// hasOnlyTestSecrets reports whether all that looks like a credential in what a tool writes is plainly made up:
// it says so, is too short, or goes up like the alphabet.
func (j *judgment) hasOnlyTestSecrets() bool {
	return !slices.ContainsFunc(j.call.Other.Texts, func(text string) bool {
		return slices.ContainsFunc(secretShape().FindAllString(text, maxShapes), func(s string) bool {
			return !isMadeUp(strings.ToLower(s))
		}) || len(secretShape().FindAllStringIndex(text, maxShapes)) == maxShapes
	})
}

// maxShapes is how many of them are looked at.
const maxShapes = 64

// maxMadeUp is how much of a credential is looked at.
const maxMadeUp = 28

// isMadeUp reports whether a credential in lower case is none.
func isMadeUp(s string) bool {
	short := strings.HasPrefix(s, "gh") && len(s) < 40 || strings.HasPrefix(s, "sk-ant-") && len(s) < 60 ||
		strings.HasPrefix(s, "xox") && len(s) < 40
	if len(s) > maxMadeUp && !short { // a word behind a credential says nothing of it
		s = s[:maxMadeUp]
	}
	return short || wordset.ContainsAny(s, "example", "dummy", "fake", "placeholder", "xxxxxx", "abcdefgh", "12345678",
		"your_", "your-", "yourtoken", "yourkey", "aaaaaaaa", "00000000")
}
