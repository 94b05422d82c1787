package configs_test

import (
	"fmt"
	"strings"
	"testing"
)

// An agent put the root folder behind seventy harmless words. Of the words of parallel, rush and
// mapfile -C only the first 64 were walked, and of the others nothing was said. They may be
// anything now, as with xargs and loops.
func TestWordsBeyondThoseThatAreWalked(t *testing.T) {
	judge := verdicts(t)
	var files, echoes []string
	for i := range 70 {
		files = append(files, fmt.Sprintf("build/a%d", i))
		echoes = append(echoes, fmt.Sprintf(`"echo %d"`, i))
	}
	many := strings.Join(files, " ")
	for _, command := range []string{
		"parallel rm -rf {} ::: %s /", "parallel -N2 rm -rf {} ::: %s /", "parallel -N2 rm -rf ::: %s /",
		"parallel -X rm -rf {} ::: %s /", "rush 'rm -rf {}' ::: %s /", "parallel -j4 rm -rf {1} ::: %s / ::: b",
		`printf '%%s\n' %s / | parallel 'rm -rf {}'`, `mapfile -t -C 'rm -rf' -c 1 x <<< "$(printf '%%s\n' %s /)"`,
		"for f in %s /; do rm -rf $f; done", `printf '%%s\n' %s / | xargs -I{} rm -rf {}`,
	} {
		asks(t, judge, true, fmt.Sprintf(command, many))
	}
	asks(t, judge, true, "parallel sh -c ::: "+strings.Join(echoes, " ")+` "rm -rf /"`)
	asks(t, judge, false, `
		parallel ./run.sh ::: {1..100}
		parallel gzip -k {} ::: `+many+`
		parallel -j8 convert {} {.}.png ::: `+many)
}
