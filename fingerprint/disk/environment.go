package disk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"approver.example"
	"approver.example/reflexcore/effect"
)

// This file knows the variables of the commands of a call. Which of them a program reads is
// not known, and a name does not say it: so all are compared but those that are noise or
// secrets.

// An environment is what variables may be for the commands of a call.
type environment struct {
	agent    map[string]string   // what the agent has
	dir      string              // where it works
	Compares bool                // some variables are only compared
	Given    map[string][]string // values that texts give to variables
}

// Values are what a variable may be for the commands of the call: what the agent has,
// and what a text gives it.
func (e *environment) Values(name string) []string {
	out := slices.Clone(e.Given[name])
	if v, ok := e.agent[name]; ok && v != "" {
		out = append(out, v)
	}
	if !e.Compares {
		return out
	}
	if v, ok := e.agent[approver.ComparedEnv+name]; ok && v != "" {
		out = append(out, strings.Split(v, "\n")...) // it may be there twice
	}
	return out
}

// Expand replaces the variables in a value that the agent's environment has.
func (e *environment) Expand(value string) string {
	return os.Expand(value, func(name string) string {
		if v, ok := e.agent[name]; ok {
			return v
		}
		if name == "PWD" && filepath.IsAbs(e.dir) {
			return e.dir
		}
		return effect.Unknown
	})
}

// VarNames are the variables of a list, those included that a star stands for.
func (e *environment) VarNames(list string) (names []string) {
	for v := range strings.FieldsSeq(list) {
		begin, star := strings.CutSuffix(v, "*")
		if !star {
			names = append(names, v)
			continue
		}
		for name := range e.agent {
			if name = strings.TrimPrefix(name, approver.ComparedEnv); strings.HasPrefix(name, begin) {
				names = append(names, name)
			}
		}
		for name := range e.Given {
			if strings.HasPrefix(name, begin) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
