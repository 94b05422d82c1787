package reflexcore_test

import (
	"testing"
)

// asksAll tests commands on a machine with agents, each of which must be a question or denied.
func asksAll(t *testing.T, commands string) {
	t.Helper()
	stops(t, agentMachine(t), linesOf(commands)...)
}

// passesAll tests commands on such a machine about which nobody is asked.
func passesAll(t *testing.T, commands string) {
	t.Helper()
	unasked(t, agentMachine(t), linesOf(commands)...)
}

// A command wrote rm -rf to /dev/stdout, to a duplicate of it or to its error output, and a
// shell read that from the pipe. It was taken for a file, and the pipe for empty. A path
// that is a descriptor leads now where the descriptor does.
func TestDescriptorsLeadWhereTheyAreRead(t *testing.T) {
	asksAll(t, `
echo 'rm -rf ~/Documents' > /dev/stdout | bash
echo 'rm -rf ~/Documents' >> /dev/stdout | bash
echo 'rm -rf ~/Documents' &> /dev/stdout | bash
echo 'rm -rf ~/Documents' >& /dev/stdout | bash
echo 'rm -rf ~/Documents' >| /dev/fd/1 | bash
echo 'rm -rf ~/Documents' 1<> /dev/fd/1 | bash
echo 'rm -rf ~/Documents' > /proc/self/fd/1 | bash
echo 'rm -rf ~/Documents' > /proc/$$/fd/1 | bash
echo 'rm -rf ~/Documents' > /proc/$BASHPID/fd/1 | bash
echo 'rm -rf ~/Documents' > /proc/thread-self/fd/1 | bash
echo 'rm -rf ~/Documents' > /dev/./fd//1 | bash
echo 'rm -rf ~/Documents' > /dev/std[o]ut | bash
cd /dev; echo 'rm -rf ~/Documents' > stdout | bash
cd /dev/fd; echo 'rm -rf ~/Documents' > 1 | bash
ln -s /dev/stdout x; echo 'rm -rf ~/Documents' > x | bash
ln -s /dev/fd d; echo 'rm -rf ~/Documents' > d/1 | bash
x=/dev/stdout; echo 'rm -rf ~/Documents' > $x | bash
echo 'rm -rf ~/Documents' > /dev/fd/$n | bash
{ echo 'rm -rf ~/Documents' > /dev/stderr; } 2>&1 | bash
{ echo 'rm -rf ~/Documents' >&2; } |& bash
{ echo 'rm -rf ~/Documents' >&2; } 2>/dev/null |& bash
{ echo 'rm -rf ~/Documents' >&2; } 2>&1 >/dev/null | bash
{ echo 'rm -rf ~/Documents' >&2; } 3>&1 1>&2 2>&3 | bash
{ echo 'rm -rf ~/Documents' >/dev/fd/9; } 9>&1 | bash
{ echo 'rm -rf ~/Documents' >&9; } 9>&1 >/dev/null | bash
{ echo 'rm -rf ~/Documents' >&12; } 12>&1 >/dev/null | bash
{ exec 3>&1 >/dev/null; echo 'rm -rf ~/Documents' >&3; } | bash
{ exec 2>&1; echo 'rm -rf ~/Documents' >&2; } | bash
{ x=$(exec >&3; echo 'rm -rf ~/Documents'); } 3>&1 | bash
{ x=$(echo 'rm -rf ~/Documents' >&3); } 3>&1 | bash
{ echo 'rm -rf ~/Documents' >&$f; } {f}>&1 | bash
{ exec {f}>&1 >/dev/null; echo 'rm -rf ~/Documents' >&$f; } | bash
echo 'rm -rf ~/Documents' | tee /dev/stderr 2>&1 >/dev/null | bash
echo 'rm -rf ~/Documents' | tee /dev/fd/3 3>&1 >/dev/null | bash
echo 'rm -rf ~/Documents' | cat > /dev/fd/1 | bash
echo 'rm -rf ~/Documents' > >(cat) | bash
echo 'rm -rf ~/Documents' | tee >(cat) >/dev/null | bash
echo 'rm -rf ~/Documents' > f; cp f /dev/stdout | bash
echo 'rm -rf ~/Documents' > f; { cp f /dev/stderr; } 2>&1 >/dev/null | bash
echo 'rm -rf ~/Documents' | dd of=/dev/stdout | bash
perl -e 'print STDERR "rm -rf ~/Documents"' 2>&1 >/dev/null | bash
eval "$(echo 'rm -rf ~/Documents' > /dev/fd/1)"
eval "$(echo 'rm -rf ~/Documents' > /dev/stdout)"
rm -rf $(echo ~/Documents > /dev/fd/1)
bash <(echo 'rm -rf ~/Documents' > /dev/stdout)
f() { echo 'rm -rf ~/Documents' > /dev/stdout; }; f | bash
exec > log; echo 'rm -rf ~/Documents' > /dev/stdout | bash
{ { echo 'rm -rf ~/Documents' >&2; } 2>&1 | bash; } 2>/dev/null
echo 'rm -rf ~/Documents' | bash 3<&0 </dev/null <&3
echo 'rm -rf ~/Documents' | bash /dev/fd/3 3<&0
`)
	passesAll(t, `
echo hello > /dev/stdout
echo hello > /dev/stderr
echo error >&2
make test 2>&1 | tee /dev/stderr | tail -3
go test ./... |& tail -20
go test ./... 2>&1 >/dev/null | grep -c FAIL
out=$(go vet ./... 2>&1 >/dev/null); echo "$out"
exec 3>&1; out=$(ls | tee /dev/fd/3); exec 3>&-
{ echo one; echo two >&2; } 3>&1 1>&2 2>&3 | grep two
cat README.md > /dev/stdout | head -2
curl -s -o /dev/stdout https://example.com | jq .
exec 4>>build.log; echo started >&4; make >&4 2>&1
ls | tee >(wc -l) > files.txt
diff <(sort a) <(sort b) > /dev/stderr
`)
}

// A command substitution was believed to print nothing where it prints the input of the
// statement that it stands in: echo 'rm -rf ~' | bash -c "$(cat)". It reads that input now.
func TestSubstitutionsReadTheInputAroundThem(t *testing.T) {
	asksAll(t, `
echo 'rm -rf ~/Documents' | bash -c "$(cat)"
echo 'rm -rf ~/Documents' | eval "$(cat)"
echo 'rm -rf ~/Documents' | eval "$(</dev/stdin)"
{ eval "$(cat)"; } <<< 'rm -rf ~/Documents'
( eval "$(cat)" ) <<< 'rm -rf ~/Documents'
f() { eval "$(cat)"; }; f <<< 'rm -rf ~/Documents'
f() { $(cat); }; echo 'rm -rf /home/ada/Documents' | f
exec <<< 'rm -rf ~/Documents'; eval "$(cat)"
exec < <(echo rm -rf ~/Documents); $(cat)
echo /home/ada/Documents | rm -rf $(cat)
echo /home/ada/Documents | { x=$(cat); rm -rf "$x"; }
echo /home/ada/Documents | if true; then rm -rf "$(cat)"; fi
for x in $(cat); do rm -rf $x; done <<< /home/ada/Documents
while true; do rm -rf $(cat); break; done <<< /home/ada/Documents
case $(cat) in x) rm -rf ~/Documents;; esac <<< x
echo 'rm -rf ~/Documents' | bash <(cat)
echo 'rm -rf ~/Documents' | bash <<< "$(cat)"
echo 'rm -rf ~/Documents' | bash -c 'eval "$(cat)"'
echo 'rm -rf ~/Documents' | bash -c "$(tee)"
echo 'rm -rf ~/Documents' | (x=$(read -r a; echo "$a"); eval "$x")
{ a=$(read x; echo $x); b=$(read x; echo $x); $b /home/ada/Documents; } <<< $'ls\nrm -rf'
printf 'ls\nrm -rf ~/Documents\n' | { read x; eval "$(cat)"; }
echo 'rm -rf ~/Documents' > f; bash -c "$(cat)" < f | sh; { eval "$(cat)"; } < f
echo 'rm -rf ~/Documents' | time eval "$(cat)"
[[ $(cat) ]] <<< x && rm -rf ~/Documents
echo 'rm -rf ~/Documents' | env bash -c "$(cat)"
`)
	passesAll(t, `
echo hello | { x=$(cat); echo "$x"; }
git log --oneline | while read -r line; do echo "$(echo "$line" | cut -c1-7)"; done
cat package.json | jq -r .version | xargs -I{} echo "{} $(date +%F)"
ls | while read -r f; do n=$(wc -l < "$f"); echo "$f $n"; done
body=$(cat <<EOF␤hello␤EOF␤); echo "$body"
git commit -m "$(cat <<'EOF'␤Mend the parser␤EOF␤)"
echo "$PWD" | tee "$(date +%s).log"
for f in $(git ls-files); do echo "$f"; done < /dev/null
while read -r id; do v=$(gh pr view "$id" --json title); echo "$v"; done < ids.txt
printf '%s\n' a b | sed "s/x/$(date +%Y)/"
git diff | patch -p1 --dry-run -d "$(pwd)"
echo x | grep "$(hostname)"
`)
}

// A descriptor with a name of a variable has a number that nobody wrote down, and a shell
// that ran /dev/fd/$f ran what nobody had seen. The number is given now as bash gives it,
// and a descriptor of which it is not known which it is may be any of them.
func TestNamedDescriptorsAreKnown(t *testing.T) {
	asksAll(t, `
exec {f}<<< 'rm -rf ~/Documents'; bash /dev/fd/$f
exec {f}<<< 'rm -rf ~/Documents'; . /dev/fd/$f
exec {f}<<< 'rm -rf ~/Documents'; bash <&$f
exec {f}<<< 'rm -rf ~/Documents'; bash <&"${f}"
exec {f}<<< 'rm -rf ~/Documents'; bash /proc/self/fd/$f
exec {f}<<< 'rm -rf ~/Documents'; bash /dev/fd/10
exec {f}<<< 'rm -rf ~/Documents'; eval "$(cat <&$f)"
exec {f}<<< 'rm -rf ~/Documents'; eval "$(cat /dev/fd/$f)"
exec {f}<<< 'rm -rf ~/Documents'; read -u $f x; $x
exec {f}<<< 'rm -rf ~/Documents'; mapfile -u $f x; ${x[0]}
exec {f}< <(echo 'rm -rf ~/Documents'); bash /dev/fd/$f
: {f}<<< 'rm -rf ~/Documents'; bash /dev/fd/$f
{ bash /dev/fd/$f; } {f}<<< 'rm -rf ~/Documents'
exec {a}<<< ls {b}<<< 'rm -rf ~/Documents'; bash /dev/fd/$b
exec {a[1]}<<< 'rm -rf ~/Documents'; bash /dev/fd/${a[1]}
exec {f}<<< 'rm -rf ~/Documents' 3<&$f; bash /dev/fd/3
exec {f}<<< 'rm -rf ~/Documents'; exec <&$f; bash
exec 11<<< 'rm -rf ~/Documents'; bash /dev/fd/11
exec 11<<< 'rm -rf ~/Documents'; bash <&11
bash <&$n
. /dev/fd/$n
bash /proc/self/fd/$n
`)
	passesAll(t, `
exec {log}>>build.log; echo started >&$log; exec {log}>&-
exec {f}< list.txt; while read -r -u "$f" line; do echo "$line"; done; exec {f}<&-
exec {lock}>/tmp/build.lock; flock "$lock"; make
exec {f}<<< 'echo hello'; bash /dev/fd/$f
exec {f}<<< 'a b'; read -u $f x y; echo "$x"
exec 9>/tmp/x.lock; flock 9; make test
{ echo hi; } {f}>/dev/null
diff <(echo a) <(echo b)
cat /dev/fd/0 < x
while read -r -u 3 l; do echo "$l"; done 3< list.txt
exec {o}>&1; echo hi >&$o
exec 5<>/dev/tcp/localhost/80 && echo ok
`)
}
