package configs_test

import "testing"

// The programs of a project below /tmp, as containers and tests have them, were programs that anybody
// could have put there.
func TestSearchPathsOfWorkBelowATemporaryFolder(t *testing.T) {
	judge := in(t, "/tmp/box/shop", map[string]string{"HOME": "/home/ada"})
	asks(t, judge, false, `
		export PATH=$PWD/bin:$PATH
		PYTHONPATH=$PWD pytest
		export LD_LIBRARY_PATH=$PWD/lib`)
	asks(t, judge, true, `
		export PATH=/tmp/other/bin:$PATH
		export PATH=/tmp/box:$PATH
		PATH=.:$PATH make
		PYTHONPATH=/tmp python3 a.py`)
	asks(t, in(t, "/tmp", map[string]string{"HOME": "/tmp"}), true, `
		export PATH=/tmp/bin:$PATH`)
}

// Nothing is lost where nothing matches a pattern: a build's folder is emptied before there is one.
func TestPatternsThatMatchNothing(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "src/a.go", "package a")
	put(t, dir, "notes/.plan", "x")
	judge := in(t, dir, map[string]string{"HOME": "/home/ada"})
	asks(t, judge, false, `
		rm -rf manifests/*
		rm -rf manifests/*/cache
		rm -rf src/*.o *.so
		rm -rf coverage/*.out`)
	asks(t, judge, true, `
		rm -rf src/*
		rm -rf src/*.go
		rm -rf s*/a.go
		rm -rf notes/.*
		rm -rf notes/*
		shopt -s nocaseglob; rm -rf src/*.GO
		shopt -s extglob; rm -rf src/!(b.go)
		shopt -s globstar; rm -rf **/*.go
		mv ~/Documents/* manifests; rm -rf manifests/*
		mv src old.zzz && rm -rf *.zzz
		git stash pop && rm -rf *.zzz
		tar xf a.tar; rm -rf *.zzz
		rm -rf [!x]rc
		rm -rf [[:alpha:]]rc
		rm -rf $X/*.o`)
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
		git -c clean.requireForce=no clean
		aws ecs update-service --service s --desired-count 0
		gcloud container clusters resize c --num-nodes 0
		kubectl patch deploy web -p '{"spec":{"replicas":0}}'
		gpg --delete-secret-keys me
		wsl --unregister Ubuntu
		reg delete HKLM/Software/x /f
		icacls C:/x /grant Everyone:F /t`)
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
		git -c clean.requireForce=true clean
		aws ecs update-service --service s --desired-count 2
		kubectl patch deploy web -p '{"spec":{"replicas":3}}'
		kubectl patch deploy web --patch "$(cat patch.yaml)"
		gpg --list-secret-keys
		wsl --list
		reg query HKLM/Software/x
		icacls C:/x /grant bob:R`)
}

// The tables said of these that they publish, and no rule asked: what a program is called made the
// difference between npm publish and sbt publishSigned.
func TestPublishedByOthers(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		vercel --prod
		netlify deploy -p --dir dist
		wrangler deploy --env production
		serverless deploy --stage prod
		sbt publishSigned
		lein deploy clojars
		snapcraft upload a.snap
		eas submit -p ios
		toot post hello
		twilio api:core:messages:create --to b --body x`)
	asks(t, judge, false, `
		vercel
		netlify deploy --dir dist
		wrangler deploy --env staging
		serverless deploy --stage dev
		vercel ls --prod
		sbt test
		sbt publishLocal
		lein test
		eas build
		toot whoami`)
}
