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
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/memory"
	"approver.example/shieldcore"
	"approver.example/shieldcore/evaluator"
)

type judgeCmd struct {
	policyFlags
	Agent    string `help:"Lines are native hook payloads of this agent, such as claude." placeholder:"NAME"`
	Explain  bool   `help:"Show what each call would do, and which stage and rule decided."`
	Evaluate bool   `help:"Ask the configured evaluator too, where a call has to go that far. Calls are sent to it."`
	JSON     bool   `help:"With --explain: one JSON object for each line."`
	Command  string `help:"Judge this one command instead of lines." placeholder:"TEXT"`
	File     string `arg:"" optional:"" help:"Read this file instead of the standard input." placeholder:"FILE"`
}

// Help is the long text.
func (judgeCmd) Help() string {
	return `One call per input line, as JSON: {"id":1,"tool":"Bash","command":"git status"} or {"id":2,"tool":"Write","args":{"file_path":"/x","content":"y"}};
agent, session and cwd may be given too. Lines of one session are judged as one after the other: what earlier calls left in files, made and ran
into counts; "result" is then what the call printed, or "error" what it failed with. With --agent, a line is what that agent sends to its hook. One line comes out for each, in the same
order: {"id":…,"decision":"deny|ask|modify|warn|pass|allow","severity":…,"by":…,"rule":…,"reason":…,"us":microseconds}.
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
	reflex, err := reflexOf(cfg)
	if err != nil {
		return err
	}
	reflex.Memory = sessions(cfg.Reflex.Loop.Limits())
	screens, err := loadScreens()
	if err != nil {
		return err
	}
	j, err := newJudge(c.Agent, append([]approver.Stage{reflex, policy}, screens(cfg.Shield.Classifier)...)...)
	if err != nil {
		return err
	}
	if j.gate.Evaluator, err = c.evaluator(cfg); err != nil {
		return err
	}
	j.gate.Tiers = approver.TierScreen
	j.gate.Weak = cfg.Reflex.Gatekeeper.Weak
	j.ran = reflex.Ran
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

// evaluator is what is asked in Tier 2, nil for people.
func (c judgeCmd) evaluator(cfg configs.Config) (approver.Stage, error) {
	switch configured := cfg.Shield.Evaluator; {
	case configured == nil && c.Evaluate:
		return nil, errNoEvaluator
	case configured == nil:
		return nil, nil
	case !c.Evaluate:
		return notEvaluated{}, nil
	default:
		return evaluator.New(*configured)
	}
}

// reflexOf is the engine as the daemon would have it once people have approved
// what its files say.
func reflexOf(cfg configs.Config) (*reflexcore.Engine, error) {
	lib, err := cfg.LoadLibrary(time.Now())
	if err != nil {
		return nil, err
	}
	e, err := newReflex(cfg, lib)
	if err != nil {
		return nil, err
	}
	e.Project = (&configs.ProjectRules{Skip: cfg.UserRules()}).For
	return e, nil
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

	// ran takes what became of a call; nil: nobody wants to know.
	ran func(ctx context.Context, call approver.ToolCall, r reflexcore.Result)
}

// sessions makes lines that name a session be judged after those before them of
// the same one. Each session has a memory of its own, as if each were on another
// machine, and a line that names none has none.
func sessions(limits loop.Limits) func(approver.ToolCall) *memory.Memory {
	const most = 4096
	memories := map[string]*memory.Memory{}
	return func(call approver.ToolCall) *memory.Memory {
		if call.Session == noSession {
			return nil
		}
		m, ok := memories[call.Session]
		if !ok {
			if len(memories) == most {
				clear(memories)
			}
			m = memory.New(nil, limits, slog.New(slog.DiscardHandler))
			memories[call.Session] = m
		}
		return m
	}
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
	call := j.placed(ev.Call)
	became := reflexcore.Result{Output: ev.Output, Failed: ev.Failure != ""}
	if ev.Kind == agents.Ran && j.ran != nil {
		j.ran(ctx, call, became)
	}
	if ev.Kind != agents.Decide && ev.Kind != agents.Prompted {
		return judged{ID: id, Decision: approver.Pass.String(), By: "agents", Reason: "the event " + ev.Name + " is not a call to decide"}, nil
	}
	var how reflexcore.Explanation
	if j.explain != nil { // first: what the verdict remembers of this call is not what it was judged by
		how = j.explain.Explain(call)
	}
	start := time.Now()
	v, _ := j.gate.Judge(ctx, call)
	out := judgedAs(id, v, time.Since(start))
	if ev.Response != nil && j.ran != nil { // a line of our own says what came of it
		j.ran(ctx, call, became)
	}
	if j.explain == nil {
		return out, nil
	}
	if j.asJSON {
		out.Reflex, out.Chain = how, v.Chain
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
	if x.verdict.Rule != x.how.Verdict.Rule && x.verdict.Decision != approver.Pass {
		if _, err := fmt.Fprintf(w, "%s by %s, rule %s; the reflex engine says:\n", x.verdict.Decision, x.verdict.By, x.verdict.Rule); err != nil {
			return err
		}
	}
	if err := x.how.Text(w); err != nil {
		return err
	}
	for i, f := range x.verdict.Chain {
		if i == 0 {
			if _, err := fmt.Fprintln(w, "\nchain"); err != nil {
				return err
			}
		}
		f.Took = 0 // the same text each time; --json has it
		if _, err := fmt.Fprintf(w, "  %s\n", approver.OneLine(f.String())); err != nil {
			return err
		}
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
	out := judged{ID: id, Decision: v.Decision.String(), By: v.By, Rule: v.Rule, Reason: v.Reason, US: took.Microseconds(), Irreversible: v.Irreversible.Score}
	if v.Decision <= approver.Ask {
		out.Severity = v.Severity.String()
	}
	if v.Decision == approver.Modify {
		out.Args = v.Args
	}
	return out
}
