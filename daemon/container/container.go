// Package container finds out whether the daemon, and the courier of a call with it, runs in a
// container whose system is thrown away. What a call changes of such a system is judged more mildly.
// The package looks only at what nobody without root can make, and when in doubt, it says no.
package container

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"approver.example"
	"approver.example/httpapi/peercred"
)

// A Machine is where the daemon runs.
type Machine struct {
	root  string // the folder that is looked at as the root, for tests
	owner uint32 // of the files that container engines make
	name  string // what the daemon sees, see [peercred.Root]
	is    bool   // it is a container; a machine does not become one
}

// This is the machine that the process runs on.
func This() *Machine { return machine("/", 0, peercred.Root()) }

func machine(root string, owner uint32, name string) *Machine {
	m := &Machine{root: root, owner: owner, name: name}
	_, err := m.look()
	m.is = err == nil
	return m
}

// Of returns the container of a caller who sees what a root names, or nil.
func (m *Machine) Of(root string) *approver.Container {
	if root == "" || root != m.name {
		return nil // a caller who sees other files may be outside
	}
	return m.Container()
}

// Container returns the container that this process runs in, or nil. What is mounted is read at each
// call.
func (m *Machine) Container() *approver.Container {
	if !m.is {
		return nil
	}
	mounts, err := m.look()
	if err != nil {
		return nil
	}
	return &approver.Container{Mounts: mounts}
}

// sockets command container engines, and so their machine.
var sockets = strings.Fields(`run/docker.sock var/run/docker.sock run/docker-host.sock run/podman/podman.sock
	run/containerd/containerd.sock run/crio/crio.sock`)

// look returns the mounts of the container, or why this is none, or none that counts.
func (m *Machine) look() ([]string, error) {
	if !m.marked(".dockerenv") && !m.marked("run/.containerenv") {
		return nil, errors.New("no container engine has marked it")
	}
	if m.has("run/.toolboxenv") || m.has("run/host") {
		return nil, errors.New("it shares the home and more with its host")
	}
	if slices.ContainsFunc(sockets, m.has) {
		return nil, errors.New("it has the socket of a container engine")
	}
	status, err := m.read("proc/self/status")
	if err != nil {
		return nil, err
	}
	if err := unprivileged(status); err != nil {
		return nil, err
	}
	table, err := m.read("proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return mountsOf(table)
}

// marked reports whether there is a file that only root could make in its folder.
func (m *Machine) marked(name string) bool {
	info, err := os.Lstat(filepath.Join(m.root, name))
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == m.owner
}

// has reports whether there may be a file.
func (m *Machine) has(name string) bool {
	_, err := os.Lstat(filepath.Join(m.root, name))
	return !errors.Is(err, os.ErrNotExist)
}

func (m *Machine) read(name string) ([]byte, error) { return os.ReadFile(filepath.Join(m.root, name)) }

// strong are the capabilities with which a process reaches what is around its container: they mount,
// load code into the kernel, use devices, and open files by their number.
const strong = 1<<21 | 1<<16 | 1<<17 | 1<<2 // SYS_ADMIN, SYS_MODULE, SYS_RAWIO, DAC_READ_SEARCH

// unprivileged returns an error if the processes of a container may get strong capabilities.
func unprivileged(status []byte) error {
	_, after, found := bytes.Cut(status, []byte("\nCapBnd:"))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	bound, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 64)
	switch {
	case !found || err != nil:
		return errors.New("what its processes may get is not known")
	case bound&strong != 0:
		return errors.New("it is privileged")
	}
	return nil
}

// virtual are the file systems of which a container has its own.
var virtual = strings.Fields("proc sysfs tmpfs devpts mqueue cgroup cgroup2 devtmpfs")

// mountsOf returns the mount points of a table as in /proc/self/mountinfo, other than the root. It
// fails unless the root is made of layers, and if a part of the host is mounted with which the
// container is no boundary: a whole file system, or the socket of a container engine.
func mountsOf(table []byte) (mounts []string, err error) {
	layered := false
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		before, after, found := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !found || len(fields) < 6 || len(kind) < 3 {
			return nil, errors.New("the table of its mounts is not understood")
		}
		from, point := fields[3], unescaped.Replace(fields[4])
		switch {
		case point == "/": // of several, the last one is seen
			layered = kind[0] == "overlay" || kind[0] == "fuse.fuse-overlayfs"
			continue
		case from == "/" && !slices.Contains(virtual, kind[0]):
			return nil, errors.New(point + " is a whole file system")
		case isEngine(path.Base(from)) || isEngine(path.Base(point)):
			return nil, errors.New(point + " may command the host")
		}
		mounts = append(mounts, point)
	}
	if lines.Err() != nil || !layered {
		return nil, errors.New("its root is not made of layers")
	}
	return mounts, nil
}

// isEngine reports whether a name is that of a container engine's socket.
func isEngine(name string) bool {
	return strings.HasSuffix(name, ".sock") &&
		slices.ContainsFunc(engines, func(engine string) bool { return strings.Contains(name, engine) })
}

var engines = []string{"docker", "podman", "containerd", "cri", "buildkit"}

var unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
