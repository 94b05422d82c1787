package configs_test

import (
	"testing"

	"approver.example"
)

// An agent wrote "git push --$X" with X=force in the environment of an earlier call. A flag
// of which only the dashes are known was a flag that the tables do not have, and passed. It
// is now tried as each flag of the program that it may be; the words of honest commands,
// which begin with no dash, stay what they are.
func TestUnknownFlags(t *testing.T) {
	judge := verdicts(t)
	for _, command := range []string{
		`git push --$X`, `git push -$X`, `git push --for$X`, `git push -q$X`, `git push --$X origin main`,
		`git push origin --$X`, `git push "--$X"`, `git push --"$X"`, `git push --$(cat f)`, `git push -${X}`,
		`rm -$X ~/Documents`, `rm -r$X ~/Documents`,
		`rm --$X ~/Documents`, `docker run --$X alpine`, `find ~ -$X`, `git clean -$X`, `git reset --$X`,
		`terraform apply -$X`, `kubectl delete pods --$X`, `sudo git push --$X`, `bash -c "git push --$X"`,
		`env git push --$X`, `x=$(cat f); git push --$x`,
		`f() { git push --$1; }; f "$X"`, `git push --$X > log`, `ls | xargs git push --$X`,
	} {
		if v := judge(command); v.Decision > approver.Ask {
			t.Errorf("%s is %v", command, v.Decision)
		}
	}
	for _, command := range []string{
		`git push $REMOTE`, `rm -f $FILE`, `git commit $ARGS`, `cargo build --$PROFILE`, `cargo test --$X`,
		`docker build --$X .`, `gcc -O$LEVEL x.c`, `head -$N f`, `tail -$N f`, `ls -$X`, `git log --$X`,
		`grep -$X y z`, `make -j$N`, `go test -$X ./...`, `pytest --$X`, `git commit -m "$MSG"`, `npm test -- --$X`,
		`curl -s$X https://example.com/x`, `gcc -D$X x.c`, `git push --set-upstream=$X`,
	} {
		if v := judge(command); v.Decision <= approver.Ask {
			t.Errorf("%s is %v: %s %s", command, v.Decision, v.Rule, v.Reason)
		}
	}
}

// Code that runs code of which nothing is known passed, in every language: exec(x) has no
// command line that could be looked at. It is a question now, unless it is a file's text,
// which is as running that file.
func TestUnknownCodeOfLanguages(t *testing.T) {
	judge := verdicts(t)
	for _, command := range []string{
		`python3 -c "exec(x)"`, `python3 -c "eval(x)"`, `python3 -c "eval(compile(x,'','exec'))"`,
		`python3 -c "eval(input())"`, `python3 -c "import os; exec(os.environ['X'])"`,
		`python3 -c "import sys; exec(sys.argv[1])" "$X"`,
		`python3 -c "__builtins__.exec(f())"`, `python3 -c "import builtins; builtins.eval(f())"`, `node -e "eval(x)"`,
		`node -e "new Function(x)()"`, `node -e "require('vm').runInThisContext(x)"`, `node -e "eval(process.env.X)"`,
		`perl -e 'eval $x'`,
		`perl -e 'eval $ENV{X}'`, `ruby -e 'eval(x)'`, `ruby -e 'instance_eval(x)'`, `ruby -e 'eval ENV["X"]'`,
		`php -r 'eval($x);'`, `php -r 'eval(getenv("X"));'`, `lua -e 'load(x)()'`, `python3 -c "import os; os.system(x)"`,
		`python3 -c "import os; os.system(f() + ' x')"`, `node -e "require('child_process').exec(x)"`, `perl -e 'system($x)'`,
		`ruby -e 'system(x)'`, `awk '{system($0)}' f`,
	} {
		if v := judge(command); v.Decision > approver.Ask {
			t.Errorf("%s is %v", command, v.Decision)
		}
	}
	for _, command := range []string{
		`python3 -c "exec(open('f.py').read())"`, `perl -e 'print eval { 1 }'`, `perl -e 'eval { die }; print $@'`,
		`python3 -c "print(eval('1+2'))"`, `node -e "console.log(eval('1+2'))"`, `python3 -c "import re; re.compile(x)"`,
		`python3 -c "model.eval()"`,
	} {
		if v := judge(command); v.Decision <= approver.Ask {
			t.Errorf("%s is %v: %s %s", command, v.Decision, v.Rule, v.Reason)
		}
	}
}
