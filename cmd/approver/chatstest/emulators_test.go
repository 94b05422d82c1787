package chatstest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
)

// emulators are those that others wrote, as far as they are installed below APPROVER_CHATS: .ci/chats says which,
// and what each of them lacks.
func emulators(t *testing.T) (all []maker) {
	t.Helper()
	folder := os.Getenv("APPROVER_CHATS")
	if folder == "" {
		fmt.Println("APPROVER_CHATS is not set: emulators of others are not played")
		return nil
	}
	for _, e := range []struct {
		program string // below the folder; there only if the emulator is installed
		maker   maker
	}{
		{"tg-mock/tg-mock", maker{"telegram, tg-mock", "telegram", false, openTGMock}},
		{"twin/node_modules/discord-digital-twin", maker{"discord, digital-twin", "discord", false, openTwin}},
		{"botarium/packages/slack/src/server/index.ts", maker{"slack, botarium", "slack", false, openBotarium}},
	} {
		if _, err := os.Stat(filepath.Join(folder, e.program)); err != nil {
			fmt.Printf("%s is not installed, and is not played\n", e.maker.name)
			continue
		}
		all = append(all, e.maker)
	}
	return all
}

// A process is an emulator that runs as a program of its own.
type process struct {
	cmd   *exec.Cmd
	lines chan string // what it printed
}

// start starts an emulator. It ends with the test at the latest.
func start(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), lines: make(chan string, 64)}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = attributes()
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			select {
			case p.lines <- lines.Text():
			default: // it may say more than anybody wants to read
			}
		}
	}()
	t.Cleanup(p.end)
	return p
}

func (p *process) end() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

// said waits for the line of JSON with which an emulator of ours says where it is.
func (p *process) said(t *testing.T, into any) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatal("the emulator ended")
			}
			if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), into) == nil {
				return
			}
		case <-late:
			t.Fatal("the emulator does not say where it is")
		}
	}
}

// freePort is a port that was free just now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// answers waits until an emulator answers.
func answers(t *testing.T, url string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(url)
		if err == nil {
			_ = resp.Body.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// ask calls an emulator's own control.
func ask(method, url string, body, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, in)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", resp.Status, raw)
	}
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// means reports whether a button's label is that of a plain yes, or of a plain no.
func means(label string, yes bool) bool {
	words := strings.ToLower(strings.TrimLeftFunc(label, func(r rune) bool { return !unicode.IsLetter(r) }))
	if yes {
		return words == "approve" || words == "approve once"
	}
	return words == "deny"
}
