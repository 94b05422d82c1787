package daemon

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"approver.example/audit"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
)

// unpack puts the files of an archive into a folder.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	packed, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(unzipped); ; {
		file, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if file.Typeflag != tar.TypeReg {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		text, err := io.ReadAll(files)
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, os.FileMode(file.Mode)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The data folder of a daemon of an earlier build, which was killed: it had approved and
// denied calls, a freeze that was lifted, an approver whom people had let count and one who
// was removed, a policy that people had let count, yeses that waited, and an open question.
// This build reads it, finds nothing wrong, ends what is over, and goes on with its audit.
func TestADataFolderOfBefore(t *testing.T) {
	runsOnWhatWasThere(t, recorded(t, "before-bolt.tgz", nil))
}

// recorded unpacks the data of an earlier build, and returns its configuration. change, if
// it is set, puts what is different on this machine into its text.
func recorded(t *testing.T, archive string, change func(dir, text string) string) configs.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "old") // short: sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	unpack(t, filepath.Join("testdata", archive), dir)
	path := filepath.Join(dir, "approver.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		text = []byte(change(dir, string(text)))
	}
	cfg, err := configs.Parse(path, append(text, "audit: {id: machine}\n"...))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// runsOnWhatWasThere starts a daemon on recorded data and checks what it makes of them.
func runsOnWhatWasThere(t *testing.T, cfg configs.Config) {
	t.Helper()
	d := New(cfg, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	select {
	case <-d.Ready():
	case err := <-ended:
		t.Fatalf("the start: %v", err)
	}
	ask := func(op string) string {
		t.Helper()
		var doc json.RawMessage
		if err := (httpapi.ResolveClient{Socket: cfg.Sockets.Resolve}).Operate(ctx, op, struct{}{}, &doc); err != nil {
			t.Fatalf("%s: %v", op, err)
		}
		return string(doc)
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(ask(adminapi.OpPending),
		`"requests":[]`); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the question of then is still open: %s", ask(adminapi.OpPending))
		}
	}
	people := ask(adminapi.OpPeople)
	for _, says := range []string{
		`{"id":"alice","accounts":[{"account":"telegram:10042","name":"Alice"}]}`,
		`{"id":"carol","accounts":[{"account":"telegram:10044","name":"Carol"}]}`,
		`"why_not":"bob was removed by uid 0 at 2026-11-23 18:36 UTC (left)"`,
	} {
		if !strings.Contains(people, says) {
			t.Errorf("of people it does not say %s: %s", says, people)
		}
	}
	status := ask(adminapi.OpStatus)
	for _, bad := range []string{`"frozen":true`, `"waiting"`, `"alarms"`, `"errors"`} {
		if strings.Contains(status, bad) {
			t.Errorf("%s: %s", bad, status)
		}
	}
	// people had let this rule count; the file alone would not be enough
	if exit, out := hookCall(cfg, "make recorded"); exit != 0 || !strings.Contains(out, `"permissionDecision":"allow"`) {
		t.Errorf("the rule that people approved: exit %d %s", exit, out)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	keys, err := audit.LoadKeys(cfg.AuditKey() + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	report, err := audit.Verify(t.Context(), []string{cfg.AuditDir()}, keys, nil)
	if err != nil || report.Alarms > 0 {
		t.Errorf("the audit: %+v, %v", report, err)
	}
	records, err := os.ReadFile(filepath.Join(cfg.AuditDir(), "audit.jsonl"))
	if n := bytes.Count(records, []byte("\n")); err != nil || n < 60 ||
		!bytes.Contains(records, []byte(`"make recorded"`)) {
		t.Errorf("the audit did not go on: %d lines, %v", n, err)
	}
	// The store may have forgotten it by now; of such a request, the audit has no command.
	asked := regexp.MustCompile(`"event":"asked",[^\n]*"command":"git push origin --delete open"[^\n]*"request":"([^"]+)"`)
	id := asked.FindSubmatch(records)
	if id == nil || !regexp.MustCompile(`"event":"expired",[^\n]*"request":"`+string(id[1])+`"`).Match(records) {
		t.Errorf("the audit does not say that the question of then is over: %s", id)
	}
}
