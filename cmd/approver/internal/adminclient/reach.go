// Package adminclient lets commands find the daemon and operate it.
//
// Read reach.go first: it finds the daemon by the flags or the configuration. sudo.go is for
// root speaking to another user's daemon, and submit.go is for the socket where agents ask.
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
	"approver.example/display"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
)

// This file finds the daemon, even if its configuration has become invalid since it started,
// and limits how long commands wait for it.

// These constants say how long a command waits. A daemon that was stopped, or whose machine is
// out of memory, accepts connections and never answers. A monitor must not hang because of
// that.
const (
	firstByte  = 4 * time.Second  // for any answer at all, before the request
	toLook     = 10 * time.Second // for what a daemon knows
	toChange   = time.Minute      // for a change that waits for nobody; the store may be slow
	sinceStart = "a daemon goes on with what it read at its start"
)

// limits has the operations that wait for nobody, and their time limits. All others wait for
// people.
var limits = map[string]time.Duration{
	adminapi.OpStatus: toLook, adminapi.OpPending: toLook, adminapi.OpShow: toLook, adminapi.OpPeople: toLook,
	adminapi.OpGrants: toLook, adminapi.OpOwnerShow: toLook, adminapi.OpWork: toLook,
	adminapi.OpFreeze: toChange, adminapi.OpRemove: toChange, adminapi.OpRevoke: toChange, adminapi.OpEnforce: toChange,
	adminapi.OpOwnerApprove: toChange,
}

// usual returns the resolve socket of the daemon that root means if no configuration names it:
// the one beside the pinned submit socket, that of an isolated daemon, or the one in the home
// of the user who must listen there. It is empty if none of these is known.
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

// errSpoiled means that root does not accept a configuration, because it is not valid YAML or
// others can write it. The daemon is then looked for where it usually listens.
var errSpoiled = errors.New("name the daemon's socket with --socket")

// knows returns an error unless the daemon that listens was started with that configuration.
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

// despite records that a daemon was found although its configuration cannot be used. It prints
// a warning the first time, unless Keep says that the caller does.
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

// Spoiled returns the warning about a configuration that cannot be used.
func Spoiled(trouble error) string {
	return trouble.Error() + "\n" + sinceStart + ", and does not start again with this file: approver check"
}

// OperateOn is [Cmd.Operate] for a daemon that has already been found.
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

// Hears returns an error if somebody listens but does not answer.
func Hears(ctx context.Context, client httpapi.ResolveClient) error {
	if err := client.Hears(ctx, firstByte); err != nil {
		return &SilentError{Socket: client.Socket}
	}
	return nil
}

// UsualConfig returns the path of the configuration that a command reads or writes if none is
// named. For root, that is the isolated daemon's configuration, if there is one.
func UsualConfig() (string, error) {
	config := filepath.Join(configs.SystemFolder, configName)
	if os.Geteuid() == 0 && there(config) {
		return config, nil
	}
	return configs.DefaultPath()
}

// A Cmd has the flags that the commands share that ask the daemon.
type Cmd struct {
	At
	JSON bool `help:"Print one JSON object."`
}

// Operate runs one operation of the daemon.
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

// PrintRequest writes the whole request for the person who is asked. If width is not 0, it
// breaks long lines at that width. Continuation lines are indented, so that no line of a
// command looks like the label of another text.
func PrintRequest(w io.Writer, width int, s adminapi.Shown) {
	to := &terminal.Folder{W: w, Width: width}
	fmt.Fprintln(to, term.Visibly(s.Headline))
	for _, b := range s.Blocks {
		text := strings.ReplaceAll(term.Visibly(b.Text), "\n", "\n  ")
		if b.Kind == display.Line {
			fmt.Fprintf(to, "%s: %s\n", term.Visibly(b.Label), text)
		} else {
			fmt.Fprintf(to, "%s:\n  %s\n", term.Visibly(b.Label), text)
		}
	}
	_ = to.Flush() // ignored, like the error of fmt.Fprintln
}

// At says where the daemon is.
type At struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE" xor:"where"`
	Socket string `help:"The daemon's resolve socket, for a user who cannot read the configuration." placeholder:"PATH" xor:"where"`

	Told *Told `kong:"-"` // nil: root is told for each connection whom it speaks to
}

// Cure says what to do if there is no daemon at the usual place.
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

// Client returns a client for the daemon.
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

// despite finds the daemon of a configuration that cannot be used. That daemon may be running,
// and it must remain possible to stop it, or to freeze everything. The socket that the file
// names is used only if nobody else can have written it. Otherwise the usual socket is used:
// the daemon there must have been started with that file, and root speaks only to root.
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
// socket, what they can do: name the socket, if they have access to it.
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

// NotRunning turns the error for a missing daemon into one that says what to do.
func NotRunning(err error) error {
	if err != nil && !errors.Is(err, httpapi.ErrRefused) && (errors.Is(err, os.ErrNotExist) || IsRefused(err)) {
		return &DownError{Cure: startIt, Err: err}
	}
	return err
}

const startIt = "start it with approver serve"

// A DownError says that no daemon is running, and what to do.
type DownError struct {
	Cure string
	Err  error
}

// Error returns the message. It names the socket only once.
func (d *DownError) Error() string {
	why := d.Err.Error()
	if op := (*net.OpError)(nil); errors.As(d.Err, &op) && op.Addr != nil {
		why = op.Addr.String() + ": " + op.Err.Error()
	}
	return "approver is not running: " + d.Cure + " (" + why + ")"
}

// Unwrap returns the cause.
func (d *DownError) Unwrap() error { return d.Err }

// IsRefused reports whether a socket exists but nobody listens on it.
func IsRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// A SilentError says that a daemon listens but does not answer.
type SilentError struct {
	Socket string
	begun  bool // a change was requested, and may have been made
}

// Error says what to do. Starting another daemon would be refused.
func (s *SilentError) Error() string {
	done := ""
	if s.begun {
		done = ", so what was asked for may be done or not"
	}
	return "approver listens on " + s.Socket + " and does not answer" + done + ": it may be stopped or overloaded: " +
		SilentCure
}

// Unwrap returns httpapi.ErrSilent, for errors.Is.
func (*SilentError) Unwrap() error { return httpapi.ErrSilent }

// SilentCure says what to do about a daemon that listens but does not answer.
const SilentCure = "look at its process (a T in the state that ps shows: somebody stopped it, kill -CONT lets it go " +
	"on), at memory and disk, and at its log; if it stays so, restart it"

// IsDown reports whether an error means that nobody listens.
func IsDown(err error) bool {
	down := (*DownError)(nil)
	return errors.As(err, &down)
}
