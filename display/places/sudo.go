package places

import (
	"strings"

	"approver.example/display/shape"
)

// This file says what sudo reads from its standard input, and what is left of it for the
// command that sudo runs.

// sudoLetters are sudo's flags of one letter that take a value, and sudoWords the long ones.
const sudoLetters = "ugpCTrtDRUh"

var sudoWords = map[string]bool{
	"--user": true, "--group": true, "--prompt": true, "--close-from": true, "--command-timeout": true, "--role": true, "--type": true, "--chdir": true,
	"--chroot": true, "--other-user": true, "--host": true,
}

// inputless are plain programs that read nothing from their standard input: what sudo
// leaves of it goes nowhere.
var inputless = map[string]bool{
	"apt": true, "apt-get": true, "dnf": true, "yum": true, "systemctl": true, "mount": true, "umount": true, "whoami": true, "id": true, "chown": true,
	"chmod": true, "chgrp": true, "cp": true, "mv": true, "ls": true, "mkdir": true, "rmdir": true, "rm": true, "ln": true, "touch": true, "stat": true,
	"du": true, "df": true, "true": true, "reboot": true, "shutdown": true, "hostname": true, "hostnamectl": true, "kill": true, "killall": true,
	"useradd": true, "usermod": true, "userdel": true, "groupadd": true, "lsblk": true, "blkid": true, "swapoff": true, "swapon": true, "sysctl": true,
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
	if c.other || !inputless[programName(name)] || len(p.writes)+len(hereTexts(src, given, p)) > 1 {
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

// wrappers are those of the prefixes that run a program: the others are words of the shell.
var wrappers = map[string]bool{"sudo": true, "env": true, "nohup": true, "command": true, "time": true}

// redirection finds a word that says where a program reads or writes.
var redirection = shape.Pattern(`^[0-9]*[<>]`)

// hasFlag reports words of which the first is a flag: as with env -i, of the program
// before them.
func firstIsFlag(src string, words []word) bool {
	return len(words) > 0 && src[words[0].from] == '-'
}

// prefix passes assignments and the programs that run another, such as sudo.
func (l *lexer) prefix(words []word, p *pipeline) (first int) {
	var sudo sudoCall
	p.sudo = ""
	var heads []word
	wrapped := false
	defer func() {
		for _, w := range heads { // alone, it is the shell's; before a program, that program's
			if !l.inside {
				l.variables.assigned(l.text, w, p.depth, wrapped || first < len(words))
			}
		}
	}()
	for ; first < len(words); first++ {
		text, at := words[first].bare(l.text)
		name, value, is := strings.Cut(text, "=")
		switch {
		case is && shape.Identifier().MatchString(name):
			sudo.other = true
			heads = append(heads, words[first])
			if shape.IsConventional(name) {
				inside, from := word{at + len(text) - len(value), at + len(text)}.bare(l.text)
				l.add(Span{From: from, To: from + len(inside), Variable: name}, p.depth)
			}
		case text == "{":
			p.open++
		case text == "}":
			p.open--
		case sudo.is && strings.HasPrefix(text, "-"):
			first += shape.Count(sudo.flag(text))
		case redirection().MatchString(text): // it may stand before the program as well
			first += shape.Count(strings.Trim(text, "0123456789<>") == "")
		case shape.Prefixes[programName(text)] && (launchings()[programName(text)] == nil || !firstIsFlag(l.text, words[first+1:])):
			sudo.is = programName(text) == "sudo"
			wrapped = wrapped || wrappers[programName(text)]
		default:
			p.sudo = sudo.reads(l.text, text, words[first+1:], p)
			return first
		}
	}
	if sudo.stdin && p.piped {
		kind := "likely"
		if sudo.only && !sudo.other && len(p.writes) == 1 {
			kind = "secret"
		}
		l.fed(p, kind)
	}
	return min(first, len(words))
}
