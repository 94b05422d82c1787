package hookinstall

import (
	"fmt"
	"os"

	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/asuser"
	"approver.example/configs"
	"approver.example/daemon/hookfiles"
	"approver.example/daemon/safefile"
	"approver.example/httpapi/socketpath"
)

// publish makes managed settings readable for everybody, whatever the umask, and checks that
// the agent's user can read them.
func publish(r *report, f settings.Files, path string, made []string, agent uint32) error {
	for _, dir := range made {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o444 != 0o444 {
		if err := os.Chmod(path, mode|0o444); err != nil {
			return err
		}
		r.say("made %s readable for everybody: managed settings hold only for those who can read them\n", path)
	}
	return hookfiles.ReadableBy(f, path, agent)
}

// pin writes the socket and the uid that couriers trust. The daemon's user is the owner of its
// data folder.
func pin(r *report, file string, cfg configs.Config) error {
	owner, err := asuser.OwnerOf(cfg.Dir)
	if err != nil {
		return fmt.Errorf("the pin: %w: make the folder for the daemon's user first", err)
	}
	want := fmt.Sprintf("socket %s\nuid %d\n", cfg.Sockets.Submit, owner)
	if os.Geteuid() != 0 {
		have, ok, err := socketpath.ReadPin(file, 0)
		if err != nil || !ok || have != (socketpath.Pin{Socket: cfg.Sockets.Submit, UID: owner}) {
			return fmt.Errorf("couriers are not pinned to the isolated daemon: as root, write this to %s\n%s", file, want)
		}
		return nil
	}
	_, changed, err := safefile.ChangeFile(file, func([]byte) ([]byte, error) { return []byte(want), nil })
	if err == nil && changed {
		err = os.Chmod(file, 0o644)
		r.say("pinned couriers in %s to %s of uid %d\n", file, cfg.Sockets.Submit, owner)
	}
	return err
}
