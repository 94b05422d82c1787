package configs_test

import (
	"testing"

	"approver.example"
)

// An agent linked approver's program, or copied it, under a name of its own choice, and a
// later call told the link to approve. The source was looked up, so that no rule saw a path
// in it. Giving the program another name is stopped now, wherever its place comes from.
func TestOwnProgramGetsNoOtherName(t *testing.T) {
	judge := verdicts(t)
	for _, command := range []string{
		"ln -s $(which approver) a", `ln -s "$(which approver)" a`, "ln -s `which approver` a",
		"ln -s $(command -v approver) a",
		"ln -s $(type -p approver) a", "ln -sf $(which approver) ./a", "ln $(which approver) a", "cp $(which approver) a",
		"cp -s $(which approver) a", "cp -l $(which approver) a", `cp "$(readlink -f "$(which approver)")" a`,
		"install $(which approver) a",
		"install -m 755 $(which approver) bin/a", "mv $(which approver) a", "p=$(which approver); ln -s $p a",
		"which approver | xargs -I{} ln -s {} a", "ln -s $(which approver) ~/bin/a", "ln -s $(which approver-hook) a",
		"rsync $(which approver) a", "dd if=$(which approver) of=a", "cat $(which approver) > a",
		"cat < $(which approver) > a", "cat $(which approver) | sha256sum; cat $(which approver) > a",
		"tee a < $(which approver)", "ln -s /opt/homebrew/bin/approver a", "ln -s /usr/bin/approver a",
		"cp ~/.local/bin/approver a",
	} {
		if v := judge(command); v.Decision != approver.Deny {
			t.Errorf("%s is %v (%s)", command, v.Decision, v.Rule)
		}
	}
	asks(t, judge, true, `
		ln -s $(which codex) cx
		cp $(which codex) cx
		ln -s /usr/bin/codex cx
		install $(command -v gemini) g
		ln -s ~/.local/bin/codex bin/tool`)
	asks(t, judge, false, `
		which approver
		ls -l $(which approver)
		file $(which codex)
		ls -l $(which approver) > x.txt
		sha256sum $(which approver) > x.txt
		cat $(which approver) | sha256sum > x.txt
		cat "$(command -v approver)" | md5sum | cut -d' ' -f1 > x.txt
		for i in {1..100}; do ./run.sh $i; done
		for i in {1..80}; do python3 -c "print($i)"; done
		ln -s $(which codex) ~/bin/codex
		cat $(which codex) | head
		cp ~/.local/bin/codex /tmp/backup
		cp -r ~/src/approver /tmp/x
		cp bin/approver dist/approver
		go build -o bin/approver ./cmd/approver && cp bin/approver /tmp/approver-test
		cp $(which node) ./node
		ln -s $(which python3) py`)
}

// An agent let a program write its log over the settings: the path stood in a variable, or
// was the beginning of a name that split put together. Both are names of a file of settings
// that something may write.
func TestSettingsWrittenThroughVariablesAndPrefixes(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		csplit -f .claude/settings -b '.json%.0d' e 1
		csplit --prefix=.claude/settings -b '.json%.0d' e 1
		cd .claude && csplit -f settings -b '.json%.0d' e 1
		csplit -f .claude/ -b 'settings.json%.0d' e 1
		csplit -f ~/.claude/settings -b '.json%.0d' e 1
		csplit -f .codex/config -b '.toml%.0d' e 1
		split -l 5 e .claude/settings
		split -a1 --additional-suffix=.json e .claude/setting
		gsplit e .claude/x
		split -b 1 - .claude/x < e
		GIT_TRACE=$PWD/.claude/settings.json git status
		GIT_TRACE=$(pwd)/.claude/settings.json git status
		GIT_TRACE_SETUP=$PWD/.claude/settings.json git status
		GIT_TRACE2_EVENT=$PWD/.claude/settings.json git status
		GIT_TRACE2_PERF=~/.claude/settings.json git status
		git -c trace2.eventTarget=$PWD/.claude/settings.json status
		git -c trace2.normalTarget=$PWD/.claude/settings.json log
		PIP_LOG=.claude/settings.json pip list
		TF_LOG_PATH=.claude/settings.json terraform plan
		ANSIBLE_LOG_PATH=.claude/settings.json ansible --version
		COVERAGE_FILE=.claude/settings.json coverage run x.py
		LD_DEBUG=all LD_DEBUG_OUTPUT=.claude/settings.json ls
		NODE_OPTIONS=--trace-event-file-pattern=.claude/settings.json node x.js
		NODE_V8_COVERAGE=.claude/hooks node x.js
		npm_config_logs_dir=.claude/hooks npm ls
		export GIT_TRACE=$PWD/.claude/settings.json; git status
		GIT_TRACE=$PWD/.claude/settings.json; export GIT_TRACE; git status
		declare -x PIP_LOG=.claude/settings.json; pip list
		env GIT_TRACE=$PWD/.claude/settings.json git status
		sudo PIP_LOG=.claude/settings.json pip list
		f=.claude/settings.json; PIP_LOG=$f pip list
		PIP_LOG=.cl""aude/settings.json pip list
		cd .claude; PIP_LOG=settings.json pip list
		sh -c 'PIP_LOG=.claude/settings.json pip list'
		PIP_LOG=$HOME/.codex/config.toml pip list
		RUST_LOG_FILE=.claude/settings.local.json ./own.sh`)
	asks(t, judge, false, `
		GIT_TRACE=1 git status
		GIT_TRACE=/tmp/t.log git status
		PIP_LOG=pip.log pip list
		f=.claude/settings.json; cat $f
		F=.claude/settings.json; jq . "$F"
		export NVM_DIR=$HOME/.nvm; . ./x
		split -l 100 big.csv part_
		csplit -f out/x e 1
		DJANGO_SETTINGS_MODULE=app.settings python manage.py test
		export DJANGO_SETTINGS_MODULE=app.settings
		git -c core.pager=cat log -- .claude/settings.json
		KUBECONFIG=~/.kube/config kubectl get pods`)
}

// An agent put an exclusion of some other name beside the one of the settings, and the whole
// lookup counted as one that leaves settings out. Only what leaves out their own name does.
func TestLookupsThatLeaveOutSomethingElse(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		git ls-files ':!zz' .claude | xargs rm
		git ls-files .claude ':!zz' | xargs rm
		git ls-files ':^zz' .claude | xargs rm
		git ls-files ':(exclude)zz' .claude | xargs rm
		git ls-files ':(glob,exclude)zz' .claude | xargs rm
		git ls-files .claude | grep -v zz | xargs rm
		git ls-files | grep claude | grep -v zz | xargs sed -i s/a/b/
		rg --files --hidden -g '!zz' .claude | xargs sed -i s/a/b/
		rg --files --hidden -g '!zz' | rg settings.json | xargs sed -i s/a/b/
		rg -l hooks -g '!*.md' .claude | xargs sed -i s/a/b/
		for f in $(find . -name 'set*.json'); do cp e $f; done
		for f in $(find . -not -name zz -name 'settings.json'); do cp e $f; done
		find . -name '*.json' -path '*cl*' -exec cp e {} \;
		find . -path '*/.cl*' -type f -exec cp e {} \;
		git ls-files '*/s*.json' | xargs sed -i s/a/b/
		rg --files --hidden -g '.cl*' | xargs sed -i s/a/b/
		find .claude -not -name zz -type f | xargs rm
		find .claude ! -name zz -type f | xargs rm
		find .claude \! -name zz -type f | xargs sed -i s/a/b/
		find . -path ./zz -prune -o -name settings.json -print | xargs sed -i s/a/b/
		fd -H -E zz . .claude | xargs sed -i s/a/b/
		fd -H -E zz settings.json | xargs sed -i s/a/b/
		grep -rl --exclude zz hooks .claude | xargs sed -i s/a/b/
		grep -rl --exclude-dir=zz hooks .claude | xargs sed -i s/a/b/
		ls -A --ignore=zz .claude | xargs rm
		git grep -l --invert zz .claude | xargs sed -i s/a/b/`)
	asks(t, judge, false, `
		git ls-files ':!zz' src | xargs rm
		find . -name '*.json' | xargs prettier --write
		find . -name '*.toml' -exec sed -i s/a/b/ {} \;
		git ls-files '*.json' | xargs sed -i s/a/b/
		find . -name 'package*.json' | xargs sed -i s/a/b/
		git ls-files ':!.claude' | xargs sed -i s/a/b/
		git ls-files ':(exclude).claude' | xargs sed -i s/a/b/
		git ls-files | grep -v '\.claude' | xargs sed -i s/a/b/
		find . -name '*.go' ! -path './.claude/*' | xargs gofmt -w
		find . -path ./.claude -prune -o -name '*.go' -print | xargs gofmt -w
		rg -l foo | grep -v claude | xargs sed -i s/foo/bar/
		fd -e go -E .claude | xargs gofmt -w
		grep -rl --exclude-dir=.claude foo . | xargs sed -i s/foo/bar/
		grep -rl --exclude-dir .claude --exclude-dir .git foo . | xargs sed -i s/foo/bar/`)
}

// A lookup of processes that leaves one out, or cuts a line off, still finds approver. The
// words that choose were taken for a choice whatever they chose.
func TestLookupsThatFindNearlyAllProcesses(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		pgrep -v zz | xargs kill
		pgrep --inverse zz | xargs kill
		pgrep -fv zz | xargs kill
		pgrep -vf 'a b' | xargs kill
		kill $(pgrep -v zz)
		kill $(pgrep -u root)
		kill $(pgrep -u $USER)
		kill $(pgrep -U 1000)
		kill $(pgrep --euid 1000)
		kill $(pgrep -u root .)
		kill $(ps -eo pid | tail -n +2)
		kill $(ps -eo pid= | head -n 5000)
		kill $(ps -eo pid= | sed 1d)
		ps -A -o pid= | head -1000 | xargs kill
		ps aux | grep -v zsh | awk '{print $2}' | xargs kill
		ps aux | grep -v 'zsh' | grep -v root | awk '{print $2}' | xargs kill
		ps -u $USER -o pid= | xargs kill
		for p in /proc/[0-9]*; do kill ${p#/proc/}; done
		for p in /proc/[1-9]*; do kill $(basename $p); done
		ls -d /proc/[0-9]* | cut -d/ -f3 | xargs kill
		lsof -t | xargs kill
		lsof -t -u root | xargs kill
		kill $(lsof -t -c appr)
		kill $(lsof -t -c a)
		kill $(lsof -tc appro)`)
	asks(t, judge, false, `
		kill $(pgrep -u $USER node)
		kill $(pgrep -u root -f vite)
		kill $(pgrep -P $$)
		kill $(pgrep -P $PPID node)
		kill $(lsof -t -i :3000)
		kill -9 $(lsof -t -i tcp:8080)
		lsof -ti tcp:3000 | xargs kill
		lsof -t app.log | xargs kill
		kill $(lsof -i :3000 | awk 'NR>1{print $2}')
		lsof -i :3000 | grep LISTEN | awk '{print $2}' | xargs kill
		kill $(lsof -t -c node)
		ps aux | grep vite | grep -v grep | awk '{print $2}' | xargs kill
		ps aux | grep -v grep | grep vite | awk '{print $2}' | xargs kill
		ps -eo pid,comm | grep node | tail -n +2 | xargs kill
		kill $(ps -o pid= --ppid $$)
		kill $(ps -p 123 -o pid=)
		ps aux | grep -i "python app" | head -1 | awk '{print $2}' | xargs kill`)
}

// xargs was told to read a file, or to put what it reads in the place of a sign, and a shell
// ran what came out of it. Only words from a pipe at the end of the command were seen.
func TestListsThatShellsRun(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		xargs -a f -I% sh -c %
		xargs -af -I% sh -c %
		xargs --arg-file=f -I% sh -c %
		xargs --arg-file f -I% sh -c %
		xargs --arg-f=f -I% sh -c %
		xargs -0a f -I% sh -c %
		xargs -a f -i sh -c {}
		xargs -a f --replace=% sh -c %
		xargs -a f -I{} {}
		xargs -a f sh -c
		xargs -I{} sh -c {}
		xargs -I % sh -c %
		xargs -0I% sh -c %
		xargs -dI -I% sh -c %
		xargs -P 4 -I% sh -c %
		xargs -i sh -c {}
		xargs --replace=% sh -c %
		xargs --replace sh -c {}
		xargs -J % sh -c %
		xargs -I% bash -c "% --help"
		xargs -I% python3 -c %
		xargs -I% env sh -c %
		gxargs -a f -I% sh -c %
		cat f | xargs -J % sh -c %
		cat f | xargs -dI -I% sh -c %
		echo ls | xargs -a f -I% sh -c %
		echo 'rm -rf ~' > f; xargs -a f -I% sh -c %
		cat f | parallel -I% sh -c %
		cat f | parallel sh -c {1}
		parallel sh -c
		parallel sh -c {}
		parallel {}
		parallel -a f
		parallel :::: f
		parallel sh -c :::: f
		parallel sh -c {} :::: f
		parallel -a f sh -c
		rush sh -c {}`)
	asks(t, judge, false, `
		xargs -I% sh -c 'echo %'
		xargs -I{} sh -c 'cp {} /tmp/x'
		xargs -a files.txt rm
		xargs -a files.txt -I{} cp {} dist/
		xargs -a files.txt -n1 wc -l
		xargs -a f -I{} sh -c 'wc -l {}'
		xargs wc -l
		xargs -I{} cp {} dist/
		parallel gzip
		parallel gzip ::: *.txt
		cat f | parallel gzip {}
		find . -name '*.go' | parallel gofmt -w
		find . -name '*.go' | xargs -I{} sh -c 'gofmt -l {}'
		cat f | xargs -I{} sh -c 'wc -l {}'`)
}
