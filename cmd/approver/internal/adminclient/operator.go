// Package adminclient is how commands find the daemon and speak to it as its operator.
//
// Read operator.go first, then place.go: where the daemon is, by the flags or the
// configuration. sudo.go is root who speaks to the daemon of another user, submit.go the
// socket where agents ask.
package adminclient

import (
	"context"
	"errors"
)

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
