package shieldcore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"approver.example"
	"approver.example/display"
	"approver.example/internal/strictyaml"
	"approver.example/internal/timing"
)

// Names of the findings that come from no rule.
const (
	RuleUnknownTool  = "unknown_tool"  // the policy does not list the tool
	RuleUnplacedPath = "unplaced_path" // a relative path without a directory
	RuleTooLong      = "too_long"      // a command beyond MaxCommand
	RuleDefault      = "no_rule"       // no rule matches, and the policy has a default
)

var builtinFindings = []string{RuleUnknownTool, RuleUnplacedPath, RuleTooLong, RuleDefault, approver.RuleMinTier,
	RuleRestricted, RuleProtected, RuleFirstUse, RuleUnknownVerb}

// Bounds of what is judged.
const (
	// MaxCommand is the longest command in bytes; a longer one is denied. It is
	// twice what Linux hands to a program in one argument.
	MaxCommand = 256 << 10
	// MaxPaths is the greatest number of paths in one call.
	MaxPaths = 1000
)

// A Policy is Tier 0 as an [approver.Stage]: the rules of one file. It is made
// by [Load] and safe for concurrent use. The zero value, and nil, deny.
type Policy struct {
	// Home returns the home directory of a user id. Nil asks the system's user
	// database. It must be set before the first call of Judge.
	Home func(uid uint32) (dir string, ok bool)

	version  string
	name     string
	source   []byte
	ttl      time.Duration
	known    []toolGlob
	denylist denylist
	rules    []rule
	index    *index
	fallback approver.Verdict // of a call that no rule matches

	homes *homeCache // of the system; nil asks it each time

	firstUse, unknownVerb *approver.Verdict // nil: nothing is found

	warned []Warned

	hasPaths bool // some rule has paths
	warnings []strictyaml.Problem
}

// Version is the SHA-256 of the file's bytes, as hex. It is part of a call's
// fingerprint, so an approval ends with the policy under which it was asked for.
func (p *Policy) Version() string {
	if p == nil {
		return ""
	}
	return p.version
}

// Source returns the name and the bytes that the policy was loaded from.
func (p *Policy) Source() (name string, text []byte) {
	if p == nil {
		return "", nil
	}
	return p.name, slices.Clone(p.source)
}

// Len is the number of rules.
func (p *Policy) Len() int {
	if p == nil {
		return 0
	}
	return len(p.rules)
}

// NamesUIDs reports whether some rule depends on the uid of the caller.
func (p *Policy) NamesUIDs() bool {
	return p != nil && slices.ContainsFunc(p.rules, func(r rule) bool { return r.when != nil && r.when.uids != nil })
}

// Warnings are rules that can never decide, each with its place. A policy with
// warnings works, but its author probably meant something else.
func (p *Policy) Warnings() []strictyaml.Problem {
	if p == nil {
		return nil
	}
	return p.warnings
}

// Judge returns the verdict of the first rule that matches, unless the path denylist
// denies. If no rule matches, it returns the policy's default; if that is to pass, it
// asks about an unknown tool as HIGH. The verdict's MinTier is the lowest tier that may
// let the call run; a Gate obeys it.
//
// The error is an [approver.UnavailableError] if no policy was loaded. Judge also fails
// if a rule needs the arguments and they are not JSON, if the call has more than
// [MaxPaths] paths, and when ctx ends.
func (p *Policy) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	if p == nil || p.version == "" {
		return approver.Verdict{By: By, Reason: "approver has no policy, so nothing is let through"},
			&approver.UnavailableError{Err: errors.New("no policy was loaded")}
	}
	if len(call.Paths) > MaxPaths {
		return approver.Verdict{By: By}, fmt.Errorf("the call names %d paths: the limit is %d", len(call.Paths), MaxPaths)
	}
	if len(call.Command) > MaxCommand {
		v := finding(approver.Deny, RuleTooLong, fmt.Sprintf("the command has %d bytes; the limit is %d", len(call.Command),
			MaxCommand))
		v.Says.Why = display.Sentence("the command is longer than the policy reads")
		return v, nil
	}
	s := &subject{call: call, home: p.Home, sieve: p.index.sieve}
	if s.home == nil && p.homes != nil {
		s.home = p.homes.of
	}
	v, err := p.firstMatch(ctx, s)
	if err != nil {
		return approver.Verdict{By: By}, err
	}
	if v.Decision != approver.Deny {
		if blocked, is := p.denylist.judge(s); is {
			return blocked, nil
		}
	}
	if v.MinTier > 0 && v.TTL == 0 {
		v.TTL = p.ttl // of the question that may come of it
	}
	return v, nil
}

// firstMatch is the verdict of the first rule that matches, or the fallback.
func (p *Policy) firstMatch(ctx context.Context, s *subject) (approver.Verdict, error) {
	first, err := -1, error(nil)
	p.index.each(s, func(i int) bool {
		if err = ctx.Err(); err != nil {
			err = fmt.Errorf("policy: %w", err)
			return false
		}
		matched, wrong := p.rules[i].matches(s)
		if wrong != nil {
			err = fmt.Errorf("policy rule %s: %w", p.rules[i].verdict.Rule, wrong)
		}
		if matched {
			first = i
		}
		return !matched && wrong == nil
	})
	switch {
	case err != nil:
		return approver.Verdict{}, err
	case first >= 0:
		return p.rules[first].verdict, nil
	}
	v := p.fallback
	if v.Decision == approver.Ask {
		v.TTL = p.ttl
	}
	switch {
	case v.Decision == approver.Deny:
	case !anyTool(p.known, s.call.Tool):
		v := p.ask(RuleUnknownTool, fmt.Sprintf("the policy does not know the tool %q", s.call.Tool))
		v.Says.Why = display.Phrase{Text: "the policy does not know the tool %s",
			Args: []string{display.OneLine(s.call.Tool)}}
		return v, nil
	case p.unknownVerb != nil && p.unknownVerb.Decision < v.Decision && saysNothing(s.call):
		v := p.about(*p.unknownVerb, fmt.Sprintf("the name of the tool %q does not say what it does", s.call.Tool))
		v.Says.Why = display.Phrase{Text: "the name of the tool %s does not say what it does",
			Args: []string{display.OneLine(s.call.Tool)}}
		return v, nil
	case p.hasPaths && s.hasUnplaced():
		return p.ask(RuleUnplacedPath,
			"the call names a relative path but no directory, so the policy cannot tell which file is meant"), nil
	}
	return v, nil
}

func (p *Policy) ask(name, text string) approver.Verdict {
	v := finding(approver.Ask, name, text)
	v.Severity, v.TTL = approver.High, p.ttl
	return v
}

// Live is the policy in force as an [approver.Stage]. It can be replaced while
// calls are judged; each call is judged by one policy as a whole. The zero value
// denies.
type Live struct {
	policy atomic.Pointer[Policy]
}

// Judge judges by the policy in force.
func (l *Live) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	return l.policy.Load().Judge(ctx, call)
}

// Policy returns the policy in force, nil for none.
func (l *Live) Policy() *Policy { return l.policy.Load() }

// Version is that of the policy in force.
func (l *Live) Version() string { return l.policy.Load().Version() }

// Set puts a policy in force. Nil denies.
func (l *Live) Set(p *Policy) { l.policy.Store(p) }

// Part is [timing.Arbiter]: the policy has no budget of its own.
func (l *Live) Part() timing.Part { return timing.Arbiter }
