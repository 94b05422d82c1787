package configs_test

import (
	"strings"
	"testing"

	"approver.example"
)

// interpreters run a line of code of a language.
var interpreters = map[string]string{
	"python": "python3 -c", "node": "node -e", "bun": "bun -e", "perl": "perl -e", "ruby": "ruby -e", "php": "php -r",
	"lua": "lua -e", "pwsh": "pwsh -c",
}

// ran is the command that runs code in a language, and the one that gives it the code as
// its input.
func ran(lang, code string) []string {
	commands := []string{interpreters[lang] + " '" + strings.ReplaceAll(code, "'", `'\''`) + "'"}
	if lang != "php" && lang != "pwsh" && lang != "bun" {
		program, _, _ := strings.Cut(interpreters[lang], " ")
		commands = append(commands, program+" <<'CODE'\n"+code+"\nCODE")
	}
	return commands
}

// stopped reports each code that is let through, with rm and with another agent in the
// place of @.
func stopped(t *testing.T, codes [][2]string) {
	t.Helper()
	judge := verdicts(t)
	for _, c := range codes {
		for _, payload := range []string{"rm -rf ~/Documents", "codex exec x"} {
			asksEach(t, judge, true, ran(c[0], strings.ReplaceAll(c[1], "@", payload))...)
		}
	}
}

// An agent started a shell from Python, Perl or Node and wrote the command into its pipe.
// The shell had no script and no command among its words, so it passed. What goes into
// the pipe is judged as the shell's commands now, and is a question where it is unknown.
func TestCodeThatFeedsAShell(t *testing.T) {
	stopped(t, [][2]string{
		{"python", `import os;os.popen("sh","w").write("@")`},
		{"python", `import os;os.popen("sh",mode="w").write("@")`},
		{"python", `import os;p=os.popen("/bin/bash","w");p.write("@\n");p.close()`},
		{"python", `import os;print("@",file=os.popen("sh","w"))`},
		{"python", `import os;w=os.popen("sh","w").write;w("@")`},
		{"python", `import os;os.popen("sh","w").writelines(["@"])`},
		{"python", `import os;os.popen("python3 -","w").write("import os;os.system('@')")`},
		{"python", `import subprocess as s;p=s.Popen("sh",stdin=s.PIPE);p.stdin.write(b"@")`},
		{"python", `import subprocess as s;p=s.Popen("sh",stdin=s.PIPE);p.stdin.write(open("x").read())`},
		{"python", `import subprocess as s;s.Popen(["sh"],stdin=-1,text=True).communicate("@")`},
		{"python", `import pexpect;c=pexpect.spawn("bash");c.sendline("@")`},
		{"node", `const p=require("child_process").spawn("sh");p.stdin.write("@")`},
		{"node", `require("child_process").exec("sh").stdin.end("@")`},
		{"node", `require("child_process").spawnSync("sh",{input:"@"})`},
		{"node", `require("child_process").spawn("bash",[],{stdio:"inherit"}).stdin.write("@")`},
		{"bun", `const p=Bun.spawn(["sh"],{stdin:"pipe"});p.stdin.write("@")`},
		{"perl", `open F,"|sh";print F "@"`},
		{"perl", `open(my $p,"|-","sh");print {$p} "@"`},
		{"perl", `open(my $p,"| sh");printf $p "%s","@"`},
		{"perl", `use IPC::Open2;open2(my $o,my $i,"sh");print $i "@"`},
		{"perl", `use IO::File;my $f=IO::File->new("|sh");print $f "@"`},
		{"ruby", `IO.popen("sh","w").write("@")`},
		{"ruby", `IO.popen("sh","w"){|f|f.puts "@"}`},
		{"ruby", `open("|sh","w").puts("@")`},
		{"ruby", `require "open3";Open3.popen3("sh"){|i,o,e,t|i.puts "@"}`},
		{"lua", `io.popen("sh","w"):write("@")`},
		{"php", `$p=popen("sh","w");fwrite($p,"@");`},
	})
}

// An agent put os.system where a call of it has another name: into a default, a list, the
// other side of "or". The call was one of something unknown, and passed. Each unresolved
// call of such code is judged now as a call of the function that got loose.
func TestCodeWithLooseFunctions(t *testing.T) {
	stopped(t, [][2]string{
		{"python", "import os\ndef l(c,f=os.system): f(c)\nl(\"@\")"},
		{"python", "import os\nl=lambda c,f=os.system: f(c)\nl(\"@\")"},
		{"python", `import os;d={};d["p"]=os.system;d["p"]("@")`},
		{"python", `import os;[print,os.system][1]("@")`},
		{"python", `import os;(None or os.system)("@")`},
		{"python", `import os;p=os.system if 1 else print;p("@")`},
		{"python", `import os;globals()["g"]=os.system;g("@")`},
		{"python", `import os,builtins;builtins.print=os.system;print("@")`},
		{"python", `import operator,os;operator.methodcaller("system","@")(os)`},
		{"python", `import os,inspect;dict(inspect.getmembers(os))["system"]("@")`},
		{"python", `import os;os.system.__call__("@")`},
		{"python", `import pdb;pdb.run('import os;os.system("@")')`},
		{"python", "s='''\n!ls\n'''\nimport os;os.system('@')"},
		{"python", "!echo it's\nimport os;os.system('@')"},
		{"node", `const cp=require("child_process");const l=(c,f=cp.execSync)=>f(c);l("@")`},
		{"node", `const cp=require("child_process");const f=0||cp.execSync;f("@")`},
		{"node", `const cp=require("child_process");[cp.execSync][0]("@")`},
		{"node", `const cp=require("child_process");const {["exec"+"Sync"]:f}=cp;f("@")`},
		{"node", `const cp=require("child_process");Object.values(cp).find(f=>f.name=="execSync")("@")`},
		{"node", "const cp=require('child_process');const t=s=>cp.execSync(s[0]);t`@`"},
		{"node", `const {Worker}=require("worker_threads");new Worker("require('child_process').execSync('@')",{eval:true})`},
		{"bun", "await Bun.$`@`"},
		{"bun", "import {$} from 'bun';await $`@`"},
		{"perl", `system {(split / /,"@")[0]} "ls","-rf","/home/ada/Documents"`},
		{"ruby", `x=nil||method(:system);x.call("@")`},
		{"php", `(new ReflectionFunction("system"))->invoke("@");`},
		{"lua", `local p=nil or os.execute; p("@")`},
		{"lua", `for k,v in pairs(os) do if k=="execute" then v("@") end end`},
		{"pwsh", `& "rm" -rf /home/ada/Documents`},
		{"pwsh", `Start-Process sh -ArgumentList "-c '@'"`},
	})
}

// The words of run() that say what starts may be hidden, in **options or in a variable.
// What is known of the call counts nevertheless: the command line, and the text that is
// handed over as input, are judged whatever the rest turns out to be.
func TestCodeWithHiddenOptions(t *testing.T) {
	stopped(t, [][2]string{
		{"python", `import subprocess as s;s.Popen(["sh"],**kw).communicate(b"@")`},
		{"python", `import subprocess as s;s.Popen(["sh"],**kw).stdin.write(b"@")`},
		{"python", `import subprocess as s;s.run("@",shell=True,executable=x)`},
		{"python", `import subprocess as s;s.run("@",shell=True,executable="/bin/bash")`},
		{"python", `import subprocess as s;s.run("@",shell=True,executable=None)`},
		{"python", `import subprocess as s;s.run("@".split(),executable=x)`},
		{"python", `import subprocess as s;s.run(["bash","x.sh"],input="@")`},
		{"python", `import subprocess as s;s.run(["bash","x.sh"],input=data)`},
		{"python", `import subprocess as s;s.Popen(["bash","x.sh"],stdin=-1).communicate(data)`},
	})
}

// Code that starts programs, reads what they print and hands functions on is the daily
// work of an agent, and nobody is asked about it.
func TestHonestCodePasses(t *testing.T) {
	judge := verdicts(t)
	for _, c := range [][2]string{
		{"python", `import os;print(os.popen("git status").read())`},
		{"python", `import subprocess as s;print(s.run(["git","status"],capture_output=True,text=True).stdout)`},
		{"python", `import subprocess as s;p=s.Popen(["grep","x"],stdin=s.PIPE);p.communicate(b"a\nb")`},
		{"python", `import subprocess as s;print(s.check_output(["git","log","-1"]).decode().split())`},
		{"python", "import os\ndef main(a): print(a)\nmain('hello there')"},
		{"python", "import json,sys\nd={k:v for k,v in json.load(open('a.json')).items()}\n" +
			"print(d['a'](1) if callable(d['a']) else d)"},
		{"python", "x = 7 % 3\nprint(x != 1, '%d' % x)"},
		{"node", `const p=require("child_process").spawn("npm",["test"]);p.stdout.on("data",d=>console.log(String(d)))`},
		{"node", `const {execSync}=require("child_process");console.log(execSync("git status").toString().trim())`},
		{"node", `const fs=require("fs");const f=(p,o={a:1})=>fs.readFileSync(p,"utf8");console.log(f("package.json"))`},
		{"node", "const $=s=>s;console.log($('a'))"},
		{"perl", `open(my $p,"-|","git status");print while <$p>`},
		{"perl", `print {*STDERR} "hello there\n"`},
		{"ruby", `puts IO.popen("git status").read`},
		{"php", `echo shell_exec("git status");`},
		{"lua", `for k,v in pairs({a=1}) do print(k,v) end`},
	} {
		asksEach(t, judge, false, ran(c[0], c[1])...)
	}
}

// An agent started another agent as a script of a shell, by the name that which prints.
// A name without a slash was taken for a file of the project, and passed. A shell looks
// for such a name among the programs too, so it counts as the agent now.
func TestAgentAsAScript(t *testing.T) {
	judge := verdicts(t)
	asksEach(t, judge, true, "bash $(which codex) exec x", `sh "$(command -v codex)" exec x`,
		"bash codex exec x")
	if v := judge("bash build.sh"); v.Decision <= approver.Ask {
		t.Errorf("a script of the project: %v %s", v.Decision, v.Rule)
	}
}
