package adminclient

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/daemon/adminapi"
)

// What waits for people goes on waiting: the deadline is for a daemon that is silent.
func TestWhatWaitsForPeopleHasNoDeadline(t *testing.T) {
	for _, op := range []string{adminapi.OpUnfreeze, adminapi.OpPause, adminapi.OpObserve, adminapi.OpRestore,
		adminapi.OpRecover, adminapi.OpPropose, adminapi.OpAdmit, adminapi.OpPair} {
		if limits[op] != 0 {
			t.Errorf("%s ends after %v", op, limits[op])
		}
	}
	for _, op := range []string{adminapi.OpStatus, adminapi.OpPending, adminapi.OpShow, adminapi.OpPeople,
		adminapi.OpGrants, adminapi.OpFreeze, adminapi.OpRemove, adminapi.OpRevoke} {
		if limits[op] == 0 {
			t.Errorf("%s never ends", op)
		}
	}
}

// Root's commands take no place from a file that others can write or that somebody else
// wrote, and believe no listener there but whom they mean.
func TestRootIsNotLedAwayByASpoiledConfiguration(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: needs root; .ci/run as root runs it")
	}
	dir, err := os.MkdirTemp("", "bad")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, tt := range []struct {
		name, text string
		mode       os.FileMode
		want       string // the end of the socket; empty: none
	}{
		{"no YAML, and says it", "ttl: [\nsockets: {resolve: /x/r.sock}\n", 0o600, "/x/r.sock"},
		{"no YAML, and does not", "ttl: [\n", 0o600, "/home/.approver/run/resolve.sock"},
		{"others can write it", "sockets: {resolve: /x/r.sock}\n", 0o666, "/home/.approver/run/resolve.sock"},
		{"a group can write it", "ttl: [\nsockets: {resolve: /x/r.sock}\n", 0o660, "/home/.approver/run/resolve.sock"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := filepath.Join(dir, strings.ReplaceAll(tt.name, " ", "-"), "home")
			run := filepath.Join(home, ".approver", "run")
			if err := os.MkdirAll(run, 0o755); err != nil {
				t.Fatal(err)
			}
			config := filepath.Join(home, ".approver", configName)
			if err := os.WriteFile(config, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(config, tt.mode); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{home, filepath.Join(home, ".approver"), run, config} {
				if err := os.Chown(path, 4711, 4711); err != nil {
					t.Fatal(err)
				}
			}
			var said strings.Builder
			told := &Told{}
			s := Sudo{etc: dir + "/none", system: dir + "/none-either", euid: 0, behind: "4711",
				lookup: func(string) (string, error) { return home, nil }, say: &said, told: told}
			client, found, err := s.client("")
			if strings.HasPrefix(tt.want, "/x") {
				if err == nil || !strings.Contains(err.Error(), "/x") && !strings.Contains(err.Error(), "not there") {
					t.Errorf("the place of the file was not looked at: %v %v", client.Socket, err)
				}
				return
			}
			if err != nil || !found || !strings.HasSuffix(client.Socket, tt.want) {
				t.Fatalf("%q, %v, %v", client.Socket, found, err)
			}
			if told.Trouble == nil || !strings.Contains(said.String(), "warning") {
				t.Errorf("nothing was said: %q", said.String())
			}
			for uid, want := range map[uint32]bool{4711: true, 0: false, 4712: false} {
				if err := client.Trust(uid); (err == nil) != want {
					t.Errorf("a listener of uid %d: %v", uid, err)
				}
			}
		})
	}
}
