package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Config is the section reflex.flow of the configuration.
type Config struct {
	Mode Mode `yaml:"mode" json:"mode"`
	// Session is how long data counts as known to the session after it was last read.
	Session time.Duration `yaml:"session" json:"session"`
	// Sources add to the places that approver knows to hold credentials.
	Sources []Source `yaml:"sources" json:"sources"`
	Matrix  Matrices `yaml:"matrix" json:"matrix"`
}

// Matrices has the matrix for data that a call itself carries, and the one for what the session has
// read before.
type Matrices struct {
	Data    Matrix `yaml:"data" json:"data"`
	Session Matrix `yaml:"session" json:"session"`
}

// DefaultConfig returns the configuration that is used where nothing is set: the default matrices,
// in monitor mode.
func DefaultConfig() Config {
	return Config{Mode: Audit, Session: 12 * time.Hour, Matrix: Matrices{DefaultData(), DefaultSession()}}
}

// The shortest and the longest time for which a session's reads may count.
const (
	minSession = 10 * time.Minute
	maxSession = 30 * 24 * time.Hour
)

// Faults lists the problems, each by its key.
func (c Config) Faults() []error {
	var out []error
	if c.Session < minSession || c.Session > maxSession {
		out = append(out, errors.New("flow.session must be 10m to 720h"))
	}
	out = append(out, SourceFaults("flow.sources", c.Sources)...)
	out = append(out, c.Matrix.Data.faults("flow.matrix.data")...)
	return append(out, c.Matrix.Session.faults("flow.matrix.session")...)
}

// Loosens lists what c stops and next may let pass, one sentence each. An empty list means that next
// is surely at least as strict.
func (c Config) Loosens(next Config) (why []string) {
	if next.Mode > c.Mode {
		why = append(why, fmt.Sprintf("the mode is %s instead of %s", next.Mode, c.Mode))
	}
	if next.Session < c.Session {
		why = append(why, fmt.Sprintf("what a session has seen counts for %s instead of %s", next.Session, c.Session))
	}
	for _, s := range c.Sources {
		for _, rest := range s.without(next.Sources) {
			why = append(why, fmt.Sprintf("%s is no longer a source of %s data", rest, s.Label))
		}
	}
	why = append(why, c.Matrix.Data.loosens(&next.Matrix.Data, "matrix.data")...)
	return append(why, c.Matrix.Session.loosens(&next.Matrix.Session, "matrix.session")...)
}

// Version identifies the configuration: the SHA-256 of its text in hex. It is empty for the default.
func (c Config) Version() string {
	text := c.Text()
	if slices.Equal(text, DefaultConfig().Text()) {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Text returns c as JSON, which [ParseText] reads.
func (c Config) Text() []byte {
	if c.Sources == nil {
		c.Sources = []Source{}
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		panic("flow: " + err.Error()) // never happens: it is all words and numbers
	}
	return text
}

// ParseText reads what [Config.Text] wrote.
func ParseText(text []byte) (Config, error) {
	var c Config
	if err := json.Unmarshal(text, &c); err != nil {
		return Config{}, err
	}
	return c, errors.Join(c.Faults()...)
}

// A Policy is a compiled configuration. Create it with [Compile]. It is safe for concurrent use.
type Policy struct {
	Config

	version  string
	sources  Sources
	sessions [sinks]bool // the session counts at the sink
	counts   Label       // the lowest label of a session that counts
}

// Compile makes a policy. The error is that of [Config.Faults].
func Compile(c Config) (*Policy, error) {
	if err := errors.Join(c.Faults()...); err != nil {
		return nil, err
	}
	p := &Policy{Config: c, version: c.Version(), sources: CompileSources("", c.Sources),
		counts: c.Matrix.Session.counts()}
	for s := range sinks {
		p.sessions[s] = c.Matrix.Session.stops(s)
	}
	return p, nil
}

// Version identifies the configuration of the policy, see [Config.Version].
func (p *Policy) Version() string { return p.version }

// Sources returns the configured sources.
func (p *Policy) Sources() Sources { return p.sources }

// SessionCounts reports whether what the session has read can matter at a sink.
func (p *Policy) SessionCounts(s Sink) bool { return p.sessions[min(s, sinks-1)] }

// Counts reports whether it can matter that a session has read data with the label.
func (p *Policy) Counts(l Label) bool { return l <= p.counts && l < Public }

// A Basis says which data a flow was judged by: the call's own, or the session's.
type Basis uint8

// The bases.
const (
	Data    Basis = iota // what the call itself carries
	Session              // what the session has seen before
)

// String returns the name.
func (b Basis) String() string { return nameOf([]string{"data", "session"}, uint8(b)) }

// MarshalText implements [encoding.TextMarshaler].
func (b Basis) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// A Finding is one flow of a call, and what the matrix says about it.
type Finding struct {
	Label  Label  `json:"label"`
	Sink   Sink   `json:"sink"`
	Basis  Basis  `json:"basis"`
	Action Action `json:"action"`
	// Effect is the index of the effect that moves the data, or -1 if the tool does it by its name.
	Effect int `json:"effect"`
}

// Cell names the cell that decided, such as "data.critical.external".
func (f Finding) Cell() string {
	return fmt.Sprintf("%s.%s.%s", f.Basis, f.Label, f.Sink)
}

// Judge returns what the matrix says about data at a sink.
func (p *Policy) Judge(l Label, s Sink, b Basis) Finding {
	m := &p.Matrix.Data
	if b != Data {
		m = &p.Matrix.Session
	}
	return Finding{Label: l, Sink: s, Basis: b, Action: m.Cell(l, s)}
}
