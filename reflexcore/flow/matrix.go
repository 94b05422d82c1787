package flow

import "fmt"

// A Matrix has the action for each label at each sink. The zero value blocks everything.
type Matrix struct {
	Critical     Row `yaml:"critical" json:"critical"`
	Restricted   Row `yaml:"restricted" json:"restricted"`
	Confidential Row `yaml:"confidential" json:"confidential"`
	Internal     Row `yaml:"internal" json:"internal"`
	Public       Row `yaml:"public" json:"public"`
}

// A Row has the actions for one label.
type Row struct {
	External       Action `yaml:"external" json:"external"`
	Exec           Action `yaml:"exec" json:"exec"`
	Memory         Action `yaml:"memory" json:"memory"`
	WorkspaceWrite Action `yaml:"workspace_write" json:"workspace_write"`
	Read           Action `yaml:"read" json:"read"`
}

// Cell returns the action for a label at a sink. An unknown label has the row of the highest label,
// and an unknown sink is blocked.
func (m *Matrix) Cell(l Label, s Sink) Action {
	if l >= labels {
		l = Critical
	}
	if s >= sinks {
		return Block
	}
	row := [labels]*Row{&m.Critical, &m.Restricted, &m.Confidential, &m.Internal, &m.Public}[l]
	return min([sinks]Action{row.External, row.Exec, row.Memory, row.WorkspaceWrite, row.Read}[s], Allow)
}

// faults lists the cells where a higher label is treated more mildly than the next lower one.
// Raising a label must never allow anything.
func (m *Matrix) faults(name string) (out []error) {
	for s := range sinks {
		for l := Critical; l < Public; l++ {
			if high, low := m.Cell(l, s), m.Cell(l+1, s); high > low {
				out = append(out, fmt.Errorf("%s.%s.%s is %s, and that of the lower label %s is %s: a higher label may not be "+
					"milder", name, l, s, high, l+1, low))
			}
		}
	}
	return out
}

// loosens lists the cells in which next is milder.
func (m *Matrix) loosens(next *Matrix, name string) (why []string) {
	for l := range labels {
		for s := range sinks {
			if was, now := m.Cell(l, s), next.Cell(l, s); now > was {
				why = append(why, fmt.Sprintf("%s.%s.%s is %s instead of %s", name, l, s, now, was))
			}
		}
	}
	return why
}

// stops reports whether the sink stops any label but the lowest.
func (m *Matrix) stops(s Sink) bool {
	for l := range labels {
		if m.Cell(l, s) != Allow {
			return true
		}
	}
	return false
}

// counts returns the lowest label that is stopped anywhere; Public if none is.
func (m *Matrix) counts() Label {
	for l := Public; l > Critical; l-- {
		for s := range sinks {
			if m.Cell(l, s) != Allow {
				return l
			}
		}
	}
	return Critical
}

// allowAll is a row that allows everything.
var allowAll = Row{External: Allow, Exec: Allow, Memory: Allow, WorkspaceWrite: Allow, Read: Allow}

// DefaultData is the matrix for data that a call itself carries.
func DefaultData() Matrix {
	return Matrix{
		Critical:     Row{External: Block, Exec: Escalate, Memory: Block, WorkspaceWrite: Allow, Read: Escalate},
		Restricted:   Row{External: Block, Exec: Allow, Memory: Block, WorkspaceWrite: Allow, Read: Allow},
		Confidential: Row{External: Escalate, Exec: Allow, Memory: Escalate, WorkspaceWrite: Allow, Read: Allow},
		Internal:     allowAll,
		Public:       allowAll,
	}
}

// DefaultSession is the matrix for what the session has read before. External is for destinations
// that the session has not used.
func DefaultSession() Matrix {
	return Matrix{
		Critical:     Row{External: Escalate, Exec: Allow, Memory: Escalate, WorkspaceWrite: Allow, Read: Allow},
		Restricted:   Row{External: Escalate, Exec: Allow, Memory: Allow, WorkspaceWrite: Allow, Read: Allow},
		Confidential: allowAll,
		Internal:     allowAll,
		Public:       allowAll,
	}
}
