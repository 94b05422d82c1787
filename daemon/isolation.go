package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"approver.example"
	"approver.example/configs"
	"approver.example/httpapi"
)

// An isolation says who may connect to which socket, and whether that keeps agents from the
// daemon's own files and rights.
type isolation struct {
	configs.Isolation
	who    configs.Submitters
	sealed bool // submitters are configured, so agents have users of their own
	// submit and resolve decide who is admitted to the sockets, which have these modes.
	submit, resolve         httpapi.Admit
	submitMode, resolveMode fs.FileMode
}

// openIsolation checks the facts of the machine, as the daemon's user.
func openIsolation(cfg configs.Config, log *slog.Logger) (isolation, error) {
	who, err := cfg.Sockets.Submitters()
	if err != nil {
		return isolation{}, err
	}
	me := uint32(os.Geteuid())
	owners := httpapi.AdmitUIDs(append([]uint32{me, 0}, cfg.Sockets.ResolveUIDs...)...)
	h := isolation{Isolation: cfg.Isolation(who, me), who: who, sealed: who.Named(), submit: owners, resolve: owners,
		submitMode: 0o600, resolveMode: 0o600}
	if len(cfg.Sockets.ResolveUIDs) > 0 {
		h.resolveMode = 0o666 // the kernel identifies the peer, and resolve checks it
	}
	if h.sealed {
		h.submit, h.submitMode = admitSubmitters(who), 0o666
		h.resolve = refuseSubmitters(who, owners)
	}
	for _, why := range h.Why {
		log.Warn("NOT ISOLATED", "why", why)
	}
	if me == 0 && h.Isolated {
		log.Warn("the daemon runs as root, which it does not need: give it a user of its own")
	}
	return h, nil
}

// Isolated reports whether a daemon of this user with this configuration keeps agents from its secrets.
func Isolated(cfg configs.Config) bool {
	h, err := openIsolation(cfg, slog.New(slog.DiscardHandler))
	return err == nil && h.Isolated
}

// note is what the audit says about the isolation at each start.
func (h isolation) note() string {
	if h.Isolated {
		return "isolated: who may submit is " + h.who.String()
	}
	return h.Notice()
}

// admitSubmitters admits the submitters only, so neither the daemon's own user nor root.
func admitSubmitters(who configs.Submitters) httpapi.Admit {
	return func(p approver.Peer) error {
		in, err := who.Has(p.UID)
		if err == nil && !in {
			err = fmt.Errorf("uid %d may not submit: sockets.submit_uids or submit_group would have to name it", p.UID)
		}
		return err
	}
}

// refuseSubmitters refuses submitters, even those whom others would admit: whoever asks must
// not answer.
func refuseSubmitters(who configs.Submitters, others httpapi.Admit) httpapi.Admit {
	return func(p approver.Peer) error {
		in, err := who.Has(p.UID)
		switch {
		case err != nil:
			return err
		case in:
			return fmt.Errorf("uid %d may submit calls, so it may not see or answer requests", p.UID)
		}
		return others(p)
	}
}

// reachable makes the folder of the submit socket if it is missing and other users connect
// there. An existing folder is left unchanged.
func (h isolation) reachable(submit string) error {
	dir := filepath.Dir(submit)
	if !h.sealed {
		return nil
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil // httpapi.Listen checks the rest
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("the socket's folder: %w", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("the socket's folder: %w", err)
	}
	return os.Chmod(dir, 0o755) // whatever the umask is
}
