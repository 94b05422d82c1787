package receiving

import (
	"context"
	"sync/atomic"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// overheardWithin bounds how long the core may take over a code that counts for nothing.
const overheardWithin = 5 * time.Second

// Overheard reports codes that count for nothing. The zero value reports none. It is safe for concurrent use.
type Overheard struct {
	tell atomic.Pointer[func(context.Context, approver.Reply)]
}

// Overhear implements [approver.Overhearer].
func (o *Overheard) Overhear(tell func(context.Context, approver.Reply)) { o.tell.Store(&tell) }

// Note reports the code in a text, if it has one; r says who sent it, and where.
func (o *Overheard) Note(ctx context.Context, text string, r approver.Reply) {
	tell := o.tell.Load()
	code, err := tokens.Find(text)
	if tell == nil || err != nil {
		return
	}
	r.Method, r.Code = approver.ByCode, code
	ctx, cancel := context.WithTimeout(ctx, overheardWithin)
	defer cancel()
	(*tell)(ctx, r)
}
