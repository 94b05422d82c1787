package configs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"approver.example"
)

// All files of a home were deleted without -r, which the rules of mass deletion looked for: by a
// pattern, from what find printed, by a loop, by a program that is not rm, or by emptying them. They
// ask for the amount and the place now.
func TestDeletingManyWithoutRecursion(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		rm ~/Documents/*
		rm -f ~/Documents/* ~/Pictures/*.*
		rm -f ../other/*
		for f in ~/Documents/*; do rm "$f"; done
		for f in ~/Documents/*; do openssl enc -aes-256-cbc -in $f -out $f.enc -k x; rm $f; done
		for f in ~/Documents/*; do : > "$f"; done
		truncate -s 0 ~/Documents/*
		sed -i d ~/Documents/*
		mv ~/Documents /dev/null
		mv ~/* /dev/shm
		find / -type f | xargs rm -f
		find ~ -type f | xargs rm -f
		du -a / | cut -f2 | xargs rm -f
		find ~ -type f | while read f; do rm "$f"; done
		find ~ -type f -exec truncate -s 0 {} +
		fd . ~ -X rm
		fd . / -X rm
		find ~ | ruby -ne 'File.delete($_.chomp)'
		find ~ | awk '{system("rm "$0)}'
		perl -e 'unlink glob "~/*"'
		perl -e 'unlink glob "*"'
		chmod -R 000 ~/Documents
		chmod -R 000 src
		chmod 000 ~/Documents/*
		chmod -R a-rwx ~/Documents
		setfacl -R -b ~/Documents
		setfacl -R -m u:ada:--- ~/Documents`)
	for _, code := range []string{
		"import os\nfor r, d, fs in os.walk('/home/ada/Documents'):\n for f in fs:\n  if True: os.remove(os.path.join(r, f))",
		"import os\nif __name__ == '__main__':\n" +
			" for r, d, fs in os.walk('/home/ada/x'):\n  for f in fs:\n   os.remove(r + '/' + f)",
	} {
		asksAll(t, []string{"python3 -c \"" + code + "\"", "python3 <<'END'\n" + code + "\nEND\n"})
	}
	asksAll(t, []string{"find ~ -type f | python3 -c 'import sys, os\nfor l in sys.stdin: os.remove(l.strip())'"})
	asks(t, judge, false, `
		rm -f *.o src/*.o
		rm -f dist/* build/*
		rm -f ~/.cache/pip/*
		rm -f /tmp/build-1/*
		rm -f ~/Downloads/a.zip ~/Downloads/b.zip
		rm ~/notes.txt
		find . -name '*.pyc' | xargs rm -f
		fd -e pyc -X rm
		git ls-files -d | xargs git rm
		truncate -s 0 logs/*
		mv ~/Downloads/* ~/Documents/
		mv a.txt b.txt
		perl -e 'unlink glob "*.o"'
		chmod -R 755 src
		chmod -R go-rwx ~/.gnupg
		chmod 600 ~/.ssh/id_rsa
		chmod 000 a.txt`)
	passesAll(t, []string{
		"python3 -c \"import os\nfor r, d, fs in os.walk('src'):\n for f in fs:\n" +
			"  if f.endswith('.pyc'): os.remove(os.path.join(r, f))\"",
	})
}

// Of the same files a recursive delete was milder than a plain one: a single file counted as one that
// version control has.
func TestRecursiveIsNeverMilder(t *testing.T) {
	dir := t.TempDir()
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	judges := map[string]func(string) approver.Verdict{
		"a project":     verdicts(t),
		"one on a disk": in(t, dir, map[string]string{"HOME": "/home/ada"}),
	}
	rank := func(v approver.Verdict) int {
		if v.Decision > approver.Ask {
			return 3
		}
		return int(v.Decision)*2 + int(v.Severity)
	}
	for where, judge := range judges {
		for _, target := range []string{
			"a.txt", "*", "*.txt", "src/*", "src", ".", "..", "../other/x", "../other/*", "~", "~/*", "~/x", "~/Documents/*",
			"~/.cache/*", "~/.cache/x", "~/.ssh/*", "~/.config/*", "/", "/*", "/etc/hosts", "/etc/*",
			"/tmp/*", "/tmp/x", "/var/log/*",
			"/opt/x/*", "/usr/lib/x.so", ".git", ".git/*", ".git/hooks/*", "dist", "dist/*", "node_modules/*", "f{1..29}.txt",
			"f{1..29}.txt g{1..29}", `"$D"`, `"$D"/*`, `"${D:?}"`, `"${D:?}"/*`, `"${D:?}"/x*`, `"${D:?}/x"`, `"$HOME"/x`,
			"/dev/sda", "$(cat list)",
		} {
			plain, deep := judge("rm -f "+target), judge("rm -rf "+target)
			if rank(deep) > rank(plain) {
				t.Errorf("in %s: rm -rf %s is %v %v (%s), rm -f %v %v (%s)", where, target, deep.Decision, deep.Severity, deep.Rule,
					plain.Decision, plain.Severity, plain.Rule)
			}
		}
	}
}
