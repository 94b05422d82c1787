package telegram

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
	"approver.example/internal/secret"
	"approver.example/internal/section"
)

// DefaultAPI is Telegram's own Bot API server.
const DefaultAPI = "https://api.telegram.org"

// Config is the channel's part of the configuration file. The zero value is
// refused by Validate: nobody could be asked, and nobody could answer.
type Config struct {
	// Token is the bot's token as @BotFather gave it. Set either this or
	// TokenFile. Whoever has the token can read and send as the bot.
	Token secret.Text `yaml:"token,omitempty" held:"no"`
	// TokenFile names a file that holds the token, best with mode 0600.
	TokenFile string `yaml:"token_file,omitempty" held:"no"`
	// APIURL is the Bot API server; empty means DefaultAPI. Set it for a Bot API
	// server of your own or a proxy. The token travels in the path, so use https
	// on anything but loopback.
	APIURL string `yaml:"api_url,omitempty"`
	// Receive is empty for polling, or webhook: then Telegram brings each update to the listener that
	// webhooks.listen names, at the path /telegram below webhooks.url, and every replica receives.
	Receive section.Receiving `yaml:"receive,omitempty"`
	// WebhookSecret is what Telegram sends along with each update, so that nobody else can bring one:
	// 32 to 256 letters, digits, hyphens and underscores. Set either this or WebhookSecretFile. Whoever
	// has it can answer in any approver's name.
	WebhookSecret secret.Text `yaml:"webhook_secret,omitempty" held:"no"`
	// WebhookSecretFile names a file that holds the secret, best with mode 0600.
	WebhookSecretFile string `yaml:"webhook_secret_file,omitempty" held:"no"`
	// Chats are the places that get cards and take answers. Each has a card, and
	// a code, of its own.
	Chats []Chat `yaml:"chats" held:"no"`
	// Approvers are the people who may answer, by their Telegram user id, which
	// is a number and never changes. A user name is not accepted: it can be given
	// up and registered by somebody else.
	Approvers []approver.Approver `yaml:"approvers" held:"no"`
}

// A Chat is one place on Telegram.
type Chat struct {
	// ID is the chat's number: a person's user id for a private chat, a negative
	// number for a group, and -100… for a supergroup. A @name is not accepted.
	// A broadcast channel cannot be used: nobody has a name of their own there.
	ID string `yaml:"id"`
	// Thread is the number of a forum's topic. Without it the card goes to, and
	// the answer must come from, the General topic or the chat itself. Each topic
	// is a place of its own, with its own card, code and count of wrong codes.
	Thread int `yaml:"thread,omitempty"`
	// Language is what the cards of this chat are written in; empty means that of the whole
	// configuration.
	Language display.Lang `yaml:"language,omitempty"`
}

// maxUserID is the greatest id that Telegram gives: 52 significant bits.
const maxUserID = 1<<52 - 1

var tokenForm = lazyregexp.New(`^[0-9]{1,16}:[A-Za-z0-9_-]{20,128}$`)

// Validate returns every problem of the configuration, joined, or nil. It reads
// no file.
func (c Config) Validate() error {
	var errs []error
	switch {
	case c.Token.IsZero() && c.TokenFile == "":
		errs = append(errs, errors.New("telegram: no token: set token or token_file to what @BotFather gave you"))
	case !c.Token.IsZero() && c.TokenFile != "":
		errs = append(errs, errors.New("telegram: token and token_file are both set: keep one"))
	case c.TokenFile == "":
		errs = append(errs, checkToken(c.Token))
	}
	if _, err := apiURL(c.APIURL); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, c.validateWebhook())
	return errors.Join(append(append(errs, c.validateChats()...), c.validateApprovers()...)...)
}

func checkToken(token secret.Text) error {
	if tokenForm().MatchString(token.Reveal()) {
		return nil
	}
	return errors.New("telegram: the token does not look like one: expected digits, a colon, and the secret " +
		"part, as @BotFather gave it")
}

// secretForm is what Telegram takes as the secret of a webhook, and long enough not to be guessed.
var secretForm = lazyregexp.New(`^[A-Za-z0-9_-]{32,256}$`)

func (c Config) validateWebhook() error {
	if err := c.Receive.Check("polling"); err != nil {
		return fmt.Errorf("telegram: %w", err)
	}
	switch {
	case c.Receive != section.ByWebhook:
	case c.WebhookSecret.IsZero() && c.WebhookSecretFile == "":
		return errors.New("telegram: no webhook_secret: receive: webhook needs webhook_secret_file to name a file with a " +
			"secret of your own, such as openssl rand -hex 32 prints")
	case !c.WebhookSecret.IsZero() && c.WebhookSecretFile != "":
		return errors.New("telegram: webhook_secret and webhook_secret_file are both set: keep one")
	case c.WebhookSecretFile == "":
		return checkSecret(c.WebhookSecret)
	}
	return nil
}

func checkSecret(s secret.Text) error {
	if secretForm().MatchString(s.Reveal()) {
		return nil
	}
	return errors.New("telegram: webhook_secret must be 32 to 256 letters, digits, hyphens and underscores, such as " +
		"openssl rand -hex 32 prints")
}

// Webhook returns how the channel receives, for the settings that all webhooks share.
func (c *Config) Webhook() *section.Receiving { return &c.Receive }

// botOf is the bot's id: the part of the token before the colon.
func botOf(token string) (int64, error) {
	id, _, _ := strings.Cut(token, ":")
	return strconv.ParseInt(id, 10, 64)
}

func (c Config) validateChats() []error {
	if len(c.Chats) == 0 {
		return []error{errors.New("telegram: no chats: name at least one chat id that gets the cards")}
	}
	var errs []error
	seen := map[place]bool{}
	for i, chat := range c.Chats {
		at, err := placeOf(chat.ID, chat.Thread)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("telegram: chats[%d]: %w", i, err))
		case seen[at]:
			errs = append(errs, fmt.Errorf("telegram: chats[%d]: %s is listed twice", i, at))
		}
		seen[at] = true
	}
	return errs
}

func (c Config) validateApprovers() []error {
	if len(c.Approvers) == 0 {
		return []error{errors.New("telegram: no approvers: without one, nobody may answer")}
	}
	var errs []error
	seen := map[string]bool{}
	for i, a := range c.Approvers {
		id, err := number(a.ID)
		switch {
		case err != nil || id <= 0 || id > maxUserID:
			errs = append(errs, fmt.Errorf("telegram: approvers[%d]: %q is not a user id: expected a number such as "+
				"10042567, never a name", i, a.ID))
		case seen[a.ID]:
			errs = append(errs, fmt.Errorf("telegram: approvers[%d]: %s is listed twice", i, a.ID))
		}
		seen[a.ID] = true
	}
	return errs
}

// Open makes the channel.
func (c Config) Open(in section.Installation, log *slog.Logger) (approver.Channel, error) {
	if c.Receive == section.ByWebhook && !in.Isolated {
		return nil, fmt.Errorf("telegram: %w", section.ErrReadableSecret)
	}
	channel, err := New(c, log)
	if err != nil {
		return nil, err
	}
	if channel.hook != nil {
		channel.hook.at = in.Webhooks + "/" + Name
	}
	return channel, nil
}

// People returns the approver list.
func (c Config) People() []approver.Approver { return c.Approvers }

// Languages returns the languages of the chats that have one of their own.
func (c Config) Languages() map[string]display.Lang {
	out := map[string]display.Lang{}
	for i, to := range c.Destinations() {
		if lang := c.Chats[i].Language; lang != "" {
			out[to.Conversation] = lang
		}
	}
	return out
}

// Secrets returns the settings that hold a secret.
func (c *Config) Secrets() []secret.Setting {
	all := []secret.Setting{{Name: "token", Value: &c.Token, File: &c.TokenFile, Holds: "the bot's token",
		Form: tokenForm()}}
	if c.Receive == section.ByWebhook || !c.WebhookSecret.IsZero() || c.WebhookSecretFile != "" {
		all = append(all, secret.Setting{Name: "webhook_secret", Value: &c.WebhookSecret, File: &c.WebhookSecretFile})
	}
	return all
}

// Destinations returns one destination for each configured chat or topic.
func (c Config) Destinations() []approver.Destination {
	out := make([]approver.Destination, 0, len(c.Chats))
	for _, chat := range c.Chats {
		to := approver.Destination{Channel: Name, Conversation: chat.ID}
		if chat.Thread != 0 {
			to.Conversation += "/" + strconv.Itoa(chat.Thread)
		}
		out = append(out, to)
	}
	return out
}

// apiURL checks and normalizes the server's address: absolute, without a trailing slash.
func apiURL(raw string) (string, error) {
	if raw == "" {
		return DefaultAPI, nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("telegram: api_url must be an absolute http or https URL without user, query or fragment, " +
			"such as " + DefaultAPI)
	}
	return strings.TrimRight(raw, "/"), nil
}

// number reads a decimal number in its one plain form: no sign but a minus, no
// leading zeros, so that two spellings cannot be two entries for one id.
func number(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != s {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return n, nil
}
