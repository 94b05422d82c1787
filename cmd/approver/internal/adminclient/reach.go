// Package adminclient is how commands find the daemon and speak to it as its operator.
//
// Read reach.go first: where the daemon is, by the flags or the
// configuration. sudo.go is root who speaks to the daemon of another user, submit.go the
// socket where agents ask.
package adminclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"approver.example/channels/terminal"
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
	adminapi.OpStatus: toLook, adminapi.OpPending: toLook, adminapi.OpShow: toLook, adminapi.OpPeople: toLook,
	adminapi.OpGrants: toLook, adminapi.OpOwnerShow: toLook,
	adminapi.OpFreeze: toChange, adminapi.OpRemove: toChange, adminapi.OpRevoke: toChange, adminapi.OpEnforce: toChange,
	adminapi.OpOwnerApprove: toChange,
}

// usual is the socket of the daemon that root means, if no configuration names it: the one
// that root has pinned, or the one in the home of the user who must listen there. It is empty
// if neither is known.
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
		return fmt.Errorf("the file does not say where its daemon listens, and nobody does on %s: name its socket with "+
			"--socket, or mend the file", client.Socket)
	case err != nil:
		return err
	case doc.Config != file && !asuser.SameFile(doc.Config, file):
		return fmt.Errorf("the file does not say where its daemon listens, and the one on %s was started with %s: name "+
			"the socket with --socket, or mend the file",
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
		fmt.Fprintf(root.say, "approver: warning: %s\n",
			term.Visibly(Spoiled(trouble)+" (this speaks to the one on "+socket+")"))
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

// An Cmd is what the commands that ask the daemon have in common.
type Cmd struct {
	At
	JSON bool `help:"Print one JSON object."`
}

// Operate asks the daemon for one operation.
func (c Cmd) Operate(ctx context.Context, op string, body, out any) error {
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	err = OperateOn(ctx, client, op, body, out)
	if down := (*DownError)(nil); errors.As(err, &down) && c.Config == "" && c.Socket == "" {
		down.Cure = c.Cure()
	}
	return err
}

// PrintRequest writes the whole request beside the question. On a terminal of that width, wide
// lines are broken. What goes on is indented, so that no line of a command looks like the
// label of another text.
func PrintRequest(w io.Writer, width int, s adminapi.Shown) {
	to := &terminal.Folder{W: w, Width: width}
	for _, line := range [][2]string{
		{"", s.Severity.String()}, {"command", s.Command}, {"why", s.Why}, {"rule", s.Rule}, {"agent", s.Agent},
		{"session", s.Session},
		{"folder", s.Dir}, {"host", s.Host}, {"environment", s.Env}, {"claimed by the agent", s.Claimed},
		{"notice", s.Notice}, {"", s.Until}, {"", s.Result},
	} {
		text := strings.ReplaceAll(term.Visibly(line[1]), "\n", "\n  ")
		switch {
		case line[1] == "":
		case line[0] == "":
			fmt.Fprintln(to, text)
		case text != term.Visibly(line[1]):
			fmt.Fprintf(to, "%s:\n  %s\n", line[0], text)
		default:
			fmt.Fprintf(to, "%s: %s\n", line[0], text)
		}
	}
	_ = to.Flush() // as fmt.Fprintln's, this error has no reader
}

// At says where the daemon is.
type At struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE" xor:"where"`
	Socket string `help:"The daemon's resolve socket, for a user who cannot read the configuration." placeholder:"PATH" xor:"where"`

	Told *Told `kong:"-"` // nil: each connection of root says whom it speaks to
}

// Cure is what to do where no daemon is at the usual place.
func (At) Cure() string {
	if _, pinned, err := socketpath.ReadPin(socketpath.PinFile, 0); pinned && err == nil {
		return "start it with sudo systemctl start approver, or as it is started here"
	}
	usual, err := UsualConfig()
	if err != nil {
		return startIt
	}
	if _, err := os.Stat(usual); errors.Is(err, fs.ErrNotExist) && os.Geteuid() == 0 {
		return "as root, name the socket of another user's daemon with --socket, or start one with approver init and " +
			"approver serve"
	} else if errors.Is(err, fs.ErrNotExist) {
		return "write a configuration with approver init, and then start it with approver serve"
	}
	return startIt
}

// Client finds the daemon.
func (c At) Client(ctx context.Context) (httpapi.ResolveClient, error) {
	root := NewSudo()
	if c.Told == nil {
		c.Told = new(Told)
	}
	root.told = c.Told
	if c.Socket != "" {
		path, err := filepath.Abs(c.Socket)
		return root.At(path, nil), err
	}
	if root.euid == 0 {
		if client, ok, err := root.client(c.Config); ok || err != nil && !errors.Is(err, errSpoiled) {
			return client, err
		}
	}
	cfg, err := configs.LoadOrDefault(c.Config)
	if err != nil {
		return c.despite(ctx, root, err)
	}
	return root.Own(cfg), nil
}

// despite finds the daemon of a configuration that cannot be taken: it may run, and stopping
// it and everything must stay possible. The place that the file names is taken only if nobody
// else can have written it. Otherwise it is the usual one, where whoever listens must know
// the file, and root speaks to root alone.
func (c At) despite(ctx context.Context, root Sudo, trouble error) (none httpapi.ResolveClient, err error) {
	path := c.Config
	if path == "" {
		if path, err = configs.DefaultPath(); err != nil {
			return none, trouble
		}
	}
	if owner, err := asuser.OwnerOf(path); errors.Is(trouble, fs.ErrPermission) &&
		(err != nil || owner != uint32(root.euid)) {
		return none, Outsider(trouble, filepath.Join(socketpath.SystemDir, socketpath.Resolve))
	}
	at, err := configs.PlaceOf(path)
	if err != nil {
		return none, trouble
	}
	var only *uint32
	if !at.Sure {
		only = new(uint32)
	}
	client := root.At(at.Socket, only)
	if !at.Sure {
		if err := knows(ctx, client, at.File); err != nil {
			return none, fmt.Errorf("%w; %w", trouble, err)
		}
	}
	c.Told.despite(root, at.Socket, trouble)
	return client, nil
}

// Outsider tells a user who may not read the configuration, or not connect to the resolve
// socket, what they can do: name the socket, where it lets them in.
func Outsider(err error, socket string) error {
	const w = 2 // W_OK, which connecting needs
	switch access := syscall.Access(socket, w); {
	case errors.Is(access, fs.ErrPermission):
		return fmt.Errorf("this user (uid %d) may not look at the daemon or steer it; who may: its own user, root, and "+
			"sockets.resolve_uids (%w)", os.Geteuid(), err)
	default:
		return fmt.Errorf("%w: name the daemon's socket instead, such as --socket %s", err, socket)
	}
}

// NotRunning tells what to do about a daemon that is not there.
func NotRunning(err error) error {
	if err != nil && !errors.Is(err, httpapi.ErrRefused) && (errors.Is(err, os.ErrNotExist) || IsRefused(err)) {
		return &DownError{Cure: startIt, Err: err}
	}
	return err
}

const startIt = "start it with approver serve"

// A DownError says that no daemon runs, and what to do.
type DownError struct {
	Cure string
	Err  error
}

// Error names the place once.
func (d *DownError) Error() string {
	why := d.Err.Error()
	if op := (*net.OpError)(nil); errors.As(d.Err, &op) && op.Addr != nil {
		why = op.Addr.String() + ": " + op.Err.Error()
	}
	return "approver is not running: " + d.Cure + " (" + why + ")"
}

// Unwrap returns the cause.
func (d *DownError) Unwrap() error { return d.Err }

// IsRefused reports that nobody listens on a socket that is there.
func IsRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// A SilentError says that a daemon listens and does not answer.
type SilentError struct {
	Socket string
	begun  bool // a change was asked for, and may be made
}

// Error says what to do: starting another one would be refused.
func (s *SilentError) Error() string {
	done := ""
	if s.begun {
		done = ", so what was asked for may be done or not"
	}
	return "approver listens on " + s.Socket + " and does not answer" + done + ": it may be stopped or overloaded: " +
		SilentCure
}

// Unwrap is for errors.Is.
func (*SilentError) Unwrap() error { return httpapi.ErrSilent }

// SilentCure is what helps against a daemon that listens and does not answer.
const SilentCure = "look at its process (a T in the state that ps shows: somebody stopped it, kill -CONT lets it go " +
	"on), at memory and disk, and at its log; if it stays so, restart it"

// IsDown reports that nobody listens.
func IsDown(err error) bool {
	down := (*DownError)(nil)
	return errors.As(err, &down)
}
