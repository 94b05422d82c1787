package match

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestFold(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"plain", "rm -rf /tmp/x_1", "rm -rf /tmp/x_1"},
		{"capitals on each place of a word", "ABCDEFGHIJKLMNOPQRSTUVWXYZ@[`{", "abcdefghijklmnopqrstuvwxyz@[`{"},
		{"the edges of the capitals in a whole word", "@AZ[`az{@AZ[`az{Z", "@az[`az{@az[`az{z"},
		{"capitals before and after", "ABCDEFGHI\u00e9JKLMNOPQRSTUVWXYZ", "abcdefghiejklmnopqrstuvwxyz"},
		{"full width", "ｒｍ　－ｒｆ　／", "rm -rf /"},
		{"mathematical", "𝐫𝐦 𝑐𝑢𝑟𝑙 𝟏𝟐", "rm curl 12"},
		{"Cyrillic", "сurl ѕudo сhоwn", "curl sudo chown"},
		{"Greek", "ΡΙΡ οpenssl", "pip openssl"},
		{"long s and Kelvin", "\u017fudo \u212aill", "sudo kill"},
		{"small capitals", "ʀᴍ ᴄᴜʀʟ", "rm curl"},
		{"circled and squared", "ⓡⓜ 🅡🅜 🆁🅼 🄡🄜", "rm rm rm rm"},
		{"regional indicators", "🇷🇲", "rm"},
		{"zero width", "r\u200bm\u2060 \u200d-\ufeffrf", "rm -rf"},
		{"bidirectional", "\u202erm\u202c \u2066x\u2069", "rm x"},
		{"soft hyphen and variation selectors", "r\u00adm\ufe0f\U000e0101", "rm"},
		{"tag characters", "rm\U000e0041", "rm"},
		{"Hangul fillers", "r\u3164m\uffa0", "rm"},
		{"combining marks", "r\u0301m\u0338 e\u0301", "rm e"},
		{"accents", "ŕḿ éàüñ", "rm eaun"},
		{"spaces", "rm\u00a0-rf\u2003/\u3000x\u2028y\u0085z\u2800.", "rm -rf / x y z ."},
		{"slashes", "\u2044etc\u2215passwd\u29f8x", "/etc/passwd/x"},
		{"dashes", "rm \u2010r \u2013f \u2014x \u2212y", "rm -r -f -x -y"},
		{"dots", "\u2024\u2024/x\u2026", "../x..."},
		{"ligatures and units", "ﬁnd ㎏ ½", "find kg 1/2"},
		{"dotless i and i with a dot", "pıp İf", "pip if"},
		{"look-alikes of I", "\u0406\u04c0", "ii"},
		{"hooked letters", "ƁƊ", "bd"},
		{"other scripts", "日本語 ДЖ", "日本語 дж"},
		{"bytes that are no character", "r\xffm \xe2\x82", "r\ufffdm \ufffd\ufffd"},
		{"bytes that would meet", "\xc3\u200b\xa9", "\ufffd\ufffd"},
		{"U+FFFD", "\ufffd", "\ufffd"},
		{"ASCII controls stay", "a\x00\t\n\r\x1b\x7f", "a\x00\t\n\r\x1b\x7f"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(Fold(nil, tt.text)); got != tt.want {
				t.Errorf("Fold(%q) = %q, want %q", tt.text, got, tt.want)
			}
			if got := string(Fold([]byte("Kept É "), tt.text)); got != "Kept É "+tt.want {
				t.Errorf("appended: %q", got)
			}
		})
	}
}

// No match of a case-insensitive expression is lost by folding to ASCII.
func TestFoldHasEverySimpleFold(t *testing.T) {
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if f < utf8.RuneSelf && unicode.IsLetter(f) {
				n++
				if got := string(Fold(nil, string(r))); got != strings.ToLower(string(f)) {
					t.Errorf("%U is %q to (?i), and folds to %q", r, f, got)
				}
			}
		}
	}
	if n < 2*26+2 {
		t.Errorf("%d runes looked at", n)
	}
}

// What Unicode's compatibility decomposition makes ASCII, Fold makes the same.
func TestFoldHasEveryDecomposition(t *testing.T) {
	n := 0
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		plain := strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
				return -1
			}
			return unicode.ToLower(r)
		}, norm.NFKD.String(string(r)))
		if strings.ContainsFunc(plain, func(r rune) bool { return r >= utf8.RuneSelf }) || strings.TrimSpace(plain) == "" {
			continue
		}
		n++
		// The letters in parentheses become letters, the dash of underscores a dash.
		got := string(Fold(nil, string(r)))
		if want := strings.Trim(plain, "()"); got != plain && got != want && !unicode.Is(unicode.Pd, r) {
			t.Errorf("%U %q: folded to %q, decomposed to %q", r, r, got, plain)
		}
	}
	if n < 1800 {
		t.Errorf("%d runes looked at", n)
	}
}

func TestFoldTable(t *testing.T) {
	if len(foldTable)%foldRow != 0 {
		t.Fatalf("%d bytes are no whole rows", len(foldTable))
	}
	for i := range len(foldTable) / foldRow {
		n, err := strconv.ParseInt(foldTable[i*foldRow+9:(i+1)*foldRow-1], 16, 32)
		r, to := rune(n), foldedTo(i)
		if err != nil || rowKey(i) != foldKey(r) || i > 0 && rowKey(i) <= rowKey(i-1) || r < utf8.RuneSelf {
			t.Fatalf("%d: %U is out of order: %v", i, r, err)
		}
		if unseen(r) && r != 0x85 {
			t.Errorf("%U is left out, and folded", r)
		}
		for _, c := range []byte(to) {
			if c < ' ' || c > '~' || c >= 'A' && c <= 'Z' {
				t.Errorf("%U folds to %q", r, c)
			}
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Add("ｒｍ\u200b ŕ\xff ABCDEFGHIJ")
	insensitive := regexp.MustCompile(`(?i)s?k+[a-j]|rm|s\s`)
	f.Fuzz(func(t *testing.T, text string) {
		got := Fold(nil, text)
		if twice := string(Fold(nil, string(got))); twice != string(got) {
			t.Errorf("%q: folded %q, and again %q", text, got, twice)
		}
		one := []byte{}
		for rest := text; rest != ""; { // character by character
			_, n := utf8.DecodeRuneInString(rest)
			one, rest = Fold(one, rest[:n]), rest[n:]
		}
		if string(one) != string(got) {
			t.Errorf("%q: folded %q, and one by one %q", text, got, one)
		}
		if insensitive.MatchString(text) && !insensitive.Match(got) {
			t.Errorf("%q: folded %q lost a match", text, got)
		}
	})
}
