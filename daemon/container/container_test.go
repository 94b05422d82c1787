package container

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	docker = `1234 1100 0:45 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/A
1235 1234 0:48 / /proc rw,nosuid - proc proc rw
1236 1234 0:49 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k
1237 1234 0:50 / /sys ro,nosuid - sysfs sysfs ro
1238 1234 8:1 /home/ada/shop /workspaces/my\040shop rw,relatime - ext4 /dev/sda1 rw
1239 1234 8:1 /var/lib/docker/containers/x/hosts /etc/hosts rw,relatime - ext4 /dev/sda1 rw
`
	plain      = "Name:\tapprover\nCapEff:\t0000000000000000\nCapBnd:\t00000000a80425fb\nSeccomp:\t2\n"
	privileged = "Name:\tapprover\nCapBnd:\t000001ffffffffff\n"
	onDisk     = "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
)

// made returns a machine with these files.
func made(t *testing.T, files map[string]string) *Machine {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return machine(root, uint32(os.Getuid()), "here")
}

func files(more ...string) map[string]string {
	out := map[string]string{".dockerenv": "", "proc/self/status": plain, "proc/self/mountinfo": docker}
	for i := 0; i < len(more); i += 2 {
		if more[i+1] == "-" {
			delete(out, more[i])
			continue
		}
		out[more[i]] = more[i+1]
	}
	return out
}

func TestContainer(t *testing.T) {
	want := []string{"/proc", "/dev", "/sys", "/workspaces/my shop", "/etc/hosts"}
	fuse := strings.Replace(docker, "- overlay overlay", "- fuse.fuse-overlayfs fuse-overlayfs", 1)
	for name, m := range map[string]*Machine{
		"docker":          made(t, files()),
		"podman":          made(t, files(".dockerenv", "-", "run/.containerenv", "engine=podman")),
		"rootless podman": made(t, files("proc/self/mountinfo", fuse)),
		"ssh agent": made(t, files("proc/self/mountinfo", docker+
			"9 8 0:9 /a /run/host-services/ssh-auth.sock rw - tmpfs t rw\n")),
	} {
		got := m.Of("here")
		if got == nil || !slices.Equal(got.Mounts[:len(want)], want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Whatever is in doubt is no container.
func TestNoContainer(t *testing.T) {
	for name, more := range map[string][]string{
		"no mark":               {".dockerenv", "-"},
		"an image on a disk":    {"proc/self/mountinfo", onDisk},
		"no root at all":        {"proc/self/mountinfo", strings.Join(strings.SplitAfter(docker, "\n")[1:], "")},
		"another root over it":  {"proc/self/mountinfo", docker + onDisk},
		"no table":              {"proc/self/mountinfo", "-"},
		"an empty table":        {"proc/self/mountinfo", ""},
		"an odd table":          {"proc/self/mountinfo", docker + "what\n"},
		"privileged":            {"proc/self/status", privileged},
		"no capabilities known": {"proc/self/status", "Name:\tapprover\n"},
		"no status":             {"proc/self/status", "-"},
		"toolbox":               {"run/.toolboxenv", ""},
		"distrobox":             {"run/host/etc/os-release", ""},
		"docker's socket":       {"run/docker.sock", ""},
		"podman's socket":       {"run/podman/podman.sock", ""},
		"a socket elsewhere": {"proc/self/mountinfo", docker +
			"9 8 0:24 /docker.sock /tmp/d.sock rw - tmpfs tmpfs rw\n"},
		"the root of the host": {"proc/self/mountinfo", docker + "9 8 8:1 / /host rw - ext4 /dev/sda1 rw\n"},
	} {
		if got := made(t, files(more...)).Of("here"); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	m := made(t, files())
	m.owner++
	if m.Container() != nil {
		t.Error("the mark is of somebody who is not root")
	}
}

// The courier decides only against it: one that sees other files, or does not say, is outside.
func TestCallersFromElsewhere(t *testing.T) {
	for _, root := range []string{"", "there"} {
		if got := made(t, files()).Of(root); got != nil {
			t.Errorf("%q: %+v", root, got)
		}
	}
	m := made(t, files())
	m.name = ""
	if m.Of("") != nil {
		t.Error("nothing is known of either side")
	}
}

// What is mounted later counts from then on.
func TestMountsAreReadAgain(t *testing.T) {
	m := made(t, files())
	table := filepath.Join(m.root, "proc/self/mountinfo")
	if err := os.WriteFile(table, []byte(docker+"9 8 8:2 /data /data rw - ext4 /dev/sdb1 rw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := m.Of("here"); got == nil || !slices.Contains(got.Mounts, "/data") {
		t.Errorf("%+v", got)
	}
	if err := os.Remove(table); err != nil {
		t.Fatal(err)
	}
	if got := m.Of("here"); got != nil {
		t.Errorf("without a table: %+v", got)
	}
}
