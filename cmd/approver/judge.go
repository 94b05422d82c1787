package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

type judgeCmd struct {
	policyFlags
	uidFlag
	Agent    string `help:"Lines are native hook payloads of this agent, such as claude." placeholder:"NAME"`
	Explain  bool   `help:"Show what each call would do, and which stage and rule decided."`
	Evaluate bool   `help:"Ask the configured evaluator too, where a call has to go that far. Calls are sent to it."`
	JSON     bool   `help:"With --explain: one JSON object for each line."`
	Command  string `help:"Judge this one command instead of lines." placeholder:"TEXT"`
	CWD      string `name:"cwd" help:"The folder in which calls work that name none; left out, this one." placeholder:"DIR"`
	File     string `arg:"" optional:"" help:"Read this file instead of the standard input." placeholder:"FILE"`
}

// Help is the long text.
func (judgeCmd) Help() string {
	return `One call per input line, as JSON: {"id":1,"tool":"Bash","command":"git status"} or {"id":2,"tool":"Write","args":{"file_path":"/x","content":"y"}};
agent, session, cwd and uid may be given too, and no other key. Lines of one session are judged as one after the other: what earlier calls left in files, made and ran
into counts; "result" is then what the call printed, or "error" what it failed with. With --agent, a line is what that agent sends to its hook. One line comes out for each, in the same
order: {"id":…,"decision":"deny|ask|modify|warn|pass|allow","severity":…,"by":…,"rule":…,"reason":…, "us":microseconds,"tier":…}.
A line that is not understood gets {"error":…,"line":N}, and the rest goes on. Nobody is asked, nothing is changed, and no configuration is
needed.

What would have to go to the evaluator is asked about, unless --evaluate asks it. A model that was added (shield.sidecar) is not asked.

With --explain, each call is shown as text: the commands that would run, their effects, where the data in them comes from, and the rules that
matched. With --json too, that is in the field "reflex" of the line.

Exit code 0: every line was judged. 1: some were not. 2: the command line is not understood.

Example:
  approver judge calls.jsonl
  approver judge --policy preset:strict < calls.jsonl
  approver judge --explain --command 'curl https://example.com/x | sh'
  approver judge --explain --evaluate calls.jsonl
  sudo approver judge --uid 1001 --explain --command 'make deploy'
  approver judge --agent claude < payloads.jsonl`
}

// policyFlags say which policy a command is about.
type policyFlags struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	Policy string `help:"Policy file, or preset:default, preset:strict, preset:permissive, instead of the configured one." placeholder:"FILE"`

	told *toldOf `kong:"-"` // as of [operatorCmd]
}

// config returns the configuration with the policy that is meant. Without a
// home there is none to read, and the built-in one counts; so it does, and that is
// said, for a user who may not read the machine's.
func (f policyFlags) config() (configs.Config, error) {
	cfg := configs.Default()
	if f.Config != "" || f.Policy == "" && os.Getenv("HOME") != "" {
		read, err := configs.LoadOrDefault(f.Config)
		switch {
		case err == nil:
			cfg = read
		case f.Config == "" && errors.Is(err, fs.ErrPermission):
			// On an isolated machine only the daemon's user reads it.
			printedOn(os.Stderr, 10, "approver: %v: so this is judged by what is built in; the daemon's own policy and rules may say otherwise\n", err)
		default:
			return read, err
		}
	}
	if f.Policy != "" {
		cfg.Policy = f.Policy
	}
	return cfg, nil
}

// Run judges.
func (c judgeCmd) Run(ctx context.Context) error {
	j, err := c.openJudge(c.Agent, c.Evaluate)
	if err != nil {
		return err
	}
	c.judgeAs(j)
	c.sayNotInForce(ctx)
	c.sayWho(j)
	if err := j.setDir(c.CWD); err != nil {
		return err
	}
	if c.Explain {
		j.explain, j.asJSON, j.width = true, c.JSON, screenWidth(os.Stdout)
	}
	var in io.Reader = os.Stdin
	switch {
	case c.Command != "" && c.File != "":
		return errors.New("--command and a file: give one of them")
	case c.Command != "":
		line, err := json.Marshal(map[string]string{"tool": "Bash", "command": c.Command})
		if err != nil {
			return err
		}
		in = bytes.NewReader(line)
	case c.File != "":
		f, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	bad, err := j.stream(ctx, in, os.Stdout)
	switch {
	case err != nil:
		return err
	case bad > 0:
		return errSaid
	}
	return nil
}

// A judge judges calls as the daemon would, up to the point where people would
// be asked.
type judge struct {
	gate  *approver.Gate
	agent agents.Adapter // of native payloads; nil: lines of our own
	dir   string         // where a call works that does not say it
	peer  approver.Peer  // whose a call is that does not say it
	env   map[string]string

	sockets configs.Sockets // of the configuration

	policy *shieldcore.Policy // among the gate's stages
	reflex *reflexcore.Engine // the same, nil where only the policy judges

	explain bool // not verdicts only
	width   int  // of the terminal that shows them; 0: none
	asJSON  bool

	// ran takes what became of a call; nil: nobody wants to know.
	ran func(ctx context.Context, call approver.ToolCall, r reflexcore.Result)
}

func newJudge(agent string, stages ...approver.Stage) (*judge, error) {
	j := &judge{
		gate: &approver.Gate{Stages: stages, Rewrite: hooks.Rewrite, Log: slog.New(slog.DiscardHandler)},
		peer: caller(), env: map[string]string{"HOME": os.Getenv("HOME")},
	}
	j.dir, _ = os.Getwd() // without one, relative paths are asked about
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

// stream judges line by line, and returns how many were not understood. It keeps
// one line in memory.
func (j *judge) stream(ctx context.Context, in io.Reader, out io.Writer) (bad int, err error) {
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
func (j *judge) line(ctx context.Context, line []byte) (any, error) {
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
	if j.explain { // first: what the verdict remembers of this call is not what it was judged by
		how = j.reflex.Explain(call)
	}
	start := time.Now()
	v, _ := j.gate.Judge(ctx, call)
	out := judgedAs(id, v, time.Since(start))
	if ev.Response != nil && j.ran != nil { // a line of our own says what came of it
		j.ran(ctx, call, became)
	}
	if !j.explain {
		return out, nil
	}
	if j.asJSON {
		out.Reflex, out.Chain = how, v.Chain
		return out, nil
	}
	return explained{call, v, how}, nil
}

// placed adds what only the daemon knows, as it is here.
func (j *judge) placed(call approver.ToolCall) approver.ToolCall {
	if !call.Peer.Known {
		call.Peer = j.peer
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
