package sqltext

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// RedisText appends what lines of redis-cli do.
func RedisText(dst []effect.Effect, text string, lim Limits) []effect.Effect {
	if len(text) > lim.Bytes {
		dst = append(dst, effect.Effect{Kind: effect.Opaque, By: "redis", Bits: effect.Partial})
		text = text[:max(lim.Bytes, 0)]
	}
	left := lim.Tokens
	for line := range strings.Lines(text) {
		var args []string
		l := &lexer{s: line, q: quirks{backslash: true, double: true}}
		for {
			for l.at < len(l.s) && l.s[l.at] <= ' ' && l.s[l.at] != 0 {
				l.at++
			}
			if l.at >= len(l.s) {
				break
			}
			if left--; left < 0 {
				return append(dst, effect.Effect{Kind: effect.Opaque, By: "redis", Bits: effect.Partial})
			}
			if c := l.s[l.at]; c == '"' || c == '\'' {
				t, _ := l.quoted(c, tWord, true)
				args = append(args, t.s)
				continue
			}
			start := l.at
			for l.at < len(l.s) && (l.s[l.at] > ' ' || l.s[l.at] == 0) {
				l.at++
			}
			args = append(args, l.s[start:l.at])
		}
		dst = Redis(dst, args)
	}
	return dst
}

// Redis appends what one command of Redis does.
func Redis(dst []effect.Effect, args []string) []effect.Effect {
	if len(args) == 0 {
		return dst
	}
	if n := strings.TrimLeft(args[0], "0123456789"); n == "" && len(args) > 1 { // a repeat count
		args = args[1:]
	}
	c := redisCommand{dst: dst, args: args}
	if !effect.IsKnown(args[0]) {
		c.add(effect.Opaque, args[0], effect.Partial)
	} else if does, ok := redisCommands[c.word(0)]; ok {
		does(&c)
	}
	return c.dst
}

// A redisCommand is a command with its arguments.
type redisCommand struct {
	dst  []effect.Effect
	args []string
}

// word returns an argument in upper case, or "".
func (c *redisCommand) word(i int) string {
	if i < len(c.args) {
		return strings.ToUpper(c.args[i])
	}
	return ""
}

// operand returns an argument, or an unknown text if it is missing.
func (c *redisCommand) operand(i int) string {
	if i < len(c.args) {
		return c.args[i]
	}
	return effect.Unknown
}

func (c *redisCommand) add(kind effect.Kind, target string, bits effect.Bits) {
	by := strings.TrimSpace("redis " + c.word(0))
	c.dst = append(c.dst, effect.Effect{Kind: kind, Target: target, By: by, Bits: bits})
}

// redisCommands are the commands that have effects.
var redisCommands = map[string]func(*redisCommand){
	"FLUSHALL":  func(c *redisCommand) { c.add(effect.RemoteDelete, "all databases", effect.Bulk|effect.Recursive) },
	"FLUSHDB":   func(c *redisCommand) { c.add(effect.RemoteDelete, "the database", effect.Bulk) },
	"SWAPDB":    func(c *redisCommand) { c.add(effect.RemoteDelete, "the database", effect.Bulk) },
	"SHUTDOWN":  func(c *redisCommand) { c.add(effect.Kill, "the server", effect.Bulk) },
	"FAILOVER":  func(c *redisCommand) { c.add(effect.Kill, "the server", 0) },
	"MIGRATE":   func(c *redisCommand) { c.add(effect.NetOut, strings.ToLower(c.word(1)), 0) },
	"DEL":       redisDelete,
	"UNLINK":    redisDelete,
	"DEBUG":     redisServer,
	"CLIENT":    redisServer,
	"CLUSTER":   redisServer,
	"CONFIG":    redisConfig,
	"SLAVEOF":   redisReplicate,
	"REPLICAOF": redisReplicate,
	"MODULE":    redisModule,
	"ACL":       redisAccount,
	"EVAL":      redisScript,
	"EVALSHA":   redisScript,
	"FCALL":     redisScript,
	"FUNCTION":  redisScript,
}

func redisDelete(c *redisCommand) {
	bits, keys := effect.Bits(0), c.args[1:]
	if len(c.args) > 50 || slices.ContainsFunc(keys, func(k string) bool { return strings.ContainsAny(k, "*\x00") }) {
		bits = effect.Bulk
	}
	c.add(effect.RemoteDelete, "keys "+strings.Join(keys[:min(len(keys), 8)], " "), bits)
}

// redisServer judges commands that stop the server or a connection, or pause it: nobody is served in
// that time.
func redisServer(c *redisCommand) {
	switch verb, what := c.word(0), c.word(1); {
	case verb == "CLIENT" && what == "KILL":
		c.add(effect.Kill, "connection", 0)
	case verb == "CLIENT" && what == "PAUSE", verb == "CLUSTER" && what == "RESET",
		verb == "DEBUG" && !wordset.Has(redisTells, what):
		c.add(effect.Kill, "the server", 0)
	}
}

// redisTells are the parts of DEBUG that only tell something, or fill the database with keys of a test.
const redisTells = "OBJECT JMAP POPULATE DIGEST DIGEST-VALUE LISTPACK ZIPLIST QUICKLIST STRINGMATCH-LEN HTSTATS " +
	"HTSTATS-KEY SDSLEN PROTOCOL LOG HELP MALLCTL CLIENT-EVICTION"

func redisConfig(c *redisCommand) {
	if c.word(1) != "SET" {
		return
	}
	switch c.word(2) {
	case "DIR", "DBFILENAME", "APPENDDIRNAME", "LOGFILE", "RDB-KEY-SAVE-DELAY", "UNIXSOCKET", "LOADMODULE":
		c.add(effect.Write, c.operand(3), effect.Partial) // the target of the next save
		c.add(effect.Persist, c.operand(3), effect.Partial)
	default:
		c.add(effect.Permission, "setting "+strings.ToLower(c.word(2)), 0)
	}
}

func redisReplicate(c *redisCommand) {
	if c.word(1) == "NO" {
		c.add(effect.Permission, "replication", 0)
		return
	}
	c.add(effect.NetIn, c.operand(1), 0)
	c.add(effect.RemoteDelete, "all databases", effect.Bulk)
}

func redisModule(c *redisCommand) {
	if c.word(1) == "LOAD" || c.word(1) == "LOADEX" {
		c.add(effect.Exec, c.operand(2), 0)
	}
}

func redisAccount(c *redisCommand) {
	if c.word(1) == "SETUSER" || c.word(1) == "DELUSER" || c.word(1) == "LOAD" {
		c.add(effect.Permission, "account "+strings.ToLower(c.word(2)), 0)
	}
}

func redisScript(c *redisCommand) {
	script := strings.ToLower(c.word(1))
	switch {
	case strings.Contains(script, "flush"):
		c.add(effect.RemoteDelete, "all databases", effect.Bulk)
	case strings.Contains(script, "keys") && (strings.Contains(script, "del") || strings.Contains(script, "unlink")):
		c.add(effect.RemoteDelete, "keys", effect.Bulk)
	case strings.Contains(script, "loadlib"), strings.Contains(script, "io.popen"),
		strings.Contains(script, "os.execute"):
		c.add(effect.Exec, "lua", 0)
	case c.word(0) == "FUNCTION" && c.word(1) == "FLUSH":
		c.add(effect.RemoteDelete, "functions", effect.Bulk)
	}
}
