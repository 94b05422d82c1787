package places

import (
	"strings"

	"approver.example/display/shape"
)

// This file determines what sudo reads from its standard input, and whether the command that it
// runs reads the rest.

// sudoLetters are the one-letter flags of sudo that take a value, and sudoWords the long ones.
const sudoLetters = "ugpCTrtDRUh"

var sudoWords = shape.SetOf("--user --group --prompt --close-from --command-timeout --role --type --chdir " +
	"--chroot --other-user --host")

// inputless are programs that read nothing from their standard input, so nothing uses the input
// that sudo leaves.
var inputless = shape.SetOf("apt apt-get dnf yum systemctl mount umount whoami id chown chmod chgrp cp mv ls " +
	"mkdir rmdir rm ln touch stat du df true reboot shutdown hostname hostnamectl kill killall useradd usermod " +
	"userdel groupadd lsblk blkid swapoff swapon sysctl")

// A sudoCall says how the words before a command use sudo.
type sudoCall struct {
	is, stdin bool
	only      bool // it only checks the password or lists what is allowed, and runs nothing
	other     bool // a shell, an editor or a variable is involved: the reader is not known
}

// flag reads one of sudo's flags, and reports whether the next word is its value.
func (c *sudoCall) flag(text string) bool {
	if strings.HasPrefix(text, "--") {
		name, _, glued := strings.Cut(text, "=")
		c.stdin = c.stdin || name == "--stdin"
		c.only = c.only || name == "--validate" || name == "--list"
		c.other = c.other || name == "--shell" || name == "--login" || name == "--edit"
		return sudoWords[name] && !glued
	}
	for i, letter := range text[1:] {
		switch {
		case letter == 'S':
			c.stdin = true
		case letter == 'v' || letter == 'l':
			c.only = true
		case letter == 's' || letter == 'i' || letter == 'e':
			c.other = true
		case strings.ContainsRune(sudoLetters, letter):
			return i == len(text)-2
		}
	}
	return false
}

// reads returns which part of the standard input is a credential: "" if sudo does not read it,
// "secret" for all of it if there is one line at most and the command reads nothing, and otherwise
// "likely" for what looks like one.
func (c *sudoCall) reads(src, name string, given []word, p *pipeline) string {
	if !c.stdin {
		return ""
	}
	if c.other || !inputless[programName(name)] || len(p.writes)+len(hereTexts(src, given, p.to)) > 1 {
		return "likely"
	}
	for _, w := range given {
		text, _ := w.bare(src)
		if shape.ContainsAny(text, []string{"stdin", "/dev/", "/proc/", "fuse", "$", "`", "<("}) {
			return "likely"
		}
		// the command reads standard input, or runs something before or after apt
		if text == "-" || strings.HasPrefix(name, "apt") && shape.HasAnyPrefix(text, "-o", "-c", "--option", "--config") {
			return "likely"
		}
	}
	return "secret"
}
