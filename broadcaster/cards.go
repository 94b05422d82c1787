package broadcaster

import (
	"cmp"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// obscuredNotice is on the card of a call if a part that may decide what runs, or where, is
// masked.
const obscuredNotice = "HIDDEN: a part that may decide what runs, or where, looks like a secret and is not shown. " +
	"Only the typed code approves, once"

// Cards draws requests for people.
type Cards struct {
	*Options
	approvers *Approvers
}

// Of is a request as people see it, without a code, in English.
func (v *Cards) Of(r Request) approver.Card { return v.card(r, display.Texts{}, tokens.Code{}) }

// Shown is Of for somebody who may answer: it also says how many calls wait, and what a yes
// does. The number belongs into their answer: see [approver.Reply].
func (v *Cards) Shown(r Request) (approver.Card, int) {
	c := v.Of(r)
	if notice := callersNotice(r, Posting{}); notice.Format != "" && !r.State.Settled() && !r.Parked {
		c.Warnings = append([]string{c.Texts.Message(notice)}, c.Warnings...)
	}
	return c, r.Joined
}

// card is what people see of a request, in their language.
func (v *Cards) card(r Request, t display.Texts, code tokens.Code) approver.Card {
	body, hidden, secrets := body(r, t)
	r = withoutSecrets(r, secrets)
	c := approver.Card{
		Request: r.ID, State: r.State, Severity: r.Verdict.Severity, OneTap: r.Verdict.Severity == approver.High && !hidden,
		Texts: t, Push: push(r, t), Body: body, Why: whyLines(r.Verdict, t), Claimed: display.Prose(claimed(r)),
		Context: v.context(r, t), Details: v.details(r, t), Code: code, Created: r.Created, Due: r.Due,
	}
	c.Part = partOf(r.Verdict.Says.Part, body)
	if c.OneTap {
		c.Choices = visibleChoices(r.Verdict.Choices)
	}
	c.Warnings = v.warnings(r, t, hidden)
	if r.Renews && !code.IsZero() && !r.ended() {
		c.Warnings = append(c.Warnings, t.Text("The code changes every two minutes: type the one that is here then."))
	}
	if res, ok := r.Told(); ok {
		c.OneTap, c.Choices, c.Code = false, nil, tokens.Code{}
		c.Result = t.Message(display.Msg("%s%s", resultOf(r, res), disowned(r)))
		if res.Edit != nil && res.Cause == approver.ByPerson {
			c.Body = append(editBlocks(r.Call.Command, res.Edit.Command, t), c.Body[1:]...)
			c.Push, c.Why, c.Part = changedPush(r, t), nil, "" // the reasons were for what was asked
		}
		if noEffect(r) {
			c.State = approver.Withdrawn // nobody may read that the yes counts
		}
	} else if r.Granted() {
		c.State, c.OneTap, c.Choices, c.Code = approver.Consumed, false, nil, tokens.Code{} // it takes no more answers
		c.Result = t.Text("✅ Yes by %s · waits for the agent, which may run it once until %s", deciderOf(r, r.Resolution),
			r.TakeBy.UTC().Format("15:04:05 UTC"))
	} else {
		c.State = approver.Pending // an approval that is not released is nobody's to know
		v.offer(&c, r, t, hidden)
	}
	return c
}

// withoutSecrets is a request whose words about the call have nothing that the body of the card hides.
func withoutSecrets(r Request, s display.Hidden) Request {
	v := &r.Verdict
	if v.Says.Title.IsZero() {
		v.Says.Title, v.Says.More = r.Call.Display().Title(), 0
	}
	v.Says, v.Reason, v.Detail = s.Summary(v.Says), s.Of(v.Reason), s.Of(v.Detail)
	v.Irreversible.Why, v.Appeal.Claimed = s.Of(v.Irreversible.Why), s.Of(v.Appeal.Claimed)
	if slices.ContainsFunc(v.Choices, func(c approver.Choice) bool {
		return s.Of(c.Label) != c.Label || s.Of(c.Detail) != c.Detail
	}) {
		v.Choices = nil
	}
	r.Call.Claimed, r.Call.Dir = s.Of(r.Call.Claimed), s.Of(r.Call.Dir)
	r.Unbound, r.Notices = slices.Clone(r.Unbound), slices.Clone(r.Notices)
	for i := range r.Unbound {
		r.Unbound[i] = s.Of(r.Unbound[i])
	}
	for i := range r.Notices {
		r.Notices[i] = s.Phrase(r.Notices[i])
	}
	return r
}

// push is the headline of a request: what would happen, and where.
func push(r Request, t display.Texts) string {
	says := r.Verdict.Says
	return display.PushLine(r.Verdict.Severity.String(), t.Title(says), display.SafeLine(says.Project))
}

// changedPush is the headline of a request once a person changed its command: what that would run.
func changedPush(r Request, t display.Texts) string {
	if changed, ok := r.Call.WithCommand(r.Resolution.Edit.Command); ok {
		r.Call = changed
	}
	r.Verdict.Says = display.Summary{}
	return push(withoutSecrets(r, r.Call.Display().Hidden()), t)
}

// body is the whole call, with what is dangerous or has changed in its environment. hidden reports that
// a part of it that may decide what runs, or where, is not shown. secrets are all that is not.
func body(r Request, t display.Texts) (blocks []display.Block, hidden bool, secrets display.Hidden) {
	blocks, hidden, secrets = r.Call.Display().Seen()
	for i := range blocks {
		blocks[i].Label = t.Label(blocks[i].Label)
	}
	if len(r.Call.Environment) > 0 {
		blocks = append(blocks, display.Block{Label: t.Text("Environment"), Text: strings.Join(r.Call.Environment, " · ")})
	}
	return blocks, hidden || display.HidesEnvironment(r.Call.Environment), secrets
}

// partOf is the part of the command that the reason is about, as the body shows it; empty if it shows
// it otherwise.
func partOf(part string, body []display.Block) string {
	shown := display.Safe(part)
	if part == "" || len(body) == 0 || body[0].Kind != display.Code || !strings.Contains(body[0].Text, shown) ||
		body[0].Text == shown {
		return ""
	}
	return shown
}

// whyLines say why people are asked, what the call does, and how hard that is to undo.
func whyLines(v approver.Verdict, t display.Texts) (lines []string) {
	says := v.Says
	if says.Why.IsZero() {
		says.Why = display.Phrase{Text: "%s", Args: []string{cmp.Or(v.Detail, v.Reason, "a rule asks for a person")}}
	}
	lines = append(lines, display.Capitalized(t.Say(says.Why)))
	for i, does := range says.Does {
		if i == 0 && says.More == 0 && len(does.Args) > 0 && slices.Equal(does.Args, says.Title.Args) {
			continue // the headline says so
		}
		lines = append(lines, display.Capitalized(t.Say(does)))
	}
	if !says.Undo.IsZero() {
		lines = append(lines, display.Capitalized(t.Say(says.Undo)))
	} else if loss := v.Irreversible.String(); loss != "" {
		lines = append(lines, display.Capitalized(display.SafeLine(loss)))
	}
	return lines
}

// context says in one line whose agent asks, and from where.
func (v *Cards) context(r Request, t display.Texts) string {
	parts := []string{Agent(r.Call)}
	switch host := display.SafeLine(v.Host); {
	case r.Call.Own && host != "":
		parts[0] = t.Text("approver itself on %s · a file was changed, it is not known by whom", host)
	case r.Call.Own:
		parts[0] = t.Text("approver itself · a file was changed, it is not known by whom")
	case host != "":
		parts[0] += "@" + host
	}
	where := dirLine(r.Call)
	if says := r.Verdict.Says; says.Branch != "" {
		where = strings.TrimSpace(where + " (" + display.SafeLine(says.Branch) + ")")
	}
	if where != "" {
		parts = append(parts, where)
	}
	if word, _, _ := strings.Cut(v.Notice, ":"); word != "" && !r.Call.Own {
		parts = append(parts, t.Text(word))
	}
	return strings.Join(parts, " · ")
}

// warnings are what a person should read before they answer.
func (v *Cards) warnings(r Request, t display.Texts, hidden bool) (all []string) {
	say := func(m display.Message) { all = append(all, t.Message(m)) }
	if !r.State.Settled() && !r.Granted() {
		if len(r.Verdict.Approvers) > 0 {
			say(display.Msg("Only for %s: others can deny it.", v.approvers.namesOf(r.Verdict.Approvers)))
		}
		if !r.ParkAt.IsZero() && r.ParkAt.Before(r.Due) {
			say(parkedNotice(r))
		}
		if more := moreLine(r); more.Format != "" {
			say(more)
		}
	}
	if hidden {
		say(display.Msg(obscuredNotice))
	}
	for _, notice := range r.Notices {
		all = append(all, t.Say(notice)+".")
	}
	if r.Notice != "" && len(r.Notices) == 0 { // an older version made the request
		all = append(all, r.Notice+".")
	}
	if !r.Fingerprint.Bound() {
		all = append(all, display.UnboundNotice(r.Unbound, t))
	}
	said := r.Call.Display().Warnings()
	for _, w := range append(said, display.ProseWarnings(r.Call.Claimed)...) {
		if text := t.Say(w); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// details are what else is known: the rule and its place, ids and hashes.
func (v *Cards) details(r Request, t display.Texts) (all []display.Block) {
	safe := func(label, text string) {
		if text != "" {
			all = append(all, display.Block{Label: t.Text(label), Text: text})
		}
	}
	line := func(label, text string) { safe(label, display.SafeLine(text)) }
	verdict := &r.Verdict
	safe("Rule", ruleLine(r.Verdict))
	line("Category", verdict.Category)
	line("Found", verdict.Detail)
	line("Told to the agent", verdict.Reason)
	line("Undo", verdict.Irreversible.String())
	line("Isolation", v.Notice)
	safe("Agent", agentDetail(r.Call))
	line("Tool", r.Call.Tool)
	line("Session", r.Call.Session)
	line("Folder", r.Call.Dir)
	line("Host", v.Host)
	safe("Asked", r.Created.UTC().Format("2006-01-02 15:04:05 UTC"))
	safe("Until", r.Due.UTC().Format("2006-01-02 15:04:05 UTC"))
	line("Request", r.ID)
	line("Call", r.Call.ID)
	line("Fingerprint", string(r.Fingerprint))
	line("Version", r.Call.Display().Version())
	return all
}

// visibleChoices are the choices for a card. Their texts come from the agent in part, and one that
// does not show as it is would be something else than what is added: then none is offered.
func visibleChoices(all []approver.Choice) []approver.Choice {
	for _, c := range all {
		if display.Safe(c.Label) != c.Label || display.Safe(c.Detail) != c.Detail || c.Label == "" || c.Detail == "" ||
			len(c.Label) > approver.MaxChoiceLabel || len(c.Detail) > approver.MaxChoiceDetail {
			return nil
		}
	}
	return slices.Clone(all[:min(len(all), approver.MaxChoices)])
}

// textsOf are approver's words for the readers of a destination.
func (v *Cards) textsOf(to approver.Destination) display.Texts {
	if v.Language == nil {
		return display.Texts{}
	}
	return v.Language(to)
}

// replaced is what a card shows after a newer one replaced it.
func (v *Cards) replaced(r Request, to approver.Destination) approver.Card {
	card := v.card(r, v.textsOf(to), tokens.Code{})
	if !r.State.Settled() {
		card.State, card.OneTap, card.Choices = approver.Withdrawn, false, nil
		card.Result = "↩ " + card.Texts.Text("Replaced by a newer card")
	}
	return card
}

// parkedNotice says what a parked request waits for. A card is posted before its request is
// parked, and cannot be edited then, because its code is in no record. So it tells of both
// times.
func parkedNotice(r Request) display.Message {
	const clock = "15:04:05 UTC"
	until := r.Due.Add(GrantMargin).UTC().Format(clock)
	if r.Parked {
		return display.Msg("The agent was told to come back later; your yes waits for it until %s.", until)
	}
	return display.Msg("After %s the agent is told to come back later; your yes waits for it until %s.",
		r.ParkAt.UTC().Format(clock), until)
}

// Agent names the agent and the user of this machine that it runs as.
func Agent(call approver.ToolCall) string {
	name, _ := userOf(call)
	if name == "" {
		return display.Safe(call.Agent)
	}
	return display.Safe(call.Agent) + " of " + name
}

// agentDetail is Agent with the user's id.
func agentDetail(call approver.ToolCall) string {
	uid := fmt.Sprintf("uid %d", call.Peer.UID)
	if name, _ := userOf(call); name == "" || name == uid {
		return Agent(call)
	}
	return fmt.Sprintf("%s (%s)", Agent(call), uid)
}

// userOf returns the name of the user that an agent runs as, and their home; the uid where the
// machine knows no name.
func userOf(call approver.ToolCall) (name, home string) {
	if !call.Peer.Known {
		return "", ""
	}
	uid := strconv.FormatUint(uint64(call.Peer.UID), 10)
	u, err := user.LookupId(uid)
	if err != nil {
		return "uid " + uid, ""
	}
	name, _ = display.Cut(display.Safe(u.Username), maxUserName)
	return name, u.HomeDir
}

// dirLine is the folder of a call, with ~ for the home of its user.
func dirLine(call approver.ToolCall) string {
	return display.SafeLine(homeDir(call))
}

// maxUserName bounds the name of a user on a card, in bytes.
const maxUserName = 64

// claimed is what the agent says about the call and about its appeal.
func claimed(r Request) string {
	if r.Verdict.Appeal.Claimed == "" {
		return r.Call.Claimed
	}
	return strings.TrimSpace("appeal: " + r.Verdict.Appeal.Claimed + "\n" + r.Call.Claimed)
}

// ruleLine names the stage, the rule and its place. A card has no room for a whole path; the
// audit has it.
func ruleLine(v approver.Verdict) string {
	parts := []string{display.Safe(v.By)}
	if v.Rule != "" {
		parts = append(parts, display.Safe(v.Rule))
	}
	if v.Where.File != "" {
		at := v.Where
		at.File = filepath.Base(at.File)
		parts = append(parts, display.Safe(at.String()))
	}
	tier := fmt.Sprintf("tier %d", v.Tier)
	if v.Confidence > 0 {
		tier += fmt.Sprintf(", confidence %.2f", v.Confidence)
	}
	return strings.Join(append(parts, tier), " · ")
}

// Bounds of a card that is edited while it waits, in bytes. With the notice, a larger one
// may not fit any more on every platform, and would show less than before.
const (
	maxEditedCard   = 1500
	maxEditedNotice = 140
)

// withCallers adds the number of identical calls to the card of a posting. It returns false if
// the card might then be too large.
func withCallers(c approver.Card, r Request, p Posting) (approver.Card, bool) {
	notice := ""
	if m := callersNotice(r, p); m.Format != "" {
		notice = c.Texts.Message(m)
		c.Warnings = append([]string{notice}, c.Warnings...)
	}
	switch {
	case p.double():
	case p.Late:
		c.Upto = p.Upto
	default:
		c.Upto = r.Joined
	}
	size := len(c.Claimed) + len(c.Context) + len(strings.Join(c.Why, "")) + len(strings.Join(c.Warnings, ""))
	for _, b := range c.Body {
		size += len(b.Label) + len(b.Text)
	}
	return c, size <= maxEditedCard && len(notice) <= maxEditedNotice
}

// callersNotice says on a card how many identical calls wait, and how many of them a yes from
// this card runs; it is empty for one call alone. A card that must not show further calls is for
// those that it showed: see Posting.Late.
func callersNotice(r Request, p Posting) display.Message {
	all := r.callers()
	if len(all) == 1 && r.Joined == 0 && !p.Late && (r.N == 0 || !p.double()) {
		return display.Message{} // the usual case
	}
	n, runs, shared := len(all), 1, mayShare(r.Verdict, r.Fingerprint, r.Call) && !p.double()
	switch {
	case shared && p.Late:
		runs = len(slices.DeleteFunc(all, func(c Caller) bool { return c.N > p.Upto }))
	case shared:
		runs = n
	case r.N > 0 && p.double():
		runs = 0
	}
	switch {
	case runs == 0:
		return display.Msg("The call of this card has ended: a yes runs nothing, waiting calls (%d) are asked again.", n)
	case n == 1 && r.Joined == 0:
		return display.Message{} // this card is late
	case n == 1:
		return display.Msg("One call waits.")
	case runs == n:
		return display.Msg("%d identical calls wait: a yes runs each of them once.", n)
	case runs == 1:
		return display.Msg("%d identical calls wait: a yes runs one, the others are asked again.", n)
	}
	return display.Msg("%d identical calls wait: a yes runs %d of them once, the others are asked again.", n, runs)
}

// callersText is callersNotice in English, to see whether it has changed.
func callersText(r Request, p Posting) string { return display.Texts{}.Message(callersNotice(r, p)) }
