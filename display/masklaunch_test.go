package display

import (
	"strings"
	"testing"
)

// launched are commands in which a launcher that is understood runs a program with the
// password §.
var launched = []string{
	"timeout 5 mysql -p§ x", "timeout -k 1 -s KILL 5m mysql -p§ x", "timeout --kill-after=5 5 mysql -p§ x",
	"nice -n 5 mysql -p§ x", "nice mysql -p§ x", "ionice -c 3 mysql -p§ x", "ionice -c3 -n 0 mysql -p§ x",
	"stdbuf -oL mysql -p§ x", "stdbuf -o L -e 0 mysql -p§ x", "watch mysql -p§ x", "watch -n 5 mysql -p§ x",
	"watch -n5 -d mysql -p§ x", "env -i mysql -p§ x", "env -u HOME mysql -p§ x", "env -i PATH=/bin mysql -p§ x",
	"chroot /srv mysql -p§ x", "chroot --userspec=a:b /srv mysql -p§ x", "flock f mysql -p§ x",
	"flock -n -w 5 f mysql -p§ x", "nsenter -t 5 -m -u mysql -p§ x", "nsenter --target 5 --mount mysql -p§ x",
	"nsenter -a -t 5 -- mysql -p§ x",
	"setsid -w mysql -p§ x", "exec mysql -p§ x", "exec -a x mysql -p§ x", "command -p mysql -p§ x", "time -p mysql -p§ x",
	"builtin exec mysql -p§ x", "taskset -c 1 mysql -p§ x", "chrt -r 5 mysql -p§ x", "doas -u x mysql -p§ x",
	"caffeinate -i mysql -p§ x",
	"sudo -u x mysql -p§ x", "sudo -u x timeout 5 mysql -p§ x", "sudo timeout 5 nice -n 5 mysql -p§ x",
	"timeout 5 sudo -u x mysql -p§ x", "if timeout 5 mysql -p§ x; then ls; fi", "find . -exec mysql -p§ x \\;",
	"docker exec db mysql -p§ x", "docker exec -i db mysql -u root -p§ x", "docker exec -it db mysql -p§",
	"docker exec -u 0 -w /x -e A=b db mysql -p§", "docker --context p exec db mysql -p§",
	"docker -H tcp://h exec -i db mysql -p§ < x.sql", "sudo docker exec db mysql -p§ x",
	"docker compose exec db mysql -p§ x", "docker compose exec -T db mysql -u root -p§ < x.sql",
	"docker compose -f c.yml -p y exec -T db mysql -p§", "docker compose run --rm db mysql -h db -p§",
	"docker-compose exec -T db mysql -p§", "podman exec -i db mysql -p§",
	"docker run --rm img mysql -p§ x", "docker run -it --rm --network n -v a:b mysql:8 mysql -h db -p§",
	"docker run --rm -e A=b img mysql -p§", "docker exec db timeout 5 mysql -p§ x", "docker exec db env A=b mysql -p§ x",
	"kubectl exec db -- mysql -p§ x", "kubectl exec -it db -- mysql -p§",
	"kubectl -n prod exec -i db -c x -- mysql -p§ < x.sql", "kubectl exec deploy/db -n prod -- mysql -p§",
	"oc exec db -- mysql -p§", "oc rsh db mysql -p§", "lxc exec db -- mysql -p§",
	"ssh h mysql -p§ x", "ssh -p 22 -i k u@h mysql -p§ x", "ssh -tt -o A=b h mysql -p§", "ssh h sudo mysql -p§ x",
	"ssh h docker exec db mysql -p§", "sshpass -e ssh h mysql -p§ x", "< x.sql mysql -p§ x", "2>e mysql -p§ x",
	"mysql.exe -p§ x",
	"poetry run mysql -p§", "bundle exec mysql -p§", "conda run -n e mysql -p§", "busybox timeout 5 mysql -p§",
}

// guessed are commands in which the program is a guess.
var guessedPrograms = []string{
	"/opt/mysql/bin/mysql -p§ x", "./mysql -p§ x", "~/bin/mysql -p§", "\"$HOME/bin/mysql\" -p§", "ssh h 'mysql -p§ x'",
	"ssh h \"sudo mysql -p§ x\"", "ls | xargs mysql -p§ x", "xargs -n 1 -P 4 mysql -p§ x < f",
	"timeout --new v 5 mysql -p§ x", "docker exec --new v db mysql -p§ x",
	"systemd-run --scope mysql -p§", "strace -f -e open mysql -p§ x", "unshare -n mysql -p§", "runuser -u x -- mysql -p§",
	"kubectl exec db mysql -p§", "kubectl run x --rm -i --image=mysql -- mysql -p§",
	"kubectl exec db -- sh -c 'mysql -p§'", "docker exec db sh -c 'mysql -p§ x'", "docker exec db bash -lc \"mysql -p§\"",
	"watch 'mysql -p§'", "su x -c 'mysql -p§'", "parallel mysql -p§ ::: a", "aws-vault exec prod -- mysql -p§",
	"heroku run -a x -- mysql -p§", "gcloud compute ssh h -- mysql -p§", "op run --env-file=e -- mysql -p§",
	"eval mysql -p§ x", "find . -name x -exec sh -c 'mysql -p§' \\;", "script -c 'mysql -p§'", "flock f -c 'mysql -p§'",
	"nohup /opt/x/mysql -p§ &", "perf stat mysql -p§",
}

// The story: an agent ran mysql in a container, and the card, the chat's history and the
// audit had the database's password in the clear: it was known behind mysql, and not
// behind docker exec. Where a launcher's words are understood the tap stays; where the
// program is a guess the card says that it hides.
func TestASecretBehindALauncherIsHidden(t *testing.T) {
	for _, key := range []string{"hunter22", "letmein"} {
		for i, form := range append(append([]string{}, launched...), guessedPrograms...) {
			command := strings.ReplaceAll(form, "§", key)
			shown, obscured := shellCall(command).Shown()
			if strings.Contains(shown, key) || strings.Contains(Mask(command), key) {
				t.Errorf("the card shows %s\n  the audit %s", shown, Mask(command))
			}
			if guess := i >= len(launched); obscured != guess {
				t.Errorf("obscured %v: %s", obscured, command)
			}
		}
	}
}

// What stands in the words of a launcher, or is read with another program's eyes, is no
// password, and stays in sight.
func TestTheWordsOfALauncherAreShown(t *testing.T) {
	for _, command := range []string{
		"docker exec -p production db rm -rf /x", "timeout -s mysql 5 rm -pproduction", "ssh -p 2222 prod reboot",
		"ssh -l root prod reboot", "docker run -p 8080:80 mysql:8", "docker run --name mysql -pproduction2 img",
		"docker exec mysql rm -pproduction",
		"docker exec db ls -p production", "kubectl exec mysql -- rm -rf production",
		"kubectl -n mysql delete -pproduction pod x", "nice -n 5 mkdir -p production",
		"watch -n 5 kubectl get -n production pods", "env -i mkdir -p production",
		"timeout 5 docker compose -p production down",
		"ssh h stage=production deploy; curl -u u:$stage https://h",
		"docker exec c stage=production; curl -u u:$stage https://h",
		"ssh h export stage=production; curl -u u:$stage https://h",
		"timeout 5 kubectl delete pods -l stage=production; curl -u u:$stage https://h",
		"docker run img stage=production x; docker login -p $stage h", "flock mysql rm -pproduction",
		"chroot mysql mkdir -pproduction", "find mysql -pproduction -delete", "> mysql mkdir -pproduction",
	} {
		if shown, _ := shellCall(command).Shown(); shown != command {
			t.Errorf("what decides is hidden: %s", shown)
		}
	}
}
