package sidecar

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// A process is a running program. kill may be called more than once; wait returns
// once the program has ended and its pipes are closed.
type process struct {
	in   io.WriteCloser
	out  io.Reader
	kill func()
	wait func() error
	// said returns the end of the program's standard error.
	said func() string
}

// maxSaid is how much of a program's standard error is kept, in bytes.
const maxSaid = 2 << 10

// start starts the program of a configuration.
func start(c Config) (*process, error) {
	args := []string{"--model", c.Model, "--threads", strconv.Itoa(c.Threads)}
	if c.Library != "" {
		args = append(args, "--library", c.Library)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, c.Program, args...) //nolint:gosec // the operator's program
	cmd.Env = []string{}                                // nil would hand ours on, secrets included
	cmd.Dir = os.TempDir()
	cmd.WaitDelay = time.Second // for pipes that a child of the program holds
	said := &tailBuffer{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	// A pipe of our own: StdoutPipe's is closed by Wait, also while it is read.
	out, write := io.Pipe()
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	wait := sync.OnceValue(func() error {
		err := cmd.Wait()
		_ = write.Close() // of a pipe in memory: it cannot fail
		cancel()
		return err
	})
	go wait() //nolint:errcheck // once: life asks for the error
	kill := func() {
		cancel()
		_ = out.Close() // lets go of what the program still writes
	}
	return &process{in, out, kill, wait, said.String}, nil
}

// A tailBuffer keeps the end of what is written to it.
type tailBuffer struct {
	mu   sync.Mutex
	text []byte
}

// Write takes everything and keeps the end.
func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-maxSaid):]...)
	if over := len(t.text) - maxSaid; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// String is what was kept.
func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
