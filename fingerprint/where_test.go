//go:build unix

package fingerprint

import (
	"maps"
	"testing"
)

// The story: a yes that lasts was given to "gh pr merge 1" in one repository, and .git/config then named another. What
// says where the words of a command act is bound, whichever program reads it.
func TestWhereACommandActsIsBound(t *testing.T) {
	const scratch = "[remote \"origin\"]\n\turl = git@github.com:ann/scratch.git\n"
	for _, c := range []struct{ command, file string }{
		{"gh pr merge 1", ".git/config"},
		{"gh pr merge", ".git/HEAD"},
		{"gh release create v1", ".git/config"},
		{"gh repo delete --yes", ".git/config"},
		{"cd sub && gh pr merge 1", ".git/config"},
		{"cd linked && gh pr merge 1", ".git/config"},
		{"cd linked && gh pr merge", ".git/worktrees/linked/HEAD"},
		{"GIT_DIR=$PWD/other gh pr merge 1", "other/config"},
		{"gh pr merge 1", ".gitconfig"},
		{"glab mr merge 1", ".git/config"},
		{"hub release create v1", ".git/config"},
		{"tea pr merge 1", ".git/config"},
		{"git push --force", ".ssh/config"},
		{"git push --force origin main", ".ssh/config.d/hosts"},
		{"scp a.yaml host:x", ".ssh/config"},
		{"rsync -a sub host:x", ".ssh/config"},
		{"curl -d @a.yaml https://x.example", ".curlrc"},
		{"wget --post-file=a.yaml https://x.example", ".wgetrc"},
		{"psql service=x -c 'delete from users'", ".pg_service.conf"},
		{"mysql -e 'delete from users'", ".my.cnf"},
	} {
		t.Run(plainName(c.command+" "+c.file), func(t *testing.T) {
			t.Parallel()
			p := newPlayground(t, "a.yaml", "sub/a.yaml")
			p.write(".git/HEAD", "ref: refs/heads/develop\n")
			p.write(".git/config", scratch)
			p.write("linked/.git", "gitdir: ../.git/worktrees/linked\n")
			p.write(".git/worktrees/linked/HEAD", "ref: refs/heads/linked\n")
			p.write(".git/worktrees/linked/commondir", "../..\n")
			before := p.of(c.command)
			p.write(c.file, "[remote \"origin\"]\n\turl = git@github.com:acme/billing.git\n")
			if maps.Equal(before, p.of(c.command)) {
				t.Errorf("%s changed, and nobody sees it", c.file)
			}
		})
	}
}
