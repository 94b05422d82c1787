package discord

import (
	"errors"
	"strings"

	"github.com/bwmarrin/discordgo"
	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/cards"
	"approver.example/display"
	"approver.example/tokens"
)

// An ask is what a person wants with an interaction.
type ask struct {
	reply   approver.Reply  // what it says; who says it, and where, is left to the caller
	request uuid.UUID       // zero for a command
	opens   cards.Action    // the dialog that it opens; zero for none
	problem display.Message // what to tell the person if it cannot be read
}

// read reads an interaction. What it cannot read becomes a problem, never an answer.
func read(i *discordgo.Interaction) ask {
	switch d := i.Data.(type) {
	case discordgo.MessageComponentInteractionData:
		id, action, upto, ok := parseButton(d.CustomID)
		if !ok || d.ComponentType != discordgo.ButtonComponent {
			return ask{problem: display.Msg(textUnread)}
		}
		a := ask{request: id}
		if a.reply, ok = action.Reply(); !ok {
			a.opens = action
		}
		a.reply.Shown = upto
		return a
	case discordgo.ModalSubmitInteractionData:
		id, action, upto, ok := parseButton(d.CustomID)
		a := ask{request: id, reply: approver.Reply{Shown: upto}}
		switch {
		case ok && action == cards.EnterCode:
			return typed(a, input(d.Components, codeInput))
		case ok && action == cards.DenyWhy:
			return because(a, input(d.Components, whyInput))
		case ok && action == cards.Edit:
			return edited(a, input(d.Components, editInput))
		}
	case discordgo.ApplicationCommandInteractionData:
		return commanded(d)
	}
	return ask{problem: display.Msg(textUnread)}
}

// commanded reads a registered command.
func commanded(d discordgo.ApplicationCommandInteractionData) ask {
	if d.Name != approveName && d.Name != denyName {
		want := commandWants[d.Name]
		if want == approver.WantAnswer {
			return ask{problem: display.Msg(textUnread)}
		}
		why, _ := option(d, reasonOption)
		return ask{reply: approver.Reply{Want: want, Method: approver.ByCommand, Reason: why}}
	}
	code, ok := option(d, codeOption)
	if !ok {
		return ask{problem: display.Msg(textUnread)}
	}
	// as on every channel, the words beside a code count too
	meant, err := intent.Parse("/" + d.Name + " " + code)
	a := ask{reply: approver.Reply{Method: approver.ByCommand, Code: meant.Code}}
	switch lasts, given := option(d, forOption); {
	case err != nil:
		a.problem = explain(err)
	case d.Name == denyName:
		why, _ := option(d, reasonOption)
		a.reply.Reason = strings.TrimSpace(meant.Reason + " " + strings.TrimSpace(why))
	case given:
		term, ok := intent.Term(lasts)
		if !ok || meant.Grant != (approver.Term{}) && meant.Grant != term {
			return ask{problem: display.Msg(textTerm)}
		}
		a.reply.Approve, a.reply.Grant = true, term
	default:
		a.reply.Approve, a.reply.Grant = true, meant.Grant
	}
	return a
}

// option returns the text that a person gave for an option of a command.
func option(d discordgo.ApplicationCommandInteractionData, name string) (text string, given bool) {
	opt := d.GetOption(name)
	if opt == nil {
		return "", false
	}
	text, given = opt.Value.(string)
	return text, given
}

// typed reads what a person typed into the dialog: the code alone or with words of consent, or
// the code with a word of refusal, which denies.
func typed(a ask, text string) ask {
	a.reply.Method = approver.ByCode
	if strings.TrimSpace(text) == "" {
		a.problem = display.Msg(textNoSuch)
		return a
	}
	code, err := tokens.Parse(text)
	if err == nil {
		a.reply.Code, a.reply.Approve = code, true
		return a
	}
	meant, err := intent.Parse(text)
	if err == nil && meant.Code.IsZero() || errors.Is(err, intent.ErrNotAnAnswer) {
		err = tokens.ErrForm
	}
	a.reply.Code, a.reply.Approve, a.reply.Reason = meant.Code, meant.Approve && err == nil, meant.Reason
	a.reply.Grant = meant.Grant
	a.problem = explain(err)
	return a
}

// because reads the reason that a person typed into the dialog of a no. Whatever it says, it is a no; /freeze stops
// everything, this too.
func because(a ask, text string) ask {
	a.reply.Method, a.reply.Reason = approver.ByTap, strings.TrimSpace(text)
	switch meant, err := intent.Parse(text); {
	case a.reply.Reason == "":
		a.problem = display.Msg(textNoWhy)
	case err == nil && meant.Want == approver.WantFreeze:
		a.reply = meant.Freeze()
	}
	return a
}

// edited reads what a person changed the command of a card to.
func edited(a ask, text string) ask {
	a.reply.Want, a.reply.Method, a.reply.Command = approver.WantEdit, approver.ByTap, text
	switch meant, said := intent.NotACommand(text); {
	case strings.TrimSpace(text) == "":
		a.problem = display.Msg(textNoCommand)
	case said && meant.Want == approver.WantFreeze:
		a.reply = meant.Freeze()
	case said:
		a.problem = display.Msg(intent.NotACommandText)
	}
	return a
}

// input returns the value of a field of a dialog.
func input(components []discordgo.MessageComponent, field string) string {
	for _, row := range components {
		r, ok := row.(*discordgo.ActionsRow)
		if !ok {
			continue
		}
		for _, c := range r.Components {
			if t, ok := c.(*discordgo.TextInput); ok && t.CustomID == field {
				return t.Value
			}
		}
	}
	return ""
}

// explain tells a person what is wrong with a code; it is empty if nothing is.
func explain(err error) display.Message {
	if err == nil {
		return display.Message{}
	}
	return intent.Problem(err, "/"+approveName, "/"+denyName)
}
