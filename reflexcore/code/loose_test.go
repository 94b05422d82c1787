package code_test

import (
	"strings"
	"testing"
)

// looseCases are sources and one thing that is found in each.
var looseCases = []wanted{
	{"python", "import os\ndef l(c,f=os.system): f(c)\nl('codex exec x')", "shell codex exec x"},
	{"python", "import os\nl=lambda c,f=os.system: f(c)\nl('codex exec x')", "shell codex exec x"},
	{"python", "import os\ndef print(c,f=os.system): f(c)\nprint('codex exec x')", "shell codex exec x"},
	{"python", "import os\ndef l(c,*a,f=os.system): f(c)\nl('codex exec x')", "shell codex exec x"},
	{"python", "import os\np=None or os.system\np('codex exec x')", "shell codex exec x"},
	{"python", "import os\np=os.system if True else print\np('codex exec x')", "shell codex exec x"},
	{"python", "import os\np=print if False else os.system\np('codex exec x')", "shell codex exec x"},
	{"python", "import os;d={};d['p']=os.system;d['p']('codex exec x')", "shell codex exec x"},
	{"python", "import os;(a,b),c=(os.system,print),1;a('codex exec x')", "shell codex exec x"},
	{"python", "import subprocess as s;r,*_=s.run,1;r(['codex','exec','x'])", "argv [codex|exec|x]"},
	{"python", "import os;globals()['g']=os.system;g('codex exec x')", "shell codex exec x"},
	{"python", "import os,builtins;builtins.print=os.system;print('codex exec x')", "shell codex exec x"},
	{"python", "import os;__builtins__.print=os.system;print('codex exec x')", "shell codex exec x"},
	{"python", "import operator,os;operator.methodcaller('system','codex exec x')(os)", "shell codex exec x"},
	{"python", "import os;next(v for k,v in os.__dict__.items() if k=='system')('codex exec x')", "shell codex exec x"},
	{"python", "import os,inspect;dict(inspect.getmembers(os))['system']('codex exec x')", "shell codex exec x"},
	{"python", "import os;object.__getattribute__(os,'system')('codex exec x')", "shell codex exec x"},
	{"python", "import os;os.system.__call__('codex exec x')", "shell codex exec x"},
	{"python", "import os;[*filter(None,[0,os.system])][0]('codex exec x')", "shell codex exec x"},
	{"python", "import subprocess;(subprocess.run if 1 else 0)(['codex','exec','x'])", "argv [codex|exec|x]"},
	{"python", "import os;d={};d['p']=os.system;d['p'](x)", "shell …"},
	{"python", "import subprocess;subprocess.run(['x','exec'],executable='/opt/codex')", "argv [/opt/codex|exec]"},
	{"python", "import subprocess;subprocess.run('exec x',shell=True,executable='codex')", "argv [codex|-c|exec x]"},
	{"python", "import pdb;pdb.run('import os;os.system(\"id\")')", "shell id"},
	{"python", "import bdb;bdb.Bdb().run('import os;os.system(\"id\")')", "shell id"},
	{"python", "import doctest;doctest.run_docstring_examples(x,{})", "opaque doctest.run_docstring_examples"},
	{"python", "import os\nclass A:\n  __class_getitem__=os.system\nA['codex exec x']", "shell …"},
	{"node", "const cp=require('child_process');function l(c,f=cp.execSync){f(c)};l('codex exec x')",
		"shell codex exec x"},
	{"node", "const cp=require('child_process');const l=(c,f=cp.execSync)=>f(c);l('codex exec x')", "shell codex exec x"},
	{"node", "const cp=require('child_process');const f=0||cp.execSync;f('codex exec x')", "shell codex exec x"},
	{"node", "const cp=require('child_process');const f=[cp.execSync][0];f('codex exec x')", "shell codex exec x"},
	{"node", "const cp=require('child_process');const o={};o.f=cp.execSync;o.f('codex exec x')", "shell codex exec x"},
	{"node", "const cp=require('child_process');Object.values(cp).find(f=>f.name=='execSync')('codex exec x')",
		"shell codex exec x"},
	{"node", "const cp=require('child_process');const t=cp.execSync;t`codex exec x`", "shell codex exec x"},
	{"node", "const cp=require('child_process');const t=s=>cp.execSync(s[0]);t`codex exec x`", "shell codex exec x"},
	{"node", "const cp=require('child_process');const f=cp.spawn;f('codex',['exec','x'])", "argv [codex|exec|x]"},
	{"node",
		"const {Worker}=require('worker_threads');new Worker(\"require('child_process').execSync('id')\",{eval:true})",
		"shell id"},
	{"perl", `system{"codex"} "ls","exec"`, "argv [codex|exec]"},
	{"perl", `exec {"codex"} "ls","exec"`, "argv [codex|exec]"},
	{"lua", `local p=nil or os.execute; p("codex exec x")`, "shell codex exec x"},
	{"python", "import shutil\ndef l(c,f=shutil.rmtree): f(c)\nl('/x')", "delete /x recursive+force"},
	{"python", "import shutil;(None or shutil.rmtree)('/x')", "delete /x recursive+force"},
	{"python", "!codex exec x", "shell codex exec x"},
	{"python", "  %system codex exec x", "shell codex exec x"},
	{"python", "x = !codex exec x", "shell codex exec x"},
	{"python", "!echo it's\nimport os;os.system('codex exec x')", "shell codex exec x"},
	{"python", "s='''\n!ls\n'''\nimport os;os.system('codex exec x')", "shell codex exec x"},
	{"python", "import os;os.system('''\n!; codex exec x''')", "shell \n!; codex exec x"},
	{"python", "import os;os.system('''\n%system ls\ncodex exec x''')", "shell \n%system ls\ncodex exec x"},
	{"node", "const fs=require('fs');const f=0||fs.rmSync;f('/x',{recursive:true})", "delete /x recursive"},
	{"node", "const cp=require('child_process');const {['exec'+'Sync']:f}=cp;f('codex exec x')", "shell codex exec x"},
	{"node", "const cp=require('child_process');Object.entries(cp).forEach(([k,f])=>{f('codex exec x')})",
		"shell codex exec x"},
	{"node", "const cp=require('child_process');const t=s=>cp.execSync(`${s}`);t`codex exec x`", "shell codex exec x"},
	{"node", "import {$} from 'bun';await $`codex exec x`", "shell codex exec x"},
	{"node", "import {$} from 'bun';await $({cwd:'x'})`codex exec x`", "shell codex exec x"},
	{"node", "const $=require('zx').$;$`codex exec x`", "shell codex exec x"},
	{"node", "new (require('worker_threads').Worker)('data:text/javascript,x')", "opaque worker_threads.Worker"},
	{"perl", `system {$x} "codex","exec"`, "argv [codex|exec]"},
	{"perl", `system {$x} "ls","exec"`, "argv […|exec]"},
	{"ruby", `m=method(:system);m["codex exec x"]`, "shell codex exec x"},
	{"ruby", `x=nil||method(:system);x.call("codex exec x")`, "shell codex exec x"},
	{"ruby", `Kernel.method(:system).to_proc.call("codex exec x")`, "shell codex exec x"},
	{"php", `(new ReflectionFunction("system"))->invoke("codex exec x");`, "opaque ReflectionFunction"},
	{"lua", `for k,v in pairs(os) do v("codex exec x") end`, "shell codex exec x"},
	{"lua", `setmetatable({},{__index=os}).execute("codex exec x")`, "shell codex exec x"},
	{"lua", `string.gsub("codex exec x",".*",os.execute)`, "shell …"},
}

// looseQuiet are sources of honest work.
var looseQuiet = []wanted{
	{"python", "import os\ndef main(a): print(a)\nif __name__ == '__main__': main('codex exec x')", ""},
	{"python", "import os; print(list(map(os.path.join, a, b))); go('codex exec x')", ""},
	{"python",
		"import subprocess\nfrom unittest import mock\nwith mock.patch.object(subprocess, 'run') as r:\n  go('codex exec x')",
		""},
	{"python", "import subprocess\nsubprocess.run = fake\ngo('codex exec x')", ""},
	{"python", "import os, sys; o = os; print(o.getcwd()); go('codex exec x')", ""},
	{"python", "import os; print(hasattr(os, 'fork'), dir(os)); go('codex exec x')", ""},
	{"python", "import os; e = dict(os.environ); go('codex exec x')", ""},
	{"python", "import subprocess as s; r = s.run; r(['git', 'status']); go('codex exec x')", ""},
	{"python", "import subprocess\ndef f(p: subprocess.Popen, n=3) -> subprocess.Popen: return p\ngo('codex exec x')", ""},
	{"node", "const {exec, spawn} = require('child_process'); go('codex exec x')", ""},
	{"node", "const cp = require('child_process'); (0, cp.execSync)('ls'); go('codex exec x')", ""},
	{"node",
		"const run = require('util').promisify(require('child_process').exec); run('ls').then(r => go('codex exec x'))", ""},
	{"node", "import {execSync} from 'child_process'; console.log(String(execSync('ls'))); go('codex exec x')", ""},
}

// An agent put os.system where a name is looked for in no table: it was a default, an
// element, another side of "or". The call of it was one of something unknown, which does
// nothing, and passed. Such a call is judged now as one of the function that got loose.
func TestFunctionsThatGetLoose(t *testing.T) {
	finds(t, looseCases, looseQuiet, func(l string) bool {
		return strings.Contains(l, "codex") || strings.HasPrefix(l, "shell …")
	})
}
