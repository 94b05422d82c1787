package cards

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"approver.example"
)

var all = []Action{Approve, Deny, Details, EnterCode}

func TestButtonData(t *testing.T) {
	for range 100 {
		want := uuid.New()
		for _, act := range all {
			for upto, size := range map[int]int{-1: 27, 0: 27, 1: 29, 31: 30, 999_999: 34, 1 << 40: 34} {
				shows := max(0, min(upto, 999_999))
				if act == Deny || act == Details {
					size, shows = 27, 0
				}
				data := ButtonData(want, act, upto)
				if len(data) != size {
					t.Fatalf("%q has %d bytes, want %d", data, len(data), size)
				}
				if got, a, n, ok := ParseButton(data, all...); !ok || got != want || a != act || n != shows {
					t.Fatalf("%q is %s %c %d %v, want %s %d", data, got, a, n, ok, want, shows)
				}
			}
		}
	}
}

func TestChoiceButtons(t *testing.T) {
	want := uuid.New()
	for n := 1; n <= approver.MaxChoices; n++ {
		data := ButtonData(want, Choose(n), 7)
		if got, a, upto, ok := ParseButton(data, all...); !ok || got != want || a.Choice() != n || upto != 0 {
			t.Errorf("%q is %s %c %d %v", data, got, a, upto, ok)
		}
		if _, _, _, ok := ParseButton(data+"+1", all...); ok {
			t.Errorf("%q counts calls", data+"+1")
		}
	}
	for _, a := range []Action{0, '0', Choose(approver.MaxChoices + 1), '9', Approve, Deny} {
		if a.Choice() != 0 {
			t.Errorf("%c is choice %d", a, a.Choice())
		}
	}
	if _, _, _, ok := ParseButton(ButtonData(want, Choose(approver.MaxChoices+1), 0), all...); ok {
		t.Error("a choice that no card has is a button")
	}
}

func TestOtherDataIsNoButton(t *testing.T) {
	id := uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")
	good := ButtonData(id, Approve, 0)
	enc := good[3:25]
	for _, data := range []string{
		"", "a1:", "a1:" + enc, "a1:" + enc + ":", "a1:" + enc + ":x", "a1:" + enc + ":oo",
		"a2:" + enc + ":o", "A1:" + enc + ":o",
		"a1:" + enc[:21] + ":o", "a1:" + enc + "A:o", "a1:" + enc[:21] + "=:o", "a1:" + enc[:21] + "!:o", "a1:" + enc + ";o",
		" a1:" + enc + ":o",
		"a1:" + enc[:21] + "Y:o", // stray bits at the end: a second spelling of one id
		good + "+", good + "+0", good + "+01", good + "+-1", good + "++1", good + "+1+1", good + "+1 ", good + "+1000000",
		good + "+٣", good + "+1_0", good + "+0x1", good + "1",
		"a1:" + enc + ":d+1", "a1:" + enc + ":i+1", "a1:" + enc + "+1:o", "a1:+1" + enc + ":o",
		good + "x", good[:26], "a2" + good[2:], good[:26] + "x", good[:25] + "." + good[26:], good[:3] + "!" + good[4:],
		good[:24] + "B" + good[25:], strings.ToUpper(good), "+1" + good, good[:25] + "+1" + good[25:],
	} {
		if got, _, _, ok := ParseButton(data, all...); ok {
			t.Errorf("%q is %s", data, got)
		}
	}
	for _, act := range all {
		if got, a, n, ok := ParseButton(ButtonData(id, act, 7)); ok || got != (uuid.UUID{}) || a != 0 || n != 0 {
			t.Errorf("%c is known on a platform without buttons", act)
		}
	}
}

func FuzzParseButton(f *testing.F) {
	f.Add("a1:AYkKXayWd0u8zrMCCZqAVw:o")
	f.Add("a1:AYkKXayWd0u8zrMCCZqAVx:d")
	f.Add("a1:AYkKXayWd0u8zrMCCZqAVw:o+31")
	f.Add(ButtonData(uuid.Must(uuid.NewV7()), EnterCode, 31))
	f.Add("a1:AAAAAAAAAAAAAAAAAAAAAA:o")
	f.Add("a1::o")
	f.Fuzz(func(t *testing.T, data string) {
		request, act, upto, ok := ParseButton(data, all...)
		if !ok {
			if request != (uuid.UUID{}) || act != 0 || upto != 0 {
				t.Fatalf("%q: no button, and %q %c %d", data, request, act, upto)
			}
			return
		}
		if ButtonData(request, act, upto) != data || len(data) > 64 || upto < 0 {
			t.Fatalf("%q is %s %c %d, which is written %q", data, request, act, upto, ButtonData(request, act, upto))
		}
	})
}

func TestRequestID(t *testing.T) {
	const plain = "01890a5d-ac96-774b-bcce-b302099a8057"
	for _, request := range []string{"", "x", strings.ToUpper(plain), "{" + plain + "}", "urn:uuid:" + plain,
		strings.ReplaceAll(plain, "-", ""), plain} {
		if _, ok := RequestID(approver.Card{Request: request}); ok != (request == plain) {
			t.Errorf("%q: %v", request, ok)
		}
	}
}

func TestReferred(t *testing.T) {
	const plain = "01890a5d-ac96-774b-bcce-b302099a8057"
	line := reference(approver.Card{Request: plain})
	for text, want := range map[string]string{
		"": "", line: "", "x": "", "\n": "", "x\n" + line: plain, "x\n" + line + "\n": plain, "x\ny\n" + line: plain,
		"x\n" + line + "\ny": "", "x\n " + line: "", "x\n" + line + " ": "", "x\n" + line + ": y": "",
		"x\n" + strings.ToUpper(line): "", "x\n" + plain: "", "x\n🔖 ": "", "x\n🔖 y": "", "x\n🔖  " + plain: "",
		"x\n│ " + line: "", "x " + line: "",
	} {
		if request, ok := Referred(text); request != want || ok != (want != "") {
			t.Errorf("%q names %q, %v", text, request, ok)
		}
	}
	if line := reference(approver.Card{Request: "x"}); line != "" {
		t.Errorf("an id that is no UUID: %q", line)
	}
}
