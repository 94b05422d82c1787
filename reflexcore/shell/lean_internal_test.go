package shell

import (
	"fmt"
	"strings"
	"testing"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// Where the walk that met a limit says that a lean one sees no more, a lean walk adds
// nothing. If that were wrong, a few kilobytes of harmless text in front of rm -rf / made
// a denial a question.
func TestSkippedLeanWalkAddsNothing(t *testing.T) {
	table, err := grammar.Default()
	if err != nil {
		t.Fatal(err)
	}
	limits := DefaultLimits // a fifth of them, so that the texts are short
	limits.Steps, limits.Effects, limits.Expanded, limits.Fields = limits.Steps/5, limits.Effects/5, limits.Expanded/5,
		limits.Fields/5
	a := &Analyzer{Table: table, Limits: limits}
	skipped := 0
	for name, text := range overTexts() {
		var out Result
		in := &interp{}
		walk := func(in *interp) {
			in.source(text, "", &input{}, nil)
			in.traps.walkTraps()
		}
		in.begin(a, Context{Dir: "/srv/app"}, &out)
		walk(in)
		in.fs.reportLeft()
		if !in.rep.stopped() {
			t.Errorf("%s: no limit was met", name)
			continue
		}
		if in.readings.hidesMore() {
			continue
		}
		skipped++
		before := fmt.Sprintf("%q %v %v %v %v", bare(out.Effects), out.Files, out.Texts, out.Dotted, out.Mentions)
		in.leanly(Context{Dir: "/srv/app"}, &out, walk)
		if after := fmt.Sprintf("%q %v %v %v %v", bare(out.Effects), out.Files, out.Texts, out.Dotted,
			out.Mentions); after != before {
			t.Errorf("%s: a lean walk sees more:\n%.400s\n%.400s", name, before, after)
		}
	}
	if skipped < 10 {
		t.Errorf("only %d lean walks were skipped", skipped)
	}
}

func bare(list []effect.Effect) (out []string) {
	for _, e := range list {
		out = append(out, fmt.Sprint(e.Kind, e.Target, e.What, e.By, e.Bits, e.Taint))
	}
	return out
}

// overTexts are texts that meet a limit, each with something behind it.
func overTexts() map[string]string {
	fill := map[string]string{}
	for name, piece := range map[string]string{
		"commands": "true x;", "variables": "v%d=x;", "globs": "rm *f%d*;", "parameters": "set -- $@ a%d;",
		"known parameters": "set -- a b; set -- $@ a%d;",
		"unknown":          "echo $X%d;", "unknown program": "$X%d;", "substitutions": "x=$(cat f%d);",
		"defaults":   "echo ${X:-y%d};",
		"alternates": "echo ${X:+y%d};", "arrays": "a=(x y); echo $a;", "flags": "git push --$X;", "files": "echo a > f%d;",
		"functions": "f%d() { rm x; }; f%[1]d;", "aliases": "alias a%d=b;", "eval": "eval 'rm x%d';",
		"payload":  "bash -c \"rm $X%d\";",
		"branches": "if true; then x=a%d; fi;", "pipes": "cat f%d | sh;", "here": "cat <<< x%d;", "cd": "cd d%d;",
		"python": "python3 -c 'print(%d)';",
		"arith":  "x=$((x+%d));", "patterns": "y=${x//a*b/%d}; rm $y;", "read": "read x%d;",
		"printf": "printf '%%s' x%d | sh;", "stand-ins": "touch -- -rf%d; rm *;",
		"base64": "echo cm0gLXJmIC8K | base64 -d | sh;", "case": "case $x in a%d) rm x;; *) rm y;; esac;",
		"loop": "for i in a b c; do rm $i%d; done;", "tilde": "rm ~/x%d;", "brace": "rm {a,b,c}%d;",
	} {
		var b strings.Builder
		for i := 0; b.Len() < 24_000; i++ {
			if strings.Contains(piece, "%") {
				fmt.Fprintf(&b, piece, i)
			} else {
				b.WriteString(piece)
			}
		}
		fill[name] = b.String() + " rm -rf /"
	}
	fill["words"] = "rm " + strings.Repeat("a ", 12_000) + "; rm -rf /"
	fill["unknown words"] = "rm $X " + strings.Repeat("a ", 12_000) + "; rm -rf /"
	fill["wrappers"] = strings.Repeat("env ", 2_500) + "rm -rf /"
	fill["brackets"] = strings.Repeat("$(", 65_000)
	fill["deep"] = strings.Repeat("$(", 40) + "rm -rf /" + strings.Repeat(")", 40)
	fill["nested evals"] = strings.Repeat("eval ", 12) + "rm -rf /"
	fill["loops"] = strings.Repeat("for i in {1..64}; do ", 6) + "rm $i" + strings.Repeat("; done", 6)
	fill["alternatives"] = strings.Repeat("[ $a ] && b=$b$RANDOM; ", 500) + "rm $b$a$b; " +
		strings.Repeat("rm x; ", 20_000)
	fill["choices"] = strings.Repeat("true && a=x; ", 3) + "echo " +
		strings.Repeat("${A:-b}${B:-c}${C:-d}${D:-e}${E:-f} ", 3) + "; rm -rf /"
	return fill
}
