package reflexcore

import (
	"path"
	"slices"
	"strings"

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

// isShellFile reports whether a path is a start-up file of a shell in a home.
func isShellFile(p, home string) bool {
	return path.Dir(p) == home &&
		wordset.Has(".bashrc .zshrc .profile .bash_profile .zprofile .zshenv", path.Base(p))
}

// isForOwnFiles reports whether all that a call deletes with rm is build output of the project, and all
// that gets another owner lies in the project or below the home, wherever links lead. Temporary files may
// be those of others.
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
		case ef.Kind == effect.Permission && ef.By == "chown":
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
		if !seen || p&own == 0 || p&vital != 0 || disk.Below(home, real) || real == "/tmp" {
			return false
		}
	}
	return true
}

// keepsSecret reports whether a credential of the project is only copied or moved to another name beside
// it that says the same: nobody sees it, and whoever reads it later is asked about. Nothing else in the
// call may take the folder with it.
func (e *Engine) keepsSecret(j *judgment, ef *effect.Effect, p places.Place) bool {
	const here = places.Project | places.Secret
	if !wordset.Has("cp gcp mv gmv", ef.By) || p&here != here || !effect.IsPlain(ef.Target) ||
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
		kept = j.call.Around.Of(w, e.analyzer.Paths)&here == here && isBeside(w.Target, ef.Target)
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
