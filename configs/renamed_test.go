package configs_test

import (
	"os"
	"testing"
)

// A script is judged when it is written, by its name. So an agent wrote notes.txt, which nobody reads as code, and
// gave it to a shell in the next call: nothing was asked. What runs under another name is read now.
func TestScriptsWithOtherNames(t *testing.T) {
	dir := realDir(t)
	const shell = "rm -rf ~/Documents\n"
	for name, text := range map[string]string{
		"notes.txt": shell, "noext": shell, "Dockerfile": "FROM a\nRUN() { \"$@\"; }\nRUN " + shell, "mk.txt": "a:\n\t" + shell,
		"py.txt":  "import os, shutil\nshutil.rmtree(os.path.expanduser('~/Documents'))\n",
		"py.sh":   "import os, shutil\nshutil.rmtree(os.path.expanduser('~/Documents'))\n",
		"js.txt":  "require('fs').rmSync(require('os').homedir() + '/Documents', {recursive: true})\n",
		"rb.txt":  "require 'fileutils'\nFileUtils.rm_rf(File.expand_path('~/Documents'))\n",
		"pl.txt":  "system('rm -rf ~/Documents');\n",
		"ph.txt":  "<?php system('rm -rf ~/Documents');\n",
		"big.txt": shell, "ok.txt": "echo hi\n", "gradlew": "#!/bin/sh\necho hi\n", "data.txt": "a b c\n", "app.py": "#!/usr/bin/env python3\nprint('hi')\n",
		"Dockerfile.x": "#!/bin/bash\n" + shell, "Makefile.x": "#!/bin/bash\n" + shell, "nul.txt": shell + "exit\n\x00",
		".env.a": "A=1 rm -rf ~/Documents\n", ".env.b": "X=rm\n$X -rf ~/Documents\n", ".env.c": "cd ~\nrm -rf Documents\n",
		".env.d": "for i in ~/Documents; do\nrm -rf \"$i\"\ndone\n", ".env.e": "A=<(" + shell + ")\n",
		".env.f": "rm \\\n -rf ~/Documents\n", ".env.g": "source ./notes.txt\n", ".env.h": "A=1; rm -rf ~/Documents\n",
		".env": "A=My App\nK=ab$c(d)e&f\n", ".env.evil": "A=$(" + shell + ")\n", "x.bin": "\x7fELF\x00",
	} {
		put(t, dir, name, text)
	}
	if err := os.Truncate(dir+"/big.txt", 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("notes.txt", dir+"/link.sh"); err != nil {
		t.Fatal(err)
	}
	judge := in(t, dir, map[string]string{"HOME": "/home/ada"})
	asksEach(t, judge, true, "bash notes.txt", "sh ./noext", ". ./notes.txt", "source notes.txt", "bash Dockerfile",
		"python3 py.txt", "python3 py.sh", "make -f mk.txt", "bash link.sh", "node js.txt", "node -r ./js.txt x.js",
		"ruby rb.txt", "perl pl.txt", "php ph.txt", "bash big.txt", "chmod +x notes.txt; ./notes.txt", "nohup bash notes.txt &",
		"env -i bash notes.txt", "timeout 5 sh notes.txt", "parallel bash ::: notes.txt", "sh -c ./noext", ". ./.env.evil", "bash Dockerfile.x", ". ./Dockerfile.x", "bash Makefile.x",
		"bash nul.txt", ". ./.env.a", "source .env.b", ". ./.env.c", ". ./.env.d", ". ./.env.e", ". ./.env.f", ". ./.env.g",
		". ./.env.h", "bash .env.a", "bash n*s.txt", "bash not?s.txt", "for f in *.txt; do bash \"$f\"; done", "cp n*s.txt run.sh",
		"cp notes.txt q; ./q", "cp notes.txt q && bash q", "mkdir d && mv notes.txt d && bash d/notes.txt",
		"chmod +x big.txt; bash big.txt", "cp big.txt run.sh", "bash -c 'source notes.txt'",
		"cp notes.txt run.sh", "mv notes.txt run.sh", "cat notes.txt > run.sh", "tee run.sh < notes.txt", "ln -s notes.txt run.sh",
		"git mv notes.txt run.sh", "rsync notes.txt run.sh", "python3 < py.txt", "cat py.txt | python3",
		`python3 -c "exec(open('py.txt').read())"`, `python3 -c "import runpy; runpy.run_path('py.txt')"`,
		`node -e "eval(require('fs').readFileSync('js.txt', 'utf8'))"`, `node -e "require('./js.txt')"`,
		`ruby -e 'load "rb.txt"'`, `ruby -e 'eval File.read("rb.txt")'`, `perl -e 'do "./pl.txt"'`, `php -r 'include "ph.txt";'`)
	many := ""
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		put(t, dir, name+".log", "echo hi\n")
		many += "bash " + name + ".log; "
	}
	asksEach(t, judge, true, many+"true", many+"bash notes.txt")
	asksEach(t, judge, false, "bash 1.log; bash 2.log", "bash ok.txt", "./gradlew", "./app.py", "source .env && npm start", "bash gradlew", "cp ok.txt run.sh", "bash missing.txt", "./x.bin",
		"cp notes.txt other.txt", "cat notes.txt", "grep rm notes.txt", `python3 -c "print(open('py.txt').read())"`,
		`python3 -c "open('out.py', 'w').write(open('data.txt').read())"`, "python3 -m pytest", "sed s/a/b/ data.txt > data.sh")
}
