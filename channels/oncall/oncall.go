// Package oncall calls whoever is on call: it opens an alert at PagerDuty or Opsgenie for a request
// that waits, and closes it when the request has ended.
//
// It only calls people to the chats. Nobody can answer here: it receives nothing, an alert has no
// code, and pressing Acknowledge or Resolve at the service says nothing to approver. An alert has
// the headline of the card, which a phone shows as it is, why people are asked, and where the card
// is. It has no more of the command than a lock screen.
//
// Read config.go for the settings, page.go for what an alert says, pagerduty.go and opsgenie.go for
// the protocols, and api.go for the way to the services.
package oncall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"approver.example"
	"approver.example/channels/internal/calls"
)

// Name is the channel's word in the configuration.
const Name = "oncall"

// A Channel opens and closes alerts. Make it with New.
type Channel struct {
	log      *slog.Logger
	http     *http.Client
	services map[string]*service
	shown    func(ctx context.Context, request string) []string // nil until Where
	pauses   calls.Pauses[string]                               // by service
	doubts   doubts
}

// New makes the channel. Entries in log should name the channel. It reads the files of the keys,
// refuses a configuration that Validate refuses, and makes no connection.
func New(cfg Config, log *slog.Logger) (*Channel, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("oncall: %w", err)
	}
	services, err := cfg.services()
	if err != nil {
		return nil, fmt.Errorf("oncall: %w", err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Channel{
		log: log, http: newHTTPClient(), services: services, doubts: doubts{after: doubtFor, every: doubtsEvery},
	}, nil
}

// Name returns "oncall".
func (c *Channel) Name() string { return Name }

// Takes returns false: nobody can answer here.
func (c *Channel) Takes(approver.Severity) bool { return false }

// Where implements [approver.Pager].
func (c *Channel) Where(shown func(ctx context.Context, request string) []string) { c.shown = shown }

// Run closes alerts that nobody knows to be open, until ctx ends. It receives nothing.
func (c *Channel) Run(ctx context.Context, _ approver.ReplyFunc) error {
	for calls.Sleep(ctx, c.doubts.every) == nil {
		for _, d := range c.doubts.over() {
			if err := c.close(ctx, d.service, d.request, ""); err == nil {
				c.doubts.forget(d)
			}
		}
	}
	return nil
}

// Post opens an alert. The service takes the request's id as the name of the alert, so a post that is
// tried again opens no second one.
func (c *Channel) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	s, err := c.serviceOf(to)
	switch {
	case err != nil:
		return approver.Ref{}, err
	case card.State != approver.Pending:
		return approver.Ref{}, calls.Final("oncall: only a request that waits is an alert")
	case card.Request == "":
		return approver.Ref{}, calls.Final("oncall: the card has no request")
	}
	d := doubt{service: s, request: card.Request}
	err = c.call(ctx, s, "open an alert", s.open(c.page(ctx, card)))
	if err != nil {
		if calls.Unclear(err) {
			c.doubts.add(d, card.Due)
		}
		return approver.Ref{}, err
	}
	c.doubts.forget(d)
	// The command is not on it: see the package comment.
	return approver.Ref{Destination: to, Message: card.Request, Partial: true}, nil
}

// Update closes the alert once the request has ended. While it waits, an alert stays as it is.
func (c *Channel) Update(ctx context.Context, ref approver.Ref, card approver.Card) error {
	s, err := c.serviceOf(ref.Destination)
	if err != nil || card.State == approver.Pending {
		return err
	}
	if err := c.close(ctx, s, ref.Message, card.Result); err != nil {
		return err
	}
	c.doubts.forget(doubt{service: s, request: ref.Message})
	return nil
}

func (c *Channel) close(ctx context.Context, s *service, request, result string) error {
	return c.call(ctx, s, "close an alert", s.close(request, result))
}

func (c *Channel) serviceOf(to approver.Destination) (*service, error) {
	s := c.services[to.Conversation]
	if to.Channel != Name || s == nil || to.Thread != "" {
		return nil, calls.Final("oncall: there is no service %q: it has %s", to.Conversation,
			strings.Join(slices.Sorted(maps.Keys(c.services)), " and "))
	}
	return s, nil
}

// Health asks each service that has a harmless call for it, and says which were not asked.
func (c *Channel) Health(ctx context.Context) (who string, err error) {
	var says []string
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.services)) {
		s := c.services[name]
		said, err := c.check(ctx, s)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		says = append(says, s.title+said)
	}
	return strings.Join(says, ", "), errors.Join(errs...)
}

// Holds implements [approver.Renewer].
func (c *Channel) Holds(file string) bool {
	for _, s := range c.services {
		if s.key.Holds(file) {
			return true
		}
	}
	return false
}
