package configs_test

import "testing"

// A project or a home below /tmp, as containers and tests have them, was temporary as a whole: rights,
// keys and files without a copy were nobody's loss there. Work is not temporary because of where it
// is.
func TestWorkBelowATemporaryFolder(t *testing.T) {
	judge := in(t, "/tmp/box/shop", map[string]string{"HOME": "/tmp/box"})
	asks(t, judge, true, `
		chmod 777 run.sh
		chmod -R 777 .
		rm .env
		rm -rf ~/.ssh
		: > ~/.ssh/id_rsa
		echo token > ~/.git-credentials
		shred notes.txt
		rm -rf /tmp/box
		export PATH=/tmp/other/bin:$PATH
		PYTHONPATH=/tmp python3 a.py`)
	asks(t, judge, false, `
		rm -rf dist
		rm -rf /tmp/other
		chmod -R 777 /tmp/other
		chmod +x run.sh
		echo x > notes.txt
		export PATH=$PWD/bin:$PATH
		PYTHONPATH=$PWD pytest
		export PATH=$HOME/bin:$PATH`)
	asks(t, in(t, "/tmp", map[string]string{"HOME": "/tmp"}), false, `
		rm -rf build
		chmod 777 socket`)
	asks(t, in(t, "/tmp", map[string]string{"HOME": "/tmp"}), true, `
		export PATH=/tmp/bin:$PATH`)
}

// Only /tmp and /var/tmp were the folders of everybody's temporary files. macOS has others.
func TestAllTemporaryFiles(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		rm -rf /tmp
		rm -rf /private/tmp
		rm -rf /private/var/tmp
		rm -rf /var/folders
		find /private/tmp -delete`)
	asks(t, judge, false, `
		rm -rf /private/tmp/build-1
		rm -rf /var/folders/ab/cdef/T/build-1
		rm -rf /tmp/build-1/*`)
}

// The names of disks were those of Linux servers. A program that makes a file system says by itself
// that what it is given is a disk.
func TestDisksOfOtherNames(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		mkfs.ext4 /dev/pmem0
		mkfs.xfs -f /dev/dax0.0
		mkfs.ext4 /dev/ada0p1
		newfs /dev/da0
		dd if=/dev/zero of=/dev/nbd0
		dd if=a of=/dev/rbd/pool/image
		cat a > /dev/mtdblock0
		mkfs.ext4 /dev/newkind0
		dd if=/dev/zero of=/dev/newkind0`)
	asks(t, judge, false, `
		mkfs.ext4 disk.img
		dd if=/dev/zero of=/dev/null
		dd if=fw.bin of=/dev/ttyUSB0
		echo x > /dev/ttyACM0
		echo x > /dev/stderr
		cat a > /dev/full`)
}

// A stop by number, kill $(pgrep sshd), and a loop over what ps and grep find passed, where pkill sshd is a question.
func TestStoppingWhatIsLookedUp(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		kill $(pgrep sshd)
		kill -9 $(pidof systemd-journald)
		pgrep -x nginx | xargs kill
		kill $(ps aux | grep '[n]ginx' | awk '{print $2}')
		ps -ef | grep -v grep | grep postgres | awk '{print $2}' | xargs kill -9
		for pid in $(ps -eo pid,comm | awk '/cron/ {print $1}'); do kill "$pid"; done
		ps -C rsyslogd -o pid= | xargs kill
		ps aux | awk '$11 == "/usr/sbin/cupsd" {print $2}' | xargs kill
		kill $(cat /var/run/nginx.pid)
		f() { for pid in $(ps -eo pid,comm | grep mysqld | awk '{print $1}'); do kill $pid; done; }; f`)
	asks(t, judge, false, `
		kill $(pgrep -f 'npm run dev')
		kill $(pgrep node)
		ps aux | grep vite | awk '{print $2}' | xargs kill
		ps auxww | awk '/celery worker/ {print $2}' | xargs kill -9
		kill $(lsof -ti :3000)
		kill $(cat server.pid)
		pgrep nginx
		ps aux | grep sshd
		kill 4711; ps aux | grep nginx`)
}

// What the tables knew of stopping and deleting in clouds had no rule, and others were in no table.
func TestStoppedAndDeletedElsewhere(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		az vm stop -g production -n web
		az vm deallocate -g production -n web
		gcloud compute instances stop api-1
		gcloud dataflow jobs drain j --region us-central1
		heroku maintenance:on -a web
		heroku ps:scale web=0
		docker node update --availability drain worker-1
		k scale deploy/web --replicas=0
		rclone move a: b:
		restic rewrite --forget latest
		pnpm prisma migrate reset --force
		yarn supabase db reset --linked
		bun run prisma migrate reset --force
		pnpm unpublish a@1
		yarn npm unpublish a
		git update-ref --delete refs/heads/main
		git -c clean.requireForce=no clean`)
	asks(t, judge, false, `
		az vm start -g test -n web
		az vm list
		gcloud compute instances list
		heroku ps -a web
		heroku ps:scale web=2
		docker node ls
		docker node update --availability active worker-1
		k scale deploy/web --replicas=3
		restic rewrite latest
		pnpm prisma generate
		yarn build
		pnpm rimraf dist
		bun run build
		git -c clean.requireForce=true clean`)
}
