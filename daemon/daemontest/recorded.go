package daemontest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"approver.example"
	"approver.example/audit"
)

// Users of the tests: nobody's tests run as them.
const (
	OneUID   = 61005
	OtherUID = 61006
)

// UIDPolicy denies make to one user, and asks for another.
func UIDPolicy(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "policy.yaml")
	text := fmt.Sprintf(`version: 1
tools: {known: [Bash]}
rules:
  - {name: ours.never, tools: [Bash], command: '^make', when: {uids: [%d]}, decision: deny}
  - {name: ours.ask, tools: [Bash], command: '^make', when: {uids: [%d]}, decision: ask, severity: high}
`, OneUID, OtherUID)
	must(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// Recorded writes records into an audit and returns its folder.
func Recorded(t *testing.T, records ...approver.Record) string {
	t.Helper()
	dir := t.TempDir()
	key, err := audit.LoadOrCreateKey(filepath.Join(dir, "audit.key"))
	must(t, err)
	log, err := audit.Open(t.Context(),
		audit.Options{Dir: filepath.Join(dir, "log"), ID: "test", Key: key, Hostname: "dev"})
	must(t, err)
	for _, r := range records {
		_, err := log.Record(t.Context(), r)
		must(t, err)
	}
	must(t, log.Close(context.WithoutCancel(t.Context())))
	return filepath.Join(dir, "log")
}
