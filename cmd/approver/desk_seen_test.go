package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
)

// refusing is a daemon that lets nobody watch, and counts who tried.
type refusing struct {
	mu    sync.Mutex
	tries int
}

func (r *refusing) Watch(context.Context, approver.Peer, func(json.RawMessage) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries++
	return errors.New("you are not on the terminal's approver list")
}

func (*refusing) Answer(context.Context, approver.Peer, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("no")
}

// Somebody who was on no approver list left a watch running. It connected twice a second
// for ever, and the daemon's log had a warning of each. Now a watch that is refused waits
// longer each time.
func TestARefusedWatchBacksOff(t *testing.T) {
	dir, err := os.MkdirTemp("", "w") // short: a socket lies in it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "run", "r.sock")
	l, err := httpapi.Listen(at, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	daemon := &refusing{}
	server := httpapi.Resolve{Resolver: daemon, Log: slog.New(slog.DiscardHandler), Admit: func(approver.Peer) error { return nil }}
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(ctx, l) })
	defer serving.Wait()
	defer cancel()
	watching, stop := context.WithTimeout(t.Context(), 6*time.Second)
	defer stop()
	follow(watching, httpapi.ResolveClient{Socket: at}, make(chan json.RawMessage))
	daemon.mu.Lock()
	defer daemon.mu.Unlock()
	if daemon.tries < 2 || daemon.tries > 3 { // at once, after 1 s, after 3 s; 12 without
		t.Errorf("in six seconds it tried %d times", daemon.tries)
	}
}

// A user who may not connect was told to name a socket that refuses them, too. Now they
// are told who may.
func TestOutsidersAreToldWhoMayLook(t *testing.T) {
	denied := fmt.Errorf("connect: %w", fs.ErrPermission)
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.WriteFile(closed, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 { // root may everything
		if text := outsider(denied, closed).Error(); !strings.Contains(text, "may not look at the daemon or steer it") || strings.Contains(text, "--socket") {
			t.Error(text)
		}
	}
	if text := outsider(denied, filepath.Join(t.TempDir(), "none")).Error(); !strings.Contains(text, "name the daemon's socket instead") {
		t.Error(text)
	}
	if !errors.Is(outsider(denied, closed), fs.ErrPermission) {
		t.Error("the cause is lost")
	}
}

// doctor told one freeze twice, and once with the section about a lost store. Now what
// holds is one finding, with what ends it.
func TestDoctorTellsAFreezeOnce(t *testing.T) {
	at := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	agent := approver.Hold{Freeze: approver.Freeze{At: at, By: "approver", Reason: "it ran although it was denied"}, Who: approver.Who{Agent: "claude", Project: "/repo"}}
	for name, tt := range map[string]struct {
		doc       adminapi.Status
		text, fix string
	}{
		"by a person":   {adminapi.Status{Control: "FROZEN by uid 7", Freeze: &approver.Freeze{By: "uid 7", Reason: "try it"}}, "the reason given: try it", "sudo approver unfreeze"},
		"by approver":   {adminapi.Status{Control: "FROZEN because the store is older", Freeze: &approver.Freeze{By: "approver", Reason: "the store is older"}}, "FROZEN because", "The store is not believed"},
		"one agent":     {adminapi.Status{Control: "FROZEN: claude", Held: []approver.Hold{agent}}, "claude in /repo: since 2026-11-23 06:00:00 UTC by approver, because it ran although it was denied", "Lifting the freeze of one agent"},
		"two agents":    {adminapi.Status{Control: "FROZEN: claude", Held: []approver.Hold{agent, agent}}, "because it ran", "Lifting the freeze of one agent"},
		"paused":        {adminapi.Status{Control: "PAUSED until", Pause: &approver.Pause{}}, "PAUSED", "approver pause --end"},
		"observed":      {adminapi.Status{Control: "OBSERVING"}, "OBSERVING", "approver enforce"},
		"rules as ever": {adminapi.Status{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var d doctor
			d.mode(tt.doc)
			if tt.text == "" {
				if len(d.found) != 0 {
					t.Errorf("%+v", d.found)
				}
				return
			}
			how := warn
			if name == "by approver" { // status fails, too
				how = fail
			}
			d.has(t, "mode", how, tt.text)
			if len(d.found) != 1 || !strings.Contains(d.found[0].Fix, tt.fix) {
				t.Errorf("%+v", d.found)
			}
			if name == "by approver" && strings.Count(d.found[0].Text, "the store is older") != 1 {
				t.Errorf("said twice: %s", d.found[0].Text)
			}
		})
	}
}

// audit verify listed an alarm, and doctor said that all was in order.
func TestDoctorSeesTheAlarmsOfTheAudit(t *testing.T) {
	cfg := configs.Config{Dir: t.TempDir()}
	key, err := audit.LoadOrCreateKey(cfg.AuditKey())
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(t.Context(), audit.Options{Dir: cfg.AuditDir(), ID: "here", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	record := func(r approver.Record) {
		t.Helper()
		if _, err := log.Record(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	record(approver.Record{Event: approver.EventStarted})
	var calm doctor
	calm.cfg = cfg
	calm.audit(t.Context(), 0)
	calm.has(t, "audit", ok, "in order, with ")
	record(approver.Record{Event: approver.EventAlarm, Alarm: approver.AlarmHooks, Note: "the hook is gone"})
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := doctor{cfg: cfg}
	d.audit(t.Context(), 0)
	d.has(t, "audit", warn, "1 alarm, the last (hooks) at seq")
	if len(d.found) != 1 || !strings.Contains(d.found[0].Text, "the hook is gone") || !strings.Contains(d.found[0].Fix, "--accept-alarms ") {
		t.Errorf("%+v", d.found)
	}
	d = doctor{cfg: cfg}
	d.audit(t.Context(), 1000)
	d.has(t, "audit", ok, "in order, with ")
}

// check said "0 problems, 0 warnings" of a configuration in which nobody can approve.
func TestNobodyApprovesByTheConfiguration(t *testing.T) {
	cfg := configs.Default()
	if why := nobodyApproves(cfg); !strings.HasPrefix(why, "nobody can approve ANY request: no channel") {
		t.Error(why)
	}
	daemon := adminapi.Status{Nobody: "nobody can approve ANY request: of terminal no approver counts. Pair a chat"}
	if all := nobodyNow(cfg, daemon); len(all) != 1 {
		t.Errorf("told twice: %q", all)
	}
	if all := nobodyNow(cfg, adminapi.Status{Nobody: "nobody can approve a CATASTROPHIC request: x"}); len(all) != 2 {
		t.Errorf("%q", all)
	}
}

// ask said that people are asked in chats before it knew that a daemon runs. Now it says
// so once it waits, and until when.
func TestWaitingIsSaidOnceItWaits(t *testing.T) {
	if text := (askCmd{Socket: "none"}).waits(t.Context()); !strings.HasSuffix(text, "for the configured time at most; Ctrl-C withdraws the question") {
		t.Error(text)
	}
	if text := (askCmd{Socket: "none", TTL: howLong(90 * time.Second)}).waits(t.Context()); !strings.Contains(text, ", until ") {
		t.Error(text)
	}
}
