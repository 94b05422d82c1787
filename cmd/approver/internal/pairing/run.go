package pairing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"approver.example"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/safefile"
	"approver.example/display"
	"approver.example/httpapi"
	"approver.example/internal/secret"
	"approver.example/internal/section"
	"approver.example/tokens"
)

func (c flags) read() (configText, error) {
	at := configText{path: c.Config}
	if at.path == "" {
		var err error
		if at.path, err = adminclient.UsualConfig(); err != nil {
			return at, err
		}
	}
	var err error
	at.text, err = os.ReadFile(at.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return at, fmt.Errorf("there is no %s: run approver init first", at.path)
	case err != nil:
		return at, err
	}
	if real, err := filepath.EvalSymlinks(at.path); err == nil {
		if err := daemon.Writable(filepath.Dir(real)); err != nil {
			return at, fmt.Errorf("%s could not be changed, so nobody is paired: %w: run this as its owner", at.path, err)
		}
	}
	var doc struct {
		Dir      string           `yaml:"dir"`
		Sockets  configs.Sockets  `yaml:"sockets"`
		Channels configs.Channels `yaml:"channels"`
	}
	if err := yaml.Unmarshal(at.text, &doc); err != nil {
		return at, errors.New("the configuration cannot be read: approver doctor says where")
	}
	at.cfg = configs.Default()
	at.cfg.File, at.cfg.Dir, at.cfg.Sockets, at.cfg.Channels = at.path, doc.Dir, doc.Sockets, doc.Channels
	if at.cfg, err = at.cfg.Resolve(filepath.Dir(at.path)); err != nil {
		return at, err
	}
	at.channels = at.cfg.Channels
	return at, nil
}

// run pairs somebody on p.
func (c flags) run(ctx context.Context, at configText, p platform) error {
	client := adminclient.NewSudo().At(at.cfg.Sockets.Resolve, nil)
	daemon, receives, err := daemonOn(ctx, client, p.name)
	if err != nil {
		return err
	}
	if !daemon {
		if err := offline(at.cfg); err != nil {
			return err
		}
	}
	if receives && len(p.fresh) > 0 {
		return errors.New("the daemon receives for this channel already, with its own bot: leave out the files and the " +
			"server")
	}
	code, err := tokens.Mint(CodeLength)
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeoutCause(ctx, c.Timeout,
		fmt.Errorf("the code was good for %v: run this again for a new one", c.Timeout))
	defer cancel()
	found, err := c.listen(wait, client, p, receives, code)
	if err != nil {
		return err
	}
	term.Print(0, p.How+"\n%[2]s\n    %[1]s\n\nwaiting %[3]v\n", code.Reveal(), p.where(ctx), c.Timeout)
	who, err := found()
	if err != nil {
		return err
	}
	term.Print(0, "%s sent it: user id %s, in %s %s\n", display.Visible(strconv.Quote(who.Name)), term.Visibly(who.ID),
		term.Visibly(who.Chat), display.Visible(who.Title))
	if !term.TypedYes(os.Stdin, os.Stdout, "may this person approve what agents do? The name proves nothing.") {
		return errors.New("not confirmed: nothing was changed")
	}
	add := c.added(p.Platform, who)
	add.channel, add.fresh = p.name, p.fresh
	return addTo(ctx, at, add, who, func(diff []string) error {
		if !daemon {
			return nil
		}
		var done adminapi.ControlAnswer
		err := client.Operate(ctx, adminapi.OpAdmit,
			adminapi.AdmitRequest{Channel: p.name, Who: who, Person: c.Person, File: at.path, Diff: diff}, &done)
		if err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
		term.Say(done.Text)
		return nil
	})
}

// listen prepares to wait for the code, through the daemon if it receives messages for the
// channel. It returns the function that waits.
func (c flags) listen(
	ctx context.Context, client httpapi.ResolveClient, p platform, receives bool, code tokens.Code,
) (func() (approver.Paired, error), error) {
	if receives {
		return func() (who approver.Paired, err error) {
			err = client.Operate(ctx, adminapi.OpPair, adminapi.PairRequest{Channel: p.name, Code: code.Reveal()}, &who)
			return who, lateIn(ctx, err)
		}, nil
	}
	ch, err := p.open()
	if err != nil {
		return nil, err
	}
	if h, ok := ch.(approver.HealthChecker); ok {
		if _, err := h.Health(ctx); err != nil {
			return nil, fmt.Errorf("%w\nthe bot's platform did not answer as it should: look at the token, and at the "+
				"network; --api-url names a proxy", lateIn(ctx, err))
		}
	}
	return func() (approver.Paired, error) { return Alone(ctx, ch, code) }, nil
}

// CodeLength is longer than the code of a card, because this code is valid longer and attempts
// are not counted.
const CodeLength = 12

// A platform is a chat platform that people are paired on.
type platform struct {
	section.Platform
	configs.PlatformSection
	name  string
	fresh []string // settings that the command line names, for a new section
}

// platformOf returns the platform, with the secrets' files and the server of the command line,
// if it names them.
func platformOf(channels configs.Channels, name string, files []string, api string) (platform, error) {
	all := channels.AllPlatforms()
	at := slices.IndexFunc(all, func(ch configs.Channel) bool { return ch.Name == name })
	own := all[at].ChannelSection.(configs.PlatformSection)
	p := platform{PlatformSection: own, Platform: own.Platform(), name: name}
	for i, s := range own.Secrets() {
		if err := p.take(s, files[i]); err != nil {
			return p, err
		}
	}
	for _, s := range own.Secrets() {
		if s.Value.IsZero() && *s.File == "" {
			return p, fmt.Errorf("%s: no token: put it into a file of mode 0600, and name that with --%s FILE, "+
				"or set %s_file in the configuration; docs/channels/%[1]s.md says where to get one", name, flagOf(s), s.Name)
		}
	}
	if api != "" {
		*p.API = api
		p.fresh = append(p.fresh, "api_url: "+strconv.Quote(api))
	}
	return p, nil
}

// take takes the file of a secret from the command line, if it is named there.
func (p *platform) take(s secret.Setting, named string) error {
	if named == "" {
		return nil
	}
	if secret.IsPath(named) {
		abs, err := filepath.Abs(named)
		if err != nil {
			return err
		}
		named = abs
	}
	*s.Value, *s.File = secret.Text{}, named
	p.fresh = append(p.fresh, s.Name+"_file: "+strconv.Quote(named))
	return nil
}

// open makes a channel that only pairs, for when no daemon receives its messages.
func (p *platform) open() (approver.Pairer, error) {
	return p.ForPairing(slog.New(slog.DiscardHandler))
}

// where says which bot to write to, if the platform tells.
func (p *platform) where(ctx context.Context) string {
	if p.Link == "" {
		return ""
	}
	ch, err := p.open()
	if err != nil {
		return "" // the code can be sent without it
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if h, can := ch.(approver.HealthChecker); can {
		if who, err := h.Health(ctx); err == nil && strings.HasPrefix(who, "@") {
			return term.Visibly("the bot is " + who + ": " + p.Link + who[1:] + "\n")
		}
	}
	return ""
}

// A configText is a configuration that may still be incomplete.
type configText struct {
	path     string
	text     []byte
	channels configs.Channels
	cfg      configs.Config // only its places and channels
}

// daemonOn reports whether a daemon runs, and whether it receives messages for a channel.
func daemonOn(ctx context.Context, client httpapi.ResolveClient, channel string) (runs, receives bool, err error) {
	var doc adminapi.Status
	err = client.Operate(ctx, adminapi.OpStatus, struct{}{}, &doc)
	switch {
	case err != nil && (errors.Is(err, os.ErrNotExist) || adminclient.IsRefused(err)) &&
		!errors.Is(err, httpapi.ErrRefused):
		return false, false, nil
	case err != nil:
		return false, false, err
	}
	for _, c := range doc.Channels {
		receives = receives || c.Name == channel
	}
	return true, receives, nil
}

// offline returns an error unless the person to add is the first whom a chat reaches. Only that
// person may be added while nobody can be asked.
func offline(cfg configs.Config) error {
	if len(chatApprovers(cfg)) == 0 {
		return nil
	}
	return errors.New("there are approvers already, so one more needs their yes: start the daemon, approver serve, and " +
		"run this again")
}

// chatApprovers returns the people whom a chat reaches.
func chatApprovers(cfg configs.Config) []approver.Approver {
	var all []approver.Approver
	for identity := range cfg.People() {
		if !cfg.Channels.IsLocal(identity.Channel) {
			all = append(all, approver.Approver{ID: identity.ID})
		}
	}
	return all
}

// Alone pairs on a connection of its own, without the daemon.
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

// lateIn turns the error of an expired or canceled ctx into one in our own words.
func lateIn(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("nobody sent the code: %w", context.Cause(ctx))
	}
	return err
}

// addTo writes the person and the chat into the configuration, if allow accepts exactly that
// change.
func addTo(
	ctx context.Context, at configText, add pairing, who approver.Paired, allow func(diff []string) error,
) error {
	byHand := func(err error) error {
		return fmt.Errorf("%w\nnothing was changed: add the user id %s and the chat %s to channels.%s by hand", err, who.ID,
			who.Chat, add.channel)
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
