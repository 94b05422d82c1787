package checks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/configs"
	"approver.example/daemon"
	"approver.example/daemon/adminapi"
	"approver.example/internal/secret"
)

// status said "restart the daemon" of a file that the next start refuses.
func TestAFileThatIsRefusedIsMendedFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "approver.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var read daemon.ReadOnce
	write("ttl: 120s\n")
	read.Add("configuration", path)
	write("ttl: 60s\n")
	notInUse := func(string) bool { return false }
	if got := read.Outdated(notInUse); len(got) != 1 || got[0].Refused ||
		!strings.HasSuffix(got[0].Why, ": restart the daemon") {
		t.Errorf("a sound one: %+v", got)
	}
	write("ttl: 60s\nno_such_key: 1\n")
	got := read.Outdated(notInUse)
	if len(got) != 1 || !got[0].Refused || !strings.Contains(got[0].Why, "mend that first (approver check)") ||
		!strings.Contains(got[0].Why, "no_such_key") {
		t.Errorf("one that is refused: %+v", got)
	}
	d := doctor{status: adminapi.Status{NotInForce: got}, cfg: configs.Config{File: path}}
	if d.config(); !strings.HasPrefix(d.found[len(d.found)-1].Fix, "mend it first") {
		t.Errorf("doctor: %+v", d.found)
	}
}

// A token that only the daemon's environment has made check and doctor fail in a shell.
func TestASecretOfTheDaemonsEnvironmentIsNoProblemElsewhere(t *testing.T) {
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	t.Setenv("NOT_HERE", "")
	for file, elsewhere := range map[string]bool{"env:NOT_HERE": true, "credential:token": true, "/no/such/file": false} {
		_, err := secret.From("token", secret.Text{}, file)
		for depth, err := range []error{err, fmt.Errorf("channel telegram: %w", err),
			errors.Join(fmt.Errorf("channel telegram: %w", errors.Join(err)))} {
			told, rest := withoutElsewhere(err)
			if (rest == nil) != elsewhere || (len(told) == 1) != elsewhere {
				t.Errorf("%s, %d: %v, %v", file, depth, rest, told)
			}
		}
		other := errors.New("another problem")
		told, rest := withoutElsewhere(errors.Join(fmt.Errorf("channel telegram: %w", err), other))
		if !errors.Is(rest, other) || (len(told) == 1) != elsewhere {
			t.Errorf("%s: beside another problem: %v, %v", file, rest, told)
		}
		if secret.OnlyElsewhere(fmt.Errorf("two: %w", errors.Join(err, other))) {
			t.Errorf("%s: another problem is hidden", file)
		}
	}
}
