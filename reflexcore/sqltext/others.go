package sqltext

import (
	"net/url"
	"strings"

	"approver.example/reflexcore/effect"
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
	if n := strings.TrimLeft(args[0], "0123456789"); n == "" && len(args) > 1 { // repeat
		args = args[1:]
	}
	arg := func(i int) string {
		if i < len(args) {
			return strings.ToUpper(args[i])
		}
		return ""
	}
	add := func(kind effect.Kind, target string, bits effect.Bits) {
		dst = append(dst, effect.Effect{Kind: kind, Target: target, By: strings.TrimSpace("redis " + arg(0)), Bits: bits})
	}
	if !effect.IsKnown(args[0]) {
		add(effect.Opaque, args[0], effect.Partial)
		return dst
	}
	switch arg(0) {
	case "FLUSHALL":
		add(effect.RemoteDelete, "all databases", effect.Bulk|effect.Recursive)
	case "FLUSHDB", "SWAPDB":
		add(effect.RemoteDelete, "the database", effect.Bulk)
	case "DEL", "UNLINK":
		bits := effect.Bits(0)
		for _, a := range args[1:] {
			if strings.ContainsAny(a, "*\x00") {
				bits |= effect.Bulk
			}
		}
		if len(args) > 50 {
			bits |= effect.Bulk
		}
		add(effect.RemoteDelete, "keys "+strings.Join(args[1:min(len(args), 9)], " "), bits)
	case "SHUTDOWN":
		add(effect.Kill, "the server", effect.Bulk)
	case "FAILOVER":
		add(effect.Kill, "the server", 0)
	case "DEBUG":
		if arg(1) != "OBJECT" && arg(1) != "JMAP" {
			add(effect.Kill, "the server", 0)
		}
	case "CLIENT":
		switch arg(1) {
		case "KILL":
			add(effect.Kill, "connection", 0)
		case "PAUSE": // nobody is answered until it is over
			add(effect.Kill, "the server", 0)
		}
	case "CLUSTER":
		if arg(1) == "RESET" {
			add(effect.Kill, "the server", 0)
		}
	case "CONFIG":
		if arg(1) != "SET" {
			break
		}
		switch arg(2) {
		case "DIR", "DBFILENAME", "APPENDDIRNAME", "LOGFILE", "RDB-KEY-SAVE-DELAY", "UNIXSOCKET", "LOADMODULE":
			value := effect.Unknown
			if len(args) > 3 {
				value = args[3]
			}
			add(effect.Write, value, effect.Partial) // where the next save goes
			add(effect.Persist, value, effect.Partial)
		default:
			add(effect.Permission, "setting "+strings.ToLower(arg(2)), 0)
		}
	case "SLAVEOF", "REPLICAOF":
		if arg(1) == "NO" {
			add(effect.Permission, "replication", 0)
			break
		}
		target := effect.Unknown
		if len(args) > 1 {
			target = args[1]
		}
		add(effect.NetIn, target, 0)
		add(effect.RemoteDelete, "all databases", effect.Bulk)
	case "MODULE":
		if arg(1) == "LOAD" || arg(1) == "LOADEX" {
			target := effect.Unknown
			if len(args) > 2 {
				target = args[2]
			}
			add(effect.Exec, target, 0)
		}
	case "ACL":
		if arg(1) == "SETUSER" || arg(1) == "DELUSER" || arg(1) == "LOAD" {
			add(effect.Permission, "account "+strings.ToLower(arg(2)), 0)
		}
	case "MIGRATE":
		add(effect.NetOut, strings.ToLower(arg(1)), 0)
	case "EVAL", "EVALSHA", "FCALL", "FUNCTION":
		script := strings.ToLower(arg(1))
		switch {
		case strings.Contains(script, "flush"):
			add(effect.RemoteDelete, "all databases", effect.Bulk)
		case strings.Contains(script, "keys") && (strings.Contains(script, "del") || strings.Contains(script, "unlink")):
			add(effect.RemoteDelete, "keys", effect.Bulk)
		case strings.Contains(script, "loadlib"), strings.Contains(script, "io.popen"), strings.Contains(script, "os.execute"):
			add(effect.Exec, "lua", 0)
		case arg(0) == "FUNCTION" && arg(1) == "FLUSH":
			add(effect.RemoteDelete, "functions", effect.Bulk)
		}
	}
	return dst
}

// Mongo appends what a text of MongoDB's shell does. Texts and comments are
// left out; an argument {} or none is everything.
func Mongo(dst []effect.Effect, text string, lim Limits, payload func(effect.Payload)) []effect.Effect {
	if len(text) > lim.Bytes {
		dst = append(dst, effect.Effect{Kind: effect.Opaque, By: "mongo", Bits: effect.Partial})
		text = text[:max(lim.Bytes, 0)]
	}
	var t []token
	l := &lexer{s: text, q: quirks{backslash: true, double: true, slashes: true}}
	for {
		tok, ok := l.next()
		if !ok {
			break
		}
		if len(t) >= lim.Tokens {
			dst = append(dst, effect.Effect{Kind: effect.Opaque, By: "mongo", Bits: effect.Partial})
			break
		}
		t = append(t, tok)
	}
	add := func(kind effect.Kind, target, by string, bits effect.Bits) {
		dst = append(dst, effect.Effect{Kind: kind, Target: target, By: by, Bits: bits})
	}
	for i, x := range t {
		call := at(t, i+1).is("(")
		if at(t, i+1).is("]") && at(t, i-1).is("[") && at(t, i+2).is("(") { // db.users["drop"]()
			call = true
			i++
		}
		if !call || x.kind != tWord && x.kind != tText {
			continue
		}
		// db.users.find().remove(): the collection is the name before.
		name := at(t, i-2).s
		if at(t, i).is("]") || at(t, i-2).is(")") {
			name = "…"
		}
		end := closing(t, i+1)
		args := t[min(i+2, end):end]
		all := len(args) == 0 || len(args) >= 2 && args[0].is("{") && args[1].is("}")
		bits := effect.Bits(0)
		if all {
			bits = effect.Bulk
		}
		switch strings.ToLower(x.s) {
		case "dropdatabase":
			add(effect.RemoteDelete, "database", x.s, effect.Bulk|effect.Recursive)
		case "drop", "dropcollection":
			add(effect.RemoteDelete, "collection "+name, x.s, effect.Bulk)
		case "deletemany", "remove":
			add(effect.RemoteDelete, "documents of "+name, x.s, bits)
		case "deleteone", "findoneanddelete":
			add(effect.RemoteDelete, "1 documents of "+name, x.s, 0)
		case "updatemany", "replacemany":
			if all {
				add(effect.RemoteDelete, "documents of "+name, x.s, effect.Bulk)
			}
		case "dropindexes", "dropindex":
			add(effect.RemoteDelete, "indexes of "+name, x.s, 0)
		case "shutdownserver", "killop", "fsynclock":
			add(effect.Kill, "the server", x.s, 0)
		case "createuser", "dropuser", "grantrolestouser", "updateuser", "createrole", "changeuserpassword", "dropallusers", "revokerolesfromuser", "grantprivilegestorole":
			add(effect.Permission, "account", x.s, 0)
		case "admincommand", "runcommand":
			for k, y := range args {
				switch strings.ToLower(y.s) {
				case "shutdown":
					add(effect.Kill, "the server", x.s, 0)
				case "dropdatabase":
					add(effect.RemoteDelete, "database", x.s, effect.Bulk|effect.Recursive)
				case "drop":
					add(effect.RemoteDelete, "collection "+at(args, k+2).s, x.s, effect.Bulk)
				case "createuser", "updateuser", "grantrolestouser", "setparameter":
					add(effect.Permission, "account", x.s, 0)
				}
			}
		case "run", "runprogram", "execsync", "exec", "spawn", "spawnsync", "runnonmongoprogram":
			command := effect.Unknown
			if at(args, 0).kind == tText {
				command = args[0].s
			}
			add(effect.Exec, command, x.s, 0)
			if payload != nil {
				payload(effect.Payload{Lang: effect.Shell, Text: command, Why: x.s + " of mongosh"})
			}
		}
	}
	return dst
}

// HTTP appends what a request does to the service behind it, by its method,
// address and body: resources that are deleted, and the calls of Elasticsearch
// that delete by a question. Reading has no effect here.
func HTTP(dst []effect.Effect, method, address, body string) []effect.Effect {
	path := address
	if u, err := url.Parse(address); err == nil {
		path = u.Path
	}
	method = strings.ToUpper(strings.TrimSpace(method))
	by := method + " request"
	last := strings.Trim(path, "/")
	last = last[strings.LastIndexByte(last, '/')+1:]
	switch {
	case method == "DELETE":
		bits := effect.Bits(0)
		first := strings.Trim(path, "/")
		// The root, all indexes, a pattern, a list.
		if first == "" || strings.HasPrefix(first, "_all") || strings.ContainsAny(first, "*,") || !effect.IsKnown(first) && strings.IndexByte(first, '/') < 0 {
			bits |= effect.Bulk
		}
		dst = append(dst, effect.Effect{Kind: effect.RemoteDelete, Target: address, By: by, Bits: bits})
	case last == "_delete_by_query", last == "_bulk" && strings.Contains(body, `"delete"`):
		bits := effect.Bits(0)
		if body == "" || strings.Contains(body, "match_all") || !effect.IsKnown(body) || strings.Contains(path, "*") || strings.Contains(path, "_all") {
			bits = effect.Bulk
		}
		dst = append(dst, effect.Effect{Kind: effect.RemoteDelete, Target: address, By: by + " " + last, Bits: bits})
	case method == "POST" && (last == "_close" || last == "_forcemerge"), method == "PUT" && (last == "_settings" || strings.HasPrefix(last, "_security")):
		dst = append(dst, effect.Effect{Kind: effect.Permission, Target: address, By: by})
	}
	return dst
}
