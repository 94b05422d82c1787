package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// isDescriptors reports whether a folder is that of the descriptors of this process, or
// may be: /proc/$$/fd.
func isDescriptors(folder string) bool {
	if folder == "/dev/fd/" {
		return true
	}
	rest, ok := strings.CutPrefix(folder, "/proc/")
	if !ok {
		return false
	}
	process, rest, _ := strings.Cut(rest, "/")
	if process != "self" && process != "thread-self" && effect.IsKnown(process) {
		return false
	}
	if _, thread, found := strings.Cut(rest, "task/"); found {
		_, rest, _ = strings.Cut(thread, "/")
	}
	return rest == "fd/"
}

// socket is the host and port of bash's /dev/tcp.
func socket(p string) (string, bool) {
	for _, kind := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(p, kind); ok {
			host, port, _ := strings.Cut(rest, "/")
			return host + ":" + port, true
		}
	}
	return "", false
}

// within reports whether a folder is the other one, or lies in it.
func within(p, dir string) bool {
	return dir != "" && (p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
}

// anyFile is the kind of an execution of a file of whose path nothing is known.
func anyFile(path string) string {
	if folder := path[:strings.LastIndexByte(path, '/')+1]; isDescriptors(folder) && !effect.IsKnown(path[len(folder):]) {
		return "any"
	}
	if path != "" && strings.Trim(path, effect.Unknown+"./") == "" && !effect.IsKnown(path) {
		return "any"
	}
	return ""
}

// installed reports whether a program lies where only an installation puts one, or a
// package manager, so that it is what its name says. What is called git in another folder is taken for
// git, and for whatever else somebody put there.
func installed(file string) bool {
	for _, folder := range [...]string{"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/store/", "/snap/bin/", "/System/", "/Library/", "/Applications/", "/home/linuxbrew/"} {
		if strings.HasPrefix(file, folder) {
			return true
		}
	}
	for _, folder := range [...]string{"/node_modules/.bin/", "/.venv/bin/", "/venv/bin/", "/.cargo/bin/", "/go/bin/", "/.local/bin/"} {
		if strings.Contains(file, folder) {
			return true
		}
	}
	return !strings.HasPrefix(file, "/") // not a path of this kind of machine
}

// covert reports whether a file lies where nobody looks: in memory, or hidden among
// temporary files.
func covert(p string) bool {
	return strings.HasPrefix(p, "/dev/shm/") || temporary(p) && strings.Contains(p, "/.")
}

// temporary reports whether a path lies in a folder in which everybody may write.
func temporary(p string) bool {
	for _, folder := range [...]string{"/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/"} {
		if strings.HasPrefix(p, folder) {
			return true
		}
	}
	return false
}
