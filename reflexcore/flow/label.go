package flow

import (
	"fmt"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// A Label says how much harm it does if others know the data. Smaller values are higher labels, and
// the zero value is the highest.
type Label uint8

// The labels.
const (
	Critical     Label = iota // whoever has it can act as its owner: keys, passwords, sessions
	Restricted                // may hold such things, or leads to them
	Confidential              // known to few: the environment, what was typed before
	Internal                  // files of the project and of the machine
	Public                    // public, or from the model alone
	labels
)

var labelNames = [labels]string{"critical", "restricted", "confidential", "internal", "public"}

// Join returns the label of combined data: the higher one.
func Join(a, b Label) Label { return min(a, b) }

// String returns the name; an unknown value is "critical".
func (l Label) String() string { return nameOf(labelNames[:], uint8(l)) }

// MarshalText implements [encoding.TextMarshaler].
func (l Label) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a name. An unknown name is an error and gives Critical.
func (l *Label) UnmarshalText(b []byte) (err error) {
	*l, err = parseName[Label]("label", labelNames[:], b)
	return err
}

// Taint returns the label as bits that travel with data, see [effect.Labels]. Internal and Public
// have no bits.
func (l Label) Taint() effect.Taint {
	switch l {
	case Restricted:
		return effect.Restricted
	case Confidential:
		return effect.Confidential
	case Internal, Public:
		return 0
	default: // what is not known is the highest
		return effect.Critical
	}
}

// Of returns the label of tainted data. A secret without label bits is critical if it comes from a
// file, because only the file was forgotten. If it comes from the environment it is confidential.
func Of(t effect.Taint) Label {
	switch {
	case t&effect.Critical == effect.Critical:
		return Critical
	case t&effect.Restricted == effect.Restricted:
		return Restricted
	case t&effect.Labels != 0:
		return Confidential
	case t&effect.Secret != 0 && t&effect.File != 0:
		return Critical
	case t&effect.Secret != 0:
		return Confidential
	case t&effect.File != 0:
		return Internal
	}
	return Public
}

// A Sink is a place that data can reach. From the zero value, data never comes back.
type Sink uint8

// The sinks.
const (
	External       Sink = iota // leaves the machine: sent, published, uploaded, in a name or an address
	Exec                       // becomes code that runs
	Memory                     // what an agent reads at each start: its memory and its instructions
	WorkspaceWrite             // a file
	Read                       // the context of the model
	sinks
)

var sinkNames = [sinks]string{"external", "exec", "memory", "workspace_write", "read"}

// String returns the name; an unknown value is "external".
func (s Sink) String() string { return nameOf(sinkNames[:], uint8(s)) }

// MarshalText implements [encoding.TextMarshaler].
func (s Sink) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// An Action says what happens to a flow. Smaller values are stricter.
type Action uint8

// The actions.
const (
	Block    Action = iota // the call is denied
	Escalate               // people are asked
	Allow
	actions
)

var actionNames = [actions]string{"block", "escalate", "allow"}

// String returns the name; an unknown value is "block".
func (a Action) String() string { return nameOf(actionNames[:], uint8(a)) }

// MarshalText implements [encoding.TextMarshaler].
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads a name. An unknown name is an error and gives Block.
func (a *Action) UnmarshalText(b []byte) (err error) {
	*a, err = parseName[Action]("action", actionNames[:], b)
	return err
}

// A Mode says whether findings are enforced. Smaller values are stricter.
type Mode uint8

// The modes.
const (
	Enforce Mode = iota // the matrix decides
	Audit               // it is recorded, and stops nothing
	Off
	modes
)

var modeNames = [modes]string{"enforce", "audit", "off"}

// String returns the name; an unknown value is "enforce".
func (m Mode) String() string { return nameOf(modeNames[:], uint8(m)) }

// MarshalText implements [encoding.TextMarshaler].
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a name. An unknown name is an error and gives Enforce.
func (m *Mode) UnmarshalText(b []byte) (err error) {
	*m, err = parseName[Mode]("mode", modeNames[:], b)
	return err
}

// nameOf returns the name of a value. Unknown values have the name of the zero value.
func nameOf(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return names[0]
}

// parseName returns the value of a name.
func parseName[T ~uint8](what string, names []string, b []byte) (T, error) {
	i := slices.Index(names, string(b))
	if i < 0 {
		return 0, fmt.Errorf("unknown %s %q: one of %s", what, b, strings.Join(names, ", "))
	}
	return T(i), nil
}
