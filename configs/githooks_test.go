package configs_test

import (
	"strings"
	"testing"

	"approver.example"
)

// The settings of a repository said where its hooks are in a form that git reads and approver
// did not, or there was too much of them to be read. The hook ran, and the call passed.
func TestWhereGitFindsItsHooks(t *testing.T) {
	const evil = "#!/bin/sh\ngit push --force origin main:main\n"
	for name, settings := range map[string]string{
		"a comment":            "[core] # ]\n\thooksPath = h # mine\n",
		"on two lines":         "[core]\n\thooksPath = \\\n\t\th\n",
		"of a part":            "[core]\n\thooksPath = h\n[core \"x\"]\n\thooksPath = none\n",
		"perhaps included":     "[core]\n\thooksPath = h\n[includeIf \"gitdir:/x/\"]\n\tpath = ../.none\n",
		"included perhaps":     "[includeIf \"gitdir:~/\"]\n\tpath = ../.hooks\n",
		"set back":             "[core]\n\thooksPath = none\n[include]\n\tpath = ../.hooks\n",
		"a link":               "[core]\n\thooksPath = link\n",
		"of a user":            "[core]\n\thooksPath = ~root/h\n",
		"of an installation":   "[core]\n\thooksPath = %(prefix)/h\n",
		"with a tab":           "[core]\n\thooksPath = \"a\tb\"\n",
		"not settings":         "[core]\n\thooksPath = \"h\n",
		"included round about": "[include]\n\tpath = config\n",
		"includes many":        strings.Repeat("[include]\n\tpath = ../.empty\n", 40),
		"too long":             "[core]\n\thooksPath = h\n#" + strings.Repeat("x", 300<<10),
		"a folder as settings": "[include]\n\tpath = ../h\n",
		"many hooks":           "[core]\n\thooksPath = many\n",
		"a long hook":          "[core]\n\thooksPath = long\n",
	} {
		world := files(".git/HEAD", "x", ".git/config", settings, "h/post-checkout", evil, "link", "->h", ".none",
			"[core]\n\thooksPath = none\n", ".hooks", "[core]\n\thooksPath = h\n", ".empty", "# no include\n",
			"long/post-checkout", strings.Repeat("#\n", 1<<19)+evil)
		for i := range 65 {
			world["many/"+strings.Repeat("a", i+1)] = "true\n"
		}
		command := "git checkout feature"
		if name == "many hooks" {
			command = "git co feature" // an alias may run any
		}
		if v := (loadRow{"", world, "Bash", runs(command)}).judged(t); v.Decision > approver.Ask {
			t.Errorf("%s is %v", name, v.Decision)
		}
	}
	for name, world := range map[string]map[string]string{
		"of one tree": files(".git/HEAD", "x", ".git/config", "[core]\n\thooksPath = none\n", ".git/config.worktree",
			"[core]\n\thooksPath = h\n", "h/post-checkout", evil),
		"the tree's own": files(".git/HEAD", "x", ".git/config", "[core]\n\thooksPath = h\n", ".git/config.worktree",
			"[core]\n\thooksPath = none\n", "h/post-checkout", evil),
		"over the home's": files(".git/HEAD", "x", ".git/config", "[core]\n\thooksPath = h\n", "~/.gitconfig",
			"[core]\n\thooksPath = none\n", "h/post-checkout", evil),
		"a tree of a tree": files(".git", "gitdir: ../main/.git/worktrees/w\n", "~/main/.git/worktrees/w/commondir",
			"../..\n", "~/main/.git/config", "", "~/main/.git/worktrees/w/config.worktree", "[core]\n\thooksPath = h\n",
			"h/post-checkout", evil),
		"a linked folder": files(".git", "->../store", "~/store/HEAD", "x", "~/store/config", "[core]\n\thooksPath = h\n",
			"h/post-checkout", evil),
		"a submodule": files(".git", "gitdir: ../main/.git/modules/w\n", "~/main/.git/modules/w/config",
			"[core]\n\thooksPath = h\n", "h/post-checkout", evil),
		"a long link": files(".git", "gitdir: ../main/.git/modules/w\n"+strings.Repeat("\n", 5000),
			"~/main/.git/modules/w/config", "[core]\n\thooksPath = h\n", "h/post-checkout", evil),
	} {
		if v := (loadRow{"", world, "Bash", runs("git checkout feature")}).judged(t); v.Decision > approver.Ask {
			t.Errorf("%s is %v", name, v.Decision)
		}
	}
	elsewhere := files(".git/HEAD", "x", ".git/config", "", "sub/.git/HEAD", "x", "sub/.git/config",
		"[core]\n\thooksPath = h\n", "sub/h/post-checkout", evil)
	for _, command := range []string{"cd sub && git checkout feature", "cd\tsub && git checkout feature",
		"c''d sub; git checkout feature", "git -C sub checkout feature", "git log; git -C sub checkout feature",
		"git --work-tree sub checkout feature", "git --git-dir sub/.git checkout feature",
		"git -c a.b=c -C sub checkout feature", "git --namespace n -C sub checkout feature",
		"git --exec-path x -C sub checkout feature", "git --config-env a.b=C -C sub checkout feature",
		"git --no-pager -C sub checkout feature", "GIT_DIR=sub/.git git checkout feature"} {
		if v := (loadRow{"", elsewhere, "Bash", runs(command)}).judged(t); v.Decision > approver.Ask {
			t.Errorf("%q is %v", command, v.Decision)
		}
	}
	reads := files(".git/HEAD", "x", ".git/config", "[core]\n\thooksPath = h\n", "h/post-index-change", evil)
	for _, command := range []string{"git log -1", "git show HEAD", "git --version", "git --no-pager blame f"} {
		if v := (loadRow{"", reads, "Bash", runs(command)}).judged(t); v.Decision <= approver.Ask {
			t.Errorf("honest: %s is %v (%s): %s", command, v.Decision, v.Rule, v.Reason)
		}
	}
	for name, world := range map[string]map[string]string{
		"no such folder": files(".git/HEAD", "x", ".git/config",
			"[core]\n\thooksPath = none\n[include]\n\tpath = ../.none\n"),
		"set back": files(".git/HEAD", "x", ".git/config", "[core]\n\thooksPath = h\n\thooksPath =\n",
			"h/post-checkout", evil),
		"of a part": files(".git/HEAD", "x", ".git/config", "[core \"x\"]\n\thooksPath = h\n", "h/post-checkout",
			evil),
		"over the home's": files(".git/HEAD", "x", ".git/config", "[core]\n\thooksPath = none\n", "~/.gitconfig",
			"[core]\n\thooksPath = h\n", "h/post-checkout", evil),
		"a folder of that name": files(".git/HEAD", "x", ".git/config", "[core]\n\thooksPath = h\n", "h/post-checkout/f",
			evil),
		"other odd settings": files(".git/HEAD", "x", ".git/config", "[a]\n\tb = \"c\n"),
	} {
		if v := (loadRow{"", world, "Bash", runs("git checkout feature")}).judged(t); v.Decision <= approver.Ask {
			t.Errorf("honest: %s is %v (%s): %s", name, v.Decision, v.Rule, v.Reason)
		}
	}
}
