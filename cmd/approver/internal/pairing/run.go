package pairing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"approver.example"
	"approver.example/agents/facts"
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
	if at.path, err = filepath.Abs(at.path); err != nil {
		return at, err
	}
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
	bot, err := p.ForPairing(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	ears := ears{bot: bot, token: p.Token}
	if receives {
		ears.daemon, ears.channel = &client, p.name
	}
	who, err := c.meet(ctx, ears)
	if err != nil {
		return err
	}
	place := strings.TrimSpace(term.Visibly(who.Chat) + " " + display.Visible(who.Title))
	term.Print(0, "%s sent it: user id %s, in %s\n", display.Visible(strconv.Quote(who.Name)), term.Visibly(who.ID), place)
	term.Say(c.whose(at.cfg))
	if !term.TypedYes(os.Stdin, os.Stdout, "may this person approve what agents do? The name proves nothing.") {
		tell(ctx, bot, who, notPaired)
		return errors.New("not confirmed: nothing was changed")
	}
	add := c.added(p.Platform, who)
	add.channel, add.heading, add.fresh = p.name, p.Heading, p.fresh
	cfg, err := addTo(ctx, at, add, who, func(diff []string) error {
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
	if err != nil {
		tell(ctx, bot, who, notPaired)
		return err
	}
	tell(ctx, bot, who, greeting(who, p.Help))
	switch {
	case c.NoTest:
	case receives:
		term.Print(0, "the daemon receives for this bot now, so no test card is shown. After its next start, "+tryAgain+"\n")
	default:
		c.try(ctx, cfg, p.name, who)
	}
	if !daemon {
		term.Print(0, "%s", c.next(cfg))
	}
	return nil
}

// whose says which person the account counts as. The first whom a chat reaches is, unless the command
// line says otherwise, the one person whom the configuration has: whoever ran init.
func (c *flags) whose(cfg configs.Config) string {
	known := map[string]bool{}
	for _, ch := range cfg.Channels.InUse() {
		for _, who := range ch.People() {
			if who.Person != "" {
				known[who.Person] = true
			}
		}
	}
	all := slices.Sorted(maps.Keys(known))
	switch {
	case c.Person != "":
	case len(all) == 1 && len(chatApprovers(cfg)) == 0:
		c.Person = all[0]
		return fmt.Sprintf("it counts as an account of %q, who has the terminal; --person NAME makes it somebody else's",
			c.Person)
	case len(all) == 0:
		return "it counts as a person of its own; --person NAME gives several accounts to one person"
	default:
		return fmt.Sprintf("it counts as a person of its own; --person NAME makes it an account of one of these: %s",
			strings.Join(quoted(all), ", "))
	}
	return fmt.Sprintf("it counts as an account of %q", c.Person)
}

func quoted(all []string) (out []string) {
	for _, text := range all {
		out = append(out, strconv.Quote(text))
	}
	return out
}

// next says what is left to do where no daemon runs.
func (c flags) next(cfg configs.Config) string {
	flag := ""
	if c.Config != "" {
		flag = " --config " + cfg.File
	}
	if len(cfg.Sockets.SubmitUIDs) > 0 {
		return fmt.Sprintf("next: approver install %[2]s --system%[1]s, and approver service install%[1]s, as "+
			"docs/isolated.md says\n", flag, facts.Example())
	}
	return fmt.Sprintf("next: approver serve%[1]s, or approver service install --user%[1]s; then approver install "+
		"%[2]s%[1]s, and approver doctor%[1]s\n", flag, facts.Example())
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
// if it names them. folder is where relative paths of the configuration start.
func platformOf(channels configs.Channels, name string, files []string, api, folder string) (platform, error) {
	all := channels.AllPlatforms()
	at := slices.IndexFunc(all, func(ch configs.Channel) bool { return ch.Name == name })
	own := all[at].ChannelSection.(configs.PlatformSection)
	p := platform{PlatformSection: own, Platform: own.Platform(), name: name}
	for i, s := range asked(own.Secrets()) {
		if err := p.take(s, files[i], folder); err != nil {
			return p, err
		}
	}
	for _, s := range asked(own.Secrets()) {
		if s.Value.IsZero() && *s.File == "" {
			return p, noToken(name, p.Platform, s)
		}
		if err := elsewhere(channels, name, p.Receiver, s); err != nil {
			return p, err
		}
	}
	if api != "" {
		*p.API = api
		p.fresh = append(p.fresh, "api_url: "+strconv.Quote(api))
	}
	return p, nil
}

// elsewhere returns an error if a secret is one of another platform, or another one of this platform.
func elsewhere(channels configs.Channels, name, receiver string, s secret.Setting) error {
	value, err := secret.From(s.Name, *s.Value, *s.File)
	if err != nil {
		return nil //nolint:nilerror // ForPairing says so
	}
	at, found := channels.Elsewhere(name, s.Name, value)
	switch {
	case !found:
		return nil
	case at.Channel == name:
		return fmt.Errorf("%s: --%s has the token that belongs to --%s: are the two files swapped?", name, flagOf(s),
			flagOf(secret.Setting{Name: at.Setting}))
	}
	return fmt.Errorf("%s: this is the token of a %s, not of a %s: run approver pair %s with it, or name another file",
		name, at.Receiver, receiver, at.Channel)
}

// noToken says how to get a token and where to put it.
func noToken(name string, at section.Platform, s secret.Setting) error {
	words, file := strings.Fields(at.Example), "FILE"
	if i := slices.Index(words, "--"+flagOf(s)); i >= 0 && i+1 < len(words) {
		file = words[i+1]
	}
	return fmt.Errorf("%s: no token. %s\nPut it into a file that only you can read, and name that with --%s:\n"+
		"  (umask 077 && head -1 > %s)    # paste it, press Enter\n"+
		"  approver pair %[1]s %[5]s\n"+
		"Or set %[6]s_file in the configuration. docs/channels/%[1]s.md says all of it",
		name, at.Token, flagOf(s), file, at.Example, s.Name)
}

// take takes the file of a secret from the command line, if it is named there. In the configuration
// stands its path from there, if it lies beside or below.
func (p *platform) take(s secret.Setting, named, folder string) error {
	if named == "" {
		return nil
	}
	written := named
	if secret.IsPath(named) {
		abs, err := filepath.Abs(named)
		if err != nil {
			return err
		}
		named, written = abs, abs
		if rel, err := filepath.Rel(folder, abs); err == nil && filepath.IsLocal(rel) && secret.IsPath(rel) {
			written = rel
		}
	}
	*s.Value, *s.File = secret.Text{}, named
	p.fresh = append(p.fresh, s.Name+"_file: "+strconv.Quote(written))
	return nil
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

// addTo writes the person and the chat into the configuration, if allow accepts exactly that
// change, and returns what the configuration is then.
func addTo(
	ctx context.Context, at configText, add pairing, who approver.Paired, allow func(diff []string) error,
) (cfg configs.Config, err error) {
	byHand := func(err error) (configs.Config, error) {
		return cfg, fmt.Errorf("%w\nnothing was changed: add the user id %s and the chat %s to channels.%s by hand", err,
			who.ID, who.Chat, add.channel)
	}
	next, diff, err := add.into(at.text)
	if err == nil {
		cfg, err = configs.Parse(at.path, next)
	}
	if err != nil {
		return byHand(err)
	}
	if len(diff) == 0 {
		term.Print(0, "%s names them already\n", at.path)
		return cfg, nil
	}
	if err := allow(diff); err != nil {
		return cfg, err
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
	return cfg, nil
}
