package evaluator

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"approver.example/internal/secret"
)

// The providers: the protocol that is spoken, not the vendor.
const (
	Anthropic = "anthropic" // Anthropic's Messages
	OpenAI    = "openai"    // chat completions as OpenAI, Ollama, vLLM and llama.cpp speak them
)

// Defaults of the configuration.
const (
	DefaultDeadline   = 30 * time.Second
	DefaultMaxTokens  = 500
	DefaultMaxPayload = 64 << 10 // bytes
	// DefaultReasoningTokens is DefaultMaxTokens for a model that reasons: its
	// thinking counts as output.
	DefaultReasoningTokens = 8000
)

// Bounds of the settings.
const (
	minDeadline, maxDeadline = time.Second, 5 * time.Minute
	minTokens, maxTokens     = 100, 64000
	minPayload, maxPayload   = 1 << 10, 1 << 20
	maxModel                 = 200 // bytes of a model's name
)

// Config is the evaluator's part of the configuration file. The zero value is
// refused by Validate.
type Config struct {
	// Provider is the protocol: Anthropic or OpenAI.
	Provider string `yaml:"provider"`
	// URL is the service, up to what the protocol adds itself: /v1/messages for
	// Anthropic, /chat/completions for OpenAI. Empty means the vendor's own. It
	// must be https, except on loopback.
	URL string `yaml:"url,omitempty"`
	// Model is the model's name as the service knows it.
	Model string `yaml:"model"`
	// Key is the service's key; set this, KeyFile or KeyEnv. It should be a key
	// that no agent has.
	Key secret.Text `yaml:"key,omitempty"`
	// KeyFile names a file that holds the key, with mode 0600, or env:NAME or
	// credential:NAME.
	KeyFile string `yaml:"key_file,omitempty"`
	// KeyEnv names a variable of the daemon's environment that holds the key; the
	// same as env:NAME in KeyFile.
	KeyEnv string `yaml:"key_env,omitempty"`
	// Deadline is how long one evaluation may take in all, 1s to 5m. Zero is
	// DefaultDeadline.
	Deadline time.Duration `yaml:"deadline,omitempty"`
	// MaxTokens bounds the answer, 100 to 64000. Zero is DefaultMaxTokens, or
	// DefaultReasoningTokens.
	MaxTokens int `yaml:"max_tokens,omitempty"`
	// MaxPayload bounds the bytes of a call that the model gets, 1 KiB to 1 MiB. Of a
	// longer call it gets head and tail, and an ALLOW asks people. Zero is
	// DefaultMaxPayload. A local server needs a context of a third as many tokens, and
	// 2000 more.
	MaxPayload int `yaml:"max_payload,omitempty"`
	// Reasoning is for models that reason before they answer. No temperature is sent,
	// and the reasoning is not read.
	Reasoning bool `yaml:"reasoning,omitempty"`
	// Proxy is the URL of an HTTP proxy. Empty is none: the proxy variables of the
	// environment are not looked at.
	Proxy string `yaml:"proxy,omitempty"`
}

// dialects are the protocols by the names of their providers.
var dialects = map[string]dialect{Anthropic: anthropicDialect{}, OpenAI: openAIDialect{}}

// Validate returns every problem of the configuration, joined, or nil. It reads
// no file and no variable.
func (c Config) Validate() error { return errors.Join(c.problems()...) }

func (c Config) problems() []error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf("evaluator: "+format, args...)) }
	if dialects[c.Provider] == nil {
		fail("provider %q is not known: %s, or %s for everything that speaks its chat completions", c.Provider, Anthropic,
			OpenAI)
	}
	if c.Model == "" || len(c.Model) > maxModel ||
		strings.ContainsFunc(c.Model, func(r rune) bool { return r < ' ' || r > '~' }) {
		fail("model must name a model, in at most %d plain characters", maxModel)
	}
	if dialects[c.Provider] != nil {
		if _, err := c.endpoint(); err != nil {
			errs = append(errs, err)
		}
	}
	if _, err := c.proxy(); err != nil {
		errs = append(errs, err)
	}
	given := 0
	for _, is := range []bool{!c.Key.IsZero(), c.KeyFile != "", c.KeyEnv != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		fail("of key, key_file and key_env more than one is set: keep one")
	case given == 0 && c.Provider == Anthropic:
		fail("no key: set key_file or key_env, to a key that no agent has")
	}
	if err := checkKey(c.Key); err != nil {
		errs = append(errs, err)
	}
	if d := c.Deadline; d != 0 && (d < minDeadline || d > maxDeadline) {
		fail("deadline is %v: %v to %v are possible", d, minDeadline, maxDeadline)
	}
	if n := c.MaxTokens; n != 0 && (n < minTokens || n > maxTokens) {
		fail("max_tokens is %d: %d to %d are possible", n, minTokens, maxTokens)
	}
	if n := c.MaxPayload; n != 0 && (n < minPayload || n > maxPayload) {
		fail("max_payload is %d: %d to %d bytes are possible", n, minPayload, maxPayload)
	}
	return errs
}

// Longest is how long the evaluations of one call may take. There can be two: a call that
// a rule modifies is evaluated in both forms.
func (c Config) Longest() time.Duration { return 2 * cmp.Or(c.Deadline, DefaultDeadline) }

// Secrets returns the settings that hold a secret.
func (c *Config) Secrets() []secret.Setting {
	return []secret.Setting{{Name: "key", Value: &c.Key, File: &c.KeyFile}}
}

// secret reads the key, wherever it is.
func (c Config) secret() (secret.Text, error) {
	file := c.KeyFile
	if c.KeyEnv != "" {
		file = "env:" + c.KeyEnv
	}
	key, err := secret.From("key", c.Key, file)
	if err != nil {
		return secret.Text{}, fmt.Errorf("evaluator: %w", err)
	}
	return key, checkKey(key)
}

// checkKey refuses a key with characters that a header cannot have, without showing it.
func checkKey(key secret.Text) error {
	if strings.ContainsFunc(key.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("evaluator: the key has characters that no key has: white space, or none of ASCII")
	}
	return nil
}

// endpoint is the address that requests go to.
func (c Config) endpoint() (*url.URL, error) {
	d := dialects[c.Provider]
	if d == nil {
		return nil, errors.New("evaluator: without a provider there is no address")
	}
	raw := c.URL
	if raw == "" {
		raw = d.home()
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "":
		return nil,
			errors.New("evaluator: url must be an absolute http or https URL without user, query or fragment, such as " +
				d.home())
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil,
			errors.New("evaluator: url must be https: key and payload would travel in the clear; http is for 127.0.0.1, " +
				"[::1] and localhost")
	}
	return u.JoinPath(d.path()), nil
}

// loopback reports whether a host means this machine. onlyLoopback checks the address
// again when it is dialed.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// proxy is nil if none is configured.
func (c Config) proxy() (*url.URL, error) {
	if c.Proxy == "" {
		return nil, nil
	}
	u, err := url.Parse(c.Proxy)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return nil,
			errors.New("evaluator: proxy must be an http or https URL of host and port, such as http://proxy.example:3128")
	}
	if to, err := c.endpoint(); err == nil && to.Scheme != "https" {
		return nil, errors.New("evaluator: proxy is for an https url: a proxy would read everything that goes to an http one")
	}
	return u, nil
}
