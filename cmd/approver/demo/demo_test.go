package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
)

// The demo checks itself; here it has to, on both stores and for programs.
func TestDemo(t *testing.T) {
	for _, o := range []Options{{}, {Redis: true, JSON: true}} {
		var out strings.Builder
		o.Out, o.Program = &out, program
		start := time.Now()
		if err := Run(t.Context(), o); err != nil {
			t.Errorf("demo with %+v: %v\n%s", o, err, out.String())
		}
		// Seven seconds on a machine with nothing else to do, under 20 by promise.
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("it took %v", took)
		}
		if o.JSON {
			checkEvents(t, out.String())
		}
	}
}

var (
	isID   = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	isHash = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// checkEvents: every line is an event that the help explains, and from the
// question to the end of its scene each has the request and an audit hash.
func checkEvents(t *testing.T, out string) {
	t.Helper()
	seen, request, ok := map[string]int{}, "", false
	for line := range strings.Lines(out) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		seen[e.Event]++
		switch e.Event {
		case "step", "result":
			request = ""
			ok = e.Event == "result" && *e.OK && *e.Failed == 0
		case "asked":
			request = e.Request
		case "card":
			if open := strings.Contains(e.Text, "CONFIRM-"); open != (len(e.Buttons) > 0) || e.App == "" || e.Message == "" ||
				e.Push == "" {
				t.Errorf("a card: %s", line)
			}
		case "answer":
			checkAnswer(t, e)
		}
		if !regexp.MustCompile(`(?m)(^|, )` + e.Event + `\b`).MatchString(Events) {
			t.Errorf("%s is not explained", e.Event)
		}
		if e.Request != request || request != "" && (!isID.MatchString(e.Request) || !isHash.MatchString(e.Audit)) {
			t.Errorf("not of request %s with an audit hash: %s", request, line)
		}
	}
	if seen["asked"] != 6 || seen["answer"] != 6 || seen["card"] != 9 || seen["refused"] != 2 || seen["expired"] != 1 ||
		seen["released"]+seen["denied"] != 5 || seen["result"] != 1 || !ok {
		t.Errorf("events %v, the last is a good result: %v", seen, ok)
	}
}

func checkAnswer(t *testing.T, e event) {
	t.Helper()
	var native struct {
		Hook struct {
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	err := json.Unmarshal(e.Answer, &native)
	if err != nil || e.Exit == nil || e.Seconds == nil || (native.Hook.Decision == "allow") != (*e.Exit == 0) {
		t.Errorf("an answer: %v, %+v", err, e)
	}
}

// Cards show the words that the apps' own servers have for their buttons.
func TestShowHasTheRealLabels(t *testing.T) {
	var out strings.Builder
	w := staged(t, Options{Out: &out})
	w.hook("rm -rf /srv", "")
	cards, err := w.newCards()
	if err != nil {
		t.Fatal(err)
	}
	w.show(cards)
	for i, c := range cards {
		if len(c.Labels) == 0 || len(c.Labels) != len(c.Buttons) {
			t.Errorf("card %d has labels %q", i, c.Labels)
		}
		for _, label := range c.Labels {
			if !strings.Contains(out.String(), "[ "+label+" ]") {
				t.Errorf("%q is not shown:\n%s", label, out.String())
			}
		}
	}
}

func TestButtonRows(t *testing.T) {
	for want, labels := range map[string][]string{
		"":                     nil,
		"[ Deny ] [ Details ]": {"Deny", "Details"},
		"[ ✅ Approve once ] [ ⛔ Deny ]\n[ 🔎 Details ]": {"✅ Approve once", "⛔ Deny", "🔎 Details"},
	} {
		if got := buttonRows(labels, maxPanel); got != want {
			t.Errorf("%q: got %q, want %q", labels, got, want)
		}
	}
}

// Emojis of buttons that take two columns do not push out the frame of a panel.
func TestWidthOfEmojis(t *testing.T) {
	for text, want := range map[string]int{
		"✋ Deny, say why…": 17, "⏱ More time": 11, "🕒 Approve 15 min": 17, "👤": 2, "⚠️": 1,
	} {
		if got := width(text); got != want {
			t.Errorf("%q: %d columns, want %d", text, got, want)
		}
	}
}

// A spoilt platform is one on which something that the show relies on does not
// happen.
type spoilt struct {
	fake.Platform
	noForge, noTap, mute bool
}

func (s spoilt) Forge(user, conversation, message, request string, b fake.Button) bool {
	return !s.noForge && s.Platform.Forge(user, conversation, message, request, b)
}

func (s spoilt) Tap(user, conversation, message string, b fake.Button) error {
	if s.noTap {
		return errors.New("the button is gone")
	}
	return s.Platform.Tap(user, conversation, message, b)
}

func (s spoilt) Told(user string) []string {
	if s.mute {
		return nil
	}
	return s.Platform.Told(user)
}

// A check that cannot be made has failed.
func TestNothingIsSkipped(t *testing.T) {
	w := staged(t, Options{})
	honest := w.apps[0].fake
	w.apps[0].fake = spoilt{Platform: honest, noForge: true}
	if err := w.catastrophe(); err != nil || w.failed != 1 {
		t.Errorf("without the refused tap: %v, %d failed", err, w.failed)
	}
	w.apps[0].fake = honest
	late := func(mute bool) {
		for _, a := range w.apps {
			a.fake = spoilt{Platform: a.fake, noTap: true, mute: mute}
		}
	}
	w.failed = 0
	late(false)
	if err := w.photoFinish(); err != nil || w.failed != 0 {
		t.Errorf("two late thumbs: %v, %d failed", err, w.failed)
	}
	late(true)
	if err := w.photoFinish(); err == nil || !strings.Contains(err.Error(), "is told on") {
		t.Errorf("nobody is told, and the demo says %v", err)
	}
}

// The servers' own logs must have exactly what the show made.
func TestProofIsExact(t *testing.T) {
	w := staged(t, Options{})
	log := w.apps[0].log
	for what, spoil := range map[string][]string{"a post too many": {"sendMessage 200"},
		"an edit too many": {"editMessageText 200"}} {
		w.failed = 0
		w.apps[0].log = func() []string { return append(log(), spoil...) }
		if err := w.proof(); err != nil || w.failed != 1 {
			t.Errorf("%s: %v, %d failed", what, err, w.failed)
		}
		w.asked["slack"]++ // and one that was never posted
		if w.failed = 0; w.proof() != nil || w.failed != 2 {
			t.Errorf("a post too few: %d failed", w.failed)
		}
		w.asked["slack"]--
	}
}

// Whoever is at the keyboard answers as whom and where they like, until one
// answer counts.
func TestInteractive(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string // an app's name in capitals is the code of its card
		want  []string
	}{
		"yes": {[]string{"alice telegram yes"},
			[]string{"Alice hears: Approved", "Approved once by Alice via Telegram"}},
		"no, as Bob": {[]string{"", "nonsense", "mallory slack yes", "discord", "no bob discord"},
			[]string{`"nonsense" is not understood`, `"mallory"`, "bob discord yes", "Denied by Bob via Discord"}},
		"a code": {[]string{"bob slack CONFIRM-AAAAAA", "discord yes"},
			[]string{"Bob hears: ", "Approved once by Alice via Discord"}},
		"a typed code": {[]string{"bob telegram CONFIRM-AAAAAA", "bob telegram TELEGRAM"},
			[]string{"Approved once by Bob via Telegram"}},
		"a modal":       {[]string{"bob slack SLACK"}, []string{"Approved once by Bob via Slack"}},
		"two":           {[]string{"alice slack no", "bob slack yes"}, []string{"Denied by Alice via Slack"}},
		"nobody":        {nil, []string{"Nobody is at the keyboard", "the log says expired, by nobody"}},
		"leaves midway": {[]string{"nonsense"}, []string{"Silence is a no", "the log says expired, by nobody"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			o := Options{Out: &out}
			if name == "leaves midway" {
				o.patience = shortTTL
			}
			w := staged(t, o)
			lines := make(chan string)
			go func() {
				defer close(lines)
				for _, line := range c.lines {
					for _, a := range w.apps {
						if place := strings.ToUpper(a.channel); strings.Contains(line, place) {
							_ = w.wait(30*time.Second, "there is a card", func() bool { return len(a.cards()) > 0 })
							line = strings.Replace(line, place, codeIn(a.cards()[0].Text), 1)
						}
					}
					select {
					case lines <- line:
					case <-t.Context().Done():
					}
				}
			}()
			time.Sleep(10 * time.Millisecond) // a closed input is known to be one by then
			if err := w.interactive(lines); err != nil {
				t.Errorf("%v\n%s", err, out.String())
			}
			if err := w.proof(); err != nil || w.failed > 0 {
				t.Errorf("%v, %d failed\n%s", err, w.failed, out.String())
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
		})
	}
}

// The last line says that it was not all right, and so does the error.
func TestResultOfAFailure(t *testing.T) {
	var out strings.Builder
	err := Run(t.Context(), Options{JSON: true, Out: &out, Program: "/nonexistent/approver"})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var last event
	if jsonErr := json.Unmarshal([]byte(lines[len(lines)-1]), &last); jsonErr != nil || err == nil ||
		last.Event != "result" || *last.OK {
		t.Errorf("error %v, %v, the last line: %+v", err, jsonErr, fmt.Sprint(lines))
	}
}

// A show that goes wrong in the middle ends its hooks too.
func TestTearDownEndsHooks(t *testing.T) {
	w := newWorld(t.Context(), Options{Out: io.Discard, Program: program})
	if err := w.build(Options{}); err != nil {
		t.Fatal(err)
	}
	hook := w.hook("git push --force origin main", "")
	_, err := w.newCards()
	if err := errors.Join(err, w.tearDown()); err != nil || len(hook) != 1 {
		t.Errorf("%v; the hook has ended: %v", err, len(hook) == 1)
	}
}
