// Package configs reads the configuration: one YAML file whose [Config] is the
// sum of each package's own, and the policy that it names.
//
// The file is read strictly. An unknown key, a value of the wrong kind and
// everything that a part finds wrong with its section is an error; all errors
// are reported at once, each with its position, the line with a caret below it, and
// how to fix it. A secret is never shown.
//
// approver.default.yaml is the manual: it holds every key with its explanation,
// reading it gives [Default], and docs/config.md is generated from it.
package configs

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/audit"
	"approver.example/broadcaster/ladder"
	"approver.example/display"
	"approver.example/reflexcore"
	"approver.example/shieldcore/quota"
	"approver.example/tokens"
)

// Config is the whole configuration. [Load] and [LoadOrDefault] return one with
// every path absolute; [Default] is the one before that, see [Config.Resolve].
type Config struct {
	// File is where the configuration was read from; empty if there is none.
	File string `yaml:"-"`
	// Dir is the folder for everything that the daemon keeps: keys, and unless
	// their own settings say otherwise, store and audit.
	Dir string `yaml:"dir"`
	// Sockets are where agents and people on this machine connect.
	Sockets Sockets `yaml:"sockets"`
	// Policy is the policy file, or preset: and the name of a built-in one; empty
	// means the preset default.
	Policy string `yaml:"policy"`
	// TTL is how long people have to answer unless a policy says otherwise: 5s to 1h.
	TTL time.Duration `yaml:"ttl"`
	// Wait is how long people have at least for a call of an agent.
	Wait Wait `yaml:"wait"`
	// AsksPerMinute limits how often people are asked.
	AsksPerMinute quota.AskLimits `yaml:"asks_per_minute"`
	// Pace has cards and edits wait their turn, so that no platform refuses them for coming too soon.
	Pace bool `yaml:"pace"`
	// Language is what people are spoken to in, unless a chat or an approver has another one; empty
	// means English.
	Language display.Lang `yaml:"language"`
	// CodeLength is the number of characters in a confirmation code.
	CodeLength int `yaml:"code_length"`
	// FailMode says what happens to a call that cannot be judged: FailClosed or FailOpen.
	FailMode string `yaml:"fail_mode"`
	// FreezeOnBypass freezes everything when an agent reports a call that ran without
	// approval, or other than it was judged. Otherwise only that agent is frozen.
	FreezeOnBypass bool `yaml:"freeze_on_bypass"`

	Agents   Agents   `yaml:"agents"`
	Log      Log      `yaml:"log"`
	Audit    Audit    `yaml:"audit"`
	Store    Store    `yaml:"store"`
	Channels Channels `yaml:"channels"`
	// Webhooks is the listener on which chat platforms bring answers.
	Webhooks Webhooks `yaml:"webhooks"`

	// Ladder says which chats get a card at once, and which later; empty means all at once.
	Ladder []ladder.Step `yaml:"ladder"`
	// Remind is after how long without an answer people are reminded; zero is never.
	Remind time.Duration `yaml:"remind"`
	// Quiet are the hours in which chats are left alone.
	Quiet []ladder.Quiet `yaml:"quiet"`
	// Schedules say who is on duty.
	Schedules []ladder.Schedule `yaml:"schedules"`

	// Shield is about the tiers and what tools return.
	Shield Shield `yaml:"shield"`

	// Reflex has the budgets of the analysis of a call.
	Reflex reflexcore.Config `yaml:"reflex"`
}

// Wait is how long people have at least for the call of an agent, by its severity: 2m to 1h. The codes of its cards
// are renewed meanwhile. Zero is TTL, or what a policy says.
type Wait struct {
	High         time.Duration `yaml:"high"`
	Catastrophic time.Duration `yaml:"catastrophic"`
}

// minWait is the least wait: the life of a code.
const minWait = 2 * time.Minute

// Of is the wait of each severity that has one.
func (w Wait) Of() map[approver.Severity]time.Duration {
	of := map[approver.Severity]time.Duration{approver.High: w.High, approver.Catastrophic: w.Catastrophic}
	maps.DeleteFunc(of, func(_ approver.Severity, wait time.Duration) bool { return wait <= 0 })
	return of
}

// Webhooks are the settings that all channels with receive: webhook share.
type Webhooks struct {
	// Listen is the address, host and port, of the one listener for all of them. It speaks plain HTTP: a
	// reverse proxy in front of it speaks TLS.
	Listen string `yaml:"listen"`
	// URL is the address under which the platforms reach the listener, without the channel's name.
	URL string `yaml:"url"`
}

// Sockets are the paths of the two unix sockets. Empty means the place where
// couriers look, see package socketpath.
type Sockets struct {
	Submit  string `yaml:"submit"`  // agents ask here
	Resolve string `yaml:"resolve"` // people answer here

	// SubmitUIDs and SubmitGroup are the users that agents run as. If both are empty, both
	// sockets belong to the daemon's own user. Otherwise only these users may submit, and none
	// of them may answer.
	SubmitUIDs  []uint32 `yaml:"submit_uids"`
	SubmitGroup string   `yaml:"submit_group"`
	// ResolveUIDs may answer, besides the daemon's own user and root.
	ResolveUIDs []uint32 `yaml:"resolve_uids"`
}

// Agents are the settings of each agent, by its name.
type Agents map[string]Agent

// Names are the agents that can have settings.
func (Agents) Names() []string { return agents.Names() }

// An Agent is the daemon's settings for one agent. They are here and not in flags of the hook,
// because agents can edit their own settings.
type Agent struct {
	// ParkAfter is how long people have to answer before the agent is told to run the same
	// call again later: 5s to 1h. Zero is never, unless the hook asks for it.
	ParkAfter time.Duration `yaml:"park_after"`
	// Prompts says when people are asked what the agent is about to ask its own user; empty is away.
	Prompts Prompts `yaml:"prompts"`
	// AwayAfter is how long nobody must have typed at the agent's terminal, since it asked, before
	// people are asked; zero is DefaultAwayAfter.
	AwayAfter time.Duration `yaml:"away_after"`
}

// Prompts says when people are asked what an agent is about to ask its own user.
type Prompts string

// The values. An agent that runs without a dialog has nobody at its desk.
const (
	PromptsNever  Prompts = "never"  // only its own dialog asks
	PromptsAway   Prompts = "away"   // when nobody is at its terminal
	PromptsAlways Prompts = "always" // at once, beside its own dialog
)

// Bounds of AwayAfter. A terminal's time is only noted every eight seconds.
const (
	DefaultAwayAfter = 30 * time.Second
	minAwayAfter     = 10 * time.Second
	maxAwayAfter     = 10 * time.Minute
)

// UnmarshalText reads never, away or always.
func (p *Prompts) UnmarshalText(b []byte) error {
	switch value := Prompts(b); value {
	case PromptsNever, PromptsAway, PromptsAlways:
		*p = value
		return nil
	}
	return fmt.Errorf("unknown value %q: never, away or always", b)
}

// Asks is Prompts with its default.
func (a Agent) Asks() Prompts { return cmp.Or(a.Prompts, PromptsAway) }

// awayProblem says what is wrong with AwayAfter; empty if nothing is.
func (a Agent) awayProblem() string {
	if a.AwayAfter != 0 && (a.AwayAfter < minAwayAfter || a.AwayAfter > maxAwayAfter) {
		return "must be " + short(minAwayAfter) + " to " + short(maxAwayAfter)
	}
	return ""
}

// Away is AwayAfter with its default.
func (a Agent) Away() time.Duration { return cmp.Or(a.AwayAfter, DefaultAwayAfter) }

// Hold returns how long the named agent's hook may have to wait for an answer: the time for
// people, plus the time for the evaluation before that.
func (c Config) Hold(agent string) time.Duration {
	hold := c.TTL
	if park := c.Agents[agent].ParkAfter; park > 0 {
		hold = min(park, c.TTL)
	}
	return hold + c.Evaluating()
}

// Evaluating returns how long the evaluator may take for one call; zero without an evaluator.
func (c Config) Evaluating() time.Duration {
	if c.Shield.Evaluator == nil {
		return 0
	}
	return c.Shield.Evaluator.Longest()
}

// Log says what the daemon writes to its standard error.
type Log struct {
	Level  Level     `yaml:"level"`
	Format LogFormat `yaml:"format"`
}

// A LogFormat is how the lines of the log are written. The zero value is text.
type LogFormat string

// The formats.
const (
	LogText LogFormat = "text" // key=value, for people
	LogJSON LogFormat = "json" // one object a line, for programs
)

// UnmarshalText reads text or json.
func (f *LogFormat) UnmarshalText(b []byte) error {
	switch format := LogFormat(b); format {
	case LogText, LogJSON:
		*f = format
		return nil
	}
	return fmt.Errorf("unknown format %q: text or json", b)
}

// Level is a level of the log as a [slog.Leveler]. The zero value is info.
type Level slog.Level

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// Level returns the level.
func (l Level) Level() slog.Level { return slog.Level(l) }

// UnmarshalText reads debug, info, warn or error.
func (l *Level) UnmarshalText(b []byte) error {
	level, ok := levels[string(b)]
	if !ok {
		return fmt.Errorf("unknown level %q: one of debug, info, warn, error", b)
	}
	*l = Level(level)
	return nil
}

// Audit says where the audit log is, and how it is split, signed and pruned.
type Audit struct {
	// Dir is the folder of the log; empty means audit in Config.Dir.
	Dir string `yaml:"dir"`
	// KeyFile holds the key that signs checkpoints; empty means audit.key in
	// Config.Dir. It is made on the first start.
	KeyFile string `yaml:"key_file"`
	// ID names the log in a store that several daemons share; empty means the
	// host's name.
	ID string `yaml:"id"`
	// MaxSize is the size in bytes at which a new file is started.
	MaxSize int64 `yaml:"max_size"`
	// CheckpointEvery and CheckpointAfter are the number of records, and the
	// time, after which the log is signed.
	CheckpointEvery int           `yaml:"checkpoint_every"`
	CheckpointAfter time.Duration `yaml:"checkpoint_after"`
	// Sync is SyncBeforeAnswer or SyncGroup.
	Sync string `yaml:"sync"`
	// Keep says when old files are removed.
	Keep audit.Keep `yaml:"keep"`
}

// When the record of a call that runs without a person is durable.
const (
	SyncBeforeAnswer = "before_answer" // before the agent is answered
	SyncGroup        = "group"         // within audit.MaxPassBehind of the answer
)

// Options returns the part of the log's options that the configuration decides.
func (a Audit) Options() audit.Options {
	return audit.Options{
		Dir: a.Dir, ID: a.ID, MaxSize: a.MaxSize, CheckpointEvery: a.CheckpointEvery, CheckpointAfter: a.CheckpointAfter,
		Keep: a.Keep,
	}
}

// Default returns the configuration of an empty file: no channel, so that every
// call that needs people is denied.
func Default() Config {
	return Config{
		AsksPerMinute: quota.DefaultAskLimits(), Pace: true,
		TTL:        120 * time.Second,
		CodeLength: tokens.MinLength,
		FailMode:   FailClosed,
		Log:        Log{Level: Level(slog.LevelInfo), Format: LogText},
		Store:      Store{KeepFor: approver.DefaultKeepFor},
		Webhooks:   Webhooks{Listen: "127.0.0.1:8790"},
		Audit: Audit{
			MaxSize:         audit.DefaultMaxSize,
			CheckpointEvery: audit.DefaultCheckpointEvery,
			CheckpointAfter: audit.DefaultCheckpointAfter,
			Sync:            SyncBeforeAnswer,
		},
		Reflex: reflexcore.DefaultConfig(),
		Shield: defaultShield(),
	}
}

// People returns the approver list of all channels.
func (c Config) People() approver.People {
	people := approver.People{}
	for _, ch := range c.Channels.InUse() {
		people.Add(ch.Name, ch.People())
	}
	return people
}

// Destinations returns every place that gets a card.
func (c Config) Destinations() []approver.Destination {
	var all []approver.Destination
	for _, ch := range c.Channels.InUse() {
		all = append(all, ch.Destinations()...)
	}
	return all
}

// AuditDir returns the folder of the audit.
func (c Config) AuditDir() string {
	if c.Audit.Dir != "" {
		return c.Audit.Dir
	}
	return filepath.Join(c.Dir, "audit")
}

// AuditKey returns the file of the key that signs the audit.
func (c Config) AuditKey() string {
	if c.Audit.KeyFile != "" {
		return c.Audit.KeyFile
	}
	return filepath.Join(c.Dir, "audit.key")
}

// AuditID returns the name of the log: the configured one, or the host's name
// with a dash for each character that an id may not have.
func (c Config) AuditID() string {
	if c.Audit.ID != "" {
		return c.Audit.ID
	}
	host, err := os.Hostname()
	if err != nil {
		return "" // audit.Open tells why
	}
	return strings.Map(func(r rune) rune {
		if !idChar(r) {
			return '-'
		}
		return r
	}, host)
}

func idChar(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_", r)
}
