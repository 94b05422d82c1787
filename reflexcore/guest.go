package reflexcore

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file knows what a call writes into the root file system of another system, such as a virtual machine: its
// first script mounts and powers off that system, and nothing on this host.

// leavesToGuest names the system that an effect is about, if a call only writes how another one starts.
func (j *judgment) leavesToGuest(ef *effect.Effect) {
	stops := ef.Kind == effect.Kill && ef.Target == "host"
	mounts := ef.Kind == effect.Permission && ef.What == "mount"
	if ef.Bits&effect.Later == 0 || !stops && !mounts || !j.writesGuest() {
		return
	}
	if stops {
		ef.Target = "guest"
	} else {
		ef.What = "mount-guest"
	}
}

// writesGuest reports whether a call does nothing but write scripts with which another system starts.
func (j *judgment) writesGuest() bool {
	return j.guest.is(func() bool { return j.onlyWrites(isGuestStart) })
}

// isGuestStart reports whether a file is with what a system starts, in a folder that is named as a root file system.
func isGuestStart(file string) bool {
	folders := strings.Split(strings.ToLower(path.Dir(file)), "/")
	at := slices.IndexFunc(folders, func(folder string) bool {
		return wordset.ContainsAny(folder, "rootfs", "initramfs", "initrd")
	})
	if at < 0 || !effect.IsPlain(file) {
		return false
	}
	below := folders[at+1:]
	return wordset.Has("init init.sh linuxrc rcS rc.local", path.Base(file)) ||
		len(below) == 2 && below[0] == "etc" && below[1] == "init.d"
}
