package fingerprint

import (
	"maps"
	"testing"
)

// A person says yes, for the session, to "Force-push develop (ann/scratch)". Then main is checked out, or the
// remote leads elsewhere, and the same words would do something else: the yes is not for that.
func TestAYesForAPushIsForItsBranch(t *testing.T) {
	for change, file := range map[string][2]string{
		"another branch":              {".git/HEAD", "ref: refs/heads/main\n"},
		"another remote":              {".git/config", "[remote \"origin\"]\n\turl = git@github.com:acme/billing.git\n"},
		"another remote of the user":  {".gitconfig", "[remote]\n\tpushDefault = billing\n"},
		"another address of the user": {".config/git/config", "[url \"x\"]\n\tpushInsteadOf = git@github.com:\n"},
		"new commits":                 {".git/refs/heads/develop", "2222222222222222222222222222222222222222\n"},
	} {
		for command, branch := range map[string]bool{
			"git push --force": true, "git push -f origin HEAD": true, "cd . && git push -f": true,
			"git -C . push -f origin": true, "git push --force origin develop": false,
			"git push -f origin develop:develop": false,
		} {
			p := newPlayground(t)
			p.write(".git/HEAD", "ref: refs/heads/develop\n")
			p.write(".git/config", "[remote \"origin\"]\n\turl = git@github.com:ann/scratch.git\n")
			p.write(".git/refs/heads/develop", "1111111111111111111111111111111111111111\n")
			before := p.of(command)
			if unbound := p.unbound(command); len(unbound) > 0 {
				t.Errorf("%s: %v is not bound: a yes could not last", command, unbound)
			}
			p.write(file[0], file[1])
			want := change == "another branch" && !branch || change == "new commits"
			if same := maps.Equal(before, p.of(command)); same != want {
				t.Errorf("%s, then %s: the binding is the same: %v, want %v", command, change, same, want)
			}
		}
	}
}

// What works on the branch that is checked out is bound to it, and what only reads files is not: an agent that
// goes to another branch is not asked again about that.
func TestWhatIsBoundToTheBranch(t *testing.T) {
	for command, bound := range map[string]bool{
		"git reset --hard": true, "git commit --no-verify -m x": true, "git rebase main": true,
		"git clean -fd": false, "git checkout -- .": false, "git status": false, "terraform destroy": false, "make": false,
	} {
		p := newPlayground(t, "main.tf", "Makefile")
		p.write(".git/HEAD", "ref: refs/heads/develop\n")
		p.write(".git/config", "")
		before := p.of(command)
		p.write(".git/HEAD", "ref: refs/heads/main\n")
		if same := maps.Equal(before, p.of(command)); same == bound {
			t.Errorf("%s: the binding is the same on another branch: %v", command, same)
		}
	}
}
