package pairing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"approver.example"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/safefile"
	"approver.example/httpapi"
	"approver.example/tokens"
)

// CodeLength is longer than that of a card's code: it lives longer, and
// tries are not counted.
const CodeLength = 12

// A platform is one of those that people are paired on.
type platform struct {
	name  string
	how   string   // what the person does, with the place of the code
	fresh []string // settings that the command line names, for a new section
	link  string   // what stands before the bot's name in an address of it, if it has one
	// open makes a channel that only pairs, for when no daemon receives.
	open func() (approver.Pairer, error)
	// lines says what is added for somebody.
	lines func(approver.Paired) pairing
}

// secret takes a secret's file from the command line, if it is named there.
func (p *platform) secret(named, key string, value *approver.Secret, file *string) error {
	if named == "" {
		return nil
	}
	if approver.IsPath(named) {
		abs, err := filepath.Abs(named)
		if err != nil {
			return err
		}
		named = abs
	}
	*value, *file = approver.Secret{}, named
	p.fresh = append(p.fresh, key+": "+strconv.Quote(named))
	return nil
}

// noToken says what to do where neither the command line nor the configuration has a
// token. keys are the settings of it.
func (p *platform) noToken(flag, key string, value approver.Secret, file string) error {
	if !value.IsZero() || file != "" {
		return nil
	}
	return fmt.Errorf("%s: no token: put it into a file of mode 0600, and name that with --%s FILE, or set %s in the configuration; docs/channels/%[1]s.md says where to get one", p.name, flag, key)
}

// where says which bot it is, if the platform tells.
func (p *platform) where(ctx context.Context) string {
	if p.link == "" {
		return ""
	}
	ch, err := p.open()
	if err != nil {
		return "" // the code can be sent without
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if h, can := ch.(approver.HealthChecker); can {
		if who, err := h.Health(ctx); err == nil && strings.HasPrefix(who, "@") {
			return term.Visibly("the bot is " + who + ": " + p.link + who[1:] + "\n")
		}
	}
	return ""
}

func (p *platform) api(named string, url *string) {
	if named != "" {
		*url = named
		p.fresh = append(p.fresh, "api_url: "+strconv.Quote(named))
	}
}

// A configText is a configuration that need not be complete yet.
type configText struct {
	path     string
	text     []byte
	channels configs.Channels
	cfg      configs.Config // places and channels of it
}

// daemonOn reports whether a daemon runs, and whether it receives for a channel.
func daemonOn(ctx context.Context, client httpapi.ResolveClient, channel string) (runs, receives bool, err error) {
	var doc adminapi.Status
	err = client.Operate(ctx, adminapi.OpStatus, struct{}{}, &doc)
	switch {
	case err != nil && (errors.Is(err, os.ErrNotExist) || adminclient.IsRefused(err)) && !errors.Is(err, httpapi.ErrRefused):
		return false, false, nil
	case err != nil:
		return false, false, err
	}
	for _, c := range doc.Channels {
		receives = receives || c.Name == channel
	}
	return true, receives, nil
}

// offline says whether somebody may be added while nobody can be asked: as the
// first whom a chat reaches.
func offline(cfg configs.Config) error {
	if len(chatApprovers(cfg)) == 0 {
		return nil
	}
	return errors.New("there are approvers already, so one more needs their yes: start the daemon, approver serve, and run this again")
}

// chatApprovers are the people whom a chat reaches.
func chatApprovers(cfg configs.Config) []approver.Approver {
	cfg.Channels.Terminal = nil
	var all []approver.Approver
	for identity := range cfg.People() {
		all = append(all, approver.Approver{ID: identity.ID})
	}
	return all
}

// Alone pairs on a connection of its own.
func Alone(ctx context.Context, ch approver.Pairer, code tokens.Code) (who approver.Paired, err error) {
	run, stop := context.WithCancel(ctx)
	wait, give := context.WithCancelCause(ctx)
	defer give(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := ch.Run(run, nil); err != nil {
			give(err)
		}
	}()
	who, err = ch.Pair(wait, code)
	stop()
	<-ended
	return who, err
}

// lateIn tells the end of the time in our own words.
func lateIn(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("nobody sent the code: %w", context.Cause(ctx))
	}
	return err
}

// addTo writes the person and the place into the configuration, if those who
// must allow the exact change do.
func addTo(ctx context.Context, at configText, add pairing, who approver.Paired, allow func(diff []string) error) error {
	byHand := func(err error) error {
		return fmt.Errorf("%w\nnothing was changed: add the user id %s and the chat %s to channels.%s by hand", err, who.ID, who.Chat, add.channel)
	}
	next, diff, err := add.into(at.text)
	if err == nil {
		_, err = configs.Parse(at.path, next)
	}
	if err != nil {
		return byHand(err)
	}
	if len(diff) == 0 {
		term.Print(0, "%s names them already\n", at.path)
		return nil
	}
	if err := allow(diff); err != nil {
		return err
	}
	_, _, err = safefile.ChangeFile(at.path, func(old []byte) ([]byte, error) {
		if !bytes.Equal(old, at.text) {
			return nil, fmt.Errorf("%s was changed meanwhile", at.path)
		}
		return next, ctx.Err()
	})
	if err != nil {
		return byHand(err)
	}
	term.Print(0, "added to %s; it counts when the daemon starts anew\n", at.path)
	return nil
}
