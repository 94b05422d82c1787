package slack

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
	"approver.example/internal/secret"
	"approver.example/internal/section"
)

// Config is the slack part of the configuration.
type Config struct {
	// BotToken is the bot user's OAuth token (xoxb-…), from the app's page
	// "OAuth & Permissions". It needs the scopes chat:write, commands,
	// files:write, and channels:read, groups:read and im:read for the kinds of
	// conversation in use. Denying by message text needs the matching :history
	// scopes and the message events too; docs/channels/slack.md has a manifest
	// with all of them. Prefer BotTokenFile.
	BotToken secret.Text `yaml:"bot_token,omitempty" held:"no"`
	// BotTokenFile is a file that holds the bot token.
	BotTokenFile string `yaml:"bot_token_file,omitempty" held:"no"`
	// AppToken is the app-level token (xapp-…) with the scope
	// connections:write. Socket Mode must be enabled in the app. Prefer
	// AppTokenFile.
	AppToken secret.Text `yaml:"app_token,omitempty" held:"no"`
	// AppTokenFile is a file that holds the app-level token.
	AppTokenFile string `yaml:"app_token_file,omitempty" held:"no"`
	// Receive is empty for Socket Mode, or webhook: then Slack brings each event to the listener that
	// webhooks.listen names, at the path /slack, signed, and every replica receives. It needs SigningSecret
	// and AppID, and no app token.
	Receive section.Receiving `yaml:"receive,omitempty"`
	// SigningSecret is what Slack signs its requests with, from Basic Information of the app. Set either
	// this or SigningSecretFile. Whoever has it can answer in any approver's name.
	SigningSecret secret.Text `yaml:"signing_secret,omitempty" held:"no"`
	// SigningSecretFile is a file that holds the signing secret.
	SigningSecretFile string `yaml:"signing_secret_file,omitempty" held:"no"`
	// AppID is the app's id (A…). Events of any other app are refused. Left
	// empty, it is taken from Slack's greeting on the app's own connection.
	AppID string `yaml:"app_id,omitempty" held:"no"`
	// Channels are the ids of the conversations that get cards: C… or G… for
	// channels, D… for a direct message with the bot. The bot must be a member.
	// A channel that is shared with another organization is refused.
	Channels []string `yaml:"channels" held:"no"`
	// ByChannel are the languages of the cards of single conversations, by id. The others have that of the
	// whole configuration.
	ByChannel map[string]display.Lang `yaml:"languages,omitempty" held:"no"`
	// Approvers are the people who may answer, by user id (U… or W…, "Copy
	// member ID" in the profile). A name or an e-mail address is refused,
	// because those change hands.
	Approvers []approver.Approver `yaml:"approvers" held:"no"`
	// Teams are further workspaces (T…) or Enterprise Grid organizations (E…) whose members
	// count as our own. The bot's own workspace always counts; no others do.
	Teams []string `yaml:"teams,omitempty"`
	// TextApprovals lets an ordinary message approve: a code, or "yes" in a card's thread. If
	// it is off, a message may only deny, because whoever steals a token that can post messages
	// could forge one. Buttons, dialogs and commands cannot be forged that way.
	TextApprovals bool `yaml:"text_approvals,omitempty"`
	// Command and DenyCommand are the names of the slash commands that approve and deny, if other
	// apps of the workspace use the usual ones; empty means /approve and /deny. The app has to have
	// commands of these names.
	Command     string `yaml:"command,omitempty" held:"no"`
	DenyCommand string `yaml:"deny_command,omitempty" held:"no"`
	// Connections is the number of Socket Mode connections that this process keeps open, 1 to
	// 5 while it receives; 0 means 2, so that one receives while Slack renews the other. Slack
	// allows an app 10 in total, so of many replicas up to four receive. Give all the same
	// number.
	Connections int `yaml:"connections,omitempty" held:"no"`
	// APIURL is the base of the Web API, for a proxy or a test; empty means
	// https://slack.com/api/.
	APIURL string `yaml:"api_url,omitempty"`
}

const (
	defaultAPI         = "https://slack.com/api/"
	defaultConnections = 2
	maxConnections     = 5
	botPrefix          = "xoxb-"
	appPrefix          = "xapp-"
)

var (
	userID      = lazyregexp.New(`^[UW][A-Z0-9]{4,20}$`)
	channelID   = lazyregexp.New(`^[CGD][A-Z0-9]{4,20}$`)
	teamID      = lazyregexp.New(`^[TE][A-Z0-9]{4,20}$`)
	commandName = lazyregexp.New(`^/[a-z0-9_-]{1,31}$`)
	appID       = lazyregexp.New(`^A[A-Z0-9]{4,20}$`)
)

// Validate returns every problem of the configuration at once, joined, or nil.
// It reads no file.
func (c Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }

	token := func(name, prefix string, value secret.Text, file string) {
		switch {
		case value.IsZero() && file == "":
			bad("%s is missing: set %s_file to a file that holds the %s… token", name, name, prefix)
		case !value.IsZero() && file != "":
			bad("%s and %s_file are both set: keep one", name, name)
		case !value.IsZero() && !strings.HasPrefix(value.Reveal(), prefix):
			bad("%s does not start with %s: it is another kind of token", name, prefix)
		}
	}
	token("bot_token", botPrefix, c.BotToken, c.BotTokenFile)
	if !c.withoutApp() {
		token("app_token", appPrefix, c.AppToken, c.AppTokenFile)
	}
	errs = append(errs, c.validateWebhook())
	if c.AppID != "" && !appID().MatchString(c.AppID) {
		bad("app_id %q is not an app id: it starts with A and stands under Basic Information", c.AppID)
	}
	if len(c.Channels) == 0 {
		bad("channels is empty: name at least one conversation id (C…, G… or D…)")
	}
	for i, id := range c.Channels {
		if !channelID().MatchString(id) {
			bad("channels[%d] %q is not a conversation id: use the id (C…, G… or D…) from the bottom of the channel's "+
				"details, not its name", i, id)
		} else if slices.Index(c.Channels, id) < i {
			bad("channels[%d] %q is there twice", i, id)
		}
	}
	for id := range c.ByChannel {
		if !slices.Contains(c.Channels, id) {
			bad("languages names %q, which is none of the channels", id)
		}
	}
	if len(c.Approvers) == 0 {
		bad("approvers is empty: nobody could answer; name at least one user id (U… or W…)")
	}
	for i, a := range c.Approvers {
		if !userID().MatchString(a.ID) {
			bad("approvers[%d] id %q is not a user id: use the member id (U… or W…) from the profile, not a name", i, a.ID)
		} else if slices.IndexFunc(c.Approvers, func(b approver.Approver) bool { return b.ID == a.ID }) < i {
			bad("approvers[%d] id %q is there twice", i, a.ID)
		}
	}
	for i, id := range c.Teams {
		if !teamID().MatchString(id) {
			bad("teams[%d] %q is not a workspace (T…) or organization (E…) id", i, id)
		}
	}
	command := func(name, value string) {
		if !commandName().MatchString(value) || value == pairCommand {
			bad("%s %q is not the name of a command: it has a slash and up to 31 small letters, digits, hyphens or "+
				"underscores, as in %s, and is not %s", name, value, defaultCommand, pairCommand)
		}
	}
	command("command", c.approve())
	command("deny_command", c.deny())
	switch {
	case c.approve() == c.deny():
		bad("command and deny_command are both %q: one command cannot approve and deny", c.deny())
	case c.approve() == defaultDenyCommand || c.deny() == defaultCommand:
		bad("command %s and deny_command %s: people would take one for the other", c.approve(), c.deny())
	}
	if c.Connections < 0 || c.Connections > maxConnections {
		bad("connections is %d: 1 to %d are allowed, 0 means %d", c.Connections, maxConnections, defaultConnections)
	}
	if _, err := c.api(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// signingForm is what Slack's signing secrets look like: 32 hexadecimal digits now, and long enough
// whatever comes.
var signingForm = lazyregexp.New(`^[0-9A-Za-z_-]{32,128}$`)

func (c Config) validateWebhook() error {
	err := c.Receive.Check("Socket Mode")
	if err != nil || c.Receive != section.ByWebhook {
		return err
	}
	switch {
	case c.SigningSecret.IsZero() && c.SigningSecretFile == "":
		err = errors.New("signing_secret is missing: receive: webhook needs signing_secret_file to name a file with the " +
			"Signing Secret from Basic Information of the app")
	case !c.SigningSecret.IsZero() && c.SigningSecretFile != "":
		err = errors.New("signing_secret and signing_secret_file are both set: keep one")
	case c.SigningSecretFile == "":
		err = checkSigning(c.SigningSecret)
	}
	if c.AppID == "" {
		err = errors.Join(err, errors.New("app_id is missing: receive: webhook needs it, from Basic Information of the app"))
	}
	return err
}

func checkSigning(s secret.Text) error {
	if signingForm().MatchString(s.Reveal()) {
		return nil
	}
	return errors.New("signing_secret does not look like one: copy it from Basic Information of the app")
}

// Webhook returns how the channel receives, for the settings that all webhooks share.
func (c *Config) Webhook() *section.Receiving { return &c.Receive }

// The names of the commands unless the configuration says otherwise.
const (
	defaultCommand     = "/approve"
	defaultDenyCommand = "/deny"
)

func (c Config) approve() string { return cmp.Or(c.Command, defaultCommand) }
func (c Config) deny() string    { return cmp.Or(c.DenyCommand, defaultDenyCommand) }

// Open makes the channel.
func (c Config) Open(in section.Installation, log *slog.Logger) (approver.Channel, error) {
	if c.Receive == section.ByWebhook && !in.Isolated {
		return nil, fmt.Errorf("slack: %w", section.ErrReadableSecret)
	}
	return New(c, log)
}

// People returns the approver list.
func (c Config) People() []approver.Approver { return c.Approvers }

// Languages returns the languages of the conversations that have one of their own.
func (c Config) Languages() map[string]display.Lang { return c.ByChannel }

// Secrets returns the settings that hold a secret.
func (c *Config) Secrets() []secret.Setting {
	all := []secret.Setting{{Name: "bot_token", Value: &c.BotToken, File: &c.BotTokenFile,
		Holds: "the bot's token, xoxb-…", Form: regexp.MustCompile("^" + botPrefix)}}
	if !c.withoutApp() {
		all = append(all, secret.Setting{Name: "app_token", Value: &c.AppToken, File: &c.AppTokenFile,
			Holds: "the app's token, xapp-…", Form: regexp.MustCompile("^" + appPrefix)})
	}
	if c.Receive == section.ByWebhook || !c.SigningSecret.IsZero() || c.SigningSecretFile != "" {
		all = append(all, secret.Setting{Name: "signing_secret", Value: &c.SigningSecret, File: &c.SigningSecretFile})
	}
	return all
}

// Destinations returns the places that get cards.
func (c Config) Destinations() []approver.Destination {
	list := make([]approver.Destination, 0, len(c.Channels))
	for _, id := range c.Channels {
		list = append(list, approver.Destination{Channel: Name, Conversation: id})
	}
	return list
}

// sockets is how many connections a process that receives keeps.
func (c Config) sockets() int { return cmp.Or(c.Connections, defaultConnections) }

// appOf returns the id of the app that an app-level token names; empty if it names none.
func appOf(token string) string {
	if part := strings.Split(token, "-"); len(part) > 3 && part[0] == "xapp" && appID().MatchString(part[2]) {
		return part[2]
	}
	return ""
}

// api returns the base URL with the trailing slash that the library needs.
func (c Config) api() (string, error) {
	if c.APIURL == "" {
		return defaultAPI, nil
	}
	u, err := url.Parse(c.APIURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		// The text is not quoted, because it could contain a password.
		return "", errors.New("api_url is not an absolute http or https URL such as " + defaultAPI)
	}
	return strings.TrimSuffix(c.APIURL, "/") + "/", nil
}

// withoutApp reports whether there is no app token, nor need be: it is for Socket Mode.
func (c Config) withoutApp() bool {
	return c.Receive == section.ByWebhook && c.AppToken.IsZero() && c.AppTokenFile == ""
}

// appToken reads the app's token. With a webhook there need not be one.
func appToken(cfg Config) (*calls.Token, error) {
	if cfg.withoutApp() {
		return calls.NewToken("app_token", secret.Text{}, "", func(secret.Text) error { return nil })
	}
	return tokenOf("app_token", appPrefix, cfg.AppToken, cfg.AppTokenFile)
}

// tokenOf reads one of the tokens.
func tokenOf(name, prefix string, value secret.Text, file string) (*calls.Token, error) {
	return calls.NewToken(name, value, file, func(s secret.Text) error {
		if !strings.HasPrefix(s.Reveal(), prefix) {
			return fmt.Errorf("%s does not start with %s: it is another kind of token", name, prefix)
		}
		return nil
	})
}
