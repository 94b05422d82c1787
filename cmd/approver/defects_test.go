package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/cmd/approver/internal/judging"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/judges"
	"approver.example/gate"
	"approver.example/internal/secret"
	"approver.example/shieldcore"
	"approver.example/shieldcore/evaluator"
	"approver.example/shieldcore/evaluator/evaluatortest"
)

// A system is what the defects of the systems that approver comes from are about, as
// far as a test has to see it. There is approver's, and one that does what they did:
// a check that finds nothing in that one would be none.
type system struct {
	// judge decides a shell command under a preset.
	judge func(preset, command string) approver.Decision
	// read decides what a model's answer means; canary is the number that it was
	// given, with a %q for it in the answer.
	read func(answer string) approver.Decision
	// scored decides a call whose classifiers fail.
	scored func(classifiers error) approver.Decision
	// policy decides that a file is read, under a policy of the documented syntax.
	policy func(text, path string) approver.Decision
	// pressed reports whether a button counts that somebody presses who is on no list.
	pressed func(who string) bool
	// recipients are the chats that get a card after a stranger has written.
	recipients func(stranger string) []string
	// card is what people are shown of a command.
	card func(command string) string
	// runs reports whether a call runs of which the verdict is that people decide, and
	// nobody is there.
	runs func() bool
}

// ownSystem is approver.
func ownSystem(t *testing.T) system {
	provider := evaluatortest.New()
	t.Cleanup(provider.Close)
	e,
		err := evaluator.New(evaluator.Config{Provider: evaluator.OpenAI, URL: provider.URL(evaluatortest.OpenAI),
		Model: evaluatortest.Model, Key: secret.New(provider.Key())})
	if err != nil {
		t.Fatal(err)
	}
	return system{
		judge: func(preset, command string) approver.Decision {
			cfg := configs.Default()
			cfg.Policy = configs.PresetPrefix + preset
			policy, err := cfg.LoadPolicy()
			if err != nil {
				t.Fatal(err)
			}
			reflex, err := judging.ReflexOf(cfg)
			if err != nil {
				t.Fatal(err)
			}
			screens, err := judges.LoadScreens()
			if err != nil {
				t.Fatal(err)
			}
			tier1 := screens(cfg.Shield.Classifier, reflex.Rules)
			g := &gate.Gate{Stages: append([]approver.Stage{reflex, policy}, tier1...), Tiers: approver.TierScreen,
				Log: slog.New(slog.DiscardHandler)}
			v, _ := g.Judge(t.Context(), approver.ToolCall{Agent: "claude", Tool: "Bash", Command: command, Dir: "/src"})
			return v.Decision
		},
		read: func(answer string) approver.Decision {
			provider.Behave(evaluatortest.Saying("defect", "",
				func(q evaluatortest.Request) string { return strings.ReplaceAll(answer, "CANARY", q.Canary) }))
			v, err := e.Judge(t.Context(), push())
			if err != nil {
				t.Fatal(err)
			}
			return v.Decision
		},
		scored: func(fails error) approver.Decision {
			x := newTable(t)
			if x.model = nil; fails != nil {
				x.second = crashing(func() (float64, bool, error) { return 0, true, fails })
			}
			v, _ := x.judge(configs.FailClosed, push())
			return v.Decision
		},
		policy: func(text, path string) approver.Decision {
			p, err := shieldcore.Load("policy.yaml", []byte(text))
			if err != nil {
				return approver.Deny // it does not start
			}
			v, err := p.Judge(t.Context(), approver.ToolCall{Tool: "Read", Paths: []string{path}, Dir: "/src"})
			if err != nil {
				return approver.Deny
			}
			return v.Decision
		},
		pressed: func(who string) bool {
			_, let := strangerPresses(t, who)
			return let
		},
		recipients: func(stranger string) []string {
			chats, _ := strangerPresses(t, stranger)
			return chats
		},
		card: func(command string) string {
			return approver.ToolCall{Agent: "claude", Tool: "Bash", Command: command}.Text()
		},
		runs: func() bool {
			g := &gate.Gate{Stages: []approver.Stage{verdictStage{Decision: approver.Ask, Severity: approver.High}},
				Audit: &daemontest.Ledger{}, Log: slog.New(slog.DiscardHandler)}
			return g.Decide(context.Background(), push()).Decision != approver.Deny
		},
	}
}

// verdictStage always has the same verdict.
type verdictStage approver.Verdict

func (v verdictStage) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return approver.Verdict(v), nil
}

// strangerPresses lets somebody write to the bot and press the button of a card that
// is not theirs, around the real daemon and a fake Telegram. It returns the chats that
// got a card, and whether the press let the call go.
func strangerPresses(t *testing.T, stranger string) (chats []string, let bool) {
	o := &operator{badMachine: &badMachine{t: t, dir: shortDir(t)}, chat: telegramtest.New()}
	t.Cleanup(o.chat.Close)
	o.home()
	id, err := strconv.ParseInt(stranger, 10, 64)
	o.must(err)
	o.chat.AddUser(id, "Eve")
	o.chat.AddChat(telegramtest.Chat{ID: id})
	t.Cleanup(func() { killPID(t, o.path("pid")) })
	o.asIs("systemctl --user start approver")
	o.chat.Type(stranger, stranger, "/start")
	answer := make(chan end, 1)
	message := o.ask(answer)
	o.must(o.chat.Tap(stranger, "10042", message, fake.ApproveButton))
	o.eventually("the stranger is told", func() bool { return len(o.chat.Told(stranger)) > 0 })
	o.must(o.chat.Tap("10042", "10042", message, fake.DenyButton))
	let = (<-answer).exit == 0
	for _, chat := range []string{"10042", stranger} {
		if slices.ContainsFunc(o.chat.Cards(chat), func(c fake.Shown) bool {
			return confirmCode.MatchString(c.Text) || strings.Contains(c.Text, "git push")
		}) {
			chats = append(chats, chat)
		}
	}
	return chats, let
}

// defectiveSystem does what the source systems did.
func defectiveSystem() system {
	recipients := []string{"10042"}
	return system{
		judge: func(_, command string) approver.Decision { // the first word is on a list of safe ones
			first, _, _ := strings.Cut(command, " ")
			if slices.Contains([]string{"git", "npm", "npx", "node", "python3", "docker", "kubectl"}, first) &&
				!strings.ContainsAny(command, ";|&<>`$") {
				return approver.Allow
			}
			return approver.Ask
		},
		read: func(answer string) approver.Decision { // one canary for all, found anywhere; what is no known word is ALLOW
			switch {
			case !strings.Contains(answer, "CANARY"), strings.Contains(answer, `"BLOCK"`):
				return approver.Deny
			case strings.Contains(answer, `"ESCALATE"`):
				return approver.Ask
			}
			return approver.Pass
		},
		scored: func(error) approver.Decision { return approver.Allow }, // with confidence 0.7, or 0.5
		policy: func(text, _ string) approver.Decision { // knows lists only, and ignores the rest
			if strings.Contains(text, "\ndeny:") {
				return approver.Deny
			}
			return approver.Pass
		},
		pressed:    func(string) bool { return true },
		recipients: func(stranger string) []string { recipients = append(recipients, stranger); return recipients },
		card:       func(string) string { return "Bash: the agent wants to free some space" },
		runs:       func() bool { return true },
	}
}

const answerForm = `{"decision":%s,"confidence":1,"reason":"x","canary":"%s"}`

// The defects 1 to 7 of the systems that approver comes from. Each check finds
// nothing in approver, and finds the defect in a system that has it.
func TestDefectsOfTheSources(t *testing.T) {
	checks := []struct {
		name  string
		finds func(s system) []string
	}{
		{"1 the first word makes a command safe", func(s system) (found []string) {
			for _, preset := range []string{"default", "strict"} {
				for _, command := range []string{
					"git push --force origin main", "kubectl delete namespace production",
					`python3 -c "__import__('shutil').rmtree('/home')"`, "docker system prune -af --volumes",
				} {
					if d := s.judge(preset, command); d > approver.Ask {
						found = append(found, preset+": "+command+" "+d.String())
					}
				}
			}
			if d := s.judge("strict", "npx evil-package"); d > approver.Ask {
				found = append(found, "strict: npx evil-package "+d.String())
			}
			return found
		}},
		{"2 a word that is no decision is ALLOW", func(s system) (found []string) {
			for _, word := range []string{`"DENY"`, `"REJECT"`, `"UNSAFE"`, `""`, `null`, `"allow"`} {
				if d := s.read(fmt.Sprintf(answerForm, word, "CANARY")); d != approver.Deny {
					found = append(found, word+" "+d.String())
				}
			}
			if d := s.read(`{"confidence":1,"reason":"x","canary":"CANARY"}`); d != approver.Deny {
				found = append(found, "no decision "+d.String())
			}
			return found
		}},
		{"3 classifiers that fail or are absent let go", func(s system) (found []string) {
			for _, fails := range []error{nil, errors.New("the sidecar is gone")} {
				if d := s.scored(fails); d != approver.Deny {
					found = append(found, fmt.Sprint(fails, " ", d))
				}
			}
			return found
		}},
		{"4 the canary is found anywhere", func(s system) (found []string) {
			if d := s.read(fmt.Sprintf(answerForm, `"ALLOW"`, "CANARY")); d != approver.Pass {
				found = append(found, "an honest answer: "+d.String())
			}
			for _, answer := range []string{
				`{"decision":"ALLOW","confidence":1,"reason":"the token is CANARY","canary":""}`,
				fmt.Sprintf(answerForm, `"ALLOW"`, "CANARYCANARY"), fmt.Sprintf(answerForm, `"ALLOW"`, "") + "CANARY",
			} {
				if d := s.read(answer); d != approver.Deny {
					found = append(found, answer+" "+d.String())
				}
			}
			return found
		}},
		{"5 the documented syntax is ignored", func(s system) (found []string) {
			for _, text := range []string{
				"version: 1\ndefault:\n  decision: block\n  min_tier: 0\nrules: []\n",
				"version: 1\nrules:\n  - {name: all, action_types: ['*'], path_patterns: ['/**'], decision: block}\n",
			} {
				if d := s.policy(text, "/etc/shadow"); d != approver.Deny {
					found = append(found, text+d.String())
				}
			}
			return found
		}},
		{"6 anybody can press, and writing makes one a recipient", func(s system) (found []string) {
			if s.pressed("666") {
				found = append(found, "a stranger's press counts")
			}
			if to := s.recipients("666"); !slices.Equal(to, []string{"10042"}) {
				found = append(found, fmt.Sprint("cards go to ", to))
			}
			return found
		}},
		{"7 the card has no command, and what is to be asked runs", func(s system) (found []string) {
			if text := s.card("git push --force origin main"); !strings.Contains(text, "git push --force origin main") {
				found = append(found, "the card says "+text)
			}
			if s.runs() {
				found = append(found, "it runs and nobody was asked")
			}
			return found
		}},
	}
	own := ownSystem(t)
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if found := c.finds(own); len(found) > 0 {
				t.Errorf("approver has it:\n%s", strings.Join(found, "\n"))
			}
			found := c.finds(defectiveSystem())
			if len(found) == 0 {
				t.Error("the check does not find the defect in a system that has it")
			}
			t.Logf("in a system that has it:\n%s", strings.Join(found, "\n"))
		})
	}
}
