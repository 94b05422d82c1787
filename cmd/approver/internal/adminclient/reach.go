package adminclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
)

// This file is how commands reach the daemon: where it listens, also if its configuration
// was spoiled since it started, and for how long they wait.

// How long a command waits. A daemon that was stopped, or whose machine has no memory left,
// is connected to and never answers; a monitor must not hang with it.
const (
	firstByte  = 4 * time.Second  // for any answer at all, before something is asked
	toLook     = 10 * time.Second // for what a daemon knows
	toChange   = time.Minute      // for a change that waits for nobody; a store has patience
	sinceStart = "a daemon goes on with what it read at its start"
)

// limits are the operations that wait for nobody. All others wait for people.
var limits = map[string]time.Duration{
	adminapi.OpStatus: toLook, adminapi.OpPending: toLook, adminapi.OpShow: toLook, adminapi.OpPeople: toLook, adminapi.OpGrants: toLook, adminapi.OpOwnerShow: toLook,
	adminapi.OpFreeze: toChange, adminapi.OpRemove: toChange, adminapi.OpRevoke: toChange, adminapi.OpEnforce: toChange, adminapi.OpOwnerApprove: toChange,
}

// usual is where the daemon listens that root means, if no configuration says it: root has
// pinned it, or it lies in the home of the user who must listen there. Empty is that nobody
// knows.
func (t target) usual(s Sudo) string {
	switch {
	case t.pin != "":
		return filepath.Join(filepath.Dir(t.pin), socketpath.Resolve)
	case t.isolated:
		return filepath.Join(s.system, socketpath.Resolve)
	case t.uid != nil && t.home != "":
		return filepath.Join(t.home, socketpath.HomeDir, socketpath.Resolve)
	}
	return ""
}

// errSpoiled is a configuration that root takes nothing from, so that the daemon is looked
// for where it usually listens: it is no YAML, or others can write it.
var errSpoiled = errors.New("name the daemon's socket with --socket")

// knows fails unless whoever listens was started with that configuration.
func knows(ctx context.Context, client httpapi.ResolveClient, file string) error {
	var doc adminapi.Status
	err := OperateOn(ctx, client, adminapi.OpStatus, struct{}{}, &doc)
	switch {
	case IsDown(err):
		return fmt.Errorf("the file does not say where its daemon listens, and nobody does on %s: name its socket with --socket, or mend the file", client.Socket)
	case err != nil:
		return err
	case doc.Config != file && !asuser.SameFile(doc.Config, file):
		return fmt.Errorf("the file does not say where its daemon listens, and the one on %s was started with %s: name the socket with --socket, or mend the file",
			client.Socket, cmp.Or(doc.Config, "no configuration"))
	}
	return nil
}

// despite tells once that a daemon was found although its configuration cannot be taken, or
// keeps it for who tells it.
func (t *Told) despite(root Sudo, socket string, trouble error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.Trouble == nil
	t.Trouble = trouble
	if first && !t.Keep {
		fmt.Fprintf(root.say, "approver: warning: %s\n", term.Visibly(Spoiled(trouble)+" (this speaks to the one on "+socket+")"))
	}
}

// Spoiled is the warning of a configuration that cannot be taken.
func Spoiled(trouble error) string {
	return trouble.Error() + "\n" + sinceStart + ", and does not start again with this file: approver check"
}

// OperateOn is operate for a daemon that was found.
func OperateOn(ctx context.Context, client httpapi.ResolveClient, op string, body, out any) error {
	if err := Hears(ctx, client); err != nil {
		return err
	}
	asks := ctx
	if limit := limits[op]; limit > 0 {
		var cancel context.CancelFunc
		asks, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	err := client.Operate(asks, op, body, out)
	switch {
	case err != nil && asks.Err() != nil && ctx.Err() == nil:
		return &SilentError{client.Socket, limits[op] == toChange}
	case errors.Is(err, fs.ErrPermission):
		err = Outsider(err, client.Socket)
	}
	return NotRunning(err)
}

// Hears fails if somebody listens who does not answer.
func Hears(ctx context.Context, client httpapi.ResolveClient) error {
	if err := client.Hears(ctx, firstByte); err != nil {
		return &SilentError{Socket: client.Socket}
	}
	return nil
}

// UsualConfig is where the configuration lies that a command reads or writes if none is
// named: for root the isolated daemon's, if there is one.
func UsualConfig() (string, error) {
	config := filepath.Join(configs.SystemFolder, configName)
	if os.Geteuid() == 0 && there(config) {
		return config, nil
	}
	return configs.DefaultPath()
}
