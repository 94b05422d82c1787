package adminclient

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"approver.example/cmd/approver/internal/asuser"
	"approver.example/configs"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
)

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
		return "as root, name the socket of another user's daemon with --socket, or start one with approver init and approver serve"
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
	if owner, err := asuser.OwnerOf(path); errors.Is(trouble, fs.ErrPermission) && (err != nil || owner != uint32(root.euid)) {
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
