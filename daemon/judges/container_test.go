package judges

import (
	"testing"

	"approver.example"
)

// The engine knew a container, and a heuristic knew none: each write to its sudoers was denied. A heuristic about
// the machine's own system leaves to the engine what is a container's own, and nothing else.
func TestHeuristicsInAContainer(t *testing.T) {
	judge := judgedWith(t, "")
	const sudoers = `echo 'app ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/app`
	box, mounted := &approver.Container{}, &approver.Container{Mounts: []string{"/etc/sudoers.d"}}
	for _, c := range []struct {
		command string
		in      *approver.Container
		want    approver.Decision
	}{
		{sudoers, nil, approver.Deny},
		{sudoers, box, approver.Warn},
		{sudoers, mounted, approver.Deny},
		{"usermod -aG root app", nil, approver.Deny},
		{"usermod -aG root app", box, approver.Warn},
		{"truncate -s 0 /var/log/lastlog", box, approver.Warn},
		{"truncate -s 0 /var/log/lastlog", nil, approver.Ask},
		{sudoers + "; ssh host 'echo x >> /etc/sudoers'", box, approver.Deny},
		{sudoers + "; echo /x.so > /etc/ld.so.preload", box, approver.Deny},
		{"sudo chroot /mnt sh -c \"" + sudoers + "\"", box, approver.Deny},
	} {
		v := judge(approver.ToolCall{Command: c.command, Container: c.in})
		if v.Decision != c.want {
			t.Errorf("%s in %v: %v (%s/%s), not %v", c.command, c.in, v.Decision, v.By, v.Rule, c.want)
		}
	}
}
