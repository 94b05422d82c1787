package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
)

// answer sends an answer the way of the terminal channel, and prints what became
// of it. It fails unless that is one of good.
func (c operatorCmd) answer(ctx context.Context, a terminal.Answer, good ...string) error {
	client, err := c.client(ctx)
	if err != nil {
		return err
	}
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := hears(ctx, client); err != nil {
		return err
	}
	asks, cancel := context.WithTimeout(ctx, toChange)
	defer cancel()
	raw, err := client.Answer(asks, body)
	if errors.Is(err, httpapi.ErrRefused) && strings.Contains(err.Error(), "nothing is there") {
		return errors.New("answers are not taken on this machine: answer in a chat if there is one, or set channels.terminal in the configuration")
	} else if err != nil && asks.Err() != nil && ctx.Err() == nil {
		return &silentError{client.Socket, true}
	} else if err != nil {
		return notRunning(err)
	}
	var out terminal.Answered
	if err := json.Unmarshal(raw, &out); err != nil {
		return err
	}
	stands := false
	for _, kind := range good {
		stands = stands || out.Kind == kind
	}
	switch {
	case c.JSON:
		if err := printJSON(out); err != nil {
			return err
		}
	case stands:
		say(out.Text)
	default:
		return errors.New(out.Text)
	}
	if !stands {
		return errSaid
	}
	return nil
}

// An operatorCmd is what the commands that ask the daemon have in common.
type operatorCmd struct {
	daemonAt
	JSON bool `help:"Print one JSON object."`
}

// daemonAt says where the daemon is.
type daemonAt struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE" xor:"where"`
	Socket string `help:"The daemon's resolve socket, for a user who cannot read the configuration." placeholder:"PATH" xor:"where"`

	told *toldOf `kong:"-"` // nil: each connection of root says whom it speaks to
}

// cure is what to do where no daemon is at the usual place.
func (daemonAt) cure() string {
	if _, pinned, err := socketpath.ReadPin(socketpath.PinFile, 0); pinned && err == nil {
		return "start it with sudo systemctl start approver, or as it is started here"
	}
	usual, err := usualConfig()
	if err != nil {
		return startIt
	}
	if _, err := os.Stat(usual); errors.Is(err, fs.ErrNotExist) && os.Geteuid() == 0 {
		return "as root, name the socket of another user's daemon with --socket, or start one with approver init and approver serve"
	} else if errors.Is(err, fs.ErrNotExist) {
		return "write a configuration with approver init, and then start it with approver serve"
	}
	return startIt
}

// outsider tells a user who may not read the configuration, or not connect to the resolve
// socket, what they can do: name the socket, where it lets them in.
func outsider(err error, socket string) error {
	const w = 2 // W_OK, which connecting needs
	switch access := syscall.Access(socket, w); {
	case errors.Is(access, fs.ErrPermission):
		return fmt.Errorf("this user (uid %d) may not look at the daemon or steer it; who may: its own user, root, and sockets.resolve_uids (%w)", os.Geteuid(), err)
	default:
		return fmt.Errorf("%w: name the daemon's socket instead, such as --socket %s", err, socket)
	}
}

// notRunning tells what to do about a daemon that is not there.
func notRunning(err error) error {
	if err != nil && !errors.Is(err, httpapi.ErrRefused) && (errors.Is(err, os.ErrNotExist) || isRefused(err)) {
		return &downError{cure: startIt, err: err}
	}
	return err
}

const startIt = "start it with approver serve"

// A downError says that no daemon runs, and what to do.
type downError struct {
	cure string
	err  error
}

// Error names the place once.
func (d *downError) Error() string {
	why := d.err.Error()
	if op := (*net.OpError)(nil); errors.As(d.err, &op) && op.Addr != nil {
		why = op.Addr.String() + ": " + op.Err.Error()
	}
	return "approver is not running: " + d.cure + " (" + why + ")"
}

// Unwrap returns the cause.
func (d *downError) Unwrap() error { return d.err }

// printJSON prints one object on one line.
func printJSON(doc any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = fmt.Println(visibleJSON(text))
	return err
}

const exitCodes = `
Exit codes: 0 it was done, 1 it failed, 2 the command line is not understood.
`

// control asks for one operation and prints what became of it.
func (c operatorCmd) control(ctx context.Context, op string, req adminapi.ControlRequest) error {
	var doc adminapi.ControlAnswer
	if err := c.operateSaying(ctx, op, req, &doc); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(doc)
	}
	say(doc.Text)
	return nil
}

// operateSaying is operate for what may wait for people: while it does, it says so, and
// at once whether there is anybody who could say yes.
func (c operatorCmd) operateSaying(ctx context.Context, op string, req, doc any) error {
	if c.told == nil {
		c.told = new(toldOf)
	}
	if c.JSON {
		return c.operate(ctx, op, req, doc)
	}
	waits, done := context.WithCancel(ctx)
	said := make(chan bool, 1)
	go func() {
		select {
		case <-waits.Done():
			said <- false
		case <-time.After(askedAfter):
			said <- c.sayWaiting(waits)
		}
	}()
	err := c.operate(ctx, op, req, doc)
	done()
	told := <-said
	switch {
	case err != nil && ctx.Err() != nil:
		return errTakenBack
	case errors.Is(err, httpapi.ErrRefused) && !told:
		// Refused at once: whoever is stuck learns what is left.
		if nobody := c.nobody(ctx); nobody != "" {
			return fmt.Errorf("%w\n%s", err, nobody)
		}
	}
	return err
}

// sayWaiting says what an operation waits for, unless it is over, and reports that.
func (c operatorCmd) sayWaiting(ctx context.Context) (said bool) {
	text := "this waits for people to approve it; Ctrl-C withdraws it"
	if nobody := c.nobody(ctx); ctx.Err() != nil {
		return false
	} else if nobody != "" {
		text = nobody + "\napprover: approver pending has the ID; this waits until its time is over, and Ctrl-C withdraws it"
	}
	printedOn(os.Stderr, 10, "approver: %s\n", visibly(text))
	return true
}

// nobody is what status says where nobody can approve, or nothing.
func (c operatorCmd) nobody(ctx context.Context) string {
	var now adminapi.Status
	if c.operate(ctx, adminapi.OpStatus, struct{}{}, &now) != nil {
		return ""
	}
	return now.Nobody
}

// mode asks the daemon for what holds besides the rules, in a sentence; empty if
// nothing does, or no daemon answers.
func (c operatorCmd) mode(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var doc adminapi.Status
	if c.operate(ctx, adminapi.OpStatus, struct{}{}, &doc) != nil {
		return ""
	}
	return approver.OneLine(doc.Control)
}

// afterLook shows what an operation would let count, and does it if that is confirmed and
// still so. Where people are asked, they are the ones to look.
func (c operatorCmd) afterLook(ctx context.Context, op string, req adminapi.PersonRequest, unseen bool) error {
	c.told = new(toldOf)
	if req.Unseen = unseen; unseen {
		return c.change(ctx, op, req)
	}
	var doc adminapi.ControlAnswer
	look := req
	look.Show = true
	if err := c.operate(ctx, op, look, &doc); err != nil {
		return err
	}
	if req.Seen = doc.Seen; doc.Seen != "" {
		printedOn(os.Stderr, 2, "%s\n", visibly(doc.Text))
		if !typedYes(os.Stdin, os.Stderr, "Shall this count, by your word alone?") {
			return errors.New("not confirmed: nothing was changed")
		}
	}
	return c.change(ctx, op, req)
}

func (c operatorCmd) change(ctx context.Context, op string, req adminapi.PersonRequest) error {
	var doc adminapi.ControlAnswer
	if err := c.operateSaying(ctx, op, req, &doc); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(doc)
	}
	say(doc.Text)
	return nil
}

// client finds the daemon.
func (c daemonAt) client(ctx context.Context) (httpapi.ResolveClient, error) {
	root := newSudoer()
	if c.told == nil {
		c.told = new(toldOf)
	}
	root.told = c.told
	if c.Socket != "" {
		path, err := filepath.Abs(c.Socket)
		return root.at(path, nil), err
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
	return root.own(cfg), nil
}

// despite finds the daemon of a configuration that cannot be taken: it may run, and stopping
// it and everything must stay possible. The place that the file names is taken only if nobody
// else can have written it. Otherwise it is the usual one, where whoever listens must know
// the file, and root speaks to root alone.
func (c daemonAt) despite(ctx context.Context, root sudoer, trouble error) (none httpapi.ResolveClient, err error) {
	path := c.Config
	if path == "" {
		if path, err = configs.DefaultPath(); err != nil {
			return none, trouble
		}
	}
	if owner, err := ownerOf(path); errors.Is(trouble, fs.ErrPermission) && (err != nil || owner != uint32(root.euid)) {
		return none, outsider(trouble, filepath.Join(socketpath.SystemDir, socketpath.Resolve))
	}
	at, err := configs.PlaceOf(path)
	if err != nil {
		return none, trouble
	}
	var only *uint32
	if !at.Sure {
		only = new(uint32)
	}
	client := root.at(at.Socket, only)
	if !at.Sure {
		if err := knows(ctx, client, at.File); err != nil {
			return none, fmt.Errorf("%w; %w", trouble, err)
		}
	}
	c.told.despite(root, at.Socket, trouble)
	return client, nil
}

// operate asks the daemon for one operation.
func (c operatorCmd) operate(ctx context.Context, op string, body, out any) error {
	client, err := c.client(ctx)
	if err != nil {
		return err
	}
	err = operateOn(ctx, client, op, body, out)
	if down := (*downError)(nil); errors.As(err, &down) && c.Config == "" && c.Socket == "" {
		down.cure = c.cure()
	}
	return err
}
