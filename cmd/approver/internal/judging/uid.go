package judging

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"approver.example"
	"approver.example/cmd/approver/internal/term"
)

// This file is about as whom calls are judged outside of the daemon, which knows each
// caller by the kernel's word.

// A UIDFlag says as whom calls are judged that do not say it themselves.
type UIDFlag struct {
	UID *uint32 `name:"uid" help:"Judge calls as those of this user; left out, as yours. Rules for certain users (when: uids) and ~ depend on it." placeholder:"N"`
}

// Caller is whoever runs this program.
func Caller() approver.Peer {
	if uid := os.Getuid(); uid >= 0 {
		return approver.Peer{Known: true, UID: uint32(uid)}
	}
	return approver.Peer{}
}

// JudgeAs makes calls be judged as the flag says.
func (f UIDFlag) JudgeAs(j *Judge) {
	if f.UID != nil {
		j.Peer = approver.Peer{Known: true, UID: *f.UID}
	}
}

// SayWho says as whom calls are judged where a rule depends on it and the flag does not
// say it: the daemon judges as the user of the agent, and on an isolated machine that is
// not who looks.
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

// envOf is what is known of a caller's environment: where their home is. Of others than
// whoever runs this, the accounts of this machine say it.
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
