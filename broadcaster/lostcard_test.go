package broadcaster

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
	"github.com/google/uuid"
)

// loseRequests takes every request out of the store, as a store without a log does when
// it is killed, and returns what brings them back.
func (x *bench) loseRequests() (restore func()) {
	x.kv.mu.Lock()
	defer x.kv.mu.Unlock()
	kept := maps.Clone(x.kv.records)
	maps.DeleteFunc(x.kv.records, func(key string, _ memRecord) bool { return strings.Contains(key, ":req:") })
	return func() {
		x.kv.mu.Lock()
		defer x.kv.mu.Unlock()
		x.kv.records = kept
	}
}

func (x *bench) pressAs(request, message string) approver.Outcome {
	return x.Answers.Reply(x.t.Context(), approver.Reply{
		Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByTap, Request: request,
		Message: message,
	})
}

// The story: the store lost its data, and with it requests whose cards are on the phones.
// Their buttons and their "until" stayed for ever, and each tap was told that there is no
// such request. Now the call that still waits is put before people anew and its old card
// is taken out of sight at once; any other card is, when somebody taps it.
func TestCardsOfALostRequestGoOutOfSight(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.loseRequests()
		time.Sleep(30 * time.Second) // so long its call id may be on its way
		if _, card := x.tg.card(0); x.tg.count() != 2 || card.OneTap || !card.Code.IsZero() ||
			!strings.Contains(card.Result, "Replaced") {
			t.Fatalf("%d cards, the old one shows %+v", x.tg.count(), card)
		}
		if out := x.tap(x.tg, 1, "1", true); out.Kind != approver.OutcomeApproved {
			t.Errorf("the new card: %+v", out)
		}
		<-answer
	})
}

// idOfNow is an id of this moment of the test's clock. The library's own never goes back,
// and other tests have been later.
func idOfNow() string {
	id := uuid.New()
	for i, ms := 5, time.Now().UnixMilli(); i >= 0; i, ms = i-1, ms>>8 {
		id[i] = byte(ms)
	}
	id[6] = 0x70 | id[6]&0x0f
	return id.String()
}

// idFromHere is an id of this moment as the bench makes one.
func (x *bench) idFromHere() string {
	id, mark := uuid.MustParse(idOfNow()), x.sealer.Mark()
	copy(id[markAt:], mark[:])
	return id.String()
}

// What a tap on the card of a request does that the store does not have: a young one that
// was made elsewhere may be an open one of another installation with the same bot, so
// its buttons stay.
func TestATapOnACardOfNoRequest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		request func(id string) string
		wait    time.Duration // from when the id was made
		void    bool
	}{
		"another daemon's":              {func(id string) string { return id }, time.Minute, false},
		"too old to be open anywhere":   {func(id string) string { return id }, foreignFor + time.Minute, true},
		"another spelling of its id":    {func(id string) string { return "urn:uuid:" + id }, foreignFor + time.Minute, true},
		"an id that has no time":        {func(string) string { return uuid.NewString() }, foreignFor + time.Minute, false},
		"no id at all":                  {func(string) string { return "first" }, foreignFor + time.Minute, false},
		"half an id":                    {func(id string) string { return id[:18] }, foreignFor + time.Minute, false},
		"an id with something after it": {func(id string) string { return id + "0" }, foreignFor + time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				request := tt.request(idOfNow())
				time.Sleep(tt.wait)
				x.tg.put("m", approver.Card{Request: request, OneTap: true})
				out := x.pressAs(request, "m")
				time.Sleep(5 * time.Second)
				card := x.tg.at("m")
				if out.Kind != approver.OutcomeUnknown || strings.Contains(out.Text, "void") != tt.void ||
					card.OneTap == tt.void || (card.State == approver.Withdrawn) != tt.void {
					t.Errorf("%+v, the card shows %+v", out, card)
				}
			})
		})
	}
}

// The story: Redis lost all that it had, and the daemon had been started anew since the cards were
// posted. For an hour every tap was told only that there is no such request, and the cards kept
// their buttons. The mark in a request's id says that it was made here, so the first tap takes them
// off: also that of an approver who wants something else than to answer, but nobody else's.
func TestTheFirstTapOnALostCardTakesItsButtons(t *testing.T) {
	t.Parallel()
	other := composed(Options{CodeKey: []byte(strings.Repeat("o", 32))})
	for name, tt := range map[string]struct {
		change func(x *bench, rep *approver.Reply)
		void   bool
	}{
		"yes":       {func(_ *bench, rep *approver.Reply) { rep.Approve = true }, true},
		"no":        {func(*bench, *approver.Reply) {}, true},
		"details":   {func(_ *bench, rep *approver.Reply) { rep.Want = approver.WantDetails }, true},
		"more time": {func(_ *bench, rep *approver.Reply) { rep.Want = approver.WantTime }, true},
		"not mine":  {func(_ *bench, rep *approver.Reply) { rep.Want = approver.WantDisown }, true},
		"edit":      {func(_ *bench, rep *approver.Reply) { rep.Want = approver.WantEdit }, true},
		"a key that was replaced": {func(x *bench, _ *approver.Reply) {
			sealer, err := sealing.New([]byte(strings.Repeat("n", 32)), x.CodeKey)
			if x.Requests.sealer = sealer; err != nil {
				x.t.Fatal(err)
			}
		}, true},
		"a stranger":                   {func(_ *bench, rep *approver.Reply) { rep.Sender = "666" }, false},
		"a message":                    {func(_ *bench, rep *approver.Reply) { rep.Method = approver.ByPlain }, false},
		"no message":                   {func(_ *bench, rep *approver.Reply) { rep.Message = "" }, false},
		"made by another installation": {func(x *bench, _ *approver.Reply) { x.Requests.sealer = other.sealer }, false},
		"the store is away": {func(x *bench, _ *approver.Reply) {
			x.kv.failing(func(string, string) error { return approver.ErrAway })
		}, false},
		"the store is away when the card is looked at again": {func(x *bench, _ *approver.Reply) {
			began := time.Now()
			x.kv.failing(func(string, string) error {
				if time.Since(began) > time.Second {
					return approver.ErrAway
				}
				return nil
			})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				rep := approver.Reply{
					Channel: "telegram", Conversation: "T", Sender: "1", Method: approver.ByTap, Request: x.idFromHere(), Message: "m",
				}
				x.tg.put("m", approver.Card{Request: rep.Request, OneTap: true})
				tt.change(x, &rep)
				out := x.Answers.Reply(t.Context(), rep)
				time.Sleep(5 * time.Second)
				if card := x.tg.at("m"); (card.State == approver.Withdrawn) != tt.void || card.OneTap == tt.void {
					t.Errorf("%+v, the card shows %+v", out, card)
				}
				if tt.void && !strings.Contains(out.Text, "approver has no record of its request any more") {
					t.Errorf("they are told %q", out.Text)
				}
			})
		})
	}
}

// The story: the data of a button come through the client. An approver's program sent the id of a
// request that the store had long forgotten, from the message of a card that waited, to take the
// others' buttons off it.
func TestAForgottenIDTakesNoButtonsFromALivingCard(t *testing.T) {
	for name, change := range map[string]func(r *Request, message string){
		"a card that is noted": func(*Request, string) {},
		"one that is just being posted": func(r *Request, _ string) {
			r.Postings = slices.Clone(r.Postings)
			for i := range r.Postings {
				r.Postings[i].Phase, r.Postings[i].Ref.Message = Sending, ""
			}
		},
		"one whose post was never confirmed": func(r *Request, _ string) {
			r.Postings = slices.Clone(r.Postings)
			for i := range r.Postings {
				r.Postings[i].Unsure, r.Postings[i].Ref.Message = true, "another"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				message, card := x.tg.card(0)
				r := x.loaded(card.Request)
				change(&r, message)
				x.put(t, r)
				x.pressAs(x.idFromHere(), message)
				time.Sleep(5 * time.Second)
				if got := x.tg.at(message); !got.OneTap || got.State != approver.Pending {
					t.Errorf("the card shows %+v", got)
				}
				x.stop()
				<-answer
			})
		})
	}
}

// The story: a former primary answered for a moment, and knew nothing of the request. The
// card must keep its buttons, for the request is there again.
func TestACardWhoseRequestComesBackKeepsItsButtons(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		message, card := x.tg.card(0)
		restore := x.loseRequests()
		if out := x.pressAs(card.Request, message); out.Kind != approver.OutcomeUnknown ||
			!strings.Contains(out.Text, "void") {
			t.Errorf("while it is gone: %+v", out)
		}
		restore()
		time.Sleep(time.Minute)
		if _, card := x.tg.card(0); card.Result != "" || !card.OneTap {
			t.Errorf("the live card shows %+v", card)
		}
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeApproved {
			t.Errorf("once it is back: %+v", out)
		}
		<-answer
	})
}

// The story: two daemons share a store. One posts, and Telegram's answer is lost; the
// other receives the taps. The tap counts there, the first stops trying, and the card is
// brought up to date.
func TestALostCardIsTakenUpByAnotherDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newRetried(t, kv, append([]step{{err: errBad, taken: true}}, always(step{err: errBad})...),
			always(step{err: errRefusedForGood}))
		y := newRetried(t, kv, nil, nil)
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(5 * time.Second)
		message, card := x.tg.card(0)
		if out := y.pressAs(card.Request, message); out.Kind != approver.OutcomeApproved {
			t.Errorf("%+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("verdict %v %s", v.Decision, v.Reason)
		}
		tried := len(x.tg.times())
		time.Sleep(time.Minute)
		if len(x.tg.times()) != tried || y.tg.count() != 0 {
			t.Errorf("it was tried %d times more", len(x.tg.times())-tried)
		}
		shown := x.tg.at(message)
		if !shown.State.Settled() {
			shown = y.tg.at(message) // whichever was first edits the one message that there is
		}
		if !shown.State.Settled() {
			t.Errorf("the card shows %+v", shown)
		}
	})
}

// A yes that waits for the agent to come back is shown on a card that was found, too.
func TestALostCardShowsAYesThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRetried(t, newMemKV(), append([]step{{err: errBad, taken: true}}, always(step{err: errBad})...), nil)
		call := testCall("c1")
		call.ParkAt = time.Now().Add(10 * time.Second)
		<-x.askAsync(t.Context(), call, approver.High)
		message, _ := x.tg.card(0)
		if out := x.press(message, true); out.Kind != approver.OutcomeRecorded {
			t.Fatalf("%+v", out)
		}
		time.Sleep(time.Second)
		if _, card := x.tg.card(0); card.OneTap || !strings.Contains(card.Result, "waits for the agent") {
			t.Errorf("the card shows %+v", card)
		}
		again := testCall("c2")
		if v := <-x.askAsync(t.Context(), again, approver.High); v.Decision != approver.Allow {
			t.Errorf("verdict %v %s", v.Decision, v.Reason)
		}
		x.settledAll()
	})
}

// An approver with a client of their own presses a living card with the id of no request, and approves it.
func TestAForgedIDDoesNotRewriteTheCardOfWhatRan(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		id, card := x.tg.card(0)
		forged, _ := uuid.NewV7()
		mark := x.Requests.sealer.Mark()
		copy(forged[markAt:], mark[:])
		bad := tapOf(id, card, true)
		bad.Request = forged.String()
		x.Answers.Reply(t.Context(), bad)
		x.Answers.Reply(t.Context(), tapOf(id, card, true))
		<-answer
		time.Sleep(2 * time.Minute)
		_, now := x.tg.card(0)
		if now.Result == forgottenCard("").Result {
			t.Error("the card of a call that ran says that nothing was released")
		}
	})
}
