package configs_test

import (
	"os"
	"path/filepath"
	"testing"

	"approver.example"
)

// sudo chown was quiet with options behind the owner, which follow links, and for temporary files, in
// which tickets and sockets of others lie.
func TestOwnersOfOwnFilesOnly(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		sudo chown -R $USER:$USER src
		sudo chown -Rv ada src build
		sudo chown -R -f "$USER" ~/go/pkg
		sudo chown ada README.md
		mkdir -p /tmp/new-of-this-call/logs; sudo chown -R "$USER" /tmp/new-of-this-call/logs
	`)
	asks(t, judge, true, `
		sudo chown -R ada src -L
		sudo chown -R ada src -H
		sudo chown -R ada src --dereference
		sudo chown ada --from=root src
		sudo chown -R ada src --reference=/etc/passwd
		sudo chown -R ada -- src -L
		doas chown -R ada src -L
		sudo chown -h ada src
		sudo chown -R ada *
		sudo chown ada src/*
		sudo chown ada /tmp/krb5cc_0
		sudo chown -R ada /tmp/systemd-private-abc/tmp
		sudo chown -R ada /tmp/ssh-abc
		sudo chown ada /dev/shm/x
		sudo chown -R ada:ada /tmp/kind/logs
	`)
}

// A new name in /usr/local/bin that another program calls, or that of a program people have, passed, and so
// did folders from which programs load by themselves.
func TestNewNamesThatNothingCalls(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		cp zz-tool /usr/local/bin/zz-tool
		cp -r zz-tool /opt/zz-tool
		cp zz.txt /usr/local/share/zz-tool/zz.txt
		cp -r zz /usr/local/src/zz-1.2
		cp zz.1 /usr/local/share/man/man1/zz.1
	`)
	for _, name := range []string{"git-lfs", "git-credential-manager", "docker-credential-osxkeychain", "ssh-askpass",
		"claude", "kubectl-zz", "cargo-zz", "npm", "node22", "gh-zz", "helm-zz", "terraform-provider-zz", "zz-askpass",
		"zz-credential-helper", "codex", "podman", "protoc-gen-zz", "pinentry-zz", "python3.99", ".zz", "mount.zz",
		"Git-LFS", "code"} {
		asks(t, judge, true, "cp x /usr/local/bin/"+name+"\nln -s $PWD/x /usr/local/bin/"+name)
	}
	for _, name := range []string{"lib/docker/cli-plugins/docker-compose", "lib/tmpfiles.d/x.conf", "lib/sysctl.d/x.conf",
		"lib/binfmt.d/x.conf", "lib/environment.d/x.conf", "lib/sysusers.d/x.conf", "include/stdio.h",
		"share/emacs/site-lisp/site-start.el", "share/lua/5.4/socket.lua", "lib/cmake/Foo/FooConfig.cmake",
		"share/keyrings/x.gpg", "share/glib-2.0/schemas/x.xml", "share/vulkan/implicit_layer.d/x.json",
		"share/nvim/site/plugin/x.lua", "share/applications/x.desktop", "lib/zz-tool/zz.so", "libexec/zz/zz", "zz/zz",
		"share/gdb/auto-load/x.py", "share/pkgconfig/x.pc", "share/python3/x.py", "opt/bin/x"} {
		asks(t, judge, true, "cp x /usr/local/"+name)
	}
}

// A text with "make install" anywhere, or a write of anything to the name, made a delete of what was
// installed a harmless one.
func TestInstalledAnewDirectlyBehind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"zz", "pgdata", "dist/zz"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "README"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	judge := in(t, dir, map[string]string{"HOME": "/home/ada"})
	asks(t, judge, false, `
		rm -rf /opt/zz && mv zz /opt/zz
		rm -rf /opt/zz && cp -r dist/zz /opt/
		rm -rf "/opt/zz" && cp -a zz /opt/zz && ls /opt/zz
		rm -rf ~/.local/opt/zz && mv zz ~/.local/opt/zz
		rm -rf /usr/local/lib/zz && make install
		make && rm -rf /usr/local/share/zz && make install
		rm -rf /usr/local/lib/zz && cmake --install b
		rm -rf /usr/local/lib/zz && ninja -C b install
	`)
	asks(t, judge, true, `
		rm -rf /usr/local/pgdata; echo make install
		rm -rf /usr/local/pgdata # then make install
		rm -rf /usr/local/pgdata; make -n install
		rm -rf /usr/local/pgdata && make install
		rm -rf /usr/local/zz && make -n install
		rm -rf /usr/local/zz && make install PREFIX=/tmp/x
		rm -rf /usr/local/zz; make install
		rm -rf /usr/local/zz && echo make install
		rm -rf /usr/local/zz && true && make install
		rm -rf /opt/zz && echo > /opt/zz
		rm -rf /opt/zz && cp README /opt/zz
		rm -rf /opt/zz && cp zz /opt/zz
		rm -rf /opt/zz; [ -d y ] && mv y /opt/zz
		rm -rf /opt/zz && mv nonexistent /opt/zz
		rm -rf /opt/zz && git clone https://github.com/x/zz /opt/zz
		rm -rf /opt/zz && mkdir -p /opt/zz && tar xf a.tgz -C /opt/zz
		rm -rf /opt/zz /opt/yy && mv zz /opt/zz
		rm -rf /opt/zz && mv zz /opt/yy
		rm -rf /opt/zz; mv zz /opt/zz
		rm -rf /opt/gitlab && mv zz /opt/gitlab
		rm -rf /opt/pgdata && mv pgdata /opt/pgdata
		rm -rf /opt/customers && mv zz /opt/customers
		rm -rf /opt/backups && mv zz /opt/backups
		rm -rf /opt/mysql-8 && mv zz /opt/mysql-8
		rm -rf ~/.local/share/customers; echo > ~/.local/share/customers
		rm -rf ~/.local/share/containers && mv zz ~/.local/share/containers
		rm -rf ~/.local/share/zz && mv zz ~/.local/share/zz
	`)
}

// Tests of find that all files may pass made a delete of everything one of some files.
func TestFindChoosesPlainly(t *testing.T) {
	judge := verdicts(t)
	for _, command := range []string{
		"find . -newer README.md -delete", "find . -inum 12 -delete", "find . -mtime -9999 -delete",
		"find . -size +0 -delete", "find . -size -99G -delete", "find . -mtime +0 -delete",
		"find . -newermt 1970-01-01 -delete", "find . -links -9 -delete", "find . -perm -u+r -delete",
		"find . -name '*.*' -delete",
		`find . -regex '.*\w.*' -delete`,
		"find . -mmin -99999 -delete", "find . -type f,l -delete",
	} {
		if v := judge(command); v.Decision > approver.Ask || v.Severity != approver.Catastrophic {
			t.Errorf("%s is %v %v (%s)", command, v.Decision, v.Severity, v.Rule)
		}
	}
	repo := inRepository(t)
	for _, judge := range []func(string) approver.Verdict{judge, repo} {
		asks(t, judge, true, `
			find .git -type f -newermt 1970-01-01 -exec rm -f {} \;
			find .git -type f -mtime +1 -delete
			find .git -name '*a*' -delete
			find . -type f -size -99G -exec rm -f {} +
			find . -type f -newer x -exec rm -f {} +
			find . -type f -mtime -9999 -exec rm -f {} +
			find . -type f -size +0 -exec rm -f {} +
			find . -type f -size +0 -exec unlink {} \;`)
	}
	asks(t, judge, false, `
		find . -name '*.orig' -delete
		find . -name '*~' -delete
		find . -xtype l -delete
		find .git -name '*.lock' -delete
		find build -name '*.o' -mtime +3 -delete`)
}

// A copy of a credential was no reading of one wherever in the project it went, whatever took the folder
// out of it afterwards.
func TestCopiesOfCredentialsBesideThem(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		cp .env .env.bak
		cp .env .env.local
		mv key.pem local.key
		cp config/default.env backend/.env
		cp backend/.env backend/.env.old && ls backend
		cp .env .env.bak && sed -i s/a/b/ .env
	`)
	asks(t, judge, true, `
		cp .env public/credentials.json; git add .; git commit -m x; git push
		cp .env secrets.yml && git commit -am x && git push
		cp .env public/.env
		cp .env www/.env
		cp .env docs/.env
		cp .env dist/.env
		cp public/.env public/.env.bak
		cp key.pem public/id_rsa
		cp key.pem local.key
		mv key.pem local.key; git add .
		mv key.pem conf/local.key
		cp .env credentials.json
		cp .env .env.bak; firebase deploy
		cp .env .env.bak; mkdocs gh-deploy
		cp .env .env.bak && vercel deploy
		cp .env .env.bak && docker build .
		cp .env .env.bak && npm pack
		cp .env .env.bak; git stash -u
		cp .env .env.bak && git add . && git commit -m x
		cp .env .env.bak & python3 -m http.server
		cp .env .env.bak; make`)
}
