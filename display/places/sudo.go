package places

import (
	"strings"

	"approver.example/display/shape"
)

// This file says what sudo reads from its standard input, and what is left of it for the
// command that sudo runs.

// sudoLetters are sudo's flags of one letter that take a value, and sudoWords the long ones.
const sudoLetters = "ugpCTrtDRUh"

var sudoWords = shape.SetOf("--user --group --prompt --close-from --command-timeout --role --type --chdir " +
	"--chroot --other-user --host")

// inputless are plain programs that read nothing from their standard input: what sudo
// leaves of it goes nowhere.
var inputless = shape.SetOf("apt apt-get dnf yum systemctl mount umount whoami id chown chmod chgrp cp mv ls " +
	"mkdir rmdir rm ln touch stat du df true reboot shutdown hostname hostnamectl kill killall useradd usermod " +
	"userdel groupadd lsblk blkid swapoff swapon sysctl")

// A sudoCall is what the words before a command say of sudo.
type sudoCall struct {
	is, stdin bool
	only      bool // it checks the password, or lists what is allowed, and runs nothing
	other     bool // a shell, an editor or a variable of the caller's: who reads is not known
}

// flag reads one of sudo's flags, and says whether the next word is its value.
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

// reads is how the standard input of a command behind sudo is a credential: all of it, if
// the command reads none and one line is all there is; else only what looks like one.
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
		// a file of its own, and for apt what it runs before and after
		if text == "-" || strings.HasPrefix(name, "apt") && shape.HasAnyPrefix(text, "-o", "-c", "--option", "--config") {
			return "likely"
		}
	}
	return "secret"
}
