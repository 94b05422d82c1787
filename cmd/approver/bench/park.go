package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/broadcaster/sealing"
	"approver.example/channels/terminal"
	"approver.example/configs"
	"approver.example/fingerprint"
	"approver.example/tokens"
)

// park puts n pending requests into the store of a daemon that does not run yet, and returns how
// many bytes each of them takes there.
func (b *bench) park(ctx context.Context, d *daemon, n int, size func() (float64, error)) (bytes float64, err error) {
	cfg, err := configs.Load(d.Config())
	if err != nil {
		return 0, err
	}
	s, err := cfg.OpenStore(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	// The key is not the daemon's, because the daemon never reads these requests.
	sealer, err := sealing.New(make([]byte, 32))
	if err != nil {
		return 0, err
	}
	before, err := size()
	if err != nil {
		return 0, err
	}
	if err := inParallel(64, func(worker int) error {
		for i := worker; i < n; i += 64 {
			if err := parkOne(ctx, s, sealer, i); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return 0, err
	}
	after, err := size()
	return (after - before) / float64(n), err
}

// parkOne writes the three records of one request, as the daemon does: the request, and the
// references to it by its call id and by its code.
func parkOne(ctx context.Context, kv approver.KV, sealer *sealing.Sealer, n int) error {
	now, err := kv.Now(ctx)
	if err != nil {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	code, err := tokens.Mint(tokens.MaxLength) // long enough to be unique
	if err != nil {
		return err
	}
	call, err := judgeCall("Bash", fmt.Sprintf("git push origin --delete parked-%d", n))
	if err != nil {
		return err
	}
	call.ID, call.At, call.Env = fmt.Sprintf("%032x", n), now,
		map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/dev"}
	bound, err := fingerprint.Bind(call, "parked", nil, nil)
	if err != nil {
		return err
	}
	hash := code.Hash(make([]byte, 32)) // nobody types it
	to := approver.Destination{Channel: terminal.Name, Conversation: terminal.Conversation}
	r := broadcaster.Request{
		ID: id.String(), CallID: call.ID, Holder: uuid.NewString(), Fingerprint: bound.Fingerprint, Call: call,
		State: approver.Pending, Asked: true,
		Verdict: approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "git.force-push", Severity: approver.High,
			Reason: "overwrites history"},
		Created: now, Due: now.Add(turn), Deadline: now.Add(turn),
		// The card is on the terminal of another hub, so this daemon does not show it again.
		Postings: []broadcaster.Posting{{To: to, Hub: "another", Code: hash, Phase: broadcaster.Posted,
			Ref: approver.Ref{Destination: to, Message: uuid.NewString()}}},
	}
	value, err := broadcaster.EncodeRequest(sealer, r)
	if err != nil {
		return err
	}
	keep := r.Due.Add(approver.DefaultKeepFor)
	entry := fmt.Appendf(nil, `{"request":%q,"posting":0}`, r.ID)
	return errors.Join(
		kv.Put(ctx, approver.Key("code", string(hash)), entry, "", approver.NewRev(), time.Time{}, keep),
		kv.Put(ctx, approver.Key("req", r.ID), value, "", approver.NewRev(), r.Attention(now), keep),
		kv.Put(ctx, approver.Key("call", r.CallID), []byte(r.ID), "", approver.NewRev(), time.Time{}, keep),
	)
}
