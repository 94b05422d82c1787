package judging

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/configs"
	"approver.example/daemon/hooks"
	"approver.example/reflexcore"
	"approver.example/shieldcore"
)

// A Judge judges calls as the daemon would, up to the point where people would
// be asked.
type Judge struct {
	Gate  *approver.Gate
	agent agents.Adapter // of native payloads; nil: lines of our own
	Dir   string         // where a call works that does not say it
	Peer  approver.Peer  // whose a call is that does not say it
	env   map[string]string

	sockets configs.Sockets // of the configuration

	Policy *shieldcore.Policy // among the gate's stages
	Reflex *reflexcore.Engine // the same, nil where only the policy judges

	Explain bool // not verdicts only
	width   int  // of the terminal that shows them; 0: none
	AsJSON  bool

	// ran takes what became of a call; nil: nobody wants to know.
	ran func(ctx context.Context, call approver.ToolCall, r reflexcore.Result)
}

func New(agent string, stages ...approver.Stage) (*Judge, error) {
	j := &Judge{
		Gate: &approver.Gate{Stages: stages, Rewrite: hooks.Rewrite, Log: slog.New(slog.DiscardHandler)},
		Peer: Caller(), env: map[string]string{"HOME": os.Getenv("HOME")},
	}
	j.Dir, _ = os.Getwd() // without one, relative paths are asked about
	if agent != "" {
		var ok bool
		if j.agent, ok = agents.For(agent); !ok {
			return nil, fmt.Errorf("unknown agent %q: this approver knows %v", agent, agents.Names())
		}
	}
	return j, nil
}

// A judged is one line out.
type judged struct {
	ID       json.RawMessage `json:"id"`
	Decision string          `json:"decision"`
	Severity string          `json:"severity,omitempty"` // of an ask and a deny
	By       string          `json:"by,omitempty"`
	Rule     string          `json:"rule,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"` // of a modify
	US       int64           `json:"us"`
	Tier     *uint8          `json:"tier,omitempty"` // of the part that decided
	// How hard the call is to take back, 0 to 100, left out for 0.
	Irreversible uint8              `json:"irreversible,omitempty"`
	Chain        []approver.Finding `json:"chain,omitempty"`  // with --explain: what each part said
	Reflex       any                `json:"reflex,omitempty"` // with --explain
}

// A misread is the line out for one that was not understood.
type misread struct {
	Error string `json:"error"`
	Line  int    `json:"line"`
}

// Stream judges line by line, and returns how many were not understood. It keeps
// one line in memory.
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
		} else if answer, err = j.line(ctx, line); err != nil {
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
		// Whoever feeds one call at a time waits for its answer.
		if r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return bad, err
			}
		}
	}
}

// readLine reads a line without its end. Of one that is too long nothing is
// kept, but all of it is read.
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

// line judges one line.
func (j *Judge) line(ctx context.Context, line []byte) (any, error) {
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
		return judged{ID: id, Decision: approver.Pass.String(), By: "agents", Reason: "the event " + ev.Name + " is not a call to decide"}, nil
	}
	var how reflexcore.Explanation
	if j.Explain { // first: what the verdict remembers of this call is not what it was judged by
		how = j.Reflex.Explain(call)
	}
	start := time.Now()
	v, _ := j.Gate.Judge(ctx, call)
	out := judgedAs(id, v, time.Since(start))
	if ev.Response != nil && j.ran != nil { // a line of our own says what came of it
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

// placed adds what only the daemon knows, as it is here.
func (j *Judge) placed(call approver.ToolCall) approver.ToolCall {
	if !call.Peer.Known {
		call.Peer = j.Peer
	}
	call.Env, call.At = j.envOf(call.Peer), time.Now()
	return call
}

func judgedAs(id json.RawMessage, v approver.Verdict, took time.Duration) judged {
	out := judged{ID: id, Decision: v.Decision.String(), By: v.By, Rule: v.Rule, Reason: v.Reason, US: took.Microseconds(), Irreversible: v.Irreversible.Score}
	if v.Decision <= approver.Ask {
		out.Severity = v.Severity.String()
	}
	if v.Decision == approver.Modify {
		out.Args = v.Args
	}
	if v.By != "" {
		out.Tier = &v.Tier
	}
	return out
}
