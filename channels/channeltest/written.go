package channeltest

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// A Written is a card whose texts an agent may have written, and what it wrote.
type Written struct {
	approver.Card

	Command string // the bytes of the command, of which the first block of the card is what people see
}

// The numbers of generated cards: how many a run of the tests reads, and the variable that says otherwise.
const (
	fewCards    = 2000
	cardsNumber = "APPROVER_CARDS"
)

// Cards gives many generated cards to check, which shows each on its platform and reads it back. They are the
// same in each run; APPROVER_CARDS says how many.
func Cards(t *testing.T, check func(testing.TB, Written)) {
	t.Helper()
	n := fewCards
	if testing.Short() { // the race detector runs these, and each is shown in one goroutine
		n /= 10
	}
	if s := os.Getenv(cardsNumber); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 {
			t.Fatalf("%s is %q, and has to be a number", cardsNumber, s)
		}
	}
	code := mint(t)
	began := time.Now()
	for i := range n {
		w := Generated(uint64(i)) //nolint:gosec // not negative
		w.Code = code
		if check(t, w); t.Failed() {
			t.Fatalf("this was card %d, for the command %q", i, w.Command)
		}
	}
	t.Logf("%d cards were shown and read back in %v", n, time.Since(began).Round(time.Millisecond))
}

// FuzzCards gives cards made of a fuzzer's texts to check. Most are short, so that there are many.
func FuzzCards(f *testing.F, check func(testing.TB, Written)) {
	code, err := tokens.Parse("CONFIRM-7KQ4MX")
	if err != nil {
		f.Fatal(err)
	}
	for i, text := range pieces {
		f.Add(text, pieces[(i+1)%len(pieces)], uint16(1), uint8(i)) //nolint:gosec // there are few
	}
	f.Add("x🔥", "é<&>", uint16(1504), uint8(0))
	f.Add("bcode`\x1e`h`\x0ffence ``", "`codence ``` ``` fence ```", uint16(72), uint8(0))
	f.Add("0", "", uint16(1), uint8(55))
	f.Fuzz(func(t *testing.T, command, around string, times uint16, kind uint8) {
		most := 300
		if times%32 == 0 {
			most = 6 << 10
		}
		around = around[:min(len(around), most/4, 300)]
		if command = command[:min(len(command), most)]; command != "" {
			command = strings.Repeat(command, min(1+int(times/2), most/len(command)))
		}
		w := written(kind, command, func() string { return around })
		w.Code = code
		check(t, w)
	})
}

// Generated makes the card of a number, the same each time.
func Generated(number uint64) Written {
	r := rand.New(rand.NewPCG(number, 18)) //nolint:gosec // tests
	size := 1 + r.IntN(120)
	switch n := r.IntN(100); {
	case n < 3:
		size = r.IntN(20_000)
	case n < 25:
		size = r.IntN(2500)
	}
	around := func() string {
		if r.IntN(50) == 0 {
			return someText(r, 900)
		}
		return someText(r, 1+r.IntN(60))
	}
	return written(uint8(r.IntN(256)), someText(r, size), around) //nolint:gosec // below 256
}

// written makes a card of one of many kinds.
func written(kind uint8, command string, around func() string) Written {
	line := func() string { return display.OneLine(around()) }
	at := time.Date(2026, 3, 1, 14, 30, 10, 0, time.UTC)
	card := approver.Card{
		Request: "01890a5d-ac96-774b-bcce-b302099a8057", State: approver.Pending, Severity: approver.High, OneTap: true,
		Why: []string{line(), line()}, Claimed: line(), Context: line(), Warnings: []string{line()},
		Created: at, Due: at.Add(2 * time.Minute),
	}
	if kind%4 == 0 {
		card.Severity = approver.Catastrophic
	}
	title := line()
	if kind%8 == 1 {
		title = display.OneLine(command)
	}
	card.Push = display.PushLine(card.Severity.String(), title, line())
	card.Body = Command(display.Visible(command))
	if kind&16 != 0 {
		card.Body = append(card.Body, display.Block{Label: line(), Text: line()},
			display.Block{Kind: display.Diff, Label: line(), Text: "-" + display.Visible(around())},
			display.Block{Kind: display.Code, Label: line(), Text: display.Visible(around())})
	}
	if kind&32 != 0 {
		card.Lasting, card.Extends, card.Disowns = line(), true, true
		card.Choices = []approver.Choice{{Label: "all", Detail: line()}}
	}
	if kind >= 224 {
		card.State, card.Result = approver.State(kind%6), line()
	}
	return Written{card, command}
}

// pieces are what commands are made of, and what has a meaning in the markup of a platform.
var pieces = []string{
	"git push --force origin main", "rm -rf ./build && ", "echo \"$HOME\" '$(id)' `date` | tee -a ~/.bashrc\n",
	"cat <<'EOF' >x.sh\n\tfor f in *; do\n\t\techo \"$f\"\n\tdone\nEOF\n", "\n\n\n", "\t", "    ",
	"; ", " # ", "\\", "\\\\n",
	"`", "``", "```", "````", "```bash\n", "\n```\n", "~~~", "**b**", "*b*", "__i__", "_i_", "a_b_c",
	"~~s~~", "~s~", "||s||",
	"# head", "\n## two", "\n-# sub", "\n> quote", "\n>>> q", "\n- list", "\n* list", "\n1. one", "---", "|a|b|",
	"[a](https://evil.example)", "<https://evil.example|click>", "https://evil.example/x",
	"HTTP://E.example", "evil.example",
	"tg://user?id=1", "steam://run", "discord.gg/abc", "DiscordApp.com/invite/x", "mail@evil.example", "+49 30 1234567",
	"@everyone", "@here", "@channel", "@ann_lee", "<@1>", "<@!1>", "<@&2>", "<#3>", "<@U00000001>", "<#C0123|general>",
	"<!channel>", "<!everyone>", "<!subteam^S1>", "<!date^1^{time}|x>", "<t:0:R>", "<:e:1>", "<a:e:1>", "</approve:1>",
	":smile:", "#tag", "$BTC", "/approve@approver_test_bot", "/deny x", "CONFIRM-AB12CD", "4111 1111 1111 1111",
	"</code></pre></blockquote><b>APPROVED</b>", "<script>alert(1)</script>", "&lt;b&gt;", "&amp;",
	"&#60;", "&", "<", ">", "\"",
	"<tg-time unix=\"0\">", "<a href=\"tg://user?id=1\">x</a>", `{"type":"mrkdwn"}`, `%s %d %!x {{.}} \u003c`,
	"\n✅ Approved once by Ann", "✂️", "⏎", "⟨U+202E⟩", "⟨", "⟩", "⇥", "…", "‹5 characters hidden›",
	" bytes hidden, sha256",
	"\x1b[2J", "\x1b]0;t\x07", "\r\n", "\r", "\x00", "\x7f", "\u0085", "\u2028",
	"\u202egpj.exe\u202c", "\u2066x\u2069", "\u200f",
	"\u200b", "\u200d", "\ufeff", "\u00ad", "\ufe0f", "\u3164", "\u2800", "\U000e0041",
	"\U0001f1e9\U0001f1ea", "👩‍👩‍👧", "🔥",
	"раура1", "ｒｍ", "𝐫𝐦", "∕etc", "привет ", "שלום ", "مرحبا", "漢字", "한국어", "हिन्दी", "e\u0301",
	"a\u030a\u0333", "Z͑ͫ̓ͪ̂ͫ",
	"\xff\xfe", "\xc3\x28", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\ufffd", "\ufffe", "\U0010ffff", "é", "ß",
}

// someText makes a text of at most size bytes of pieces, of characters of every class and script of Unicode, of bytes,
// and of repetitions.
func someText(r *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		switch n := r.IntN(16); {
		case n < 9:
			b.WriteString(pieces[r.IntN(len(pieces))])
		case n < 12:
			tables := classes()
			for table := tables[r.IntN(len(tables))]; ; {
				b.WriteRune(member(r, table))
				if r.IntN(3) == 0 {
					break
				}
			}
		case n < 14:
			b.WriteByte(byte(r.IntN(256))) //nolint:gosec // below 256
		case n < 15:
			b.WriteByte(byte(' ' + r.IntN(95))) //nolint:gosec // below 127
		default:
			b.WriteString(strings.Repeat(pieces[r.IntN(len(pieces))], 1+r.IntN(40)))
		}
	}
	return b.String()[:size]
}

// classes are the tables of Unicode's categories, scripts and properties, in a fixed order.
var classes = sync.OnceValue(func() (all []*unicode.RangeTable) {
	for _, tables := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts, unicode.Properties} {
		var names []string
		for name := range tables {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			all = append(all, tables[name])
		}
	}
	return all
})

// member is a character of a table.
func member(r *rand.Rand, table *unicode.RangeTable) rune {
	n := r.IntN(len(table.R16) + len(table.R32))
	if n < len(table.R16) {
		in := table.R16[n]
		return rune(int(in.Lo) + r.IntN(int(in.Hi-in.Lo)/int(in.Stride)+1)*int(in.Stride)) //nolint:gosec // in the range
	}
	in := table.R32[n-len(table.R16)]
	return rune(int(in.Lo) + r.IntN(int(in.Hi-in.Lo)/int(in.Stride)+1)*int(in.Stride)) //nolint:gosec // in the range
}

// A Seen is what a platform makes of the message of a card.
type Seen struct {
	Text   string   // all that people read
	Blocks []string // the texts with a fixed width on lines of their own, in order
	Tap    bool     // a button approves
	// Partial and File are what the channel says of the message, and attaches to it.
	Partial bool
	File    string
	// Writes is what the channel does to a text that the platform would change, and Original the inverse, but for
	// marks such as ⟨U+202E⟩; nil if it does nothing.
	Writes, Original func(text string) string
}

// Check compares what people see with the card: the command is there to the byte, or a head and a tail of it with a
// note, and the whole in a file; so is each other text.
func (w Written) Check(t testing.TB, s Seen) {
	t.Helper()
	if s.Writes == nil {
		same := func(text string) string { return text }
		s.Writes, s.Original = same, same
	}
	pending := w.State == approver.Pending
	if s.Tap && (s.Partial || !pending || w.Severity != approver.High) {
		t.Errorf("a button approves: partial %v, %s, %s", s.Partial, w.State, w.Severity)
	}
	if !utf8.ValidString(s.Text) {
		t.Errorf("the text is no UTF-8: %q", s.Text)
	}
	var blocks, whole, want []string
	for _, b := range s.Blocks {
		if strings.TrimSpace(s.Original(b)) != "" {
			blocks = append(blocks, b)
		}
	}
	for _, b := range w.Body {
		if b.Kind != display.Line && strings.TrimSpace(b.Text) != "" {
			whole, want = append(whole, b.Text), append(want, s.Writes(b.Text))
		}
	}
	switch {
	case s.Partial:
		if pending && !strings.Contains(s.File, strings.TrimSuffix(w.Body[0].Text, "\n")) &&
			!slices.Contains(blocks, s.Writes(w.Body[0].Text)) {
			t.Errorf("the command is neither on the card nor in the file:\n%q\n%q", blocks, s.File)
		}
		whole = append(whole, approver.Card{Texts: w.Texts, Body: w.Body}.Whole()) // too many, or with long labels
		for _, shown := range blocks {
			wantHeadAndTail(t, shown, whole, s.Writes)
		}
	case slices.Equal(blocks, want):
		if len(want) > 0 && strings.TrimSpace(w.Body[0].Text) != "" && unmarked(s.Original(blocks[0])) != w.Command {
			t.Errorf("the command reads %q", unmarked(s.Original(blocks[0])))
		}
	case len(blocks) == 0 && len(want) == 1:
		if !strings.Contains(w.Push, " · "+w.Body[0].Text) || unmarked(w.Body[0].Text) != w.Command {
			t.Errorf("the command is not on the card:\n%q", s.Text)
		}
	default:
		t.Errorf("the blocks are\n%q\nwant\n%q", blocks, want)
	}
	w.checkTexts(t, s)
}

// checkTexts looks for each text around the command.
func (w Written) checkTexts(t testing.TB, s Seen) {
	t.Helper()
	all := append([]string{w.Push, w.Context, w.Claimed}, w.Why...)
	all = append(all, w.Warnings...)
	if w.State.Settled() && len(w.Result) < 200 { // a longer one may be cut without a file
		all = append(all, w.Result)
	}
	for _, b := range w.Body {
		if b.Kind == display.Line && !s.Partial {
			all = append(all, b.Text)
		}
	}
	for _, line := range all {
		line = strings.TrimRight(s.Writes(display.Flat(line)), " ") // the end of a message has no white space
		if !strings.Contains(s.Text, line) && (!s.Partial || !strings.Contains(s.Text, "bytes hidden")) {
			t.Errorf("the card lacks %q:\n%q", line, s.Text)
		}
	}
}

var cutNote = regexp.MustCompile(`\n… ([0-9]+) bytes hidden, sha256 of the whole ([0-9a-f]{12}) …\n`)

// wantHeadAndTail checks that a text on a cut card is whole, or cut with a note that says how much is missing.
func wantHeadAndTail(t testing.TB, shown string, whole []string, writes func(string) string) {
	t.Helper()
	notes := cutNote.FindAllStringSubmatchIndex(shown, -1)
	for _, text := range whole {
		if shown == writes(text) {
			return
		}
		for _, at := range notes {
			hidden, _ := strconv.Atoi(shown[at[2]:at[3]])
			sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:12]
			from := sort.Search(len(text), func(i int) bool {
				return len(writes(text[:display.RuneBoundary(text, i)])) >= at[0]
			})
			to := from + hidden
			if to <= len(text) && sum == shown[at[4]:at[5]] && writes(text[:from]) == shown[:at[0]] &&
				writes(text[to:]) == shown[at[1]:] {
				return
			}
		}
	}
	t.Errorf("a text is neither whole nor a head and a tail with a note:\n%q\nof\n%q", shown, whole)
}

// unmarked is the text of which display.Visible made this one.
func unmarked(shown string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(shown, "⟨")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		mark, after, _ := strings.Cut(rest, "⟩")
		base, bits := mark, 32
		if digits, ok := strings.CutPrefix(mark, "U+"); ok {
			base = digits
		} else if digits, ok := strings.CutPrefix(mark, `\x`); ok {
			base, bits = digits, 8
		}
		n, err := strconv.ParseUint(base, 16, bits)
		switch {
		case err != nil:
			b.WriteString("⟨no mark⟩")
		case bits == 8:
			b.WriteByte(byte(n))
		default:
			b.WriteRune(rune(n)) //nolint:gosec // 32 bits
		}
		shown = after
	}
}
