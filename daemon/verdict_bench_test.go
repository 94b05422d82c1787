package daemon

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/judges"
	"approver.example/daemon/shield"
	"approver.example/httpapi"
	"approver.example/shieldcore/quota"
)

// BenchmarkVerdict is a call that passes, from the courier's payload to the agent's answer, with the
// store and the audit on the disk: all of the daemon but its socket.
func BenchmarkVerdict(b *testing.B) {
	for _, sync := range []string{configs.SyncBeforeAnswer, configs.SyncGroup} {
		for name, command := range map[string]string{"short": "ls -l",
			"long": "cd web && npm test -- --grep 'renders the list' | tail -n 40 && git diff --stat HEAD~1 -- src lib | head"} {
			b.Run(sync+"/"+name, func(b *testing.B) { benchmarkVerdict(b, sync, command) })
		}
	}
}

func benchmarkVerdict(b *testing.B, sync, command string) {
	dir := b.TempDir()
	cfg, err := configs.Parse(filepath.Join(dir, "approver.yaml"), fmt.Appendf(nil, `
dir: data
audit: {sync: %s}
sockets: {submit: run/s.sock, resolve: run/r.sock}
channels: {terminal: {approvers: [{id: "%d"}], allow_answers: true}}
`, sync, os.Getuid()))
	log := slog.New(slog.DiscardHandler)
	check := func(err error) {
		if err != nil {
			b.Helper()
			b.Fatal(err)
		}
	}
	check(err)
	files, err := judges.ReadFiles(cfg, log)
	check(err)
	base, err := openDeps(b.Context(), cfg, log)
	check(err)
	b.Cleanup(func() { base.close(b.Context(), &err) })
	tier2, err := shield.Open(base.cfg, base.store, base.records, log)
	check(err)
	rules, err := judges.Open(b.Context(), judges.Deps{Config: base.cfg, Store: base.store, Audit: base.records,
		Mark: base.trust.mark, Doubt: base.trust.distrust}, files, log)
	check(err)
	asks, err := quota.NewAsks(base.store, cfg.AsksPerMinute)
	check(err)
	b.Cleanup(asks.Close)
	people, err := newBroadcaster(base, rules, asks, log)
	check(err)
	check(base.trust.settle(b.Context(), people, base.records))
	watching := &observer{people: people, log: log}
	decide, err := newDecide(base, rules, newGate(base, rules, tier2, people, watching, log), people, log)
	check(err)
	args, err := json.Marshal(map[string]string{"command": command})
	check(err)

	var n atomic.Uint64
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id := fmt.Appendf(nil, "%016x", n.Add(1))
			payload := fmt.Appendf(nil, `{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse",`+
				`"permission_mode":"default","tool_name":"Bash","tool_use_id":"toolu_%s","tool_input":%s}`, id, args)
			a := decide.Hook(b.Context(), httpapi.HookRequest{Agent: "claude", CallID: hex.EncodeToString(id),
				Deadline: time.Minute, Env: map[string]string{"PATH": "/usr/bin:/bin", "HOME": "/home/dev"}, Payload: payload,
				Peer: approver.Peer{Known: true, UID: 1, PID: 1}})
			if !a.ExitZero || len(a.Stdout) > 0 {
				b.Errorf("%s%s", a.Stdout, a.Stderr)
				return
			}
			runtime.Gosched() // as at the end of a connection: the log's goroutine needs a turn, too
		}
	})
}
