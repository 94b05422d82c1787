package shell_test

import (
	"strings"
	"testing"

	"approver.example/reflexcore/shell"
)

// An attacker wrote a delete where bash runs it and the parser sees a comment, a pattern
// or quoted text. The call passed, since nobody walked the delete. Now such a text is
// written anew as bash reads it, and the delete is found.
func TestWhatOnlyBashReads(t *testing.T) {
	a := analyzer(t)
	for _, src := range []string{
		// A comment ends with its line, whatever stands before the newline.
		"true #\\\nrm -rf /x", "true # a b\\\nrm -rf /x", "true #\\\\\nrm -rf /x", "#\\\nrm -rf /x", "true #\\\r\nrm -rf /x",
		"true #a\\\n#b\\\nrm -rf /x",
		"bash -c 'true #\\\nrm -rf /x'", "eval 'true #\\\nrm -rf /x'", ": $(true #\\\nrm -rf /x\n)",
		"{ true #\\\nrm -rf /x\n}", "f() { true #\\\nrm -rf /x\n}; f",
		"case a in #\\\na) rm -rf /x;; esac", "bash <<'E'\ntrue #\\\nrm -rf /x\nE", "echo $'true #\\\\\\nrm -rf /x' | sh",
		"if true #\\\nthen rm -rf /x; fi",
		"cat <<E #\\\na\nE\nrm -rf /x", ": `true #\\\nrm -rf /x\n`", "true #'\\\nrm -rf /x #'", "true #\"\\\nrm -rf /x #\"",
		// Single quotes mean nothing in a default in double quotes, or in a number.
		`: "${x:-'$(rm -rf /x)'}"`, `: "${x-'$(rm -rf /x)'}"`, `: "${x:='$(rm -rf /x)'}"`, `: "${x='$(rm -rf /x)'}"`,
		`x=1; : "${x:+'$(rm -rf /x)'}"`, `x=1; : "${x+'$(rm -rf /x)'}"`,
		": \"${x:-'`rm -rf /x`'}\"", `: "${x:-$'$(rm -rf /x)'}"`, `: "${x:-$'\x24(rm -rf /x)'}"`,
		`: "${x[0]:-'$(rm -rf /x)'}"`, `: "${@:-'$(rm -rf /x)'}"`, `: "${x:-a'b $(rm -rf /x)'c}"`,
		`: "${x:-${y:-'$(rm -rf /x)'}}"`, "cat <<E\n${x:-'$(rm -rf /x)'}\nE", `: "${x:-'$(rm -rf /x)}"; : "'}"`,
		`: $(( '$(rm -rf /x)'0 ))`, `(( '$(rm -rf /x)'0 ))`, `y=a; : "${y:'$(rm -rf /x)'0}"`,
		`a=(1); : "${a['$(rm -rf /x)']}"`,
		// A process substitution in an expansion.
		`: ${x:-<(rm -rf /x)}`, `: ${x-<(rm -rf /x)}`, `x=1; : ${x+>(rm -rf /x)}`, `cat ${@:-<(rm -rf /x)}`,
		`x=1; : ${x/1/<(rm -rf /x)}`, `x=1; : ${x#<(rm -rf /x)}`, `x=1; : ${x//<(rm -rf /x)/a}`, `: ${x:=<(rm -rf /x)}`,
		// A pattern is expanded before it is matched.
		`[[ a == @($(rm -rf /x)) ]]`, "[[ a == @(`rm -rf /x`) ]]", `[[ a == *(${y:-$(rm -rf /x)}) ]]`,
		`[[ a == @("$(rm -rf /x)") ]]`, `[[ a == @(b|c$(rm -rf /x)) ]]`, `[[ !($(rm -rf /x)) ]]`, "(( @(`rm -rf /x`)0 ))",
		`: $(( +($(rm -rf /x))0 ))`,
		`shopt -s extglob; ls @($(rm -rf /x))`, `case a in @($(rm -rf /x))) ;; esac`, `x=a; : ${x#@($(rm -rf /x))}`,
		`[[ a == @(<(rm -rf /x)) ]]`, `[[ a =~ @($(rm -rf /x)) ]]`, `[[ a == @(@($(rm -rf /x))) ]]`,
		// The lines of a here-document are joined before its end is looked for.
		"cat <<EOF\nE\\\nOF\nrm -rf /x\nEOF", "cat <<EOF\n\\\nEOF\nrm -rf /x\nEOF",
		"cat <<EOF\na\nE\\\nO\\\nF\nrm -rf /x\nEOF", "cat <<-EOF\n\tE\\\nOF\nrm -rf /x\nEOF",
		"cat <<A <<B\nA\n\\\nB\nrm -rf /x\nB", "cat <<EOF\n$(true)E\nE\\\nOF\nrm -rf /x\nEOF",
		"bash -c 'cat <<EOF\nE\\\nOF\nrm -rf /x\nEOF'",
		// Numbers of letters in brackets.
		`$'\x{72}m' -rf /x`, `$'\x{0072}\x{6d}' -rf /x`, `$'\x{172}m' -rf /x`, `x='\x{72}m -rf /x'; ${x@E}`,
		`$'\x{72m' -rf /x`,
	} {
		if got := effects(a, src); !strings.Contains(got, "/x") ||
			!strings.Contains(got, "delete") && !strings.Contains(got, "Delete") {
			t.Errorf("%q: %s", src, got)
		}
	}
}

// Neighbors of the texts above which bash and the parser read alike: no question comes up.
func TestWhatBothReadAlike(t *testing.T) {
	a := analyzer(t)
	for _, src := range []string{
		"true # a \\ b\nls", "echo a \\\n  b # c\nls", "echo 'a #\\\nb'", "echo \"a #\\\nb\"", "echo a#\\\nb",
		"ls # see '$(rm -rf /x)'", "# `rm -rf /x`\nls", "cat <<'E'\n# a\\\n$(rm -rf /x) `rm -rf /x`\nE",
		"cat <<E\n# a\\\nb\nE",
		"cat <<E\n\\$(rm -rf /x) \\`rm -rf /x\\`\nE", `echo '$(rm -rf /x)'`, `echo "\$(rm -rf /x)"`, `echo \$\(rm -rf /x\)`,
		`grep -c '<(' a`, `grep -c "<(" a`, `echo "${x:-'a b'}"`, `echo "${x:-none}"`, `x=a; echo "${x#'$('}"`,
		`x=a; echo "${x//'<('/b}"`,
		`[[ $a == @(x86_64|amd64) ]] && ls`, `[[ $a =~ ^(a|b)$ ]]`, `awk '{ if ($1 <(2)) print }' a`,
		`diff <(sort a) <(sort b)`, `echo "$(( ${#x} + 1 ))"`, `sed 's/$(A)/b/' a`, `echo "a <(b) ${x:-c <(d) e}"`,
		`a=([0]=1); echo "${a[0]}"`,
		"git commit -m \"$(cat <<'EOF'\nfix `x` \\\nand $(y)\nEOF\n)\"", `echo $'a\x41b'`, `make CFLAGS='$(X)'`,
		`ls "${HOME:?'not set'}"`, "for i in a b; do # x\\\necho $i; done",
	} {
		var r shell.Result
		a.Analyze(src, place, &r)
		for _, e := range r.Effects {
			if s := e.String(); strings.Contains(s, "syntax error") ||
				strings.Contains(s, "/x") && strings.Contains(s, "elete") {
				t.Errorf("%q: %s", src, s)
			}
		}
	}
}
