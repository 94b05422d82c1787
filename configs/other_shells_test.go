package configs_test

import "testing"

// An agent's shell may be zsh, and it may start fish. What those read otherwise than bash
// was not walked: "=git push --force", an array that is several words without [@], global
// aliases, "(cmd)" of fish. Now it is one more reading. So are the attributes of declare,
// with which a word becomes another one when it is assigned.
func TestOtherShells(t *testing.T) {
	judge := verdicts(t)
	for plain, spellings := range map[string][]string{
		"git push --force": {
			`zsh -c '=git push --force'`, `=git push --force`, `zsh -c 'x=(git push --force); $x'`, `x=(git push --force); $x`,
			`x=(push --force); git $x`, `zsh -c ' - git push --force'`, `- git push --force`, `zsh -c -- '- git push --force'`,
			`zsh -c 'x=y; y=--force; git push ${(P)x}'`, `zsh -c 'git push ${(L):---FORCE}'`,
			`zsh -c 'x=--FORCE; git push ${(L)x}'`, `zsh -c 'alias -g F=--force; git push F'`,
			`alias -g -- F='--force origin'; git push F`,
			`zsh -c 'foreach x (--force); git push $x; end'`, `fish -c 'git push (echo --force)'`,
			`fish -c 'set x --force; git push $x'`, `echo 'git push (echo --force)' | fish`, `zsh -c 'git push ${:---force}'`,
			`csh -c 'set x=--force; git push $x'`,
			`declare -l x=--FORCE; git push $x`, `declare -l x; x=--FORCE; git push $x`, `typeset -l x; x=--FORCE; git push $x`,
			`local -l x=--FORCE; git push $x`, `f() { local -l x=--FORCE; git push $x; }; f`,
			`declare -lx x=--FORCE; git push $x`,
			`readonly -l x=--FORCE; git push $x`, `declare -l "x=--FORCE"; git push $x`,
			`builtin declare -l x=--FORCE; git push $x`, `declare -l x; read x <<< --FORCE; git push $x`,
			`declare -l x; printf -v x --FORCE; git push $x`,
			`declare -l x; for x in --FORCE; do git push $x; done`, `declare -l x; : ${x:=--FORCE}; git push $x`,
			`declare -l x; x+=--FORCE; git push $x`, `declare -n y; y=x; y=--force; git push $x`,
			`typeset -n y; x=a; y=x; y=--force; git push $x`,
			`y=x; declare -n y; y=--force; git push $x`, `[ a ] && declare -l x; x=--FORCE; git push $x`,
		},
		"rm -rf /": {
			`zsh -c '=rm -rf /'`, `sudo =rm -rf /`, `zsh -c 'noglob =rm -rf /'`, `zsh -c 'zf_rm -rf /'`,
			`zmodload zsh/files; zf_rm -rf /`, `zsh -c 'x=RM; ${(L)x} -rf /'`, `zsh -c '${(L):-RM} -rf /'`, `x=(-rf /); rm $x`,
			`zsh -c 'x=(rm -rf /); $x'`,
			`fish -c 'rm -rf (echo /)'`, `fish -c 'eval (echo rm) -rf /'`, `fish -c "rm -rf (echo /) # it's"`,
			`declare -l y=RM; $y -rf /`, `declare -al y=(RM -RF); ${y[@]} /`, `zsh -c 'rm -rf ${:-/}'`,
			`zsh -c 'alias -g R=/; rm -rf R'`, `alias -g R='rm -rf'; sudo R /`,
		},
	} {
		want := judge(plain).Decision
		for _, text := range spellings {
			if v := judge(text); v.Decision > want {
				t.Errorf("%s is %v, %s is %v (%s)", plain, want, text, v.Decision, v.Rule)
			}
		}
	}
}
