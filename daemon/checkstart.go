package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"approver.example/audit"
	"approver.example/configs"
	"approver.example/daemon/codekeys"
	"approver.example/httpapi"
	"approver.example/shieldcore/evaluator"
)

// CheckStart says why a daemon of this user cannot start with this configuration, all that
// shows without a trace: it makes no file, takes no lock that lasts and asks nobody. serve refuses by
// it, and check and doctor show it; so they cannot part. The policy and the rules are
// looked at where they are read.
func CheckStart(cfg configs.Config) error {
	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, diskCure(err))
		}
	}
	_, err := cfg.Sockets.Submitters()
	add(err)
	_, err = OpenChannels(cfg, false, nil, slog.New(slog.DiscardHandler))
	add(err)
	if e := cfg.Shield.Evaluator; e != nil {
		_, err := evaluator.New(*e)
		add(err)
	}
	add(CanMake(cfg.Dir, "the data folder"))
	add(CanMake(cfg.AuditDir(), "the audit"))
	add(audit.CheckLog(cfg.AuditDir()))
	add(audit.CheckKey(cfg.AuditKey()))
	add(checkStore(cfg))
	for _, path := range []string{cfg.Sockets.Submit, cfg.Sockets.Resolve} {
		add(httpapi.CheckListen(path))
		add(CanMake(filepath.Dir(path), "the socket's folder"))
	}
	return errors.Join(unique(errs)...)
}

// checkStore is CheckStart for the store, and for the key beside one that no daemons share.
func checkStore(cfg configs.Config) error {
	at := cfg.Storage()
	if dir := filepath.Dir(at.File); at.File != "" && dir != cfg.Dir {
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("store: %w: make the folder first", err)
		}
	}
	err := cfg.CheckStoreFiles()
	if at.Shared {
		return err
	}
	if _, keyErr := codekeys.Load(codekeys.File(cfg)); !errors.Is(keyErr, fs.ErrNotExist) {
		err = errors.Join(err, keyErr)
	}
	return err
}

// CheckParts says what of a configuration a daemon starts with and then fails at, so that
// calls are blocked that need it.
func CheckParts(cfg configs.Config) error {
	if m := cfg.Shield.Sidecar; m != nil {
		return m.CheckFiles()
	}
	return nil
}

// CanMake says why a folder cannot be used by this user, or not be made. What lies in it
// and who else may look into it is not looked at.
func CanMake(dir, what string) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at):
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", what, err)
		case !info.IsDir():
			return fmt.Errorf("%s: %s is not a folder", what, at)
		}
		const wx = 2 | 1 // W_OK, X_OK
		if err := syscall.Access(at, wx); err != nil {
			return fmt.Errorf("%s: %w", what, &fs.PathError{Op: "write", Path: at, Err: err})
		}
		return nil
	}
}

// unique leaves each error once.
func unique(errs []error) (out []error) {
	seen := map[string]bool{}
	for _, err := range errs {
		if !seen[err.Error()] {
			seen[err.Error()] = true
			out = append(out, err)
		}
	}
	return out
}
