package code_test

import (
	"strings"
	"testing"
)

// A wanted is a source and what has to be among the things that are found in it.
type wanted struct{ lang, src, want string }

// pipeCases are sources and one thing that is found in each.
var pipeCases = []wanted{
	{"python", `import os;os.popen("sh","w").write("codex exec x")`, "shell codex exec x"},
	{"python", `import os;print("codex exec x",file=os.popen("sh","w"))`, "shell codex exec x\n"},
	{"python", `import os;p=os.popen("sh","w");p.write("co");p.write("dex exec x")`, "shell codex exec x"},
	{"python", "from subprocess import *;p=Popen(\"sh\",stdin=PIPE)\np.stdin.write(b\"codex exec x\")",
		"shell codex exec x"},
	{"python", `import subprocess as s;p=s.Popen(["bash"],stdin=-1);w=p.stdin.write;w(b"codex exec x")`,
		"shell codex exec x"},
	{"python", `import subprocess as s;p=s.Popen(["bash"],stdin=s.PIPE);p.communicate(b"codex exec x")`,
		"shell codex exec x"},
	{"python", `import subprocess as s;p=s.Popen(["bash"],stdin=s.PIPE);os.write(p.stdin.fileno(),b"codex exec x")`,
		"shell …"},
	{"python", `import subprocess as s;p=s.Popen("bash",stdin=s.PIPE);list(map(p.stdin.write,[b"a"]))`, "shell …a"},
	{"python", `import subprocess as s;p=s.Popen("bash",stdin=s.PIPE);p.stdin.write(b"ls\n");go(p.stdin)`, "shell ls\n…"},
	{"python", `import subprocess as s;s.Popen("sh",stdin=s.Popen(["echo","codex exec x"],stdout=-1).stdout)`, "shell …"},
	{"python", `import subprocess as s;s.run(["python3","-"],input=x)`, "shell …"},
	{"python", `import subprocess as s;s.run(["env","sh"],input="codex exec x")`,
		"shell { env sh\n} <<END_OF_INPUT\ncodex exec x\nEND_OF_INPUT\n"},
	{"python", `import pexpect;p=pexpect.spawn("bash");p.sendline("codex exec x")`, "shell codex exec x\n"},
	{"perl", `open F,"|sh";print F "codex exec x"`, "shell codex exec x"},
	{"perl", `open(F,"|sh");print {F} "codex exec x"`, "shell …"},
	{"perl", `open(my $p,"|-","sh");print $p "codex exec x"`, "shell codex exec x"},
	{"perl", `open(my $p,"|-","sh");print {$p} "codex exec x"`, "shell codex exec x"},
	{"perl", `open(my $p,"|-","sh");$p->print("codex exec x")`, "shell codex exec x"},
	{"perl", `open(my $p,"|-","sh");syswrite $p, "codex exec x"`, "shell codex exec x"},
	{"perl", `use IPC::Open2;open2(my $o,my $i,"sh");print $i "codex exec x"`, "shell …"},
	{"node", `const p=require("child_process").spawn("sh");p.stdin.write("codex exec x")`, "shell codex exec x"},
	{"node", `require("child_process").exec("sh").stdin.end("codex exec x")`, "shell codex exec x"},
	{"node", `require("child_process").spawnSync("sh",{input:"codex exec x"})`, "shell codex exec x"},
	{"node", `require("child_process").execFileSync("sh",[],{input:"codex exec x"})`, "shell codex exec x"},
	{"node", `const p=require("child_process").spawn("sh");p.stdin.cork();x(p.stdin)`, "shell …"},
	{"node", `const p=require("child_process").spawn("node",["-"]);fs.createReadStream("x").pipe(p.stdin)`, "shell …"},
	{"ruby", `IO.popen("sh","w").write("codex exec x")`, "shell codex exec x"},
	{"lua", `io.popen("sh","w"):write("codex exec x")`, "shell codex exec x"},
	{"php", `$p=popen("sh","w");fwrite($p,"codex exec x");`, "shell codex exec x"},
	{"python", `import subprocess as s;s.Popen(["sh"],**kw).communicate(b"codex exec x")`, "shell codex exec x"},
	{"python", `import subprocess as s;s.Popen(["sh"],**kw).stdin.write(b"codex exec x")`, "shell codex exec x"},
	{"python", `import subprocess as s;s.run(["bash","x.sh"],input=data)`, "shell …"},
	{"python", `import subprocess as s;s.Popen(["bash","x.sh"],stdin=-1).communicate(data)`, "shell …"},
	{"python", `import subprocess as s;s.run("codex exec x",shell=True,executable=x)`, "shell codex exec x"},
	{"python", `import subprocess as s;s.run("codex exec x",shell=True,executable=x)`, "argv […|-c|codex exec x]"},
	{"python", `import os;os.popen("sh",mode="w").write("codex exec x")`, "shell codex exec x"},
	{"python", "import subprocess as s\n" + strings.Repeat("s.Popen(['ls'])\n",
		70) + "s.Popen(['sh']).stdin.write('codex exec x')", "shell codex exec x"},
	{"python", "import subprocess as s\n" + strings.Repeat("s.Popen(['ls'])\n", 70) + "s.Popen(['sh'],stdin=-1)",
		"shell …"},
	{"python",
		"import os\np=os.popen('sh','w')\np.write('codex exec x\\n')\n" + strings.Repeat("p.write('"+strings.Repeat("# ",
			20_000)+"')\n", 2), "shell codex exec x\n" + strings.Repeat("# ", 40_000)},
	{"python", `import subprocess as s;s.Popen(["bash","/dev/stdin"],stdin=-1).stdin.write(x)`, "shell …"},
	{"python", `import subprocess as s;s.Popen(["bash","--rcfile","x"],stdin=-1).stdin.write(x)`, "shell …"},
	{"perl", `open(my $f,"| sh");printf $f "%s exec x","codex"`, "shell codex exec x"},
	{"perl", `open(my $f,"|sh") or die;say $f "codex exec x"`, "shell codex exec x"},
	{"perl", `use IO::File;my $f=IO::File->new("|sh");print $f "codex exec x"`, "shell codex exec x"},
	{"perl", `use IO::Pipe;my $p=IO::Pipe->new;$p->writer("sh");print $p "codex exec x"`, "shell …"},
	{"node", `require("child_process").spawn("bash",[],{stdio:"inherit"}).stdin.write("codex exec x")`,
		"shell codex exec x"},
	{"node", `import {spawn} from "node:child_process";const p=spawn("sh");p.stdin.write("codex exec x")`,
		"shell codex exec x"},
	{"node", `const p=Bun.spawn(["sh"],{stdin:"pipe"});p.stdin.write("codex exec x")`, "shell codex exec x"},
	{"ruby", `IO.popen("sh","w"){|f|f.puts "codex exec x"}`, "shell …"},
	{"ruby", `open("|sh","w").puts("codex exec x")`, "shell codex exec x"},
	{"ruby", `require "pty";PTY.spawn("sh"){|r,w,p|w.puts "codex exec x"}`, "shell …"},
	{"ruby", `require "open3";Open3.popen3("sh"){|i,o,e,t|i.puts "codex exec x"}`, "shell …"},
	{"php", `$p=popen("sh","w");fprintf($p,"%s exec x","codex");`, "shell codex exec x"},
	{"lua", `vim.fn.system("sh","codex exec x")`, "shell codex exec x"},
	{"powershell", `rm -rf /x`, "argv [rm|-rf|/x]"},
	{"powershell", `Start-Process sh -ArgumentList "-c 'codex exec x'"`, "shell sh -c 'codex exec x'"},
}

// pipeQuiet are sources of honest work.
var pipeQuiet = []wanted{
	{"python", `import os;print(os.popen("ls").read())`, ""},
	{"python", `import subprocess as s;print(s.run(["git","status"],capture_output=True).stdout)`, ""},
	{"python", `import subprocess as s;p=s.Popen(["grep","x"],stdin=s.PIPE);p.communicate(data)`, ""},
	{"python", `import subprocess as s;p=s.Popen(["bash","x.sh"],stdin=s.PIPE);p.stdin.write(data)`, ""},
	{"python", `import subprocess as s;s.run(["bash","-c","ls"],stdin=s.DEVNULL)`, ""},
	{"node", `const p=require("child_process").spawn("npm",["test"]);p.stdout.on("data",d=>console.log(d))`, ""},
	{"node", `require("child_process").execSync("bash -c ls",{stdio:"inherit"})`, ""},
	{"perl", `open(my $p,"-|","ls");print <$p>`, ""},
	{"ruby", `IO.popen("ls").read`, ""},
}

// An agent started a shell with a pipe as its input and wrote the command into the pipe.
// The shell without a script was all that was seen, and passed. What goes into the pipe
// is judged now, and is a command of which nothing is known where nobody can follow it.
func TestPipesIntoPrograms(t *testing.T) {
	finds(t, pipeCases, pipeQuiet, func(l string) bool {
		return strings.HasPrefix(l, "shell …") || strings.HasPrefix(l, "shell {")
	})
}
