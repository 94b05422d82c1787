package redistest

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// The library's logger writes to the standard error that the process began
// with, so the noise shows only from outside: the test runs itself again.
func TestSaysNothingOfAServerThatIsAway(t *testing.T) {
	if os.Getenv("REDISTEST_INNER") != "" {
		s := startFor(t, Options{})
		s.Kill()
		if s.Admin().Ping(t.Context()).Err() == nil {
			t.Error("a killed server answers")
		}
		return
	}
	var noise bytes.Buffer
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env, cmd.Stderr = append(os.Environ(), "REDISTEST_INNER=1"), &noise
	if err := cmd.Run(); err != nil || noise.Len() > 0 {
		t.Errorf("%v: on standard error: %s", err, noise.String())
	}
}
