package places

import (
	"strings"
)

// This file says what sudo reads from its standard input, and what is left of it for the
// command that sudo runs.

// sudoLetters are sudo's flags of one letter that take a value, and sudoWords the long ones.
const sudoLetters = "ugpCTrtDRUh"

var sudoWords = map[string]bool{
	"--user": true, "--group": true, "--prompt": true, "--close-from": true, "--command-timeout": true, "--role": true,
	"--type": true, "--chdir": true,
	"--chroot": true, "--other-user": true, "--host": true,
}

// inputless are plain programs that read nothing from their standard input: what sudo
// leaves of it goes nowhere.
var inputless = map[string]bool{
	"apt": true, "apt-get": true, "dnf": true, "yum": true, "systemctl": true, "mount": true, "umount": true,
	"whoami": true, "id": true, "chown": true,
	"chmod": true, "chgrp": true, "cp": true, "mv": true, "ls": true, "mkdir": true, "rmdir": true, "rm": true, "ln": true,
	"touch": true, "stat": true,
	"du": true, "df": true, "true": true, "reboot": true, "shutdown": true, "hostname": true, "hostnamectl": true,
	"kill": true, "killall": true,
	"useradd": true, "usermod": true, "userdel": true, "groupadd": true, "lsblk": true, "blkid": true, "swapoff": true,
	"swapon": true, "sysctl": true,
}

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
		for _, no := range []string{"stdin", "/dev/", "/proc/", "fuse", "$", "`", "<("} {
			if strings.Contains(text, no) {
				return "likely"
			}
		}
		// a file of its own, and for apt what it runs before and after
		if text == "-" || strings.HasPrefix(name, "apt") && (strings.HasPrefix(text, "-o") || strings.HasPrefix(text, "-c") ||
			strings.HasPrefix(text, "--option") || strings.HasPrefix(text, "--config")) {
			return "likely"
		}
	}
	return "secret"
}
