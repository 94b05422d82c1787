package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
)

// asOwner approves as root what nobody else can. The whole card and a code of its own are
// shown on the terminal that root types into, never on an output that a program may
// read; false means that root answers as everybody does.
func (c approveCmd) asOwner(ctx context.Context) (done bool, err error) {
	if os.Geteuid() != 0 {
		return false, nil
	}
	tty, ttyErr := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if ttyErr == nil {
		defer tty.Close()
	}
	var doc adminapi.OwnerAnswer
	switch err := c.Operate(ctx, adminapi.OpOwnerShow, adminapi.OwnerRequest{Request: c.Which}, &doc); {
	case err != nil:
		return true, err
	case doc.Code == "":
		return false, nil
	case ttyErr != nil:
		return true, fmt.Errorf("root approves with a typed code only, and there is no terminal to type it into: %w", ttyErr)
	case c.Yes:
		return true, errors.New("root approves with a typed code only: leave out --yes")
	}
	adminclient.PrintRequest(tty, term.Width(tty), doc.Shown)
	term.PrintOn(tty, 0, "\nNobody on an approver list can approve this, so root may. Read all of it. To approve it "+
		"once, type %s: ", term.Visibly(doc.Code))
	line, _ := bufio.NewReader(tty).ReadString('\n') // no answer is a no
	if strings.TrimSpace(line) == "" {
		return true, errors.New("nothing was approved")
	}
	if err := c.Operate(ctx, adminapi.OpOwnerApprove,
		adminapi.OwnerRequest{Request: c.Which, Code: strings.TrimSpace(line)}, &doc); err != nil {
		return true, err
	}
	if c.JSON {
		err = term.PrintJSON(map[string]any{"done": doc.Done, "text": doc.Text})
	} else if doc.Done {
		term.Say(doc.Text)
	} else {
		return true, errors.New(doc.Text)
	}
	if !doc.Done && err == nil {
		err = term.ErrSaid
	}
	return true, err
}
