package agents

import (
	"embed"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
)

// A plugged is the [Adapter] of an agent that runs a plugin of approver's in its own process. The
// plugin runs approver-hook for each call, with a payload of the same form for all these agents:
//
//	{"plugin": the agent, "event": the agent's name of the event, "session", "call", "tool", "input",
//	 "directory", and of a call that ran "result", and "failed" if it failed}
//
// The answer is one object. Its "decision" is "pass" or "allow"; with anything else the plugin stops
// the call. "input" replaces the arguments, "result" what the call returned, "context" is told to the
// model, and "notice" to the agent's user.
type plugged struct {
	*hooked
	numbered string // the tools whose text has line numbers, separated by spaces
	reads    bool   // the agent's plugins can change what a call returned
}

// A plugin is what differs between these agents.
type plugin struct {
	agent, title  string
	before, after string // the agent's names of its events
	tools         vocabulary
	numbered      string
	reads         bool
	files         settings.Files
	most          time.Duration // as in an installation
	recipe        func() canary.Recipe
	off           string // the variable that makes the agent start without plugins
	advice        string // what no settings prevent
}

// pluginKey is the key of a payload that says whose plugin sent it.
const pluginKey = "plugin"

// pluginSources are the plugins.
//
//go:embed plugins/*.js
var pluginSources embed.FS

// adapter returns the adapter of the agent.
func (p plugin) adapter() plugged {
	return plugged{numbered: p.numbered, reads: p.reads, hooked: &hooked{
		name: p.agent, patience: usualPatience, tools: p.tools, permit: permitPlugin, modifies: true,
		keys: keys{
			event: "event", session: "session", dir: "directory", tool: "tool", input: "input", use: "call", response: "result",
		},
		events: []hookEvent{
			{kind: Decide, installed: true, Event: facts.Event{Name: p.before, Before: denyWord, After: "}"}},
			{kind: Ran, installed: true, Event: facts.Event{Name: p.after, Before: denyWord, After: "}"}},
		},
		described: []string{"Bash"},
		returned:  []facts.Field{{Key: "result", Short: "null"}},
		outcome:   pluginOutcome,
		install:   p.installation(),
		recipe:    p.recipe,
	}}
}

// installation says how the plugin is installed.
func (p plugin) installation() *installation {
	form := settings.Script{Agent: p.agent, Template: p.template()}
	in := &installation{files: p.files, layout: form, most: p.most,
		hook:   func(l hookLine) any { return form.Hook(l.command) },
		advice: []settings.Finding{{Harmless: true, Text: p.advice}}}
	if p.off != "" {
		in.variables = []variable{{name: p.off,
			is:   func(value string) bool { return value != "0" && !strings.EqualFold(value, "false") },
			text: ": an agent that is started with it has no plugins, so it asks nobody"}}
	}
	return in
}

// template returns the text of the plugin's file, without its hooks.
func (p plugin) template() string {
	text := "// approver's plugin for " + p.title + ", written by: approver install " + p.agent + "\n" +
		"// It asks approver before each tool call. Do not change it: approver would raise an alarm.\n" +
		"const agent = \"" + p.agent + "\";\n" +
		"const hooks = " + settings.Slot + ";\n\n"
	for _, name := range []string{"courier", p.agent} {
		source, err := pluginSources.ReadFile("plugins/" + name + ".js")
		if err != nil {
			panic(err) // the file is part of this program
		}
		text += string(source)
	}
	return text
}

// pluginOutcome reads what a call returned. Also that of a call that failed can be replaced.
func pluginOutcome(ev *Event, o object) error {
	result, ok := o["result"]
	if !ok {
		return errors.New(`"result" is missing`)
	}
	ev.Response, ev.Output = result, outputOf(result)
	switch failed := string(o["failed"]); failed {
	case "", "false":
	case "true":
		ev.Failure = ev.Output
		if strings.TrimSpace(ev.Failure) == "" {
			ev.Failure = "it failed"
		}
	default:
		return errors.New(`"failed" is neither true nor false`)
	}
	return nil
}

// A pluginAnswer is an answer that lets a call run.
type pluginAnswer struct {
	Decision string          `json:"decision"`
	Input    json.RawMessage `json:"input,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Context  string          `json:"context,omitempty"`
	Notice   string          `json:"notice,omitempty"`
}

func permitPlugin(ev Event, v approver.Verdict, args json.RawMessage) any {
	out := pluginAnswer{Decision: "pass", Input: args}
	if v.Decision == approver.Allow || v.Decision == approver.Modify {
		out.Decision = "allow"
	}
	if v.Decision == approver.Warn {
		out.Context = warning(v)
	}
	return out
}

// Reading implements [Returner].
func (p plugged) Reading(ev Event) Reading {
	if ev.Kind != Ran || hasWord(claudeOwn, ev.Call.Tool) && ev.Failure == "" {
		return Reading{}
	}
	return Reading{Reads: true, Replaces: p.reads && len(ev.Response) > 0 && string(ev.Response) != "null",
		Lines: hasWord(p.numbered, ev.Call.Tool), From: origin(ev)}
}

// EncodeResult implements [Returner].
func (p plugged) EncodeResult(ev Event, r Result) Answer {
	return encodeResult(p, ev, r, func(r Result) (any, error) {
		return pluginAnswer{Decision: "pass", Result: r.Response, Context: r.Context, Notice: r.Notice}, nil
	})
}
