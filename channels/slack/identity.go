package slack

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"approver.example/channels/internal/cards"
)

// An origin is where an event comes from. Slack authenticates all of it: events arrive on a
// connection that we opened with the app's own token.
type origin struct {
	app      string // the app that the event is for
	team     string // the workspace, or in an organization-wide installation the organization
	user     string
	userTeam string // the person's own workspace; differs in shared channels
	external bool   // the conversation is shared with another organization
	machine  bool   // sent by a bot, a workflow or an integration
	special  bool   // a message of a person that is more than its text
}

// A guard decides who may answer. The zero value admits nobody.
type guard struct {
	app       string
	teams     map[string]bool // our workspace, and those that count as ours
	approvers map[string]bool
	channels  map[string]bool
	bot       string // our bot's id, which marks our own messages
}

// errStranger is what its sender is told: they are a colleague who is not on the list. So is errNotPlain; all
// other refusals are silent.
var errStranger = errors.New("the sender is not on the approver list")

// errNotPlain refuses a message of an approver that has a file, was sent to a channel and a thread at once, or
// was edited. They are told.
var errNotPlain = errors.New("the message is not a plain one")

// admit is the first check on every event.
func (g guard) admit(o origin) error {
	switch {
	case g.app == "" || o.app != g.app:
		return fmt.Errorf("event for the app %q, not for ours", o.app)
	case o.machine:
		return errors.New("sent by a bot or an integration")
	case o.external:
		return errors.New("sent from a conversation that is shared with another organization")
	case o.team == "" || !g.teams[o.team]:
		return fmt.Errorf("sent from the workspace %q, not from ours", o.team)
	case o.userTeam == "" || !g.teams[o.userTeam]:
		return fmt.Errorf("sent by a member of the workspace %q, not of ours", o.userTeam)
	case o.user == "":
		return errors.New("sent by nobody")
	case !g.approvers[o.user]:
		return errStranger
	case o.special:
		return errNotPlain
	}
	return nil
}

// place checks the conversation: codes and cards count only where cards go.
func (g guard) place(channel string) error {
	if channel == "" || !g.channels[channel] {
		return fmt.Errorf("sent in the conversation %q, which gets no cards", channel)
	}
	return nil
}

func interactionOrigin(cb *slack.InteractionCallback) origin {
	return origin{
		app:      cb.APIAppID,
		team:     cmp.Or(cb.Team.ID, cb.Enterprise.ID),
		user:     cb.User.ID,
		userTeam: cb.User.TeamID,
		machine:  cb.User.IsBot,
	}
}

// commandOrigin trusts the workspace that Slack names: Slack offers an app's commands only to
// members of the workspaces where it is installed.
func commandOrigin(cmd *slack.SlashCommand) origin {
	team := cmp.Or(cmd.TeamID, cmd.EnterpriseID)
	return origin{app: cmd.APIAppID, team: team, user: cmd.UserID, userTeam: team}
}

// homeOrigin trusts the workspace that Slack names: an app has its Home only for members of the
// workspaces where it is installed.
func homeOrigin(outer *slackevents.EventsAPIEvent, ev *slackevents.AppHomeOpenedEvent) origin {
	team := cmp.Or(outer.TeamID, outer.EnterpriseID)
	return origin{app: outer.APIAppID, team: team, user: ev.User, userTeam: team, external: outer.IsExtSharedChannel}
}

// messageOrigin is the origin of a message event. A message with most subtypes (edited, deleted,
// posted by a bot, joined, …) counts as nobody's.
func messageOrigin(outer *slackevents.EventsAPIEvent, ev *slackevents.MessageEvent) origin {
	special := ev.SubType == slack.MsgSubTypeFileShare || ev.SubType == slack.MsgSubTypeThreadBroadcast
	o := origin{
		special:  special,
		app:      outer.APIAppID,
		team:     cmp.Or(outer.TeamID, outer.EnterpriseID),
		user:     ev.User,
		userTeam: cmp.Or(outer.TeamID, outer.EnterpriseID),
		external: outer.IsExtSharedChannel,
		machine:  ev.SubType != "" && !special || ev.BotID != "" || ev.WorkflowID != "" || ev.Username != "",
	}
	if ev.Message != nil {
		m := ev.Message
		o.machine = o.machine || m.BotID != "" || m.SubType != ev.SubType || m.BotProfile != nil || m.Edited != nil
		// Slack names the sender's own workspace in one of these.
		o.userTeam = cmp.Or(m.Team, o.userTeam)
	}
	o.userTeam = cmp.Or(ev.UserTeam, o.userTeam)
	if ev.SourceTeam != "" && ev.SourceTeam != o.userTeam {
		o.userTeam = ev.SourceTeam + "+" + o.userTeam // two different workspaces: this matches neither
	}
	return o
}

// ours reports whether a message was posted by our own bot.
func (g guard) ours(m *slack.Message) bool {
	return g.bot != "" && m.BotID == g.bot && m.SubType == ""
}

// blockPrefix begins the block id of a card's buttons, which carries the request. The rev in it
// differs after each update, because Slack's clients keep the state of a block by its id.
const blockPrefix = "ap:"

func blockID(request, rev string) string { return blockPrefix + request + ":" + rev }

// requestOf reads the request out of a block id.
func requestOf(block string) (string, bool) {
	rest, ok := strings.CutPrefix(block, blockPrefix)
	i := strings.LastIndexByte(rest, ':')
	if !ok || i <= 0 || i > maxRequest {
		return "", false
	}
	return rest[:i], true
}

// requestIn reads the request from the buttons of a card that is still pending, or from its text if it can have
// no buttons. A settled card has neither.
func requestIn(m *slack.Message) (string, bool) {
	for _, b := range m.Blocks.BlockSet {
		if a, ok := b.(*slack.ActionBlock); ok {
			return requestOf(a.BlockID)
		}
	}
	return cards.Referred(unescape(m.Text))
}
