package configs_test

import (
	"os"
	"path/filepath"
	"testing"

	"approver.example"
)

// linkedProject is a project in a home whose links lead to keys, as a clone may bring them.
func linkedProject(t *testing.T) func(string) approver.Verdict {
	t.Helper()
	home := realDir(t)
	put(t, home, ".ssh/id_rsa", "k")
	put(t, home, "shop/src/a.go", "package a")
	put(t, home, "shop/README.md", "hi")
	dir := filepath.Join(home, "shop")
	for name, to := range map[string]string{
		"keys": "../.ssh/id_rsa", "folder": "../.ssh", "current": "src", "docs": "README.md",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return in(t, dir, map[string]string{"HOME": home})
}

// A link that was named was judged as what it leads to. One that a pattern matched, that a program
// resolved, that find or grep -R found or that the kernel has for a process was not.
func TestLinksThatAreNotNamed(t *testing.T) {
	judge := linkedProject(t)
	asks(t, judge, true, `
		cat keys
		cat $(readlink keys)
		cat "$(readlink -f ./keys)"
		cat "$(realpath keys)" | base64
		K=$(realpath folder) && cat $K/id_rsa
		cat $(realpath folder)/id_rsa
		cat k*
		cat ./ke?s
		cat [k]*
		head *
		cat f*/id_rsa
		cat folder/*
		awk 1 k*
		for f in *; do cat $f; done
		grep -R BEGIN .
		grep -R BEGIN
		rg -L BEGIN
		rg --follow BEGIN .
		find . -type l -exec cat {} \;
		find . -name 'k*' -exec cat {} +
		find -L . -type f -exec cat {} +
		find . -type l | xargs cat
		cat /proc/self/cwd/keys
		cat /proc/$$/cwd/keys
		cat /proc/self/root/home/ada/.ssh/id_rsa
		cp keys k2
		cp -aL keys k2
		ln -s keys mine; cat mine`)
	asks(t, judge, false, `
		cat $(readlink -f docs)
		cat "$(realpath README.md)"
		cat $(realpath current)/a.go
		cat R*
		cat c*/a.go
		cat src/*
		grep -R package src
		grep -r BEGIN .
		grep -rn package *.md
		rg package
		find . -type f -exec cat {} +
		find src -name '*.go' | xargs grep package
		find . -type l
		ls -l keys
		readlink -f keys
		cat /proc/self/cwd/README.md
		cat /proc/self/status`)
}

// What is done to a link itself was taken for one to what it leads to.
func TestLinksThemselves(t *testing.T) {
	asks(t, linkedProject(t), false, `
		cp -P keys k2
		cp -a keys k2
		cp -d keys k2
		mv keys old
		git mv keys old
		git add keys
		rm keys
		chown -h ada keys
		ln -sfn src current
		ln -sf $PWD/bin/tool ~/.local/bin/tool`)
	asks(t, linkedProject(t), true, `
		cp -a ~/.ssh/id_rsa k2
		mv ~/.ssh/id_rsa k2
		mv keys old && cat old
		cp -P keys k2; cat k2
		mv folder/id_rsa k2
		ln -sf /dev/null ~/.profile`)
}

// Archives were judged by the folder that they are told to unpack into. Some say themselves where
// their files go, and some programs have another word for the folder.
func TestArchivesThatWriteElsewhere(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		tar -xPf a.tar
		tar xPf a.tar -C build
		tar --absolute-names -xf a.tar
		bsdtar -x -P -f a.tar
		unzip -: a.zip
		7z x -spf a.7z
		jar xf a.jar -C /etc
		jar --extract --file a.jar --dir /etc
		rar x a.rar /etc/
		unrar x -o+ a.rar ~/.ssh/
		unar -o /etc a.zip
		ar x a.a --output=/etc/cron.d
		pax -r -f a.pax -s ',^,/etc/,'
		ditto a.plist ~/Library/LaunchAgents/a.plist
		ditto -x -k a.zip /etc
		rar m a.rar ~/Documents
		cmake -E remove_directory src`)
	asks(t, judge, false, `
		tar -xf a.tar -C build
		tar -cPf a.tar src
		tar -tPf a.tar
		unzip a.zip -d build
		7z x a.7z -obuild
		jar xf a.jar
		jar cf a.jar -C build .
		rar a a.rar src
		unrar x a.rar build/
		unar a.zip
		ditto src build/src
		ditto -c -k src a.zip
		pax -r -f a.pax
		cmake -E make_directory /usr/local/share/x
		cmake -E remove_directory build
		New-Item -ItemType Directory -Path /usr/local/share/x -Force
		pwsh -c 'New-Item -ItemType Directory /etc/foo'`)
	asks(t, judge, true, `
		New-Item -ItemType File -Path /etc/foo
		pwsh -c 'New-Item -Path /etc/foo -Value x'`)
}

// A disk was lost by programs of which the tables knew nothing, and a program that only lists what is
// on it was denied.
func TestDisksThatProgramsGet(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		fio --filename=/dev/sda --rw=write --name=x
		fio --name=x --filename /dev/nvme0n1 --rw=randrw --direct=1
		qemu-img convert -O raw a.qcow2 /dev/sdb
		qemu-img dd if=a of=/dev/sdb
		systemd-repart --dry-run=no /dev/sda
		bmaptool copy --nobmap a.img /dev/sdb
		sg_format --format /dev/sg0
		nwipe --autonuke /dev/sda
		rpi-imager --cli a.img /dev/sdb
		partclone.ext4 -r -s a.img -o /dev/sda1
		burntool --to /dev/sdb a.img
		burntool --to=/dev/sdb a.img
		burntool of=/dev/sdb
		burntool -o/dev/sdb
		wipefs -a /dev/sda
		wipefs --force --all /dev/sda
		wipefs -o 0x438 /dev/sda`)
	asks(t, judge, false, `
		fio --filename=test.dat --rw=write --size=1G --name=x
		fio --filename=/dev/sda --rw=randread --readonly --name=x
		qemu-img create -f qcow2 a.qcow2 10G
		qemu-img convert -O raw a.qcow2 a.raw
		qemu-img info a.qcow2
		systemd-repart /dev/sda
		wipefs /dev/sda
		wipefs -J /dev/sda
		wipefs --no-act -a /dev/sda
		badblocks -sv /dev/sda
		burntool --to disk.img a.img
		burntool /dev/null
		burntool --port /dev/ttyUSB0
		lsblk /dev/sda
		smartctl -a /dev/sda`)
}

// What is lost by one file depends on what version control has of it. A file with changes was deleted
// or emptied without a question, where git checkout of the same file is one.
func TestWorkThatIsInNoCommit(t *testing.T) {
	repo := inRepository(t)
	asks(t, repo, true, `
		rm changed.txt
		rm -f ./changed.txt
		unlink changed.txt
		git rm -f changed.txt
		git checkout -- changed.txt
		python3 -c 'import os; os.remove("changed.txt")'
		: > changed.txt
		> changed.txt
		true > changed.txt
		printf '' > changed.txt
		truncate -s 0 changed.txt
		cp /dev/null changed.txt
		cat /dev/null > changed.txt
		dd if=/dev/null of=changed.txt
		tee changed.txt < /dev/null
		sed -i d changed.txt
		sed -i '1,$d' changed.txt`)
	asks(t, repo, false, `
		rm kept.txt
		cp changed.txt /tmp/copy && rm changed.txt
		git rm kept.txt
		rm new.txt
		: > kept.txt
		> another.txt
		truncate -s 0 another.log
		rm ignored.log
		: > ignored.log
		truncate -s 10 changed.txt
		echo x > changed.txt
		make > changed.txt
		sed -i s/a/b/ changed.txt
		sed -i '/a/d' changed.txt
		echo x > mine.txt; cat mine.txt; rm mine.txt`)
	for command, rule := range map[string]string{
		"rm new.txt": "lose_untracked", ": > new.txt": "lose_untracked", "rm -rf .git/rebase-merge": "lose_untracked",
		"rm kept.txt": "", "rm ignored.log": "", "echo x > made.txt; rm made.txt": "",
	} {
		if v := repo(command); v.Rule != rule {
			t.Errorf("%s is %v by %q", command, v.Decision, v.Rule)
		}
	}
}

// inRepository is a clean repository in which one file was changed and one is new.
func inRepository(t *testing.T) func(string) approver.Verdict {
	t.Helper()
	home := realDir(t)
	dir := filepath.Join(home, "shop")
	for name, text := range map[string]string{
		"kept.txt": "a", "changed.txt": "a", ".gitignore": "*.log\n.env\n", "src/a.c": "int a;",
	} {
		put(t, dir, name, text)
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "x"},
	} {
		gitIn(t, dir, args...)
	}
	put(t, dir, "changed.txt", "more")
	put(t, dir, "new.txt", "b")
	put(t, dir, "ignored.log", "b")
	put(t, dir, ".env", "TOKEN=x")
	return in(t, dir, map[string]string{"HOME": home})
}

// A credential was deleted with a question and emptied without one.
func TestEmptiedSecrets(t *testing.T) {
	repo := inRepository(t)
	asks(t, repo, true, `
		rm .env
		: > .env
		> .env
		echo -n > .env
		truncate -s 0 .env
		cp /dev/null .env
		install -m 600 /dev/null .env
		sed -i d .env`)
	asks(t, repo, false, `
		touch .env
		> .env.new
		cp .env.example .env.new`)
}

// What git itself keeps was deleted without a question if it was no folder, and what git leaves behind
// and tells people to remove was a catastrophe.
func TestFilesOfARepository(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		rm .git/packed-refs
		rm -f .git/refs/heads/*
		rm .git/refs/heads/main
		rm .git/objects/pack/*
		unlink .git/HEAD
		rm .git/config
		rm .git/index
		rm .git/logs/HEAD
		mv .git/packed-refs /dev/null
		rm -rf .git/objects
		mv .git/objects /tmp/o
		rm .git/hooks/pre-commit
		: > .git/packed-refs`)
	asks(t, judge, false, `
		rm -f .git/index.lock
		rm .git/refs/heads/main.lock
		find .git -name '*.lock' -delete
		rm -rf .git/rebase-merge
		rm -rf .git/rebase-apply
		rm .git/MERGE_HEAD
		rm .git/hooks/*.sample
		rm -f .git/hooks/pre-commit.sample`)
}

// A find that deletes some of what is there by its age, its kind or its size was a delete of all.
func TestFindChoosesWhatItDeletes(t *testing.T) {
	judge := verdicts(t)
	for _, command := range []string{
		"find . -type l -delete", "find . -size 0 -delete", "find . -empty -delete", `find . -regex '.*\.bak' -delete`,
		"find . -mtime +30 -delete",
	} {
		if v := judge(command); v.Decision == approver.Deny || v.Severity == approver.Catastrophic {
			t.Errorf("%s is %v %v (%s)", command, v.Decision, v.Severity, v.Rule)
		}
	}
	for _, command := range []string{
		"find . -delete", "find . -type f -delete", "find . -user ada -delete", "find . -perm /777 -delete; find . -delete",
		"find . -not -name x -delete", "find . -true -delete", "find . -readable -delete", "find . -regex '.*' -delete",
		"find . -type f,d,l -delete", "find . -newer a -o -delete", "find . ! -empty -delete",
	} {
		if v := judge(command); v.Decision > approver.Ask || v.Severity != approver.Catastrophic {
			t.Errorf("%s is %v %v (%s)", command, v.Decision, v.Severity, v.Rule)
		}
	}
	asks(t, judge, false, `
		find . -xtype l -delete
		find . -type l ! -exec test -e {} \; -delete
		find . -type d -empty -delete
		find . -name '*.pyc' -delete`)
	repo := inRepository(t)
	asks(t, repo, false, `
		find src -name '*.c' -delete
		find missing -name '*.c' -delete`)
	asks(t, repo, true, `
		find . -name '*.txt' -delete
		find src -name '*.c' -delete; find / -newer a -delete
		find / -newer a -delete
		find /home -type l -delete`)
}

// Code that takes the names of a folder one by one deleted what is not known.
func TestCodeThatDeletesAFolderFileByFile(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		node -e 'fs.readdirSync(".").forEach(f => fs.unlinkSync(f))'
		perl -e 'unlink <~/*>'
		perl -e 'unlink <*>'
		perl -e 'for (<~/Documents/*>) { unlink }'
		perl -e 'foreach my $f (glob("*")) { unlink $f; }'
		ruby -e 'Dir["*"].each { |f| FileUtils.rm f }'
		php -r 'foreach (glob("*") as $f) unlink($f);'
		ls ~/x | xargs -I{} rm ~/x/{}
		ls ~/x | xargs -I% rm -f ~/x/%
		for f in $(ls ~/x); do rm ~/x/$f; done
		rm -f ~/Pictures/*.jpg`)
	asks(t, judge, false, `
		node -e 'fs.readdirSync(".").filter(f => f.endsWith(".tmp")).forEach(f => fs.unlinkSync(f))'
		node -e 'fs.readdirSync("dist").forEach(f => fs.unlinkSync("dist/" + f))'
		perl -e 'unlink <*.o>'
		perl -e 'print 1 if $a<$b; print 2 if $c>$d'
		php -r 'foreach (glob("build/*.o") as $f) unlink($f);'
		ls ~/x | xargs -I{} cat ~/x/{}
		for f in $(ls *.go); do gofmt -l $f; done
		ls | wc -l`)
}

// Installing below /usr/local was told as a write to the operating system. What is new there takes
// nothing away, unless something runs or loads it by itself.
func TestNewNamesBelowUsrLocal(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		mv ./zz-tool /usr/local/bin/zz-tool
		install -m 755 bin/zz-tool /usr/local/bin/
		cp zz-tool /usr/local/bin
		ln -s $PWD/bin/zz-tool /usr/local/bin/zz-tool
		install -m 644 zz-tool.1 /usr/local/share/man/man1/zz-tool.1
		unzip -q a.zip -d /usr/local/share/zz-tool
		7z x a.7z -o/usr/local/share/zz-tool`)
	asks(t, judge, true, `
		mv ./x /usr/local/bin/ls
		mv ./x /usr/local/bin/sh
		cp sh /usr/local/bin/
		cp zz-tool sh /usr/local/bin/
		cp bin/* /usr/local/bin/
		ln -sf /tmp/x /usr/local/bin/env
		cp x /usr/bin/zz-tool
		cp x /usr/local/sbin/zz-tool
		cp x.so /usr/local/lib/libc.so.6
		cp x /usr/local/lib/python3.11/dist-packages/zz.py
		cp x /usr/local/share/bash-completion/completions/git
		cp x /usr/local/etc/zz.conf
		cp x /usr/local/lib
		curl -o /usr/local/bin/zz-tool https://x.example/t
		curl -L https://x.example/t | tar xz -C /usr/local/bin
		wget https://x.example/zz-tool; mv zz-tool /usr/local/bin/
		tar -xzf a.tgz -C /usr/local
		unzip a.zip -d /usr/local/bin`)
}

// A folder that is deleted and put there anew by the same call is replaced.
func TestInstalledAnew(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		rm -rf /usr/local/share/zz && make install
		rm -rf /var/lib/apt/lists/*
		rm -rf /var/cache/apt/archives/* /var/cache/yum
		rm -rf /var/cache/apk/*`)
	asks(t, judge, true, `
		rm -rf /opt/zz
		rm -rf /opt/zz && mkdir /opt/zz
		rm -rf /opt/zz || mv zz /opt/zz
		rm -rf /opt/zz; exit; mv zz /opt/zz
		rm -rf /opt/zz; false && mv zz /opt/zz
		rm -rf /opt/zz && mv zz /opt/yy
		rm -rf /opt/zz && : > /opt/zz
		mv zz /opt/zz && rm -rf /opt/zz
		rm -rf /opt/* && mv zz /opt/zz
		rm -rf /opt && cp -r opt /opt
		rm -rf /usr/local/lib && make install
		rm -rf /usr/local/bin && make install
		rm -rf /usr/local/lib/python3.11 && make install
		rm -rf /usr/lib/zz && make install
		rm -rf /etc/nginx && cp -r nginx /etc/nginx
		rm -rf /srv/data && cp -r data /srv/data
		rm -rf ~/Documents && cp -r Documents ~/Documents
		rm -rf ~/.config && cp -r .config ~/.config
		rm -rf src && git clone x src
		rm -rf /var/lib/apt
		rm -rf /var/lib/apt/lists/../../dpkg
		rm -rf /var/cache
		rm -rf /var/lib/dpkg`)
}

// Who gives files to themselves was told that another account gets them.
func TestOwnFiles(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		chown -R $USER .
		chown -R $(whoami) .
		chown -R "$(id -u):$(id -g)" ~/.cache
		chown $USER: ~/x`)
	asks(t, judge, true, `
		chown -R bob .
		chown -R $OWNER .
		USER=bob; chown -R $USER .
		chown $USER /etc/passwd
		chown -R $USER /usr
		chown -R $USER /
		chown -R $USER . && chown -R bob ~
		chown -R $USER.evil ~`)
}

// What a container deletes in a folder of this machine is gone here. It was told as a delete on another
// machine, whatever it was. After popd the folder was not known.
func TestDeletesInMountedFolders(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		docker run --rm -v $PWD:/app node:20 rm -rf /app/node_modules
		docker run --rm -v "$(pwd)":/w -w /w alpine rm -rf build
		podman run --rm -v ./:/w:Z alpine sh -c "rm -rf /w/dist && ls /w"
		pushd src; make; popd; rm -rf build
		install -m 0755 k3d "$(go env GOPATH)/bin/"`)
	asks(t, judge, true, `
		docker run --rm -v $PWD:/w alpine rm -rf /w/src
		docker run --rm -v $PWD:/w alpine rm -rf /w
		docker run --rm -v $PWD:/w -w /w alpine rm -rf src
		docker run --rm -v ~/Documents:/d alpine rm -rf /d/x
		docker run --rm -v $PWD:/w alpine rm -rf /data
		docker run --rm -v data:/w alpine rm -rf /w/build
		docker -H tcp://host:1 run -v $PWD:/w alpine rm -rf /w/build
		DOCKER_HOST=ssh://host docker run -v $PWD:/w alpine rm -rf /w/build
		docker --context prod run -v $PWD:/w alpine rm -rf /w/build
		pushd /; rm -rf *; popd
		pushd / && pushd /etc && popd && rm -rf *
		cp -r x $(go env GOBIN)/bin
		rm -rf "$(go env GOPATH)/bin"`)
}

// What find finds below a folder of a container's own system was not known, and so a question.
func TestWhatFindFindsInAContainer(t *testing.T) {
	box := &approver.Container{Mounts: []string{"/proc", "/sys", "/dev", "/workspaces/shop", "/opt/data"}}
	asks(t, contained(t, box), false, `
		find /usr/local -depth \( -type d -a -name test \) -exec rm -rf '{}' +
		find /usr/local -name '*.pyc' -delete
		find /usr/share/doc -type f | xargs rm -f
		find /usr/lib/python3 -name tests -exec rm -rf {} \;`)
	asks(t, contained(t, box), true, `
		rm -rf /usr/local/$X
		rm -rf "/usr/local/$X"
		find /usr/local -name x; rm -rf /usr/local/$X
		find /opt -name x -exec rm -rf {} +
		find /opt/data -name x -exec rm -rf {} +
		find / -name x -exec rm -rf {} +
		find /usr -delete
		find /var/lib/mysql -name x -exec rm -rf {} +`)
	asks(t, contained(t, nil), true, `
		find /usr/local -name x -exec rm -rf {} +`)
}
