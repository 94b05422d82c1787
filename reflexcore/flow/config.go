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
	// Session is for how long after the last read what a session has seen counts.
	Session time.Duration `yaml:"session" json:"session"`
	// Sources add to the places that approver knows to hold credentials.
	Sources []Source `yaml:"sources" json:"sources"`
	Matrix  Matrices `yaml:"matrix" json:"matrix"`
}

// Matrices are the matrix for data that a call itself carries, and the one for what
// the session has seen before.
type Matrices struct {
	Data    Matrix `yaml:"data" json:"data"`
	Session Matrix `yaml:"session" json:"session"`
}

// DefaultConfig is what counts where nothing is configured: it is recorded what the
// default matrices would stop.
func DefaultConfig() Config {
	return Config{Mode: Audit, Session: 12 * time.Hour, Matrix: Matrices{DefaultData(), DefaultSession()}}
}

// How long what a session has seen may count.
const (
	minSession = 10 * time.Minute
	maxSession = 30 * 24 * time.Hour
)

// Faults says what is wrong, each by the name of its key.
func (c Config) Faults() []error {
	var out []error
	if c.Session < minSession || c.Session > maxSession {
		out = append(out, errors.New("flow.session must be 10m to 720h"))
	}
	out = append(out, SourceFaults("flow.sources", c.Sources)...)
	out = append(out, c.Matrix.Data.faults("flow.matrix.data")...)
	return append(out, c.Matrix.Session.faults("flow.matrix.session")...)
}

// Loosens says what may be let go under next that c stops, a sentence for each; none
// means that this is certain not to be.
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

// Version names what c says: the SHA-256 of its text in hex. Empty is the default.
func (c Config) Version() string {
	text := c.Text()
	if slices.Equal(text, DefaultConfig().Text()) {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Text is c as JSON, from which [ParseText] reads it.
func (c Config) Text() []byte {
	if c.Sources == nil {
		c.Sources = []Source{}
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		panic("flow: " + err.Error()) // stays unreached: all of it is words and numbers
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

// A Policy is a configuration that is ready to be asked. Use [Compile]; it can be
// shared.
type Policy struct {
	Config

	version  string
	sources  Sources
	sessions [sinks]bool // the session counts at the sink
	counts   Label       // the lowest label of a session that does
}

// Compile makes a policy; the error is that of [Config.Faults].
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

// Version names what the policy says, see [Config.Version].
func (p *Policy) Version() string { return p.version }

// Sources are the configured ones.
func (p *Policy) Sources() Sources { return p.sources }

// SessionCounts reports whether it matters at a sink what the session has seen.
func (p *Policy) SessionCounts(s Sink) bool { return p.sessions[min(s, sinks-1)] }

// Counts reports whether it matters that a session has seen data with the label.
func (p *Policy) Counts(l Label) bool { return l <= p.counts && l < Public }

// A Basis is what a flow is judged by.
type Basis uint8

// The bases.
const (
	Data    Basis = iota // what the call itself carries
	Session              // what the session has seen before
)

// String returns the word.
func (b Basis) String() string {
	if b == Session {
		return "session"
	}
	return "data"
}

// MarshalText writes the word.
func (b Basis) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// A Finding is one flow of a call and what the matrix says of it.
type Finding struct {
	Label  Label  `json:"label"`
	Sink   Sink   `json:"sink"`
	Basis  Basis  `json:"basis"`
	Action Action `json:"action"`
	// Effect is the index of the effect by which the data gets there, or -1: the tool
	// does it by its name.
	Effect int `json:"effect"`
}

// Cell names the cell that decided, such as "data.critical.external".
func (f Finding) Cell() string {
	return fmt.Sprintf("%s.%s.%s", f.Basis, f.Label, f.Sink)
}

// Judge says what becomes of data at a sink.
func (p *Policy) Judge(l Label, s Sink, b Basis) Finding {
	m := &p.Matrix.Data
	if b != Data {
		m = &p.Matrix.Session
	}
	return Finding{Label: l, Sink: s, Basis: b, Action: m.Cell(l, s)}
}
