package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"approver.example"
	"approver.example/broadcaster/ladder"
	"approver.example/broadcaster/sealing"
	"approver.example/display"
)

// Options are what a Broadcaster is made with. All its parts share them.
type Options struct {
	Store approver.KV
	Audit approver.Recorder
	// SyncRelease has the audit be durable before a call is released. It is for stores on other
	// machines; what a local one has is never lost without this machine's disk.
	SyncRelease bool
	// Shared says that other daemons may use the store as well, and post the cards that this one cannot. All of them
	// share what a platform takes from a bot.
	Shared bool
	// OnAnswer is called in the background with every record of a person's yes or no, after the
	// answer is in the store. It may be nil.
	OnAnswer     func(context.Context, approver.Record)
	People       approver.People // who may answer, until Approvers.Set
	Channels     []approver.Channel
	Destinations []approver.Destination
	// Ladder says which destinations get a card at once, and which later; the zero value is all at once.
	Ladder ladder.Plan
	// Fingerprint says what would run if the call were released now.
	Fingerprint func(context.Context, approver.ToolCall) (approver.Binding, error)
	// Limit counts a question to people before it is asked, also one of a process about
	// approver itself (ToolCall.Control). It counts an id once however often it is called,
	// because making a request may be tried again. Each request is a question with an id of
	// its own, even if the agent uses a call id twice. The error is an
	// [approver.TooManyError] if there were too many questions lately; any other error
	// means that this is not known. With either, nobody is asked.
	Limit func(ctx context.Context, id string, call approver.ToolCall) error
	// Judge judges a call that a person changed, as its agent's own. It asks nobody and records nothing.
	// If it is nil, nobody may change a call.
	Judge func(context.Context, approver.ToolCall) approver.Verdict
	// Rule writes a rule for the policy that allows this call and no other, for
	// people to add. It may be nil.
	Rule func(approver.ToolCall) (string, error)
	// CodeKey is the key of the hashes of codes; the key that requests are sealed with is
	// derived from it. It has at least 32 bytes. OldCodeKeys are those that it replaced:
	// codes and requests made under them still count.
	CodeKey     []byte
	OldCodeKeys [][]byte
	// Mark is the version of the controls that this process knows; nil means none.
	Mark       *ControlMark
	CodeLength int           // characters behind CONFIRM-, never fewer than 6
	TTL        time.Duration // when the rule sets none; zero is DefaultTTL
	// Wait is how long people have at least for the call of an agent, by its severity. The codes of its cards
	// are then renewed. Without one, TTL or the rule says how long, and a code lives as long as its request.
	Wait    map[approver.Severity]time.Duration
	KeepFor time.Duration // in the store after the deadline; zero is DefaultKeepFor
	Host    string        // shown on cards
	// Language says in which language the cards of a destination are; nil is English.
	Language func(approver.Destination) display.Texts
	// LanguageOf says in which language somebody is told what became of their answer; nil is English.
	LanguageOf func(channel, sender, conversation string) display.Texts
	Notice     string // shown on cards, such as NOT ISOLATED
	// Project is the project of a folder, for freezes of one agent; nil means that each folder is one.
	Project func(dir string) string
	// Troubles says what is wrong with this daemon beyond its channels and its store, in a line each, for
	// people who ask how it is. It may be nil.
	Troubles func(context.Context) []string
	// RunAgain is the pause before a channel that ended by itself is run again; zero is
	// DefaultRunAgain.
	RunAgain time.Duration
	// OutageAfter is how long a channel must have been of no use before people are told on the others;
	// zero is DefaultOutageAfter.
	OutageAfter time.Duration
	// Unlimited sends all at once, whatever the channels say of their platforms' limits: for platforms that have
	// none, as in tests.
	Unlimited bool
	Log       *slog.Logger

	process string // an id of this process
}

// withDefaults fills in what was left out.
func (o Options) withDefaults() Options {
	if o.Mark == nil {
		o.Mark = NewControlMark(0)
	}
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	if o.KeepFor == 0 {
		o.KeepFor = approver.DefaultKeepFor
	}
	if o.RunAgain <= 0 {
		o.RunAgain = DefaultRunAgain
	}
	if o.OutageAfter <= 0 {
		o.OutageAfter = DefaultOutageAfter
	}
	return o
}

// textsFor is what somebody is told with what became of their answer.
func (o *Options) textsFor(channel, sender, conversation string) display.Texts {
	if o.LanguageOf == nil {
		return display.Texts{}
	}
	return o.LanguageOf(channel, sender, conversation)
}

// check says what is missing or wrong in the options.
func (o *Options) check() error {
	var errs []error
	names := map[string]bool{}
	for _, c := range o.Channels {
		names[c.Name()] = true
	}
	for _, d := range o.Destinations {
		if !names[d.Channel] {
			errs = append(errs, fmt.Errorf("destination %s/%s: no channel %q is configured", d.Channel, d.Conversation,
				d.Channel))
		}
	}
	if o.Store == nil || o.Audit == nil || o.Fingerprint == nil || o.Limit == nil || o.Log == nil {
		errs = append(errs, errors.New("store, audit, fingerprint, limit and log are required"))
	}
	for _, key := range append([][]byte{o.CodeKey}, o.OldCodeKeys...) {
		if len(key) < sealing.MinKey {
			errs = append(errs, errors.New("a code key must have at least 32 bytes"))
		}
	}
	if o.KeepFor < approver.MinKeepFor {
		errs = append(errs, fmt.Errorf("requests must be kept for at least %v", approver.MinKeepFor))
	}
	return errors.Join(errs...)
}
