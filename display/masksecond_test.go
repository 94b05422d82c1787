package display

import (
	"strings"
	"testing"
)

// The story: watch and ssh join their words and give them to a shell again, so that
// watch curl -u 'u:x;evil' runs evil. The card hid x;evil as a password, without a word of
// it, and a tap approved it for the session. What a second shell makes more of than a word
// is in sight.
func TestWhatASecondShellRunsIsShown(t *testing.T) {
	for _, command := range []string{
		"watch -n 1 -g curl -s -u 'u:x;evil' http://127.0.0.1:9/", "watch curl -u \"u:x;evil\" h",
		"busybox watch curl -u 'u:x;evil' h", "watch redis-cli -a 'x&evil' ping", "watch redis-cli -a 'x|evil' ping",
		"watch curl -u 'u:x>/etc/passwd' h", "watch curl -u 'u:x</etc/passwd' h", "watch curl -u 'u:x{a,b}' h",
		"watch mysqladmin '-px drop production' ping", "watch mysqladmin '-px\tdrop' ping",
		"watch mysqladmin '-px\ndrop' ping",
		"ssh prod curl -u 'u:x;rm -rf /data' http://h/", "ssh prod mysqladmin '-px;evil' ping",
		"ssh prod timeout 5 curl -u 'u:x;evil' h", "sudo ssh prod sudo curl -u 'u:x;evil' h",
		"ssh a ssh b curl -u 'u:x;evil' h",
		"docker exec db ssh b curl -u 'u:x;evil' h", "ssh a \"ssh b curl -u 'u:x;evil' h\"",
		"ssh prod PGPASSWORD='x;evil' psql -h db", "ssh prod curl -d 'password=Xy9|evil' http://h",
		"ssh prod curl -u 'u:x$(evil)' h", "ssh prod curl -u 'u:x`evil`' h",
		"eval curl -u 'u:x;evil' h", "eval mysql '-px;evil'", "su -c curl -u 'u:x;evil' h", "runuser -u x mysql '-px;evil'",
		"parallel mysqladmin '-px;evil' ::: ping", "mosh h -- curl -u 'u:x;evil' h",
		"vagrant ssh -- curl -u 'u:x;evil' h", "gcloud compute ssh vm -- mysql '-px;evil'",
		"heroku run -a x -- mysql '-px;evil'", "minikube ssh -- mysql '-px;evil'", "fly ssh console mysql '-px;evil'",
		// the words of another command
		"ssh prod mysqladmin ping \\; docker compose -pproduction up -d",
		"ssh prod mysqladmin ping ';' docker compose -pproduction up -d",
		"ssh prod mysqladmin 'ping;' docker compose -pproduction up -d",
		"ssh prod mysqladmin ping '&&' docker compose -pproduction up -d",
		"ssh prod mysqladmin ping \\| docker compose -pproduction up -d",
		"watch mysqladmin ping '&' docker compose -pproduction up -d",
	} {
		if shown, obscured := shellCall(command).Shown(); shown != command || obscured {
			t.Errorf("what decides is hidden (%v): %s", obscured, shown)
		}
	}
}

// Where one of the words may mean another thing to the second shell, nothing behind the
// launcher is known: it is hidden, and takes the code.
func TestWhatASecondShellMayReadOtherwiseTakesTheCode(t *testing.T) {
	for _, command := range []string{
		"ssh prod mysqladmin ping $'\\n' docker compose -pproduction up -d",
		"X='; docker compose'; ssh prod mysqladmin ping $X -pproduction up -d", "ssh prod curl -u 'a;mysql:production' h",
		"ssh prod curl -u \"u:x'\" -u \"u:production'\" h",
		"ssh prod curl -u 'u:#production' h", "ssh prod curl -u 'u:~production' h",
		"ssh prod mysql -pproduction -e 'select 1'", "ssh prod mysql -pproduction '#' x", "ssh prod mysql -pproduction '*'",
		"ssh prod mysql -pproduction =ls", "ssh prod mysql -pproduction x?y", "ssh prod mysql -pproduction 'a\\nb'",
		"ssh prod mysql -pproduction 'https://h/x?a=1&b'", "ssh prod mysql -pproduction a{b,c}",
		"ssh prod mysql -pproduction '~/x'", "ssh prod mysql -pproduction a\\;b", "ssh a \"curl -u 'u:production;evil' h\"",
		"K='production;evil'; ssh h curl -u u:$K http://h", "K='production;evil'; eval curl -u u:$K http://h",
		"bash -c 'curl -u \"$1\" h' _ 'u:production;evil'", "env -S \"curl -u 'u:production;evil' h\"",
		"trap \"curl -u 'u:production;evil' h\" EXIT", "docker exec c sh -c \"curl -u 'u:production;evil' h\"",
		"find . -exec sh -c 'curl -u \"u:$1\" h' _ 'production;evil' \\;",
		// xargs puts words in, and --entrypoint another program
		"ls | nice xargs -I production mysqladmin -pproduction ping", "ls | timeout 5 xargs mysqladmin -pproduction ping",
		"ls | env -i xargs -n 1 mysqladmin -pproduction ping",
		"docker run --rm --entrypoint docker-compose img mysql -pproduction",
		"docker run --entrypoint=mkdir img mysql -pproduction", "docker compose run --entrypoint mkdir db mysql -pproduction",
	} {
		if shown, obscured := shellCall(command).Shown(); !obscured || !strings.Contains(shown, hiddenWords) {
			t.Errorf("obscured %v: %s", obscured, shown)
		}
	}
	for _, command := range []string{ // the same word for every shell, or not for a shell
		"ssh prod mysql -p'hunter22' db", "ssh prod mysql -p\"hunter22\" db", "ssh prod 'mysql' '-phunter22' 'db'",
		"ssh prod mysql '-phunter22!' db", "ssh prod mysql -phunter22 < x.sql > out.txt",
		"ssh prod curl -u u:hunter22 -X DELETE https://h/x",
		"watch -n 5 curl -s -u u:hunter22 https://h/x", "watch -n 5 curl -s -u u:hunter22 https://h/x?a=1",
		"watch -x curl -s -u 'u:hunter22;x' https://h/x", "watch --exec curl -s -u 'u:hunter22;x' https://h/x",
		"timeout 5 curl -u 'u:hunter22;x' h", "docker exec c curl -u 'u:hunter22;x' h",
	} {
		if shown, obscured := shellCall(command).Shown(); obscured || strings.Contains(shown, "hunter22") {
			t.Errorf("an honest call (obscured %v): %s", obscured, shown)
		}
	}
	for _, command := range []string{"echo 'x;hunter22' | ssh h docker login --password-stdin r",
		"ssh h docker login --password-stdin r <<< 'x;hunter22'"} {
		if shown, _ := shellCall(command).Shown(); strings.Contains(shown, "hunter22") {
			t.Errorf("what no second shell reads is shown: %s", shown)
		}
	}
}

// The story: find ran docker compose -pproduction behind the end of its first -exec. The
// words were taken for those of the first program, and the project was hidden as mysqladmin's
// password. Each program has the words up to its own end.
func TestEachProgramThatFindRunsHasItsOwnWords(t *testing.T) {
	const second = "docker compose -pproduction up -d"
	for _, end := range []string{"\\;", "';'", "\";\"", "''\\;", "{} +", "'{}' '+'", "\"{}\" \\+"} {
		for _, flag := range []string{"-exec", "-execdir", "-ok", "-okdir", "-name x -exec", "-delete -exec"} {
			for _, by := range []string{"find . ", "sudo find . ", "sudo -u x find . -maxdepth 0 ", "timeout 5 find . ",
				"docker exec c find . "} {
				command := by + "-exec mysqladmin ping " + end + " " + flag + " " + second + " \\;"
				if shown, obscured := shellCall(command).Shown(); shown != command || obscured {
					t.Errorf("what decides is hidden (%v): %s", obscured, shown)
				}
				honest := by + "-exec ls " + end + " " + flag + " mysql -phunter22 x \\;"
				if shown, obscured := shellCall(honest).Shown(); obscured || strings.Contains(shown, "hunter22") {
					t.Errorf("an honest call (obscured %v): %s", obscured, shown)
				}
			}
		}
	}
	for _, end := range []string{"$X", "$'\\x3b'", "+", "\"$X\"", "?", "*", "{a,b}", "`e`"} { // may be an end
		command := "find . -exec mysqladmin ping " + end + " -exec " + second + " \\;"
		if shown, obscured := shellCall(command).Shown(); !obscured && strings.Contains(shown, hiddenWords) {
			t.Errorf("hidden without the notice: %s", shown)
		}
	}
	for _, honest := range []string{"find . -name '*.sql' -exec mysql -phunter22 -e 'select * from x' {} +",
		"find . -name *.sql -exec mysql -phunter22 -e \"select * from x\" \\;"} {
		if shown, obscured := shellCall(honest).Shown(); obscured || strings.Contains(shown, "hunter22") {
			t.Errorf("an honest call (obscured %v): %s", obscured, shown)
		}
	}
}
