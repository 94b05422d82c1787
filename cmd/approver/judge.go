package main

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
	"approver.example/reflexcore"
	"approver.example/shieldcore"
)

type judgeCmd struct {
	policyFlags
	Agent   string `help:"Lines are native hook payloads of this agent, such as claude." placeholder:"NAME"`
	Explain bool   `help:"Show what each call would do, and which stage and rule decided."`
	JSON    bool   `help:"With --explain: one JSON object for each line."`
	Command string `help:"Judge this one command instead of lines." placeholder:"TEXT"`
	File    string `arg:"" optional:"" help:"Read this file instead of the standard input." placeholder:"FILE"`
}

// Help is the long text.
func (judgeCmd) Help() string {
	return `One call per input line, as JSON: {"id":1,"tool":"Bash","command":"git status"} or {"id":2,"tool":"Write","args":{"file_path":"/x","content":"y"}};
agent, session and cwd may be given too. With --agent, a line is what that agent sends to its hook. One line comes out for each, in the same
order: {"id":…,"decision":"deny|ask|modify|warn|pass|allow","severity":…,"by":…,"rule":…,"reason":…,"us":microseconds}.
A line that is not understood gets {"error":…,"line":N}, and the rest goes on. Nobody is asked, nothing is changed, and no configuration is
needed.

With --explain, each call is shown as text: the commands that would run, their effects, where the data in them comes from, and the rules that
matched. With --json too, that is in the field "reflex" of the line.

Exit code 0: every line was judged. 1: some were not. 2: the command line is not understood.

Example:
  approver judge calls.jsonl
  approver judge --policy preset:strict < calls.jsonl
  approver judge --explain --command 'curl https://example.com/x | sh'
  approver judge --agent claude < payloads.jsonl`
}

// policyFlags say which policy a command is about.
type policyFlags struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	Policy string `help:"Policy file, or preset:default, preset:strict, preset:permissive, instead of the configured one." placeholder:"FILE"`
}

// config returns the configuration with the policy that is meant. Without a
// home there is none to read, and the built-in one counts.
func (f policyFlags) config() (configs.Config, error) {
	cfg := configs.Default()
	if f.Config != "" || f.Policy == "" && os.Getenv("HOME") != "" {
		var err error
		if cfg, err = configs.LoadOrDefault(f.Config); err != nil {
			return cfg, err
		}
	}
	if f.Policy != "" {
		cfg.Policy = f.Policy
	}
	return cfg, nil
}

func (f policyFlags) load() (*shieldcore.Policy, error) {
	cfg, err := f.config()
	if err != nil {
		return nil, err
	}
	policy, err := cfg.LoadPolicy()
	if err != nil {
		return nil, err
	}
	policy.Tiers = highestTier
	return policy, nil
}

// Run judges.
func (c judgeCmd) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	policy, err := c.load()
	if err != nil {
		return err
	}
	reflex, err := newReflex(cfg.Reflex)
	if err != nil {
		return err
	}
	j, err := newJudge(c.Agent, reflex, policy)
	if err != nil {
		return err
	}
	if c.Explain {
		j.explain, j.asJSON = reflex, c.JSON
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

// newReflex returns the engine that judges a call by what it would do.
func newReflex(cfg reflexcore.Config) (*reflexcore.Engine, error) {
	rules, err := configs.DefaultRules()
	if err != nil {
		return nil, err
	}
	return reflexcore.New(rules, cfg.Limits())
}

// A judge judges calls as the daemon would, up to the point where people would
// be asked.
type judge struct {
	gate  *approver.Gate
	agent agents.Adapter // of native payloads; nil: lines of our own
	dir   string         // where a call works that does not say it
	env   map[string]string

	explain *reflexcore.Engine // nil: verdicts only
	asJSON  bool
}

func newJudge(agent string, stages ...approver.Stage) (*judge, error) {
	j := &judge{
		gate: &approver.Gate{Stages: stages, Rewrite: rewrite, Log: slog.New(slog.DiscardHandler)},
		env:  map[string]string{"HOME": os.Getenv("HOME")},
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

// highestTier is the highest tier among the stages. What a rule's min_tier lets
// through only after a higher one goes to people.
const highestTier = 0

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
	Reflex   any             `json:"reflex,omitempty"` // with --explain
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
			if err := text.write(w); err != nil {
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
	if ev.Kind != agents.Decide && ev.Kind != agents.Prompted {
		return judged{ID: id, Decision: approver.Pass.String(), By: "agents", Reason: "the event " + ev.Name + " is not a call to decide"}, nil
	}
	start := time.Now()
	call := j.placed(ev.Call)
	v, _ := j.gate.Judge(ctx, call)
	out := judgedAs(id, v, time.Since(start))
	if j.explain == nil {
		return out, nil
	}
	how := j.explain.Explain(call)
	if j.asJSON {
		out.Reflex = how
		return out, nil
	}
	return explained{call, v, how}, nil
}

// explained is a call shown as text.
type explained struct {
	call    approver.ToolCall
	verdict approver.Verdict
	how     reflexcore.Explanation
}

func (x explained) write(w io.Writer) error {
	what := x.call.Command
	if what == "" {
		what = x.call.Tool + " " + string(x.call.Args)
	}
	if _, err := fmt.Fprintf(w, "%s\n", approver.OneLine(what)); err != nil {
		return err
	}
	if x.verdict.By != reflexcore.By && x.verdict.Decision != approver.Pass {
		if _, err := fmt.Fprintf(w, "%s by %s, rule %s; the reflex engine says:\n", x.verdict.Decision, x.verdict.By, x.verdict.Rule); err != nil {
			return err
		}
	}
	if err := x.how.Text(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// placed adds what only the daemon knows, as it is here.
func (j *judge) placed(call approver.ToolCall) approver.ToolCall {
	call.Env, call.At = j.env, time.Now()
	if uid := os.Getuid(); uid >= 0 {
		call.Peer = approver.Peer{Known: true, UID: uint32(uid)}
	}
	return call
}

func judgedAs(id json.RawMessage, v approver.Verdict, took time.Duration) judged {
	out := judged{ID: id, Decision: v.Decision.String(), By: v.By, Rule: v.Rule, Reason: v.Reason, US: took.Microseconds()}
	if v.Decision <= approver.Ask {
		out.Severity = v.Severity.String()
	}
	if v.Decision == approver.Modify {
		out.Args = v.Args
	}
	return out
}

// A lineCall is a line of our own.
type lineCall struct {
	ID      json.RawMessage `json:"id"`
	Agent   string          `json:"agent"`
	Session string          `json:"session"`
	CWD     string          `json:"cwd"`
	Tool    string          `json:"tool"`
	Command *string         `json:"command"`
	Args    json.RawMessage `json:"args"`
}

func (j *judge) decode(line []byte) (id json.RawMessage, ev agents.Event, err error) {
	if j.agent != nil {
		ev, err = j.agent.Decode(line)
		id, _ = json.Marshal(ev.UseID) // a string
		return id, ev, err
	}
	var c lineCall
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, ev, fmt.Errorf("not a call: %w", err)
	}
	if c.Tool == "" {
		return nil, ev, errors.New(`"tool" is missing`)
	}
	if c.CWD == "" {
		c.CWD = j.dir
	}
	ev, err = c.event()
	return c.ID, ev, err
}

// event reads the line as the agent's own payload of the same call, so that
// arguments mean here what they mean to the hook.
func (c lineCall) event() (agents.Event, error) {
	args := map[string]json.RawMessage{}
	if len(c.Args) > 0 && !bytes.Equal(c.Args, []byte("null")) {
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return agents.Event{}, errors.New(`"args" is not an object`)
		}
	}
	if c.Command != nil {
		command, err := json.Marshal(*c.Command)
		if err != nil {
			return agents.Event{}, err
		}
		if _, twice := args["command"]; twice {
			return agents.Event{}, errors.New(`the command is given twice: as "command" and in "args"`)
		}
		args["command"] = command
	}
	if c.Agent == "" {
		c.Agent = agents.Claude{}.Name()
	}
	if c.Session == "" {
		c.Session = "judge"
	}
	payload, err := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "session_id": c.Session, "cwd": c.CWD, "tool_name": c.Tool, "tool_input": args, "tool_use_id": "judge",
	})
	if err != nil {
		return agents.Event{}, err
	}
	ev, err := agents.Claude{}.Decode(payload)
	ev.Call.Agent = c.Agent
	return ev, err
}
