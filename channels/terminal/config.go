package terminal

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"

	"approver.example"
	"approver.example/display"
	"approver.example/internal/secret"
	"approver.example/internal/section"
)

const (
	// Name is the channel's word in the configuration.
	Name = "terminal"
	// Conversation is the terminal's one conversation: everybody who watches on this machine.
	Conversation = "local"
)

// Config is the terminal's part of the configuration. The zero value is refused, because it
// names nobody.
type Config struct {
	// Approvers lists the users of this machine who may watch, each by uid as a
	// decimal number, never by login name. Nobody else is shown a card.
	Approvers []approver.Approver `yaml:"approvers" held:"no"`

	// AllowAnswers lets the approvers answer in `approver watch`. It is off by
	// default: they see every card there and answer in a chat. On a machine
	// where agent and approver have the same uid, the agent could answer too;
	// so a CATASTROPHIC request is never approved in the terminal there.
	AllowAnswers bool `yaml:"allow_answers,omitempty"`

	// Language is what cards in the terminal are written in; empty means that of the whole
	// configuration.
	Language display.Lang `yaml:"language,omitempty" held:"no"`

	// Isolated says that no agent can reach the resolve socket. It is not a setting: the
	// service sets it once it has made sure.
	Isolated bool `yaml:"-"`

	// Alone says that no chat is configured, and Owner that this machine's root may approve
	// what nobody else can. Neither is a setting; both only affect texts.
	Alone bool `yaml:"-"`
	Owner bool `yaml:"-"`
	// Waits says that the file allows answers, but people have not approved that yet. It is not
	// a setting either, and by itself allows no answer.
	Waits bool `yaml:"-"`
}

// Validate returns every problem of the configuration, joined.
func (c Config) Validate() error {
	var errs []error
	if len(c.Approvers) == 0 {
		errs = append(errs, errors.New("approvers is empty: name at least one uid that may watch, see `id -u`"))
	}
	seen := map[string]bool{}
	for i, a := range c.Approvers {
		if err := checkUID(a.ID); err != nil {
			errs = append(errs, fmt.Errorf("approvers[%d].id: %w", i, err))
		} else if seen[a.ID] {
			errs = append(errs, fmt.Errorf("approvers[%d].id: uid %s is listed twice: keep one entry", i, a.ID))
		}
		seen[a.ID] = true
	}
	return errors.Join(errs...)
}

// checkUID accepts a uid only in the form in which uids are compared later. The greatest number
// is the kernel's "no user".
func checkUID(s string) error {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || strconv.FormatUint(n, 10) != s {
		return fmt.Errorf("%q is not a uid: give the decimal number that `id -u NAME` prints", s)
	}
	if n == math.MaxUint32 {
		return fmt.Errorf("uid %s means nobody to the kernel: give the decimal number that `id -u NAME` prints", s)
	}
	return nil
}

// Open makes the channel.
func (c Config) Open(in section.Installation, log *slog.Logger) (approver.Channel, error) {
	c.Isolated, c.Alone, c.Owner, c.Waits = in.Isolated, in.Alone, in.Owner, in.Waits
	return New(c, log)
}

// Answers reports whether answers are taken on this machine.
func (c Config) Answers() bool { return c.AllowAnswers }

// People returns the approver list.
func (c Config) People() []approver.Approver { return c.Approvers }

// Languages returns the language of the terminal, if it has one of its own.
func (c Config) Languages() map[string]display.Lang {
	if c.Language == "" {
		return nil
	}
	return map[string]display.Lang{Conversation: c.Language}
}

// Secrets returns nothing: the kernel identifies watchers.
func (*Config) Secrets() []secret.Setting { return nil }

// Destinations returns the terminal's one destination, or none if nobody may
// watch.
func (c Config) Destinations() []approver.Destination {
	if len(c.Approvers) == 0 {
		return nil
	}
	return []approver.Destination{{Channel: Name, Conversation: Conversation}}
}
