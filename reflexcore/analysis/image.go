package analysis

import (
	"path"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/wordset"
)

// This file knows what a command changes with which an image is built (RUN of a Dockerfile): the files,
// accounts, packages and services of the image, in which nothing of anybody is yet. What it brings from the
// network and runs, reads, sends, publishes or deletes elsewhere is judged as anywhere.

// changesImage reports whether an effect of such a command, with its whole text, changes nothing but the image.
func (a *Call) changesImage(e *effect.Effect, text string) bool {
	if e.Bits&effect.Remote != 0 || isKernel(e.Target) {
		return false
	}
	p := a.Around.Of(e, a.Analyzer.Paths)
	switch e.Kind {
	case effect.Delete:
		return p&places.Device == 0 && (p&places.Root == 0 || e.By == "find") && isPath(e.Target)
	case effect.Write:
		return p&places.Device == 0 && isPath(e.Target) && !opensImage(e, p)
	case effect.Privilege:
		return wordset.Has("root user account", e.Target) || wordset.Has("sudo su doas gosu runuser su-exec", e.Program())
	case effect.Kill:
		return wordset.Has(Services, e.Program()) && !managesOthers().MatchString(text)
	case effect.Persist:
		return wordset.Has(Services+" crontab", e.Program()) && !managesOthers().MatchString(text) ||
			(e.Target == "shell-startup" || isUnit(e)) && e.Taint&effect.Network == 0
	case effect.Permission:
		return wordset.Has(settings+" setcap", e.Program()) || e.What == "trusted-repository" ||
			wordset.Has(rights, e.Program()) && e.What != "setuid" && isPath(e.Target) && !opensImage(e, p)
	case effect.Discard:
		return work[e.By] || wordset.Has(packages, e.Program())
	default:
		return false
	}
}

// managesOthers matches options by which a manager of services manages those of another machine.
var managesOthers = lazyregexp.New(
	`\b(?:systemctl|service|supervisorctl|sv)\b[^;&|\n]*\s(?:-[HMs]|--host|--machine|--serverurl)`)

// isKernel reports whether a path is the kernel's, or a socket: what is written there acts on the machine.
func isKernel(file string) bool {
	return wordset.HasAnyPrefix(file, "/proc", "/sys/") || strings.HasSuffix(file, ".sock")
}

// opensImage reports whether a change lets somebody into all that is made from the image: a key that may log in,
// or something from the network in the place of what says who may log in, of what each program runs, or of a program
// to which people give passwords, keys or their work.
func opensImage(e *effect.Effect, p places.Place) bool {
	dir, name := path.Split(e.Target)
	if strings.HasPrefix(name, "authorized_keys") || strings.HasSuffix(dir, "/authorized_keys.d/") {
		return true
	}
	if e.Taint&effect.Network == 0 || strings.Contains(dir, "/keyrings/") || strings.HasPrefix(dir, "/etc/apt/") {
		return false
	}
	return p&(places.Secret|startup) != 0 || wordset.HasAnyPrefix(e.Target, "/etc/pam.d", "/etc/ssh", "/etc/passwd",
		"/etc/shadow", "/etc/group", "/etc/sudoers", "/etc/ld.so", "/etc/cron", "/etc/profile") ||
		strings.HasPrefix(name, "libc.so") || strings.HasSuffix(dir, "bin/") && wordset.Has(Trusted+" sh bash env", name)
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
