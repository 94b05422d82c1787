//go:build unix

package fingerprint

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// A hole is a way by which code ran that was neither bound nor named.
type hole struct {
	command string
	files   string // name=content, separated by "; "; "|" is the end of a line
	swapped string // the file that decides: it is bound
	env     string // NAME=value, separated by spaces
	named   string // instead: a part of the name on the card
}

const gitHead = ".git/HEAD=x; "

var holes = []hole{
	// git: its settings, wherever they are given, and what they name.
	{command: "git -c core.hooksPath=hk push", files: gitHead + "hk/pre-push=x", swapped: "hk/pre-push"},
	{command: "git -c core.hookspath=hk push", files: gitHead + "hk/pre-push=#!/bin/sh|./ci; ci=x", swapped: "ci"},
	{command: "git -c 'alias.x=!./sm' x", files: gitHead + "sm=x", swapped: "sm"},
	{command: "git x", files: ".git/config=[alias]|x = !./sm now; sm=x", swapped: "sm"},
	{command: "git x", files: ".git/config=[alias]|x = \"!f() { ./sm ;};f\"; sm=x", swapped: "sm"},
	{command: "git x", files: ".git/config=[alias]|x = -c core.hooksPath=hk push; hk/pre-push=x", swapped: "hk/pre-push"},
	{command: "GIT_DIR=g git push", files: "g/config=; g/hooks/pre-push=x", swapped: "g/hooks/pre-push"},
	{command: "export GIT_DIR=g; git push", files: "g/config=[core]|hooksPath = hk; hk/pre-push=x",
		swapped: "hk/pre-push"},
	{command: "env GIT_DIR=g git push", files: "g/hooks/pre-push=x", swapped: "g/hooks/pre-push"},
	{command: "git push", env: "GIT_DIR=g", files: "g/hooks/pre-push=x", swapped: "g/hooks/pre-push"},
	{command: "git --git-dir=g push", files: "g/hooks/pre-push=x", swapped: "g/hooks/pre-push"},
	{command: "git --git-dir g --work-tree . push", files: "g/config=[core]|hooksPath=hk; hk/pre-push=x",
		swapped: "hk/pre-push"},
	{command: "git --git-dir=g push", files: "g/config=[a]", swapped: "g/config"},
	{command: "git push", env: "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=hk",
		files: gitHead + "hk/pre-push=x", swapped: "hk/pre-push"},
	{command: "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=./fm git status",
		files: gitHead + "fm=x", swapped: "fm"},
	{command: "git push", env: "GIT_CONFIG_GLOBAL=gc", files: gitHead + "gc=[core]|hooksPath=hk; hk/pre-push=x",
		swapped: "hk/pre-push"},
	{command: "git push", env: "GIT_CONFIG_PARAMETERS='core.hooksPath=hk'", files: gitHead,
		named: "GIT_CONFIG_PARAMETERS"},
	{command: "git --config-env=core.hooksPath=X push", files: gitHead, named: "core.hooksPath"},
	{command: "git -c core.hooksPath=$X push", files: gitHead, named: "core.hookspath"},
	{command: "git push", files: ".git/config=[include]|path = ../inc; inc=[a]", swapped: "inc"},
	{command: "git push", files: ".git/config=[include]|path = ../inc; inc=[core]|hooksPath=hk; hk/pre-push=x",
		swapped: "hk/pre-push"},
	{command: "git push", files: ".git/config=[includeIf \"gitdir:/\"]|path = ~/inc; inc=[core]|hooksPath=hk; " +
		"hk/pre-push=x", swapped: "hk/pre-push"},
	{command: "git push", files: ".git/config=[core] hooksPath = hk ; comment; hk/pre-push=x", swapped: "hk/pre-push"},
	{command: "git push", files: ".git/config=[core]|hooks\\|Path = hk; hk/pre-push=x", named: "what .git/config names"},
	{command: "git push", files: ".git/config=[core]|hooksPath = \"h\\\\x\"; h\\x/pre-push=x", swapped: "h\\x/pre-push"},
	{command: "git add .", files: ".git/config=[filter \"f\"]|clean = ./clean %f; clean=x", swapped: "clean"},
	{command: "git checkout x", files: ".git/config=[filter \"f\"]|smudge = sh smudge; smudge=x", swapped: "smudge"},
	{command: "git checkout x", files: ".git/config=[filter \"f\"]|process = ./pr; pr=x", swapped: "pr"},
	{command: "git checkout x", files: gitHead + ".gitattributes=a filter=f", swapped: ".gitattributes"},
	{command: "git checkout x", files: gitHead + ".git/info/attributes=a filter=f", swapped: ".git/info/attributes"},
	{command: "git status", files: ".git/config=[core]|fsmonitor = ./fm; fm=x", swapped: "fm"},
	{command: "git fetch", files: ".git/config=[core]|sshCommand = ./ssh -v; ssh=x", swapped: "ssh"},
	{command: "git diff", files: ".git/config=[diff]|external = ./d; d=x", swapped: "d"},
	{command: "git diff", files: ".git/config=[diff \"x\"]|textconv = ./d; d=x", swapped: "d"},
	{command: "git push", files: ".git/config=[credential]|helper = %/h; h=x", swapped: "h"},
	{command: "git push", files: ".git/config=[credential \"https://x\"]|helper = !./h; h=x", swapped: "h"},
	{command: "git push", files: ".git/config=[credential]|helper = mine; bin/git-credential-mine=x",
		swapped: "bin/git-credential-mine"},
	{command: "git commit -S", files: ".git/config=[gpg]|program = ./g; g=x", swapped: "g"},
	{command: "git merge x", files: ".git/config=[merge \"m\"]|driver = ./m %O; m=x", swapped: "m"},
	{command: "git commit", files: ".git/config=[core]|editor = ./ed; ed=x", swapped: "ed"},
	{command: "git push o x", files: ".git/config=[remote \"o\"]|url = ext::./t x; t=x", swapped: "t"},
	{command: "git push o x", files: ".git/config=[remote \"o\"]|url = mine::x; bin/git-remote-mine=x",
		swapped: "bin/git-remote-mine"},
	{command: "git push o x", files: ".git/config=[remote \"o\"]|receivepack = ./rp; rp=x", swapped: "rp"},
	{command: "git commit", env: "EDITOR=./ed", files: gitHead + "ed=x", swapped: "ed"},
	{command: "git commit", env: "EDITOR=ed", files: gitHead + "bin/ed=x", swapped: "bin/ed"},
	{command: "git rebase -i x", env: "GIT_SEQUENCE_EDITOR=./ed", files: gitHead + "ed=x", swapped: "ed"},
	{command: "git fetch", env: "GIT_SSH_COMMAND=./s -v", files: gitHead + "s=x", swapped: "s"},
	{command: "git foo", env: "GIT_EXEC_PATH=ex", files: gitHead + "ex/git-foo=x", swapped: "ex/git-foo"},
	{command: "git foo", files: gitHead + "bin/git-foo=x", swapped: "bin/git-foo"},
	{command: "git commit -m x", files: gitHead + ".git/hooks/pre-commit=#!/bin/sh|exec ./ci; ci=x", swapped: "ci"},
	{command: "git merge x", files: gitHead + ".git/hooks/post-merge=#!/bin/sh|./ci; ci=x", swapped: "ci"},
	{command: "git rebase x", files: gitHead + ".git/hooks/pre-rebase=#!/bin/sh|./ci; ci=x", swapped: "ci"},
	{command: "git checkout x", files: gitHead + ".git/hooks/post-checkout=#!/bin/sh|./ci; ci=x", swapped: "ci"},
	{command: "git push", files: gitHead + ".git/hooks/pre-push=#!/bin/sh|npm test; " +
		"package.json={\"scripts\":{\"test\":\"./ci\"}}; ci=x", swapped: "ci"},
	{command: "git am x", files: gitHead + ".git/hooks/applypatch-msg=x", swapped: ".git/hooks/applypatch-msg"},
	{command: "git gc", files: gitHead + ".git/hooks/pre-auto-gc=x", swapped: ".git/hooks/pre-auto-gc"},
	{command: "git fetch", files: gitHead + ".git/hooks/reference-transaction=#!/bin/sh|./ci; ci=x", swapped: "ci"},
	{command: "git reset --hard", files: gitHead + ".git/hooks/post-index-change=x",
		swapped: ".git/hooks/post-index-change"},
	{command: "git commit -m x", files: gitHead + ".husky/pre-commit=sh ./ci; ci=x", swapped: "ci"},
	{command: "cd bare && git push", files: "bare/HEAD=x; bare/config=; bare/hooks/pre-push=x",
		swapped: "bare/hooks/pre-push"},
	// git: further places.
	{env: "HOME=/nonexistent", command: "cd sub && git -c core.hooksPath=hk commit -m y",
		files: gitHead + "sub/x=; hk/pre-commit=x", swapped: "hk/pre-commit"},
	{env: "HOME=/nonexistent", command: "cd sub && git -c core.fsmonitor=./fm status", files: gitHead + "sub/x=; fm=x",
		swapped: "fm"},
	{command: "git -C sub -c core.hooksPath=hk commit", files: gitHead + "sub/x=; hk/pre-commit=x",
		swapped: "hk/pre-commit"},
	{command: "git submodule foreach 'sh ./c'", files: gitHead + ".gitmodules=[submodule \"s\"]|path = s; s/c=x",
		swapped: "s/c"},
	{command: "git submodule foreach --recursive sh ./c", files: gitHead + ".gitmodules=[submodule \"s\"]|path = s; s/c=x",
		swapped: "s/c"},
	{command: "git submodule update", files: gitHead +
		".gitmodules=[submodule \"s\"]|path = s; .git/modules/s/hooks/post-checkout=x",
		swapped: ".git/modules/s/hooks/post-checkout"},
	{command: "git submodule update", files: gitHead +
		".gitmodules=[submodule \"n\"]|path = s; .git/modules/n/hooks/post-checkout=x",
		swapped: ".git/modules/n/hooks/post-checkout"},
	{command: "git status", files: gitHead +
		".gitmodules=[submodule \"s\"]|path = s; s/.git=gitdir: ../.git/modules/s; .git/modules/s/config=[core]|fsmonitor " +
		"= ./fm; s/fm=x", swapped: "s/fm"},
	{command: "git push origin main", files: ".git/config=[remote \"origin\"]|url = r.git; r.git/objects/x=; " +
		"r.git/hooks/post-receive=x", swapped: "r.git/hooks/post-receive"},
	{command: "git push origin main", files: ".git/config=[remote \"origin\"]|url = file://%/r.git; r.git/objects/x=; " +
		"r.git/hooks/post-receive=#!/bin/sh|./t; r.git/t=x", swapped: "r.git/t"},
	{command: "git push ./r main", files: gitHead + "r/.git/objects/x=; r/.git/hooks/update=x",
		swapped: "r/.git/hooks/update"},
	{command: "git push r main", files: gitHead +
		"r.git/objects/x=; r.git/config=[core]|hooksPath = %/hk; hk/post-update=x", swapped: "hk/post-update"},
	{command: "git push x:y", files: ".git/config=[url \"%/r\"]|insteadOf = x:; r/objects/x=; r/hooks/update=x",
		swapped: "r/hooks/update"},
	{command: "git push foo", files: gitHead + ".git/remotes/foo=URL: a", swapped: ".git/remotes/foo"},
	{command: "git push foo", files: gitHead + ".git/remotes/foo=URL: %/r; r/objects/x=; r/hooks/update=x",
		swapped: "r/hooks/update"},
	{command: "git push foo", files: gitHead + ".git/branches/foo=%/r#main; r/objects/x=; r/hooks/post-update=x",
		swapped: "r/hooks/post-update"},
	{command: "git rebase --continue", files: gitHead + ".git/rebase-merge/git-rebase-todo=pick a|exec sh ./t; t=x",
		swapped: "t"},
	{command: "git rebase -x 'sh ./t' main", files: gitHead + "t=x", swapped: "t"},
	{command: "git rebase --exec='./t' main", files: gitHead + "t=x", swapped: "t"},
	{command: "git bisect run ./t", files: gitHead + "t=x", swapped: "t"},
	{command: "git push --receive-pack=./t o", files: gitHead + "t=x", swapped: "t"},
	{command: "git fetch --upload-pack ./t o", files: gitHead + "t=x", swapped: "t"},
	{command: "git filter-branch --tree-filter 'sh ./t'", files: gitHead + "t=x", swapped: "t"},
	{command: "git difftool --extcmd=./t", files: gitHead + "t=x", swapped: "t"},
	{command: "HOME=%/h2 git push", files: gitHead + "h2/.gitconfig=[a]", swapped: "h2/.gitconfig"},
	{command: "HOME=%/h2 git push", files: gitHead + "h2/.gitconfig=[core]|hooksPath = %/hk; hk/pre-push=x",
		swapped: "hk/pre-push"},
	{command: "export HOME=%/h2; git push", files: gitHead + "h2/.config/git/config=[a]",
		swapped: "h2/.config/git/config"},
	{command: "XDG_CONFIG_HOME=%/xdg git push", files: gitHead + "xdg/git/config=[core]|hooksPath = %/hk; hk/pre-push=x",
		swapped: "hk/pre-push"},
	{command: "git push", env: "XDG_CONFIG_HOME=xdg", files: gitHead + "xdg/git/config=[a]", swapped: "xdg/git/config"},
	{command: "git clone --template=tpl r y", files: "tpl/hooks/post-checkout=x", swapped: "tpl/hooks/post-checkout"},
	{command: "git init --template tpl y", files: "tpl/config=x", swapped: "tpl/config"},
	{command: "git clone r y", env: "GIT_TEMPLATE_DIR=tpl", files: "tpl/hooks/post-checkout=x",
		swapped: "tpl/hooks/post-checkout"},
	{command: "git clone -c core.fsmonitor=./fm r y", files: "fm=x", swapped: "fm"},
	{command: "git add sub/a", files: ".git/config=[filter \"x\"]|clean = ./c; c=x; sub/.gitattributes=x",
		swapped: "sub/.gitattributes"},
	{command: "git commit -am x", files: ".git/config=[filter \"x\"]|clean = sh c; c=x; sub/.gitattributes=x",
		swapped: "sub/.gitattributes"},
	// What scripts give to shells and to tools that do what files say.
	{command: "./t", files: "t=#!/bin/sh|bash < r; r=x", swapped: "r"},
	{command: "./t", files: "t=#!/bin/sh|sh -s a < r; r=x", swapped: "r"},
	{command: "./t", files: "t=#!/bin/bash|HERE=$(dirname \"$(readlink -f \"$0\")\")|\"$HERE/x\"; x=x", swapped: "x"},
	{command: "d/t", files: "d/t=#!/bin/bash|HERE=$(cd \"$(dirname \"$0\")\" && pwd)|\"$HERE/x\"; d/x=x", swapped: "d/x"},
	{command: "d/t", files: "d/t=#!/bin/bash|H=\"$( cd -- \"$(dirname -- \"${BASH_SOURCE[0]}\")\" >/dev/null 2>&1 && " +
		"pwd -P )\"|$H/x; d/x=x", swapped: "d/x"},
	{command: "d/t", files: "d/t=#!/bin/bash|H=$(dirname $(realpath $0))|. $H/x; d/x=x", swapped: "d/x"},
	{command: "d/t", files: "d/t=#!/bin/bash|H=$(realpath \"$(dirname \"$0\")\")|. \"$H\"/x; d/x=x", swapped: "d/x"},
	{command: "d/t", files: "d/t=#!/bin/bash|H=$(cd \"$(dirname \"$0\")/..\" && pwd)|$H/x; x=x", swapped: "x"},
	{command: "./t", files: "t=#!/bin/sh|kubectl apply -f k.yaml; k.yaml=x", swapped: "k.yaml"},
	{command: "./t", files: "t=#!/bin/sh|helm upgrade x ./c -f vals; c/a=x; vals=x", swapped: "vals"},
	{command: "./t", files: "t=#!/bin/sh|terraform apply -var-file=p.vars; main.tf=x; p.vars=x", swapped: "p.vars"},
	{command: "./t", files: "t=#!/bin/sh|ansible-playbook -i inv site.yml; site.yml=x; inv=x", swapped: "inv"},
	{command: "./t", files: "t=#!/bin/sh|psql < m.sql; m.sql=x", swapped: "m.sql"},
	{command: "./t", files: "t=#!/bin/sh|mysql db < m.sql; m.sql=x", swapped: "m.sql"},
	{command: "./t", files: "t=#!/bin/sh|sqlite3 a.db < m.sql; m.sql=x", swapped: "m.sql"},
	{command: "./t", files: "t=#!/bin/sh|aws iam put-role-policy --policy-document file://p.json; p.json=x",
		swapped: "p.json"},
	// First lines of scripts.
	{command: "./t", files: "t=#!./tools/py|x; tools/py=x", swapped: "tools/py"},
	{command: "./t", files: "t=#! ./tools/py -u|x; tools/py=#!/bin/sh|./deep; deep=x", swapped: "deep"},
	{command: "./t", files: "t=#!%/tools/py|x; tools/py=x", swapped: "tools/py"},
	{command: "./t", files: "t=#!/usr/bin/env mine|x; bin/mine=x", swapped: "bin/mine"},
	{command: "./t", files: "t=#!/usr/bin/env -S mine -x|x; bin/mine=x", swapped: "bin/mine"},
	{command: "./t", files: "t=#!/usr/bin/env ./mine|x; mine=x", swapped: "mine"},
	{command: "./t", files: "t=#!/usr/bin/node --require=./h.js|x; h.js=x", swapped: "h.js"},
	{command: "make", files: "Makefile=all:|\t./t; t=#!./py|; py=x", swapped: "py"},
	// Interpreters.
	{command: "java -cp out Main", files: "out/Main.class=x", swapped: "out/Main.class"},
	{command: "java -cp out:lib.jar Main", files: "out/Main.class=x; lib.jar=x", swapped: "lib.jar"},
	{command: "java -cp 'lib/*' Main", files: "lib/a.jar=x", swapped: "lib/a.jar"},
	{command: "java -classpath out/ a.Main", files: "out/a/Main.class=x", swapped: "out/a/Main.class"},
	{command: "java --class-path=out Main", files: "out/Main.class=x", swapped: "out/Main.class"},
	{command: "java Main", files: "Main.class=x", swapped: "Main.class"},
	{command: "java -jar app.jar", files: "app.jar=x", swapped: "app.jar"},
	{command: "java @args", files: "args=-cp out Main; out/Main.class=x", swapped: "out/Main.class"},
	{command: "java -javaagent:ag.jar=x -jar app.jar", files: "ag.jar=x; app.jar=x", swapped: "ag.jar"},
	{command: "CLASSPATH=out java Main", files: "out/Main.class=x", swapped: "out/Main.class"},
	{command: "java -jar app.jar", env: "JAVA_TOOL_OPTIONS=-javaagent:ag.jar", files: "ag.jar=x; app.jar=x",
		swapped: "ag.jar"},
	{command: "java -cp elsewhere Main", named: "what java -cp elsewhere Main runs"},
	{command: "java -cp out Main data.txt", files: "data.txt=x", named: "what java"},
	{command: "node app", files: "app.js=x", swapped: "app.js"},
	{command: "node app", files: "app/package.json={\"main\":\"lib/run\"}; app/lib/run.js=x", swapped: "app/lib/run.js"},
	{command: "node app", files: "app/index.js=x", swapped: "app/index.js"},
	{command: "node app --x data.txt", files: "data.txt=x", named: "what node app"},
	{command: "node -r ./b app.js", files: "b.js=x; app.js=x", swapped: "b.js"},
	{command: "node --require ./b app.js", files: "b.cjs=x; app.js=x", swapped: "b.cjs"},
	{command: "node --import=./b.mjs -e 1", files: "b.mjs=x", swapped: "b.mjs"},
	{command: "node -r hook app.js", files: "node_modules/hook/package.json={\"main\":\"i.js\"}; " +
		"node_modules/hook/i.js=x; app.js=x", swapped: "node_modules/hook/i.js"},
	{command: "node -r gone app.js", files: "app.js=x", named: "the module gone"},
	{command: "node app.js", env: "NODE_OPTIONS=--require\u00a0./h", files: "app.js=x; h.js=x", swapped: "h.js"},
	{command: "NODE_OPTIONS='-r ./h' node app.js", files: "app.js=x; h.js=x", swapped: "h.js"},
	{command: "export NODE_OPTIONS=--require=./h && npm test",
		files: "package.json={\"scripts\":{\"test\":\"jest\"}}; h.js=x", swapped: "h.js"},
	{command: ". ./e && node app.js", files: "e=export NODE_OPTIONS=\"-r ./h\"; app.js=x; h.js=x", swapped: "h.js"},
	{command: "node app.js", env: "NODE_PATH=nm", files: "app.js=x; nm/x.js=x", swapped: "nm/x.js"},
	{command: "ruby -r./h -e 1", files: "h.rb=x", swapped: "h.rb"},
	{command: "ruby -Ilib -rh x.rb", files: "lib/h.rb=x; x.rb=x", swapped: "lib/h.rb"},
	{command: "ruby -I lib -r h -e 1", files: "lib/h.rb=x", swapped: "lib/h.rb"},
	{command: "ruby x.rb", env: "RUBYOPT=-r./h", files: "h.rb=x; x.rb=x", swapped: "h.rb"},
	{command: "ruby x.rb", env: "RUBYLIB=lib", files: "lib/h.rb=x; x.rb=x", swapped: "lib/h.rb"},
	{command: "perl -Ilib -MX -e 1", files: "lib/X.pm=x", swapped: "lib/X.pm"},
	{command: "perl -I lib -MA::B=c -e 1", files: "lib/A/B.pm=x", swapped: "lib/A/B.pm"},
	{command: "perl -Ilib -mX -lne print", files: "lib/X.pm=x", swapped: "lib/X.pm"},
	{command: "perl -MGone -e 1", named: "the module Gone"},
	{command: "perl x.pl", env: "PERL5OPT=-Mh PERL5LIB=lib", files: "lib/h.pm=x; x.pl=x", swapped: "lib/h.pm"},
	{command: "python3 -m pkg", files: "pkg/__main__.py=x", swapped: "pkg/__main__.py"},
	{command: "python3 -m json.tool x.json", files: "json.py=x; x.json=x", swapped: "json.py"},
	{command: "python3 -m pytest", files: "pytest.py=x", swapped: "pytest.py"},
	{command: "python3 x.py", env: "PYTHONPATH=lib", files: "x.py=x; lib/json.py=x", swapped: "lib/json.py"},
	{command: "PYTHONPATH=lib:other pytest", files: "test_x.py=x; other/json.py=x", swapped: "other/json.py"},
	{command: "python3 x.py", env: "PYTHONSTARTUP=~/s", files: "x.py=x; s=x", swapped: "s"},
	{command: "python3 nothing.py", named: "what python3 nothing.py runs"},
	{command: "make x", env: "BASH_ENV=$HOME/be", files: "Makefile=x:|\ttrue; be=x", swapped: "be"},
	{command: "lua -l h x.lua", files: "h.lua=x; x.lua=x", swapped: "h.lua"},
	{command: "php nothing", named: "what php nothing runs"},
	{command: "deno run gone.ts", named: "what deno run gone.ts runs"},
	{command: "Rscript gone.R", named: "what Rscript gone.R runs"},
	// Files that variables name.
	{command: "cargo build", env: "RUSTC_WRAPPER=./w", files: "Cargo.toml=x; w=x", swapped: "w"},
	{command: "make", env: "CC=./cc", files: "Makefile=all:|\ttrue; cc=x", swapped: "cc"},
	{command: "CC=./cc make", files: "Makefile=all:|\ttrue; cc=x", swapped: "cc"},
	{command: "make CC=./cc", files: "Makefile=all:|\t$(CC) x; cc=x", swapped: "cc"},
	{command: "go build .", env: "GOFLAGS=-toolexec=./te", files: "go.mod=module m; main.go=package main; te=x",
		swapped: "te"},
	{command: "crontab -e", env: "VISUAL=./ed", files: "ed=x", swapped: "ed"},
	{command: "ls", env: "LD_PRELOAD=./x.so", files: "x.so=x", swapped: "x.so"},
	{command: "aws s3 ls", env: "AWS_CONFIG_FILE=ac", files: "ac=x", swapped: "ac"},
	{command: "docker compose up", env: "COMPOSE_FILE=c", files: "compose.yaml=a; c=x", swapped: "c"},
	{command: "terraform apply", env: "TF_CLI_ARGS_apply=-var-file=v", files: "main.tf=x; v=x", swapped: "v"},
	{command: "psql", env: "PSQLRC=rc", files: "rc=x", swapped: "rc"},
	{command: "rsync a h:b", env: "RSYNC_RSH=./r", files: "r=#!/bin/sh|./deep; deep=x", swapped: "deep"},
	// Go.
	{command: "go run .", files: "go.mod=module m|replace z => ./z; main.go=package main|import _ \"z\"; " +
		"z/go.mod=module z; z/z.go=package z", swapped: "z/z.go"},
	{command: "go run .", files: "go.mod=module m|replace (|z v1.0.0 => ./z|); main.go=package main|import _ \"z/sub\"; " +
		"z/sub/z.go=package z", swapped: "z/sub/z.go"},
	{command: "go run ./a", files: "go.work=use ./a|use ./b; a/go.mod=module a; a/main.go=package main|import _ \"b\"; " +
		"b/go.mod=module b; b/b.go=package b", swapped: "b/b.go"},
	{command: "go generate ./...", files: "go.mod=module m; x.go=package x|//go:generate sh gen; gen=x", swapped: "gen"},
	{command: "go run .", files: "go.mod=module m; main.go=package main|//go:embed page.txt; page.txt=x",
		swapped: "page.txt"},
	{command: "go build .", files: "go.mod=module m; main.go=package main; x.cc=x", swapped: "x.cc"},
	{command: "go run gone.go", files: "go.mod=module m", named: "what go run gone.go runs"},
	// npm and its like.
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"npm run b\",\"b\":\"sh t\"}}; t=x", swapped: "t"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"true\",\"prea\":\"./t\"}}; t=x", swapped: "t"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"true\",\"posta\":\"./t\"}}; t=x", swapped: "t"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"npm-run-all b c\",\"c\":\"./t\"}}; t=x",
		swapped: "t"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"run-s 'b:*'\",\"b:x\":\"./t\"}}; t=x", swapped: "t"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"run-p \\\"b --fix\\\" c\",\"b\":\"./t\"}}; t=x",
		swapped: "t"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"concurrently npm:b\",\"b\":\"./t\"}}; t=x",
		swapped: "t"},
	{command: "npm run a", files: "package.json={\"scripts\":{\"a\":\"yarn b\",\"b\":\"./t\"}}; t=x", swapped: "t"},
	{command: "yarn b", files: "package.json={\"scripts\":{\"b\":\"./t\"}}; t=x", swapped: "t"},
	{command: "node --run b", files: "package.json={\"scripts\":{\"b\":\"./t\"}}; t=x", swapped: "t"},
	{command: "npm -w pk run b", files: "package.json={\"workspaces\":[\"pk\"]}; " +
		"pk/package.json={\"scripts\":{\"b\":\"./t\"}}; pk/t=x", swapped: "pk/t"},
	{command: "npm run b --workspaces", files: "package.json={\"workspaces\":[\"p/*\"]}; " +
		"p/k/package.json={\"scripts\":{\"b\":\"./t\"}}; p/k/t=x", swapped: "p/k/t"},
	{command: "pnpm -r run b", files: "package.json={}; pnpm-workspace.yaml=packages:|  - 'p/*'; " +
		"p/k/package.json={\"scripts\":{\"b\":\"./t\"}}; p/k/t=x", swapped: "p/k/t"},
	{command: "npm run b", files: ".npmrc=script-shell=./sh.sh; package.json={\"scripts\":{\"b\":\"true\"}}; sh.sh=x",
		swapped: "sh.sh"},
	// Infrastructure.
	{command: "terraform apply", files: "main.tf=x = file(\"${path.module}/s\"); s=x", swapped: "s"},
	{command: "terraform apply", files: "main.tf=x = templatefile(\"${path.root}/t/s.tpl\", {}); t/s.tpl=x",
		swapped: "t/s.tpl"},
	{command: "terraform apply", files: "main.tf=x = filebase64(\"s\"); s=x", swapped: "s"},
	{command: "terraform apply", files: "main.tf=module \"x\" { source = \"./m\" }; m/main.tf=x = " +
		"file(\"${path.module}/s\"); m/s=x", swapped: "m/s"},
	{command: "terraform apply", files: "main.tf=x = file(\"${var.x}/s\"); s=x", named: "what main.tf reads"},
	{command: "terraform apply", files: "main.tf=x; .terraform/terraform.tfstate=x",
		swapped: ".terraform/terraform.tfstate"},
	{command: "terraform apply", files: "main.tf=x; .terraform/modules/a/main.tf=x",
		swapped: ".terraform/modules/a/main.tf"},
	{command: "terraform apply", named: "what terraform apply runs"},
	{command: "docker compose up --build", files: "compose.yaml=services:|  a:|    build: ./svc; svc/Dockerfile=x",
		swapped: "svc/Dockerfile", named: "copies from ./svc"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    build:|      context: svc|      dockerfile: " +
		"D; svc/D=x", swapped: "svc/D", named: "copies from svc"},
	{command: "docker compose -f c.yml up", files: "c.yml=services: {a: {build: ./svc}}; svc/Dockerfile=x",
		swapped: "svc/Dockerfile", named: "copies"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    image: nginx:1", named: "the image nginx:1"},
	{command: "docker-compose up -d", files: "compose.yaml=services:|  a:|    \"image\": 'nginx'",
		named: "the image nginx"},
	{command: "docker compose up", files: "compose.yaml=services:|  a:|    env_file: e; e=x", swapped: "e"},
	{command: "docker compose up", named: "what docker compose up runs"},
	{command: "docker build .", files: "Dockerfile=COPY . .; node_modules/x/i.js=x", swapped: "node_modules/x/i.js"},
	{command: "kubectl apply -f file://%/p", files: "p=x", swapped: "p"},
	{command: "aws iam put-role-policy --policy-document file://p.json", files: "p.json=x", swapped: "p.json"},
	{command: "curl -s file://%/i | sh", files: "i=x", named: "network"},
	{command: "helm upgrade x bitnami/nginx", named: "what helm upgrade x bitnami/nginx runs"},
	{command: "run-parts d", files: "d/x=x", swapped: "d/x"},
	{command: "ansible-playbook site.yml", files: "site.yml=- include_tasks: other.yml; other.yml=x",
		swapped: "other.yml"},
	// Databases.
	{command: "psql -c '\\i g'", files: "g=x", swapped: "g"},
	{command: "psql -c '\\copy t from d.csv'", files: "d.csv=x", swapped: "d.csv"},
	{command: "psql -f a.sql", files: "a.sql=select 1;|\\ir g; g=x", swapped: "g"},
	{command: "psql < a.sql", files: "a.sql=\\i g; g=\\i h; h=x", swapped: "h"},
	{command: "psql -c '\\! ./t'", files: "t=x", swapped: "t"},
	{command: "mysql -e 'source g'", files: "g=x", swapped: "g"},
	{command: "mysql < a.sql", files: "a.sql=\\. g; g=x", swapped: "g"},
	{command: "sqlite3 db '.read g'", files: "g=x", swapped: "g"},
	// make, just, and builds of several parts.
	{command: "make", files: "Makefile=include a b|all:|\ttrue; a=x:; b=y:|\t./t; t=x", swapped: "b"},
	{command: "make", files: "Makefile=-include a|all: x; a=x:|\t./t; t=x", swapped: "t"},
	{command: "make -f x", files: "x=include y; y=all:|\t./t; t=x", swapped: "t"},
	{command: "make --file=x", files: "x=all:|\t./t; t=x", swapped: "t"},
	{command: "make", named: "what make runs"},
	{command: "make", files: "Makefile=-include *.d|all:|\ttrue; a.d=all:|\t./t; t=x", swapped: "t"},
	{command: "make", files: "Makefile=-include *.d|all:|\ttrue|deploy:|\t./t; a.d=a.o: deploy", swapped: "a.d"},
	{command: "make", files: "Makefile=-include *.d|all:|\ttrue; a.d=X := $(shell ./t)", swapped: "a.d"},
	{command: "make", files: "Makefile=-include *.d|all:|\ttrue|x.h:|\t./t; a.d=a.o: x.h", swapped: "a.d"},
	{command: "make", files: "Makefile=-include *.d|all:|\ttrue|%.h: %.y|\t./t; a.d=a.o: x.h", swapped: "a.d"},
	// What a makefile says beside its recipes.
	{command: "make", files: "Makefile=.DEFAULT_GOAL := z|a:|\techo|z:|\tsh q; q=x", swapped: "q"},
	{command: "make", files: "Makefile=.DEFAULT_GOAL = $(G)|G = z|a:|\techo|z:|\tsh q; q=x", swapped: "q"},
	{command: "make", files: "Makefile=.DEFAULT_GOAL := $(X)|a:|\techo|z:|\tsh q; q=x", swapped: "q"},
	{command: "make x", files: "Makefile=.ONESHELL:|x:|\tcd d|\tsh q; d/q=x", swapped: "d/q"},
	{command: "make x", files: "Makefile=V:=$(shell sh v)|x:|\techo $(V); v=x", swapped: "v"},
	{command: "make x", files: "Makefile=V=${shell sh v}|x:|\techo $(V); v=x", swapped: "v"},
	{command: "make x", files: "Makefile=V != sh v|x:|\techo $(V); v=x", swapped: "v"},
	{command: "make x", files: "Makefile=x:|\techo $(shell sh v); v=x", swapped: "v"},
	{command: "make x", files: "Makefile=x: $(shell cat v)|\techo; v=x", swapped: "v"},
	{command: "make x", files: "Makefile=V:=$(strip $(shell cat v))|x:|\techo $(V); v=x", swapped: "v"},
	{command: "make x", files: "Makefile=V:=$(shell cat $(F))|F = v|x:|\techo $(V); v=x", swapped: "v"},
	{command: "make x", files: "Makefile=C:=$(shell head conf)|x:|\techo $(C); conf=x", swapped: "conf"},
	{command: "make x", files: "Makefile=ifeq ($(shell cat v),y)|x:|\ttrue|endif; v=x", swapped: "v"},
	{command: "make x", files: "Makefile=ifneq ($(wildcard flag),)|x:|\ttrue|endif; flag=x", swapped: "flag"},
	{command: "make x", files: "Makefile=F := $(wildcard flag)|ifdef F|x:|\ttrue|endif; flag=x", swapped: "flag"},
	{command: "make x", files: "Makefile=ifneq ($(wildcard $(F)),)|x:|\ttrue|endif", named: "what Makefile asks for"},
	{command: "make all", files: "Makefile=SUB=a|all: $(SUB)|$(SUB):|\t$(MAKE) -C $@; a/Makefile=x:|\t./t; a/t=x",
		swapped: "a/t"},
	{command: "make all", files: "Makefile=SUB=a|all: $(SUB)|$(SUB):;$(MAKE) -C $@; a/Makefile=x:|\ttrue",
		swapped: "a/Makefile"},
	{command: "make all", files: "Makefile=all: q|\tsh $<; q=x", swapped: "q"},
	{command: "make all", files: "Makefile=all:|\t$(MAKE) -C $(X)", named: "make -C"},
	{command: "make -I inc x", files: "Makefile=include cfg|x:|\ttrue; inc/cfg=V=a", swapped: "inc/cfg"},
	{command: "make", files: "Makefile=.RECIPEPREFIX = >|x:|>sh q; q=x", named: "what Makefile runs"},
	{command: "make", files: "Makefile=.SHELLFLAGS := -c \". ./pre;\"|x:|\ttrue; pre=x", named: "what Makefile runs"},
	{command: "make", files: "Makefile=SHELL = foo|x:|\ttrue; bin/foo=x", swapped: "bin/foo", named: "what Makefile runs"},
	{command: "make", files: "Makefile=SHELL = ./bash|x:|\ttrue; bash=x", swapped: "bash"},
	{command: "make SHELL=./sh", files: "Makefile=x:|\ttrue; sh=x", swapped: "sh"},
	{command: "make", files: "Makefile=SHELL := python3|x:|\tprint(1)", named: "what Makefile runs"},
	{command: "make", files: "Makefile=SHELL := $(X)|x:|\ttrue", named: "what Makefile runs"},
	{command: "make", files: "Makefile=SHELL := /bin/bash|export BASH_ENV := ./pre|x:|\ttrue; pre=x", swapped: "pre"},
	{command: "make", files: "Makefile=BASH_ENV = ./pre|export BASH_ENV|x:|\ttrue; pre=x", swapped: "pre"},
	{command: "make", files: "Makefile=BASH_ENV = ./pre|export|x:|\ttrue; pre=x", swapped: "pre"},
	{command: "make", files: "Makefile=BASH_ENV = ./pre|.EXPORT_ALL_VARIABLES:|x:|\ttrue; pre=x", swapped: "pre"},
	{command: "make", files: "Makefile=export NODE_OPTIONS = $(X)|x:|\ttrue", named: "what Makefile runs"},
	{command: "make", files: "Makefile=export PATH := $(CURDIR)/tools:$(PATH)|x:|\tq; tools/q=x", swapped: "tools/q"},
	{command: "make", files: "Makefile=$(eval $(call t,x))|x:|\ttrue", named: "what Makefile runs"},
	{command: "make", files: "Makefile=load ./x.so|x:|\ttrue", named: "what Makefile runs"},
	{command: "make", files: "Makefile=.SECONDEXPANSION:|x:|\ttrue", named: "what Makefile runs"},
	{command: "make", files: "Makefile=.NEWTHING:|x:|\ttrue", named: "what Makefile runs"},
	{command: "make", files: "Makefile=MAKEFLAGS += --eval=x|x:|\ttrue", named: "what Makefile runs"},
	{command: "make", files: "Makefile=MAKEFILES = q|x:|\ttrue", named: "what Makefile runs"},
	{command: "just a", files: "justfile=v := `sh q`|a:|\ttrue; q=x", swapped: "q"},
	{command: "just a", files: "justfile=mod x|a:|\ttrue", named: "what justfile runs"},
	{command: "just a", files: "justfile=set shell := [\"foo\", \"-c\"]|a:|\ttrue", named: "what justfile runs"},
	{command: "just a", files: "justfile=import 'x.just'; x.just=a:|\t./t; t=x", swapped: "t"},
	{command: "just -f j a", files: "j=a:|\t./t; t=x", swapped: "t"},
	{command: "./gradlew build", files: "gradlew=#!/bin/sh; gradle/wrapper/gradle-wrapper.properties=x",
		swapped: "gradle/wrapper/gradle-wrapper.properties"},
	{command: "gradle build", files: "settings.gradle=include ':app:core'; app/core/build.gradle=x",
		swapped: "app/core/build.gradle"},
	{command: "./mvnw deploy", files: "mvnw=#!/bin/sh; pom.xml=x; .mvn/wrapper/maven-wrapper.properties=x",
		swapped: ".mvn/wrapper/maven-wrapper.properties"},
	{command: "mvn deploy", files: "pom.xml=<module>core</module>; core/pom.xml=x", swapped: "core/pom.xml"},
	{command: "cargo build", files: "Cargo.toml=x = { path = \"dep\" }; dep/src/lib.rs=x", swapped: "dep/src/lib.rs"},
	{command: "cmake --build gone", named: "what cmake --build gone runs"},
}

func (h *hole) lay(p *playground) {
	for file := range strings.SplitSeq(h.files, "; ") {
		if name, text, ok := strings.Cut(file, "="); ok {
			p.write(name, strings.NewReplacer("|", "\n", "%/", p.dir+"/").Replace(text))
			if err := os.Chmod(p.path(name), 0o755); err != nil {
				p.Fatal(err)
			}
		}
	}
}

// The story: a reviewer swapped, behind the card, the hook that git -c named, the program
// on the first line of a script, the classes of java -cp, the module of node -r, and the
// file that a query included. Each ran, and no card had said that it was not bound. Now
// each is bound, or it has a name on the card.
func TestWhatLoadsCodeIsBoundOrNamed(t *testing.T) { holesAreClosed(t, holes) }

func holesAreClosed(t *testing.T, holes []hole) {
	for _, h := range holes {
		t.Run(plainName(h.command+" "+h.swapped+h.named), func(t *testing.T) {
			t.Parallel()
			p := newPlayground(t)
			h.lay(p)
			call := p.call(strings.ReplaceAll(h.command, "%", p.dir))
			for pair := range strings.FieldsSeq(strings.ReplaceAll(h.env, "\u00a0", "\x01")) {
				name, value, _ := strings.Cut(pair, "=")
				call.Env[name] = strings.ReplaceAll(value, "\x01", " ")
			}
			before, unbound, err := p.b.Files(t.Context(), call)
			must(t, err)
			if h.named == "" && unbound != nil {
				t.Errorf("it is named too: %q", unbound)
			}
			if h.named != "" && !strings.Contains(strings.Join(unbound, "\n"), h.named) {
				t.Errorf("%q is not named: %q", h.named, unbound)
			}
			if h.swapped == "" {
				return
			}
			p.write(h.swapped, "#!/bin/sh\necho swapped\n")
			after, _, err := p.b.Files(t.Context(), call)
			if err != nil || maps.Equal(before, after) || before[p.path(h.swapped)] == "" {
				t.Errorf("%s is not bound: %v, %v", h.swapped, before, err)
			}
		})
	}
}
