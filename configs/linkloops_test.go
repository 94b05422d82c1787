package configs_test

import (
	"strings"
	"testing"
)

// A recipe of git's own Makefile, 1.7 KB long, links programs to each other in loops. Links that
// lead through each other made a path longer at each of 40 hops, and the longer path was kept as a
// link again: judging took 23 GB and did not end. A kernel takes paths of at most 4,096 bytes, and
// so does the engine: what is beyond that is not known.
func TestLinksThroughEachOther(t *testing.T) {
	judge := verdicts(t)
	const loops = `a=$(pwd); b=$(cd sub && pwd); d=$(echo x | sed s/x/../)
		for p in git scalar; do
			rm -f "$b/$p"; ln -s "$d/$a/$p" "$b/$p" || ln "$a/$p" "$b/$p" || cp "$a/$p" "$b/$p"
		done
		for p in one two three four five six seven eight; do
			rm -f "$a/$p"; ln -s git "$a/$p" || ln "$a/git" "$a/$p" || cp "$a/git" "$a/$p"
			rm -f "$b/$p"; ln -s "$d/$p/git" "$b/$p" || ln "$b/git" "$b/$p" || cp "$b/git" "$b/$p"
		done; cat $b/one/$a/two`
	for _, command := range []string{
		loops, "ln -s b/x a; ln -s a/y b; cp a/1 b/2; ln -s a/b/a b/a; ln -s b/a/b a/b; cat a/b/a/b/c",
		strings.Repeat("ln -s a/x/b b/y/a; ln -s b/y/a a/x/b; cp a/x/b/f b/y/a/g; ", 20) + "cat a/x/b/f",
	} {
		if v := judge(command); len(v.Reason)+len(v.Detail) > 20_000 {
			t.Errorf("%.60s: %d bytes of reason", command, len(v.Reason)+len(v.Detail))
		}
	}
}
