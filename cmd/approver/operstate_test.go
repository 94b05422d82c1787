package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/internal/secret"
)

// A daemon that runs as root told its owner to use sudo, which cannot work there: by root's
// word an agent could answer itself.
func TestNobodyIsSentToRootInVain(t *testing.T) {
	for name, tt := range map[string]struct {
		c      initCmd
		asRoot bool
		want   []string
		not    []string
	}{
		"of a user":            {initCmd{}, false, []string{"sudo approver unfreeze", "dead end"}, []string{"runs as root"}},
		"of root":              {initCmd{}, true, []string{"take a chat", "will run as root", "dead end"}, []string{"sudo"}},
		"of root, observing":   {initCmd{Observe: true}, true, []string{"take a chat", "only observed"}, []string{"sudo", "dead end"}},
		"isolated":             {initCmd{SubmitUID: []uint32{7}}, false, []string{"sudo approver unfreeze", "unfreeze, pause and observe at once", "counts unasked as long as"}, []string{"wait for a yes", "before the first start"}},
		"isolated, as root":    {initCmd{SubmitUID: []uint32{7}}, true, []string{"at once"}, []string{"sudo"}},
		"isolated, observing ": {initCmd{SubmitUID: []uint32{7}, Observe: true}, false, []string{"only observed", "sudo approver approve ID"}, []string{"dead end"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := tt.c.withoutChat(tt.asRoot)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in: %s", want, text)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(text, not) {
					t.Errorf("%q in: %s", not, text)
				}
			}
		})
	}
	freeze := &broadcaster.Freeze{By: "uid 7"}
	for name, tt := range map[string]struct {
		doc  statusDoc
		sudo bool
	}{
		"of a user":         {statusDoc{Freeze: freeze}, true},
		"of root":           {statusDoc{Freeze: freeze, Root: true}, false},
		"of root, isolated": {statusDoc{Freeze: freeze, Root: true, Isolated: true}, true},
		"one agent's":       {statusDoc{Held: []broadcaster.Hold{{Freeze: *freeze}}, Root: true}, false},
	} {
		if cure := tt.doc.modeCure(); strings.Contains(cure, "as root:") != tt.sudo || strings.Contains(cure, "pair telegram") == tt.sudo {
			t.Errorf("%s: %s", name, cure)
		}
	}
}

// Durations of the JSON log were bare nanoseconds under a name without a unit.
func TestDurationsOfTheJSONLogHaveAUnit(t *testing.T) {
	var out bytes.Buffer
	newLog(&out, configs.Log{Format: configs.LogJSON}).With("wait", 2*time.Second).Info("it works again", "after", 18*time.Second, slog.Group("of", "took", 3*time.Millisecond))
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	of, _ := line["of"].(map[string]any)
	if line["after_ms"] != 18000.0 || line["wait_ms"] != 2000.0 || of["took_ms"] != 3.0 || line["after"] != nil {
		t.Errorf("%s", &out)
	}
	out.Reset()
	newLog(&out, configs.Log{}).Info("it works again", "after", 18*time.Second)
	if !strings.Contains(out.String(), "after=18s") {
		t.Errorf("%s", &out)
	}
}

// A proxy that answered on idle connections wrote into the JSON log what it liked, raw, and
// as often as it liked.
func TestWhatLibrariesSayIsALineOfTheLog(t *testing.T) {
	var out bytes.Buffer
	was, flags := log.Writer(), log.Flags()
	defer func() { log.SetOutput(was); log.SetFlags(flags) }()
	libraryLog(newLog(&out, configs.Log{Format: configs.LogJSON}))
	for n := range 200 {
		log.Printf("Unsolicited response received on idle HTTP channel starting with %q; err=<nil>", fmt.Sprint(n, "\u202e", strings.Repeat("x", 4096)))
	}
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	var line map[string]any
	if err := json.Unmarshal(lines[0], &line); err != nil || len(lines) != 1 || len(lines[0]) > 500 || line["level"] != "WARN" {
		t.Errorf("%d lines, the first of %d bytes, %v: %.200s", len(lines), len(lines[0]), err, lines[0])
	}
	out.Reset()
	for n := range 200 { // each is of another kind
		log.Print(string(rune('a'+n%26)), strings.Repeat(string(rune('a'+n/26)), libraryKind))
	}
	if n := strings.Count(out.String(), "\n"); n != maxLibraryKinds-1 {
		t.Errorf("%d lines of %d kinds", n, maxLibraryKinds)
	}
	out.Reset()
	libraryLog(newLog(&out, configs.Log{Level: configs.Level(slog.LevelError)}))
	if log.Print("something"); out.Len() > 0 {
		t.Errorf("at the level error: %s", &out)
	}
}

// serve said twice in one line what helps.
func TestACureIsSaidOnce(t *testing.T) {
	err := diskCure(&fs.PathError{Op: "write", Path: "/proc", Err: fs.ErrPermission})
	if again := diskCure(errors.Join(err)); again.Error() != err.Error() || strings.Count(again.Error(), "give it the place") != 1 {
		t.Errorf("%v", again)
	}
}

// status said "restart the daemon" of a file that the next start refuses.
func TestAFileThatIsRefusedIsMendedFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "approver.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var read readOnce
	write("ttl: 120s\n")
	read.add("configuration", path)
	write("ttl: 60s\n")
	if got := read.changed(); len(got) != 1 || got[0].Refused || !strings.HasSuffix(got[0].Why, ": restart the daemon") {
		t.Errorf("a sound one: %+v", got)
	}
	write("ttl: 60s\nno_such_key: 1\n")
	got := read.changed()
	if len(got) != 1 || !got[0].Refused || !strings.Contains(got[0].Why, "mend that first (approver check)") || !strings.Contains(got[0].Why, "no_such_key") {
		t.Errorf("one that is refused: %+v", got)
	}
	d := doctor{status: statusDoc{NotInForce: got}, cfg: configs.Config{File: path}}
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
		for depth, err := range []error{err, fmt.Errorf("channel telegram: %w", err), errors.Join(fmt.Errorf("channel telegram: %w", errors.Join(err)))} {
			told, rest := apartElsewhere(err)
			if (rest == nil) != elsewhere || (len(told) == 1) != elsewhere {
				t.Errorf("%s, %d: %v, %v", file, depth, rest, told)
			}
		}
		other := errors.New("another problem")
		told, rest := apartElsewhere(errors.Join(fmt.Errorf("channel telegram: %w", err), other))
		if !errors.Is(rest, other) || (len(told) == 1) != elsewhere {
			t.Errorf("%s: beside another problem: %v, %v", file, rest, told)
		}
		if secret.OnlyElsewhere(fmt.Errorf("two: %w", errors.Join(err, other))) {
			t.Errorf("%s: another problem is hidden", file)
		}
	}
}
