//go:build unix

package fingerprint

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// A reviewer got a yes for the session for a script that the same call writes first: a program
// printed it from t, a folder was copied over it, git checked it out. He then changed the source,
// and the second call ran that. Now a source that is known is bound, and else the card says that
// nobody knows what the script will hold.
func TestWhatACallWritesAndThenRuns(t *testing.T) {
	for _, c := range []struct{ command, swapped string }{ // no file: it is named
		{"cp -r d e && bash e/a.sh", "d/a.sh"}, {"cp -a d/. e/ && bash e/a.sh", "d/a.sh"},
		{"cp -R d e; sh e/d/a.sh", "d/a.sh"}, {"cp -r -t e d && e/d/a.sh", "d/a.sh"},
		{"mv d e && bash e/a.sh", "d/a.sh"}, {"mv d e && e/a.sh", "d/a.sh"}, {"mv d/s e; . e/b.sh", "d/s/b.sh"},
		{"rsync -a d/ e/ && bash e/a.sh", "d/a.sh"}, {"rsync -a d e && bash e/d/a.sh", "d/a.sh"},
		{"cp -r d e && cd e && ./a.sh", "d/a.sh"}, {"cp -r d e && bash e/s/b.sh", "d/s/b.sh"},
		{"cp -r d/* e/ && bash e/s/b.sh", "d/s/b.sh"}, {"cp -r d/* e/ && bash e/a.sh", "d/a.sh"},
		{"cp -r d e && source e/a.sh", "d/a.sh"}, {"cp -r d e && python3 e/x.py", "d/x.py"},
		{"cp -r d e && timeout 5 bash e/a.sh", "d/a.sh"}, {"sudo cp -r d e && bash e/a.sh", "d/a.sh"},
		{"python3 gen.py > a.sh && bash a.sh", ""}, {"python3 gen.py; sh a.sh", ""}, {"node gen.js && bash a.sh", ""},
		{"perl gen.pl > a.sh; ./a.sh", ""}, {"ruby gen.rb && . ./a.sh", ""}, {"php gen.php >a.sh && sh ./a.sh", ""},
		{"timeout 9 python3 gen.py >a.sh && bash a.sh", ""}, {"java -jar g.jar && bash a.sh", ""},
		{"make a.sh && bash a.sh", ""}, {"make -s && ./a.sh", ""}, {"just gen && bash a.sh", ""}, {"ninja && bash a.sh", ""},
		{"git checkout -q other && bash a.sh", ""}, {"git switch other && ./a.sh", ""}, {"git stash pop && bash a.sh", ""},
		{"git stash && bash a.sh", ""}, {"git pull -q o master && bash a.sh", ""}, {"git reset --hard x; bash a.sh", ""},
		{"git merge x && bash a.sh", ""}, {"git -C . checkout x && bash a.sh", ""},
		{"git -c a.b=c rebase x && bash a.sh", ""},
		{"git restore a.sh && bash a.sh", ""}, {"git checkout -- a.sh && bash a.sh", ""}, {"git apply p; bash a.sh", ""},
		{"git checkout -b x other && bash a.sh", ""}, {"git cherry-pick x && python3 x.py", ""},
		{"for i in 1 2; do python3 gen.py; bash a.sh; done", ""}, {"(python3 gen.py) && (bash a.sh)", ""},
		{"python3 gen.py && sh -c 'bash a.sh'", ""}, {"if python3 gen.py; then bash a.sh; fi", ""},
		{"npm run a", ""}, {"make g", ""},
	} {
		p := newPlayground(t, "a.sh", "x.py", "gen.py", "d/a.sh", "d/x.py", "d/s/b.sh", "e/q")
		p.write("package.json", `{"scripts":{"a":"python3 gen.py > a.sh && bash a.sh","b":"python3 gen.py && bash a.sh"}}`)
		p.write("Makefile", "g:\n\tgit checkout x && bash a.sh\na.sh:\n\tcp d/a.sh a.sh\n")
		before, unbound, err := p.b.Files(t.Context(), p.call(c.command))
		must(t, err)
		if named := strings.Contains(strings.Join(unbound, "\n"), " will hold"); named != (c.swapped == "") {
			t.Errorf("%s: %q", c.command, unbound)
		}
		if c.swapped == "" {
			continue
		}
		p.write(c.swapped, "echo swapped\n")
		if maps.Equal(before, p.of(c.command)) {
			t.Errorf("%s: %s was swapped, and nobody sees it: %q", c.command, c.swapped, slices.Sorted(maps.Keys(before)))
		}
	}
}

// What an earlier command cannot write keeps its grant.
func TestWhatNothingWritesBeforeItRuns(t *testing.T) {
	for _, command := range []string{
		"bash a.sh && python3 gen.py", "bash a.sh && git pull", "git status && bash a.sh", "git add . && bash a.sh",
		"git commit -m merge && bash a.sh", "git checkout -b new && bash a.sh", "git stash list && bash a.sh",
		"git reset HEAD a.sh && bash a.sh", "python3 --version && bash a.sh", "echo x && bash a.sh", "ls && ./a.sh",
		"mkdir -p e && cp d/x.py e/ && bash a.sh", "cp -r d e && bash a.sh", "git log merge && bash a.sh",
		"npm run b",
	} {
		p := newPlayground(t, "a.sh", "gen.py", "d/x.py", ".git/HEAD")
		p.write("a.sh", "#!/bin/sh\ntrue\n")
		p.write("package.json", `{"scripts":{"b":"python3 gen.py && bash a.sh"}}`)
		if names := strings.Join(p.unbound(command), "\n"); strings.Contains(names, " will hold") {
			t.Errorf("%s: %q", command, names)
		}
	}
}
