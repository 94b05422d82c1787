package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"approver.example/audit"
	"approver.example/configs"
	"approver.example/daemon/codekeys"
	"approver.example/httpapi"
	"approver.example/shieldcore/evaluator"
)

// CheckStart returns the reasons why a daemon of this user cannot start with this
// configuration, as far as they can be found without leaving a trace: it creates no file,
// keeps no lock and asks nobody. serve refuses to start because of it, and check and doctor
// show it, so that all three agree. The policy and the rules are checked when they are read.
func CheckStart(cfg configs.Config) error {
	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, diskCure(err))
		}
	}
	_, err := cfg.Sockets.Submitters()
	add(err)
	_, err = OpenChannels(cfg, Isolated(cfg), nil, slog.New(slog.DiscardHandler))
	channels, wrong := cfg.CheckTokens()
	add(wrong)
	add(withoutChannels(err, channels))
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

// withoutChannels returns an error of [OpenChannels] without those of some channels.
func withoutChannels(err error, channels []string) error {
	if several, is := err.(interface{ Unwrap() []error }); is {
		var rest []error
		for _, one := range several.Unwrap() {
			rest = append(rest, withoutChannels(one, channels))
		}
		return errors.Join(rest...)
	}
	if of, is := errors.AsType[*ChannelError](err); is && slices.Contains(channels, of.Channel) {
		return nil
	}
	return err
}

// checkStore is CheckStart for the store, and for the key file if the store is not shared.
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

// CheckParts returns why a part of the configuration would not work after a start that
// succeeds, so that calls that need it are blocked.
func CheckParts(cfg configs.Config) error {
	if m := cfg.Shield.Sidecar; m != nil {
		return m.CheckFiles()
	}
	return nil
}

// CanMake returns why this user cannot write to a folder, or cannot create it. It does not
// check what the folder contains or who else may read it.
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

// unique drops repeated errors.
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
