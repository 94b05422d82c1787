package channeltest

import (
	"context"
	"sync"
	"testing"

	"approver.example"
)

// checkOverheard: a code that leaked is typed by somebody who does not count. That they had it is to be known.
func checkOverheard(t *testing.T, m maker) {
	b, card, ref := posted(t, m, high)
	hearer, is := b.Channel.(approver.Overhearer)
	if !is {
		return
	}
	var mu sync.Mutex
	var heard []approver.Reply
	hearer.Overhear(func(_ context.Context, r approver.Reply) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, r)
	})
	b.Fake.Type(b.Stranger, ref.Conversation, card.Code.Reveal()+" please")
	b.Fake.Type(b.Stranger, ref.Conversation, "/deny "+card.Code.Reveal()) // where the platform shows no other texts
	b.eventually("the codes", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(heard) >= 1
	})
	b.noReply("a code that counts for nothing")
	mu.Lock()
	defer mu.Unlock()
	for _, r := range heard {
		if !r.Code.Equal(card.Code) || r.Sender != b.Stranger || r.Conversation != ref.Conversation ||
			r.Channel != ref.Channel || r.Approve {
			t.Errorf("reported is %+v", r)
		}
	}
}
