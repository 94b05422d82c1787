// Package chatstest plays faults of the network between the real daemon and chat platforms: our own fakes,
// and emulators that others wrote. A proxy stands between (channels/channeltest/network), agents ask through
// the real courier, people answer in the chat, and in the middle the fault strikes. A table says what came of
// each request. A lost answer, or a wrong one, fails the test.
//
// It needs APPROVER_E2E, the number of requests for each fault: make e2e-chats sets it to 20, and installs
// the emulators into the folder that APPROVER_CHATS names. Without it everything is skipped.
//
// Read chats_test.go first, then cell_test.go, faults_test.go, and the platforms.
package chatstest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"approver.example/channels/channeltest/network"
)

// What all cells share: the folder with the programs, and the authority that daemons trust.
var (
	programs  string
	authority *network.Authority // nil where daemons cannot be made to trust one: the way is plain HTTP then
)

func TestMain(m *testing.M) {
	if os.Getenv("APPROVER_E2E") == "" {
		os.Exit(m.Run()) // everything is skipped
	}
	code, err := prepared(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func prepared(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "apc") // a socket's path is short
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", dir+"/", "approver.example/cmd/approver",
		"approver.example/cmd/approver-hook")
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("%w: %s", err, out)
	}
	programs = dir
	if runtime.GOOS == "linux" { // elsewhere Go asks the system, which has no such variable
		if authority, err = network.NewAuthority(); err != nil {
			return 1, err
		}
		roots := filepath.Join(dir, "roots.pem")
		if err := os.WriteFile(roots, authority.PEM, 0o600); err != nil {
			return 1, err
		}
		if err := os.Setenv("SSL_CERT_FILE", roots); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// size is the number of requests for each fault.
func size(t *testing.T) int {
	t.Helper()
	text := os.Getenv("APPROVER_E2E")
	if text == "" {
		t.Skip("APPROVER_E2E is not set: make e2e-chats plays this")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 8 {
		t.Fatalf("APPROVER_E2E is the number of requests for each fault, 8 at least, and not %q", text)
	}
	return n
}

// TestFaults plays each fault on each platform. APPROVER_E2E_ONLY is a pattern of "platform: fault" for some of them.
func TestFaults(t *testing.T) {
	n := size(t)
	only, err := regexp.Compile(os.Getenv("APPROVER_E2E_ONLY"))
	if err != nil {
		t.Fatal(err)
	}
	all := &table{asked: n, began: time.Now()}
	t.Run("all", func(t *testing.T) {
		var lanes sync.Map // one cell of a channel at a time, so that at most three daemons are busy
		for _, of := range platforms(t) {
			t.Run(of.name, func(t *testing.T) {
				t.Parallel()
				lane, _ := lanes.LoadOrStore(of.channel, &sync.Mutex{})
				lane.(*sync.Mutex).Lock()
				defer lane.(*sync.Mutex).Unlock()
				for _, f := range faults {
					if !f.fits(of) || !only.MatchString(of.name+": "+f.name) {
						continue
					}
					t.Run(f.name, func(t *testing.T) {
						r := play(t, of, f, n)
						all.add(r)
						if r.Lost > 0 || r.Wrong > 0 {
							t.Errorf("%d lost, %d wrong of %d", r.Lost, r.Wrong, r.Asked)
						}
					})
				}
			})
		}
	})
	all.print(os.Stdout)
	if file := os.Getenv("APPROVER_E2E_TABLE"); file != "" {
		if err := all.write(file); err != nil {
			t.Error(err)
		}
	}
}
