package disk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"approver.example"
	"approver.example/reflexcore/effect"
)

// An environment has the possible values of variables for the commands of a call. It is not
// known which variables a program reads, so the fingerprint has all but those that are noise
// or secrets.
type environment struct {
	agent    map[string]string   // the agent's variables
	dir      string              // its working folder
	Compares bool                // for some variables only the value is compared
	Given    map[string][]string // values that texts set
}

// Values are the possible values of a variable: the agent's, and those that texts set.
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

// Expand replaces the agent's variables in a value; other variables become effect.Unknown.
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

// VarNames are the variables of a list, with those that a star at the end matches.
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
