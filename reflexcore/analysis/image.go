package analysis

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/wordset"
)

// This file knows what a command changes with which an image is built (RUN of a Dockerfile): the files,
// accounts, packages and services of the image, in which nothing of anybody is yet. What it brings from the
// network and runs, reads, sends, publishes or deletes elsewhere is judged as anywhere.

// changesImage reports whether an effect of such a command changes nothing but the image.
func (a *Call) changesImage(e *effect.Effect) bool {
	if e.Bits&effect.Remote != 0 {
		return false
	}
	p := a.Around.Of(e, a.Analyzer.Paths)
	switch e.Kind {
	case effect.Delete:
		return p&(places.Device|places.Root) == 0 && isPath(e.Target)
	case effect.Write:
		return p&places.Device == 0 && isPath(e.Target) && !opensImage(e, p)
	case effect.Privilege:
		return wordset.Has("root user account", e.Target) || wordset.Has("sudo su doas gosu runuser su-exec", e.Program())
	case effect.Kill:
		return wordset.Has(Services, e.Program())
	case effect.Persist:
		return wordset.Has(Services, e.Program()) || e.What == "shell-startup" && e.Taint&effect.Network == 0 || isUnit(e)
	case effect.Permission:
		return wordset.Has(settings, e.Program()) || e.What == "trusted-repository" ||
			wordset.Has(rights, e.Program()) && e.What != "setuid" && isPath(e.Target) && !opensImage(e, p)
	case effect.Discard:
		return work[e.By] || wordset.Has(packages, e.Program())
	default:
		return false
	}
}

// opensImage reports whether a change lets somebody into all that is made from the image: a key that may log in,
// or a program from the network in the place of one to which people give passwords, keys or their work.
func opensImage(e *effect.Effect, p places.Place) bool {
	dir, name := path.Split(e.Target)
	if name == "authorized_keys" || strings.HasSuffix(dir, "/authorized_keys.d/") {
		return true
	}
	if e.Taint&effect.Network == 0 || strings.Contains(dir, "/keyrings/") || strings.HasPrefix(dir, "/etc/apt/") {
		return false
	}
	return p&(places.Secret|startup) != 0 || strings.HasSuffix(dir, "bin/") && wordset.Has(Trusted, name)
}

func isPath(target string) bool {
	return strings.HasPrefix(target, "/") || strings.HasPrefix(target, effect.Unknown)
}

// isUnit reports whether an effect writes a unit of systemd.
func isUnit(e *effect.Effect) bool {
	return strings.Contains(e.Target, "/systemd/system/") && e.Taint&effect.Network == 0
}

// startup is the place of files that a shell runs when it starts.
var startup, _ = places.Named("startup")

// Programs that change what a system has of its own.
const (
	Services = "systemctl service rc-update update-rc.d chkconfig supervisorctl sv" // which of them start by themselves
	Accounts = "useradd userdel usermod adduser deluser groupadd groupdel groupmod addgroup delgroup gpasswd"

	settings = Accounts + " passwd chpasswd chsh ldconfig add-apt-repository apt-add-repository apt-key dnf yum zypper " +
		"rpm update-alternatives"
	rights   = "chmod chown chgrp setfacl chattr install mkdir cp rsync tar chcon restorecon" // of files
	packages = "apt apt-get dpkg yum dnf rpm microdnf zypper apk pacman"
)

// Trusted are the programs that people give a password or a key, or whose rights on a project are theirs.
const Trusted = "sudo su login ssh sshd git gpg"

// work are the commands of git that throw something away here.
var work = map[string]bool{"git reset": true, "git checkout": true, "git restore": true, "git switch": true,
	"git clean": true, "git stash": true, "git gc": true, "git reflog": true}
