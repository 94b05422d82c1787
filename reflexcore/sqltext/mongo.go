package sqltext

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// Mongo appends what a script of MongoDB's shell does. It skips texts and comments. An argument {}
// or none means everything.
func Mongo(dst []effect.Effect, text string, lim Limits, payload func(effect.Payload)) []effect.Effect {
	if len(text) > lim.Bytes {
		dst = append(dst, effect.Effect{Kind: effect.Opaque, By: "mongo", Bits: effect.Partial})
		text = text[:max(lim.Bytes, 0)]
	}
	t, all := (&lexer{s: text, q: quirks{backslash: true, double: true, slashes: true}}).tokens(lim.Tokens)
	if !all {
		dst = append(dst, effect.Effect{Kind: effect.Opaque, By: "mongo", Bits: effect.Partial})
	}
	m := mongoText{dst: dst, t: t, payload: payload}
	for i, x := range t {
		call := at(t, i+1).is("(")
		if at(t, i+1).is("]") && at(t, i-1).is("[") && at(t, i+2).is("(") { // db.users["drop"]()
			call = true
			i++
		}
		if call && (x.kind == tWord || x.kind == tText) {
			m.call(x.s, i)
		}
	}
	return m.dst
}

// A mongoText is the tokens of a script of MongoDB's shell.
type mongoText struct {
	dst     []effect.Effect
	t       []token
	payload func(effect.Payload)
}

func (m *mongoText) add(kind effect.Kind, target, by string, bits effect.Bits) {
	m.dst = append(m.dst, effect.Effect{Kind: kind, Target: target, By: by, Bits: bits})
}

// call judges the call of a method whose bracket follows the token at i.
func (m *mongoText) call(method string, i int) {
	// db.users.find().remove(): the collection is the name before find.
	name := at(m.t, i-2).s
	if at(m.t, i).is("]") || at(m.t, i-2).is(")") {
		name = "…"
	}
	end := closing(m.t, i+1)
	args := m.t[min(i+2, end):end]
	all := len(args) == 0 || len(args) >= 2 && args[0].is("{") && args[1].is("}")
	bits := effect.Bits(0)
	if all {
		bits = effect.Bulk
	}
	switch strings.ToLower(method) {
	case "dropdatabase":
		m.add(effect.RemoteDelete, "database", method, effect.Bulk|effect.Recursive)
	case "drop", "dropcollection":
		m.add(effect.RemoteDelete, "collection "+name, method, effect.Bulk)
	case "deletemany", "remove":
		m.add(effect.RemoteDelete, "documents of "+name, method, bits)
	case "deleteone", "findoneanddelete":
		m.add(effect.RemoteDelete, "1 documents of "+name, method, 0)
	case "updatemany", "replacemany":
		if all {
			m.add(effect.RemoteDelete, "documents of "+name, method, effect.Bulk)
		}
	case "dropindexes", "dropindex":
		m.add(effect.RemoteDelete, "indexes of "+name, method, 0)
	case "shutdownserver", "killop", "fsynclock":
		m.add(effect.Kill, "the server", method, 0)
	case "createuser", "dropuser", "grantrolestouser", "updateuser", "createrole", "changeuserpassword",
		"dropallusers", "revokerolesfromuser", "grantprivilegestorole":
		m.add(effect.Permission, "account", method, 0)
	case "admincommand", "runcommand":
		m.runCommand(method, args)
	case "run", "runprogram", "execsync", "exec", "spawn", "spawnsync", "runnonmongoprogram":
		command := effect.Unknown
		if at(args, 0).kind == tText {
			command = args[0].s
		}
		m.add(effect.Exec, command, method, 0)
		if m.payload != nil {
			m.payload(effect.Payload{Lang: effect.Shell, Text: command, Why: method + " of mongosh"})
		}
	}
}

// runCommand judges the argument of runCommand.
func (m *mongoText) runCommand(method string, args []token) {
	for k, y := range args {
		switch strings.ToLower(y.s) {
		case "shutdown":
			m.add(effect.Kill, "the server", method, 0)
		case "dropdatabase":
			m.add(effect.RemoteDelete, "database", method, effect.Bulk|effect.Recursive)
		case "drop":
			m.add(effect.RemoteDelete, "collection "+at(args, k+2).s, method, effect.Bulk)
		case "createuser", "updateuser", "grantrolestouser", "setparameter":
			m.add(effect.Permission, "account", method, 0)
		}
	}
}
