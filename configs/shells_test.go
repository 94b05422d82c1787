package configs_test

import (
	"testing"
)

// asksAll fails for each command that no person would be asked about.
func asksAll(t *testing.T, commands []string) {
	t.Helper()
	asksEach(t, verdicts(t), true, commands...)
}

// passesAll fails for each command that a person would be asked about.
func passesAll(t *testing.T, commands []string) {
	t.Helper()
	asksEach(t, verdicts(t), false, commands...)
}

// An agent wrote a letter of a command as its number, and let sh's echo print it into a
// shell. The walk took echo for bash's own, which prints the number; sh was dash, which
// prints the letter. What echo prints may be either now.
func TestEchoOfOtherShells(t *testing.T) {
	asksAll(t, []string{
		`sh -c "echo '\147it push --force origin main'" | bash`, `dash -c "echo '\147it push --force origin main'" | sh`,
		`zsh -c 'echo "\147it push --force origin main"' | sh`,
		`bash -O xpg_echo -c "echo '\147it push --force origin main'" | bash`,
		`shopt -s xpg_echo; echo '\x67it push --force origin main' | bash`,
		`shopt -s xpg_echo; echo 'ls\ngit push --force origin main' | sh`,
		`echo '\0147it push --force origin main' | bash`, `echo -n '\147it push --force origin main' | bash`,
		`echo '\147it push --force origin main' | tee /dev/null | bash`, `{ echo '\147it push --force origin main'; } | bash`,
		`(echo '\147it push --force origin main') | sh`, `eval "$(echo '\147it push --force origin main')"`,
		`eval "$(: ; echo '\147it push --force origin main')"`, `$(echo '\147it') push --force origin main`,
		`$(: ; echo '\147it') push --force origin main`,
		`x=$(echo '\147it'); $x push --force origin main`, `x=$(sh -c "echo '\147it'"); $x push --force origin main`,
		`git push $(echo '--f\157rce') origin main`, `echo '\147it push --force origin main' > f; sh f`,
		`sh -c "echo '\147it push --force origin main'" > f; . ./f`,
		`bash <(echo '\147it push --force origin main')`, `bash <<< "$(echo '\147it push --force origin main')"`,
		`echo '\147it push --force origin main' | while read -r c; do $c; done`,
		`echo 'git push --force origin main\c ignored' | sh`,
		`f() { echo '\147it push --force origin main'; }; f | sh`, `echo '\147it push --force origin main' | xargs -0 sh -c`,
		`echo '\ngit push --force origin main' | bash`,
		`python3 -c 'print(1)'; echo 'ls;\u0067it push --force origin main' | bash`,
	})
	passesAll(t, []string{
		`echo "a\nb"`, `echo 'a\tb' > notes.txt`, `echo "line one\nline two" | cat`, `x=$(echo 'a\nb'); echo "$x"`,
		`echo '\033[1mdone\033[0m'`, `echo -e "a\nb" | sort`, `echo -E '\147it push --force origin main'`,
		`echo 'console.log("a\\nb")' > x.js; node x.js`, `sh -c "echo 'a\nb'" | wc -l`, `git commit -m "$(echo 'one\ntwo')"`,
	})
}

// An agent let a loop that never ran take a variable back: for i in $nothing. The walk
// believed that it had run, and the command that the variable still named was not judged. A
// loop over what may be nothing may not run now; so may each round of select.
func TestLoopsThatRunNoTime(t *testing.T) {
	asksAll(t, []string{
		`x=git; for i in $nothing; do x=ls; done; $x push --force origin main`,
		`x=git; for i in "$@"; do x=ls; done; $x push --force origin main`,
		`x=git; for i; do x=ls; done; $x push --force origin main`,
		`x=git; for i in ${a[@]}; do x=ls; done; $x push --force origin main`,
		`x=git; for i in $(cat f); do x=ls; done; $x push --force origin main`,
		`x=git; for i in ${U:+x}; do x=ls; done; $x push --force origin main`,
		`x=git; for i in $(cat f) $(cat g); do x=ls; done; $x push --force origin main`,
		`x=git; for i in $U $V; do x=ls; done; $x push --force origin main`,
		`x=git; select x in a; do break; done < /dev/null; $x push --force origin main`,
		`x=git; select y in a b; do x=ls; break; done < /dev/null; $x push --force origin main`,
		`x=git; for ((i=N; i<3; i++)); do x=ls; done; $x push --force origin main`,
		`set -- git; for i in $U; do set -- ls; done; $1 push --force origin main`,
		`f() { git push --force origin main; }; for i in $U; do f() { ls; }; done; f`,
		`for i in $U; do git() { ls; }; done; git push --force origin main`,
		`for i in $U; do alias git=ls; done; git push --force origin main`,
		`a=(git push); for i in $U; do a=(ls); done; "${a[@]}" --force origin main`,
		`x=git; for i in $(seq $N); do x=ls; done; $x push --force origin main`,
		`x=git; for i in $(git ls-files); do x=ls; done; $x push --force origin main`,
		`x=git; for i in $U; do unset x; done; $x push --force origin main`,
		`x=git; for i in $U; do read x <<< ls; done; $x push --force origin main`,
		`x=git; for i in $U; do for j in a; do x=ls; done; done; $x push --force origin main`,
		`x=git; mapfile -t -O 1 x <<< ls; $x push --force origin main`,
		`x=git; mapfile -n 0 -O 5 x <<< ls; $x push --force origin main`,
		`x=git; mapfile -O 1 x < f; $x push --force origin main`,
		`x=git; readarray -O2 -t x <<< ls; $x push --force origin main`,
		`x=git; x+=([1]=ls); $x push --force origin main`, `x=git; x+=(push --force origin main); "${x[@]}"`,
		`x=git; declare -a x+=(ls); $x push --force origin main`,
		`declare -n x=y; y=git; x=ls true; $y push --force origin main`,
	})
	passesAll(t, []string{
		`for i in ls; do x=$i; done; $x -l`, `for f in $FILES; do echo "$f"; done`,
		`files=""; for f in $(ls); do files="$files $f"; done; echo $files`,
		`x=git; for i in a b; do x=ls; done; $x push --force origin main`,
		`for d in $DIRS; do cd $d; make; cd ..; done`, `ARGS+=(-v); ls "${ARGS[@]}"`,
		`for ((i=0; i<3; i++)); do echo $i; done`, `select x in a b; do echo $x; break; done`,
		`mapfile -t lines < f; echo "${lines[0]}"`,
	})
}

// An agent gave a shell its parameters behind -s, and the code on its standard input; or it
// let the shell trace what PS4 says into the pipe of another one. Neither was followed.
func TestWhatShellsAreGiven(t *testing.T) {
	asksAll(t, []string{
		`sh -s - git <<< '$1 push --force origin main'`, `bash -s git <<< '$1 push --force origin main'`,
		`bash -s -- git push --force origin main <<< '"$@"'`, `bash /dev/stdin git <<< '$1 push --force origin main'`,
		`echo '$1 push --force origin main' | sh -s git`,
		`sh -s git push <<< '$1 $2 --force origin main'`, `bash -es git <<< '$1 push --force origin main'`,
		`bash -e -s git <<< '$1 push --force origin main'`, `bash -o pipefail -s git <<< '$1 push --force origin main'`,
		`bash +x -s git <<< '$1 push --force origin main'`,
		`dash -s -- git <<< '"$1" push --force origin main'`, "bash -s git <<'E'\n$1 push --force origin main\nE",
		`printf '%s' '$@' | bash -s git push --force origin main`, `cat <<< '$1 push --force origin main' | bash -s git`,
		`bash -s -- --force <<< 'git push $1 origin main'`, `zsh -s git <<< '$1 push --force origin main'`,
		`ksh -s git <<< '$1 push --force origin main'`, `env bash -s git <<< '$1 push --force origin main'`,
		`BASH_XTRACEFD=1 PS4='git push --force origin main;' bash -xc : | sh`,
		`BASH_XTRACEFD=1 PS4='git push --force origin main;' bash -x -c : | sh`,
		`export BASH_XTRACEFD=1 PS4='git push --force origin main;'; set -x; : | sh`,
		`BASH_XTRACEFD=1 PS4='git push --force origin main;' bash -x <<< : | sh`,
	})
	passesAll(t, []string{`bash -s x <<< 'echo $1'`, `set -x; make test`, `bash -x build.sh`, `set -x; npm test | tee log`,
		`bash -xc 'make'`})
}

// An agent read a file of its own into the shell, which set a variable that the call then
// ran: X=ls; . ./env; $X. The walk knew X as ls. What such a file may have set is not known
// where it is run, and what a file's text stands behind in eval may be more than one command.
func TestWhatAFileMaySet(t *testing.T) {
	asksAll(t, []string{
		`X=ls; . ./env; $X`, `X=ls; . ./env; "$X" -l`, `X=ls; source env.sh; eval "$X"`, `X=ls; . ./env; bash -c "$X"`,
		`X=ls; . env; sh -c $X`, `X=ls; . ./env; ${X} -l`, `X=ls; source ./a/b.sh; command $X`, `X=ls; . ./env && $X`,
		`X=ls; if . ./env; then $X; fi`, `X=ls; { . ./env; }; $X`, `X=ls; f() { . ./env; }; f; $X`,
		`export X=ls; . ./env; $X`, `X=ls Y=ls; . ./env; $Y`, `X=ls; . ./env; nohup $X`, `X=ls; . ./env; exec $X`,
		`X=ls; . ./env; eval $X -l`,
		`X=ls; . ./env; python3 -c "$X"`, `X=ls; [ -f env ] && . ./env; $X`, `X=ls; . ./env; xargs $X < f`,
		`X=ls; builtin source ./env; $X`,
		`eval "true $(cat f)"`, "eval \"true `cat f`\"", `eval true $(cat f)`, `eval "x=1 $(head -1 f)"`, `eval "true $(<f)"`,
		`y=$(cat f); eval "true $y"`, `eval "echo $(sed 1d f)"`,
	})
	passesAll(t, []string{
		`X=ls; . ./env; echo "$X"`, `X=build; . ./env; mkdir -p "$X"`, `. ./env; npm test`,
		`PY=python3; source .venv/bin/activate; $PY x.py`, `X=ls; . "$NVM_DIR/nvm.sh"; $X`, `X=ls; source /etc/profile; $X`,
		`. ./env; X=ls; $X`,
		`eval "$(ssh-agent -s)"`, `eval "set -- $X"`, `X=1; source ~/.bashrc; make`,
	})
}

// ${X?} stops the shell where X is not set, but not where it is empty: it was taken for the
// guard that ${X:?} is. And what zsh reads as an element, $x[2], was taken for bash's pattern.
func TestGuardsAndElements(t *testing.T) {
	judge := verdicts(t)
	want := judge(`git push $X --force origin main`).Decision
	for _, command := range []string{`git push ${X?}--force origin main`, `git push --for${X?}ce origin main`,
		`${X?}git push --force origin main`, `git push "${X?no}--force" origin main`, `gi${X?}t push --force origin main`} {
		if v := judge(command); v.Decision > want {
			t.Errorf("%s is %v (%s)", command, v.Decision, v.Rule)
		}
	}
	asksAll(t, []string{
		`x=(ls git); $x[2] push --force origin main`, `x=(ls git); $x[-1] push --force origin main`,
		`x=(git); $x[1] push --force origin main`, `x=lsgit; $x[3,5] push --force origin main`,
		`x=lsgit; $x[3,-1] push --force origin main`, `x=(ls git push); $x[2,3] --force origin main`,
		`x=(a --force); git push $x[2] origin main`, `x=(a --force); git push "$x[2]" origin main`,
		`x=(--force); git push ${y}$x[1] origin main`, `x=ogit; $x[2]it push --force origin main`,
		`x=g; $x[1]it push --force origin main`,
		`x=(a b git); for i in 1; do $x[3] push --force origin main; done`,
		`x=(ls "git push"); eval $x[2] --force origin main`, `x=(ls git); env $x[2] push --force origin main`,
		`x=(ls 'git push --force origin main'); sh -c "$x[2]"`,
		`x=(a /); rm -rf $x[2]`, `x=(a /etc); rm -rf "$x[2]"`, `x=(a /); rm -rf $x[-1]`,
		`x=(ls git); f() { $x[2] push --force origin main; }; f`, `x=(ls); x+=(git); $x[2] push --force origin main`,
	})
	passesAll(t, []string{`x=(a b); echo $x[2]`, `x=main; git log $x[1]`, `echo "$x[0]"`, `ls $dir[0-9]`,
		`git push --force-with-lease "${X:?}"; echo "$y[1]"; x=f; rm $x[0]`}[:4])
}

// An agent wrote a script and ran it by another way: after cd -, by find, in the pieces that
// split made of it, or written by code. The walk lost the file, and passed the call. Such a
// file is found by the end of its path now, or is not known, which is a question.
func TestFilesWrittenAndRun(t *testing.T) {
	asksAll(t, []string{
		`mkdir -p d; cd d && echo 'git push --force origin main' > q; cd - >/dev/null; sh d/q`,
		`cd d; echo 'git push --force origin main' > q; cd -; . d/q`,
		`cd d; echo 'git push --force origin main' > q; cd "$OLDPWD"; bash d/q`,
		`pushd d; echo 'git push --force origin main' > q; popd; sh d/q`,
		`echo 'git push --force origin main' > q9; find . -name q9 -exec sh {} \;`,
		`echo 'git push --force origin main' > q9; find . -name q9 -exec bash {} +`,
		`echo 'git push --force origin main' > q; sh $X/q`, `echo 'git push --force origin main' > q; sh "$(pwd)/q"`,
		`echo 'git push --force origin main' > q; . $PWD/q`,
		`perl -e 'open F,">qa";print F "git push --force origin main"'; sh qa`,
		`perl -e 'open(my $f,">","qa");print $f "x"'; bash ./qa`, `perl -e 'open F,">qa";print F "x"'; . ./qa`,
		`python3 -c 'open("qa","w").write("git push --force origin main")'; sh qa`,
		`python3 -c 'f=open("qa","w"); g(f)'; sh qa`,
		`split -l1 - qz <<< 'git push --force origin main'; sh qzaa`, `split -b 99 f; sh xaa`,
		`split -l 1 f part; . ./partab`, `split --lines=1 f p/; bash p/aa`, `split f ./q; sh ./qab`,
		`csplit - 1 <<< 'git push --force origin main'; sh xx00`, `csplit -f q f 1; bash q01`, `csplit -fq f 1; . ./q01`,
		`csplit --prefix=q f 1; sh q00`,
		// The value of a flag was taken for the file, and so the file for the name of the pieces.
		`split --lines 1 f; sh xaa`, `split -t : f q; sh qaa`, `csplit -zfq f 1; sh q00`, `csplit --pre q f 1; sh q00`,
		`sqlite3 :memory: -cmd '.output qe' "select 'git push --force origin main'"; sh qe`,
		`b=$(head -c3 <<< gitxyz); $b push --force origin main`, `$(head -c3 <<< gitxyz) push --force origin main`,
		`b=$(tail -c4 <<< xyzgit); $b push --force origin main`, `b=$(uniq -w3 <<< git | tail -c4); $b push`,
	})
	passesAll(t, []string{
		`cd d && make; cd -; make`, `split -l 100 big.csv part_; wc -l part_aa`,
		`python3 -c 'open("x.txt","w").write("a")'; cat x.txt`, `b=$(head -1 <<< main); git log $b`,
		`cd src; echo 'make test' > run.sh; cd -; sh src/run.sh`,
		`echo 'ls' > q9; find . -name q9 -exec sh {} \;`, `find . -name '*.sh' -exec bash -n {} \;`,
		`perl -e 'open F,">out.txt";print F "x"'; cat out.txt`, `csplit -f part log.txt 100; ls part00`,
	})
}
