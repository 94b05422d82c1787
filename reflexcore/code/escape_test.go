package code_test

import (
	"slices"
	"strings"
	"testing"

	"approver.example/reflexcore/code"
	"approver.example/reflexcore/effect"
)

// escaped are sources that run @ through a function that got to a place where it is not followed.
var escaped = []struct{ lang, src string }{
	{"node", `let g; ({execSync:g}=require("child_process")); g("@")`},
	{"node", `let g; ({execSync:g=0}=require("child_process")); g("@")`},
	{"node", `const o={}; ({execSync:o.g}=require("child_process")); o.g("@")`},
	{"node", `const a=[]; ({execSync:a[0]}=require("child_process")); a[0]("@")`},
	{"node", `let g,h; ({execSync:g,...h}=require("child_process")); h.exec("@")`},
	{"node", `const k="execSync",{[k]:g}=require("child_process"); g("@")`},
	{"node", `function* f(){yield require("child_process").execSync}; f().next().value("@")`},
	{"node", `try{throw require("child_process").execSync}catch(e){e("@")}`},
	{"node", `try{throw {g:require("child_process").execSync}}catch({g}){g("@")}`},
	{"node", `try{throw require("child_process")}catch({execSync:g}){g("@")}`},
	{"node", `for(const g of [require("child_process").execSync]) g("@")`},
	{"node", `for(const {execSync:g} of [require("child_process")]) g("@")`},
	{"node", `(async()=>{for await(const g of [require("child_process").execSync]) g("@")})()`},
	{"node", `const {execSync,...h}=require("child_process"); h.exec("@")`},
	{"node", `let {...h}=require("child_process"); h.exec("@")`},
	{"node", `const c=f=>a=>f(a); c(require("child_process").execSync)("@")`},
	{"node", `const cp=require("child_process"); (g=>c=>g(c))(cp.execSync)("@")`},
	{"node", `const cp=require("child_process"); function f(){arguments[0](arguments[1])}; f(cp.execSync,"@")`},
	{"node", `const cp=require("child_process"); function f(a,b){arguments[0](arguments[1])}; f(cp.execSync,"@")`},
	{"node", `const cp=require("child_process"); let g=0; if(1){g=cp.execSync}; g("@")`},
	{"node", `const cp=require("child_process"); let g; function f(x){g=x}; f(cp.execSync); g("@")`},
	{"node", `const cp=require("child_process"); function f(x){g=x}; f(cp.execSync); g("@")`},
	{"node", `const cp=require("child_process"); (function(...a){for(const g of a) g("@")})(cp.execSync)`},
	{"python", "import os\na,*b=1,os.system; b[0]('@')"},
	{"python", "import os\n*b,=os.system,; b[0]('@')"},
	{"python", "import os\nb=1,os.system; b[1]('@')"},
	{"python", "import os\nf=lambda g: lambda c: g(c); f(os.system)('@')"},
	{"python", "import os\n(lambda *,g: g('@'))(g=os.system)"},
	{"python", "import os\nf=lambda c,g=print: g(c); f(g=os.system,c='@')"},
	{"python", "import os\nf=lambda **k: k['g'](k['c']); f(g=os.system,c='@')"},
	{"python", "import os\ndef d(f):\n  def w(c): return f(c)\n  return w\nd(os.system)('@')"},
	{"python", "import os\ndef s(f):\n  global g\n  g=f\ns(os.system); g('@')"},
	{"python", "import os\nclass E(Exception): pass\ntry: raise E(os.system)\nexcept E as e: e.args[0]('@')"},
	{"python", "import os\ndef f():\n  yield os.system\nnext(f())('@')"},
	{"python", "import os\ng=print\nif 1: g=os.system\ng('@')"},
	{"python", "import os\ndef f(*a):\n  for g in a: g('@')\nf(os.system)"},
}

// An agent gave a function that starts programs to a name through a pattern, a throw, a
// generator or an inner function. It counted as followed and was bound to nothing, so the
// call through that name was nothing. Now it is loose wherever no name is sure to have it.
func TestFunctionsThatGetAwayAreFound(t *testing.T) {
	for _, tt := range escaped {
		src := strings.ReplaceAll(tt.src, "@", "codex exec x")
		all := everything(tt.lang, src, code.Limits{})
		if !slices.ContainsFunc(all, func(f code.Found) bool {
			return f.Text == effect.Unknown || strings.Contains(f.Text, "codex")
		}) {
			t.Errorf("%s: %s: %v", tt.lang, tt.src, all)
		}
	}
}
