package configs

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"approver.example/internal/section"
)

// A WebhookSection is the section of a chat platform that can bring answers to a webhook.
type WebhookSection interface {
	ChannelSection
	// Webhook returns the setting that says so.
	Webhook() *section.Receiving
}

// byWebhook returns the settings of the channels to which answers are brought.
func (c *Channels) byWebhook() (all []*section.Receiving) {
	for _, ch := range c.InUse() {
		if s, can := ch.ChannelSection.(WebhookSection); can && *s.Webhook() == section.ByWebhook {
			all = append(all, s.Webhook())
		}
	}
	return all
}

// webhookAuthorities returns the address of the webhooks, if one is used: whoever runs what is there sees
// what the platforms send, and their secrets. Without it no channel receives by webhook.
func (c *Config) webhookAuthorities() []authority {
	used := c.Channels.byWebhook()
	if c.Webhooks.URL == "" || len(used) == 0 {
		return nil
	}
	return []authority{{"webhooks.url: " + withoutPassword(c.Webhooks.URL), func() {
		for _, receive := range c.Channels.byWebhook() {
			*receive = ""
		}
		c.Webhooks.URL = ""
	}}}
}

// webhookProblems checks the settings that all webhooks share.
func (c Config) webhookProblems() (out []problem) {
	bad := func(path, text string) {
		out = append(out, problem{"webhooks." + path, "webhooks." + path + " " + text})
	}
	host, port, err := net.SplitHostPort(c.Webhooks.Listen)
	if n, notNumber := strconv.ParseUint(port, 10, 16); err != nil || notNumber != nil || n == 0 || host == "" {
		bad("listen", "must be an address and a port, such as 127.0.0.1:8790")
	}
	switch u, err := url.Parse(c.Webhooks.URL); {
	case c.Webhooks.URL == "" && len(c.Channels.byWebhook()) > 0:
		bad("url", "is missing: a channel has receive: webhook, and its platform has to know where to bring answers, such "+
			"as https://approver.example.com")
	case c.Webhooks.URL == "":
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.HasSuffix(u.Path, "/") || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		bad("url", "must be an https address without user, query and slash at its end, such as "+
			"https://approver.example.com")
	}
	return out
}

func isLoopback(host string) bool {
	at, err := netip.ParseAddr(host)
	return err == nil && at.IsLoopback()
}
