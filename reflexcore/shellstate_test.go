package reflexcore_test

import "testing"

// A list that an array is declared with was quoted, and taken for one text: bash parses it
// all the same, and runs what stands in it. It is parsed here too.
func TestQuotedListsOfArraysAreParsed(t *testing.T) {
	asksAll(t, `
declare -a a='(~/Documents)'; rm -rf "${a[@]}"
declare -a a="(/home/ada/Documents)"; rm -rf "${a[@]}"
declare -a a='(rm -rf /home/ada/Documents)'; "${a[@]}"
declare -a a='(codex exec x)'; "${a[@]}"
declare -a a='($(codex exec x))'
declare -a a='($(rm -rf ~/Documents))'
declare -A a='([k]=codex)'; ${a[k]} exec x
declare -a a='([$(codex exec x)0]=x)'
declare -Ag a='([k]=$(codex exec x))'
typeset -a a='(codex exec x)'; "${a[@]}"
readonly -a a='($(codex exec x))'
export -a a='($(codex exec x))'
f() { local -a a='(codex exec x)'; "${a[@]}"; }; f
f() { local -a a='($(codex exec x))'; }; f
declare -a a; declare a='($(codex exec x))'
declare -a a=(x); declare a+='($(codex exec x))'
declare -a a; a+=(y); typeset a='(codex exec x)'; "${a[@]}"
v='(codex exec x)'; declare -a a="$v"; "${a[@]}"
v='($(codex exec x))'; declare -a a=$v
declare -a a[0]='($(codex exec x))'
declare -ra a='(codex exec x)'; "${a[@]}"
`)
	passesAll(t, `
declare -a a='(one two)'; echo "${a[@]}"
declare -a a='(src docs)'; ls "${a[@]}"
declare -a a; a='(x)'; echo "$a"
declare -A m='([k]=v)'; echo "${m[k]}"
declare a='(not a list)'; echo "$a"
local_var='(x)'; echo "$local_var"
export PS1='(venv) $ '
f() { local msg='(done)'; echo "$msg"; }; f
declare -a files=(a b); cat "${files[@]}"
readonly NOTE='(see README)'; echo "$NOTE"
declare -r x='(codex exec x)'; echo "$x"
declare -i n='(1+2)'; echo $n
`)
}

// The shell ran a line of its history that the command itself had put there: history -s
// and fc -s. What is recorded is known now, and what is run again is judged.
func TestTheHistoryIsNoHidingPlace(t *testing.T) {
	asksAll(t, `
history -s 'codex exec x'; fc -s
history -s 'rm -rf ~/Documents'; fc -s
history -s rm -rf /home/ada/Documents; fc -s
history -s 'codex exec x'; fc -e -
history -s 'codex exec x'; fc -s codex
history -s 'coXdex exec x'; fc -s X=
history -s 'rX -rf /home/ada/Documents'; fc -s X=m rX
history -s 'codex exec x'; fc -e true
history -s 'codex exec x'; FCEDIT=true fc
history -s 'codex exec x'; fc
fc -s
fc -e 'rm -rf ~/Documents'
history -s 'codex exec x'; HISTFILE=h; history -a; . ./h
HISTFILE=h; history -s 'codex exec x'; history -a; bash h
history -s 'codex exec x'; history -a h; . ./h
echo 'codex exec x' > h; history -r h; fc -s
f() { history -s 'codex exec x'; }; f; fc -s
eval "$(history -p 'codex exec x')"
$(history -p 'codex exec x')
history -s "$(cat f)"; fc -s
`)
	passesAll(t, `
history 20
fc -l
fc -ln -1
fc -l -10
history -s 'make test'
history -p 'echo x'
history -s 'echo hello'; fc -s
HISTFILE=h; echo x
history | tail -5
set +o history; make
fc -lnr
echo "$(history -p 'hello')"
`)
}

// A function took back a variable of the function that called it, and what that one deleted
// then was the folder that the variable had hidden.
func TestUnsetUncoversWhatWasHidden(t *testing.T) {
	asksAll(t, `
x=~/Documents; g() { unset x; }; f() { local x=src; g; rm -rf "$x"; }; f
f() { unset x; rm -rf $x; }; x=~/Documents; g() { local x=src; f; }; g
x=~/Documents; f() { unset x; rm -rf "$x"; }; x=src f
x=codex; g() { unset -v x; }; f() { local x=ls; g; $x exec x; }; f
x=codex; g() { eval unset x; }; f() { declare x=ls; g; $x exec x; }; f
x=codex; g() { unset x; }; f() { typeset x=ls; g; $x exec x; }; f
x=codex; g() { h; }; h() { unset x; }; f() { local x=ls; g; $x exec x; }; f
x=codex; h() { unset x; unset x; $x exec x; }; g() { local x=a; h; }; f() { local x=b; g; }; f
x=codex; g() { unset x; $x exec x; }; f() { local x=ls; g; }; f
x=codex; g() { [ -e y ] && unset x; }; f() { local x=ls; g; $x exec x; }; f
x=codex; g() { if true; then unset x; fi; $x exec x; }; f() { local x=ls; g; }; f
x=codex; g() { declare -n r=x; unset r; $x exec x; }; f() { local x=ls; g; }; f
x=codex; g() { unset y x; }; f() { local x=ls y=1; g; $x exec x; }; f
x=codex; g() { (unset x; $x exec x); }; f() { local x=ls; g; }; f
`)
	passesAll(t, `
x=src; g() { unset x; }; f() { local x=~/Documents; g; ls "$x"; }; f
f() { local x=build; unset x; echo "$x"; }; f
x=a; unset x; echo "$x"
f() { unset x; }; x=1; f; echo "$x"
f() { local t; t=$(mktemp); unset t; }; f
x=1 f; unset x
g() { unset x; }; f() { local x=src; g; echo "$x"; }; f
unset GIT_DIR; git status
f() { unset -f f; }; f
f() { local a=1 b=2; unset a; echo "$b"; }; f
x=src; g() { unset x; x=docs; }; f() { local x=y; g; ls "$x"; }; f; ls "$x"
env -u X make; unset X
`)
}

// What stands where the shell takes a number is an expression: a name in it stands for the
// text that it holds, and the index in that runs a command.
func TestNumbersOfTheShellAreEvaluated(t *testing.T) {
	asksAll(t, `
x='a[$(codex exec x)]'; [[ x -gt 0 ]]
x='a[$(codex exec x)]'; [[ 0 -lt x ]]
x='a[$(codex exec x)]'; [[ $x -eq 0 ]]
x='a[$(codex exec x)]'; [[ 1 -ne x+1 ]]
x='a[$(codex exec x)]'; y=x; [[ y -ge 0 ]]
x='a[$(codex exec x)]'; y=x+1; z=y+1; [[ z -le 0 ]]
x='a[$(codex exec x)]'; [[ -v a[x] ]]
x='a[$(codex exec x)]'; [[ 1 -eq 1 && x -gt 0 ]]
x='a[$(codex exec x)]'; declare -ia n=(x)
x='a[$(codex exec x)]'; declare -ia n; n[0]=x
x='a[$(codex exec x)]'; declare -ia n; n+=(x)
x='a[$(codex exec x)]'; declare -iA n=([k]=x)
x='a[$(codex exec x)]'; declare -iA n; n[k]=x
x='a[$(codex exec x)]'; declare -ia n='(x)'
x='a[$(codex exec x)]'; declare -ia n; read -a n <<< x
x='a[$(codex exec x)]'; declare -ia n; mapfile -t n <<< x
x='a[$(codex exec x)]'; declare -ia n; printf -v 'n[0]' x
x='a[$(codex exec x)]'; exec {y[x]}</dev/null
x='a[$(codex exec x)]'; test -v 'a[x]'
x='a[$(codex exec x)]'; unset 'a[x]'
x='a[$(codex exec x)]'; f() { local -i n=x; }; f
`)
	passesAll(t, `
x=3; [[ x -gt 0 ]] && echo yes
[[ $# -gt 1 ]] && echo usage
[[ ${#a[@]} -eq 0 ]] || echo some
declare -ia n=(1 2 3); echo "${n[@]}"
declare -iA n=([a]=1); n[a]+=1; echo "${n[a]}"
count=$(wc -l < f); [[ $count -gt 10 ]] && echo long
[[ "$a" == "b" ]] && echo same
[[ -v HOME ]] && echo home
[[ $(date +%u) -lt 6 ]] && make
x='a[0]'; [[ x -eq 0 ]]
n=1; [[ n+1 -eq 2 ]]
declare -i total=0; total+=5; echo $total
`)
}

// The keys of an array carried a flag to a program: nobody looked at "${!a[@]}".
func TestKeysOfArraysAreWords(t *testing.T) {
	asksAll(t, `
declare -A a=([--force]=1); git push origin main "${!a[@]}"
declare -A a=([--force]=1); git push origin main ${!a[*]}
declare -A a; a[--force]=1; git push origin main "${!a[@]}"
declare -A a=([--force]=-q); git push origin main "${a[@]@k}"
declare -A a=([--force]=-q); git push origin main ${a[@]@K}
declare -A a=([--force]=-q); git push origin main ${a[*]@k}
declare -A a=([codex]=exec); "${a[@]@k}" x
declare -A a=([codex]=exec); "${!a[@]}" exec x
declare -A a=([/home/ada/Documents]=1); rm -rf "${!a[@]}"
declare -A a=([/home/ada/Documents]=1); for k in "${!a[@]}"; do rm -rf "$k"; done
declare -A a=([x]=1 [/home/ada/Documents]=1); for k in "${!a[@]}"; do rm -rf "$k"; done
declare -A a=([--force]=1 [-q]=1); git push origin main "${!a[@]}"
declare -A a='([--force]=1)'; git push origin main "${!a[@]}"
`)
	passesAll(t, `
declare -A a=([src]=1 [docs]=2); for k in "${!a[@]}"; do echo "$k ${a[$k]}"; done
a=(x y); for i in "${!a[@]}"; do echo "$i: ${a[i]}"; done
a=(x y); echo "${!a[@]}"
declare -A a=([k]=v); echo "${a[@]@K}"
declare -A a=([k]=v); echo "${a[@]@k}"
x=y; y=z; echo "${!x}"
echo "${!BASH_*}"
declare -A a=([src]=1); ls "${!a[@]}"
declare -A m=([a]=b); cat "${m[@]}"
for i in "${!PIPESTATUS[@]}"; do echo "$i"; done
a=(1 2 3); echo "${#a[@]} ${!a[*]}"
declare -A env=([A]=1); for k in "${!env[@]}"; do export "$k=${env[$k]}"; done
`)
}

// xargs has quotes and backslashes of its own: what a list of dangerous words did not hold
// was put together by it.
func TestXargsReadsItsQuotes(t *testing.T) {
	asksAll(t, `
echo "co'dex' exec x" | xargs env
echo 'co"de"x exec x' | xargs env
echo 'c\odex exec x' | xargs env
echo 'codex\ exec\ x' | xargs bash -c
xargs sh -c <<< "'rm -rf ~/Documents'"
xargs sh -c <<< '"rm -rf ~/Documents"'
echo '\--force' | xargs git push origin main
echo "--for'ce'" | xargs git push origin main
echo '"--"force' | xargs git push origin main
echo "/home/ada/Docu'ments'" | xargs rm -rf
echo '/home/ada/Doc\uments' | xargs -n1 rm -rf
echo "/home/ada/'Documents'" | xargs -I{} rm -rf {}
echo "'rm -rf /home/ada/Documents'" | xargs -I% sh -c %
printf "co'dex'\nexec x\n" | xargs env
echo "'rm' '-rf' '/home/ada/Documents'" | xargs -t env
`)
	passesAll(t, `
echo "'a b' c" | xargs ls
echo 'a\ b' | xargs cat
echo "it's" | xargs echo
ls | xargs -n1 basename
git ls-files '*.go' | xargs gofmt -l
echo "src docs" | xargs -I{} echo {}
find . -name '*.md' -print0 | xargs -0 wc -l
echo a b c | xargs -n 2 echo
printf '%s\n' "x y" z | xargs -d '\n' ls
echo '"hello world"' | xargs -I{} echo {}
seq 3 | xargs -P2 -I{} echo item {}
echo main | xargs git log
`)
}
