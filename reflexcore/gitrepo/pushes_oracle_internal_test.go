package gitrepo

import (
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/disk"
)

// oddSettings are lines of git's settings that lead a push elsewhere, or look so; \n and \t are what they mean.
const oddSettings = `
[remote "origin"]\n\turl = git@github.com:acme/billing.git
[remote "origin"]\n\tpushurl = git@github.com:acme/billing.git
[remote "origin"]\n\tpushurl =
[remote "origin"]\n\turl =
[remote "origin"]\n\tpush = refs/heads/develop:refs/heads/main
[remote "origin"]\n\tmirror = false
[remote "origin"]\n\tvcs =
[remote "Origin"]\n\turl = git@github.com:acme/billing.git
[remote.origin]\n\tpushurl = git@github.com:acme/billing.git
[remote.Origin]\n\tpush = develop:main
[remote.upstream]\n\tpushurl = git@github.com:ann/scratch.git
[remote "upstream"]\n\tpushurl = git@github.com:ann/scratch.git
[remote "up"]\n\turl = git@github.com:acme/billing.git
[remote "up"]\n\tpushurl = git@github.com:acme/other.git
[remote.a "b"]\n\turl = git@github.com:acme/other.git
[remote]\n\tpushDefault = up
[remote]\n\tpushdefault = upstream
[remote]\n\tpushDefault = origin
[remote]\n\tpushDefault = a.b
[remote]\n\tpushDefault
[remote]\n\tpushDefault =
[remote]\n\tpushDefault = git@github.com:acme/billing.git
[remote]\n\turl = git@github.com:acme/billing.git
[branch "develop"]\n\tremote = up
[branch "develop"]\n\tremote = git@github.com:acme/billing.git
[branch "develop"]\n\tpushRemote = upstream
[branch "develop"]\n\tpushRemote =
[branch "develop"]\n\tmerge = refs/heads/main
[branch "develop"]\n\tmerge = refs/heads/develop
[Branch "develop"]\n\tpushremote = upstream
[branch.develop]\n\tpushRemote = upstream
[BRANCH.Develop]\n\tpushRemote = upstream
[branch "Develop"]\n\tpushRemote = upstream
[branch "develop"] pushRemote = upstream
[branch "dev\elop"]\n\tpushRemote = upstream
[branch "develop"]\n\tpushRemote = "up"stream
[branch "develop"]\n\tpushRemote = upstream ; x
[branch "develop"]\n\trebase = true
[push]\n\tdefault = current
[push]\n\tdefault = simple
[push]\n\tdefault = matching
[push]\n\tdefault = nothing
[url "git@github.com:acme/"]\n\tinsteadOf = git@github.com:ann/
[url "git@github.com:acme/"]\n\tpushInsteadOf = git@github.com:ann/
[extensions]\n\tworktreeConfig = true
[extensions]\n\tworktreeConfig
[extensions]\n\tworktreeConfig = false
[core]\n\trepositoryformatversion = 1
[include]\n\tpath = more
[include]\n\tpath = "more"
[include]\n\tpath = ./more
[INCLUDE]\n\tPATH = more
[includeIf "gitdir:/"]\n\tpath = more
[include "x"]\n\tpath = more
[include]\n\tpath = extended`

// git itself says where a push goes: it runs a program instead of ssh that writes down the repository, and then
// receives. Whatever the settings are, what is said is what git does, or nothing is said.
func TestPushesAreWhatGitDoes(t *testing.T) {
	dir := t.TempDir()
	there, home := filepath.Join(dir, "there.git"), filepath.Join(dir, "home")
	git(t, dir, "init", "-q", "--bare", there)
	git(t, dir, "init", "-q", "-b", "develop", "work")
	work := filepath.Join(dir, "work")
	git(t, work, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x")
	git(t, work, "branch", "main")
	ssh := filepath.Join(dir, "ssh")
	put(t, ssh, "#!/bin/sh\necho \"CONNECTS $*\" >&2\nexec git receive-pack "+there+"\n")
	if err := os.Chmod(ssh, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(work, ".git/more"), "[branch \"develop\"]\n\tpushRemote = upstream\n")
	put(t, filepath.Join(work, ".git/extended"), "[extensions]\n\tworktreeConfig = true\n")
	base, err := os.ReadFile(filepath.Join(work, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	push := func(words ...string) (repo string, branches []string) {
		words = append(strings.Fields("push --force --dry-run --porcelain"), words...)
		cmd := exec.CommandContext(t.Context(), "git", words...)
		cmd.Dir, cmd.Env = work, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_SSH_COMMAND=" + ssh}
		out, _ := cmd.CombinedOutput()
		if m := regexp.MustCompile(`CONNECTS.*git-receive-pack '([^']*?)(?:\.git)?'`).FindSubmatch(out); m != nil {
			repo = string(m[1])
		}
		for _, m := range regexp.MustCompile(`:refs/heads/(\S+)\t`).FindAllSubmatch(out, -1) {
			branches = append(branches, string(m[1]))
		}
		return repo, slices.Compact(branches) // once for each address
	}
	lines := strings.Split(strings.TrimSpace(oddSettings), "\n")
	written := strings.NewReplacer(`\n`, "\n", `\t`, "\t")
	random := rand.New(rand.NewSource(7)) //nolint:gosec // the same ones each time
	repos, named := 0, 0
	for n := range 200 {
		config := string(base) + "[remote \"origin\"]\n\turl = git@github.com:ann/scratch.git\n" +
			"[remote \"upstream\"]\n\turl = git@github.com:acme/billing.git\n"
		own := ""
		var used []string
		for k := range 1 + n%4 {
			line := lines[(n+k*random.Intn(len(lines)))%len(lines)]
			used = append(used, line)
			if line = written.Replace(line) + "\n"; random.Intn(6) == 0 {
				own, used[len(used)-1] = own+line, used[len(used)-1]+" (config.worktree)"
			} else {
				config += line
			}
		}
		put(t, filepath.Join(work, ".git/config"), config)
		put(t, filepath.Join(work, ".git/config.worktree"), own)
		reader := &Reader{Disk: disk.OS{}}
		said := reader.Pushes(work, "", UserSettings(home, ""))
		repo, branches := push()
		if said.Repo != "" && repo != "" {
			if repos++; said.Repo != repo {
				t.Errorf("%q: %s is said, and git goes to %s", used, said.Repo, repo)
			}
		}
		if said.Branch != "" && len(branches) > 0 {
			if named++; !slices.Equal(branches, []string{said.Branch}) {
				t.Errorf("%q: %s is said, and git pushes %s", used, said.Branch, branches)
			}
		}
		if !reader.Pushes(work, "origin", UserSettings(home, "")).Mapped {
			if _, branches = push("origin", "develop"); len(branches) > 0 && !slices.Equal(branches, []string{"develop"}) {
				t.Errorf("%q: develop is shown, and git pushes %s", used, branches)
			}
		}
	}
	if t.Logf("a repository is said of %d settings, a branch of %d", repos, named); repos < 40 || named < 40 {
		t.Errorf("that is too few to say anything")
	}
}
