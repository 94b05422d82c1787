package telegram

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/channels/internal/cards"
)

// The story: `make deploy` runs in the directory. A long command leaves little
// room, so the directory was cut to its beginning, the same for staging and
// production, and a tap approved whichever it was.
func TestDirectoryThatIsCutTakesNoTap(t *testing.T) {
	const base = "/home/ann/src/clients/acme/infrastructure/environments/eu/"
	card := highCard(t)
	for n := 2500; n < 3900; n += 50 {
		card.Command = "make deploy # " + strings.Repeat("x", n)
		looks := map[string]string{}
		for _, dir := range []string{base + "stage", base + "prod1", strings.Replace(base, "acme", "ajax", 1) + "stage"} {
			card.Dir = dir
			m := mustRender(t, card)
			whole := strings.Contains(textOf(m), dir)
			if tap := strings.Contains(labels(m), "Approve"); tap != !m.partial || tap && (!whole || looks[textOf(m)] != "") {
				t.Fatalf("%d bytes in %s: partial %v, a tap approves: %v; the same card as in %q:\n%s", n, dir, m.partial, tap,
					looks[textOf(m)], textOf(m))
			}
			if !whole && (m.file.name != "card.txt" || !strings.Contains(m.file.content, "Directory: "+dir+"\n")) {
				t.Fatalf("%d bytes: the file %s does not name the directory %s", n, m.file.name, dir)
			}
			looks[textOf(m)] = dir
		}
	}
}

// A card that was cut once takes no tap after an update either: what its people
// have read was not the whole.
func TestUpdateOfACutCardTakesNoTap(t *testing.T) {
	b := idle(t)
	card := highCard(t)
	card.Why = strings.Repeat("because ", 200)
	ref := b.post(card)
	card.Why = "because"
	if err := b.c.Update(t.Context(), ref, card); err != nil {
		t.Fatal(err)
	}
	if m := b.message(ref); !ref.Partial || m.Edits != 1 || strings.Contains(m.Text, "Tap a button") ||
		len(m.Buttons[0]) != 1 {
		t.Errorf("partial %v, and the card is now\n%+v", ref.Partial, m)
	}
}

func TestWholeCard(t *testing.T) {
	card := highCard(t)
	card.Dir, card.Command = "/srv/x\nCommand: true", "make\nWhy: it is fine"
	want := `Why: A forced push rewrites history.
Rule: git.force_push
Agent says (not checked): tidy up
Agent: claude
Session: 7f3a
Directory: /srv/x ⏎ Command: true
Host: devbox

Command:
make
Why: it is fine`
	if got := card.Whole(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := (approver.Card{}).Whole(); got != "\nCommand:\n(no command)" {
		t.Errorf("the empty card is %q", got)
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in, want string
		hidden   int
	}{
		{"short", "short", 0},
		{"a\nb\tc\r", "a ⏎ b c", 0},
		{strings.Repeat("x", 60), strings.Repeat("x", 60), 0},
		{strings.Repeat("x", 31) + strings.Repeat("y", 30),
			strings.Repeat("x", 14) + "… 33 bytes hidden …" + strings.Repeat("y", 14), 33},
		{strings.Repeat("🔥", 31), strings.Repeat("🔥", 7) + "… 68 bytes hidden …" + strings.Repeat("🔥", 7), 68},
	} {
		if got, hidden := clip(c.in, 60); got != c.want || hidden != c.hidden {
			t.Errorf("clip(%q) = %q and %d, want %q", c.in, got, hidden, c.want)
		}
	}
	if got, _ := clip(strings.Repeat("🔥", 1_000_000), 60); cards.Units(got) > 60 {
		t.Errorf("%q is longer than asked", got)
	}
}
