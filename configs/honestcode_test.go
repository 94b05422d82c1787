package configs_test

import (
	"testing"
)

// honestCode are the one-liners of an agent's day: they print, parse and count, and run
// programs of the project in plain calls.
var honestCode = []string{
	`python3 -c 'import subprocess,sys; subprocess.run([sys.executable,"-m","pytest"])'`,
	`python3 -c 'import subprocess as s; c=["git","log"]; c.append("-1"); c.extend(["--oneline"]); s.run(c)'`,
	`python3 -c 'd={}; d["a"]=1; l=[]; l.append(d); print(l)'`,
	`node -e 'const a=[]; a.push("x"); const o={}; o.b=a; console.log(JSON.stringify(o))'`,
	`python3 -c 'import sys; print(sys.version)'`,
	`python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["items"][0]["x"])'`,
	`python3 -c 'import json; print(json.load(open("package.json"))["version"])'`,
	`python3 -c 'import subprocess; print(subprocess.run(["git","status"],capture_output=True,text=True).stdout)'`,
	`python3 -c 'import subprocess; subprocess.check_call(["make","test"])'`,
	`python3 -c 'import os; print(os.getcwd(), os.listdir("."))'`,
	`python3 -c 'import os; os.system("git diff --stat")'`,
	`python3 -c 'import yaml,sys; yaml.safe_load(open("a.yaml"))'`,
	`python3 -c 'import ast; ast.parse(open("a.py").read())'`,
	`python3 -c 'import numpy as np; print(np.arange(3).sum())'`,
	`python3 -c 'import re; print(re.sub(r"a+", lambda m: m.group(0).upper(), "caaat"))'`,
	`python3 -c 'import shutil; print(shutil.which("bash"))'`,
	`python3 -c 'import subprocess as s; a=s.Popen(["git","log"],stdout=s.PIPE); ` +
		`print(s.run(["grep","fix"],stdin=a.stdout,capture_output=True).stdout)'`,
	`python3 -c 'import subprocess as s; s.run(["psql","-f","-"],stdin=open("a.sql"))'`,
	`python3 -c 'import subprocess as s; s.run(["python3","a.py"],stdin=s.DEVNULL)'`,
	`python3 -c 'import subprocess as s; s.run(["bash","build.sh"],stdin=s.DEVNULL)'`,
	`python3 -c 'import subprocess as s; s.run(["bash","-c","ls"])'`,
	`python3 -c 'import subprocess as s; s.run(["node","--version"]); s.run(["python3","--version"]); s.run("ruby ` +
		`-v",shell=True); s.run(["php","-v"])'`,
	`python3 -c 'import subprocess as s; s.run(["node","--test"]); s.run(["command","-v","bash"]); s.run("command -v ` +
		`bash",shell=True)'`,
	`python3 -c 'import tempfile; t=tempfile.TemporaryFile(); t.write(b"x"); t.seek(0); print(t.read())'`,
	`python3 -c 'import os; r,w=os.pipe(); os.write(w,b"x"); print(os.read(r,1))'`,
	`python3 -c 'import threading,subprocess; threading.Thread(target=subprocess.run,args=(["make"],)).start()'`,
	`python3 -c 'import concurrent.futures as c,subprocess; ` +
		`print(list(c.ThreadPoolExecutor().map(subprocess.check_output,[["git","status"],["ls"]])))'`,
	`python3 -c 'import os,platform; print(platform.system(), os.name)'`,
	`python3 -c 'import timeit; print(timeit.timeit("sum(range(9))",number=9))'`,
	`python3 -c 'import inspect,os; print(inspect.getsource(os.makedirs))'`,
	`python3 -c 'import subprocess; print(subprocess.Popen.__doc__)'`,
	`python3 -c 'from subprocess import run, PIPE; r=run(["ls"],stdout=PIPE); print(r.returncode)'`,
	`python3 -c 'import builtins; print(len(dir(builtins)))'`,
	`python3 -c 'fs={"a":len,"b":print}; fs["b"](fs["a"]("xx"))'`,
	`python3 -c 'def f(x, key=len): return key(x)
print(f("abc"))'`,
	`python3 -c 'import os, shutil
def clean(path, rm=shutil.rmtree):
    rm(path)
clean("build")'`,
	`python3 -c 'import subprocess
def sh(c: str, *, check: bool = True) -> subprocess.CompletedProcess:
    return subprocess.run(c, shell=True, check=check)
sh("git status")'`,
	`python3 -c 'import subprocess
p: subprocess.Popen = subprocess.Popen(["make"])
p.wait()'`,
	`python3 -c 'import subprocess
try:
    subprocess.run(["ls"], check=True)
except subprocess.CalledProcessError as e:
    print(e)'`,
	`python3 -m json.tool a.json`,
	`python3 -m timeit 'sum(range(9))'`,
	`echo '{"a":1}' | python3 -c 'import json,sys; print(json.load(sys.stdin)["a"])'`,
	`node -e 'console.log(require("./package.json").version)'`,
	`node -p 'process.versions.node'`,
	`node -e 'const {execSync}=require("child_process"); console.log(execSync("git rev-parse HEAD").toString().trim())'`,
	`node -e 'const cp=require("child_process"); const run=(c,f=cp.execSync)=>f(c).toString(); console.log(run("git ` +
		`status"))'`,
	`node -e 'const cp=require("child_process"); const run=(c,f=cp.execSync)=>f(c); run("git status")'`,
	`node -e 'const {execFile}=require("child_process"); execFile("git",["status"],(e,o)=>console.log(o))'`,
	`node -e 'const {spawn}=require("child_process"); const p=spawn("npm",["test"],{stdio:"inherit"}); ` +
		`p.on("exit",c=>process.exit(c))'`,
	`node -e 'const util=require("util"),{exec}=require("child_process"); const run=util.promisify(exec); run("git ` +
		`status").then(({stdout})=>console.log(stdout))'`,
	`node -e 'fetch("https://api.example.com/v1").then(r=>r.json()).then(({items:x})=>console.log(x.length))'`,
	`node -e '"a-b".replace(/-(.)/g,(m,c)=>c.toUpperCase())'`,
	`node -e 'const s=[3,1,2].sort((a,b)=>a-b); console.log(s.map(String).join(","))'`,
	`node -e 'import("node:fs").then(({readFileSync:r})=>console.log(r("a.json","utf8")))'`,
	`node -e 'const m=/(\d+)/.exec("a12"); console.log(m[1])'`,
	`node -e 'const fs=require("fs"); const d=JSON.parse(fs.readFileSync("a.json")); d.x=1; ` +
		`console.log(JSON.stringify(d))'`,
	`node -e 'process.stdin.pipe(process.stdout)'`,
	`node -e 'const {a,b:{c},...rest}=require("./x.json"); console.log(a,c,rest)'`,
	`node -e 'const w=new URL("https://example.com/a"); console.log(w.host)'`,
	`ruby -e 'puts RUBY_VERSION'`,
	"ruby -e 'puts `git status`'",
	`ruby -e 'system("git","status") or abort "x"'`,
	`ruby -rjson -e 'puts JSON.parse(STDIN.read)["a"]' < a.json`,
	`ruby -e 'puts [1,2,3].inject(:+); puts %w[a b].map(&:upcase)'`,
	`ruby -e 'def f(a, b = 2) a + b end; puts f(1)'`,
	`ruby -e 'IO.popen("git log -1"){|f| puts f.read}'`,
	`ruby -e 'r,w=IO.pipe; w.puts "a"; w.close; puts r.read'`,
	`ruby -ryaml -e 'puts YAML.load_file("a.yml")["x"]'`,
	`perl -e 'print "$]\n"'`,
	`perl -pe 's/foo/bar/g' a.txt`,
	`perl -ne 'print if /x/' a.txt b.txt`,
	`perl -MJSON -e 'print 1'`,
	`perl -e 'my %h=(system=>1,exec=>2); print $h{system}'`,
	`perl -e 'system("git status") == 0 or die'`,
	`perl -e 'open(my $f,"<","a.txt") or die; while(<$f>){print}'`,
	`perl -e 'open my $p,"|-","sort"; print $p "b\n","a\n"'`,
	`perl -e 'my @f=glob("*.c"); print "@f"'`,
	`perl -e '@ARGV=glob("*.txt"); while(<>){print}'`,
	`php -r 'echo PHP_VERSION;'`,
	`php -r 'echo json_encode(["role"=>"system","content"=>"x"]);'`,
	`php -r '$a=[3,1]; usort($a,fn($x,$y)=>$x-$y); print_r($a);'`,
	`php -r 'echo implode(",",array_map("strtoupper",["a","b"]));'`,
	`php -r 'echo preg_replace_callback("/a/","strtoupper","abc");'`,
	`php -r 'echo shell_exec("git status");'`,
	`php -r 'echo function_exists("system") ? "y" : "n";'`,
	`php -r '$r=["a"=>"x"]["a"]; echo $r;'`,
	`lua -e 'print(_VERSION)'`,
	`lua -e 'print(os.time(), os.getenv("HOME"))'`,
	`lua -e 'for k in pairs(package.loaded) do print(k) end'`,
	`awk '{print $1}' a.txt`,
	`awk 'BEGIN{while(("git log --oneline"|getline l)>0) n++; print n}'`,
	`sed -e 's/a/b/' a.txt`,
	`Rscript -e 'print(R.version.string)'`,
	`Rscript -e 'x <- system("git rev-parse HEAD", intern=TRUE); print(x)'`,
	`julia -e 'println(VERSION)'`,
	`elixir -e 'IO.puts(System.version())'`,
	`vim -es -c '%s/a/b/g' -c wq a.txt`,
	`nvim --headless -c 'lua print(vim.version().minor)' -c q`,
	`emacs --batch --eval '(message "%s" emacs-version)'`,
	`gdb -batch -ex 'bt' -ex 'info threads' ./a.out core`,
	`groovy -e 'println 1+1'`,
	`scala -e 'println(1)'`,
	`deno eval 'console.log(Deno.version.deno)'`,
	`bun -e 'console.log(Bun.version)'`,
	"bun -e 'import {$} from \"bun\"; await $`git status`'",
	`crystal eval 'puts 1'`,
	`ghc -e '1+1'`,
	`ocaml -e 'print_endline "a"'`,
	`jshell <<< '1+1'`,
	`ipython -c '%timeit sum(range(9))'`,
	`ipython -c '!git status'`,
	`ipython -c 'x = 5; print(x % 3)'`,
	`python3 -c 'print("%d items"
 % 3)'`,
}

// Nobody is asked about code that says plainly what it does.
func TestHonestOneLinersPass(t *testing.T) {
	judge := verdicts(t)
	asksEach(t, judge, false, honestCode...)
}
