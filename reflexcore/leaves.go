package reflexcore

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/urls"
	"approver.example/reflexcore/wordset"
)

// This file finds out where an archive, a dump or a folder goes to, and whether there are credentials
// in it.

// leavesFor returns whether the host that much data goes to is one that the project does not name, and
// whether a folder that the call reads has credentials in it.
func (e *Engine) leavesFor(j *judgment, ef *effect.Effect) (p places.Place) {
	to := urls.Classify(ef.Target)
	if to.Host == "" || to.Has(urls.Loopback|urls.Internal|urls.UnknownHost) {
		return 0
	}
	look := e.look(j)
	dir, ok := j.call.Links.Real(e.analyzer.Files, j.call.ToolCall.Dir)
	switch {
	case ok && look.Names(dir, to.Host):
	case ok && ef.Program() == "git" && forges[to.Host] && !look.HasRemote(dir): // a project gets its first remote
	default:
		p |= places.Foreign
	}
	for i := range j.call.Effects {
		r := &j.call.Effects[i]
		if r.Kind == effect.Read && r.Taint&effect.File != 0 && strings.HasPrefix(r.Target, "/") &&
			effect.IsPlain(r.Target) && e.holdsSecret(j, r.Target, 0) {
			return p | places.Secret
		}
	}
	return p
}

// readsSample reports whether a call reads settings that are no secret only by the name of their file.
func (j *judgment) readsSample() bool {
	return slices.ContainsFunc(j.call.Effects, func(r effect.Effect) bool {
		return r.Kind == effect.Read && (strings.Contains(r.Target, ".env") || strings.HasSuffix(r.Target, ".tfvars"))
	})
}

// forges are where new projects are pushed to.
var forges = wordset.Of("github.com gitlab.com bitbucket.org codeberg.org git.sr.ht gitee.com ssh.dev.azure.com " +
	"dev.azure.com git.heroku.com heroku.com huggingface.co")

// maxBelow is how deep folders are looked into for credentials.
const maxBelow = 6

// unsent are folders in which nobody keeps credentials, and which have many files.
var unsent = []string{".git", "node_modules", "vendor", "target", ".venv", "venv", "testdata"}

// holdsSecret reports whether a folder has a file in it that by its name is a credential. What the
// command leaves out by name does not count.
func (e *Engine) holdsSecret(j *judgment, dir string, depth int) bool {
	if depth > maxBelow || !j.gitBudget.Spend() {
		return false
	}
	info, err := e.analyzer.Files.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	names, err := e.analyzer.Files.ReadDir(dir, gitrepo.MaxLooked)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(names, func(name string) bool {
		p := path.Join(dir, name)
		switch {
		case slices.Contains(unsent, name) || isExcluded(j.call.Text, name):
			return false
		case e.analyzer.Paths.Secret(p):
			return true
		}
		return e.holdsSecret(j, p, depth+1)
	})
}

// isExcluded reports whether a command leaves a name out: --exclude=NAME, or --exclude NAME.
func isExcluded(command, name string) bool {
	words := strings.Fields(command)
	for i, word := range words {
		_, rest, found := strings.Cut(word, "xclude")
		if found && (strings.Contains(rest, name) || rest == "" && i+1 < len(words) && strings.Contains(words[i+1], name)) {
			return true
		}
	}
	return false
}
