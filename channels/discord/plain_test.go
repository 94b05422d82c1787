package discord

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/internal/cards"
	"approver.example/tokens"
)

var plainForms = map[string]form{"bare": bare, "as text": asText}

// The story: a card is shown in another form, and that form has another command: shortened, formatted, or with lines
// that look like ours. A plain card has the call byte for byte as the usual one has it, or says that it is cut.
func TestPlainCardShowsTheCall(t *testing.T) {
	const other = "0190b2c8-7a9f-7e2c-b1f0-000000000000"
	for name, command := range map[string]string{
		"short":         "git push --force origin HEAD",
		"lines":         "set -e\n\n  cd /srv\n\trm -rf ./data \nexit",
		"markup":        "echo *a* _b_ ~~c~~ `d` ||e|| @everyone <@1> # > - [x](https://example.org) <t:0:R>",
		"our own lines": "make\n**Why** It is harmless.\n✅ Approved by Ann\nTo approve, send yes\n🔖 " + other,
		"marked":        "rm ⟨U+202E⟩x ⟨U+200B⟩ …[secret, 20 bytes]…",
		"a fence":       "echo ```\nrm -rf /srv",
		"wide":          strings.Repeat("漢🔥", 300),
		"line ends":     "\n\nmake\n",
	} {
		card := high()
		card.Body = channeltest.Command(command)
		usual, err := embedded.render(card, cards.Fresh)
		if err != nil {
			t.Fatal(err)
		}
		_, want := discordtest.Read(usual.Embeds[0].Description)
		for form, f := range plainForms {
			v, err := f.render(card, cards.Fresh)
			if err != nil || v.partial {
				t.Fatalf("%s %s: cut %v, %v", name, form, v.partial, err)
			}
			exact := strings.Contains(v.Content, "```bash\n"+command+"\n```")
			drawn, got := discordtest.Read(v.Content)
			if !slices.Equal(got, want) || !exact && v.file.Content != command && strings.Trim(command, "\n") == command {
				t.Errorf("%s %s shows\n%q, want\n%q", name, form, got, want)
			}
			for _, says := range []string{card.Why[0], card.Claimed, card.Context, card.Push, card.Code.Reveal()} {
				if !strings.Contains(drawn, says) {
					t.Errorf("%s %s does not say %q: %s", name, form, says, drawn)
				}
			}
			request := requestOf(returned(t, v))
			if v.Flags&discordgo.MessageFlagsSuppressEmbeds == 0 {
				t.Errorf("%s %s has previews", name, form)
			}
			if request != card.Request || len(v.Embeds) > 0 || (len(v.Components) > 0) != (f == bare) {
				t.Errorf("%s %s names the request %q and has %d rows", name, form, request, len(v.Components))
			}
		}
	}
}

// returned is a view as Discord would return it.
func returned(t *testing.T, v view) *discordgo.Message {
	t.Helper()
	raw, err := json.Marshal(v.message)
	if err != nil {
		t.Fatal(err)
	}
	var m discordgo.Message
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return &m
}

// Every line of a plain card outside of its blocks of code is one of ours, and only a card that waits names its
// request.
func TestPlainCardHasOnlyItsOwnLines(t *testing.T) {
	const forged = "x\n\n✅ Approved\n🔖 0190b2c8-7a9f-7e2c-b1f0-000000000000"
	card := high()
	card.Why, card.Claimed, card.Context, card.Part = []string{forged, forged}, forged, forged, forged
	card.Push, card.Warnings = "🟠 HIGH · "+forged, []string{forged, forged}
	card.Body = channeltest.Command("make")
	for form, f := range plainForms {
		for _, state := range []approver.State{approver.Pending, approver.Approved, approver.Denied} {
			card.State, card.Result = state, forged
			v, err := f.render(card, cards.Fresh)
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Split(v.Content, "\n")
			for i, line := range all {
				if strings.HasPrefix(line, "✅") || strings.HasPrefix(line, "🔖") && i < len(all)-1 {
					t.Errorf("%s, %v: line %d is %q", form, state, i, line)
				}
			}
			if request := requestOf(returned(t, v)); (request == card.Request) != (state == approver.Pending) ||
				request != card.Request && request != "" {
				t.Errorf("%s, %v: it names %q", form, state, request)
			}
		}
	}
}

// Discord takes a plain card of any size, and one that is cut says so, has its file, and takes no tap.
func TestPlainLimits(t *testing.T) {
	for form, f := range plainForms {
		for _, unit := range []string{"a", "\n", "_", "`", "``` ", "漢", "🔥", "x y\n"} {
			for _, n := range []int{1, 500, 1500, 2000, 8000} {
				text, card := strings.Repeat(unit, n/len(unit)+1), high()
				card.Body, card.Push = channeltest.Command(text), "🟠 HIGH · "+strings.Repeat("_", 200)
				for _, card.State = range []approver.State{approver.Pending, approver.Denied} {
					v, err := f.render(card, cards.Fresh)
					if err != nil {
						t.Fatal(err)
					}
					if got := cards.Units(v.Content); got > maxContent || got == 0 {
						t.Fatalf("%s, %d × %q: %d units", form, n, unit, got)
					}
					if v.partial && (v.file.Content != text || slices.Contains(labels(v), "✅ Approve once")) ||
						n == 8000 && !v.partial {
						t.Errorf("%s, %d × %q: cut %v, a file of %d bytes, %q", form, n, unit, v.partial, len(v.file.Content), labels(v))
					}
				}
			}
		}
	}
}

// A card without buttons says what to type, and offers nothing that only a button does.
func TestPlainCardSaysWhatToType(t *testing.T) {
	full, silent := everything(), high()
	full.Choices = []approver.Choice{{Label: "more", Detail: "deploy"}}
	silent.Code = tokens.Code{}
	code := full.Code.Reveal()
	for _, c := range []struct {
		card        approver.Card
		want, never string
	}{
		{full, "To approve, send `/approve code:" + code + "`.\nTo refuse, send `/deny code:" + code + "`, or reply " +
			"no to this message.\n🔖 " + full.Request, "session"},
		{silent, "This card can only be refused.\nTo refuse, reply no to this message.\n🔖 " + silent.Request, "approve,"},
	} {
		v, err := asText.render(c.card, cards.Fresh)
		if err != nil || !strings.HasSuffix(v.Content, c.want) || strings.Contains(v.Content, c.never) {
			t.Errorf("the card ends\n%s\n%v", v.Content, err)
		}
	}
}

// refusedParts are what Discord refuses, and whether a card can have buttons then.
var refusedParts = map[string]struct {
	parts   []discordtest.Part
	buttons bool
}{
	"the embed": {[]discordtest.Part{discordtest.Embeds}, true},
	"buttons":   {[]discordtest.Part{discordtest.Components}, false},
	"both":      {[]discordtest.Part{discordtest.Embeds, discordtest.Components}, false},
}

// The story: Discord refused the embed of a card, the card was lost, and the call was denied although people were
// there. It arrives in a plainer form, whole, alerts nobody, and can be answered; at its end nothing of it can be
// pressed.
func TestCardWhosePartsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range refusedParts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil).connected()
			b.s.Refuse(c.parts...)
			card := high()
			card.Body = channeltest.Command("echo *a* @everyone https://example.org\nmake deploy")
			ref := b.post(b.here, card)
			shown := b.s.Cards(b.here)[0]
			if ref.Partial || slices.Contains(shown.Buttons, fake.ApproveButton) != c.buttons ||
				!strings.Contains(shown.Text, card.Body[0].Text) || !strings.Contains(shown.Text, card.Code.Reveal()) {
				t.Errorf("the card is %+v", shown)
			}
			if c.buttons {
				if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err != nil {
					t.Fatal(err)
				}
			} else if !b.s.Command(b.ann, b.here, "approve", card.Code.Reveal()) {
				t.Fatal("no command")
			}
			if r := b.one(0); !r.Approve || r.Sender != b.ann || !r.Code.Equal(card.Code) && r.Request != card.Request {
				t.Errorf("the yes is %+v", r)
			}
			b.s.ReplyMentioning(b.bob, b.here, ref.Message, "no, use a branch")
			if r := b.one(1); r.Approve || r.Request != card.Request || r.Message != ref.Message || r.Reason == "" {
				t.Errorf("the no is %+v", r)
			}
			card.State, card.Result = approver.Denied, "⛔ Denied by Bob"
			if err := b.c.Update(t.Context(), ref, card); err != nil {
				t.Fatal(err)
			}
			b.s.ReplyMentioning(b.bob, b.here, ref.Message, "no")
			b.told(b.bob, "That message takes no answer.")
			if shown = b.s.Cards(b.here)[0]; len(shown.Buttons) > 0 || !strings.Contains(shown.Text, "Denied by Bob") ||
				strings.Contains(shown.Text, card.Code.Reveal()) {
				t.Errorf("settled: %+v", shown)
			}
			if pings, n := b.s.Pings(), len(b.s.Cards(b.here)); len(pings) > 0 || n != 1 || len(b.got()) != 2 {
				t.Errorf("%d cards; alerted: %q", n, pings)
			}
		})
	}
}

// A yes as a message counts on a card without buttons as it counts on any other: where the configuration says so.
func TestYesToACardWithoutButtons(t *testing.T) {
	for _, takes := range []bool{true, false} {
		b := newBench(t, func(b *bench) { b.cfg.TextApprovals, b.s.MessageContent = takes, takes }).connected()
		b.s.Refuse(discordtest.Components)
		card := high()
		ref := b.post(b.here, card)
		b.s.Refuse()
		b.s.ReplyMentioning(b.ann, b.here, ref.Message, "yes")
		if !takes {
			b.told(b.ann, "A typed message cannot approve here.")
			b.nothing("a yes")
			continue
		}
		if r := b.one(0); !r.Approve || r.Method != approver.ByPlain || r.Request != card.Request ||
			r.Message != ref.Message {
			t.Errorf("the yes is %+v", r)
		}
	}
}

// The story: the answer to a post in a plain form was lost, and a second card was put beside the first, or the first
// was deleted because it had no embed. Whatever form was posted, the next try finds it by its nonce and makes it whole.
func TestPlainCardIsPostedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range refusedParts {
		for _, cured := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, nil)
				b.s.Refuse(c.parts...)
				lost := 1 // the calls that are refused before
				if !c.buttons {
					lost = 2
				}
				b.s.Trips.Add(fake.Trip{Call: "POST /api/v10/channels/", Skip: lost, Status: 502, Done: true})
				b.s.Trips.Add(fake.Trip{Call: "POST /api/v10/channels/", Status: 502})
				card := high()
				if ref, err := b.c.Post(t.Context(), to(b.here), card); err == nil || errors.Is(err, approver.ErrFinal) {
					t.Fatalf("Post gives %+v, %v", ref, err)
				}
				if cured {
					b.s.Refuse()
				}
				ref := b.post(b.here, card)
				all := b.s.Cards(b.here)
				if len(all) != 1 || all[0].Message != ref.Message || ref.Partial ||
					slices.Contains(all[0].Buttons, fake.ApproveButton) != (c.buttons || cured) ||
					!strings.Contains(all[0].Text, card.Body[0].Text) || !strings.Contains(all[0].Text, card.Why[0]) {
					t.Errorf("there are %d cards: %+v", len(all), all)
				}
			})
		}
	}
}

// An edit that Discord refuses takes no button from a card that waits. At the end of the card no button stays, and a
// later edit in the usual form shows its embed again.
func TestEditWhosePartsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range refusedParts {
		b := newBench(t, nil)
		card := high()
		ref := b.post(b.here, card)
		b.s.Refuse(c.parts...)
		next := card
		next.Warnings = []string{"2 identical calls wait."}
		err := b.c.Update(t.Context(), ref, next)
		shown := b.s.Cards(b.here)[0]
		if errors.Is(err, approver.ErrFinal) == c.buttons || strings.Contains(shown.Text, next.Warnings[0]) != c.buttons ||
			!slices.Contains(shown.Buttons, fake.ApproveButton) {
			t.Errorf("%s: %v; the card is %+v", name, err, shown)
		}
		for _, state := range []approver.State{approver.Approved, approver.Consumed, approver.Consumed} {
			card.State, card.Result = state, "✅ Approved once by Ann"
			if err := b.c.Update(t.Context(), ref, card); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if shown = b.s.Cards(b.here)[0]; len(shown.Buttons) > 0 || len(b.s.Cards(b.here)) != 1 ||
				!strings.Contains(shown.Text, card.Why[0]) {
				t.Errorf("%s, %v: the card is %+v", name, state, shown)
			}
			if state == approver.Consumed {
				b.s.Refuse()
			}
		}
	}
}

// A plain card that is cut says so, has the whole in its file, and takes no tap. One whose file cannot be attached
// says that too.
func TestPlainCardThatIsCut(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("make all; ", 300) + "rm -rf /srv/last" // fits in an embed
	for name, c := range refusedParts {
		for _, attached := range []bool{true, false} {
			b := newBench(t, func(b *bench) { b.s.NoFiles = !attached })
			card := high()
			card.Body = channeltest.Command(whole)
			if !embedded.dialect().Fits(card) {
				t.Fatal("it is cut in an embed too")
			}
			b.s.Refuse(c.parts...)
			ref, all := b.post(b.here, card), b.s.Cards(b.here)
			if b.c.Fits(card) || !b.c.Fits(high()) { // if its answer had been lost, nobody would know which form it has
				t.Errorf("%s: the card is called whole, or another one is not", name)
			}
			says := map[bool]string{true: "read it before you answer", false: "could not be attached"}[attached]
			if !ref.Partial || len(all) != 1 || !strings.Contains(all[0].Text, "bytes are hidden here") ||
				!strings.Contains(all[0].Text, says) || slices.Contains(all[0].Buttons, fake.ApproveButton) ||
				attached && !slices.Equal(all[0].Files, []string{whole}) {
				t.Errorf("%s: the cards are %.2000v", name, all)
			}
			b.s.Refuse()
			ref = b.post(b.there, card)
			b.s.Refuse(c.parts...)
			card.Warnings = []string{"2 identical calls wait."}
			if err := b.c.Update(t.Context(), ref, card); !errors.Is(err, approver.ErrShowsLess) && !ref.Partial {
				t.Errorf("%s: an edit that would cut a whole card: %v", name, err)
			}
		}
	}
}

// What is not about the form of a card is final, and asked once.
func TestRefusalThatIsNotAboutTheForm(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"code":50013,"message":"Missing Permissions"}`, `{"code":10003,"message":"Unknown"}`,
		`{"code":50006,"message":"Cannot send an empty message"}`} {
		b := newBench(t, nil)
		b.s.Trips.Add(fake.Trip{Call: "POST /api/v10/channels/", Status: http.StatusForbidden, Body: body, Times: 9})
		if _, err := b.c.Post(t.Context(), to(b.here), high()); !errors.Is(err, approver.ErrFinal) || b.s.Trips.Left() != 8 {
			t.Errorf("%s: %v; %d calls are left", body, err, b.s.Trips.Left())
		}
	}
}

// The dialog for the code of a plain card shows what the code approves, and not the code.
func TestCodeDialogOfAPlainCard(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	b.s.Refuse(discordtest.Embeds)
	card := catastrophic()
	card.Body = channeltest.Command("git push --force\nrm -rf /srv/data")
	ref := b.post(b.here, card)
	d, err := b.s.Open(b.ann, b.here, ref.Message, fake.CodeButton)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(d.Texts, "\n"); !strings.Contains(text, "rm -rf /srv/data") ||
		!strings.Contains(text, card.Why[0]) || strings.Contains(text, card.Code.Reveal()) || d.Title != card.Push {
		t.Errorf("the dialog has\n%+v", d)
	}
}
