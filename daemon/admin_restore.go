package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/display"
)

func accountNames(ids []approver.Identity) string {
	if len(ids) == 0 {
		return "by the name of the person alone"
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = display.OneLine(approver.SelfPerson(id.Channel, id.ID))
	}
	return strings.Join(names, ", ")
}

// This file lets people count on the approval of one operator: somebody who was removed, and
// what waits in the configuration. The operator is first shown what would count. The
// configuration may change before the approval comes, so an approval names what was shown,
// and holds for that alone.

// errNotAsShown means that what would count now is not what was shown.
var errNotAsShown = errors.New("nothing was changed: what would count is not, or not any more, what was shown: run " +
	"it again, and read it anew")

// digestOf returns a digest of what an operator is shown. detail is not shown; it
// distinguishes states whose text is the same.
func digestOf(op, text string, detail ...any) (string, error) {
	raw, err := json.Marshal(append([]any{op, text}, detail...))
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}

// sameAsShown returns an error unless the request approves the state with this digest, or
// explicitly approves any state.
func sameAsShown(r adminapi.PersonRequest, digest string) error {
	if r.Seen == digest && !r.Unseen || r.Unseen && r.Seen == "" {
		return nil
	}
	return errNotAsShown
}

// restore brings a removed person back after the approvers have approved it. An operator who
// needs no approval first sees which accounts will count again.
func (d *Admin) restore(
	ctx context.Context, peer approver.Peer, req adminapi.PersonRequest,
) (none adminapi.ControlAnswer, err error) {
	c, _, err := d.People.Controls.Load(ctx)
	if err != nil {
		return none, err
	}
	at := slices.IndexFunc(c.Removed.InForce(), func(r broadcaster.Removal) bool { return r.Person == req.Person })
	if at < 0 {
		return none, broadcaster.ErrNotRemoved
	}
	gone := c.Removed.InForce()[at]
	lines := d.authority.linesOf(broadcaster.Controls{Removed: []broadcaster.Removal{gone}})
	by := uidOf(peer)
	switch {
	case d.trusts(peer):
		doc, err := shownFirst(adminapi.OpRestore, req, backText(gone, lines), gone, lines)
		if err != nil || req.Show {
			return doc, err
		}
	case req.Show: // people are asked, and they are shown it
		return none, nil
	default:
		accounts := make([]string, len(gone.Identities))
		for i, id := range gone.Identities {
			accounts[i] = approver.SelfPerson(id.Channel, id.ID)
		}
		shown := map[string]any{"person": gone.Person, "accounts": accounts, "counts_here": lines}
		if by, err = d.ask(ctx, peer, adminapi.OpRestore, shown, req.Reason,
			effectOf("brings back an approver: "+gone.Line(), "they could allow again what agents do", "Let %s approve again",
				gone.Person)); err != nil {
			return none, err
		}
	}
	ctx = context.WithoutCancel(ctx)
	if err := d.People.Removals.Restore(ctx, gone, by); err != nil {
		return none, err
	}
	err = d.authority.bringBack(ctx, lines, gone.Person+" is brought back by "+by)
	return adminapi.ControlAnswer{Done: true,
			Text: fmt.Sprintf("%s is back; what counts of them here: %s. What they had approved before stays void",
				display.OneLine(gone.Person), cmp.Or(strings.Join(lines, " | "), "nothing, because no approver list names them"))},
		err
}

// backText says what will count if a removed person is brought back.
func backText(gone broadcaster.Removal, lines []string) string {
	text := gone.Line() + "\naccounts: " + accountNames(gone.Identities) + "\nthis counts here by the yes:"
	for _, line := range lines {
		text += "\n  " + display.OneLine(line)
	}
	if len(lines) == 0 {
		text += " nothing, because no approver list names them"
	}
	return text
}

// shownFirst answers a request that asks to be shown something. For any other request it
// returns an error unless what was shown is the same now.
func shownFirst(op string, req adminapi.PersonRequest, text string, detail ...any) (adminapi.ControlAnswer, error) {
	digest, err := digestOf(op, text, detail...)
	switch {
	case err != nil:
		return adminapi.ControlAnswer{}, err
	case req.Show:
		return adminapi.ControlAnswer{Text: text, Seen: digest}, nil
	}
	return adminapi.ControlAnswer{}, sameAsShown(req, digest)
}

// channelsBegin is how long a chat may take to connect after the start. Until then, only root
// may recover because nobody can approve.
const channelsBegin = 15 * time.Second

// recover makes the waiting entries of the configuration count, on the word of the machine's
// owner, if nobody is left who can approve them.
func (d *Admin) recover(
	ctx context.Context, peer approver.Peer, req adminapi.PersonRequest,
) (none adminapi.ControlAnswer, err error) {
	ctx = context.WithoutCancel(ctx)
	nobody := d.People.Approvers.Nobody(approver.Catastrophic)
	switch {
	case !d.trusts(peer) && os.Getuid() == 0:
		return none, errors.New("the daemon runs as root, so root may be an agent here and its word proves nothing: " +
			"give the daemon a user of its own")
	case !d.trusts(peer):
		return none, errors.New("only the owner of the machine recovers: run it with sudo")
	case nobody == "":
		return none, errors.New("there are people who can approve, so they are asked: restart the daemon, which puts what " +
			"waits before them")
	case peer.UID != 0 && time.Since(d.started) < channelsBegin:
		return none, fmt.Errorf("the daemon has just started, and its chats may receive in a moment: run this again in %v",
			channelsBegin)
	}
	lines := d.authority.waiting()
	if len(lines) == 0 {
		return none, errors.New("nothing waits in the configuration: write those who shall approve into it, restart the " +
			"daemon, and run this again; somebody who was removed comes back with approver people restore")
	}
	if doc, err := shownFirst(adminapi.OpRecover, req, strings.Join(oneLines(lines), "\n"), lines); err != nil ||
		req.Show {
		return doc, err
	}
	how := fmt.Sprintf("RECOVERED by uid %d, because nobody was left who could approve it (%s)", peer.UID, nobody)
	if err := d.authority.admit(ctx, lines, how); err != nil {
		return none, err
	}
	d.log.Error("RECOVERY: the approver lists of the configuration count by the word of the machine's owner alone", "uid",
		peer.UID, "lines", lines, "nobody", nobody)
	return adminapi.ControlAnswer{Done: true,
		Text: "these count now, settings from the next start:\n" + strings.Join(oneLines(lines), "\n")}, nil
}

// oneLines makes sure that each line is a single line.
func oneLines(lines []string) []string {
	shown := make([]string, len(lines))
	for i, line := range lines {
		shown[i] = display.OneLine(line)
	}
	return shown
}
