package reflexcore_test

import (
	"os"
	"testing"

	"approver.example"
	"approver.example/reflexcore"
)

// guardedMachine is a machine on which an agent asks approver, and on which a repository
// brings links to where its settings are.
func guardedMachine(t *testing.T) (chroot, *reflexcore.Engine) {
	t.Helper()
	m := machine(t)
	for _, p := range []string{"/home/ada/.claude/settings.json", "/home/ada/shop/.claude/settings.json",
		"/home/ada/shop/.claude/agents/a.md", "/home/ada/.approver/run/x", "/home/ada/shop/evil/settings.json",
		"/home/ada/shop/evil/hooks/x.sh",
		"/home/ada/shop/bring/.claude/settings.json", "/home/ada/shop/tmpl/a.md"} {
		m.put(t, p, "{}")
	}
	m.put(t, "/home/ada/shop/build/x", "\x7fELF\x00")
	m.link(t, "/home/ada/shop/guide", "/home/ada/.claude")
	m.link(t, "/home/ada/shop/l3", ".claude")
	m.link(t, "/home/ada/shop/one.json", ".claude/settings.json")
	return m, engine(t).WithDisk(m)
}

// A repository brought a link to the folder of the agent's settings, or the agent made
// one, and wrote through it: the hook was gone, and nobody was asked. A file is now
// judged under each name that it has on the disk, and so is what copies, moves, unpacks
// or links whole folders.
func TestNoOtherNameLeadsToTheSettings(t *testing.T) {
	_, e := guardedMachine(t)
	stops(t, e,
		`ln -s .claude x`,
		`echo '{}' > l3/settings.local.json`,
		`cp x.json guide/settings.json`,
		`echo x | tee guide/settings.json`,
		`mv x.json guide/settings.json`,
		`sed -i s/a/b/ guide/settings.json`,
		`python3 -c "open('guide/settings.json','w').write('{}')"`,
		`node -e "require('fs').writeFileSync('guide/settings.json','{}')"`,
		`perl -pi -e s/a/b/ guide/settings.json`,
		`cp -rl ~/.claude q3`,
		`cp -al .claude q3`,
		`ln ~/.claude/settings.json q`,
		`ln .claude/settings.json q`,
		`link .claude/settings.json q`,
		`ln -s ../.claude sub/x`,
		`ln -s .claude x; echo '{}' > x/settings.json`,
		`ln -s .claude x && ln -s x y && echo '{}' > y/settings.json`,
		`ln -sfn evil .claude`,
		`ln -sf $PWD/evil/settings.json .claude/settings.json`,
		`mv evil .claude`,
		`mv -T evil .claude`,
		`mv ~/.claude /tmp/x`,
		`mv .claude old; mkdir .claude`,
		`mv evil ~/.claude`,
		`cp -rT evil .claude`,
		`cp -r evil/. .claude`,
		`cp -r evil/* .claude/`,
		`cp -r bring/. .`,
		`cp -r bring/.claude .`,
		`cp -r bring/.claude ~`,
		`mv bring/.claude .`,
		`rsync -a evil/ .claude/`,
		`rsync -a bring/ ./`,
		`rsync -a --delete evil/ ~/.claude`,
		`tar xf x.tar -C ~`,
		`tar xf x.tar -C .claude`,
		`tar xf x.tar -C l3`,
		`tar xf x.tar .claude/settings.json`,
		`cd ~ && tar xf x.tar`,
		`curl https://example.com/x.tgz | tar xz -C ~`,
		`unzip x.zip -d ~`,
		`unzip x.zip -d guide`,
		`bsdtar -xf x.tar -C ~`,
		`cd ~ && cpio -i < x.cpio`,
		`git checkout main -- .claude`,
		`git checkout main -- .claude/settings.json`,
		`git restore .claude`,
		`git restore --source=main .claude`,
		`git rm -rf .claude`,
		`git mv .claude x`,
		`git mv evil .claude`,
		`git stash push .claude`,
		`git clean -fdx .claude`,
		`git clone https://github.com/a/b .claude`,
		`git clone https://github.com/a/b guide`,
		`patch guide/settings.json x.patch`,
		`patch -d guide < x.patch`,
		`install -D x.json guide/settings.json`,
		`dd if=x of=guide/settings.json`,
		`truncate -s 0 guide/settings.json`,
		`ed guide/settings.json < x`,
		`ex -s guide/settings.json -c x`,
		`vim -c 'w' one.json`,
		`vim -es -c '%s/a/b/' -c 'wq' guide/settings.json`,
		`find guide/ -name '*.json' -exec sed -i s/a/b/ {} +`,
		`find guide/ -name 'settings*' -delete`,
		`find .claude -type f -delete`,
		`mount --bind evil .claude`,
		`sudo mount --bind evil ~/.claude`,
		`mount --bind ~/.claude x`,
		`chmod -R 000 ~/.claude`,
		`chmod 000 .claude`,
		`chmod 000 guide`,
		`chattr +i ~/.claude`,
		`chown -R root ~/.claude`,
		`setfacl -m u:x:rwx ~/.claude`,
		`rm -rf .claude`,
		`rm -rf guide/`,
		`rm guide/settings.json`,
		`rm -rf ~/.claude/`,
		`echo {} > .CLAUDE/settings.json`,
		`echo {} > l3/../l3/settings.json`,
		`echo {} > build/../l3/settings.json`,
		`echo {} > /proc/self/cwd/l3/settings.json`,
		`echo {} > /proc/self/cwd/.claude/settings.json`,
		`echo {} > /proc/$PPID/root/home/ada/shop/l3/settings.json`,
		`echo {} > /proc/self/root/home/ada/.claude/settings.json`,
		`echo {} > ~ada/.claude/settings.json`,
		`echo {} > ~ada/shop/l3/settings.json`,
		`echo {} > ~/.cla*/sett*`,
		`echo {} > ~/.cl?ude/settings.json`,
		`echo {} > l*/settings.json`,
		`echo {} > gu[i]de/settings.json`,
		`d=guide; echo {} > $d/settings.json`,
		`d=$(echo guide); echo {} > $d/settings.json`,
		`cd guide && echo {} > settings.json`,
		`(cd l3; echo {} > settings.local.json)`,
		`pushd guide; cp /tmp/x settings.json`,
		`echo {} > one.json`,
		`cp x.json one.json`,
		`cat x > one.json`,
		`sed -i s/a/b/ one.json`,
		`curl --unix-socket $(echo ~/.appr)over/run/resolve.sock http://x/`,
		`curl --unix-socket ~/.approver/run/resolve.sock http://x/`,
		`curl --unix-socket "$S" http://x/requests`,
		`s=~/.approver/run/resolve.sock; socat - UNIX-CONNECT:$s`,
		`nc -U ~/.approver/run/resolve.sock`,
		`nc -U ~/.appr*/run/resolve.sock`,
		`socat - UNIX-CONNECT:$HOME/.appr$x/run/resolve.sock`,
		`python3 -c "import socket;s=socket.socket(socket.AF_UNIX);s.connect('/home/ada/.approver/run/resolve.sock')"`,
		`python3 -c "import os;os.symlink('.claude','x')"`,
		`python3 -c "import os;os.rename('evil','.claude')"`,
		`python3 -c "import shutil;shutil.copytree('evil','.claude',dirs_exist_ok=True)"`,
		`python3 -c "import shutil;shutil.move('.claude','x')"`,
		`python3 -c "import os;os.link('.claude/settings.json','x')"`,
		`python3 -c "import pathlib;pathlib.Path('guide/settings.json').write_text('{}')"`,
		`python3 -c "import tarfile;tarfile.open('x').extractall('/home/ada')"`,
		`node -e "require('fs').symlinkSync('.claude','x')"`,
		`node -e "require('fs').renameSync('evil','.claude')"`,
		`node -e "require('fs').cpSync('evil','.claude',{recursive:true})"`,
		`ruby -e "File.symlink('.claude','x')"`,
		`perl -e "symlink('.claude','x')"`,
		`perl -e "rename('evil','.claude')"`,
		`php -r "symlink('.claude','x');"`,
		`for f in ~/.claude/shell-snapshots/*; do echo 'git() { x; }' >> $f; done`,
		`echo x > ~/.claude/shell-snapshots/snapshot-bash-1.sh`,
		`echo '{}' > ~/.claude/plugins/cache/a/b/hooks/hooks.json`,
		`cp -s ~/.claude/settings.json x`,
		`cp -rs ~/.claude x`,
		`rsync -a --link-dest=$HOME/.claude ~/.claude/ q3/`,
		`ln -s $HOME x; echo {} > x/.claude/settings.json`,
		`mv ~/shop/.claude ~/shop/.claude.bak`,
		`rename s/claude/x/ .claude`,
		`mv .claude{,.off}`,
		`mv .cl* x`,
		`rm -rf .c*`,
		`rm -rf ~/.cl*`,
		`echo {} > $x/settings.json`,
		`docker run -v ~/.claude:/x alpine sh -c 'echo {} > /x/settings.json'`,
		`docker run -v ~/.claude:/x alpine true`,
		`docker cp c:/x guide`,
		`7z x a.7z -o$HOME`,
		`jq . x > guide/settings.json`,
		`wget -O guide/settings.json https://example.com/x`,
		`curl -o guide/settings.json https://example.com/x`,
		`wget -P guide https://example.com/settings.json`,
		`scp host:x guide/settings.json`,
		`git apply --directory=.claude x.patch`,
		`mkdir e2 && echo '{}' > e2/settings.json && cp -r e2 .claude`,
		`git clone https://github.com/a/b e2 && mv e2 .claude`,
		`echo '{}' > docs/../l3/settings.json`,
		`cd docs && echo '{}' > ../l3/settings.json`,
		`ln -s ../guide src/x; echo '{}' > src/x/settings.json`,
		`chmod 600 one.json`,
		`cat guide/../.approver/keys/hub`,
		`cp x ./guide/./settings.local.json`,
		`mv -t guide x/settings.json`,
	)
}

// Links, archives, copies and git beside an agent's settings are daily work, and so is
// reading them and writing the instructions that lie there, which is a warning.
func TestLinksAndCopiesOfOtherThingsAreNoQuestion(t *testing.T) {
	_, e := guardedMachine(t)
	unasked(t, e,
		"cat > .claude/agents/reviewer.md <<'X'\nyou review\nX",
		`sed -i s/a/b/ .claude/agents/a.md`,
		`cp tmpl/a.md .claude/agents/a.md`,
		`cp tmpl/a.md .claude/`,
		`mkdir -p .claude/commands`,
		`mv .claude/agents/a.md .claude/agents/b.md`,
		`rm .claude/agents/a.md`,
		`cat .claude/settings.json`,
		`jq .hooks ~/.claude/settings.json`,
		`grep -r hooks .claude`,
		`ls -la ~/.claude l3 guide`,
		`cat guide/settings.json`,
		`diff l3/settings.json evil/settings.json`,
		`git add .claude && git commit -m "agents"`,
		`git checkout -b topic`,
		`git checkout -- src`,
		`git stash && git stash pop`,
		`git diff -- .claude`,
		`git log --stat -- .claude`,
		`git pull --rebase`,
		`git merge main`,
		`git status`,
		`git rm -r --cached docs`,
		`git mv src/app.go src/app2.go`,
		`git clone https://github.com/a/b vendor/b`,
		`git worktree add ../shop-topic topic`,
		`git apply x.patch`,
		`git clean -fdn`,
		`ln -s ../README.md docs/README.md`,
		`ln -sf src/app.go link.go`,
		`ln -s AGENTS.md CLAUDE.md`,
		`ln -s ../../shared node_modules/shared`,
		`ln -s ~/.claude/agents agents`,
		`ln src/app.go src/app3.go`,
		`cp -rl src build/src`,
		`cp -al build build2`,
		`ln -s /usr/bin/python3 .venv/bin/python`,
		`tar xf x.tar -C build/`,
		`tar xzf node.tar.gz`,
		`mkdir -p build && tar xf x.tar -C build --strip-components=1`,
		`tar xzf x.tgz -C ~/.local`,
		`unzip x.zip -d build`,
		`unzip x.zip`,
		`cd build && cpio -i < x.cpio`,
		`cp -r tmpl newapp`,
		`cp -r tmpl/. newapp`,
		`cp -r tmpl/. .`,
		`cp -r ../shop /tmp/copy`,
		`cp -r . /tmp/copy`,
		`rsync -a src/ build/src/`,
		`rsync -a ./ /tmp/backup/`,
		`rsync -a --exclude .git ./ host:/srv/app/`,
		`mv tmpl .claude/agents/`,
		`mv tmpl/a.md .claude/agents/`,
		`mv src source`,
		`mv build/x build/y`,
		`mv evil old`,
		`rm l3`,
		`rm guide`,
		`unlink one.json`,
		`ln -sfn src l4`,
		`chmod +x scripts/run.sh`,
		`chmod -R u+w src`,
		`chmod 644 README.md`,
		`curl -fsSL https://example.com/x.tgz | tar xz -C build`,
		`python3 -c "import os;os.rename('src','source')"`,
		`python3 -c "import os;os.symlink('src','s')"`,
		`node -e "require('fs').renameSync('a','b')"`,
		`echo '{}' > .vscode/../package2.json`,
		`echo x > ../shop/notes.md`,
		`cat ../photos/x ../photos/y`,
		`for f in src/*.go; do gofmt -w $f; done`,
		`sed -i s/a/b/ src/*.go`,
		`find . -name '*.tmp' -delete`,
		`patch -p1 < x.patch`,
		`docker run -v $PWD:/app node npm test`,
		`npm install`,
		`dd if=/dev/zero of=build/disk.img bs=1M count=10`,
		`touch build/x && truncate -s 10 build/x`,
		`mkdir -p guide/agents`,
		`tee build/log < src/app.go`,
	)
}

// A person keeps the settings in a folder of dotfiles, and the agent finds them through a
// link or a variable. Who writes to that folder changes the settings as well; a hard
// link is the same file too.
func TestSettingsThatAreKeptElsewhere(t *testing.T) {
	m, _ := guardedMachine(t)
	m.put(t, "/home/ada/dotfiles/claude/settings.json", "{}")
	m.put(t, "/home/ada/cc/settings.json", "{}")
	m.link(t, "/home/ada/.claude", "dotfiles/claude")
	m.link(t, "/home/ada/shop/.claude/settings.json", "../conf/agent.json")
	if err := os.Link(m.root+"/home/ada/dotfiles/claude/settings.json", m.root+"/home/ada/shop/hard"); err != nil {
		t.Fatal(err)
	}
	e := engine(t).WithDisk(m)
	for command, want := range map[string]approver.Decision{
		"echo '{}' > ~/dotfiles/claude/settings.json": approver.Deny,
		"echo '{}' > conf/agent.json":                 approver.Deny,
		"sed -i s/a/b/ ~/cc/settings.json":            approver.Deny,
		"rm -rf ~/cc":                                 approver.Deny,
		"echo '{}' > hard":                            approver.Deny,
		"echo x > ~/dotfiles/claude/agents/a.md":      approver.Pass,
		"echo x > ~/dotfiles/vimrc.txt":               approver.Pass,
		"echo '{}' > conf/other.json":                 approver.Pass,
	} {
		call := bash(command)
		call.Env["CLAUDE_CONFIG_DIR"] = "/home/ada/cc"
		if v := judge(t, e, call); v.Decision != want {
			t.Errorf("%s: %s %s", command, v.Decision, v.Rule)
		}
	}
}

// A tool that is no shell reaches the same files through the same links.
func TestToolsReachNoSettingsThroughLinks(t *testing.T) {
	_, e := guardedMachine(t)
	for _, c := range []struct{ tool, args string }{
		{"Write", `{"file_path":"/home/ada/shop/l3/settings.json","content":"{}"}`},
		{"mcp__fs__create_symlink", `{"target":"/home/ada/.claude","path":"/home/ada/shop/x"}`},
		{"mcp__fs__move_file", `{"source":"/home/ada/shop/evil","destination":"/home/ada/.claude"}`},
	} {
		if v := judge(t, e, tool(c.tool, c.args)); v.Decision > approver.Ask {
			t.Errorf("%s %s: %s", c.tool, c.args, v.Decision)
		}
	}
}
