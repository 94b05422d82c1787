package shieldcore

import (
	"encoding/json"
	"slices"

	"approver.example"
	"approver.example/display"
)

func (r *rule) matches(s *subject) (bool, error) {
	if len(r.tools) > 0 && !anyTool(r.tools, s.call.Tool) {
		return false, nil
	}
	if !r.matchesActions(s) {
		return false, nil
	}
	if r.command != nil && !r.matchesCommand(s) {
		return false, nil
	}
	if len(r.paths) > 0 && !r.matchesPaths(s) {
		return false, nil
	}
	if r.args != nil {
		texts, err := s.texts()
		if err != nil || !r.args.in(texts, s.sieve) {
			return false, err
		}
	}
	if found, err := r.matchesContent(s); err != nil || !found {
		return false, err
	}
	return r.when == nil || r.when.hold(s, r.allows()), nil
}

func (r *rule) matchesCommand(s *subject) bool {
	if s.call.Command == "" {
		return false
	}
	if r.allows() {
		return plain(s.call.Command) && r.command.re.MatchString(s.call.Command) && commandIsAll(s.call)
	}
	return r.command.in(s.commands(), s.sieve)
}

// commandIsAll reports whether the command is all that a call does. A rule that
// allows a command must not allow what a tool runs besides it, such as the
// script in {"command":"git status","script":"rm -rf /"}.
func commandIsAll(call approver.ToolCall) bool {
	if len(call.Args) == 0 {
		return true
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(call.Args, &args) != nil {
		return false
	}
	for name, value := range args {
		switch name {
		case "command":
			var command string
			if json.Unmarshal(value, &command) != nil || command != call.Command {
				return false
			}
		case "description", "timeout", "run_in_background": // of a shell tool: none of them runs
			if len(value) == 0 || value[0] == '{' || value[0] == '[' {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// pathsAreAll reports whether the recognized paths are all that a call acts upon. A
// rule that allows by path must not allow a command besides the path, nor a target in
// an unknown argument.
func pathsAreAll(call approver.ToolCall) bool {
	if call.Command != "" || len(call.URLs) > 0 {
		return false
	}
	if len(call.Args) == 0 {
		return true
	}
	var args map[string]any
	return json.Unmarshal(call.Args, &args) == nil && everyText(args, "", func(key, text string) bool {
		return inertKeys[key] || slices.Contains(call.Paths, text)
	})
}

func (r *rule) matchesPaths(s *subject) bool {
	if r.allows() && !pathsAreAll(s.call) {
		return false
	}
	return meet(s.places(), r.allows(), func(l location) bool {
		if r.allows() {
			return l.certain && s.allowed(r.paths, l) && !matchesAny(r.notPaths, l)
		}
		return matchesAny(r.paths, l)
	})
}

// matchesActions reports whether one of the call's actions is in the rule's list. For
// a rule that allows, all must be.
func (r *rule) matchesActions(s *subject) bool {
	return r.actions == nil ||
		meet(s.actions(), r.allows(), func(a string) bool { return slices.Contains(r.actions, a) })
}

// matchesContent reports whether one of the content patterns is in the written text.
func (r *rule) matchesContent(s *subject) (bool, error) {
	if len(r.content) == 0 {
		return true, nil
	}
	texts, err := s.written()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(r.content, func(p *pattern) bool { return p.in(texts, s.sieve) }), nil
}

// By is the name under which a policy's verdicts appear.
const By = "policy"

func finding(d approver.Decision, name, text string) approver.Verdict {
	return approver.Verdict{Decision: d, By: By, Rule: name, Category: "policy", Reason: text, Detail: text,
		Confidence: 1, Says: display.Summary{Why: display.Sentence(text)}}
}

// Names of the findings of the path denylist.
const (
	RuleRestricted = "restricted_path" // a path that no agent reads or writes
	RuleProtected  = "protected_path"  // a path that agents only read
)
