package reflexcore

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// addsPlainly reports whether an effect adds nothing to a start-up file of a shell but what says where
// an installed tool lies. All that the call writes there must be known, and it must do nothing else that
// could put a program where the shell then finds it.
func (e *Engine) addsPlainly(j *judgment, ef *effect.Effect) bool {
	const other = effect.Network | effect.Decoded | effect.Secret
	home := j.call.Around.Home
	if !isShellFile(ef.Target, home) || ef.Bits != effect.Append || ef.Taint&other != 0 ||
		slices.ContainsFunc(j.call.Effects, func(ef effect.Effect) bool {
			later := ef.Bits&effect.Later != 0 // what the lines do, which is looked at below
			return ef.Kind != effect.Read && !later && ef.By != "mkdir" && !isShellFile(ef.Target, home)
		}) || !shell.OnlyAddsLines(j.call.Text) {
		return false
	}
	known, project := false, e.analyzer.Git.Top(j.call.Around.Dir)
	for i := range j.call.Texts {
		t := &j.call.Texts[i]
		if t.Path == ef.Target {
			if known = project != "" && shell.PlainStartup(home, project, t.Text); !known {
				return false
			}
		}
	}
	return known
}

// writesCompletion reports whether an effect writes into a file of completions what a known tool prints for it.
func (e *Engine) writesCompletion(j *judgment, ef *effect.Effect) bool {
	const other = effect.Network | effect.Decoded | effect.Secret
	home := j.call.Around.Home
	if ef.Bits&^effect.Append != 0 || ef.Taint&other != 0 || !disk.Below(ef.Target, home) ||
		!strings.Contains(ef.Target, "completion") {
		return false
	}
	project := e.analyzer.Git.Top(j.call.Around.Dir)
	return project != "" && shell.OnlyWritesCompletions(home, project, j.call.Text)
}

// isPlainEditorFile reports whether a call writes settings of an editor by which nothing runs unless people start
// it: extensions that are recommended, what is debugged, and tasks, none of which starts with the folder.
func (j *judgment) isPlainEditorFile(ef *effect.Effect) bool {
	if path.Base(path.Dir(ef.Target)) != ".vscode" || !disk.Below(ef.Target, j.call.Around.Dir) ||
		!effect.IsPlain(ef.Target) || ef.Taint&effect.Network != 0 {
		return false
	}
	texts := j.textsOf(ef.Target, false)
	return wordset.Has("extensions.json launch.json tasks.json", path.Base(ef.Target)) && len(texts) > 0 &&
		!slices.ContainsFunc(texts, func(text string) bool {
			return wordset.ContainsAny(strings.ToLower(text), "folderopen", `\u`, "\x00")
		})
}

// hookPlace is the place of the hooks of a repository.
var hookPlace, _ = places.Named("hook")

// runsOwnTools reports whether a hook that a call writes or makes a program runs nothing but the tools of the
// project. All that the call writes there must be known.
func (e *Engine) runsOwnTools(j *judgment, ef *effect.Effect, p places.Place) bool {
	const other = effect.Network | effect.Decoded | effect.Secret
	if p&(hookPlace|places.Git) == 0 || !effect.IsPlain(ef.Target) || ef.Bits&^effect.Append != 0 || ef.Taint&other != 0 ||
		ef.Kind != effect.Write && ef.Kind != effect.Permission {
		return false
	}
	writes := 0
	for i := range j.call.Effects {
		switch w := &j.call.Effects[i]; {
		case w.Kind != effect.Write || w.Bits&effect.Later != 0:
		case w.Target == ef.Target:
			writes++
		case wordset.ContainsAny(w.Target, "/.bin/", "venv/bin", "vendor/bin"): // what the hook runs
			return false
		}
	}
	if writes > 0 && ef.Bits&effect.Append == 0 && e.replacesOther(ef.Target) {
		return false
	}
	if texts := j.textsOf(ef.Target, ef.Bits&effect.Append != 0); writes > 0 || ef.Kind == effect.Write {
		return len(texts) > 0 && len(texts) >= writes &&
			!slices.ContainsFunc(texts, func(text string) bool { return !shell.RunsOwnTools(text) })
	}
	return e.hasOwnTools(ef.Target)
}

// setsOwnHooks reports whether a call makes git run the hooks of a folder of the project, all of which run nothing
// but tools of the project.
func (e *Engine) setsOwnHooks(j *judgment, ef *effect.Effect) bool {
	words := strings.Fields(j.call.Text)
	if len(words) != 4 && (len(words) != 5 || words[2] != "--local") || words[0] != "git" || words[1] != "config" ||
		!strings.EqualFold(words[len(words)-2], "core.hooksPath") || !effect.IsPlain(ef.Target) {
		return false
	}
	dir := path.Join(j.call.Around.Dir, strings.Trim(words[len(words)-1], `"'`))
	real, seen := j.call.Links.Real(e.analyzer.Files, dir)
	if !seen || real != dir || !disk.Below(dir, j.call.Around.Dir) {
		return false
	}
	names, err := e.analyzer.Files.ReadDir(dir, maxOwnHooks+1)
	return err == nil && len(names) > 0 && len(names) <= maxOwnHooks &&
		!slices.ContainsFunc(names, func(name string) bool {
			return !e.hasOwnTools(dir + "/" + name)
		})
}

// maxOwnHooks is how many hooks of a folder are looked at.
const maxOwnHooks = 16

// textsOf are the texts that a call leaves in a file, or adds to it. A part of one says nothing.
func (j *judgment) textsOf(file string, adds bool) (out []string) {
	for i := range j.call.Texts {
		if t := &j.call.Texts[i]; t.Path == file {
			if t.Part || t.Behind && !adds {
				return nil
			}
			out = append(out, t.Text)
		}
	}
	if !wordset.ContainsAny(strings.ToLower(j.call.ToolCall.Tool), "write", "create") {
		return out
	}
	for _, t := range j.call.Other.Wrote {
		if t.Path == file {
			out = append(out, t.Text)
		}
	}
	return out
}

// replacesOther reports whether a hook is there that may do more than run tools of the project.
func (e *Engine) replacesOther(file string) bool {
	_, err := e.analyzer.Files.Lstat(file)
	return !disk.IsMissing(err) && !e.hasOwnTools(file)
}

// hasOwnTools reports whether a hook on the disk runs nothing but the tools of the project.
func (e *Engine) hasOwnTools(file string) bool {
	info, err := e.analyzer.Files.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := e.analyzer.Files.ReadFile(file, shell.MaxHookText)
	return err == nil && shell.RunsOwnTools(string(text))
}

// isShellFile reports whether a path is a start-up file of a shell in a home.
func isShellFile(p, home string) bool {
	return path.Dir(p) == home &&
		wordset.Has(".bashrc .zshrc .profile .bash_profile .zprofile .zshenv", path.Base(p))
}

// isForOwnFiles reports whether all that a call deletes with rm is build output of the project, and all
// that gets another owner lies in the project or below the home, wherever links lead. Temporary files may
// be those of others, unless the call makes their folder.
func (e *Engine) isForOwnFiles(j *judgment) bool {
	const vital = places.Root | places.Top | places.Whole | places.System | places.Git | places.Device
	home := j.call.Around.Home
	if len(j.call.Effects) > maxMoves {
		return false
	}
	for i := range j.call.Effects {
		ef := &j.call.Effects[i]
		own := places.Place(0)
		switch {
		case ef.Kind == effect.Delete && ef.By == "rm":
			if e.onDisk(j, i, j.call.Around.Of(ef, e.analyzer.Paths))&places.Build == 0 {
				return false
			}
			own = places.Project
		case ef.Kind == effect.Permission && (ef.By == "chown" || ef.By == "chmod"):
			own = places.Project | places.Home
			if !effect.IsPlain(ef.Target) && ef.Bits&effect.Recursive == 0 {
				return false // what a pattern fits may be a link, which is followed
			}
		default:
			continue
		}
		real, seen := j.call.Links.Real(e.analyzer.Files, ef.Target)
		at := *ef
		at.Target = real
		p := j.call.Around.Of(&at, e.analyzer.Paths)
		if ef.Kind == effect.Permission && seen && real == j.call.Around.Dir && real != home && disk.Below(real, home) {
			continue // the project itself
		}
		if ef.By == "chown" && p&places.Temp != 0 && e.isNewFolder(j, ef.Target) {
			own |= places.Temp
		}
		if !seen || p&own == 0 || p&vital != 0 || disk.Below(home, real) || real == "/tmp" {
			return false
		}
	}
	return true
}

// isNewFolder reports whether a call makes a folder that is not there yet: nobody else has anything in it.
func (e *Engine) isNewFolder(j *judgment, p string) bool {
	_, err := e.analyzer.Files.Lstat(p)
	return disk.IsMissing(err) &&
		slices.ContainsFunc(j.call.Effects, func(ef effect.Effect) bool { return effect.MakesFolder(&ef) && ef.Target == p })
}

// selfOwner matches a chown that gives files to who runs it.
var selfOwner = func() *regexp.Regexp {
	const self = `(?:\$\{?(?:USER|LOGNAME|UID|EUID)\}?|\$\((?:whoami|logname|id -u ?-?n?|id -nu)\)|` +
		"`(?:whoami|logname|id -un?)`)"
	const group = `(?:` + self + `|\$\{?GID\}?|\$\(id -gn?\)|` + "`id -gn?`)"
	const quoted, plain = `"` + self + `(?:"?:"?` + group + `?)?"`, self + `(?::` + group + `?)?`
	return regexp.MustCompile(`\bchown\s+(?:-[Rvf]+\s+)*(?:` + quoted + `|` + plain + `)\s`)
}()

// onlyAssigns matches calls that put what a tool prints into variables, and do nothing else.
var onlyAssigns = lazyregexp.New(`^(?:\s*(?:export\s+)?[A-Za-z_]\w*=` +
	`(?:"\$\([\w ./:@=-]+\)"|\$\([\w ./:@=-]+\))\s*(?:$|;|&&|\n))+\s*$`)

// logsIn matches a call that does nothing but log in to a registry of the cloud whose token that is.
var logsIn = lazyregexp.New(`^\s*gcloud auth print-access-token\s*\|\s*(?:docker|podman|helm registry) login\s+` +
	`(?:-u|--username)[ =]oauth2accesstoken\s+--password-stdin\s+(?:https://)?` +
	`(?:[a-z0-9-]+[.])?(?:pkg[.]dev|gcr[.]io)/?\s*$`)

// assignsToken reports whether a token of a service is only put into a variable, or where it is for: nobody sees it.
func (j *judgment) assignsToken(ef *effect.Effect) bool {
	if ef.Target == "secret:gcloud" && logsIn().MatchString(j.call.Text) {
		return true
	}
	return wordset.HasAnyPrefix(ef.Target, "secret:git", "secret:gcloud", "secret:aws", "secret:azure") &&
		onlyAssigns().MatchString(j.call.Text)
}

// isPublicSetting reports whether a file of the project that says where packages come from has no word in it
// that a token has. A call that may write one there is not believed.
func (e *Engine) isPublicSetting(j *judgment, ef *effect.Effect, p places.Place) bool {
	if p&places.Project == 0 || !wordset.Has(".npmrc .yarnrc .yarnrc.yml pip.conf .condarc", path.Base(ef.Target)) ||
		!effect.IsPlain(ef.Target) || hasTokenWord(j.call.Text) {
		return false
	}
	real, seen := j.call.Links.Real(e.analyzer.Files, ef.Target)
	if !seen || real != ef.Target && !disk.Below(real, j.call.Around.Dir) {
		return false
	}
	text, err := e.analyzer.Files.ReadFile(real, maxSetting)
	if disk.IsMissing(err) {
		_, err := e.analyzer.Files.Lstat(j.call.Around.Dir)
		return err == nil // it can only have what the call writes
	}
	return err == nil && len(text) < maxSetting && !hasTokenWord(string(text))
}

// maxSetting limits what is read of such a file.
const maxSetting = 1 << 14

// hasTokenWord reports whether a text has a word that stands before a password or a token, or an address
// with one.
func hasTokenWord(text string) bool {
	return wordset.ContainsAny(strings.ToLower(text), "token", "auth", "pass", "secret", "key", "cert", "ident", "login",
		"@", "user")
}

// saysSelf reports whether every chown of a call says in plain words that it gives files to the user, and
// nothing else in the call says who that is.
func saysSelf(text string) bool {
	if wordset.ContainsAny(text, "USER=", "LOGNAME=", "UID=", "GID=", "PATH=", "whoami()", "whoami (", "id()", "id (",
		"alias", "function", "read ") {
		return false
	}
	n := strings.Count(text, "chown")
	return n > 0 && len(selfOwner.FindAllStringIndex(text, n+1)) == n
}

// keepsSecret reports whether a credential of the project is only copied or moved to another name beside
// it that says the same: nobody sees it, and whoever reads it later is asked about. Nothing else in the
// call may take the folder with it.
func (e *Engine) keepsSecret(j *judgment, ef *effect.Effect, p places.Place) bool {
	const here = places.Project | places.Secret
	if !wordset.Has(copiers, ef.By) || p&here != here || !effect.IsPlain(ef.Target) ||
		ef.Bits&effect.Remote != 0 || !onlyKeeps(shell.Chain(j.call.Text)) {
		return false
	}
	kept := false
	for i := range j.call.Effects {
		w := &j.call.Effects[i]
		switch {
		case w.By != ef.By || w.Kind == effect.Read || w.Kind == effect.Delete:
			continue
		case w.Kind != effect.Write || w.Bits&(effect.Remote|effect.Later) != 0:
			return false
		case w.Target == ef.Target: // it is moved away
			continue
		}
		kept = j.call.Around.Of(w, e.analyzer.Paths)&here == here &&
			(isBeside(w.Target, ef.Target) || isRenamed(ef.By, w.Target, ef.Target))
		if !kept || isShown(strings.TrimPrefix(w.Target, j.call.Around.Dir)) {
			return false
		}
		root, seen := j.call.Links.Real(e.analyzer.Files, j.call.Around.Dir)
		folder, found := path.Dir(w.Target), true
		if effect.IsKnown(folder) {
			folder, found = j.call.Links.Real(e.analyzer.Files, folder)
		}
		if !seen || !found || !disk.Below(folder, root) {
			return false
		}
	}
	return kept
}

// onlyKeeps reports whether a call has nothing but commands that leave other files where they are.
func onlyKeeps(chain []shell.Link) bool {
	return len(chain) > 0 && !slices.ContainsFunc(chain, func(l shell.Link) bool {
		return !wordset.Has(keepers, l.Words[0])
	})
}

// isRenamed reports whether a credential only gets another name in its folder.
func isRenamed(by, p, of string) bool {
	return wordset.Has("mv gmv", by) && path.Dir(p) == path.Dir(of) && effect.IsPlain(p)
}

// isBeside reports whether a path is a copy of a credential beside it by its name: .env.local of .env, or
// the same name with .bak or .example.
func isBeside(p, of string) bool {
	if path.Dir(p) != path.Dir(of) {
		return false
	}
	return p == of+".bak" || p == of+".example" ||
		strings.HasPrefix(path.Base(p), ".env") && strings.HasPrefix(path.Base(of), ".env")
}

// isShown reports whether a path lies in a folder that is shown, packed or built from.
func isShown(p string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(strings.ToLower(p)), "/"), func(folder string) bool {
		return wordset.Has("public public_html www wwwroot htdocs html static assets dist docs doc build out site _site "+
			"target release", folder)
	})
}
