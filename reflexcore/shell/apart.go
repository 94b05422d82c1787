package shell

import (
	"slices"
)

// clears reports whether a program does not give all of its environment to what it
// starts, or may not.
func (l *commandLine) clears() bool {
	switch l.p.Program.Name {
	case "sudo", "doas", "su", "runuser", "pkexec", "setpriv", "machinectl", "systemd-run":
		return true
	case "env":
		return slices.ContainsFunc(l.argv[1:], func(w string) bool { return w != "" && w[0] == '-' })
	}
	return false
}
