package approver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// byID is Alice's yes to the request of the first card, given by its id.
func (x *bench) byID(shown int) Outcome {
	_, card := x.tg.card(0)
	return x.Answers.Reply(x.t.Context(), Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: ByID, Request: card.Request, Shown: shown})
}

// page is the request of the first card as approver show has it.
func (x *bench) page() (Request, Card, int) {
	_, card := x.tg.card(0)
	r, err := x.Requests.Get(x.t.Context(), card.Request)
	if err != nil {
		x.t.Fatal(err)
	}
	c, upto := x.Cards.Shown(r)
	return r, c, upto
}

// Three identical calls waited. approver approve ID, approver show ID and root's terminal
// showed one call and not a word of the others; the yes ran all three. The text says now
// how many a yes runs, and the yes is for those, by whichever way it comes.
func TestAYesWithoutACardIsForWhatWasRead(t *testing.T) {
	answer := func(m Method) func(x *bench, shown int) Outcome {
		return func(x *bench, shown int) Outcome {
			msg, card := x.tg.card(0)
			rep := Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: m, Request: card.Request, Shown: shown}
			switch m {
			case ByTap, ByTyped:
				rep.Message = msg
			case ByPlain:
				rep.Message, rep.Sent = msg, time.Now()
			case ByCode, ByCommand:
				rep.Code, rep.Sent = card.Code, time.Now()
			case ByID, NoMethod:
			}
			return x.Answers.Reply(x.t.Context(), rep)
		}
	}
	root := func(x *bench, shown int) Outcome {
		_, card := x.tg.card(0)
		x.Approvers.Set(People{}) // nobody else can
		return x.Answers.OwnerApproves(x.t.Context(), card.Request, shown)
	}
	all, first := []string{"a", "b", "c"}, []string{"a"}
	for name, c := range map[string]struct {
		sev    Severity
		edits  bool // the card says how many wait
		joins  bool // one more call comes after it was read
		shown  func(upto int) int
		answer func(x *bench, shown int) Outcome
		runs   []string
	}{
		"by id":                          {High, true, false, nil, answer(ByID), all},
		"by id, no card was edited":      {High, false, false, nil, answer(ByID), all},
		"by id, another joins meanwhile": {High, true, true, nil, answer(ByID), all},
		"by id, without a count":         {High, true, false, func(int) int { return 0 }, answer(ByID), first},
		"by id, an older count":          {High, true, false, func(n int) int { return n - 1 }, answer(ByID), []string{"a", "b"}},
		"by id, a negative count":        {High, true, false, func(int) int { return -1 }, answer(ByID), first},
		"by id, far more than wait":      {High, true, false, func(int) int { return 1 << 30 }, answer(ByID), all},
		"root":                           {High, true, false, nil, root, all},
		"root, no card was edited":       {High, false, false, nil, root, all},
		"root, another joins meanwhile":  {High, false, true, nil, root, all},
		"root, without a count":          {High, true, false, func(int) int { return 0 }, root, first},
		"root, catastrophic":             {Catastrophic, true, false, nil, root, first},
		"a tap":                          {High, true, false, nil, answer(ByTap), all},
		"a tap with a count":             {High, false, false, nil, answer(ByTap), first},
		"a plain yes with a count":       {High, false, false, nil, answer(ByPlain), first},
		"a code with a count":            {High, false, false, nil, answer(ByCode), first},
		"a command with a count":         {High, false, true, nil, answer(ByCommand), first},
		"a tap on a version before":      {High, true, false, func(n int) int { return n - 1 }, answer(ByTap), []string{"a", "b"}},
		"a tap on the first version":     {High, true, false, func(int) int { return 0 }, answer(ByTap), first},
		"a tap, another joins meanwhile": {High, true, true, nil, answer(ByTap), all},
		"a code":                         {High, true, false, nil, answer(ByCode), all},
		"a command":                      {High, true, false, nil, answer(ByCommand), all},
		"a plain yes":                    {High, true, false, nil, answer(ByPlain), all},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				x.failEdits(!c.edits)
				x.several(t.Context(), 3, c.sev)
				_, shown, upto := x.page()
				says, told := "3 identical calls wait: a yes runs each of them once.", fmt.Sprintf("Approved: %d identical calls released to the agent, once each.", len(c.runs))
				if c.sev != High {
					says = "3 identical calls wait: a yes runs one, the others are asked again."
				}
				if len(c.runs) == 1 {
					told = "Approved: released to the agent, this once."
				}
				if !strings.HasPrefix(shown.Notice, says) || !shown.Code.IsZero() || upto != 2 {
					t.Fatalf("shown %q, up to %d", shown.Notice, upto)
				}
				if c.joins {
					x.failEdits(true)
					x.askAsync(t.Context(), peerCall("late", 1000), c.sev)
					time.Sleep(3 * time.Second)
				}
				if c.shown != nil {
					upto = c.shown(upto)
				}
				if out := c.answer(x, upto); out.Kind != OutcomeApproved || out.Text != told {
					t.Errorf("%+v, want %q", out, told)
				}
				time.Sleep(5 * time.Second)
				if got := x.audit.released(); !slices.Equal(got, c.runs) {
					t.Errorf("released %v, want %v", got, c.runs)
				}
			})
		})
	}
}

// failEdits has every card that waits stay as it is.
func (x *bench) failEdits(fail bool) {
	var update func(Card) error
	if fail {
		update = func(c Card) error {
			if c.State == Pending {
				return errBad
			}
			return nil
		}
	}
	synctest.Wait()
	x.tg.onUpdate(update)
	x.dc.onUpdate(update)
}

// Of a request that is over, parked or asked about alone, the text counts nothing.
func TestWhatIsShownByIDCountsWhoWaits(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.askAsync(t.Context(), peerCall("a", 1000), High)
		synctest.Wait()
		if _, c, upto := x.page(); c.Notice != "" || upto != 0 {
			t.Errorf("alone: %q, %d", c.Notice, upto)
		}
		b := x.askAsync(t.Context(), peerCall("b", 1000), High)
		time.Sleep(3 * time.Second)
		r, c, upto := x.page()
		if !strings.HasPrefix(c.Notice, "2 identical calls wait") || upto != 1 {
			t.Errorf("two: %q, %d", c.Notice, upto)
		}
		r.Parked = true
		if c, _ := x.Cards.Shown(r); strings.Contains(c.Notice, "wait") {
			t.Errorf("parked: %q", c.Notice)
		}
		x.byID(upto)
		<-b
		time.Sleep(time.Minute)
		if _, c, _ := x.page(); strings.Contains(c.Notice, "wait") || !strings.Contains(c.Result, "2 identical calls, once each") {
			t.Errorf("over: %q, %q", c.Notice, c.Result)
		}
	})
}

// A terminal was closed and opened again, so that its first card is void. A yes by id was
// weighed with the void card, which nobody sees. It goes by one that is not.
func TestAnAnswerByIDSkipsVoidCards(t *testing.T) {
	for name, c := range map[string]struct {
		phases []Phase
		want   OutcomeKind
	}{
		"posted": {[]Phase{Posted}, OutcomeApproved}, "failed": {[]Phase{Failed}, OutcomeApproved}, "on its way": {[]Phase{Sending}, OutcomeApproved},
		"void, then posted": {[]Phase{Void, Posted}, OutcomeApproved}, "void, then on its way": {[]Phase{Void, Void, Sending}, OutcomeApproved},
		"void alone": {[]Phase{Void}, OutcomeUnknown}, "void twice": {[]Phase{Void, Void}, OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				x.askAsync(t.Context(), peerCall("a", 1000), High)
				synctest.Wait()
				_, card := x.tg.card(0)
				_, err := x.Requests.change(t.Context(), card.Request, func(r Request, now time.Time) (Request, error) {
					here := r.Postings[slices.IndexFunc(r.Postings, func(p Posting) bool { return p.To.Channel == "telegram" })]
					r.Postings = nil
					for _, phase := range c.phases {
						here.Phase, here.Until = phase, now.Add(time.Hour)
						r.Postings = append(r.Postings, here)
					}
					return r, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if out := x.byID(0); out.Kind != c.want {
					t.Errorf("%+v", out)
				}
			})
		})
	}
}
