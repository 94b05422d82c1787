package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
	"approver.example/channels/internal/receiving"
	"approver.example/tokens"
)

// Texts for one person.
const (
	textStranger  = "You are not on the approver list of this channel. Your answer does not count."
	textElsewhere = "This is not a channel that approver uses. Answer where the card is."
	textBusy      = "Too many of your answers are still being handled. Wait a moment and try again; this one does not " +
		"count."
	textUnread = "This button or command is not one that approver knows. It may come from an older version."
	textBroken = "Something broke while your answer was handled. It did not count as an approval."
	textNoSuch = "The dialog is empty. Type the code that the card shows."
	textNobody = "This service takes no answers."
	textNoYes  = "A typed message cannot approve here. Press the card's button, or use the /approve command."
)

// replyWithin bounds how long the core may take to decide on an answer.
const replyWithin = time.Minute

// An intake handles the events of one connection.
type intake struct {
	*Channel
	workers *workers
	reply   approver.ReplyFunc
	known   chan struct{}             // closed when we know who we are
	gone    chan struct{}             // closed when the connection has ended
	since   atomic.Pointer[time.Time] // when the connection became ready
}

func newIntake(c *Channel, workers *workers, reply approver.ReplyFunc) *intake {
	return &intake{Channel: c, workers: workers, reply: reply, known: make(chan struct{}), gone: make(chan struct{})}
}

// introduced waits until we know who we are. The library handles each event in a goroutine of
// its own, so an answer may overtake the connection's first event, and before that we cannot
// tell others from ourselves. It returns false if the connection or ctx ends first.
func (in *intake) introduced(ctx context.Context) bool {
	select {
	case <-in.known:
	case <-in.gone:
	case <-ctx.Done():
	}
	select {
	case <-in.known: // an answer that arrives at the end counts too: it comes only once
		return true
	default:
		return false
	}
}

// interaction handles a press, a dialog or a command. It waits only for introduced.
func (in *intake) interaction(ctx context.Context, i *discordgo.Interaction) {
	defer receiving.Recovered(in.log, "an event handler panicked")
	if !in.introduced(ctx) {
		return
	}
	who, st := in.presser(i)
	if st == nobody || !in.seen.First(i.ID) {
		return
	}
	if text, ok := pairCommand(i); ok {
		in.paired(ctx, i, who, text)
		return
	}
	switch st {
	case listed:
		if !in.workers.try(who.id, maxPerPerson, func() { in.pressed(ctx, i, who) }) {
			in.log.Warn("an answer does not count: too many of this person are under way", "person", who.id, "most",
				maxPerPerson)
			in.refuse(ctx, i, textBusy)
		}
	case elsewhere:
		in.refuse(ctx, i, textElsewhere)
	default:
		in.refuse(ctx, i, textStranger)
	}
}

// refuse tells a person at once that an interaction has no effect.
func (in *intake) refuse(ctx context.Context, i *discordgo.Interaction, text string) {
	in.workers.try("", maxRefusals, func() { _ = in.respond(ctx, i, whisper, private(text)) })
}

// pressed handles an interaction of an approver.
func (in *intake) pressed(ctx context.Context, i *discordgo.Interaction, who person) {
	a := read(i)
	switch {
	case a.problem != "":
		_ = in.respond(ctx, i, whisper, private(a.problem))
	case a.dialog:
		_ = in.respond(ctx, i, discordgo.InteractionResponseModal, dialog(a.request, a.upto))
	case a.details:
		if in.respond(ctx, i, later, private("")) == nil {
			m, files := in.details(ctx, i.Message)
			in.finish(ctx, i, m, files)
		}
	default:
		r := approver.Reply{
			Channel: Name, Conversation: i.ChannelID, Sender: who.id, Name: who.name,
			Approve: a.approve, Method: a.method, Code: a.code, Grant: a.grant, Shown: a.upto,
			Choice: a.choice,
		}
		if i.Message != nil {
			r.Request, r.Message = a.request.String(), i.Message.ID
		}
		if a.method == approver.ByCommand {
			r.Sent = sentAt(i.ID)
		}
		in.decide(ctx, i, r)
	}
}

// decide passes an answer to the core and tells the person the outcome. The answer counts even
// if the person cannot be told, and even if another process acknowledged it first: the core
// counts each answer once. An answer that the core does not know is left for a while to another
// daemon, which may be the one that asked.
func (in *intake) decide(ctx context.Context, i *discordgo.Interaction, r approver.Reply) {
	done := make(chan approver.Outcome, 1)
	go func() { done <- in.ask(ctx, r) }() // awaited below; it recovers from its own panics
	soon := time.NewTimer(in.soon)
	defer soon.Stop()
	select {
	case out := <-done:
		if out.Kind == approver.OutcomeUnknown {
			_ = calls.Sleep(ctx, in.leave)
		}
		_ = in.respond(ctx, i, whisper, private(out.Text))
	case <-soon.C:
		untold := in.respond(ctx, i, later, private(""))
		if out := <-done; untold == nil {
			in.finish(ctx, i, private(out.Text), nil)
		}
	}
}

// An ask is what a person wants with an interaction.
type ask struct {
	request uuid.UUID // zero for a command
	approve bool
	method  approver.Method
	code    tokens.Code
	upto    int // of the card whose button was pressed
	choice  int // the number of the choice whose button was pressed
	grant   approver.Term
	dialog  bool
	details bool
	problem string // what to tell the person if it cannot be read
}

// read reads an interaction. What it cannot read becomes a problem, never an answer.
func read(i *discordgo.Interaction) ask {
	switch d := i.Data.(type) {
	case discordgo.MessageComponentInteractionData:
		id, action, upto, ok := parseButton(d.CustomID)
		if !ok || d.ComponentType != discordgo.ButtonComponent {
			return ask{problem: textUnread}
		}
		return ask{
			request: id, method: approver.ByTap, approve: action == cards.Approve || action.Choice() > 0, upto: upto,
			choice: action.Choice(),
			dialog: action == cards.Code, details: action == cards.Details,
		}
	case discordgo.ModalSubmitInteractionData:
		id, action, upto, ok := parseButton(d.CustomID)
		if !ok || action != cards.Code {
			return ask{problem: textUnread}
		}
		return typed(ask{request: id, method: approver.ByCode, upto: upto}, input(d.Components))
	case discordgo.ApplicationCommandInteractionData:
		opt := d.GetOption("code")
		if d.Name != "approve" && d.Name != "deny" || opt == nil {
			return ask{problem: textUnread}
		}
		text, _ := opt.Value.(string)
		// as on every channel, the words beside a code count too
		meant, err := intent.Parse("/" + d.Name + " " + text)
		return ask{approve: meant.Approve && err == nil, method: approver.ByCommand, code: meant.Code, grant: meant.Grant,
			problem: explain(err)}
	}
	return ask{problem: textUnread}
}

// typed reads what a person typed into the dialog: the code alone or with words of consent, or
// the code with a word of refusal, which denies.
func typed(a ask, text string) ask {
	if strings.TrimSpace(text) == "" {
		a.problem = textNoSuch
		return a
	}
	code, err := tokens.Parse(text)
	if err == nil {
		a.code, a.approve = code, true
		return a
	}
	meant, err := intent.Parse(text)
	if err == nil && meant.Code.IsZero() || errors.Is(err, intent.ErrNotAnAnswer) {
		err = tokens.ErrForm
	}
	a.code, a.approve, a.problem = meant.Code, meant.Approve && err == nil, explain(err)
	return a
}

// input returns the value of the dialog's field.
func input(components []discordgo.MessageComponent) string {
	for _, row := range components {
		r, ok := row.(*discordgo.ActionsRow)
		if !ok {
			continue
		}
		for _, c := range r.Components {
			if t, ok := c.(*discordgo.TextInput); ok && t.CustomID == codeInput {
				return t.Value
			}
		}
	}
	return ""
}

// explain tells a person what is wrong with a code; it is empty if nothing is.
func explain(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, tokens.ErrMany):
		return "There is more than one code in your answer. Send one at a time."
	case errors.Is(err, intent.ErrUnclear):
		return "That is neither a clear yes nor a clear no: " + intent.ErrUnclear.Error() + "."
	}
	return "That is not a confirmation code. It looks like " + tokens.Prefix + "… and stands on the card."
}

// ask passes a reply to the core.
func (in *intake) ask(ctx context.Context, r approver.Reply) approver.Outcome {
	ctx, cancel := context.WithTimeout(ctx, replyWithin)
	defer cancel()
	out := in.reply(ctx, r)
	if out.Text == "" {
		out.Text = "Your answer was taken: " + outcomeWord(out.Kind) + "."
	}
	return out
}

func outcomeWord(k approver.OutcomeKind) string {
	return cmp.Or(map[approver.OutcomeKind]string{
		approver.OutcomeApproved: "approved", approver.OutcomeDenied: "denied", approver.OutcomeRecorded: "recorded",
	}[k], "it does not count")
}

// The kinds of response to an interaction.
const (
	whisper = discordgo.InteractionResponseChannelMessageWithSource
	later   = discordgo.InteractionResponseDeferredChannelMessageWithSource
)

// private is a text that only the person of the interaction sees.
func private(text string) message {
	m := note(text)
	m.Flags |= discordgo.MessageFlagsEphemeral
	return m
}

// respond sends the first response to an interaction, which Discord wants within three seconds.
// It logs its error: after one, the person sees nothing.
func (in *intake) respond(
	ctx context.Context, i *discordgo.Interaction, kind discordgo.InteractionResponseType, data any,
) error {
	ctx, cancel := lingering(ctx, in.ackWithin)
	defer cancel()
	path := "interactions/" + url.PathEscape(i.ID) + "/" + url.PathEscape(i.Token) + "/callback"
	err := in.call(ctx, "acknowledge an answer", http.MethodPost, path, map[string]any{"type": kind, "data": data}, nil,
		nil)
	switch {
	case isAPI(err, discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged):
		in.contested()
	case err != nil:
		in.log.Warn("a person cannot be told what became of their answer", "interaction", i.ID, "error", err)
	}
	return err
}

// contested notes that another process has acknowledged an answer. Just after a change of the
// lease that is a replica of ours. Otherwise it is a daemon that does not share our store, and
// people may be told something wrong.
func (in *intake) contested() {
	since := in.since.Load()
	if since == nil || time.Since(*since) < in.handover {
		return
	}
	if in.contest.CompareAndSwap(false, true) {
		in.log.Error("another daemon receives with this Discord bot, and has a store of its own: answers may be met with "+
			"the wrong words",
			"cure", "give each daemon a bot of its own, or have them share one Redis store")
	}
}

// finish fills in a response that was announced before.
func (in *intake) finish(ctx context.Context, i *discordgo.Interaction, m message, files []*discordgo.File) {
	ctx, cancel := lingering(ctx, tellWithin)
	defer cancel()
	path := "webhooks/" + url.PathEscape(i.AppID) + "/" + url.PathEscape(i.Token) + "/messages/@original"
	err := in.twice(ctx, func() error {
		return in.call(ctx, "tell a person what became of their answer", http.MethodPatch, path, m, files, nil)
	})
	if err != nil {
		in.log.Warn("a person could not be told what became of their answer", "error", err)
	}
}

// tellWithin bounds how long telling a person the outcome may take.
const tellWithin = 15 * time.Second

// lingering returns a context that lasts at most for most, and at most a second longer than
// ctx, so that a person still hears the outcome of an answer that was decided at the end.
func lingering(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	stop := context.AfterFunc(ctx, func() {
		_ = calls.Sleep(out, time.Second)
		cancel()
	})
	return out, func() {
		stop()
		cancel()
	}
}

// details returns the whole command of a card, or the whole card if even other texts are cut.
// It reads them from the card itself, so it does not matter which process posted the card, or
// when.
func (in *intake) details(ctx context.Context, m *discordgo.Message) (message, []*discordgo.File) {
	for _, a := range m.Attachments {
		what, ok := map[string]string{commandFile: "The exact command", cardFile: "The whole card"}[a.Filename]
		if !ok {
			continue
		}
		text, err := in.download(ctx, a.URL)
		if err != nil {
			in.log.Warn("the attachment of a card could not be read", "error", err)
			return private(what + " is in " + a.Filename + ", attached to the card."), nil
		}
		return private(fmt.Sprintf("%s, %d bytes.", what, len(text))), []*discordgo.File{file{a.Filename, text}.attachment()}
	}
	if len(m.Embeds) == 0 {
		return private("The card does not show a command."), nil
	}
	if bare(m.Embeds[0]) {
		return private(notAttached + " " + whereWhole(requestOf(m))), nil
	}
	text := strings.TrimSuffix(strings.TrimPrefix(m.Embeds[0].Description, "```bash\n"), "\n```")
	out := private("")
	if cards.Units(text) > tellRoom {
		out.Content = fmt.Sprintf("The exact command, %d bytes.", len(text))
		return out, []*discordgo.File{file{commandFile, text}.attachment()}
	}
	out.Content = "```bash\n" + text + "\n```"
	return out, nil
}

// bare reports whether a card says that its file is missing.
func bare(card *discordgo.MessageEmbed) bool {
	return slices.ContainsFunc(card.Fields,
		func(f *discordgo.MessageEmbedField) bool { return strings.Contains(f.Value, notAttached) })
}

// download reads an attachment from Discord's file server.
func (in *intake) download(ctx context.Context, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the attachment's address is not valid")
	}
	host := u.Hostname()
	known := u.Scheme == "https" && (host == "cdn.discordapp.com" || host == "media.discordapp.net")
	if !known && !strings.HasPrefix(address, originOf(in.wire.base)+"/") {
		return "", fmt.Errorf("the attachment is at %s, which is not Discord", host)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", withoutAddress(err)
	}
	resp, err := in.files.Do(req)
	if err != nil {
		return "", withoutAddress(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the attachment's server answered %s", resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxFile+1))
	if err != nil || len(text) > maxFile {
		return "", errors.New("the attachment is cut off or too large")
	}
	return string(text), nil
}

// originOf is the scheme and host of an address.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Scheme + "://" + u.Host
}
