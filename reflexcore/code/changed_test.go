package code_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/code"
	"approver.example/reflexcore/effect"
)

// changedLists are sources that run codex through a list or map that is changed in place.
var changedLists = []struct{ lang, src string }{
	{"python", `import subprocess as s;c=[];c.append("codex");c.extend(["exec","x"]);s.run(c)`},
	{"python", `import subprocess as s;c=["exec"];c.insert(0,"codex");s.run(c)`},
	{"python", `import subprocess as s;c=["ls"];c[:]=["codex","exec"];s.run(c)`},
	{"python", `import subprocess as s;c=["ls"];d=c;d[0]="codex";s.run(c)`},
	{"python", `import subprocess as s;c=["ls"];c.clear();c+=["codex"];s.run(c)`},
	{"python", `import os;d={"c":"ls"};d["c"]="codex exec x";os.system(d["c"])`},
	{"python", `import os;d={"c":"ls"};d.update(c="codex exec x");os.system(d["c"])`},
	{"python", "import subprocess as s\nc=['ls']\ndef f(c): c[0]='codex'\nf(c)\ns.run(c)"},
	{"python", "import subprocess as s\nc=[]\nfor x in 'codex exec x'.split(): c.append(x)\ns.run(c)"},
	{"python", `import os;os.system("xcodex exec x".strip("x"))`},
	{"node", `const cp=require("child_process");const o={c:"ls"};o.c="codex exec x";cp.execSync(o.c)`},
	{"node", `const cp=require("child_process");const o={c:"ls"};o["c"]="codex exec x";cp.execSync(o.c)`},
	{"node", `const cp=require("child_process");const a=["ls"];a[0]="codex";cp.execSync(a[0])`},
	{"node", `const cp=require("child_process");const a=["ls"];a.splice(0,1,"codex exec x");cp.execSync(a[0])`},
	{"node", `const cp=require("child_process");const a=["ls"];a.unshift("codex exec x");cp.execSync(a[0])`},
	{"ruby", `c=["ls"]; c[0]="codex"; system(*c)`},
	{"php", `$c=["ls"]; $c[0]="codex exec x"; system($c[0]);`},
}

// An agent gave a list an honest command, changed it in place, and ran it. The first value was
// judged. What is changed in place is unknown now, or followed where it is only added to.
func TestListsThatAreChangedAreNotWhatTheyWere(t *testing.T) {
	for _, tt := range changedLists {
		all := everything(tt.lang, tt.src, code.Limits{})
		if !slices.ContainsFunc(all, func(f code.Found) bool {
			s := f.Text + strings.Join(f.Args, " ")
			return s != "" && (!effect.IsKnown(s) || strings.Contains(s, "codex"))
		}) {
			t.Errorf("%s: %s: %v", tt.lang, tt.src, all)
		}
	}
}
