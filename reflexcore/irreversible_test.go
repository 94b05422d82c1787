package reflexcore_test

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/configs"
	"approver.example/reflexcore"
)

// bands of the score: what a call in each costs to take back.
var bands = map[string][2]uint8{"free": {0, 0}, "low": {1, 30}, "some": {31, 54}, "lost": {55, 79}, "gone": {80, 100}}

func TestIrreversible(t *testing.T) {
	rules, err := configs.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	full, err := reflexcore.New(rules, reflexcore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	bare, err := reflexcore.New(nil, reflexcore.Limits{}) // the score does not hang on which rules there are
	if err != nil {
		t.Fatal(err)
	}
	full, bare = full.WithDisk(chroot{root: t.TempDir()}), bare.WithDisk(chroot{root: t.TempDir()})
	for band, commands := range map[string][]string{
		"free": {
			"git clean -n",
			"git stash",
			"kubectl delete deployment web --dry-run=client",
			"terraform plan -destroy",
			"aws s3 rm s3://b/a --dryrun",
			"trash old",
			"gio trash old",
			"npm publish --dry-run",
			"truncate -s 0 app.log",
			": > data.csv",
			"mv a b",
			"npm run build",
			"make clean",
			"ls -la",
			"cat x | mail -s hi bob@example.com",
			"pip uninstall -y x",
		},
		"low": {
			"rm -rf node_modules dist",
			"rm -rf build/",
			"rm -rf /tmp/x",
			"rm old.txt",
			"rm -rf src",
			"git push",
			"docker compose down",
			"tar czf /backup/src.tgz src && rm -rf src",
			"cp -r src /srv/bak && rm -rf src",
			"gh repo archive acme/shop",
			"vercel --prod",
			"git push --tags",
			"systemctl stop nginx",
			"kill 123",
			"reboot",
			"crontab -r",
			"apt autoremove",
			"mkdir t && touch t/a && rm -rf t",
			"touch a.txt && rm a.txt",
		},
		"some": {
			"rm -rf /tmp",
			"rm .git/MERGE_HEAD",
			"docker compose down -v", // of the project, so that they can be filled again
			"git reset --hard",
			"git checkout -- .",
			"git stash drop",
			"git branch -D feature",
			"git filter-branch --tree-filter 'rm x' HEAD",
			"kubectl delete pod web-1",
			"aws ec2 terminate-instances --instance-ids i-1",
			"psql -c 'delete from users where id=1'",
			"gh release delete v1",
			"git tag -d v1",
			"apt-get remove nginx",
			"rsync -a --delete src/ dst/",
			"helm uninstall web",
			"redis-cli del key",
			"vault kv destroy secret/x",
		},
		"lost": {
			"rm -rf \"$X\"/y", // X may be empty
			"rm -rf .",
			"rm -rf .git",
			"psql -h localhost -c 'drop table users'",
			"rm -rf ~/Documents/thesis",
			"rm /srv/data/a.csv",
			"rm ~/.ssh/id_ed25519",
			"git clean -fdx",
			"git stash clear",
			"git reflog expire --expire=now --all",
			"git gc --prune=now",
			"git push --force origin main",
			"git push origin --delete feature",
			"shred -u secret.txt",
			"kubectl delete ns staging",
			"psql -c 'delete from users'",
			"npm publish",
			"npm unpublish left-pad --force",
			"cargo publish",
			"twine upload dist/*",
			"journalctl --vacuum-time=1s",
			"lvremove vg/data", "pg_dump -f app.sql app && psql -c 'drop table users'",
			"btrfs subvolume delete /snap",
			"heroku pg:reset --confirm app",
			"etcdctl del / --prefix",
		},
		"gone": {
			"gcloud sql instances delete live",
			"rclone purge remote:bucket",
			"gcloud projects delete my-prod",
			"gh repo delete acme/shop --yes",
			"rm -rf /",
			"rm -rf ~",
			"rm -rf /etc/nginx",
			"rm -rf *",
			"rm -rf /srv/data",
			"find /srv -delete",
			"dd if=/dev/zero of=/dev/sda",
			"mkfs.ext4 /dev/sdb1",
			"docker system prune -af --volumes",
			"docker volume rm data",
			"kubectl delete namespace production",
			"terraform destroy -auto-approve",
			"aws s3 rm s3://bucket/a --recursive",
			"aws s3 rm s3://prod-backups --recursive",
			"aws rds delete-db-instance --db-instance-identifier prod-db --skip-final-snapshot",
			"psql -c 'drop table users'",
			"psql -c 'drop database production'",
			"mysql -e 'truncate orders'",
			"redis-cli flushall",
			"mongosh --eval 'db.dropDatabase()'",
			"echo x > /dev/sda",
			"userdel -r bob",
			"zfs destroy -r tank/home",
			"stripe refunds create --charge=ch_1",
		},
	} {
		for _, command := range commands {
			call := reflexcore.Example{Command: command}.Call()
			v, err := full.Judge(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			got := v.Irreversible
			if got.Score < bands[band][0] || got.Score > bands[band][1] || (got.Score > 0) != (got.Why != "") {
				t.Errorf("%s is %d, not %s %v: %s", command, got.Score, band, bands[band], got.Why)
			}
			if got.Score >= reflexcore.TypeFrom && (v.Decision > approver.Ask || v.Severity != approver.Catastrophic) {
				t.Errorf("%s is %d and %v %v", command, got.Score, v.Decision, v.Severity)
			}
			w, err := bare.Judge(t.Context(), call)
			if err != nil || w.Irreversible != got {
				t.Errorf("%s without rules: %v, %v, want %v", command, w.Irreversible, err, got)
			}
		}
	}
}

// Without any rule, what destroys something for good is still asked about, and
// what makes a thing known is not: that is for rules to say.
func TestIrreversibleAsksByItself(t *testing.T) {
	bare, err := reflexcore.New(nil, reflexcore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]approver.Decision{
		"rm -rf /srv/data":               approver.Ask,
		"terraform destroy":              approver.Ask,
		"git stash clear":                approver.Ask,
		"stripe refunds create":          approver.Ask,
		"rm -rf node_modules":            approver.Pass,
		"rm -rf src":                     approver.Pass,
		"docker rm web":                  approver.Pass,
		"npm publish":                    approver.Pass,
		"git push":                       approver.Pass,
		"touch /srv/a && rm /srv/a/../a": approver.Ask,
	} {
		v, err := bare.Judge(t.Context(), reflexcore.Example{Command: command}.Call())
		if err != nil || v.Decision != want || want == approver.Ask && v.Rule != reflexcore.RuleIrreversible {
			t.Errorf("%s: %v %s %v %v, want %v", command, v.Decision, v.Rule, v.Irreversible, err, want)
		}
	}
}

// One file outside is a matter of rules; many of them are lost all the same.
func TestIrreversibleCounts(t *testing.T) {
	bare, err := reflexcore.New(nil, reflexcore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	last := uint8(0)
	for _, n := range []int{1, 21, 1001} {
		var names []string
		for i := range n {
			names = append(names, "/home/ada/other/"+strings.Repeat("x", i%50+1)+strings.Repeat("y", i/50))
		}
		v, err := bare.Judge(t.Context(), reflexcore.Example{Command: "rm " + strings.Join(names, " ")}.Call())
		if err != nil || v.Irreversible.Score <= last {
			t.Errorf("%d files: %v, %v, not more than %d", n, v.Irreversible, err, last)
		}
		last = v.Irreversible.Score
	}
	production := func(command string) uint8 {
		v, _ := bare.Judge(t.Context(), reflexcore.Example{Command: command}.Call())
		return v.Irreversible.Score
	}
	if a, b := production("kubectl delete namespace staging"), production("kubectl delete namespace production"); a >= b {
		t.Errorf("staging %d, production %d", a, b)
	}
	if a, b := production("cp -r src /srv/bak && rm -rf src"), production("rm -rf src"); a >= b {
		t.Errorf("copied before %d, not %d", a, b)
	}
}
