package adminclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
)

// ErrTurnedAway means that the daemon answers but does not admit this user.
var ErrTurnedAway = errors.New("it does not admit this user")

// SubmitCure says what to do if a user may not ask.
const SubmitCure = "if agents are to run as this user: add the uid to sockets.submit_uids in the daemon's " +
	"configuration, and restart the daemon"

// Answers checks that a daemon answers on a socket. ErrTurnedAway means that the daemon does
// not admit this user: it says so, or closes the connection at once. httpapi.ErrSilent means
// that somebody listens but does not answer.
func Answers(path string) error {
	client := http.Client{Timeout: firstByte, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
			if err != nil {
				return nil, err
			}
			return httpapi.Asking(conn), nil
		},
	}}
	res, err := client.Get("http://approver/v1/health")
	for _, away := range []error{io.EOF, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, away) {
			return ErrTurnedAway
		}
	}
	if os.IsTimeout(err) || errors.Is(err, syscall.EAGAIN) {
		return httpapi.ErrSilent
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusForbidden {
		return err
	}
	return ErrTurnedAway
}

// SubmitPlace returns a client for the socket where users of this machine ask, with a check of
// who must listen there: the named socket, or else the one that root pinned for couriers, or
// else the configured one. On an isolated machine, users who ask cannot read the configuration;
// if there is no pin, they use the usual socket.
func SubmitPlace(config, named string) (httpapi.SubmitClient, error) {
	if named != "" {
		return httpapi.SubmitClient{Socket: named}, nil
	}
	if config == "" {
		pin, pinned, err := socketpath.ReadPin(socketpath.PinFile, 0)
		if err != nil || pinned {
			return pinnedTo(pin), err
		}
	}
	cfg, err := configs.LoadOrDefault(config)
	if config != "" || !errors.Is(err, fs.ErrPermission) {
		return httpapi.SubmitClient{Socket: cfg.Sockets.Submit}, err
	}
	home, _ := os.UserHomeDir() // Dir says what is missing
	dir, err := socketpath.Dir(home)
	return httpapi.SubmitClient{Socket: filepath.Join(dir, socketpath.Submit)}, err
}

// AskPlace is [SubmitPlace], but also works if the configuration has become invalid since the
// daemon started. Then it finds the daemon as the operator's commands do, and asks it for its
// submit socket.
func AskPlace(ctx context.Context, config, named string) (none httpapi.SubmitClient, err error) {
	client, trouble := SubmitPlace(config, named)
	if trouble == nil {
		return client, nil
	}
	people, err := At{Config: config}.Client(ctx)
	if err != nil {
		return none, err
	}
	var doc adminapi.Status
	if err := OperateOn(ctx, people, adminapi.OpStatus, struct{}{}, &doc); err != nil {
		return none, fmt.Errorf("%w; %w", trouble, err)
	}
	if doc.Submit == "" { // an older daemon does not report it
		return none, trouble
	}
	return httpapi.SubmitClient{Socket: doc.Submit}, nil
}

// pinnedTo trusts only the uid that root pinned, as couriers do.
func pinnedTo(pin socketpath.Pin) httpapi.SubmitClient {
	return httpapi.SubmitClient{Socket: pin.Socket, Trust: func(uid uint32) error {
		if uid != pin.UID {
			return fmt.Errorf("the listener on %s runs as uid %d, and %s pins uid %d", pin.Socket, uid, socketpath.PinFile,
				pin.UID)
		}
		return nil
	}}
}
