package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/configs"
	"approver.example/daemon/logging"
	"approver.example/gate"
	"approver.example/httpapi"
)

// A judging stage is one that a test says what it does.
type judging func(ctx context.Context) (approver.Verdict, error)

func (j judging) Judge(ctx context.Context, _ approver.ToolCall) (approver.Verdict, error) {
	return j(ctx)
}

// leaving is the key of what the agent of a call does when the call is judged: it leaves.
type leaving struct{}

// A locked buffer is one that many may write to.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// The story: Redis hung for 50 seconds, and hooks waited for 6. Two calls were denied, and
// neither was in the audit; the log named one of them by a number and not the other, and
// promised that the audit had each. Now each call that is denied is in the audit of this
// machine and has its line, with its command, whatever took all of its time.
func TestEachDeniedCallIsRecorded(t *testing.T) {
	away := fmt.Errorf("redis: get: i/o timeout: %w", approver.ErrAway)
	hang := func(err error) judging {
		return func(ctx context.Context) (approver.Verdict, error) {
			if leave, ok := ctx.Value(leaving{}).(context.CancelFunc); ok {
				leave()
			}
			<-ctx.Done()
			return approver.Verdict{Decision: approver.Pass, Severity: approver.High}, err
		}
	}
	for name, c := range map[string]struct {
		stage judging
		busy  bool // no turn comes
		gone  bool // the agent leaves before its time is over
		what  string
	}{
		"the store is away":          {stage: hang(away), what: `what="ls `},
		"the store answers too late": {stage: hang(nil), what: `what="ls `},
		"another failure":            {stage: hang(errors.New("broken")), what: `what="ls `},
		"the context's own error":    {stage: hang(context.DeadlineExceeded), what: `what="ls `},
		"the agent leaves":           {stage: hang(fmt.Errorf("redis: %w", context.Canceled)), gone: true, what: `what="ls `},
		"the agent leaves a pass":    {stage: hang(nil), gone: true, what: `what="ls `},
		"no turn comes":              {stage: hang(nil), busy: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			key, err := audit.LoadOrCreateKey(filepath.Join(dir, "audit.key"))
			if err != nil {
				t.Fatal(err)
			}
			records, err := audit.Open(t.Context(), audit.Options{Dir: filepath.Join(dir, "log"), ID: "here", Key: key})
			if err != nil {
				t.Fatal(err)
			}
			var out lockedBuffer
			log := logging.New(&out, configs.Log{})
			d, _, _ := newDecider()
			d.Audit, d.Log = logging.Calls{Recorder: records, Log: log.With("part", "calls")}, log.With("part", "hook")
			d.Gate = &gate.Gate{Stages: []approver.Stage{c.stage}, Audit: d.Audit, Log: log.With("part", "gate")}
			d.Calls = gate.NewTurns(1)
			if c.busy {
				if err := d.Calls.Take(t.Context(), 0); err != nil { // all that one user has
					t.Fatal(err)
				}
			}
			const calls = 12
			var all sync.WaitGroup
			for i := range calls {
				all.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
					defer cancel()
					if c.gone { // when its turn has come, however long that takes here
						ctx, cancel = context.WithCancel(t.Context())
						defer cancel()
						ctx = context.WithValue(ctx, leaving{}, cancel)
					}
					payload := fmt.Sprintf(`{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash",`+
						`"tool_input":{"command":"ls %d"},"tool_use_id":"u%d"}`, i, i)
					a := d.Hook(ctx, httpapi.HookRequest{Agent: "claude", CallID: fmt.Sprintf("c%d", i), Payload: []byte(payload)})
					if !strings.Contains(string(a.Stdout), `"deny"`) {
						t.Errorf("call %d: %s", i, a.Stdout)
					}
				})
			}
			all.Wait()
			if err := records.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			var tail bytes.Buffer
			if err := audit.Tail(t.Context(), filepath.Join(dir, "log"), -1, false, &tail, audit.JSONL); err != nil {
				t.Fatal(err)
			}
			for i := range calls {
				if n := strings.Count(tail.String(), fmt.Sprintf(`"c%d"`, i)); n != 1 {
					t.Errorf("call %d has %d records", i, n)
				}
				if n := strings.Count(out.String(), fmt.Sprintf(`msg="denied without asking" part=calls call=c%d `, i)); n != 1 {
					t.Errorf("call %d has %d lines", i, n)
				}
			}
			if !strings.Contains(out.String(), c.what) || strings.Contains(out.String(), "audit failed") ||
				strings.Count(out.String(), "a stage failed") > 1 {
				t.Errorf("the log:\n%s", out.String())
			}
			if c.gone && strings.Contains(out.String(), "level=ERROR") {
				t.Errorf("an agent that left is an error:\n%s", out.String())
			}
		})
	}
}

// The disk was full, and one denied call had four lines of an error, none of which named
// its command. Now the trouble has one line, and each call its own, which says that the
// audit lacks it.
func TestAFullDiskIsOneTrouble(t *testing.T) {
	var out bytes.Buffer
	log := logging.New(&out, configs.Log{})
	d, _, _ := newDecider()
	full := fullLog{fmt.Errorf("%w: the disk is full", audit.ErrFailed)}
	log.With("part", "audit").Error("the audit log has failed: every call is denied until it works again; trying on",
		"error", full.err)
	d.Audit, d.Log = logging.Calls{Recorder: full, Log: log.With("part", "calls")}, log.With("part", "hook")
	d.Gate.Audit, d.Gate.Log = d.Audit, log.With("part", "gate")
	for i, command := range []string{"ls", "deny this", "ls -l"} {
		if a := send(t.Context(), d, "PreToolUse", command, fmt.Sprint(i)); !strings.Contains(string(a.Stdout), `"deny"`) {
			t.Errorf("%s: %s", command, a.Stdout)
		}
	}
	for _, line := range []string{"a question could not be recorded", "audit failed",
		"the end of a request could not be recorded"} {
		log.Error(line, "request", "r", "error", full.err)
		log.Warn(line, "request", "r", "uid", 7, "error", fmt.Errorf("once more: %w", full.err))
	}
	if n := strings.Count(out.String(), "level=ERROR") + strings.Count(out.String(), "level=WARN"); n != 1 {
		t.Errorf("%d lines of one trouble:\n%s", n, &out)
	}
	if n := strings.Count(out.String(), `msg="denied without asking; the audit lacks it"`); n != 3 ||
		!strings.Contains(out.String(), `what="ls -l"`) {
		t.Errorf("%d lines of three calls:\n%s", n, &out)
	}
}

type fullLog struct{ err error }

func (f fullLog) Record(context.Context, approver.Record) (string, error) { return "", f.err }
