package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"time"

	"approver.example"
	"approver.example/display"
)

// Answers takes what people answer to requests.
type Answers struct {
	*Options
	approvers *Approvers
	cards     *Cards
	channels  *Channels
	controls  *Controller
	grants    *Grants
	requests  *Requests
	editor    *editor
	deeds     *deeds
	waiting   *waitingCalls
	handovers *handovers
	history   *history
	lockout   *lockout
	poster    *poster
	releases  *releases
	tasks     *tasks
	overheard overheard
	kept      keptAnswers
}

// Reply is the one way in which an answer counts, whatever platform it came from. It checks
// the person against the approver list, finds the request, checks that its card was shown in
// that very conversation and that the method is enough for the severity, and stores the answer
// by compare-and-set. It returns when the person may be told the outcome: for a yes, after the
// call was released to the agent, at the latest after ReplyWait.
func (a *Answers) Reply(ctx context.Context, rep approver.Reply) approver.Outcome {
	texts := a.textsFor(rep.Channel, rep.Sender, rep.Conversation)
	return a.replyTo(ctx, rep).in(texts)
}

func (a *Answers) replyTo(ctx context.Context, rep approver.Reply) told {
	began := time.Now()
	if !aWord(rep) {
		return a.replyOnce(ctx, rep, began, func() (told, bool) { return told{}, false })
	}
	one := a.kept.begin(rep, a.person(rep))
	defer a.kept.entered(one)
	ctx = context.WithValue(ctx, answerKey{}, one)
	return a.replyOnce(ctx, rep, began, func() (told, bool) {
		if rep.Want != approver.WantAnswer { // their forms are not there any more
			return told{}, false
		}
		return a.keep(one, began)
	})
}

// replyOnce is Reply for an answer that was given at began. If the store is away for longer than it waits, keep
// may keep it for later, and returns what its person is told then.
func (a *Answers) replyOnce(
	ctx context.Context, rep approver.Reply, began time.Time, keep func() (told, bool),
) (out told) {
	defer func() {
		if p := recover(); p != nil {
			a.Log.Error("panic while a reply was handled", "panic", p, "stack", string(debug.Stack()))
			out = newOutcome(approver.OutcomeRefused, "approver failed on this answer; it does not count.")
		}
		out = answered(out)
	}()
	ctx = a.ahead(ctx, rep)
	who, why, away := a.approvers.counted(ctx, rep.Channel, rep.Sender)
	if why.Format != "" {
		if kept, ok := keepOnly(away, keep); ok {
			return kept
		}
		out = outcomeOfMessage(approver.OutcomeRefused, why)
		a.noteRefusal(ctx, rep, Request{}, out)
		return out
	}
	rep.Name = cmp.Or(who.Name, who.ID) // not what they call themselves
	rep.Reason = a.withoutCodes(ctx, rep)
	var r Request
	switch rep.Want {
	case approver.WantAnswer:
		r, out = a.reply(ctx, rep, who, began)
	case approver.WantEdit:
		rep.Approve = true
		r, out = a.edit(ctx, rep, who, began)
	default:
		return a.wanted(ctx, rep, who)
	}
	if kept, ok := keepOnly(out.away, keep); ok {
		return kept
	}
	if out.Kind == approver.OutcomeExpired && r.Resolution.Cause == approver.TimedOut && a.wasInTime(ctx, r, began) {
		out = newOutcome(out.Kind,
			"Too late: your answer could not be entered before the deadline, so approver released nothing.")
	}
	if out.Kind != approver.OutcomeApproved && out.Kind != approver.OutcomeDenied &&
		out.Kind != approver.OutcomeRecorded && out.Kind != approver.OutcomeShown && !unusedYes(r, rep, who) {
		a.noteRefusal(ctx, rep, r, out)
	}
	return out
}

// ahead begins to read what an answer to a card needs.
func (a *Answers) ahead(ctx context.Context, rep approver.Reply) context.Context {
	who, ok := a.approvers.people.Load().Lookup(rep.Channel, rep.Sender)
	if !ok || rep.Request == "" || !rep.Code.IsZero() {
		return ctx
	}
	// The controls are read now, and beside these: what is read of them counts for others, too.
	return approver.ReadAhead(ctx, a.Store, approver.Key("req", rep.Request), lockKey(who, rep))
}

// lastAnswers is how long an answer may still be stored after this process was told to stop.
const lastAnswers = 2 * time.Second

// fromChannel is Reply for channels. An answer that arrived is finished although its channel
// stops: while the store is away, the channel loses its lease to receive, and a platform may
// deliver an answer only once. The lease is not needed, because an answer counts once whoever
// stores it. Only its own deadline and the end of this process stop it.
func (a *Answers) fromChannel(ctx context.Context, rep approver.Reply) approver.Outcome {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if due, ok := ctx.Deadline(); ok {
		var done context.CancelFunc
		own, done = context.WithDeadline(own, due)
		defer done()
	}
	stop := context.AfterFunc(a.tasks.running(), func() {
		_ = sleep(own, lastAnswers)
		cancel()
	})
	defer stop()
	return a.Reply(own, rep)
}

// noteRefusal records an answer that did not count, without secrets and codes.
func (a *Answers) noteRefusal(ctx context.Context, rep approver.Reply, r Request, out told) {
	said := rep
	said.Reason = rep.Command
	rep.Command = display.Safe(a.withoutCodes(ctx, said))
	_, err := a.Audit.Record(context.WithoutCancel(ctx), approver.Record{
		Event: approver.EventRefused, Request: cmp.Or(r.ID, rep.Request), Fingerprint: r.Fingerprint, Call: r.Call,
		Verdict: r.Verdict, Reply: rep, Outcome: out.Kind, Note: out.Text,
	})
	if err != nil {
		a.Log.Error("audit failed", "error", err)
	}
}

func (a *Answers) reply(
	ctx context.Context, rep approver.Reply, who approver.Person, began time.Time,
) (Request, told) {
	r, p, out := a.locate(ctx, rep, who)
	if out != nil {
		return r, *out
	}
	if r.ended() && (rep.Method.OnCard() || rep.Method == approver.ByPlain) {
		id := r.ID
		a.tasks.start(func(ctx context.Context) { a.stillLive(ctx, id, rep) })
	}
	switch {
	case r.State.Settled():
		return a.outcome(ctx, r, rep, who)
	case r.Granted():
		return a.outcome(ctx, r, rep, who)
	}
	res := approver.Resolution{
		Approve: rep.Approve, Cause: approver.ByPerson, Person: who, Method: rep.Method, Grant: rep.Grant,
		Identity: approver.Identity{Channel: rep.Channel, ID: rep.Sender}, Conversation: rep.Conversation, Choice: rep.Choice,
		Reason: reasonOf(rep),
	}
	if why := noChoice(r, p, rep); why.Format != "" {
		return r, outcomeOfMessage(approver.OutcomeRefused, why)
	}
	if admits(r.Verdict, res) != nil {
		return r, outcomeOfMessage(approver.OutcomeRefused, a.approvers.notAsked(r.Verdict, who))
	}
	if rep.Approve {
		if why := onceOnly(r, rep); why.Format != "" {
			return r, newOutcome(approver.OutcomeNeedCode, "%s Nothing was approved.", why)
		}
		if !enough(r, p, rep) {
			return r, outcomeOfMessage(approver.OutcomeNeedCode, needCode(r, p))
		}
	}
	r, got := a.enter(ctx, r, p, rep, res, began)
	if rep.Grant.Always && (got.Kind == approver.OutcomeApproved || got.Kind == approver.OutcomeRecorded) {
		got = newOutcome(got.Kind, "%s %s", got.says, a.proposed(r))
	}
	return r, got
}

// onceOnly says why a request cannot be approved for longer than once; empty if it can, or if
// the answer is for once.
func onceOnly(r Request, rep approver.Reply) display.Message {
	switch {
	case rep.Grant == approver.Term{}:
		return display.Message{}
	case r.Verdict.Severity != approver.High || !byCode(rep) && !tappedTerm(rep):
		return display.Msg("Only a HIGH request can be approved for longer than once, by its own buttons or with /approve " +
			"and its code.")
	case r.Call.AboutApprover():
		return display.Msg("This is approver's own question: it can be approved once only.")
	case r.Verdict.Prompt:
		return display.Msg("This is the agent's own question: it can be approved once, or with a choice on its card.")
	case r.Verdict.Appeal.Of != "":
		return display.Msg("This is an appeal against a rule that denies: it can be approved once only.")
	case rep.Grant.Lasts() && !r.Fingerprint.Bound():
		return display.Msg("This can be approved once only: approver cannot tell whether all that it would run stays the " +
			"same. The card says what is not bound.")
	case obscured(r.Call):
		return display.Msg("This can be approved once only: its card hides a part that may decide what runs, or where.")
	case tappedTerm(rep) && !lastable(r):
		return display.Msg("This can be approved once only by a button: nobody knows of which session of its agent it is.")
	}
	return display.Message{}
}

// byCode reports that a person typed the code, with a command or without.
func byCode(rep approver.Reply) bool {
	return rep.Method == approver.ByCommand || rep.Method == approver.ByCode
}

// noChoice says why an answer cannot carry its choice; empty if it can, or carries none. A choice
// widens more than the call, so it counts only with a yes to the question that offers it, from a card
// that shows all of it or from a command on this machine that does.
func noChoice(r Request, p Posting, rep approver.Reply) display.Message {
	offered := rep.Choice > 0 && rep.Choice <= len(visibleChoices(r.Verdict.Choices))
	switch {
	case rep.Choice == 0:
		return display.Message{}
	case !rep.Approve, !r.Verdict.Prompt, !offered, rep.Grant != approver.Term{}:
		return display.Msg("This request has no such choice. Nothing was approved.")
	case r.Verdict.Severity != approver.High || obscured(r.Call) || p.Ref.Partial:
		return display.Msg("This request can be approved once only, with the code on its card. Nothing was approved.")
	case !rep.Method.OnCard() && rep.Method != approver.ByID:
		return display.Msg("A choice counts only by its button. Nothing was approved.")
	}
	return display.Message{}
}

// enter stores an answer for the calls that its person was shown, and tells the outcome. Every
// answer takes this way, from a card or not.
func (a *Answers) enter(
	ctx context.Context, r Request, p Posting, rep approver.Reply, res approver.Resolution, began time.Time,
) (Request, told) {
	id, tries := r.ID, 0
	var ready readyRelease
	if res.Approve && res.Edit == nil && !res.Grant.Lasts() { // else the yes is kept before its call goes on
		asked := r
		asked.Resolution = res
		ready = a.releases.prepare(ctx, asked, a.waiting)
	}
	if ready.holder != "" {
		a.handovers.begin(ready.holder, id, ready.examined)
		if !a.waiting.has(ready.holder) { // its connection has ended, and with it the handover
			a.handovers.cancel(ready.holder)
			ready = readyRelease{}
		}
	}
	err := whenThere(ctx, func() (err error) {
		tries++
		r, err = a.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
			given := now.Add(-age(rep, began))
			res.Calls = shownTo(r, p, rep, a.channels.screen(rep.Channel), given)
			next, err := r.Answer(res, now)
			if errors.Is(err, approver.ErrOverdue) {
				return r.Expire(now) // the clock is a replier too, and was first
			} else if err != nil {
				return next, err
			}
			if err := a.mayEnter(ctx, r, res, given, tries > 1 || time.Since(began) > atOnce); err != nil {
				return r, err
			}
			if tries > 1 { // the call may be another one by now
				return next, nil
			}
			return ready.release(a.releases, next, now), nil
		})
		return err
	})
	if ready.holder != "" && (err != nil || r.State != approver.Consumed || r.Holder != ready.holder) {
		a.handovers.cancel(ready.holder)
	}
	var refused entryError
	if errors.As(err, &refused) {
		return r, outcomeOfMessage(approver.OutcomeRefused, refused.says)
	}
	if err != nil && !errors.Is(err, ErrSettled) {
		a.Log.Warn("an answer could not be stored", "request", id, "error", err)
		out := newOutcome(approver.OutcomeRefused, "The store had a problem, so this answer may not count. Look at "+
			"the card, or try again.")
		out.away = comesBack(err)
		return r, out
	}
	mine := r.Resolution.Person.ID == res.Person.ID && r.Resolution.Identity == res.Identity
	// a try before may have been carried out
	if r.Granted() && (err == nil || tries > 1 && mine) {
		r = a.releases.keepGrant(ctx, r)
	}
	return a.outcome(ctx, r, rep, res.Person)
}

// enough reports whether the method of an answer is enough to approve. Only the typed code is
// enough for a catastrophic call, for a card that could not show everything, and for one that
// hides a part that may decide. An unknown method is never enough.
func enough(r Request, p Posting, rep approver.Reply) bool {
	switch rep.Method {
	case approver.ByCode, approver.ByCommand:
		return !rep.Code.IsZero()
	case approver.ByTap, approver.ByTyped, approver.ByPlain:
		return r.Verdict.Severity == approver.High && p.seen() && !p.Ref.Partial && !obscured(r.Call)
	case approver.ByID:
		return r.Verdict.Severity == approver.High && !obscured(r.Call)
	default:
		return false
	}
}

func needCode(r Request, p Posting) display.Message {
	if p.Phase == Void && !p.Ref.Partial {
		return display.Msg("This card was replaced by a newer one, so its code does not count: type the code from the " +
			"newest card. Deny works here.")
	}
	if p.Phase != Posted {
		return display.Msg("The platform never confirmed this card, so approver does not know whether it shows " +
			"everything: it takes no yes. Another card of the request does, and Deny works here.")
	}
	if p.Ref.Partial && r.Verdict.Severity == approver.High {
		return display.Msg("This card does not show everything. Read all of it first, then type the code from the card.")
	}
	if r.Verdict.Severity == approver.High && obscured(r.Call) {
		return display.Msg("A part of this call that may decide what runs, or where, is hidden as a secret: a tap or a " +
			"plain yes does not count. Find out what it is, then type the code from the card.")
	}
	return display.Msg("This is CATASTROPHIC: a tap or a plain yes does not count. Type the code from the card.")
}

// readFor is how long a card must have shown a number of calls before somebody who types an
// answer can have read it. The edit has to reach their screen, and they have to type. It is
// also more than the second to which Telegram rounds its times.
const readFor = 2 * time.Second

// shownTo is the number of the last caller that a person was shown, which bounds the callers
// that a yes is for. A button says which version of the card the person read. An answer
// without a version is for the first call alone, and no answer is for calls that came later,
// or that the platform has not confirmed to show. A message names no version: it is for what
// the card had shown for a while when it was sent, by the store's clock. If there may be two
// cards, the yes is for the first call alone.
func shownTo(r Request, p Posting, rep approver.Reply, screen bool, sent time.Time) int {
	said := min(max(rep.Shown, 0), r.Joined)
	if rep.Method == approver.ByID || p.Code == "" {
		return said
	}
	for _, now := range r.Postings {
		switch {
		case !now.knows(p.Code) || now.double():
		case screen:
			return said
		case rep.Method.OnCard() || rep.Sent.IsZero():
			return min(said, now.Upto)
		case !now.UptoAt.IsZero() && sent.Sub(now.UptoAt) >= readFor:
			return now.Upto
		}
	}
	return 0
}

// age is how long ago an answer was given. This process began to handle it at began, so it is
// at least as old as that, whatever the clock of its platform says.
func age(rep approver.Reply, began time.Time) time.Duration {
	age := time.Since(began)
	if !rep.Sent.IsZero() {
		age = max(age, time.Since(rep.Sent))
	}
	return age
}

// OwnerApproves is the way out if nobody on an approver list can approve. Root of this machine
// may, if neither the daemon nor the agent is root. It stores root's yes to a request. The
// caller has checked that root typed the code that the daemon made for it. shown is what
// [Cards.Shown] returned for what root read.
func (a *Answers) OwnerApproves(ctx context.Context, id string, shown int) approver.Outcome {
	as, who := Owner()
	rep := approver.Reply{
		Channel: as.Channel, Sender: as.ID, Name: who.Name, Approve: true, Method: approver.ByCode, Request: id, Shown: shown,
	}
	r, out := a.ownerApproves(ctx, rep, as, who)
	if out.Kind != approver.OutcomeApproved && out.Kind != approver.OutcomeRecorded {
		a.noteRefusal(ctx, rep, r, out)
	}
	return out.Outcome
}

func (a *Answers) ownerApproves(
	ctx context.Context, rep approver.Reply, as approver.Identity, who approver.Person,
) (Request, told) {
	r, err := a.requests.loadPatiently(ctx, rep.Request)
	switch {
	case errors.Is(err, approver.ErrNotFound):
		return r, newOutcome(approver.OutcomeUnknown, "There is no such request: approver pending lists those that are open.")
	case err != nil:
		return r, *a.trouble(err)
	case r.State.Settled():
		return r, outcomeOf(r, rep, who)
	}
	if why := a.approvers.OwnerMay(ctx, r); why != "" {
		return r, newOutcome(approver.OutcomeRefused, "Root cannot approve it: %s", why)
	}
	a.Log.Warn("root of this machine approves, because nobody else can", "request", r.ID, "why",
		a.approvers.Nobody(r.Verdict.Severity))
	res := approver.Resolution{Approve: true, Cause: approver.ByPerson, Person: who, Method: rep.Method, Identity: as}
	return a.enter(ctx, r, Posting{}, rep, res, time.Now())
}
