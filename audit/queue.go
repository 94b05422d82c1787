package audit

import "time"

// A queue holds lines that have their place in the chain and wait to be written. Callers
// of its methods hold the Log's mu.
type queue struct {
	key     Key
	log     string // the log's id
	every   int    // lines between two checkpoints
	end     place  // of the last line that was added
	since   int    // lines after the last checkpoint
	size    int64  // of the file that the next line goes to, with what is queued
	batches []*batch
	spare   []byte        // a buffer to use again
	wake    chan struct{} // gets a signal when somebody waits for a line
	follow  chan struct{} // gets a signal when the first line comes that may wait for later ones, see followWithin
	soon    chan struct{} // the same, see groupWithin
	writing *batch        // what is being made durable
}

// A batch is what one write and one sync make durable.
type batch struct {
	buf    []byte
	end    place
	rotate bool          // the file is full after it
	since  time.Time     // when the first line came that follows the store; zero if none does
	passes int           // lines of calls that run meanwhile, see Log.Pass
	passed time.Time     // when the first of them came
	waited bool          // somebody waits for a line
	done   chan struct{} // closed when it is durable, or err says why not
	err    error
}

// line appends body, and a checkpoint if one is due.
func (q *queue) line(body []byte) (*batch, digest, error) {
	b := q.append(body)
	hash := q.end.hash
	q.since++
	// The second line is a checkpoint, so that every log of two lines is signed.
	if q.since >= q.every || q.end.seq == 1 {
		if err := q.sign(); err != nil {
			return nil, digest{}, err
		}
	}
	return b, hash, nil
}

// append seals body into the batch that is being filled.
func (q *queue) append(body []byte) *batch {
	b := q.current()
	before := len(b.buf)
	b.buf = seal(b.buf, body, q.log, &q.end)
	b.end = q.end
	q.size += int64(len(b.buf) - before)
	return b
}

// sign appends a checkpoint.
func (q *queue) sign() error {
	body, err := appendCheckpoint(nil, q.key, q.log, q.end, time.Now())
	if err != nil {
		return err
	}
	q.append(body)
	q.since = 0
	return nil
}

// endFile makes the queue continue in a new file.
func (q *queue) endFile() error {
	if q.since > 0 {
		if err := q.sign(); err != nil {
			return err
		}
	}
	q.current().rotate = true
	q.size = 0
	return nil
}

// current is the batch that is being filled. It starts one if there is none, or if the
// file is full.
func (q *queue) current() *batch {
	b := q.last()
	if b == nil || b.rotate {
		b = &batch{buf: q.spare[:0], end: q.end, done: make(chan struct{})}
		q.batches, q.spare = append(q.batches, b), nil
	}
	return b
}

// last is the batch that is being filled; nil if there is none.
func (q *queue) last() *batch {
	if len(q.batches) == 0 {
		return nil
	}
	return q.batches[len(q.batches)-1]
}

// behind is since when a line that follows the store waits to be durable; zero if none does.
func (q *queue) behind() time.Time { return q.oldest(func(b *batch) time.Time { return b.since }) }

// passBehind is behind for the lines of calls that run meanwhile.
func (q *queue) passBehind() time.Time { return q.oldest(func(b *batch) time.Time { return b.passed }) }

// oldest is the time of the oldest batch that has one; zero if none has.
func (q *queue) oldest(of func(*batch) time.Time) time.Time {
	if q.writing != nil && !of(q.writing).IsZero() {
		return of(q.writing)
	}
	for _, b := range q.batches {
		if at := of(b); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// hurries reports whether somebody waits for the next batch, or for one after it.
func (q *queue) hurries() bool {
	return len(q.batches) > 1 || len(q.batches) == 1 && q.batches[0].waited
}

// first removes and returns the next batch to write; nil if there is none.
func (q *queue) first() *batch {
	if len(q.batches) == 0 {
		return nil
	}
	b := q.batches[0]
	q.batches = append(q.batches[:0], q.batches[1:]...)
	return b
}

// reuse keeps the buffer of a written batch for the next one.
func (q *queue) reuse(b *batch) {
	if q.spare == nil && cap(b.buf) <= MaxLine {
		q.spare = b.buf
	}
	b.buf = nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
