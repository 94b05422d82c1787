package discord

import (
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/cards"
	"approver.example/display"
)

// The story: the headline was "git push --force (and 2 more lines)", and the dialog for the code showed that line
// alone. Whoever typed the code there approved lines that they had not before their eyes. The dialog has all of
// the card's text that fits, says how much it hides, and never has the code.
func TestTheCodeDialogShowsWhatRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	long := strings.Repeat("echo 'a line of **text**'\n", 800)
	for name, body := range map[string][]display.Block{
		"two lines":   channeltest.Command("git push --force\nrm -rf /srv/data # the second `line`"),
		"a long one":  channeltest.Command("begin\n" + long + "rm -rf /srv/data"),
		"a long diff": {{Kind: display.Diff, Label: "/etc/hosts", Text: "-begin\n" + long + "+rm -rf /srv/data"}},
		"two long ones": append(channeltest.Command("begin\n"+long),
			display.Block{Kind: display.Code, Label: "x", Text: long + "rm -rf /srv/data"}),
		"arguments only": {{Label: "path", Text: "rm -rf /srv/data CONFIRM-ACDEFGHJ"}},
	} {
		card := catastrophic()
		card.Body, card.Push = body, "🔴 CATASTROPHIC · git push --force (and more)"
		ref := b.post(b.here, card)
		d, err := b.s.Open(b.ann, b.here, ref.Message, fake.CodeButton)
		if err != nil {
			t.Fatal(name, err)
		}
		text := strings.Join(d.Texts, "\n")
		if !strings.Contains(text, "rm -rf /srv/data") || ref.Partial && !strings.Contains(text, "bytes hidden") {
			t.Errorf("%s: the dialog has\n%s", name, d)
		}
		if strings.Contains(text, card.Code.Reveal()) || name == "arguments only" && !strings.Contains(text, "CONFIRM-AC") {
			t.Errorf("%s: the code, or a line that looks like one:\n%s", name, d)
		}
		if why, err := b.s.Open(b.ann, b.here, ref.Message, fake.WhyButton); err != nil || len(why.Texts) > 1 {
			t.Errorf("%s: the dialog for a reason: %v, %v", name, why, err)
		}
	}
	if got := coveredBy(display.Texts{}, nil); got != "" {
		t.Errorf("without a card: %q", got)
	}
}

// Whatever a card says, the dialog for its code is one that Discord takes.
func TestTheCodeDialogFits(t *testing.T) {
	card := catastrophic()
	for _, text := range []string{"``` `x` \\` ", "漢🔥", "*_~|<>", "a\n"} {
		for _, n := range []int{10, 3000, 3900, 4100, 9000} {
			card.Body = channeltest.Command(strings.Repeat(text, n/len(text)))
			card.Claimed = strings.Repeat(text, n/len(text)/10)
			v, err := embedded.render(card, cards.Fresh)
			if err != nil {
				t.Fatal(err)
			}
			got := coveredBy(display.Texts{}, &discordgo.Message{Embeds: v.Embeds})
			if n := cards.Units(got); n == 0 || n > 4000-display.PushLength*2 || strings.Count(got, "```")%2 != 0 {
				t.Errorf("%q, %d bytes: %d units\n%s", text, n, cards.Units(got), got)
			}
			if strings.Contains(got, card.Code.Reveal()) {
				t.Errorf("the code is in it:\n%s", got)
			}
		}
	}
}
