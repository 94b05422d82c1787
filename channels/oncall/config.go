package oncall

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/display"
	"approver.example/internal/secret"
	"approver.example/internal/section"
)

// Config is the oncall part of the configuration. It has the key of one service at least.
type Config struct {
	// PagerDutyKey is the integration key of an Events API v2 integration. Prefer PagerDutyKeyFile.
	PagerDutyKey secret.Text `yaml:"pagerduty_key,omitempty" held:"no"`
	// PagerDutyKeyFile is a file that holds the integration key.
	PagerDutyKeyFile string `yaml:"pagerduty_key_file,omitempty" held:"no"`
	// PagerDutyURL is the address of the Events API; empty means https://events.pagerduty.com.
	PagerDutyURL string `yaml:"pagerduty_url,omitempty"`
	// OpsgenieKey is the key of an API integration. Prefer OpsgenieKeyFile.
	OpsgenieKey secret.Text `yaml:"opsgenie_key,omitempty" held:"no"`
	// OpsgenieKeyFile is a file that holds the key of an API integration.
	OpsgenieKeyFile string `yaml:"opsgenie_key_file,omitempty" held:"no"`
	// OpsgenieURL is the address of the Alert API; empty means https://api.opsgenie.com.
	OpsgenieURL string `yaml:"opsgenie_url,omitempty"`
}

// The services, as they are called in a destination, and where they are.
const (
	PagerDuty = "pagerduty"
	Opsgenie  = "opsgenie"

	pagerDutyAPI = "https://events.pagerduty.com"
	opsgenieAPI  = "https://api.opsgenie.com"
)

// maxKey bounds a key, in bytes.
const maxKey = 256

// Validate returns every problem of the configuration at once, joined, or nil. It reads no file.
func (c Config) Validate() error {
	var errs []error
	if !c.pagerDuty() && !c.opsgenie() {
		errs = append(errs, errors.New("no service is named: set pagerduty_key_file or opsgenie_key_file to a file that "+
			"holds the key of an integration"))
	}
	service := func(name string, key secret.Text, file, address string) {
		if !key.IsZero() && file != "" {
			errs = append(errs, fmt.Errorf("%s_key and %s_key_file are both set: keep one", name, name))
		}
		if !key.IsZero() {
			errs = append(errs, checkKey(name+"_key", key))
		}
		if address != "" && key.IsZero() && file == "" {
			errs = append(errs, fmt.Errorf("%s_url is set without a key: set %s_key_file too, or leave it out", name, name))
		}
		errs = append(errs, checkURL(name+"_url", address))
	}
	service(PagerDuty, c.PagerDutyKey, c.PagerDutyKeyFile, c.PagerDutyURL)
	service(Opsgenie, c.OpsgenieKey, c.OpsgenieKeyFile, c.OpsgenieURL)
	return errors.Join(errs...)
}

func (c Config) pagerDuty() bool { return !c.PagerDutyKey.IsZero() || c.PagerDutyKeyFile != "" }
func (c Config) opsgenie() bool  { return !c.OpsgenieKey.IsZero() || c.OpsgenieKeyFile != "" }

// checkKey says what is wrong with a text that is no key of a service.
func checkKey(name string, key secret.Text) error {
	text := key.Reveal()
	odd := strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
	if odd || len(text) > maxKey {
		return fmt.Errorf("%s is not a key: copy it again, whole, from the page of the integration", name)
	}
	return nil
}

func checkURL(name, address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		// The text is not quoted, because it could contain a password.
		return fmt.Errorf("%s is not an absolute http or https URL such as %s", name, pagerDutyAPI)
	}
	return nil
}

// services makes the services that are configured. It reads the files of their keys.
func (c Config) services() (all map[string]*service, err error) {
	all = map[string]*service{}
	var errs []error
	add := func(name, title string, key secret.Text, file, base string, speaks dialect) {
		token, err := calls.NewToken(name+"_key", key, file, func(s secret.Text) error { return checkKey(name+"_key", s) })
		if err != nil {
			errs = append(errs, err)
			return
		}
		all[name] = &service{name: name, title: title, base: strings.TrimSuffix(base, "/"), key: token, dialect: speaks}
	}
	if c.pagerDuty() {
		add(PagerDuty, "PagerDuty", c.PagerDutyKey, c.PagerDutyKeyFile, cmp.Or(c.PagerDutyURL, pagerDutyAPI), pagerDuty{})
	}
	if c.opsgenie() {
		add(Opsgenie, "Opsgenie", c.OpsgenieKey, c.OpsgenieKeyFile, cmp.Or(c.OpsgenieURL, opsgenieAPI), opsgenie{})
	}
	return all, errors.Join(errs...)
}

// Open makes the channel.
func (c Config) Open(_ section.Installation, log *slog.Logger) (approver.Channel, error) {
	return New(c, log)
}

// Pages says that nobody can answer here.
func (Config) Pages() {}

// People returns nobody: nobody can answer here.
func (Config) People() []approver.Approver { return nil }

// Languages returns nothing: pages are in the language of the whole configuration.
func (Config) Languages() map[string]display.Lang { return nil }

// Secrets returns the settings that hold a secret.
func (c *Config) Secrets() []secret.Setting {
	return []secret.Setting{
		{Name: "pagerduty_key", Value: &c.PagerDutyKey, File: &c.PagerDutyKeyFile},
		{Name: "opsgenie_key", Value: &c.OpsgenieKey, File: &c.OpsgenieKeyFile},
	}
}

// Destinations returns one place for each service.
func (c Config) Destinations() (all []approver.Destination) {
	if c.pagerDuty() {
		all = append(all, approver.Destination{Channel: Name, Conversation: PagerDuty})
	}
	if c.opsgenie() {
		all = append(all, approver.Destination{Channel: Name, Conversation: Opsgenie})
	}
	return all
}
