package reflexcore

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/gitrepo"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/urls"
	"approver.example/reflexcore/wordset"
)

// This file finds out whether a call that deletes work first gives it to git, or makes it again.

// savesFirst reports whether a call begins by giving the changes of the project to git, so that what it
// deletes then can be had again. Only plain words that are joined by && are believed: a hook may refuse a
// commit, and the next line would delete all the same.
func (j *judgment) savesFirst(look *gitrepo.Look, target string, untracked bool) bool {
	text := strings.TrimSpace(j.call.ToolCall.Command)
	dir := j.call.ToolCall.Dir
	if !strings.HasPrefix(text, "git ") || strings.ContainsAny(strings.ReplaceAll(text, "&&", ""), "\n&|;$`()<>\\#{}") {
		return false
	}
	here, there := look.Repository(dir), look.Repository(path.Dir(target))
	if here == nil || there == nil || here.Root != there.Root {
		return false
	}
	added, saved := false, false
	for part := range strings.SplitSeq(text, "&&") {
		words, ok := plainWords(part)
		switch {
		case !ok:
			return false
		case len(words) == 0:
		case len(words) < 2 || words[0] != "git":
			if !saved {
				return false
			}
		case saved:
			if !wordset.Has("status log diff show push rm add commit", words[1]) {
				return false // it may take out what was saved
			}
		case words[1] == "add":
			whole := len(words) == 3 && wordset.Has("-A --all", words[2])
			added = added || whole || len(words) == 3 && words[2] == "." && disk.Below(target, dir)
		case words[1] == "stash":
			saved = stashes(words[2:], untracked)
		case words[1] == "commit":
			saved = commits(words[2:], added, untracked)
		case !wordset.Has("status log diff", words[1]):
			return false
		}
	}
	return saved
}

// stashes reports whether git stash with these words saves all changes, and what git does not track.
func stashes(words []string, untracked bool) bool {
	if len(words) > 0 && (words[0] == "push" || words[0] == "save") {
		words = words[1:]
	}
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "-u", "-a", "--include-untracked", "--all":
			untracked = false
		case "-q", "--quiet":
		case "-m", "--message":
			i++
		default:
			return false
		}
	}
	return !untracked
}

// commits reports whether git commit with these words saves all changes.
func commits(words []string, added, untracked bool) bool {
	all := added
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--all":
			all = all || !untracked
		case wordset.Has("--quiet --no-verify --signoff", w):
		case strings.HasPrefix(w, "--message="):
		case w == "--message":
			i++
		case strings.HasPrefix(w, "-") && strings.Trim(w[1:], "aqnsm") == "" && strings.IndexByte(w+"m", 'm') >= len(w)-1:
			all = all || !untracked && strings.ContainsRune(w, 'a')
			if w[len(w)-1] == 'm' {
				i++
			}
		default:
			return false
		}
	}
	return all
}

// plainWords splits a command at its blanks. Quotes hold words together.
func plainWords(text string) (words []string, ok bool) {
	word, quote, some := "", rune(0), false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, some = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if some {
				words, word, some = append(words, word), "", false
			}
		default:
			word, some = word+string(c), true
		}
	}
	if some {
		words = append(words, word)
	}
	return words, quote == 0
}

// locked are the commands that make a lock file again.
var locked = map[string][]string{
	"package-lock.json": {"npm i", "npm install", "npm update"}, "yarn.lock": {"yarn"},
	"pnpm-lock.yaml": {"pnpm i", "pnpm up"},
	"poetry.lock":    {"poetry lock", "poetry install", "poetry update"}, "uv.lock": {"uv lock", "uv sync"},
	"Cargo.lock":   {"cargo build", "cargo update", "cargo check", "cargo generate-lockfile", "cargo test", "cargo run"},
	"Gemfile.lock": {"bundle install", "bundle lock", "bundle update"}, "Pipfile.lock": {"pipenv lock", "pipenv install"},
	"composer.lock": {"composer install", "composer update"}, "go.sum": {"go mod tidy"},
}

// locksAgain reports whether a call deletes a lock file and then makes it again.
func locksAgain(text, target string) bool {
	name := path.Base(target)
	_, rest, found := strings.Cut(text, name)
	if !found || wordset.ContainsAny(rest, "||", "#", "exit", "false", "cd ", "dry-run", "no-package-lock", "no-lock",
		"--prefix", "--cwd", "-C ", "frozen", "--global", "-g ") {
		return false
	}
	for part := range strings.FieldsFuncSeq(rest, func(c rune) bool { return strings.ContainsRune("&;\n", c) }) {
		part = strings.TrimSpace(part) + " "
		if slices.ContainsFunc(locked[name], func(by string) bool { return strings.HasPrefix(part, by+" ") }) ||
			name == "pnpm-lock.yaml" && strings.HasPrefix(part, "pnpm install ") {
			return true
		}
	}
	return false
}

// refuses reports whether git itself refuses a delete while a file has changes that are in no commit.
func refuses(ef *effect.Effect) bool {
	return ef.By == "git rm" && ef.Bits&effect.Force == 0
}

// ownHost returns Project for the address of a package on a host from which the project itself comes. What
// its lock files name is not enough: they have the pages of authors and of those who collect money for them.
func (e *Engine) ownHost(j *judgment, ef *effect.Effect) places.Place {
	if ef.What != "url" && ef.What != "package" {
		return 0
	}
	url, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(ef.Target, "git+"), "git::"), "https://")
	if !ok || !effect.IsKnown(ef.Target) {
		return 0
	}
	to := urls.Classify("https://" + url)
	dir, seen := j.call.Links.Real(e.analyzer.Files, j.call.ToolCall.Dir)
	if to.Host == "" || !seen || to.Has(urls.UnknownHost) {
		return 0
	}
	look := e.look(j)
	if look.ComesFrom(dir, to.Host) {
		return places.Project
	}
	return 0
}
