package slack_test

import (
	"strings"
	"testing"

	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/display"
)

// The story: the headline was "git push --force (and 2 more lines)", and the dialog for the code showed that line
// alone. Whoever typed the code there approved lines that they had not before their eyes. The dialog has the
// text of the card, says how much of it is hidden, and never has the code.
func TestTheCodeDialogShowsWhatRuns(t *testing.T) {
	b := start(t, setup{})
	long := strings.Repeat("echo 'a line of *text*'\n", 800)
	for name, body := range map[string][]display.Block{
		"two lines":      channeltest.Command("git push --force\nrm -rf /srv/data # the second `line`"),
		"a long one":     channeltest.Command("begin\n" + long + "rm -rf /srv/data"),
		"a long diff":    {{Kind: display.Diff, Label: "/etc/hosts", Text: "-begin\n" + long + "+rm -rf /srv/data"}},
		"arguments only": {{Label: "path", Text: "rm -rf /srv/data CONFIRM-ACDEFGHJ"}},
	} {
		card := b.catastrophic()
		card.Body, card.Push = body, "🔴 CATASTROPHIC · git push --force: "+name
		ref := b.post(card)
		if err := b.fake.Tap(ann, here, ref.Message, fake.CodeButton); err != nil {
			t.Fatal(name, err)
		}
		b.eventually("the dialog", func() bool { return strings.Contains(b.fake.Dialog(ann), card.Push) })
		text := b.fake.Dialog(ann)
		if !strings.Contains(text, "rm -rf /srv/data") || ref.Partial && !strings.Contains(text, "bytes hidden") ||
			!strings.Contains(text, card.Why[0]) {
			t.Errorf("%s: the dialog has\n%s", name, text)
		}
		if strings.Contains(text, card.Code.Reveal()) || name == "arguments only" && !strings.Contains(text, "CONFIRM-AC") {
			t.Errorf("%s: the code, or a line that looks like one:\n%s", name, text)
		}
	}
}
