package slack

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"approver.example/tokens"
)

// The ids of the dialogs, and of their one input.
const (
	codeModal = "ap:code"
	codeInput = "code"
	whyModal  = "ap:why"
	whyInput  = "why"
	editModal = "ap:edit"
	editInput = "edit"
)

// maxModal bounds the text of a dialog, in bytes: it may have 100 blocks.
const maxModal = 30 * maxTold

// ask opens the dialog of a button that gives no answer by itself.
func (s *session) ask(ctx context.Context, cb *slack.InteractionCallback, at place, action cards.Action) {
	data, err := json.Marshal(at)
	if err != nil {
		return
	}
	t, title := s.To(cb.User.ID, at.Channel), titleOf(cb.Message.Blocks.BlockSet)
	switch action {
	case cards.DenyWhy:
		s.open(ctx, cb, at, whyDialog(t, title, string(data)))
	case cards.Edit:
		out := s.reply(ctx, at.reply(cb.User, approver.Reply{Want: approver.WantEdit, Method: approver.ByTap}))
		if out.Kind != approver.OutcomeShown || out.Details == "" {
			s.show(ctx, at, cb.User.ID, out, "")
			return
		}
		s.open(ctx, cb, at, editDialog(t, title, string(data), out.Details))
	default:
		s.open(ctx, cb, at, codeDialog(t, title, string(data), covered(cb.Message.Blocks.BlockSet)))
	}
}

// open shows a dialog. Slack allows three seconds from the press.
func (s *session) open(ctx context.Context, cb *slack.InteractionCallback, at place, view slack.ModalViewRequest) {
	err := s.call(ctx, "views.open", func(ctx context.Context) error {
		_, err := s.api.OpenViewContext(ctx, cb.TriggerID, view)
		return err
	})
	if calls.Coded(err, "exchanged_trigger_id") { // the press came twice, and its dialog is open
		s.log.Debug("a slack dialog was opened before", "error", err)
		return
	}
	if err != nil {
		s.log.Warn("could not open a slack dialog", "error", err)
		if at.Channel == "" { // it was no press of a card
			return
		}
		s.tell(ctx, at, cb.User.ID, display.Msg("Slack did not open the dialog in time. Press the button again."))
	}
}

// dialog handles what was typed into a dialog. The acknowledgement carries the outcome, so it
// waits for it, but not for longer than Slack waits.
func (s *session) dialog(ctx context.Context, a *ack, cb *slack.InteractionCallback, refused error) {
	input := map[string]string{codeModal: codeInput, whyModal: whyInput, editModal: editInput}[cb.View.CallbackID]
	if input == "" {
		return
	}
	wrong := func(text string) bool {
		return a.done(slack.NewErrorsViewSubmissionResponse(map[string]string{input: clip(text)}))
	}
	var at place
	err := refused
	if err == nil { // Slack keeps what we put there, and people cannot change it
		err = json.Unmarshal([]byte(cb.View.PrivateMetadata), &at)
		at.event = cb.TriggerID
	}
	t := s.To(cb.User.ID, at.Channel)
	switch {
	case errors.Is(err, errStranger):
		wrong(t.Text(textStranger))
		return
	case err != nil:
		s.log.Info("slack dialog refused", "user", cb.User.ID, "reason", err)
		return
	case s.who().place(at.Channel) != nil: // it got cards when the dialog was opened
		wrong(t.Text(textElsewhere))
		return
	}
	r, problem := s.typed(cb.View.State, input)
	if problem.Format != "" {
		wrong(t.Message(problem))
		return
	}
	late := time.AfterFunc(ackIn, func() { a.done(nil) })
	defer late.Stop()
	out := s.reply(ctx, at.reply(cb.User, r))
	switch out.Kind {
	case approver.OutcomeUnknown, approver.OutcomeLocked, approver.OutcomeRefused, approver.OutcomeNeedCode:
		if wrong(out.Text) { // the dialog stays open for another try
			return
		}
	default:
		a.done(slack.NewClearViewSubmissionResponse())
	}
	s.show(ctx, at, cb.User.ID, out, "")
}

// typed reads what stands in a dialog: a yes with a code, a no with its reason, or a changed command.
// problem is for the person, if it is none of these.
func (s *session) typed(state *slack.ViewState, input string) (r approver.Reply, problem display.Message) {
	text := ""
	if state != nil {
		text = strings.TrimSpace(state.Values[input][input].Value)
	}
	if meant, err := s.read(text); err == nil && meant.Want == approver.WantFreeze { // it tightens, wherever it stands
		return meant.Freeze(), problem
	}
	if input == whyInput {
		if text == "" {
			problem = display.Msg("Nothing was typed, so nothing was changed. Type why, or close this and press Deny.")
		}
		return approver.Reply{Method: approver.ByTap, Reason: text}, problem
	}
	if input == editInput {
		if text == "" {
			problem = display.Msg("Nothing was typed, so nothing was changed. Type the command, or close this and press Deny.")
		} else if _, said := intent.NotACommand(text); said {
			problem = display.Msg(intent.NotACommandText)
		}
		return approver.Reply{Want: approver.WantEdit, Method: approver.ByTap, Command: text}, problem
	}
	code, grant, err := typedCode(text)
	if err != nil {
		return approver.Reply{}, s.formHelp(err)
	}
	return approver.Reply{Approve: true, Method: approver.ByCode, Code: code, Grant: grant}, display.Message{}
}

func typedCode(text string) (tokens.Code, approver.Term, error) {
	if code, err := tokens.Parse(text); err == nil {
		return code, approver.Term{}, nil
	}
	in, err := intent.Parse(text)
	if err == nil && !in.Approve { // the dialog approves; a refusal typed into it is unclear
		err = intent.ErrUnclear
	}
	if err == nil && in.Code.IsZero() {
		err = tokens.ErrForm
	}
	if err != nil {
		return tokens.Code{}, approver.Term{}, err
	}
	return in.Code, in.Grant, nil
}

// covered are the texts of a card that a code approves, without the code itself. What the card hides, they say
// too.
func covered(card []slack.Block) (all []slack.Block) {
	for i, b := range card {
		switch b := b.(type) {
		case *slack.RichTextBlock:
			if kept := slices.DeleteFunc(slices.Clone(b.Elements), showsCode); len(kept) > 0 {
				all = append(all, slack.NewRichTextBlock("", kept...))
			}
		case *slack.SectionBlock: // of a plain card
			if i > 0 && b.Text != nil && !strings.HasPrefix(b.BlockID, answerBlock) {
				all = append(all, plainSection(b.Text.Text))
			}
		}
	}
	return all
}

// showsCode reports whether a line of a card shows its code: no other is styled as code.
func showsCode(e slack.RichTextElement) bool {
	section, ok := e.(*slack.RichTextSection)
	return ok && slices.ContainsFunc(section.Elements, func(e slack.RichTextSectionElement) bool {
		text, ok := e.(*slack.RichTextSectionTextElement)
		return ok && text.Style != nil && text.Style.Code
	})
}

// codeDialog is the modal that takes a typed code, below what it covers. Slack returns place along with
// the typed text; people do not see it.
func codeDialog(t display.Texts, title, place string, covers []slack.Block) slack.ModalViewRequest {
	input := slack.NewPlainTextInputBlockElement(plainText("CONFIRM-…"), codeInput)
	input.MaxLength = 100
	view := inputDialog(t, t.Text("Approve with the code"), t.Text("Approve"), codeModal, title, place,
		slack.NewInputBlock(codeInput, plainText(t.Text("The code on the card")),
			plainText(t.Text("It stands below the text of that card. Type it only if what stands above is what you want to "+
				"happen.")), input))
	view.Blocks.BlockSet = slices.Insert(view.Blocks.BlockSet, 1, covers...)
	return view
}

// whyDialog is the modal that takes the reason of a no.
func whyDialog(t display.Texts, title, place string) slack.ModalViewRequest {
	input := slack.NewPlainTextInputBlockElement(plainText(t.Text("Use a branch instead.")), whyInput)
	input.MaxLength, input.Multiline = approver.MaxReason, true
	return inputDialog(t, t.Text("Deny, say why"), t.Text("Deny"), whyModal, title, place, slack.NewInputBlock(whyInput,
		plainText(t.Text("Why?")), plainText(t.Text("The agent is told this.")), input))
}

// editDialog is the modal in which a person changes the command of a card.
func editDialog(t display.Texts, title, place, command string) slack.ModalViewRequest {
	input := slack.NewPlainTextInputBlockElement(nil, editInput)
	input.InitialValue, input.MaxLength, input.Multiline = command, approver.MaxCommand, true
	return inputDialog(t, t.Text("Change the command"), t.Text("Approve once"), editModal, title, place,
		slack.NewInputBlock(editInput, plainText(t.Text("The command")), plainText(t.Text("It is judged again, and runs "+
			"once in the place of the one on the card. An agent that cannot do that is told to run this instead.")), input))
}

// inputDialog is a modal with one input, below the headline of the card that it is about.
func inputDialog(
	t display.Texts, title, submit, id, headline, place string, input slack.Block,
) slack.ModalViewRequest {
	return slack.ModalViewRequest{
		Type: slack.VTModal, Title: plainText(title), Submit: plainText(submit), Close: plainText(t.Text("Cancel")),
		CallbackID: id, PrivateMetadata: place,
		Blocks: slack.Blocks{BlockSet: []slack.Block{plainSection(orElse(headline, t.Text("Approval request"))), input}},
	}
}

// detailsDialog shows what is known of a request. elsewhere says where all of it is if it is too long.
func detailsDialog(t display.Texts, out approver.Outcome, elsewhere string) slack.ModalViewRequest {
	v := slack.ModalViewRequest{Type: slack.VTModal, Title: plainText(t.Text("Request")),
		Close: plainText(t.Text("Close"))}
	v.Blocks.BlockSet = append([]slack.Block{plainSection(clip(orElse(out.Text, t.Text("Approval request"))))},
		pieces(t, out.Details, maxModal, elsewhere)...)
	return v
}

// pieces shows a text of at most room bytes in blocks that end with a line where they can. The rest of a
// longer line is marked, so that it cannot pass for a line of its own. elsewhere says where the whole is.
func pieces(t display.Texts, text string, room int, elsewhere string) (blocks []slack.Block) {
	shown, hidden := display.Cut(text, room)
	for len(shown) > 0 {
		n := display.RuneBoundary(shown, maxTold)
		rest := shown[n:]
		if end := strings.LastIndexByte(shown[:n], '\n'); rest != "" && end >= 0 {
			n, rest = end, shown[end+1:]
		} else if rest != "" {
			rest = "… " + rest
		}
		blocks = append(blocks, slack.NewRichTextBlock("", preformatted(shown[:n])))
		shown = rest
	}
	if hidden > 0 {
		blocks = append(blocks, plainSection(t.Text("✂️ %d bytes are hidden here. On the daemon's machine %s shows all of "+
			"it.", hidden, orElse(elsewhere, "approver pending"))))
	}
	return blocks
}

// titleOf reads the push line back from a card; empty if it has none.
func titleOf(card []slack.Block) string {
	if len(card) > 0 {
		if s, ok := card[0].(*slack.SectionBlock); ok && s.Text != nil && s.Text.Text != "" {
			return s.Text.Text
		}
	}
	return ""
}
