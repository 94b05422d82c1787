package judging

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/judges"
)

// Flags say which policy a command is about.
type Flags struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	Policy string `help:"Policy file, or preset:default, preset:strict, preset:permissive, instead of the configured one." placeholder:"FILE"`

	Told *adminclient.Told `kong:"-"` // as of [operatorCmd]
}

// Load returns the configuration with the policy that is meant. Without a
// home there is none to read, and the built-in one counts; so it does, and that is
// said, for a user who may not read the machine's.
func (f Flags) Load() (configs.Config, error) {
	cfg := configs.Default()
	if f.Config != "" || f.Policy == "" && os.Getenv("HOME") != "" {
		read, err := configs.LoadOrDefault(f.Config)
		switch {
		case err == nil:
			cfg = read
		case f.Config == "" && errors.Is(err, fs.ErrPermission):
			// On an isolated machine only the daemon's user reads it.
			term.PrintOn(os.Stderr, 10, "approver: %v: so this is judged by what is built in; the daemon's own policy and "+
				"rules may say otherwise\n", err)
		default:
			return read, err
		}
	}
	if f.Policy != "" {
		cfg.Policy = f.Policy
	}
	return cfg, nil
}

// SayNotInForce puts [policyFlags.notInForce] beside what is printed.
func (f Flags) SayNotInForce(ctx context.Context) {
	if said := f.NotInForce(ctx); said != "" {
		term.PrintOn(os.Stderr, 10, "approver: %s\n", term.Visibly(said))
	}
}

// NotInForce says, for judge, policy explain and report, that what they judge by is not
// what the daemon judges by, or that nobody can say. It is empty if it is, and for whoever
// names a policy: they ask about that one.
func (f Flags) NotInForce(ctx context.Context) string {
	if f.Policy != "" {
		return ""
	}
	cfg, err := configs.LoadOrDefault(f.Config)
	if err != nil {
		return "" // it was told when it was read
	}
	files, err := judges.VersionsOf(cfg)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var doc adminapi.Status
	err = (adminclient.Cmd{At: adminclient.At{Config: f.Config, Told: f.Told}}).Operate(ctx, adminapi.OpStatus,
		struct{}{}, &doc)
	switch {
	case err != nil && cfg.File == "" && errors.Is(err, fs.ErrNotExist):
		return "" // there is neither a configuration nor a daemon
	case err != nil, doc.InForce == nil:
		return "judged by the files; the daemon may have others in force, which it does not say here"
	}
	names := files.Unlike(*doc.InForce)
	if len(names) == 0 {
		return ""
	}
	said := fmt.Sprintf("judged by the files, which are not in force: the daemon judges by another %s",
		strings.Join(names, " and another "))
	for _, u := range doc.NotInForce {
		said += "; " + u.String()
	}
	return said
}
