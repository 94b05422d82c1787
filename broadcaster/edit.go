package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// This file is about people who change the command of a call and approve the changed one. Whoever does
// has said neither yes nor no to the command that was asked about.

// judgeIn bounds how long a changed command is judged.
const judgeIn = 10 * time.Second

// errUneditable is the error of a changed command for a request that takes none, or none any more.
var errUneditable = errors.New("the command of this request cannot be changed")

// uneditable says why the command of a request cannot be changed; empty if it can. A person changes what the
// agent sent, so the card has to show exactly that.
func uneditable(r Request) display.Message {
	changed, is := r.Call.WithCommand(r.Call.Command)
	switch {
	case r.State != approver.Pending:
		return display.Msg("This request has been answered, so its command cannot be changed.")
	case !is || r.Call.AboutApprover() || r.Verdict.Prompt || r.Verdict.Appeal.Of != "" || r.Verdict.Args != nil:
		return display.Msg("Only the command of an agent's own shell can be changed, as the agent sent it. " +
			"Nothing was changed.")
	case len(r.Also) > 0 || r.N > 0:
		return display.Msg("Identical calls wait for this answer too, so the command cannot be changed. Deny it with a " +
			"reason instead: nothing was changed.")
	case len(r.Call.Command) > approver.MaxCommand:
		return display.Msg("This command is longer than %d bytes, which is too long to change it in a chat. Deny it with a "+
			"reason instead: nothing was changed.", approver.MaxCommand)
	case unclear(changed):
		return display.Msg("The card does not show this command exactly as it is, so it cannot be changed in a chat. Deny " +
			"it with a reason instead: nothing was changed.")
	}
	return display.Message{}
}

// unclear reports that people do not see the command of a call exactly as it is.
func unclear(call approver.ToolCall) bool {
	body, hidden := call.Display().Body()
	return hidden || display.HidesEnvironment(call.Environment) || len(body) == 0 || body[0].Kind != display.Code ||
		body[0].Text != call.Command || len(display.Warnings(call.Command)) > 0
}

// takesEdit reports that the agent can be told now to run a changed command. Otherwise it is told to run
// it as a new call.
func (r Request) takesEdit() bool { return r.Call.Changes && !r.Parked }

// liveCall is the call of a request as its agent made it, if its courier waits in this process. Only that
// one can be judged as it would run: what is stored has no environment.
func (a *Answers) liveCall(r Request) (call approver.ToolCall, here bool) {
	w, here := a.waiting.of(r)
	if !here || !r.takesEdit() || w.call.Command != r.Call.Command {
		return r.Call, false
	}
	return w.call, true
}

// edit takes what a person changed a command to: it is judged, and then approved once, or the agent is
// told to run it instead. Without a command it shows the one that was asked about.
func (a *Answers) edit(
	ctx context.Context, rep approver.Reply, who approver.Person, began time.Time,
) (Request, told) {
	rep.Code, rep.Reason, rep.Grant, rep.Choice = tokens.Code{}, "", approver.Term{}, 0
	r, p, out := a.locate(ctx, rep, who)
	if out != nil {
		return r, *out
	}
	res := approver.Resolution{
		Approve: true, Cause: approver.ByPerson, Person: who, Method: rep.Method, Conversation: rep.Conversation,
		Identity: approver.Identity{Channel: rep.Channel, ID: rep.Sender},
	}
	why := uneditable(r)
	switch {
	case r.State.Settled() && r.Resolution.Cause != approver.ByPerson:
		return r, outcomeOf(r, rep, who)
	case r.State != approver.Pending:
		return a.editAnswered(ctx, r, rep, who)
	case admits(r.Verdict, res) != nil:
		return r, outcomeOfMessage(approver.OutcomeRefused, a.approvers.notAsked(r.Verdict, who))
	case a.Judge == nil:
		return r, newOutcome(approver.OutcomeRefused, "Commands cannot be changed here. Nothing was changed.")
	case why.Format != "":
		return r, outcomeOfMessage(approver.OutcomeRefused, why)
	case p.Phase != Posted:
		return r, newOutcome(approver.OutcomeRefused, "The platform never confirmed this card, so approver does not know "+
			"whether it shows everything: its command cannot be changed here. Nothing was changed.")
	case p.Ref.Partial || !rep.Method.OnCard() && rep.Method != approver.ByPlain:
		return r, newOutcome(approver.OutcomeRefused, "This card does not show everything, so its command cannot be "+
			"changed here. Nothing was changed.")
	case rep.Command == "":
		shown := newOutcome(approver.OutcomeShown, "Change the command; it is judged again.")
		shown.Details = r.Call.Command
		return r, shown
	}
	command, why := changedCommand(r.Call.Command, rep.Command)
	said := rep
	if said.Reason = command; why.Format == "" && a.withoutCodes(ctx, said) != command {
		why = display.Msg("The changed command has a code in it.")
	}
	switch {
	case why.Format != "":
		return r, refusedEdit(approver.OutcomeRefused, why)
	case command == r.Call.Command: // that is a yes, as any other
		rep.Want = approver.WantAnswer
		return a.reply(ctx, rep, who, began)
	}
	live, here := a.liveCall(r)
	res.Approve, res.Edit = here, nil
	if res.Edit, out = a.judgedEdit(ctx, r, live, command, res); out != nil {
		return r, *out
	}
	return a.enterEdit(ctx, r, rep, res, began)
}

// editAnswered tells what became of a changed command once the request has its answer. Platforms deliver
// some events twice: the person's own change is told as done.
func (a *Answers) editAnswered(
	ctx context.Context, r Request, rep approver.Reply, who approver.Person,
) (Request, told) {
	command, why := changedCommand(r.Call.Command, rep.Command)
	edit := r.Resolution.Edit
	if edit == nil || why.Format != "" || edit.Command != command || !answeredBy(r.Resolution, rep, who) {
		return r, tooLateToEdit()
	}
	rep.Approve = r.Resolution.Approve || r.Resolution.Cause != approver.ByPerson
	return a.outcome(ctx, r, rep, who)
}

func tooLateToEdit() told {
	return newOutcome(approver.OutcomeTooLate, "Too late: this request has been answered, so your change does not count.")
}

// refusedEdit is the outcome of a changed command that does not count.
func refusedEdit(kind approver.OutcomeKind, why display.Message) told {
	return newOutcome(kind, "%s Nothing was approved, and the request still waits.", why)
}

// judgedEdit has a changed command judged as the call live with that command. A non-nil outcome says why
// the person cannot approve it.
func (a *Answers) judgedEdit(
	ctx context.Context, r Request, live approver.ToolCall, command string, res approver.Resolution,
) (*approver.Edit, *told) {
	refuse := func(kind approver.OutcomeKind, why display.Message) (*approver.Edit, *told) {
		out := refusedEdit(kind, why)
		return nil, &out
	}
	call, ok := live.WithCommand(command)
	if !ok || unclear(call) {
		return refuse(approver.OutcomeRefused, display.Msg("The changed command has what looks like a secret, or what a "+
			"card cannot show as it is."))
	}
	if len(exactly(command)) > maxTold { // it may have to be told, if the request is parked meanwhile
		return refuse(approver.OutcomeRefused, display.Msg("The changed command is too long to be told to the agent."))
	}
	ctx, cancel := context.WithTimeout(ctx, judgeIn)
	defer cancel()
	v, err := a.judgeSafely(ctx, call)
	switch {
	case err != nil:
		return refuse(approver.OutcomeRefused, display.Msg("approver could not judge the changed command."))
	case v.Decision == approver.Ask && v.Severity != approver.High:
		return refuse(approver.OutcomeNeedCode, display.Msg("The changed command is CATASTROPHIC, which only a typed code "+
			"approves. Deny with a reason instead, so that the agent asks for it."))
	case !v.Evaluated && (v.MinTier > approver.TierScreen || v.WantTier > approver.TierScreen):
		return refuse(approver.OutcomeRefused, display.Msg("The changed command needs a second look, which a change does "+
			"not get. Deny with a reason instead, so that the agent asks for it."))
	case v.Decision == approver.Ask && admits(v, asked(res)) != nil:
		return refuse(approver.OutcomeRefused, a.approvers.notAsked(v, res.Person))
	case v.Decision == approver.Deny:
		return refuse(approver.OutcomeRefused, display.Msg("The changed command is denied: %s.",
			strings.TrimRight(v.Reason, ".")))
	case v.Decision == approver.Modify || v.Args != nil:
		return refuse(approver.OutcomeRefused, display.Msg("A rule would change this command once more."))
	}
	bound, err := a.Fingerprint(ctx, call)
	if err != nil {
		a.Log.Warn("what a changed command would run cannot be looked at", "request", r.ID, "error", err)
		return refuse(approver.OutcomeRefused, display.Msg("approver could not judge the changed command."))
	}
	return &approver.Edit{Command: command, Args: call.Args, Fingerprint: bound.Fingerprint}, nil
}

// asked is a resolution as a yes.
func asked(res approver.Resolution) approver.Resolution {
	res.Approve = true
	return res
}

// judgeSafely is Judge that neither panics nor decides after its time.
func (a *Answers) judgeSafely(ctx context.Context, call approver.ToolCall) (v approver.Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.Log.Error("panic while a changed command was judged", "panic", p, "stack", string(debug.Stack()))
			err = errors.New("panic")
		}
	}()
	v = a.Judge(ctx, call)
	return v, ctx.Err()
}

// enterEdit stores a changed command as the answer, for the one call that waits.
func (a *Answers) enterEdit(
	ctx context.Context, r Request, rep approver.Reply, res approver.Resolution, began time.Time,
) (Request, told) {
	id, tries := r.ID, 0
	err := whenThere(ctx, func() (err error) {
		tries++
		r, err = a.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
			res.Approve = res.Approve && r.takesEdit()
			next, err := r.Answer(res, now)
			if errors.Is(err, approver.ErrOverdue) {
				return r.Expire(now)
			}
			if err == nil {
				err = a.mayEnter(ctx, r, res, now.Add(-age(rep, began)), tries > 1 || time.Since(began) > atOnce)
			}
			return next, err
		})
		return err
	})
	var refused entryError
	switch {
	case errors.As(err, &refused):
		return r, outcomeOfMessage(approver.OutcomeRefused, refused.says)
	case err != nil && !errors.Is(err, ErrSettled) && !errors.Is(err, errUneditable):
		a.Log.Warn("a changed command could not be stored", "request", id, "error", err)
		return r, newOutcome(approver.OutcomeRefused, "The store had a problem, so this answer may not count. Look at "+
			"the card, or try again.")
	case errors.Is(err, errUneditable):
		return r, outcomeOfMessage(approver.OutcomeRefused, uneditable(r))
	case r.Resolution.Edit == nil && r.Resolution.Cause != approver.ByPerson: // the clock was first
		return a.outcome(ctx, r, rep, res.Person)
	}
	return a.editAnswered(ctx, r, rep, res.Person)
}

// changedCommand is what a person changed a command to, or why that does not count. White space around
// it is dropped, and line ends of Windows become those of a shell: dialogs add both.
func changedCommand(was, text string) (command string, why display.Message) {
	command = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if command == strings.TrimSpace(was) {
		return was, why
	}
	switch {
	case command == "":
		return "", display.Msg("The changed command is empty.")
	case len(command) > approver.MaxCommand:
		return "", display.Msg("The changed command is longer than %d bytes.", approver.MaxCommand)
	case tokens.Mask(command) != command:
		return "", display.Msg("The changed command has a code in it.")
	}
	if escapes := len(command) - len(strings.TrimRight(command, `\`)); escapes%2 == 1 {
		return "", display.Msg("The changed command ends with a backslash, and the space or the line that was behind it " +
			"is lost.")
	}
	if odd := substituted(was, command); odd != "" {
		return "", display.Msg("The changed command has characters that a phone's keyboard puts in the place of others: "+
			"%s. Type them anew: straight quotes, two hyphens, three dots, plain spaces.", display.Shown(odd))
	}
	if found := display.Warnings(command); len(found) > 0 {
		return "", display.Msg("%s.", found[0])
	}
	return command, why
}

// keyboards are what keyboards and apps make of quotes, hyphens, dots and spaces.
const keyboards = "“”„‟‘’‚‛«»‹›′″‐‑‒–—―−…‥" +
	"\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"

// substituted names those characters of keyboards that a person added to a command.
func substituted(was, command string) string {
	var found []string
	for _, r := range keyboards {
		c, name := string(r), fmt.Sprintf("U+%04X", r)
		if strings.Count(command, c) <= strings.Count(was, c) {
			continue
		}
		if !unicode.IsSpace(r) {
			name = c + " (" + name + ")"
		}
		found = append(found, name)
	}
	return strings.Join(found, ", ")
}

// maxTold bounds a command in what an agent is told: the answer of a hook holds no more than 4096 bytes.
const maxTold = 3600

// exactly is a command for an agent to read, on one line and without loss: the JSON of its argument.
// White space that a line would lose is escaped.
func exactly(command string) string {
	raw, err := display.EncodeJSON(map[string]string{"command": command})
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(raw), "  ", ` \u0020`)
}

// stillEdited reports that what a person changed a call to would run what it would have run then.
func (l *releases) stillEdited(ctx context.Context, r Request, call approver.ToolCall) bool {
	edit := r.Resolution.Edit
	if edit == nil {
		return true
	}
	changed, ok := call.WithCommand(edit.Command)
	if !ok {
		return false
	}
	bound, err := l.Fingerprint(context.WithoutCancel(ctx), changed)
	return err == nil && bound.Fingerprint.Equal(edit.Fingerprint)
}

// editBlocks show what a person changed a command to.
func editBlocks(was, now string, t display.Texts) []display.Block {
	return []display.Block{
		{Kind: display.Code, Text: display.Safe(now)}, display.Changed(t.Text("Change"), was, now),
	}
}
