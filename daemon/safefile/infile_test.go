package safefile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/daemon/safefile"
)

// A file where a folder has to be is named, with what to do.
func TestReadNamesTheFileInTheWay(t *testing.T) {
	in := filepath.Join(t.TempDir(), ".agent")
	if err := os.WriteFile(in, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := safefile.Read(filepath.Join(in, "hooks", "settings.json"))
	if err == nil || !strings.Contains(err.Error(), in+" is a file and not a folder: move it away") {
		t.Errorf("%v", err)
	}
}
