package shell_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/shell"
)

func analyzer(t testing.TB) *shell.Analyzer {
	t.Helper()
	table, err := grammar.Default()
	if err != nil {
		t.Fatal(err)
	}
	return &shell.Analyzer{
		Table: table, Limits: shell.DefaultLimits,
		Secret: func(p string) bool { return strings.Contains(p, ".ssh/id_") || strings.HasSuffix(p, ".env") },
		Decode: func(name, text string) (string, bool) {
			if name != "base64" {
				return "", false
			}
			plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
			return string(plain), err == nil
		},
	}
}

var place = shell.Context{Dir: "/w", Env: map[string]string{"HOME": "/home/u"}}

func effects(a *shell.Analyzer, src string) string {
	var r shell.Result
	a.Analyze(src, place, &r)
	var parts []string
	for _, e := range r.Effects {
		parts = append(parts, e.String())
	}
	return strings.Join(parts, "; ")
}

// Each of these deletes the root, however it is written.
func TestOneDeleteInManyWords(t *testing.T) {
	a := analyzer(t)
	for _, src := range []string{
		`rm -rf /x`, `rm -r -f /x`, `rm -fr -- /x`, `rm --recursive --force /x`, `rm --recurs --for /x`, `/bin/rm -rf /x`,
		`\rm -rf /x`, `r""m -r''f /x`, `"rm" -rf /x`, `r\m -rf /x`,
		`$(echo rm) -rf /x`, "`echo rm` -rf /x", `X=rm; $X -rf /x`, `X=rm Y=-rf; $X $Y /x`, `C="rm -rf /x"; $C`,
		`eval "rm -rf /x"`, `eval rm '-rf' /x`, `sh -c 'rm -rf /x'`, `bash -c "rm -rf \$0" /x`,
		`{rm,-rf,/x}`, `rm -rf /{x,y}`, `rm -{r,f} /x`, `$'rm' $'-rf' $'\x2fx'`, `$'\162\155' -rf /x`,
		`IFS=,; C=rm,-rf,/x; $C`, `X=mr; ${X:1:1}${X:0:1} -rf /x`, `set -- rm -rf /x; "$@"`, `a=(rm -rf /x); "${a[@]}"`,
		`a=(/x -rf rm); ${a[2]} ${a[1]} ${a[0]}`, `declare -A m=([c]=rm); ${m[c]} -rf /x`, `f() { rm -rf "$1"; }; f /x`,
		`alias k='rm -rf'; k /x`, `printf 'rm -rf /x' | sh`, `echo rm -rf /x | bash`, `bash <<< 'rm -rf /x'`,
		"bash <<EOF\nrm -rf /x\nEOF", `echo cm0gLXJmIC94 | base64 -d | sh`, `bash <(echo rm -rf /x)`,
		`source <(printf 'rm -rf /x')`, `echo 'rm -rf /x' > a.sh; sh a.sh`,
		`echo 'rm -rf /x' > a.sh && chmod +x a.sh && ./a.sh`,
		`cp /bin/rm ./k; ./k -rf /x`, `trap 'rm -rf /x' EXIT`, `sudo rm -rf /x`, `timeout 5 rm -rf /x`,
		`find / -maxdepth 1 -exec rm -rf /x \;`, `for c in rm; do $c -rf /x; done`, `read c <<< rm; $c -rf /x`,
		`cd /; rm -rf x`, `cd / && rm -rf ./x`,
		`if true; then C=rm; fi; $C -rf /x`, `C=ls; false || C=rm; $C -rf /x`, `case a in a) C=rm;; esac; $C -rf /x`,
		`X=/y; [ -e z ] && X=/x; rm -rf $X`, `a=r; for c in m; do a=$a$c; done; $a -rf /x`,
		`while read l; do rm -rf $l; done <<< /x`,
		`printf -v c '%s%s' r m; $c -rf /x`, `X=RM; ${X,,} -rf /x`, `X=rxm; ${X/x/} -rf /x`, `X=rm.bak; ${X%.bak} -rf /x`,
		`X=Y; Y=rm; ${!X} -rf /x`, `rm -rf "${D:-/x}"`, `((1)); rm -rf /x`, `! rm -rf /x`, `time rm -rf /x`,
		`{ rm -rf /x; }`, `(rm -rf /x)`,
		`coproc rm -rf /x`, `rm -rf /x &`, `true && rm -rf /x`, `command rm -rf /x`, `exec rm -rf /x`, `env A=b rm -rf /x`,
		`xargs rm -rf <<< /x`, `echo /x | xargs rm -rf`, `echo /x | xargs -I% rm -rf %`, `find /x -delete`, `rm -rf /w/../x`,
		`rm -rf //x/`, `function k { rm -rf /x; }; k`,
		`echo "rm -rf /x" | tee a.sh; . ./a.sh`, "rm -r\\\nf /x", `unset Z; rm -rf "/${Z}x"`,
		`X=$((1+1)); [ $X ] && rm -rf /x`, `rm -rf /x # comment`, `echo $(rm -rf /x)`, `: $(rm -rf /x)`,
		`cat < <(rm -rf /x)`, `((rm -rf /x) ; true)`, `[[ -n $(rm -rf /x) ]]`, `A=$(rm -rf /x) true`,
		`echo ${Z:-$(rm -rf /x)}`, `X[$(rm -rf /x)]=1`,
		// Elements of arrays by name, by reference, and what runs in an index.
		`printf -v 'a[0]' 'rm -rf /x'; ${a[0]}`, `read 'a[0]' <<< 'rm -rf /x'; ${a[0]}`, `declare 'a[1]=rm'; ${a[1]} -rf /x`,
		`a=(ls); declare -n r=a[0]; r='rm -rf /x'; ${a[0]}`, `a=(ls rm); declare -n r=a[1]; $r -rf /x`,
		`declare -A m=([k]=rm); declare -n r=m[k]; $r -rf /x`, `declare 'a[$(rm -rf /x)]=1'`, `declare -a 'a[$(rm -rf /x)]'`,
		`x='a[$(rm -rf /x)]=1'; declare "$x"`, `declare -n r='a[$(rm -rf /x)]'; r=1`, `r='a[$(rm -rf /x)]'; echo ${!r}`,
		`i='a[$(rm -rf /x)]'; declare -i n=i`, `i='a[$(rm -rf /x)]'; declare -i n; n=$i`,
		`i='a[$(rm -rf /x)]'; declare -i n; n=i+1`, `i='a[$(rm -rf /x)]'; declare -i n=0; n+=$i`,
		`wait -n -p 'a[$(rm -rf /x)]'`, `z='rm\x20-rf\x20/x'; ${z@E}`,
		// The elements of an array are in the order of their numbers, however they were assigned.
		`c[1]='-rf /x'; c[0]=rm; eval "${c[*]}"`, `c=([2]=/x [0]=rm [1]=-rf); "${c[@]}"`,
		`declare c[1]=-rf; declare c[0]=rm; "${c[@]}" /x`, `c=(-rf /x); c=([1]=-rf /x [0]=rm); "${c[@]}"`,
		`c[1]=-rf; printf -v 'c[0]' rm; "${c[@]}" /x`, `c[1]='-rf'; read 'c[0]' <<< rm; "${c[@]}" /x`,
		`mapfile -tO 1 c <<< -rf; c[0]=rm; "${c[@]}" /x`, `c[0]=rm; mapfile -t -O 1 c <<< -rf; "${c[@]}" /x`,
		`c[7]=/x; c[-2]=-rf; c[5]=rm; "${c[@]}"`, `c=(ls rm -rf /x); unset 'c[0]'; "${c[@]}"`,
		`c=(rm ls -rf /x); unset c[1]; "${c[@]}"`, `c=(ls -l); unset 'c[@]'; c+=(rm -rf /x); "${c[@]}"`,
		`c[5]=/x; c[4]=-rf; c[3]=rm; "${c[@]:3}"`, `c=([5]=-rf); c+=(/x); c[0]=rm; "${c[@]}"`,
		`i=1; c[i]=-rf; c[i-1]=rm; c[i+1]=/x; rm -rf "${c[2]}"`, `c=rm; c[1]=-rf; "${c[@]}" /x`,
		`declare -a "c=(rm -rf /x)"; "${c[@]}"`, `declare -a 'c=($(rm -rf /x))'`,
		`builtin declare -a 'c=([1]=-rf [0]=rm)'; "${c[@]}" /x`,
		`declare -A m=(k rm); ${m[k]} -rf /x`, `declare -A m; i=2; m[i]=rm; ${m[i]} -rf /x`,
		`a=(ls); false && a=(rm); a[1]=-rf; a[2]=/x; "${a[@]}"`, `c=(); c+=rm; "${c[@]}" -rf /x`,
		`c[2]=/x; c[1]=-rf; declare -n r=c[0]; r=rm; "${c[@]}"`, `c[1]=m; c[0]=r; IFS=; "${c[*]}" -rf /x`,
		// What the shell itself makes of some of its variables.
		`RANDOM='a[$(rm -rf /x)]'`, `export OPTIND='a[$(rm -rf /x)]'`, `SECONDS='a[$(rm -rf /x)]' ls`,
		`i='a[$(rm -rf /x)]'; RANDOM=i`, `BASH_CMDS[y]=/bin/rm; y -rf /x`, `BASH_CMDS=([y]=/bin/rm); y -rf /x`,
		`printf -v 'BASH_CMDS[y]' /bin/rm; y -rf /x`, `BASH_CMDS[git]=/bin/rm; git -rf /x`,
		`BASH_ALIASES[ls]='rm -rf /x'`, `BASH_ALIASES[k]='rm -rf'; k /x`, `BASH_ALIASES+=([k]='rm -rf'); k /x`,
		`BASH_ARGV0=rm; $0 -rf /x`, `BASH_ARGV0=rm; (BASH_ARGV0=ls); $0 -rf /x`,
		`BASH_ARGV0=rm; false && BASH_ARGV0=ls; $0 -rf /x`,
		// What an expression matched.
		`[[ "rm -rf /x" =~ .* ]]; eval "$BASH_REMATCH"`, `[[ "rm -rf /x" =~ ^(.*)$ ]]; eval "${BASH_REMATCH[1]}"`,
		`[[ "a rm b" =~ a\ (r.)\ b ]]; ${BASH_REMATCH[1]} -rf /x`,
		`x='rm -rf /x'; if [[ $x =~ [a-z]+.* ]]; then sh -c "$BASH_REMATCH"; fi`,
		`[[ "rm -rf /x" =~ \w.* || a =~ b ]]; eval "$BASH_REMATCH"`,
		// What exec does to the output holds for what follows.
		`exec > a.sh; echo rm -rf /x; exec >&-; sh a.sh`, `exec > a.sh && echo rm -rf /x && sh a.sh`,
		`exec 3>&1 > a.sh; echo rm -rf /x; exec >&3; sh a.sh`, `exec > a.sh; { echo rm -rf /x; }; sh a.sh`,
		`f() { exec > a.sh; }; f; echo rm -rf /x; sh a.sh`,
		`exec > b; { exec > a.sh; }; echo rm -rf /x; sh a.sh`, `a=(ls); a[$(y)]=rm; "${a[0]}" -rf /x`,
		`exec > a.sh; f() { echo rm -rf /x; }; f; sh a.sh`, `(exec > a.sh; echo rm -rf /x); sh a.sh`,
		`exec > >(bash); echo rm -rf /x`, `if y; then exec > a.sh; fi; echo rm -rf /x; sh a.sh`,
		`exec > a.sh; if y; then exec >&-; fi; echo rm -rf /x; sh a.sh`,
		`exec > a.sh; c=$(echo rm); $c -rf /x`, `$(: | { exec > f; }; echo rm) -rf /x`,
		`exec > a.sh; while read l; do echo "$l"; done <<< 'rm -rf /x'; sh a.sh`, `(exec > f); $(echo rm) -rf /x`,
		`{ exec > f; } > g; echo $(echo rm) | { read c; $c -rf /x; }`,
		`D+=${D-rm}; $D -rf /x`, `mapfile -tC 'rm -rf /x #' -c1 y <<< a`,
		`f() { rm -rf "$2"; }; mapfile -t -c 1 -C f y <<< /x`, `f() { c=$2; }; mapfile -t -c1 -C f y <<< rm; $c -rf /x`,
		`exec 3<<< rm; mapfile -tu3 y; ${y[0]} -rf /x`,
		`printf '%b' '\162\155 -rf /x' | sh`, `echo -e '\x72m -rf /x' | sh`, `exec 3<<< 'rm -rf /x'; sh <&3`,
		`mapfile -t a <<< "rm"; ${a[0]} -rf /x`, `eval "$(echo rm) -rf /x"`, `X='r'; X+='m'; $X -rf /x`,
		`$(printf '\x72\x6d') -rf /x`, `g=/bin/r?; rm -rf /x`,
		// What a command with an assignment before it changes stays.
		`A=1 cd /; rm -rf x`, `B=ls; A=1 eval 'B=rm'; $B -rf /x`, `B=ls; A=1 read B <<< rm; $B -rf /x`,
		`X=rm; X=ls true; $X -rf /x`,
		// A branch may not be taken: what was before counts as well.
		`echo 'rm -rf /x' > a.sh; if false; then echo hi > a.sh; fi; sh a.sh`, `f(){ rm -rf /x; }; false && f(){ :; }; f`,
		`f(){ rm -rf /x; }; (f(){ :; }); f`, `f(){ rm -rf /x; }; false && unset -f f; f`,
		`a=(rm); false && a=(ls); ${a[0]} -rf /x`, `set -- ls; true && set -- rm -rf /x; "$@"`,
		`if true; then set -- rm -rf /x; fi; "$@"`, `alias k='rm -rf'; false && alias k=ls; k /x`,
		`alias k='sudo ' l='rm -rf'; k l /x`,
		// One of several values goes through everything that takes a value.
		`X=a; [ -e z ] && X=b; case $X in b) rm -rf /x;; esac`, `X=ls; [ -e z ] && X=rm; Y=$X; $Y -rf /x`,
		`X=ls; [ -e z ] && X=rm; for c in $X; do $c -rf /x; done`, `X=ls; [ -e z ] && X='rm -rf /x'; sh <<< "$X"`,
		`X=ls; [ -e z ] && X='rm -rf /x'; echo "$X" | sh`, `X=ls; [ -e z ] && X=rm; a=($X); ${a[0]} -rf /x`,
		`X=ls; [ -e z ] && X=rm; read Y <<< $X; $Y -rf /x`, `X=ls; [ -e z ] && X=rm; Y=$(echo $X); $Y -rf /x`,
		`X=rm; [ -e z ] && X=ls; export Y=$X; $Y -rf /x`, `X=rm; [ -e z ] && X=ls; printf -v Y %s $X; $Y -rf /x`,
		`X=s; [ -e z ] && X=m; Y=r; Y+=$X; $Y -rf /x`, `X=rm; [ -e z ] && X=ls; set -- $X; $1 -rf /x`,
		// What stands after a jump may not run.
		`for c in rm ls; do break; done; $c -rf /x`, `f(){ X=rm; return; X=ls; }; f; $X -rf /x`,
		`for i in 1; do X=rm; continue; X=ls; done; $X -rf /x`,
		// Functions have variables of their own, and call themselves with other words.
		`X=rm; f(){ local X=ls; }; f; $X -rf /x`, `X=rm; f(){ declare X=ls; }; f; $X -rf /x`,
		`f(){ case $1 in a) f b;; b) rm -rf /x;; esac; }; f a`,
		`f(){ if [ $1 = 0 ]; then $2 -rf /x; else f 0 rm; fi; }; f 3 ls`,
		`command_not_found_handle(){ rm -rf /x; }; zzz`,
		// Loops that count beyond what is walked.
		`for ((i=0;i<100;i++)); do case $i in 99) rm -rf /x;; esac; done`,
		`i=0; while ((i<100)); do i=$((i+1)); case $i in 50) rm -rf /x;; esac; done`,
		// A name for another variable.
		`c=ls; declare -n r=c; r=rm; $c -rf /x`, `c=rm; typeset -n r=c; $r -rf /x`,
		// Files under other names: links, folders, patterns, descriptors, places where programs are looked for.
		`ln -s / /tmp/l; rm -rf /tmp/l/x`, `ln -s / l && cd l && rm -rf x`, `echo 'rm -rf /x' > a.sh; sh *.sh`,
		`echo 'rm -rf /x' > a.sh; . ./a.s?`, `echo 'rm -rf /x' > a.sh; mv a.sh d/; sh d/a.sh`,
		`echo 'rm -rf /x' > a.sh; cp a.sh d; sh d/a.sh`,
		`echo 'rm -rf /x' > a; exec 3<a; . /dev/fd/3`, `echo 'rm -rf /x' > a; exec 3<a; sh /proc/self/fd/3`,
		`mkdir b; echo 'rm -rf /x' > b/ls; PATH=$PWD/b:$PATH; ls`, `hash -p /bin/rm ls; ls -rf /x`,
		`echo 'rm -rf /x' | xargs -d '\n' sh -c`, `parallel ::: 'rm -rf /x'`,
		// A command whose name is not known, with the words of rm; one line that a filter leaves as it is.
		`/bin/r? -rf /x`, `/b*/r[m] -rf /x`, `/???/rm -rf /x`, `echo 'rm -rf /x' | /bin/b?sh`, `true rm; $_ -rf /x`,
		`exec <<< 'rm -rf /x'; sh`, `{ echo 'rm -rf /x' >&2; } 2>&1 | sh`, `$(basename /bin/rm) -rf /x`,
		`echo 'rm -rf /x' | head -1 | sh`, `echo 'rm -rf /x' | tac | sort | sh`,
		`echo 'rm -rf /x' > a; eval "$(<a)"`,
	} {
		if got := effects(a, src); !strings.Contains(got, "delete /x") {
			t.Errorf("%s\n got %s", src, got)
		}
	}
}

// Text is data unless a sink executes it.
func TestTextIsData(t *testing.T) {
	a := analyzer(t)
	for _, src := range []string{
		`echo rm -rf /x`, `git commit -m "rm -rf /x"`, "cat <<EOF\nrm -rf /x\nEOF", `grep 'rm -rf /x' f`,
		`printf '%s' 'rm -rf /x'`, `# rm -rf /x`, `X='rm -rf /x'`, `f() { rm -rf /x; }`, `echo "$(echo rm -rf /x)"`,
		`alias kk='rm -rf /x'`, `[ "rm -rf /x" = y ]`,
		"cat > doc.md <<'EOF'\nrm -rf /x\nEOF", `case "rm -rf /x" in y) ;; esac`,
	} {
		if got := effects(a, src); strings.Contains(got, "delete") {
			t.Errorf("%s\n got %s", src, got)
		}
	}
}
