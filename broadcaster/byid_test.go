package broadcaster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// byID is Alice's yes to the request of the first card, given by its id.
func (x *bench) byID(shown int) approver.Outcome {
	_, card := x.tg.card(0)
	return x.Answers.Reply(x.t.Context(), approver.Reply{
		Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByID, Request: card.Request,
		Shown: shown,
	})
}

// page is the request of the first card as approver show has it.
func (x *bench) page() (Request, approver.Card, int) {
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
	answer := func(m approver.Method) func(x *bench, shown int) approver.Outcome {
		return func(x *bench, shown int) approver.Outcome {
			msg, card := x.tg.card(0)
			rep := approver.Reply{
				Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: m, Request: card.Request, Shown: shown,
			}
			switch m {
			case approver.ByTap, approver.ByTyped:
				rep.Message = msg
			case approver.ByPlain:
				rep.Message, rep.Sent = msg, time.Now()
			case approver.ByCode, approver.ByCommand:
				rep.Code, rep.Sent = card.Code, time.Now()
			case approver.ByID, approver.NoMethod:
			}
			return x.Answers.Reply(x.t.Context(), rep)
		}
	}
	root := func(x *bench, shown int) approver.Outcome {
		_, card := x.tg.card(0)
		x.Approvers.Set(approver.People{}) // nobody else can
		return x.Answers.OwnerApproves(x.t.Context(), card.Request, shown)
	}
	all, first := []string{"a", "b", "c"}, []string{"a"}
	for name, c := range map[string]struct {
		sev    approver.Severity
		edits  bool // the card says how many wait
		joins  bool // one more call comes after it was read
		shown  func(upto int) int
		answer func(x *bench, shown int) approver.Outcome
		runs   []string
	}{
		"by id":                          {approver.High, true, false, nil, answer(approver.ByID), all},
		"by id, no card was edited":      {approver.High, false, false, nil, answer(approver.ByID), all},
		"by id, another joins meanwhile": {approver.High, true, true, nil, answer(approver.ByID), all},
		"by id, without a count": {
			approver.High, true, false, func(int) int { return 0 }, answer(approver.ByID), first,
		},
		"by id, an older count": {
			approver.High, true, false, func(n int) int { return n - 1 }, answer(approver.ByID), []string{"a", "b"},
		},
		"by id, a negative count": {
			approver.High, true, false, func(int) int { return -1 }, answer(approver.ByID), first,
		},
		"by id, far more than wait": {
			approver.High, true, false, func(int) int { return 1 << 30 }, answer(approver.ByID), all,
		},
		"root":                          {approver.High, true, false, nil, root, all},
		"root, no card was edited":      {approver.High, false, false, nil, root, all},
		"root, another joins meanwhile": {approver.High, false, true, nil, root, all},
		"root, without a count":         {approver.High, true, false, func(int) int { return 0 }, root, first},
		"root, catastrophic":            {approver.Catastrophic, true, false, nil, root, first},
		"a tap":                         {approver.High, true, false, nil, answer(approver.ByTap), all},
		"a tap with a count":            {approver.High, false, false, nil, answer(approver.ByTap), first},
		"a plain yes with a count":      {approver.High, false, false, nil, answer(approver.ByPlain), first},
		"a code with a count":           {approver.High, false, false, nil, answer(approver.ByCode), first},
		"a command with a count":        {approver.High, false, true, nil, answer(approver.ByCommand), first},
		"a tap on a version before": {
			approver.High, true, false, func(n int) int { return n - 1 }, answer(approver.ByTap), []string{"a", "b"},
		},
		"a tap on the first version": {
			approver.High, true, false, func(int) int { return 0 }, answer(approver.ByTap), first,
		},
		"a tap, another joins meanwhile": {approver.High, true, true, nil, answer(approver.ByTap), all},
		"a code":                         {approver.High, true, false, nil, answer(approver.ByCode), all},
		"a command":                      {approver.High, true, false, nil, answer(approver.ByCommand), all},
		"a plain yes":                    {approver.High, true, false, nil, answer(approver.ByPlain), all},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				x.failEdits(!c.edits)
				x.several(t.Context(), 3, c.sev)
				_, shown, upto := x.page()
				says, told := "3 identical calls wait: a yes runs each of them once.",
					fmt.Sprintf("Approved: %d identical calls released to the agent, once each.", len(c.runs))
				if c.sev != approver.High {
					says = "3 identical calls wait: a yes runs one, the others are asked again."
				}
				if len(c.runs) == 1 {
					told = "Approved: released to the agent, this once."
				}
				if !strings.HasPrefix(warned(shown), says) || !shown.Code.IsZero() || upto != 2 {
					t.Fatalf("shown %q, up to %d", warned(shown), upto)
				}
				if c.joins {
					x.failEdits(true)
					x.askAsync(t.Context(), peerCall("late", 1000), c.sev)
					time.Sleep(3 * time.Second)
				}
				if c.shown != nil {
					upto = c.shown(upto)
				}
				if out := c.answer(x, upto); out.Kind != approver.OutcomeApproved || out.Text != told {
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
	var update func(approver.Card) error
	if fail {
		update = func(c approver.Card) error {
			if c.State == approver.Pending {
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
		x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
		synctest.Wait()
		if _, c, upto := x.page(); warned(c) != "" || upto != 0 {
			t.Errorf("alone: %q, %d", warned(c), upto)
		}
		b := x.askAsync(t.Context(), peerCall("b", 1000), approver.High)
		time.Sleep(3 * time.Second)
		r, c, upto := x.page()
		if !strings.HasPrefix(warned(c), "2 identical calls wait") || upto != 1 {
			t.Errorf("two: %q, %d", warned(c), upto)
		}
		r.Parked = true
		if c, _ := x.Cards.Shown(r); strings.Contains(warned(c), "wait") {
			t.Errorf("parked: %q", warned(c))
		}
		x.byID(upto)
		<-b
		time.Sleep(time.Minute)
		if _, c, _ := x.page(); strings.Contains(warned(c), "wait") ||
			!strings.Contains(c.Result, "2 identical calls, once each") {
			t.Errorf("over: %q, %q", warned(c), c.Result)
		}
	})
}

// A terminal was closed and opened again, so that its first card is void. A yes by id was
// weighed with the void card, which nobody sees. It goes by one that is not.
func TestAnAnswerByIDSkipsVoidCards(t *testing.T) {
	for name, c := range map[string]struct {
		phases []Phase
		want   approver.OutcomeKind
	}{
		"posted": {
			[]Phase{Posted}, approver.OutcomeApproved,
		}, "failed": {[]Phase{Failed}, approver.OutcomeApproved}, "on its way": {[]Phase{Sending}, approver.OutcomeApproved},
		"void, then posted": {
			[]Phase{Void, Posted}, approver.OutcomeApproved,
		}, "void, then on its way": {[]Phase{Void, Void, Sending}, approver.OutcomeApproved},
		"void alone": {[]Phase{Void}, approver.OutcomeUnknown}, "void twice": {[]Phase{Void, Void}, approver.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				x.askAsync(t.Context(), peerCall("a", 1000), approver.High)
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
