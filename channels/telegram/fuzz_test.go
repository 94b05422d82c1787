package telegram

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/internal/cards"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/display"
	"approver.example/tokens"
)

// maxFuzzed bounds a command in the fuzz test, in bytes: half as much again as a message holds.
const maxFuzzed = 6 << 10

// FuzzRender reads each card as the service would: the command is the same to the byte, or a head and a
// tail of it with a note, and nothing else got a meaning.
func FuzzRender(f *testing.F) {
	var err error
	for _, text := range hostile {
		f.Add(text, text, text, 1, uint8(1))
	}
	f.Add("x", "🔥", "é<&>", 1504, uint8(0))
	f.Add("", "\t", "\n", maxFuzzed, uint8(0))
	f.Add("", "e\u030a\u0333⇥\u200f⟨U+21E5⟩\r\n", "c", 3, uint8(0))
	fixed := highCard(f)
	fixed.Request = "01890a5d-ac96-774b-bcce-b302099a8057"
	if fixed.Code, err = tokens.Parse("CONFIRM-7KQ4MX"); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, push, command, around string, times int, state uint8) {
		most := maxFuzzed
		if times%8 != 0 { // most inputs are short, so that there are many
			most = 512
		}
		push, around = push[:min(len(push), 150)], around[:min(len(around), most/4, 300)]
		if command = command[:min(len(command), most)]; command != "" {
			command = strings.Repeat(command, min(max(times, 1), most/len(command)))
		}
		card := fixed
		card.State = approver.State(state % 6)
		card.Push = push
		card.Body = append(hostileBody(around), channeltest.Command(display.Visible(command))...)
		card.Why, card.Claimed = []string{around, around + around}, strings.Repeat(around, 8)
		card.Context, card.Warnings, card.Result = around, []string{around}, around
		m, err := render(card, cards.Fresh)
		if err != nil {
			t.Fatal(err)
		}
		if n := m.page.units(); n > maxText {
			t.Fatalf("the message has %d units", n)
		}
		if m.partial && strings.Contains(labels(m), "Approve") {
			t.Error("a cut card offers an approve button")
		}
		html := m.page.html()
		if !utf8.ValidString(html) {
			t.Error("the message is no UTF-8")
		}
		shown, entities, err := telegramtest.Read(html)
		if err != nil {
			t.Fatalf("the service does not understand the HTML: %v", err)
		}
		literal(t, m, telegramtest.Message{Text: shown, Entities: entities, NoPreview: true})
		if card.State == approver.Pending {
			wantCommand(t, m, command, card.Body, blocksOf(shown, entities))
		}
	})
}

// blocksOf are the texts with a fixed width, as the service shows them.
func blocksOf(shown string, entities []telegramtest.Entity) (all []string) {
	text := utf16.Encode([]rune(shown))
	for _, e := range entities {
		if e.Type == "pre" {
			all = append(all, string(utf16.Decode(text[e.Offset:min(e.Offset+e.Length, len(text))])))
		}
	}
	return all
}

// wantCommand checks what a card shows of a command, which is its last block.
func wantCommand(t *testing.T, m message, command string, body []display.Block, shown []string) {
	t.Helper()
	var want []string
	for _, b := range body[1:] {
		if b.Text != "" {
			want = append(want, lasting(strings.ToValidUTF8(b.Text, "\uFFFD")))
		}
	}
	switch {
	case !m.partial && !slices.Equal(shown, want):
		t.Errorf("the blocks are\n%q\nwant\n%q", shown, want)
	case !m.partial && command != "" && original(shown[len(shown)-1]) != command:
		t.Errorf("the command reads %q, and is %q", original(shown[len(shown)-1]), command)
	case m.partial && len(shown) == len(want) && command != "":
		wantHeadAndTail(t, shown[len(shown)-1], body[len(body)-1].Text)
	}
}

// wantHeadAndTail checks a text that is whole, or cut with a note that has its hash.
func wantHeadAndTail(t *testing.T, shown, whole string) {
	t.Helper()
	note := fmt.Sprintf("bytes hidden, sha256 of the whole %x …\n", sha256.Sum256([]byte(whole)))
	note = note[:len("bytes hidden, sha256 of the whole ")+12] + " …\n"
	before, tail, cut := strings.Cut(shown, note)
	at := strings.LastIndex(before, "\n… ")
	switch {
	case !cut && shown != lasting(whole):
		t.Errorf("the command is neither whole nor called cut:\n%q\nof\n%q", shown, whole)
	case !cut:
	case at < 0:
		t.Errorf("the note does not begin:\n%q", shown)
	case !strings.HasPrefix(lasting(whole), before[:at]) || !strings.HasSuffix(lasting(whole), tail):
		t.Errorf("head and tail are not those of the command:\n%q\nof\n%q", shown, whole)
	}
}

var markForm = regexp.MustCompile(`⟨(?:U\+([0-9A-F]{4,6})|\\x([0-9A-F]{2}))⟩`)

// original is the text of which Telegram shows this.
func original(shown string) string {
	shown = strings.ReplaceAll(shown, string(tab), "\t")
	return markForm.ReplaceAllStringFunc(shown, func(mark string) string {
		part := markForm.FindStringSubmatch(mark)
		if part[2] != "" {
			n, _ := strconv.ParseUint(part[2], 16, 8)
			return string([]byte{byte(n)})
		}
		n, _ := strconv.ParseUint(part[1], 16, 32)
		return string(rune(n))
	})
}
