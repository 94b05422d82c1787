package reflexcore

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file finds out whether what a call writes is run by nobody but people, and by CI after a review: only then
// it is milder that it publishes something, stops a database or lets an account in.

// notReviewed takes it back that something happens later, if it may happen without a review: the call starts more
// than it writes, or writes what tools run by themselves.
func (j *judgment) notReviewed(ef *effect.Effect) {
	if ef.Bits&effect.Later == 0 {
		return
	}
	milder := false
	switch ef.Kind {
	case effect.Publish:
		milder = !listens(ef)
	case effect.Kill:
		milder = true
	case effect.Permission:
		first, _, _ := strings.Cut(ef.Target, " ")
		milder = wordset.Has("account user role grant", first)
	default:
	}
	if milder && (!j.writesReviewed() || ef.Kind == effect.Kill && !j.writesEntrypoint()) {
		ef.Bits &^= effect.Later
	}
}

// writesReviewed reports whether a call does nothing but write files that run when somebody wants it.
func (j *judgment) writesReviewed() bool {
	return j.reviewed.is(func() bool { return j.onlyWrites(j.isReviewed) })
}

// onlyWrites reports whether a call does nothing but write files of a kind, and make them programs.
func (j *judgment) onlyWrites(are func(file string) bool) bool {
	files := 0
	for i := range j.call.Effects {
		switch w := &j.call.Effects[i]; {
		case w.Bits&effect.Later != 0 || w.Kind == effect.Read || effect.MakesFolder(w):
		case w.Kind == effect.Permission && w.What == "run", w.Kind == effect.Persist && are(w.Target): // of CI
		case w.Kind != effect.Write || !are(w.Target):
			return false
		default:
			files++
		}
	}
	return files > 0 && (j.call.ToolCall.Command == "" || shell.OnlyWrites(j.call.ToolCall.Command))
}

// writesEntrypoint reports whether all that a call writes is how a container begins.
func (j *judgment) writesEntrypoint() bool {
	return !slices.ContainsFunc(j.call.Effects, func(w effect.Effect) bool {
		name := strings.ToLower(path.Base(w.Target))
		return w.Kind == effect.Write && w.Bits&effect.Later == 0 &&
			!wordset.ContainsAny(name, "dockerfile", "containerfile", "entrypoint", "docker")
	})
}

// isReviewed reports whether a file is a workflow, a script or a list of targets that runs when somebody wants it.
func (j *judgment) isReviewed(file string) bool {
	base, ext := strings.ToLower(path.Base(file)), path.Ext(file)
	folders := strings.Split(strings.ToLower(path.Dir(file)), "/")
	switch {
	case !effect.IsPlain(file) || strings.Contains(file, "/hooks/") || slices.Contains(folders, ".husky"):
		return false
	case base == "package.json":
		return !j.writesWord(file, "install\"", "prepare\"", "prepack\"", "prepublish", "pretest", "prebuild", "postbuild",
			"prestart", "dependencies\"", `\u`)
	case wordset.Has(".yml .yaml", ext):
		ci := slices.Contains(folders, "workflows") || wordset.HasAnyPrefix(base, ".gitlab-ci", "azure-pipelines",
			"bitbucket-pipelines", ".travis", "cloudbuild", "action.") || slices.Contains(folders, ".circleci") ||
			strings.HasPrefix(base, "taskfile")
		return ci && !wordset.ContainsAny(j.call.Text, "pull_request_target", "workflow_run", "issue_comment")
	case wordset.Has("makefile justfile jenkinsfile dockerfile containerfile", base),
		strings.HasPrefix(base, "dockerfile."),
		wordset.Has(".mk .sh .bash .ps1 .md .sql .dockerfile", ext):
		return true
	}
	return slices.ContainsFunc(folders, func(folder string) bool {
		return wordset.Has("scripts script bin tools ci", folder)
	})
}

// writesWord reports whether a call writes one of the words into a file, or a text that nobody knows.
func (j *judgment) writesWord(file string, words ...string) bool {
	known := false
	for i := range j.call.Texts {
		if t := &j.call.Texts[i]; t.Path == file {
			if known = true; wordset.ContainsAny(t.Text, words...) {
				return true
			}
		}
	}
	for _, t := range j.call.Other.Wrote {
		if t.Path == file {
			if known = true; wordset.ContainsAny(t.Text, words...) {
				return true
			}
		}
	}
	return !known
}
