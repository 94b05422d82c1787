package discord

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

// Name is the channel's word in the configuration.
const Name = "discord"

// defaultAPI is Discord's REST address, without the version.
const defaultAPI = "https://discord.com/api"

// Config is the discord section of the configuration. The zero value is not valid: the channel
// needs a token, a place to post and a person who may answer.
type Config struct {
	// Token is the bot's token from the application's "Bot" page, without the
	// word "Bot" in front. Prefer TokenFile.
	Token secret.Text `yaml:"token,omitempty" held:"no"`
	// TokenFile is a file that holds the token and nothing else.
	TokenFile string `yaml:"token_file,omitempty" held:"no"`
	// Receive is empty for the gateway, or webhook: then Discord brings each press, dialog and command,
	// signed, to the listener that webhooks.listen names, at the path /discord below webhooks.url, and every
	// replica receives. Messages do not arrive then.
	Receive section.Receiving `yaml:"receive,omitempty"`
	// PublicKey is the application's public key, 64 hexadecimal digits, with which a webhook checks that a
	// request is Discord's. Left empty, Discord is asked for it; if it is set, both must agree.
	PublicKey string `yaml:"public_key,omitempty"`
	// Channels are the ids of the channels that get every card. A thread is a
	// channel with an id of its own, and so is a direct conversation with the
	// bot. The bot needs View Channel, Send Messages, Embed Links, Attach Files
	// and Read Message History there. To copy an id, turn on Developer Mode in
	// Discord and right-click the channel.
	Channels []string `yaml:"channels" held:"no"`
	// ByChannel are the languages of the cards of single channels, by id. The others have that of the
	// whole configuration.
	ByChannel map[string]display.Lang `yaml:"languages,omitempty" held:"no"`
	// Approvers are the people who may answer, by their Discord user id. Names
	// are refused: they change hands.
	Approvers []approver.Approver `yaml:"approvers" held:"no"`
	// Guild is the id of the server that all channels lie in. When it is set,
	// answers from any other server are refused, even for a listed channel.
	Guild string `yaml:"guild,omitempty" held:"no"`
	// ApplicationID is the id of the Discord application. It is read from
	// Discord at the start; when it is set, a token of any other application is
	// refused.
	ApplicationID string `yaml:"application_id,omitempty" held:"no"`
	// TextApprovals lets an ordinary message approve: a code typed into the channel, or "yes"
	// as a reply to a card. It is off by default, because then anything that can write as a
	// person could approve, while Discord itself vouches for who made a press or a command, and
	// where. It needs the privileged Message Content intent, which must be switched on for the
	// application at Discord. Without the intent Discord shows the bot only direct messages and
	// messages that mention it; those may deny.
	TextApprovals bool `yaml:"text_approvals,omitempty"`
	// APIURL replaces https://discord.com/api, for tests and for a proxy. The
	// token is sent there, so plain http belongs on loopback only.
	APIURL string `yaml:"api_url,omitempty"`
}

// Validate returns every problem of the section at once, joined, or nil. It
// reads no file.
func (c Config) Validate() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf("discord: "+format, args...)) }
	switch {
	case !c.Token.IsZero() && c.TokenFile != "":
		add("token and token_file are both set: keep one")
	case c.Token.IsZero() && c.TokenFile == "":
		add("no token: set token_file (or token) to the bot's token")
	case !c.Token.IsZero():
		if err := checkToken(c.Token); err != nil {
			errs = append(errs, err)
		}
	}
	if len(c.Channels) == 0 {
		add("no channels: list the id of at least one channel")
	}
	seen := map[string]bool{}
	for i, id := range c.Channels {
		switch {
		case !snowflake(id):
			add("channels[%d]: %q is not a channel id: it is a number of 15 to 20 digits, not a name", i, id)
		case seen[id]:
			add("channels[%d]: %s is listed twice", i, id)
		}
		seen[id] = true
	}
	for id := range c.ByChannel {
		if !seen[id] {
			add("languages: %q is none of the channels", id)
		}
	}
	if len(c.Approvers) == 0 {
		add("no approvers: list the user id of at least one person, or nobody could ever answer")
	}
	seen = map[string]bool{}
	for i, a := range c.Approvers {
		switch {
		case !snowflake(a.ID):
			add("approvers[%d]: %q is not a user id: it is a number of 15 to 20 digits, not a name", i, a.ID)
		case seen[a.ID]:
			add("approvers[%d]: %s is listed twice", i, a.ID)
		}
		seen[a.ID] = true
	}
	if c.Guild != "" && !snowflake(c.Guild) {
		add("guild: %q is not a server id: it is a number of 15 to 20 digits, not a name", c.Guild)
	}
	if c.ApplicationID != "" && !snowflake(c.ApplicationID) {
		add("application_id: %q is not an application id: it is a number of 15 to 20 digits", c.ApplicationID)
	}
	if _, err := c.base(); err != nil {
		errs = append(errs, err)
	}
	if err := c.Receive.Check("the gateway"); err != nil {
		add("%w", err)
	}
	if _, err := publicKey(c.PublicKey); err != nil && c.PublicKey != "" {
		add("public_key: it is not 64 hexadecimal digits: copy the Public Key from General Information of the application")
	}
	if c.Receive == section.ByWebhook && c.TextApprovals {
		add("text_approvals: with receive: webhook Discord brings no messages: leave one of the two out")
	}
	return errors.Join(errs...)
}

// Webhook returns how the channel receives, for the settings that all webhooks share.
func (c *Config) Webhook() *section.Receiving { return &c.Receive }

// Open makes the channel.
func (c Config) Open(in section.Installation, log *slog.Logger) (approver.Channel, error) {
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

// Languages returns the languages of the channels that have one of their own.
func (c Config) Languages() map[string]display.Lang { return c.ByChannel }

// Secrets returns the settings that hold a secret.
func (c *Config) Secrets() []secret.Setting {
	return []secret.Setting{{Name: "token", Value: &c.Token, File: &c.TokenFile, Holds: "the bot's token",
		Form: tokenForm()}}
}

// Destinations returns one destination for each configured channel.
func (c Config) Destinations() []approver.Destination {
	out := make([]approver.Destination, 0, len(c.Channels))
	for _, id := range c.Channels {
		out = append(out, approver.Destination{Channel: Name, Conversation: id})
	}
	return out
}

// base is the REST address without version and trailing slash.
func (c Config) base() (string, error) {
	if c.APIURL == "" {
		return defaultAPI, nil
	}
	u, err := url.Parse(c.APIURL)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("discord: api_url must be an absolute http or https URL without user, query and fragment, " +
			"such as " + defaultAPI)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// tokenForm is what tokens look like now. They are not checked by it, because Discord does not promise it.
var tokenForm = lazyregexp.New(`^[\w-]{18,}\.[\w-]{4,}\.[\w-]{20,}$`)

// checkToken refuses what cannot be a bot token, without showing it.
func checkToken(t secret.Text) error {
	text := t.Reveal()
	if strings.HasPrefix(text, "Bot ") {
		return errors.New(`discord: token: leave out the word "Bot" in front of the token`)
	}
	for _, r := range text {
		if r <= ' ' || r > '~' {
			return errors.New("discord: token: it holds a space or another character that no token has: copy it again")
		}
	}
	return nil
}

// snowflake reports whether s is an id as Discord makes them: an unsigned
// 64-bit number whose upper bits are a time.
func snowflake(s string) bool {
	if len(s) < 15 || len(s) > 20 || s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}
