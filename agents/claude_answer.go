package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents/blocking"
	"approver.example/agents/settings"
)

// The documents that Claude Code reads. Field order is the order of the output.
type (
	claudeOutput struct {
		SystemMessage string          `json:"systemMessage,omitempty"`
		Specific      *claudeSpecific `json:"hookSpecificOutput"`
	}
	claudeSpecific struct {
		Event    string          `json:"hookEventName"`
		Decision string          `json:"permissionDecision,omitempty"`
		Reason   string          `json:"permissionDecisionReason,omitempty"`
		Prompt   *claudePrompt   `json:"decision,omitempty"`
		Input    json.RawMessage `json:"updatedInput,omitempty"`
		Context  string          `json:"additionalContext,omitempty"`
		Output   json.RawMessage `json:"updatedToolOutput,omitempty"`
	}
	claudePrompt struct {
		Behavior    string            `json:"behavior"`
		Input       json.RawMessage   `json:"updatedInput,omitempty"`
		Permissions []json.RawMessage `json:"updatedPermissions,omitempty"`
	}
)

// Encode writes the verdict for Claude Code:
//
//	Pass    nothing, exit 0: its own permission flow goes on
//	Allow   an allow document, exit 0
//	Modify, and an Allow with arguments: an allow document with updatedInput, exit 0
//	Warn    additionalContext for the model and systemMessage for the user, exit 0
//	Deny, Ask and everything else: a deny document, stderr and exit 2
//
// For a call that already ran, only Warn and Deny have an answer. The answer to a Notice and an
// Over is always empty. Changed settings are used only after a Pass.
func (c Claude) Encode(ev Event, v approver.Verdict) Answer {
	if ev.Kind == Notice || ev.Kind == Over {
		return Answer{ExitZero: true}
	}
	doc, err := c.document(ev, v)
	return c.answer(ev, doc, err, "the answer could not be written: ")
}

// answer returns the answer with a document, or an empty one without a document. An error is the
// reason for a block.
func (c Claude) answer(ev Event, doc *claudeOutput, err error, failed string) Answer {
	if err != nil {
		return blocking.For(c.Name(), ev.Name, err.Error())
	}
	if doc == nil {
		return Answer{ExitZero: true}
	}
	out, err := encoded(doc, "")
	if err != nil {
		return blocking.For(c.Name(), ev.Name, failed+err.Error())
	}
	return Answer{Stdout: out, ExitZero: true}
}

// encoded writes JSON with a line end, and < and & as they are. Without an indent it is one line.
func encoded(doc any, indent string) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(doc)
	return out.Bytes(), err
}

// document returns the document for exit 0, nil for an empty answer, or an error with the reason
// for a block.
func (c Claude) document(ev Event, v approver.Verdict) (*claudeOutput, error) {
	switch {
	case ev.Kind == Settings && v.Decision == approver.Pass:
		return nil, nil
	case ev.Kind != Decide && ev.Kind != Prompted && ev.Kind != Ran:
		return nil, errors.New(v.Reason)
	}
	out := &claudeOutput{Specific: &claudeSpecific{Event: ev.Name}}
	switch {
	case v.Decision == approver.Pass,
		v.Decision == approver.Allow && ev.Kind == Ran,
		v.Decision == approver.Warn && ev.Kind == Prompted: // has no place for a warning
		return nil, nil
	case v.Decision == approver.Warn:
		text := lineOr(v.Reason, "take care with this call")
		out.SystemMessage, out.Specific.Context = "approver: "+text, text
	case v.Decision == approver.Allow && v.Args == nil:
		return out, out.allow(ev, v, nil)
	case (v.Decision == approver.Modify || v.Decision == approver.Allow) && ev.Kind != Ran:
		if _, err := parseObject(v.Args); err != nil || !wellFormed(v.Args) {
			return nil, errors.New("the changed arguments are not a JSON object, so the call was stopped")
		}
		return out, out.allow(ev, v, v.Args)
	default:
		return nil, errors.New(v.Reason)
	}
	return out, nil
}

func (o *claudeOutput) allow(ev Event, v approver.Verdict, input json.RawMessage) error {
	if ev.Kind == Prompted {
		return o.prompted(ev, v.Yes().Choice, input)
	}
	o.Specific.Decision, o.Specific.Input = "allow", input
	o.Specific.Reason = lineOr(v.Reason, "allowed by approver")
	return nil
}

func lineOr(reason, otherwise string) string {
	if reason == "" {
		return otherwise
	}
	return blocking.Line(reason)
}

// The timeouts, from the shortest to the longest: people have the TTL. The daemon has claudeGrace
// more to commit, record and answer. The courier gives up at that deadline, or at claudePatience if
// that is later. It then has a tenth of the hook's timeout, and at least claudeMargin, to block by
// itself. If the hook's timeout came first, the tool would run.
const (
	claudePatience = 290 * time.Second // the courier's own default for claude
	claudeGrace    = settings.Grace
	claudeMargin   = 2 * time.Second
	claudeReport   = 8 * time.Second // deadline of the hooks for which nobody is asked
	claudeStep     = 10 * time.Second
	minTTL         = 5 * time.Second
	maxTTL         = time.Hour
)

// HookConfig returns the settings, as indented JSON, with which Claude Code asks approver before
// each tool and before its own questions, reports after it, says when the calls of a turn are over,
// and asks whether to use settings that changed. They belong in ~/.claude/settings.json or in the
// managed settings. binary is the absolute path of approver-hook, and ttl is the longest time that
// people have to answer, from 5 s to 1 h. socket is the daemon's submit socket; empty means the
// default place. README and docs/agents/claude.md show the result for the default place and any ttl
// up to 280 s.
//
// "onFailure":"block" is known to Claude Code 2.1.295 and later; older versions
// ignore it and run the tool when the hook is killed.
func (c Claude) HookConfig(binary, socket string, ttl time.Duration) ([]byte, error) {
	if !plainPath(binary) {
		return nil, fmt.Errorf("the hook program %s: give an absolute path", quote(binary))
	}
	if socket != "" && !plainPath(socket) {
		return nil, fmt.Errorf("the socket %s: give an absolute path", quote(socket))
	}
	if ttl < minTTL || ttl > maxTTL {
		return nil, fmt.Errorf("a ttl of %v: from %v to %v is possible", ttl, minTTL, maxTTL)
	}
	type command struct {
		Type      string `json:"type"`
		Command   string `json:"command"`
		Timeout   int    `json:"timeout"` // seconds
		OnFailure string `json:"onFailure,omitempty"`
		Async     bool   `json:"async,omitempty"`
	}
	program := settings.ShellWord(binary) + " --agent " + c.Name()
	if socket != "" {
		program += " --socket " + settings.ShellWord(socket)
	}
	entry := func(flags string, deadline time.Duration, onFailure string) []claudeMatcher[command] {
		deadline = deadline.Truncate(time.Second)
		steps := math.Ceil(float64(deadline+max(deadline/9, claudeMargin)) / float64(claudeStep))
		line := fmt.Sprintf("%s%s --deadline %ds", program, flags, int(deadline.Seconds()))
		hook := command{"command", line, int(steps * claudeStep.Seconds()), onFailure, false}
		return []claudeMatcher[command]{{"*", []command{hook}}}
	}
	var file claudeFile[command]
	file.Hooks.Pre = entry("", max(claudePatience, ttl+claudeGrace), "block")
	// Without onFailure: when this hook fails, the question stays in Claude Code's own dialog, and
	// without a dialog the call does not run.
	file.Hooks.Asks = entry(" --event PermissionRequest", max(claudePatience, ttl+claudeGrace), "")
	file.Hooks.Post = entry(" --event PostToolUse", claudeReport, "")
	file.Hooks.Fail = entry(" --event PostToolUseFailure", claudeReport, "")
	file.Hooks.Over = entry(" --event PostToolBatch", claudeReport, "")
	file.Hooks.Over[0].Hooks[0].Async = true // it says nothing, so nothing waits for it
	file.Hooks.File = entry(" --event ConfigChange", claudeReport, "block")
	return encoded(file, "  ")
}

// A claudeFile is a new settings file, with hooks of one form, in the order in which people look for
// them.
type claudeFile[H any] struct {
	Hooks struct {
		Pre  []claudeMatcher[H] `json:"PreToolUse,omitempty"`
		Asks []claudeMatcher[H] `json:"PermissionRequest,omitempty"`
		Post []claudeMatcher[H] `json:"PostToolUse,omitempty"`
		Fail []claudeMatcher[H] `json:"PostToolUseFailure,omitempty"`
		Over []claudeMatcher[H] `json:"PostToolBatch,omitempty"`
		File []claudeMatcher[H] `json:"ConfigChange,omitempty"`
	} `json:"hooks"`
}

type claudeMatcher[H any] struct {
	Matcher string `json:"matcher"`
	Hooks   []H    `json:"hooks"`
}

// plainPath reports whether a path can be in a command line.
func plainPath(s string) bool {
	return filepath.IsAbs(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
