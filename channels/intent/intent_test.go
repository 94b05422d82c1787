package intent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/tokens"
)

func TestParse(t *testing.T) {
	code, _ := tokens.Parse("7KQ4MX")
	for _, c := range []struct {
		in      string
		approve bool
		method  approver.Method
		code    bool
		bad     bool
	}{
		{in: "/approve CONFIRM-7KQ4MX", approve: true, method: approver.ByCommand, code: true},
		{in: "/APPROVE@approver_bot 7kq4mx", approve: true, method: approver.ByCommand, code: true},
		{in: "/deny CONFIRM-7KQ4MX", method: approver.ByCommand, code: true},
		{in: "/approve", method: approver.ByCommand, bad: true},
		{in: "/approve all of it", method: approver.ByCommand, bad: true},
		{in: "/approve CONFIRM-7KQ4MX CONFIRM-8KQ4MX", method: approver.ByCommand, bad: true},
		{in: "CONFIRM-7KQ4MX", approve: true, method: approver.ByCode, code: true},
		{in: "no! CONFIRM-7KQ4MX", method: approver.ByCode, code: true},
		{in: "/approve CONFIRM-7KQ4MX please", approve: true, method: approver.ByCommand, code: true},
		{in: "/approve not CONFIRM-7KQ4MX", method: approver.ByCommand, bad: true},
		{in: "don't do CONFIRM-7KQ4MX", method: approver.ByCode, code: true},
		{in: "yes", approve: true, method: approver.ByPlain},
		{in: "Allow.", approve: true, method: approver.ByPlain},
		{in: "no", method: approver.ByPlain},
		{in: "DENY", method: approver.ByPlain},
		{in: "yes, but what is it?", bad: true},
		{in: "/approved", bad: true},
		{in: "", bad: true},
	} {
		got, err := Parse(c.in)
		if got.Approve != c.approve || got.Method != c.method || got.Code.Equal(code) != c.code || (err != nil) != c.bad {
			t.Errorf("Parse(%q) = %+v, %v", c.in, got, err)
		}
	}
}

// The story: somebody types the code of a card that would delete everything, and beside it that it should not
// run, or only if, or not yet. In German nothing of that was understood, and "15 min" was dropped. Beside a code,
// with /approve or alone, only plain consent and one term leave it a yes; anything else changes
// nothing.
func TestOnlyConsentBesideApprove(t *testing.T) {
	const code = "CONFIRM-7KQ4MX"
	for _, before := range []string{"", "/approve ", "/approve@bot "} {
		for _, beside := range []string{
			"nein doch nicht", "? bitte erst prüfen", "if Bob agrees", "wenn Bob zustimmt", "later", "ja", "90m", "15", "0 min",
			"15 min session", "the one for staging", "1.5 h", "bitte nicht", "for Bob", "15 min if Bob agrees", "🤔",
		} {
			for _, text := range []string{before + code + " " + beside, before + beside + " " + code} {
				in, err := Parse(text)
				if !errors.Is(err, ErrUnclear) || in.Approve || !in.Code.IsZero() || in.Grant != (approver.Term{}) {
					t.Errorf("%q gives %+v, %v", text, in, err)
				}
			}
		}
		quarter := approver.Term{For: 15 * time.Minute}
		for beside, want := range map[string]approver.Term{
			"": {}, "please": {}, "once": {}, "15m": quarter, "15 min": quarter, "15min": quarter, "15 Min.": quarter,
			"15 Minuten": quarter, "yes, 15 minutes please": quarter, "for 15 min": quarter, "für 15 Minuten": quarter,
			"1 minute": {For: time.Minute}, "Session": {Session: true}, "ok for session": {Session: true},
			"always": {Always: true},
		} {
			in, err := Parse(before + code + " " + beside)
			if err != nil || !in.Approve || in.Code.Reveal() != code || in.Grant != want {
				t.Errorf("%q gives %+v, %v, want a yes for %v", before+code+" "+beside, in, err, want)
			}
		}
	}
	for text, want := range map[string]bool{"15 min": true, "once": true, "": false, "…": false, "15 min please": false} {
		if _, ok := Term(text); ok != want {
			t.Errorf("Term(%q) is %v", text, ok)
		}
	}
	if in, err := Parse("/approve 7kq4mx 15 min"); err != nil || in.Grant.For != 15*time.Minute {
		t.Errorf("without the prefix: %+v, %v", in, err)
	}
}

// A no with a reason was not understood, and a person who wrote one heard nothing.
func TestReasons(t *testing.T) {
	for text, want := range map[string]string{
		"no, use a branch instead":                   "use a branch instead",
		"No – the other host":                        "the other host",
		"don't do that on main":                      "don't do that on main",
		"do not touch it":                            "do not touch it",
		"/deny CONFIRM-7KQ4MX it is the wrong  host": "it is the wrong host",
		"no CONFIRM-7KQ4MX, not today":               "not today",
		"deny":                                       "",
		"Nein, nimm einen Branch":                    "nimm einen Branch",
		"No\nuse a branch":                           "use a branch",
		"no,use a branch":                            "use a branch",
		"no—use a branch":                            "use a branch",
		"no\u00a0way":                                "way",
		"no! what is that?":                          "what is that?",
		"no - why main?":                             "why main?",
		"Do  not\ntouch it":                          "Do not touch it",
		"👎🏿":                                         "",
		"“no”":                                       "",
		"**No**":                                     "",
		"\u200bno…":                                  "",
		"Nooo!":                                      "",
		"non":                                        "",
	} {
		in, err := Parse(text)
		if err != nil || in.Approve || in.Reason != want || in.Want != approver.WantAnswer || in.Method == approver.NoMethod {
			t.Errorf("Parse(%q) = %+v, %v, want the reason %q", text, in, err, want)
		}
	}
	for _, text := range []string{
		"no? why", "do it", "now", "nothing", "not sure", "use a branch instead", "no idea, is it?",
		"don't you know what it is?", "do you not know", "~no~", "> no", "nó", "n", "''", "*",
	} {
		if in, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %+v", text, in)
		}
	}
}

// A changed command is a command: what people say instead is none, and approves nothing.
func TestNotACommand(t *testing.T) {
	for _, text := range []string{
		"no", "nein, bitte nicht", "yes", "ok", "/deny", "/deny CONFIRM-7KQ4MX", "/freeze now", "stop it", "don't",
		"wait, let me look", "Moment! was ist das", "👎",
	} {
		if _, said := NotACommand(text); !said {
			t.Errorf("%q is taken for a command", text)
		}
	}
	for _, text := range []string{
		"git push origin HEAD:fix", "/usr/bin/x@y --z", "yes | x", "ls; date", ". ./env", "./run! x", "node.js x", "cat a? b",
		"[ -f x ] && y", "a=b c", "CONFIRM-7KQ4MX", "none x", "nohup x", "notify-send x", "stopwatch x",
	} {
		if meant, said := NotACommand(text); said {
			t.Errorf("%q is not taken for a command: %+v", text, meant)
		}
	}
}

func TestWants(t *testing.T) {
	for text, want := range map[string]approver.Want{
		"/pending": approver.WantPending, "/status@approver_bot": approver.WantStatus, "/GRANTS now": approver.WantGrants,
		"/freeze": approver.WantFreeze, "/help": approver.WantHelp, "/start x": approver.WantHelp,
	} {
		if in, err := Parse(text); err != nil || in.Want != want || in.Approve {
			t.Errorf("Parse(%q) = %+v, %v", text, in, err)
		}
	}
	if in, err := Parse("pending"); err == nil {
		t.Errorf("%+v", in)
	}
	for text, want := range map[string]Intent{
		"/freeze! the agent went mad": {Want: approver.WantFreeze, Reason: "the agent went mad"},
		"/Freeze@bot:":                {Want: approver.WantFreeze}, "/freeze?": {Want: approver.WantHelp},
		"/freeze ?": {Want: approver.WantHelp}, "/pending!": {Want: approver.WantPending},
		"/freeze what is it doing?! stop": {Want: approver.WantFreeze, Reason: "what is it doing?! stop"},
	} {
		want.Method = approver.ByCommand
		if in, err := Parse(text); err != nil || in != want {
			t.Errorf("Parse(%q) = %+v, %v", text, in, err)
		}
		if in, ok := Wanted(strings.TrimPrefix(text, "/")); !ok || in != want {
			t.Errorf("Wanted(%q) = %+v, %v", text, in, ok)
		}
	}
	if in, err := Parse("/approve? CONFIRM-7KQ4MX"); !errors.Is(err, ErrUnclear) || in.Approve {
		t.Errorf("a question approves: %+v, %v", in, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("/approve CONFIRM-7KQ4MX")
	f.Fuzz(func(t *testing.T, s string) {
		in, err := Parse(s)
		if err != nil && in.Approve {
			t.Fatalf("Parse(%q) approves with the error %v", s, err)
		}
		if in.Approve && (in.Want != approver.WantAnswer || in.Reason != "") {
			t.Fatalf("Parse(%q) approves with %v and the reason %q", s, in.Want, in.Reason)
		}
		if in.Approve && in.Method != approver.ByPlain && in.Code.IsZero() {
			t.Fatalf("Parse(%q) approves by %v without a code", s, in.Method)
		}
	})
}

// A person types a refusal, or a question, next to the code of a card. Whatever
// it is spelled like, it must not run the call: beside a code only a few words
// of consent leave it an approval.
func TestOnlyConsentApprovesByCode(t *testing.T) {
	const code = "CONFIRM-7KQ4MX"
	for _, s := range []string{
		code, " " + code + ".\n", "`" + code + "`", "“" + code + "”", "*" + code + "*", code + " " + code,
		"yes " + code, "OK, " + code + " please!", "okay: " + code, "approve " + code, "y " + code, "please confirm " + code,
		"Approved — " + code, "allow " + code, "👍 " + code, "👍🏽" + code, "✅️ " + code, "/approve\n" + code,
	} {
		in, err := Parse(s)
		if err != nil || !in.Approve || in.Code.Reveal() != code {
			t.Errorf("%q does not approve: %+v, %v", s, in, err)
		}
	}
	for _, s := range []string{
		"don’t " + code, "Don’t approve " + code, "DON'T " + code, "donʼt " + code, "don＇t " + code, "don`t " + code,
		"don´t " + code, "dont " + code,
		"No; " + code, "no? " + code, "no-" + code, "no — " + code, "no—" + code, "(no) " + code, "nope " + code,
		"no\u00a0" + code,
		"NO… " + code, code + "? no!!", "n\u200bo " + code, "no" + "\n" + code, "cancel " + code, "/cancel " + code,
		"stop: " + code,
		"never " + code, "reject " + code, "do not approve " + code, "yes, no, " + code, "do not deny " + code,
		"/deny\n" + code, "/deny-" + code, "DENY- " + code, "/denied " + code, "/denyit " + code,
		"❌ " + code, "⛔" + code, "👎🏿 " + code, code + "👎",
	} {
		in, err := Parse(s)
		if err != nil || in.Approve || in.Code.Reveal() != code || in.Method == approver.ByPlain {
			t.Errorf("%q does not deny: %+v, %v", s, in, err)
		}
	}
	for _, s := range []string{
		"wait, what is " + code, "nein " + code, "block " + code, "can't approve " + code, "decline " + code,
		"refuse " + code, "disapprove " + code,
		"dis-approve " + code, "ｎｏ " + code, "go ahead: " + code, code + "?", "ok？ " + code, "~~" + code + "~~",
		"🚫 " + code, "🔥 " + code, "yes 2 " + code,
		"не " + code, "no\u0301 " + code, "> " + code, "confirm-dialog " + code,
		"yes \xff " + code,
	} {
		in, err := Parse(s)
		if !errors.Is(err, ErrUnclear) || in.Approve || !in.Code.IsZero() || in.Method != approver.ByCode {
			t.Errorf("%q is not unclear: %+v, %v", s, in, err)
		}
	}
	// Channels that know the errors of codes alone must not take it for talk.
	if !errors.Is(ErrUnclear, tokens.ErrForm) || errors.Is(ErrUnclear, ErrNotAnAnswer) ||
		!strings.Contains(ErrUnclear.Error(), "/deny and the code") {
		t.Errorf("ErrUnclear is %v", ErrUnclear)
	}
	for _, s := range []string{"please confirm payment", "confirm changes", "can you confirm request 12?"} {
		if in, err := Parse(s); !errors.Is(err, ErrNotAnAnswer) {
			t.Errorf("ordinary talk %q gives %+v, %v", s, in, err)
		}
	}
}
