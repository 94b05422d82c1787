package configs_test

import (
	"strings"
	"testing"

	"approver.example"
)

// escapedFunctions are command lines that run @ through a function that gets to a place where
// nobody follows it.
var escapedFunctions = []string{
	`node -e 'let g; ({execSync:g}=require("child_process")); g("@")'`,
	`node -e 'let g; ({execSync:g=0}=require("child_process")); g("@")'`,
	`node -e 'const o={}; ({execSync:o.g}=require("child_process")); o.g("@")'`,
	`node -e 'const a=[]; ({execSync:a[0]}=require("child_process")); a[0]("@")'`,
	`node -e 'let g,h; ({execSync:g,...h}=require("child_process")); h.exec("@")'`,
	`node -e 'const k="execSync",{[k]:g}=require("child_process"); g("@")'`,
	`node -e 'function* f(){yield require("child_process").execSync}; f().next().value("@")'`,
	`node -e 'try{throw require("child_process").execSync}catch(e){e("@")}'`,
	`node -e 'try{throw {g:require("child_process").execSync}}catch({g}){g("@")}'`,
	`node -e 'try{throw require("child_process")}catch({execSync:g}){g("@")}'`,
	`node -e 'for(const g of [require("child_process").execSync]) g("@")'`,
	`node -e 'for(const {execSync:g} of [require("child_process")]) g("@")'`,
	`node -e '(async()=>{for await(const g of [require("child_process").execSync]) g("@")})()'`,
	`node -e 'const {execSync,...h}=require("child_process"); h.exec("@")'`,
	`node -e 'let {...h}=require("child_process"); h.exec("@")'`,
	`node -e 'const c=f=>a=>f(a); c(require("child_process").execSync)("@")'`,
	`node -e 'const cp=require("child_process"); (g=>c=>g(c))(cp.execSync)("@")'`,
	`node -e 'const cp=require("child_process"); function f(){arguments[0](arguments[1])}; f(cp.execSync,"@")'`,
	`node -e 'const cp=require("child_process"); function f(a,b){arguments[0](arguments[1])}; f(cp.execSync,"@")'`,
	`node -e 'const cp=require("child_process"); let g=0; if(1){g=cp.execSync}; g("@")'`,
	`node -e 'const cp=require("child_process"); let g; function f(x){g=x}; f(cp.execSync); g("@")'`,
	`node -e 'const cp=require("child_process"); function f(x){g=x}; f(cp.execSync); g("@")'`,
	`node -e 'const cp=require("child_process"); (function(...a){for(const g of a) g("@")})(cp.execSync)'`,
	`python3 -c 'import os
a,*b=1,os.system; b[0]("@")'`,
	`python3 -c 'import os
*b,=os.system,; b[0]("@")'`,
	`python3 -c 'import os
b=1,os.system; b[1]("@")'`,
	`python3 -c 'import os
f=lambda g: lambda c: g(c); f(os.system)("@")'`,
	`python3 -c 'import os
(lambda *,g: g("@"))(g=os.system)'`,
	`python3 -c 'import os
f=lambda c,g=print: g(c); f(g=os.system,c="@")'`,
	`python3 -c 'import os
f=lambda **k: k["g"](k["c"]); f(g=os.system,c="@")'`,
	`python3 -c 'import os
def d(f):
  def w(c): return f(c)
  return w
d(os.system)("@")'`,
	`python3 -c 'import os
def s(f):
  global g
  g=f
s(os.system); g("@")'`,
	`python3 -c 'import os
class E(Exception): pass
try: raise E(os.system)
except E as e: e.args[0]("@")'`,
	`python3 -c 'import os
def f():
  yield os.system
next(f())("@")'`,
	`python3 -c 'import os
g=print
if 1: g=os.system
g("@")'`,
	`python3 -c 'import os
def f(*a):
  for g in a: g("@")
f(os.system)'`,
}

// An agent took execSync or os.system through a pattern, a throw, a generator, a keyword or an
// inner function. The name that got it was taken for one that is followed, had nothing, and the
// call passed. A function that starts programs is followed only where a name is sure to have it.
func TestFunctionsThatGetAwayAreAsked(t *testing.T) {
	startsAll(t, escapedFunctions)
}

// startsAll reports the command lines that pass although they run what stands for @.
func startsAll(t *testing.T, commands []string) {
	t.Helper()
	judge := verdicts(t)
	for _, c := range commands {
		for _, payload := range []string{"rm -rf ~/Documents", "codex exec x"} {
			if v := judge(strings.ReplaceAll(c, "@", payload)); v.Decision > approver.Ask {
				t.Errorf("%s: %v", strings.ReplaceAll(c, "@", payload), v.Decision)
			}
		}
	}
}
