package shell_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"approver.example/reflexcore/shell"
)

// Texts that were parsed before are not parsed again. Whatever is kept of them, the result
// is the same: an attacker who repeats a payload must not get a milder reading of it, and a
// function that is defined anew in itself is another function each time.
func TestKeptTreesChangeNothing(t *testing.T) {
	a := analyzer(t)
	for _, src := range []string{
		`sh -c 'rm -rf /x'; sh -c 'rm -rf /x'`, `cd /a; sh -c 'rm -rf x'; cd /b; sh -c 'rm -rf x'`,
		`X=/a; eval 'rm $X'; X=/b; eval 'rm $X'`,
		`T='f() { eval "$T"; f; }; f'; eval "$T"`, `T='f ( ) { eval "$T"; f; }; f'; eval "$T"`,
		`T='function f { eval "$T"; f; }; f'; eval "$T"`,
		"T='func\\\ntion f { eval \"$T\"; f; }; f'; eval \"$T\"", `T='f() { eval "$T"; f | f & }; f'; eval "$T"`,
		`T='function f { eval "$T"; f | f & }; f'; eval "$T"`,
		`f() { eval 'rm -rf /x'; }; f; f`, `alias k=ls; eval 'k /x'; alias k='rm -rf'; eval 'k /x'`,
		`eval 'set -- a'; eval 'set -- b'; rm $1`,
		`echo cm0gLXJmIC94 | base64 -d | sh; echo cm0gLXJmIC94 | base64 -d | sh; printf 'rm -rf /x' | sh`,
		`for i in a b; do sh -c "rm $i"; done`,
		`eval 'if'; eval 'if'`, `sh -c "$(cat f)"; sh -c "$(cat f)"`, `eval 'cat <<E
$(rm /x)
E'; eval 'cat <<E
$(rm /x)
E'`,
	} {
		var want shell.Result
		a.Analyze(src, place, &want)
		with := place
		with.Trees = &shell.Trees{}
		for round := range 3 {
			var got shell.Result
			a.Analyze(src, with, &got)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: round %d: %+v, without trees %+v", src, round, got, want)
			}
		}
		with.Trees.Forget()
		var got shell.Result
		a.Analyze(src, with, &got)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: after Forget: %+v, without trees %+v", src, got, want)
		}
	}
}

// Lists of parameters that only grow share memory. Two readings that grow from the same
// list must not write into each other: what one of them deletes would be gone.
func TestGrownListsStayApart(t *testing.T) {
	a := analyzer(t)
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, " w%d", i)
	}
	begin := "set --" + long.String() + "; "
	for src, want := range map[string][]string{
		"set -- /o1" + long.String() + " /y1; rm \"$1\" \"${42}\"":         {"/o1", "/y1"},
		`if a; then set -- "$@" /x1; else set -- "$@" /y1; fi; rm "${41}"`: {"/x1", "/y1"},
		`(set -- "$@" /x1; rm "${41}"); set -- "$@" /y1; rm "${41}"`:       {"/x1", "/y1"},
		`set -- "$@" /x1; f() { set -- "$@" /z1; rm "${42}"; }; f "$@"; set -- "$@" /y1; rm "${42}" "${41}"`: {"/x1",
			"/y1", "/z1"},
		`f() { set -- "$@" /z1; }; f "$@"; set -- "$@" /y1; rm "${41}"`:        {"/y1"},
		`set -- "$@" /x1; shift; set -- "$@" /y1; rm "${40}" "${41}"`:          {"/x1", "/y1"},
		`X=$(set -- "$@" /x1; echo "${41}"); set -- "$@" /y1; rm "$X" "${41}"`: {"/x1", "/y1"},
		`true && set -- "$@" /x1 || set -- "$@" /y1; rm "${41}"`:               {"/x1", "/y1"},
		`for i in /x1 /y1; do set -- "$@" $i; done; rm "${41}" "${42}"`:        {"/x1", "/y1"},
		`set -- "$@" /x1; set -- "$@" /y1; set -- "$@" /z1; rm "${41}" "${42}" "${43}"`: {"/x1",
			"/y1", "/z1"},
		`set -- "$@" '*'; set -- $@ /y1; rm "${42}"`: {"/y1"},
	} {
		got := effects(a, begin+src)
		for _, path := range want {
			if !strings.Contains(got, path) {
				t.Errorf("%s: %s is not in %s", src, path, got)
			}
		}
	}
}

// A here-document in which nothing is expanded is taken as it is.
func TestDocumentsAsTheyAre(t *testing.T) {
	a := analyzer(t)
	for _, c := range []struct{ src, want string }{
		{"sh <<'E'\nrm -rf /x1\nE", "/x1"}, {"sh <<E\nrm -rf /x1\nE", "/x1"}, {"sh <<-E\n\trm -rf /x1\n\tE", "/x1"},
		{"sh <<E\nr\\\nm -rf /x1\nE", "/x1"},
		{"sh <<E\nrm -rf /x\\$A\nE", "/x"}, {"X=/x1; sh <<E\nrm -rf $X\nE", "/x1"}, {"sh <<'E'\nX=/x1; rm -rf $X\nE", "/x1"},
		{"sh <<\"E\"\nrm -rf \\/x1\nE", "/x1"},
	} {
		if got := effects(a, c.src); !strings.Contains(got, c.want) || !strings.Contains(got, "delete") {
			t.Errorf("%q: %s", c.src, got)
		}
	}
}
