package reflexcore_test

import (
	"os"
	"testing"

	"approver.example"
	"approver.example/reflexcore"
)

// otherNames is a machine on which approver is installed, and where links, a hard link and
// a copy lead to it under other names.
func otherNames(t *testing.T) *reflexcore.Engine {
	t.Helper()
	m := machine(t)
	const own = "/home/ada/.local/bin/approver"
	for _, p := range []string{own, "/home/ada/shop/copy", "/home/ada/shop/big", "/home/ada/.local/bin/codex", "/home/ada/shop/own.sh", "/home/ada/shop/sub/x"} {
		m.put(t, p, "#!/bin/sh")
	}
	m.link(t, "/home/ada/shop/a", own)
	m.link(t, "/home/ada/shop/a2", "a")
	m.link(t, "/home/ada/shop/ls", own)
	m.link(t, "/home/ada/shop/git", "/home/ada/.local/bin/codex")
	m.link(t, "/home/ada/shop/sub/deep", "../a2")
	for _, err := range []error{
		os.Chmod(m.root+own, 0o755), os.Chmod(m.root+"/home/ada/shop/copy", 0o755), os.Chmod(m.root+"/home/ada/shop/big", 0o755), os.Chmod(m.root+"/home/ada/shop/own.sh", 0o755),
		os.Truncate(m.root+own, 3<<20+7), os.Truncate(m.root+"/home/ada/shop/copy", 3<<20+7), os.Truncate(m.root+"/home/ada/shop/big", 3<<20),
		os.Link(m.root+own, m.root+"/home/ada/shop/hard"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return engine(t).WithDisk(m)
}

// An agent made a link to approver's program in one call, and told the link to approve in
// the next one: nothing in the words was approver's. A program that is started by its path
// is now what the disk says that it is, behind a link, as a hard link, and as a copy.
func TestApproverUnderANameOfTheDisk(t *testing.T) {
	e := otherNames(t)
	for _, command := range []string{
		`./a approve X`, `./a deny X`, `./a --config x approve X`, `./a2 approve X`, `./hard approve X`, `./copy approve X`, `./ls approve X`,
		`sub/deep approve X`, `../shop/a approve X`, `~/shop/a approve X`, `/home/ada/shop/a approve X`, `cd sub && ./deep approve X`, `cd sub && ../a approve X`,
		`sh -c "./a approve X"`, `p=./a; $p approve X`, `"$PWD/a" approve X`, `$(pwd)/a approve X`, `exec ./a approve X`, `env ./a approve X`,
		`nohup ./a approve X &`, `timeout 5 ./a approve X`, `echo approve X | xargs ./a`, `xargs ./a <<< 'approve X'`,
		`find . -name a -exec {} approve X \;`, `find -name a -exec {} approve X \;`, `find sub -name deep -exec {} approve X ';'`,
		`python3 -c 'import os;os.system("./a approve X")'`, `python3 -c 'import subprocess;subprocess.run(["./a","approve","X"])'`,
		`node -e 'require("child_process").execSync("./a approve X")'`, `./[a] approve X`, `./har* approve X`,
		`mv a2 zz; ./zz approve X`, `cat a2 > zz; chmod +x zz; ./zz approve X`, `cp a2 zz; ./zz approve X`, `ln -s a zz; ./zz approve X`,
		`ln a zz; ./zz approve X`, `dd if=a2 of=zz; ./zz approve X`, `install a2 zz; ./zz approve X`, `head -c 9999999 a2 > zz; ./zz approve X`,
		`eval './a approve X'`, `bash <<< './a approve X'`, `f() { ./a "$@"; }; f approve X`, `for x in approve; do ./a $x X; done`,
		`/proc/self/cwd/a approve X`, `(./a approve X)`, `time ./a approve X`, `command ./a approve X`, `./a serve`, `./a pause 1h`,
	} {
		if v := judge(t, e, bash(command)); v.Decision != approver.Deny {
			t.Errorf("%s is %v (%s)", command, v.Decision, v.Reason)
		}
	}
	if v := judge(t, e, bash(`./git exec x`)); v.Decision != approver.Ask {
		t.Errorf("an agent under git's name is %v", v.Decision)
	}
	for _, command := range []string{
		`./a status`, `./a --help`, `./a judge x.jsonl`, `./hard status`, `./own.sh approve X`, `./big approve X`, `./big serve`, `sub/x approve X`, `./none approve X`, `find . -name own.sh -exec {} approve \;`,
	} {
		if v := judge(t, e, bash(command)); v.Decision <= approver.Ask {
			t.Errorf("%s is %v (%s)", command, v.Decision, v.Reason)
		}
	}
}

// An agent started harmless programs by their paths, so many that the one at the end was no
// longer looked at. A call with more than are looked at is not judged as one that was.
func TestTheLastOfManyProgramsIsLookedAt(t *testing.T) {
	e, text := otherNames(t), ""
	for i := range 80 {
		text += "./x" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + "; "
	}
	if v := judge(t, e, bash(text+"./a approve X")); v.Decision > approver.Ask {
		t.Errorf("it is %v (%s)", v.Decision, v.Reason)
	}
}
