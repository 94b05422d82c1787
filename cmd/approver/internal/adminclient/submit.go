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

// ErrTurnedAway means that the daemon answers, and does not admit this user.
var ErrTurnedAway = errors.New("it does not admit this user")

// SubmitCure is for whoever may not ask.
const SubmitCure = "if agents are to run as this user: add the uid to sockets.submit_uids in the daemon's " +
	"configuration, and restart the daemon"

// Answers asks who listens on a socket. ErrTurnedAway means that it is a daemon that does
// not admit this user: it says so, or the connection ends at once. ErrSilent of httpapi
// means that somebody listens who does not answer.
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

// SubmitPlace is where users of this machine ask, and who must listen there: the socket
// that was named, else the one that root pinned for couriers, else the configured one. On
// an isolated machine the configuration is not for those who ask; without a pin they ask
// at the usual place.
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
	home, _ := os.UserHomeDir() // Dir tells what is missing
	dir, err := socketpath.Dir(home)
	return httpapi.SubmitClient{Socket: filepath.Join(dir, socketpath.Submit)}, err
}

// AskPlace is [SubmitPlace], also where the configuration was spoiled since the daemon's start.
// Then it is found as people's commands find it, and says itself where it is asked.
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
	if doc.Submit == "" { // an older daemon does not say it
		return none, trouble
	}
	return httpapi.SubmitClient{Socket: doc.Submit}, nil
}

// pinnedTo trusts the uid that root pinned and nobody else, as couriers do.
func pinnedTo(pin socketpath.Pin) httpapi.SubmitClient {
	return httpapi.SubmitClient{Socket: pin.Socket, Trust: func(uid uint32) error {
		if uid != pin.UID {
			return fmt.Errorf("the listener on %s runs as uid %d, and %s pins uid %d", pin.Socket, uid, socketpath.PinFile,
				pin.UID)
		}
		return nil
	}}
}
