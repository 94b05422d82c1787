package judging

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"approver.example"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/judges"
)

// Flags are the flags for the configuration and the policy that a command uses.
type Flags struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	Policy string `help:"Policy file, or preset:default, preset:strict, preset:permissive, instead of the configured one." placeholder:"FILE"`

	Told *adminclient.Told `kong:"-"` // as in [adminclient.At]
}

// Load returns the configuration, with the policy of the flag if there is one. The built-in
// configuration applies if there is no home directory, and, with a warning, if this user may
// not read the machine's.
func (f Flags) Load() (configs.Config, error) {
	cfg := configs.Default()
	if f.Config != "" || f.Policy == "" && os.Getenv("HOME") != "" {
		read, err := configs.LoadOrDefault(f.Config)
		switch {
		case err == nil:
			cfg = read
		case f.Config == "" && errors.Is(err, fs.ErrPermission):
			// On an isolated machine, only the daemon's user can read it.
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

// SayNotInForce prints [Flags.NotInForce] on standard error, next to the output.
func (f Flags) SayNotInForce(ctx context.Context) {
	if said := f.NotInForce(ctx); said != "" {
		term.PrintOn(os.Stderr, 10, "approver: %s\n", term.Visibly(said))
	}
}

// NotInForce says, for judge, policy explain and report, that their policy and rules differ
// from the daemon's, or that this is not known. It is empty if they are the same, and if a
// policy is named, because then the question is about that policy.
func (f Flags) NotInForce(ctx context.Context) string {
	if f.Policy != "" {
		return ""
	}
	cfg, err := configs.LoadOrDefault(f.Config)
	if err != nil {
		return "" // reported when it was read
	}
	files, err := judges.VersionsOf(cfg)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	doc, err := adminclient.Cmd{At: adminclient.At{Config: f.Config, Told: f.Told}}.Status(ctx)
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

// The rest of this file is about the user as whom calls are judged outside the daemon. The
// daemon learns each caller's uid from the kernel.

// A UIDFlag says as which user to judge calls that do not name one.
type UIDFlag struct {
	UID *uint32 `name:"uid" help:"Judge calls as those of this user; left out, as yours. Rules for certain users (when: uids) and ~ depend on it." placeholder:"N"`
}

// Caller returns the user who runs this program.
func Caller() approver.Peer {
	if uid := os.Getuid(); uid >= 0 {
		return approver.Peer{Known: true, UID: uint32(uid)}
	}
	return approver.Peer{}
}

// JudgeAs sets the user of the flag on j, if there is one.
func (f UIDFlag) JudgeAs(j *Judge) {
	if f.UID != nil {
		j.Peer = approver.Peer{Known: true, UID: *f.UID}
	}
}

// SayWho says as which user calls are judged, if a rule depends on that and the flag is
// missing. The daemon judges as the agent's user, who on an isolated machine is not the user of
// this command.
func (f UIDFlag) SayWho(j *Judge) {
	if f.UID != nil || !j.Policy.NamesUIDs() {
		return
	}
	agents := ""
	if who, err := j.sockets.Submitters(); err == nil && who.Named() {
		agents = fmt.Sprintf("; here agents ask as %s", who)
	}
	term.PrintOn(os.Stderr, 10, "approver: the policy has rules for certain users (when: uids), and this is judged as "+
		"uid %d, who runs it%s: --uid N judges as another\n", j.Peer.UID, agents)
}

// envOf returns what is known of a caller's environment: the home directory. For other users
// than the one who runs this program, it is that of their account.
func (j *Judge) envOf(peer approver.Peer) map[string]string {
	if !peer.Known || peer == Caller() {
		return j.env
	}
	u, err := user.LookupId(strconv.FormatUint(uint64(peer.UID), 10))
	if err != nil {
		return j.env
	}
	return map[string]string{"HOME": u.HomeDir}
}
