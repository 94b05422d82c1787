package slack

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"approver.example"
	"approver.example/display"
)

// home shows an approver who opens the app's Home what waits for an answer. A colleague who is not on
// the list reads one sentence there.
func (s *session) home(
	ctx context.Context, a *ack, outer *slackevents.EventsAPIEvent, ev *slackevents.AppHomeOpenedEvent,
) {
	a.done(nil)
	if ev.Tab != "home" {
		return
	}
	err, t := s.who().admit(homeOrigin(outer, ev)), s.To(ev.User, "")
	switch {
	case err == nil:
		r := approver.Reply{Want: approver.WantPending, Channel: Name, Sender: ev.User, Method: approver.ByCommand}
		out := s.reply(ctx, r)
		s.publish(ctx, ev.User, homeView(t, out, whole(r), time.Now()))
	case !errors.Is(err, errStranger):
		s.log.Info("slack home refused", "user", ev.User, "reason", err)
	case s.refusals.Begin("home "+ev.User, refuseEvery):
		s.publish(ctx, ev.User, []slack.Block{plainSection(t.Text("You are not on the approver list for Slack, so " +
			"there is nothing to see here."))})
	}
}

// homeView shows what waits, and when that was so: Slack keeps it until the Home is opened again.
func homeView(t display.Texts, out approver.Outcome, elsewhere string, now time.Time) []slack.Block {
	blocks := append([]slack.Block{plainSection(clip(orElse(out.Text, "approver")))},
		pieces(t, out.Details, maxModal, elsewhere)...)
	at := "<!date^" + strconv.FormatInt(now.Unix(), 10) + "^{date_short_pretty} {time_secs}|" +
		now.UTC().Format(time.DateTime+" UTC") + ">"
	return append(blocks,
		slack.NewContextBlock("", slack.NewTextBlockObject(slack.MarkdownType, "🕒 "+at, false, true)),
		plainSection(t.Text("Answer on the cards, in the conversations that show them. Open this page again to see what "+
			"waits by then.")))
}

func (s *session) publish(ctx context.Context, user string, blocks []slack.Block) {
	err := s.call(ctx, "views.publish", func(ctx context.Context) error {
		_, err := s.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: user,
			View: slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: blocks}}})
		return err
	})
	if err != nil && ctx.Err() == nil {
		s.log.Warn("could not show a person what waits", "user", user, "error", err)
	}
}
