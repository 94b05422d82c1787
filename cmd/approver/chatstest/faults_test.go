package chatstest

import (
	"fmt"
	"strings"
	"time"

	"approver.example/channels/channeltest/network"
)

// A fault is what goes wrong in the middle of a cell.
type fault struct {
	name    string
	only    string // the channel that it is for; empty is all
	strikes bool   // it befalls calls, and is played only if it befell one
	lasts   time.Duration
	begin   func(c *cell)
	end     func(c *cell) // nil: rules are taken away, and the line works
}

func (f fault) fits(m maker) bool {
	return (f.only == "" || strings.Contains(f.only, m.channel)) && (authority != nil || !strings.HasPrefix(f.name, "TLS"))
}

// finish ends the fault.
func (f fault) finish(c *cell) {
	if f.end != nil {
		f.end(c)
	}
	c.way.Clear()
}

// The calls of each channel, as the proxy names them.
type dialect struct{ post, edit, receive string }

var dialects = map[string]dialect{
	"telegram": {"/sendMessage", "/editMessageText", "/getUpdates"},
	"discord":  {"POST /api/v10/channels/", "PATCH /api/v10/channels/", "/gateway/"},
	"slack":    {"/chat.postMessage", "/chat.update", "/apps.connections.open"},
}

func (c *cell) dialect() dialect { return dialects[c.platform.channel()] }

// adds is a fault of single calls.
func adds(rules func(d dialect, channel string) []network.Rule) func(c *cell) {
	return func(c *cell) { c.way.Add(rules(c.dialect(), c.platform.channel())...) }
}

// every is a rule for the calls of a kind, times times.
func every(deed network.Deed, times int, of func(d dialect) string) func(c *cell) {
	return adds(func(d dialect, _ string) []network.Rule {
		return []network.Rule{{Call: of(d), Deed: deed, Times: times, Over: 3 * time.Second}}
	})
}

// answering is a rule with an answer in the platform's own words, for all calls that contain call.
func answering(call func(d dialect) string, times int, words func(channel string) network.Answer) func(c *cell) {
	return adds(func(d dialect, channel string) []network.Rule {
		return []network.Rule{{Call: call(d), Deed: network.Instead, Times: times,
			Answer: func() network.Answer { return words(channel) }}}
	})
}

func posts(d dialect) string     { return d.post }
func edits(d dialect) string     { return d.edit }
func receiving(d dialect) string { return d.receive }
func anything(dialect) string    { return "" }

// tooMany is a platform's 429.
func tooMany(seconds int) func(channel string) network.Answer {
	return func(channel string) network.Answer {
		a := network.Answer{Status: 429, Header: map[string]string{"Retry-After": fmt.Sprint(seconds)}}
		switch channel {
		case "telegram":
			a.Body = fmt.Sprintf(`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after %d",`+
				`"parameters":{"retry_after":%d}}`, seconds, seconds)
		case "discord":
			a.Header["X-RateLimit-Scope"] = "user"
			a.Body = fmt.Sprintf(`{"message":"You are being rate limited.","retry_after":%d.0,"global":false}`, seconds)
		default:
			a.Body = `{"ok":false,"error":"ratelimited"}`
		}
		return a
	}
}

// unauthorized is how a platform refuses a token.
func unauthorized(channel string) network.Answer {
	switch channel {
	case "telegram":
		return network.Answer{Status: 401, Body: `{"ok":false,"error_code":401,"description":"Unauthorized"}`}
	case "discord":
		return network.Answer{Status: 401, Body: `{"message":"401: Unauthorized","code":0}`}
	}
	return network.Answer{Status: 200, Body: `{"ok":false,"error":"invalid_auth"}`}
}

// notFound is the answer of a platform that does not know a path which it knows else.
func notFound(channel string) network.Answer {
	switch channel {
	case "telegram":
		return network.Answer{Status: 404, Body: `{"ok":false,"error_code":404,"description":"Not Found"}`}
	case "discord":
		return network.Answer{Status: 404, Body: `{"message":"404: Not Found","code":0}`}
	}
	return network.Answer{Status: 404, Body: "<html><body>404 Not Found</body></html>"}
}

func conflict(string) network.Answer {
	return network.Answer{Status: 409, Body: `{"ok":false,"error_code":409,"description":"Conflict: terminated by other ` +
		`getUpdates request; make sure that only one bot instance is running"}`}
}

// line is a fault of the connections.
func line(state network.Line) func(c *cell) {
	return func(c *cell) {
		c.Helper()
		if err := c.way.SetLine(state); err != nil {
			c.Fatal(err)
		}
	}
}

func handshake(h network.Handshake) func(c *cell) { return func(c *cell) { c.way.SetHandshake(h) } }

// sockets is a fault of the open WebSockets.
func sockets(strike func(way *network.Proxy)) func(c *cell) {
	return func(c *cell) {
		c.Helper()
		c.await("a WebSocket is open", func() bool { open, _ := c.way.Sockets(); return open > 0 })
		strike(c.way)
	}
}

const withSockets = "discord slack"

var faults = append([]fault{
	{name: "none", begin: func(*cell) {}},
	{name: "each call takes 1.5 s longer", strikes: true, lasts: 6 * time.Second,
		begin: adds(func(dialect, string) []network.Rule { return []network.Rule{{Delay: 1500 * time.Millisecond}} })},
	{name: "posts carried out, 3 answers lost", strikes: true, begin: every(network.Lose, 3, posts)},
	{name: "posts not carried out, 3 connections cut", strikes: true, begin: every(network.Cut, 3, posts)},
	{name: "posts carried out, 3 answers cut in half", strikes: true, begin: every(network.Truncate, 3, posts)},
	{name: "3 answers to posts come over 3 s", strikes: true, begin: every(network.Trickle, 3, posts)},
	{name: "edits carried out, 3 answers lost", strikes: true, begin: every(network.Lose, 3, edits)},
	{name: "all connections reset once", begin: func(c *cell) { c.way.Reset() }},
	{name: "connections reset for 4 s", lasts: 4 * time.Second, begin: line(network.Resets), end: line(network.Works)},
	{name: "connections refused for 5 s", lasts: 5 * time.Second, begin: line(network.Refuses),
		end: line(network.Works)},
	{name: "connections half-open for 8 s", lasts: 8 * time.Second, begin: line(network.Silent),
		end: line(network.Works)},
	{name: "TLS: handshakes fail for 5 s", lasts: 5 * time.Second, begin: handshake(network.Aborted),
		end: handshake(network.Known)},
	{name: "TLS: an unknown certificate for 5 s", lasts: 5 * time.Second, begin: handshake(network.Unknown),
		end: handshake(network.Known)},
	{name: "TLS: an expired certificate for 5 s", lasts: 5 * time.Second, begin: handshake(network.Outdated),
		end: handshake(network.Known)},
	{name: "502 with a page of HTML for 6 s", strikes: true, lasts: 6 * time.Second,
		begin: adds(func(dialect, string) []network.Rule {
			return []network.Rule{{Deed: network.Instead, Answer: network.Page(502)}}
		})},
	{name: "429 on 2 posts, retry after 3 s", strikes: true, begin: answering(posts, 2, tooMany(3))},
	{name: "429 on a post, retry after 12 s", strikes: true, begin: answering(posts, 1, tooMany(12))},
	{name: "429 on everything for 5 s", strikes: true, lasts: 5 * time.Second,
		begin: answering(anything, 0, tooMany(2))},
	{name: "one stray 404 on a post", strikes: true, begin: answering(posts, 1, notFound)},
	{name: "one stray 404 on receiving", strikes: true, begin: func(c *cell) {
		answering(receiving, 1, notFound)(c)
		if c.platform.channel() != "telegram" { // the next connection asks where to
			c.way.CutSockets()
		}
	}},
	{name: "401 on everything for 5 s", strikes: true, lasts: 5 * time.Second,
		begin: answering(anything, 0, unauthorized)},
	{name: "409 on polls for 5 s", only: "telegram", strikes: true, lasts: 5 * time.Second,
		begin: answering(receiving, 0, conflict)},
	{name: "WebSockets cut without a word", only: withSockets, begin: sockets((*network.Proxy).CutSockets)},
	{name: "WebSockets silent for 8 s", only: withSockets, lasts: 8 * time.Second,
		begin: sockets(func(way *network.Proxy) { way.Hush(true) }), end: func(c *cell) { c.way.Hush(false) }},
	{name: "op 7: connect again", only: "discord", begin: sockets(func(way *network.Proxy) {
		way.Say(`{"op":7,"d":null,"s":null,"t":null}`)
	})},
	{name: "op 9: invalid session, resumable", only: "discord", begin: sockets(func(way *network.Proxy) {
		way.Say(`{"op":9,"d":true,"s":null,"t":null}`)
	})},
	{name: "op 9: invalid session", only: "discord", begin: sockets(func(way *network.Proxy) {
		way.Say(`{"op":9,"d":false,"s":null,"t":null}`)
	})},
	{name: "the socket is refreshed", only: "slack", begin: sockets(func(way *network.Proxy) {
		way.Say(`{"type":"disconnect","reason":"warning","debug_info":{"host":"applink-1"}}`)
		time.Sleep(time.Second)
		way.Say(`{"type":"disconnect","reason":"refresh_requested","debug_info":{"host":"applink-1"}}`)
	})},
}, closes()...)

// closes are the close codes of Discord's gateway: those after which it says that no retry helps come once, as in a
// hiccup, and the first of them also for some time.
func closes() (all []fault) {
	for _, code := range []int{4000, 4004, 4010, 4011, 4012, 4013, 4014} {
		all = append(all, fault{name: fmt.Sprintf("close code %d once", code), only: "discord",
			begin: sockets(func(way *network.Proxy) { way.CloseSockets(code) })})
	}
	return append(all, fault{name: "close code 4004 for 5 s", only: "discord", lasts: 5 * time.Second,
		begin: sockets(func(way *network.Proxy) { way.RefuseSockets(4004); way.CloseSockets(4004) }),
		end:   func(c *cell) { c.way.RefuseSockets(0) }})
}
