package tokens

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMint(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range []int{-1, 0, 3, 6, 8, 32, 99} {
		for range 200 {
			c, err := Mint(n)
			if err != nil {
				t.Fatal(err)
			}
			body, ok := strings.CutPrefix(c.Reveal(), Prefix)
			if want := min(max(n, MinLength), MaxLength); !ok || len(body) != want {
				t.Fatalf("Mint(%d) has %d characters, want %d", n, len(body), want)
			}
			if strings.ContainsAny(body, "01ILOBSZU") {
				t.Fatalf("%s has a look-alike", body)
			}
			if seen[body] {
				t.Fatalf("%s twice", body)
			}
			seen[body] = true
			if back, err := Parse(c.Reveal()); err != nil || !back.Equal(c) {
				t.Fatalf("Parse(%s): %v", c.Reveal(), err)
			}
		}
	}
}

// Every character is as likely as any other: bytes that would favor the first
// ones are thrown away.
func TestMintIsUnbiased(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	count := map[byte]int{}
	for range 10_000 {
		c, err := mint(random, MaxLength)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.text {
			count[c.text[i]]++
		}
	}
	low, high := 1<<30, 0
	for i := range len(alphabet) {
		low, high = min(low, count[alphabet[i]]), max(high, count[alphabet[i]])
	}
	if low == 0 || float64(high)/float64(low) > 1.08 {
		t.Errorf("the likeliest character came %d times, the rarest %d", high, low)
	}
}

func TestMintFailsWithoutRandomness(t *testing.T) {
	if c, err := mint(bytes.NewReader(nil), 6); err == nil || !c.IsZero() {
		t.Errorf("got %q, %v", c.text, err)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"CONFIRM-7KQ4MX", "CONFIRM-7KQ4MX"},
		{"confirm-7kq4mx", "CONFIRM-7KQ4MX"},
		{" 7kq4mx\n", "CONFIRM-7KQ4MX"},
		{"Confirm–7KQ4MX", "CONFIRM-7KQ4MX"}, // en dash
		{"confirm 7kq4mx", "CONFIRM-7KQ4MX"},
		{"CONFIRM-BSZU77", "CONFIRM-852V77"}, // read aloud or misread
		{"CONFIRM-7KQ4M", ""},
		{"CONFIRM-7KQ4M0", ""}, // 0 and O are in no code and stand for none
		{"CONFIRM-7KQ4MX now", ""},
		{"CONFIRM-7KQ4MХ", ""}, // a Cyrillic Х
		{"CONFIRM-" + strings.Repeat("7", 33), ""},
		{"", ""},
		{"CONFIRM-", ""},
	} {
		got, err := Parse(c.in)
		if got.Reveal() != c.want || (err == nil) != (c.want != "") {
			t.Errorf("Parse(%q) = %q, %v; want %q", c.in, got.Reveal(), err, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		in, want string
		err      error
	}{
		{"please CONFIRM-7KQ4MX, thanks", "CONFIRM-7KQ4MX", nil},
		{"CONFIRM-7KQ4MX confirm-7kq4mx", "CONFIRM-7KQ4MX", nil},
		{"CONFIRM-7KQ4MX or CONFIRM-8KQ4MX", "", ErrMany},
		{"reconfirm-7KQ4MX", "", ErrNone},
		{"7KQ4MX", "", ErrNone},
		{"I confirm that it is fine", "", ErrNone},
		{"we confirm nothing, CONFIRM-7KQ4MX", "CONFIRM-7KQ4MX", nil},
		{"please confirm payment", "", ErrNone}, // seven letters that codes are made of
		{"confirm request 12", "", ErrNone},
		{"confirm 7kq4mx", "", ErrNone},
		{"confirm–7KQ4MX", "CONFIRM-7KQ4MX", nil},      // en dash
		{"confirm\u22127KQ4MX", "CONFIRM-7KQ4MX", nil}, // minus
		{"confirm－7KQ4MX", "CONFIRM-7KQ4MX", nil},      // full width
		{"", "", ErrNone},
		{"ﬃconfirm-", "", ErrNone},
	} {
		got, err := Find(c.in)
		if got.Reveal() != c.want || !errors.Is(err, c.err) {
			t.Errorf("Find(%q) = %q, %v; want %q, %v", c.in, got.Reveal(), err, c.want, c.err)
		}
	}
}

// What stands around a code decides what it means: nothing of it may be lost.
func TestCut(t *testing.T) {
	for _, c := range []struct{ in, rest string }{
		{"CONFIRM-7KQ4MX", "\n"},
		{"don’t CONFIRM-7KQ4MX!", "don’t \n!"},
		{"CONFIRM-7KQ4MX no confirm–7kq4mx", "\n no \n"},
		{"confirm-dialog, CONFIRM-7KQ4MX", "confirm-dialog, \n"},
	} {
		code, rest, err := Cut(c.in)
		if rest != c.rest || err != nil || code.Reveal() != "CONFIRM-7KQ4MX" {
			t.Errorf("Cut(%q) = %q, %q, %v; want the rest %q", c.in, code.Reveal(), rest, err, c.rest)
		}
	}
	if code, rest, err := Cut("no code here"); !code.IsZero() || rest != "" || !errors.Is(err, ErrNone) {
		t.Errorf("no code: %q, %q, %v", code.Reveal(), rest, err)
	}
}

// A code must not reach a log, an error, JSON or a debug print by accident.
func TestCodesMaskThemselves(t *testing.T) {
	c, _ := Parse("CONFIRM-7KQ4MX")
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "code", c, "in", struct{ C Code }{c})
	js, err := json.Marshal(map[string]any{"a": c, "b": []Code{c}, "c": &c})
	if err != nil {
		t.Fatal(err)
	}
	out := log.String() + string(js)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		out += fmt.Sprintf(verb, c) + fmt.Sprintf(verb, &c) + fmt.Sprintf(verb, struct{ C Code }{c}) +
			fmt.Sprintf(verb, []Code{c})
	}
	if strings.Contains(out, "7KQ4MX") || strings.Contains(strings.ToLower(out), "374b51344d58") {
		t.Errorf("a code shows in %s", out)
	}
	var back struct{ C Code }
	if json.Unmarshal([]byte(`{"C":"CONFIRM-7KQ4MX"}`), &back) == nil && !back.C.IsZero() {
		t.Error("a code came back out of JSON")
	}
}

func TestHash(t *testing.T) {
	key, other := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	c, _ := Parse("7KQ4MX")
	d, _ := Parse("7KQ4MY")
	switch {
	case !c.Hash(key).Equal(c.Hash(key)):
		t.Error("a hash differs from itself")
	case c.Hash(key).Equal(d.Hash(key)), c.Hash(key).Equal(c.Hash(other)):
		t.Error("different codes or keys, one hash")
	case c.Hash(nil) != "", c.Hash(key[:15]) != "", (Code{}).Hash(key) != "":
		t.Error("a hash without a key or a code")
	case Hash("").Equal(""), (Code{}).Equal(Code{}):
		t.Error("nothing equals nothing")
	}
}

func FuzzFind(f *testing.F) {
	f.Add("please CONFIRM-7KQ4MX now")
	f.Add("confirm\u00ad7kq4mx")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Find(s)
		if (err == nil) == c.IsZero() {
			t.Fatalf("Find(%q): zero %v, error %v", s, c.IsZero(), err)
		}
		if err == nil {
			if again, err := Find(c.Reveal()); err != nil || !again.Equal(c) {
				t.Fatalf("Find(%q) is not stable", s)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("CONFIRM-7KQ4MX")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse(s)
		if (err == nil) == c.IsZero() {
			t.Fatalf("Parse(%q): zero %v, error %v", s, c.IsZero(), err)
		}
		for _, r := range c.text {
			if !strings.ContainsRune(alphabet, r) {
				t.Fatalf("Parse(%q) has %q", s, r)
			}
		}
	})
}
