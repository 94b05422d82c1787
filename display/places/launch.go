package places

import (
	"slices"
	"strings"
	"sync"

	"approver.example/display/shape"
)

// This file finds the program behind a launcher: timeout 5 mysql, docker exec db mysql.

// launcherWords say what stands between a launcher and the program that it runs. A word
// that begins with a dash is a flag; one that takes a value has a colon behind it, and
// "-" alone says that any flag may stand there, so that the program is a guess. "#1" is
// one operand, "--" says that the program stands behind that word, if it is there, and "sh"
// that a shell reads the words behind the launcher again. Flags of one letter may be joined. What stands
// behind "of" are the words of a subcommand, which may have flags before it.
var launcherWords = map[string]string{
	"timeout": "-k: -s: --kill-after: --signal: --foreground --preserve-status -v --verbose -f -p #1",
	"nice":    "-n: --adjustment: -0 -1 -2 -3 -4 -5 -6 -7 -8 -9",
	"ionice":  "-c: -n: -t --class: --classdata: --ignore", "chrt": "-a -b -f -i -o -r -R #1", "taskset": "-a -c #1",
	"setsid": "-c -f -w --ctty --fork --wait",
	"stdbuf": "-i: -o: -e: --input: --output: --error:",
	"xargs": "- -a: -d: -E: -I: -L: -n: -P: -s: -0 -r -t -p -x -o --null --no-run-if-empty --verbose --interactive" +
		" --max-args: --max-procs: --max-lines: --delimiter: --arg-file: --replace --max-chars: --exit",
	"parallel": "- sh",
	"watch": "sh -n: --interval: -d -t -b -e -g -c -x -p -w --differences --no-title --beep --errexit --chgexit " +
		"--color --exec --precise",
	"chroot": "--userspec: --groups: --skip-chdir #1",
	"flock": "-s -x -e -n -o -u -F -w: -E: --shared --exclusive --nonblock --close --no-fork --timeout: --wait: " +
		"--conflict-exit-code: --verbose #1",
	"nsenter": "-t: --target: -a --all -m -u -i -n -p -U -C -T -r -w -F -Z --mount --uts --ipc --net --pid --user " +
		"--cgroup --root --wd --no-fork -S: -G: --setuid: --setgid: --preserve-credentials",
	"unshare": "-", "setpriv": "-", "doas": "-u: -C: -a: -n -L -s", "runuser": "-u: -g: -G: --user: --group: -- - sh",
	"su": "- sh", "exec": "-a: -c -l", "builtin": "", "busybox": "", "chronic": "-v -e",
	"strace": "-", "ltrace": "-", "perf": "-", "catchsegv": "", "setarch": "-", "linux32": "-", "linux64": "-",
	"systemd-run": "-", "systemd-inhibit": "-", "caffeinate": "-t: -d -i -m -s -u",
	"firejail": "-", "bwrap": "-", "proot": "-", "faketime": "-f -m #1", "xvfb-run": "-", "dbus-run-session": "- --",
	"unbuffer": "-p", "rlwrap": "-", "winpty": "-", "gtimeout": "-k: -s: #1",
	"ssh": "sh -b: -c: -D: -E: -e: -F: -I: -i: -J: -L: -l: -m: -O: -o: -p: -Q: -R: -S: -W: -w: -B: -4 -6 -A -a -C -f " +
		"-G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y #1", "mosh": "- sh #1 --",
	"sshpass": "-p: -f: -d: -P: -e -v", "npx": "-y --yes -q --quiet --no-install -p: --package:", "bunx": "--bun",
	"uvx": "--from: --with: -p: --python: -q", "env": "-i -0 -v -u: -C: --ignore-environment --unset: --chdir: --null",
	"time": "-p -v -a -f: -o: --format: --output: --portability --verbose", "command": "-p", "nohup": "",
	"docker of exec": "-d -i -t -e: -u: -w: --detach --interactive --tty --env: --env-file: --user: " +
		"--workdir: --privileged --detach-keys: #1",
	"docker of compose exec": "-d -T -e: -u: -w: --detach --no-TTY --no-tty --env: --user: --workdir: --privileged " +
		"--index: --interactive --tty -i -t #1",
	"docker of compose run": "-d -T -e: -u: -w: -p: -v: -l: -P -i -t -q --rm --no-deps --build --detach --no-TTY " +
		"--env: --env-from-file: --user: --workdir: --name: --service-ports --use-aliases --publish: --volume: " +
		"--quiet-pull --interactive --remove-orphans #1",
	"docker of run": "-a: -c: -d -e: -h: -i -l: -m: -p: -P -q -t -u: -v: -w: --rm --name: --network: --net: --env: " +
		"--env-file: --user: --volume: --mount: --workdir: --publish: --label: --platform: --pull:" +
		" --privileged --init --interactive --tty --detach --memory: --cpus: --gpus: --hostname: --add-host: --link: " +
		"--read-only --restart: --cap-add: --cap-drop: --security-opt: --shm-size: --ipc: --pid: --ulimit: --tmpfs: " +
		"--device: --volumes-from: --log-driver: --log-opt: --dns: #1",
	"kubectl of exec": "-c: --container: -i -t -q --stdin --tty --quiet --pod-running-timeout: -n: --namespace: " +
		"--context: --kubeconfig: --cluster: #1 --",
	"kubectl of run": "- --", "kubectl of debug": "- --",
	"oc of rsh":   "-c: --container: -T -t -n: --namespace: --no-tty --tty --shell: --timeout: -f: #1",
	"lxc of exec": "--env: --mode: --cwd: --user: --group: -T -t -n #1 --", "heroku of run": "- sh --",
	"heroku of local:run": "-", "vagrant of ssh": "- sh --", "gcloud of compute ssh": "- sh --",
	"fly of ssh console": "- sh --", "minikube of ssh": "- sh --", "nomad of alloc exec": "- #1",
	"poetry of run": "", "uv of run": "- --", "pipenv of run": "", "bundle of exec": "", "npm of exec": "- --",
	"pnpm of exec": "- --", "pnpm of dlx": "-", "yarn of exec": "- --", "yarn of dlx": "-", "op of run": "- --",
	"doppler of run":    "- --",
	"aws-vault of exec": "- #1 --", "chamber of exec": "- #1 --", "dotenv": "- --", "envchain": "- #1",
	"direnv of exec": "#1", "nix of run": "- --", "nix of develop": "- --", "mise of exec": "- --", "asdf of exec": "",
	"conda of run":  "-n: -p: --name: --prefix: --no-capture-output --live-stream",
	"rbenv of exec": "", "pyenv of exec": "", "toolbox of run": "-", "distrobox of enter": "- --", "flatpak of run": "-",
	"find": "", "coproc": "", "eval": "- sh",
}

// likeLaunchers have the words of others.
var likeLaunchers = map[string]string{
	"podman": "docker", "nerdctl": "docker", "docker-compose": "docker compose", "podman-compose": "docker compose",
	"oc": "kubectl", "k": "kubectl", "microk8s.kubectl": "kubectl", "incus": "lxc", "flyctl": "fly", "gnice": "nice",
	"gstdbuf": "stdbuf",
}

// launcherGlobals take a value, and stand before the subcommand of a launcher.
var launcherGlobals = map[string]bool{
	"-H": true, "--host": true, "--context": true, "-c": true, "--config": true, "-l": true, "--log-level": true,
	"-f": true, "--file": true, "-p": true, "--project-name": true, "--profile": true,
	"--env-file": true, "--project-directory": true, "--ansi": true, "-n": true, "--namespace": true, "--kubeconfig": true,
	"--cluster": true, "-s": true, "--server": true, "--user": true, "--as": true,
	"-C": true, "--directory": true, "--project": true, "--zone": true, "-a": true, "--app": true, "--url": true,
	"--connection": true, "--token": true, "--parallel": true, "--progress": true,
}

// A launching is what stands between one launcher and the program that it runs.
type launching struct {
	sub      []string        // the subcommand that it is
	flags    map[string]bool // whether a flag takes a value
	operands int
	any      bool // a flag that is not listed may stand there
	dashes   bool // the program stands behind --
	shell    bool // a shell reads the words again
}

// launchings is launcherWords, taken apart.
var launchings = sync.OnceValue(func() map[string][]launching {
	out := map[string][]launching{}
	for name, text := range launcherWords {
		name, sub, _ := strings.Cut(name, " of ")
		one := launching{sub: strings.Fields(sub), flags: map[string]bool{}}
		for _, w := range strings.Fields(text) {
			switch w {
			case "-":
				one.any = true
			case "--":
				one.dashes = true
			case "#1":
				one.operands = 1
			case "sh":
				one.shell = true
			default:
				flag, valued := strings.CutSuffix(w, ":")
				one.flags[flag] = valued
			}
		}
		out[name] = append(out[name], one)
	}
	for name, other := range likeLaunchers {
		other, under, _ := strings.Cut(other, " ")
		for _, one := range out[other] {
			if under != "" {
				if len(one.sub) < 2 || one.sub[0] != under {
					continue
				}
				one.sub = one.sub[1:]
			}
			out[name] = append(out[name], one)
		}
	}
	for _, all := range out { // first those that say more
		slices.SortFunc(all, func(a, b launching) int { return len(b.sub) - len(a.sub) })
	}
	return out
})

// A program is what a launcher runs: its name and words, among those behind the launcher's.
type program struct {
	from, to int
	sure     bool // every word before it is understood
	shell    bool // a shell reads its words again
}

// programsOf finds the programs that a launcher runs.
func programsOf(src, name string, given []word) []program {
	if name == "find" {
		return foundRuns(src, given)
	}
	for _, one := range launchings()[name] {
		if from, ok := subcommand(src, one.sub, given); ok {
			at, sure := passed(src, one, given, from)
			if at >= len(given) {
				return nil
			}
			return []program{{at, len(given), sure, one.shell && !givesFlag(src, given[:at], "-x") &&
				!givesFlag(src, given[:at], "--exec")}}
		}
	}
	return nil
}

// subcommand finds the words of a subcommand, and the place behind them.
func subcommand(src string, sub []string, given []word) (from int, found bool) {
	if len(sub) == 0 {
		return 0, true
	}
	for i := 0; i < len(given); i++ {
		switch text, _ := given[i].bare(src); {
		case text == sub[0]:
			if sub = sub[1:]; len(sub) == 0 {
				return i + 1, true
			}
		case strings.HasPrefix(text, "-"):
			i += shape.Count(launcherGlobals[text])
		default:
			return 0, false
		}
	}
	return 0, false
}

// passed passes the flags and operands of a launcher.
func passed(src string, one launching, given []word, at int) (program int, sure bool) {
	sure = !one.any
	if one.dashes {
		for i := at; i < len(given); i++ {
			if text, _ := given[i].bare(src); text == "--" {
				return i + 1, sure
			}
		}
		sure = false // an older form, or the flags of the program
	}
	operands := one.operands
	for ; at < len(given); at++ {
		text, _ := given[at].bare(src)
		switch {
		case text == "--":
		case strings.HasPrefix(text, "-") && len(text) > 1:
			skip, known := one.flag(text)
			if at += shape.Count(skip); !known {
				sure = false
			}
		case operands > 0:
			operands--
		default:
			return at, sure
		}
	}
	return at, sure
}

// flag reads one of a launcher's flags: whether the next word is its value, and whether it
// is listed.
func (one launching) flag(text string) (skip, known bool) {
	name, _, glued := strings.Cut(text, "=")
	if valued, known := one.flags[name]; known {
		return valued && !glued, true
	}
	if strings.HasPrefix(text, "--") {
		return false, false
	}
	for i, letter := range text[1:] {
		valued, known := one.flags["-"+string(letter)]
		switch {
		case !known:
			return false, false
		case valued:
			return i == len(text)-2, true
		}
	}
	return false, true
}

// foundRuns are the programs that find runs, each with the words up to its end.
func foundRuns(src string, given []word) (out []program) {
	for i := 0; i < len(given); i++ {
		if !findFlags[given[i].unquoted(src)] {
			continue
		}
		one := program{from: i + 1, to: i + 1, sure: true}
		for one.to < len(given) {
			text := given[one.to].unquoted(src)
			if text == ";" || text == "+" && given[one.to-1].unquoted(src) == "{}" {
				break
			}
			// it may be an end as well, once the shell has read it, or for some find
			one.sure = one.sure && text != "+" && !given[one.to].expands(src)
			one.to++
		}
		if i = one.to; one.from < one.to {
			out = append(out, one)
		}
	}
	return out
}

// findFlags are those behind which find is given a program.
var findFlags = map[string]bool{"-exec": true, "-execdir": true, "-ok": true, "-okdir": true}
