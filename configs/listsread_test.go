package configs_test

import (
	"strings"
	"testing"

	"approver.example"
)

// denied reports the commands that are not denied.
func denied(t *testing.T, judge func(string) approver.Verdict, commands string) {
	t.Helper()
	for line := range strings.Lines(commands) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if v := judge(line); v.Decision != approver.Deny {
			t.Errorf("%s is %v (%s)", line, v.Decision, v.Rule)
		}
	}
}

// An agent told xargs to read its list from a file, and the file was the pipe under one of
// its names. The words in the pipe were thrown away and the command passed. The names of the
// standard input are the standard input now, and beside a file of which nothing is known the
// words of the pipe are walked too.
func TestListsOfXargsThatAreItsInput(t *testing.T) {
	judge := verdicts(t)
	denied(t, judge, `
		echo 777 / | xargs -a - chmod -R
		echo '~' | xargs -a - rm -rf
		echo / | xargs -a /dev/stdin rm -rf
		echo / | xargs -a /dev/fd/0 rm -rf
		echo / | xargs -a /proc/self/fd/0 rm -rf
		echo / | xargs -a /proc/thread-self/fd/0 rm -rf
		echo / | xargs -a /proc/$$/fd/0 rm -rf
		echo / | xargs -a/dev/stdin rm -rf
		echo / | xargs --arg-file=/dev/stdin rm -rf
		echo / | xargs --arg-file - rm -rf
		echo / | xargs -ra - rm -rf
		echo / | xargs -0a /dev/stdin rm -rf
		echo / | xargs -a /dev//stdin rm -rf
		echo / | xargs -a "$F" rm -rf
		echo / | (cd /dev && xargs -a stdin rm -rf)
		ln -s /dev/stdin x; echo / | xargs -a x rm -rf
		echo 777 / | xargs -a /dev/std* chmod -R
		echo 777 / | xargs -a $(echo -) chmod -R
		echo 777 / | xargs -a list chmod -R
		xargs -a - chmod -R <<< '777 /'
		xargs -a <(echo 777 /) chmod -R
		xargs -a /dev/fd/3 rm -rf 3<<< /
		echo .claude/settings.json | xargs -a - rm
		echo 'approver approve X' | xargs -a /dev/fd/0 env
		echo / | parallel rm -rf :::: -`)
	asks(t, judge, true, `
		echo --force | xargs -a - -I% git push %
		echo --force | xargs -a /dev/fd/0 -I% git push %`)
	asks(t, judge, false, `
		xargs -a list.txt ls -l
		xargs -a urls.txt -n1 echo
		ls *.log | xargs -I{} gzip {}
		ls *.txt | xargs -I{} cp {} out/
		echo a b | xargs -a - ls -l`)
}

// An agent gave parallel a command of nothing but places, so that the words themselves were
// the command: they were judged as one quoted word. Words of several sources were not put
// together either, and the perl in a place was not read.
func TestParallelFillsItsPlaces(t *testing.T) {
	judge := verdicts(t)
	denied(t, judge, `
		echo 'rm -rf ~' | parallel -I% '%'
		echo 'rm -rf ~' | parallel -j 4 -I% %
		echo 'rm -rf ~' | parallel {}
		echo 'rm -rf ~/x.y' | parallel {//}
		parallel {1} ::: 'rm -rf ~'
		parallel --basenamereplace % '%' ::: 'rm -rf ~'
		parallel '{1} {2}' ::: 'rm -rf' ::: /root
		parallel '{2} {1}' ::: /root ::: 'rm -rf'
		parallel '{-2} {-1}' ::: 'rm -rf' ::: /root
		parallel -C: '{1} {2}' ::: 'rm -rf:/root'
		parallel -N2 '{1} {2}' ::: 'rm -rf' /root
		parallel --link '{1} {2}' ::: 'rm -rf' :::+ /root
		parallel '{1} {2}' ::: approver ::: 'approve X'
		parallel '{1} -rf {2}' ::: rm ::: /root
		parallel rm {1}/{2} ::: .claude ::: settings.json
		parallel rm {.}.json ::: .claude/settings.x
		parallel -X chmod -R {} ::: 777 /
		parallel 'rm -rf {1}' ::: a b c d e f g h i j k l m n o p q r s t u v w x y z / ::: 1 2 3 4 5
		echo 'approver approve X' | parallel {}
		echo 'rm -rf ~' | parallel -j 4 -I% sh -c %
		echo 'rm -rf ~' | parallel --jobs 4 -I% sh -c %
		echo 'rm -rf ~' | parallel sh -c
		parallel 'echo {= system("rm -rf ~") =}' ::: a
		parallel --rpl '{x} system("rm -rf ~")' echo {x} ::: a
		parallel 'echo {= uq() =}' ::: '; rm -rf ~'
		echo 'rm -rf ~' | parallel --pipe sh
		echo 'rm -rf ~' | parallel --pipe --cat sh {}
		echo ';rm -rf ~' | rush 'echo {}'`)
	asks(t, judge, true, `
		parallel git {1} {2} ::: push ::: --force
		cat x | parallel --pipe sh
		cat x | parallel '{1} {2}' :::: - ::: a`)
	asks(t, judge, false, `
		parallel convert {} {.}.png ::: *.jpg
		parallel gzip ::: *.log
		parallel -j 4 gzip {} ::: *.log
		parallel --jobs 4 'gzip {}' ::: a.log b.log
		parallel 'echo {1} {2}' ::: a b ::: 1 2
		parallel python3 run.py --seed {1} --lr {2} ::: 1 2 3 4 5 6 7 8 9 10 ::: 0.1 0.01 0.001 1 2 3 4 5 6 7
		parallel {} ::: 'npm test' 'npm run lint'
		parallel '{} --version' ::: node npm
		parallel 'convert {} {= s/\.jpg$/.png/ =}' ::: a.jpg b.jpg
		find . -name '*.gz' | parallel 'gunzip -c {} > {.}'
		find . -name '*.png' | parallel convert {} {.}.png
		cat f | parallel --pipe wc -l
		parallel --colsep , echo {1} {2} :::: x.csv
		seq 10 | parallel ./run.sh {}`)
}

// An agent listed the settings and put a filter behind the list that had a word of settings
// in its pattern and left none of them out. The filter silenced the question. It is run over
// the paths of settings now, and the ones behind the command that gets the list do not count.
func TestFiltersThatLeaveSettingsIn(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		git ls-files .claude | grep -v claude.md | xargs rm
		git ls-files .claude | grep -v settings.local | xargs rm
		git ls-files .claude .codex | grep -v codex | xargs rm
		git ls-files .claude | grep -v 'claude$' | xargs rm
		git ls-files .claude | grep -v '^claude' | xargs rm
		git ls-files .claude | grep -v -e claude.md | xargs rm
		git ls-files .claude | grep -v -x claude | xargs rm
		git ls-files .claude | grep -vw claudes | xargs rm
		git ls-files .claude | grep -vF claude. | xargs rm
		git ls-files .claude | grep -v gemini | xargs rm
		git ls-files .claude | grep --invert-match claude.md | xargs rm
		git ls-files .claude | egrep -v 'claude.md|foo' | xargs rm
		git ls-files .claude | grep -v claude f | xargs rm
		git ls-files .claude | grep -cv claude | xargs rm
		git ls-files .claude | xargs rm -v | grep -v claude
		git ls-files .claude | sed s/x/y/ | grep -v claude.md | xargs rm
		git ls-files | grep claude | grep -v claude.md | xargs rm
		rm $(git ls-files .claude | grep -v settings.local)
		git ls-files -o --exclude-standard .claude | xargs rm
		git ls-files -co --exclude-standard .claude/ | xargs rm -f
		rm $(git ls-files -o --exclude-standard .claude)
		cd .claude && ls *s.json | xargs rm
		ls set*.json | xargs rm`)
	asks(t, judge, false, `
		git ls-files .claude | grep -v claude | xargs rm
		git ls-files | grep -v claude | xargs sed -i s/a/b/
		git ls-files | grep -v -e claude -e codex | xargs sed -i s/a/b/
		git ls-files '*.md' | grep -vE '(claude|codex)' | xargs sed -i s/a/b/
		git ls-files -o --exclude-standard src | xargs prettier --write
		find . -name '*.json' -not -path '*/.claude/*' | xargs prettier --write
		ls *s.json | xargs sed -i s/1/2/
		find . -name '*s.json' | xargs prettier --write`)
}

// Somebody who stops their own programs says whose they are with another command, or asks
// the kernel for each by its name. Both were taken for a lookup of every process, because
// the words behind the inner command were not read. Lookups of every process still ask.
func TestOwnProcessesMayBeStopped(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		kill $(pgrep -u "$(whoami)" -f webpack)
		kill $(pgrep -u $(id -u) -f vite)
		kill $(pgrep -n -u "$(whoami)" node)
		kill "$(pgrep -u "$(whoami)" node)"
		pgrep -u "$(id -un)" -f 'next dev' | xargs -r kill
		kill -9 $(pgrep -u $(whoami) -f "jest|vitest")
		kill $(pgrep -f "$(basename "$PWD")")
		kill $(pgrep -P $(cat app.pid))
		kill $(lsof -ti:3000)
		pkill -f vite
		for p in $(pgrep -u $(whoami) python); do kill $p; done
		for p in /proc/[0-9]*; do grep -q myserver $p/cmdline && kill ${p#/proc/}; done
		for p in /proc/[0-9]*; do if grep -q vite $p/cmdline; then kill ${p##*/}; fi; done`)
	asks(t, judge, false, "kill $(pgrep -u `whoami` node)\nkill `pgrep -u $(whoami) node`")
	asks(t, judge, true, `
		kill $(pgrep -u "$(whoami)")
		kill "$(pgrep -u "$(whoami)")"
		kill $(pgrep -u "$(whoami)" .)
		kill $(pgrep -u $(id -u) -f '.*')
		kill $(pgrep "$(echo .)")
		kill $(pgrep -v -u "$(whoami)" node)
		pgrep -u "$(id -un)" | xargs kill
		sh -c 'pgrep .' | xargs kill
		sh -c 'pgrep -u root '; kill $(sh -c 'pgrep .')
		for p in /proc/[0-9]*; do kill ${p#/proc/}; done
		for p in /proc/[0-9]*; do grep -q . $p/cmdline && kill ${p#/proc/}; done
		for p in /proc/[0-9]*; do grep -q appr $p/comm && kill ${p#/proc/}; done
		for p in /proc/[0-9]*; do grep -q serve $p/cmdline && kill ${p#/proc/}; done
		for p in /proc/[0-9]*; do grep -qi APPROVER $p/cmdline && kill ${p#/proc/}; done
		for p in /proc/[0-9]*; do grep -q / $p/cmdline && kill ${p#/proc/}; done
		for p in /proc/[0-9]*; do grep -q Name $p/status && kill ${p#/proc/}; done
		for p in /proc/[0-9]*; do grep -qv myserver $p/cmdline && kill ${p#/proc/}; done
		for p in /proc/[0-9]*; do grep -q myserver $p/cmdline || kill ${p#/proc/}; done
		for p in /proc/[0-9]*; do grep -q x $p/cmdline && echo; kill ${p#/proc/}; done`)
}
