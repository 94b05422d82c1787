package calls_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/internal/calls"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram"
	"approver.example/channels/telegram/telegramtest"
)

// A renewal is a platform whose tokens lie in files, and can be given anew.
type renewal struct {
	fake.Platform
	ch    approver.Channel
	to    approver.Destination
	user  string
	files []string
	reset func() []string // what belongs in the files from now on
	other string          // the token of another bot
}

// put writes tokens to files of mode 0600.
func put(t *testing.T, files, tokens []string) {
	t.Helper()
	for i, file := range files {
		if err := os.WriteFile(file, []byte(tokens[i]+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func renewals(t *testing.T, log *slog.Logger) map[string]func(*testing.T) renewal {
	in := func(t *testing.T, names ...string) (files []string) {
		dir := t.TempDir()
		for _, name := range names {
			files = append(files, filepath.Join(dir, name))
		}
		return files
	}
	good := func(t *testing.T, ch approver.Channel, err error) approver.Channel {
		if err != nil {
			t.Fatal(err)
		}
		return ch
	}
	return map[string]func(*testing.T) renewal{
		"telegram": func(t *testing.T) renewal {
			s, files := telegramtest.New(), in(t, "token")
			t.Cleanup(s.Close)
			s.AddUser(10042, "Ann")
			s.AddUser(10666, "Mallory")
			s.AddChat(telegramtest.Chat{ID: 10042})
			s.AddChat(telegramtest.Chat{ID: 10666})
			put(t, files, []string{s.Token()})
			cfg := telegram.Config{TokenFile: files[0], APIURL: s.URL(), Chats: []telegram.Chat{{ID: "10042"}},
				Approvers: []approver.Approver{{ID: "10042"}}}
			c, err := telegram.New(cfg, log)
			_, key, _ := strings.Cut(s.Token(), ":")
			return renewal{s, good(t, c, err), cfg.Destinations()[0], "10042", files,
				func() []string {
					defer s.Type("10666", "10666", "this ends the poll")
					return []string{s.ResetToken()}
				}, "4711:" + key}
		},
		"discord": func(t *testing.T) renewal {
			s, files := discordtest.New(), in(t, "token")
			t.Cleanup(s.Close)
			ann := s.AddUser("Ann")
			put(t, files, []string{s.Token()})
			cfg := discord.Config{TokenFile: files[0], APIURL: s.URL(), Channels: []string{s.AddChannel()},
				Approvers: []approver.Approver{{ID: ann}}}
			c, err := discord.New(cfg, log)
			return renewal{s, good(t, c, err), cfg.Destinations()[0], ann, files,
				func() []string {
					defer s.CloseGateway(4004)
					return []string{s.ResetToken()}
				}, s.AnotherBot()}
		},
		"slack": func(t *testing.T) renewal {
			s, files := slacktest.New(slacktest.Options{}), in(t, "bot", "app")
			t.Cleanup(s.Close)
			s.AddUser(slacktest.User{ID: "U0ANN12345", Name: "ann"})
			s.AddConversation(slacktest.Conversation{ID: "C0HERE1234"})
			put(t, files, []string{slacktest.BotToken, slacktest.AppToken})
			cfg := slack.Config{BotTokenFile: files[0], AppTokenFile: files[1], APIURL: s.URL(),
				Channels: []string{"C0HERE1234"}, Approvers: []approver.Approver{{ID: "U0ANN12345"}}}
			c, err := slack.New(cfg, log)
			return renewal{s, good(t, c, err), cfg.Destinations()[0], "U0ANN12345", files,
				func() []string {
					defer s.Drop()
					bot, app := s.ResetTokens()
					return []string{bot, app}
				}, slacktest.AnotherBot}
		},
	}
}

// The story: somebody reset the bot's token, because it had been shown in a screen share, and put
// the new one into its file. Cards and answers were dead until somebody thought of a restart. Now
// a channel whose token is refused looks at the file again, each time that it tries, and goes on
// with the new one; cards of before are edited as ever. A token of another bot is not taken: it
// could not edit them.
func TestANewTokenInTheFile(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for name, begin := range renewals(t, log) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := begin(t)
			ctx, cancel := context.WithCancel(t.Context())
			heard, ended := make(chan approver.Reply, 10), make(chan error, 1)
			run := func() {
				ended <- x.ch.Run(ctx, func(_ context.Context, r approver.Reply) approver.Outcome {
					heard <- r
					return approver.Outcome{Kind: approver.OutcomeDenied, Text: "Denied."}
				})
			}
			go run()
			defer func() {
				cancel()
				<-ended
			}()
			look := x.ch.(approver.Receiver).Reception
			until := func(what string, ok func() bool) {
				t.Helper()
				for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("waited in vain for %s: %+v", what, look())
					}
				}
			}
			until("the reception", func() bool { return look().Up })
			ref, err := x.ch.Post(ctx, x.to, card(t))
			if err != nil {
				t.Fatal(err)
			}
			fresh := x.reset()
			refused := func(why string) {
				t.Helper()
				_, err := x.ch.Post(ctx, x.to, card(t))
				if calls.KindOf(err) != calls.Revoked || errors.Is(err, approver.ErrFinal) || !strings.Contains(err.Error(), why) {
					t.Errorf("Post gives %v, want %q", err, why)
				}
			}
			refused("")
			put(t, x.files[:1], []string{x.other})
			refused("belongs to another bot")
			put(t, x.files[:1], []string{"no token"})
			refused(x.files[0])
			if err := os.Remove(x.files[0]); err != nil {
				t.Fatal(err)
			}
			refused(x.files[0])
			if x.ch.(approver.Renewer).Holds(x.files[0]) {
				t.Error("it holds what is not there")
			}
			until("the end of the reception", func() bool { return !look().Up })
			put(t, x.files, fresh)
			if _, err := x.ch.Post(ctx, x.to, card(t)); err != nil {
				t.Errorf("with the new token Post gives %v", err)
			}
			if err := x.ch.Update(ctx, ref, card(t)); err != nil {
				t.Errorf("a card of before: %v", err)
			}
			for len(ended) == 0 && !look().Up { // Run may have ended by then, and is then run again
				time.Sleep(5 * time.Millisecond)
			}
			if len(ended) > 0 {
				<-ended
				go run()
			}
			until("the reception", func() bool { return look().Up })
			if err := x.Tap(x.user, x.to.Conversation, ref.Message, fake.DenyButton); err != nil {
				t.Fatal(err)
			}
			select {
			case <-heard:
			case <-time.After(time.Minute):
				t.Error("the press was not heard")
			}
			for _, file := range x.files {
				if !x.ch.(approver.Renewer).Holds(file) {
					t.Errorf("status would say that %s is not in use", file)
				}
			}
		})
	}
}
