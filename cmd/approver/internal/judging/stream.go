package judging

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/reflexcore"
)

// Stream judges the input line by line, and returns how many lines were not understood. It
// keeps one line in memory.
func (j *Judge) Stream(ctx context.Context, in io.Reader, out io.Writer) (bad int, err error) {
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriterSize(out, 64<<10)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	var line []byte
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return bad, errors.Join(err, w.Flush())
		}
		var tooLong bool
		line, tooLong, err = readLine(r, line[:0])
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !tooLong) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return bad, errors.Join(err, w.Flush())
		}
		if !tooLong && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var answer any
		if tooLong {
			answer = misread{fmt.Sprintf("the line is longer than %d bytes", agents.MaxPayload), n}
		} else if answer, err = j.judgeLine(ctx, line); err != nil {
			answer = misread{err.Error(), n}
		}
		if _, is := answer.(misread); is {
			bad++
		}
		if text, is := answer.(explained); is {
			if err := text.fold(w, j.width); err != nil {
				return bad, err
			}
			continue
		}
		if err := enc.Encode(answer); err != nil {
			return bad, err
		}
		// A caller that sends one call at a time waits for each answer.
		if r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return bad, err
			}
		}
	}
}

// readLine reads a line without its line ending. It reads a line that is too long to its end,
// but keeps nothing of it.
func readLine(r *bufio.Reader, line []byte) (out []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > agents.MaxPayload {
			line, tooLong = line[:0], true
		}
		if !tooLong {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), tooLong, err
		}
	}
}

// judgeLine judges one line.
func (j *Judge) judgeLine(ctx context.Context, line []byte) (any, error) {
	id, ev, err := j.decode(line)
	if err != nil {
		return nil, err
	}
	call := j.placed(ev.Call)
	became := reflexcore.Result{Output: ev.Output, Failed: ev.Failure != ""}
	if ev.Kind == agents.Ran && j.ran != nil {
		j.ran(ctx, call, became)
	}
	if ev.Kind != agents.Decide && ev.Kind != agents.Prompted {
		return judged{ID: id, Decision: approver.Pass.String(), By: "agents",
			Reason: "the event " + ev.Name + " is not a call to decide"}, nil
	}
	var how reflexcore.Explanation
	if j.Explain { // first, because judging adds the call to the memory that it judges by
		how = j.Reflex.Explain(call)
	}
	start := time.Now()
	v, _ := j.Gate.Judge(ctx, call)
	out := judgedAs(id, v, time.Since(start))
	if ev.Response != nil && j.ran != nil { // approver's own lines can have the result of the call
		j.ran(ctx, call, became)
	}
	if !j.Explain {
		return out, nil
	}
	if j.AsJSON {
		out.Reflex, out.Chain = how, v.Chain
		return out, nil
	}
	return explained{call, v, how}, nil
}
