package configs

import (
	"fmt"
	"os"

	"approver.example/internal/secret"
	"approver.example/internal/strictyaml"
)

// A TokenPlace is the setting of a chat platform that a token is for.
type TokenPlace struct {
	Channel  string // such as telegram
	Setting  string // such as token; the one for its file ends in _file
	Receiver string // such as "Telegram bot"
}

// Elsewhere returns the setting that a secret looks like, if that is another one than its own.
func (c Channels) Elsewhere(channel, setting string, value secret.Text) (at TokenPlace, found bool) {
	for _, ch := range c.AllPlatforms() {
		for _, s := range ch.Secrets() {
			if s.Form == nil || !s.Form.MatchString(value.Reveal()) {
				continue
			}
			if ch.Name == channel && s.Name == setting {
				return TokenPlace{}, false
			}
			at = TokenPlace{ch.Name, s.Name, ch.ChannelSection.(PlatformSection).Platform().Receiver}
			found = true
		}
	}
	return at, found
}

// CheckTokens reads the secrets of the channels and returns the channels of which one is missing or is that of
// another setting. The error is a [strictyaml.FileError] with their places in the configuration's file, and
// nil if that cannot be read again.
func (c Config) CheckTokens() (channels []string, err error) {
	if c.File == "" {
		return nil, nil
	}
	data, err := os.ReadFile(c.File)
	if err != nil {
		return nil, nil //nolint:nilerror // there are no places then, and the channels' own errors say the same
	}
	f, err := strictyaml.Parse(c.File, data)
	if err != nil {
		return nil, nil //nolint:nilerror // it was changed since
	}
	again := Default()
	f.Decode(&again) // so that f knows the places
	for _, ch := range c.Channels.InUse() {
		for _, s := range ch.Secrets() {
			text := c.tokenProblem(ch, s)
			if text == "" {
				continue
			}
			f.Report("channels."+ch.Name+"."+s.Name+"_file", text)
			channels = append(channels, ch.Name)
		}
	}
	return channels, f.Err()
}

// tokenProblem says what is wrong with a secret of a channel; "" if nothing can be seen.
func (c Config) tokenProblem(ch Channel, s secret.Setting) string {
	value, err := secret.From(s.Name, *s.Value, *s.File)
	if secret.OnlyElsewhere(err) {
		return ""
	}
	if err != nil {
		return err.Error()
	}
	if at, found := c.Channels.Elsewhere(ch.Name, s.Name, value); found {
		return fmt.Sprintf("%s_file: %s has a token of a %s, which belongs to channels.%s.%s_file: put the right one there",
			s.Name, *s.File, at.Receiver, at.Channel, at.Setting)
	}
	return ""
}
