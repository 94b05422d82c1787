package tools

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/wordset"
)

// A role is what the value of an argument is for.
type role uint8

const (
	roleOther role = iota
	rolePath
	roleSource
	roleDestination
	rolePattern
	roleURL
	roleSQL
	roleQuery
	roleDSN
	roleCommand
	roleCode
	roleContent // what is written or sent
	roleText    // prose
	roleOld
	roleNew
	roleRecipient
	roleHeader
	roleSecret
	roleMethod
	roleMoney
	roleField // where a browser types
	roleDir   // where a command runs
)

// roleNames are the names of the roles in the table of arguments, in order.
var roleNames = strings.Fields(`
	other path source destination pattern url sql query dsn command code content text old new recipient header
	secret method money field dir
`)

// roles maps the names of arguments, in lower case and without _ and -, to roles.
var roles = wordset.Index(argumentsText, func(heading string) role {
	return role(wordset.Number(roleNames, heading))
})

// argumentsText has the names of arguments.
//
//go:embed arguments.txt
var argumentsText string

// An arg is one value of a call, at any depth of its arguments.
type arg struct {
	key    string // folded; of the list it stands in, for a list's item
	parent string // the key around it
	text   string
	role   role
	item   int  // its place in a list, or -1
	object int  // the number of the object that it stands in
	list   int  // the number of the list that it stands in
	nested bool // that list stands in another one
	number bool
}

// A spot is where a value stands: see arg.
type spot struct {
	parent             string
	item, object, list int
	nested             bool
}

// arguments are all values of a call.
type arguments struct {
	limit   int // of values
	args    []arg
	lists   []list
	objects int
	arrays  int
}

type list struct {
	key  string
	size int
}

var errLimit = errors.New("more than is read")

// extra adds what the agent's adapter found, unless it was found here, too.
func (in *arguments) extra(text string, r role) {
	if strings.ContainsRune(text, 0) && in.limit <= 0 {
		return
	}
	for _, a := range in.args {
		if a.text == text && a.role != roleText && a.role != roleOther {
			return
		}
		if a.role == rolePattern && strings.HasSuffix(text, a.text) {
			return
		}
	}
	in.args = append(in.args, arg{key: "path", text: text, role: r, item: -1})
}

func (in *arguments) document(data []byte, key string, depth int) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	t, err := d.Token()
	if err != nil {
		return err
	}
	if err := in.value(d, t, key, spot{item: -1}, depth); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one document")
	}
	return nil
}

func (in *arguments) value(d *json.Decoder, t json.Token, key string, at spot, depth int) error {
	if depth <= 0 || len(in.args) >= in.limit {
		return errLimit
	}
	put := func(text string, r role, number bool) {
		in.args = append(in.args, arg{key: key, parent: at.parent, text: text, role: r, item: at.item,
			object: at.object, list: at.list, nested: at.nested, number: number})
	}
	switch t := t.(type) {
	case json.Delim:
		return in.inside(d, t, key, at, depth)
	case string:
		r := roleOf(key)
		if at.parent != "" && roles[at.parent] == roleHeader {
			r = roleHeader
		}
		// A string with JSON has arguments, too, unless it is content.
		if r != roleContent && r != roleText && r != roleCode && r != roleNew && r != roleOld && raw(t) {
			return in.document([]byte(t), key, depth-1)
		}
		put(t, r, false)
	case json.Number:
		r := roleOther
		if roles[key] == roleMoney {
			r = roleMoney
		}
		put(t.String(), r, true)
	case bool:
		put(strconv.FormatBool(t), roleOther, true)
	}
	return nil
}

// inside reads what is in a list or an object.
func (in *arguments) inside(d *json.Decoder, t json.Delim, key string, at spot, depth int) error {
	within, size := spot{parent: key, item: -1}, 0
	if t == '{' {
		in.objects++
		within.object = in.objects
	} else {
		in.arrays++
		within = spot{parent: at.parent, object: at.object, list: in.arrays, nested: at.item >= 0}
	}
	for d.More() {
		inner := key
		if t == '{' {
			k, err := d.Token()
			if err != nil {
				return err
			}
			inner, _ = k.(string)
			inner = fold(inner)
		} else {
			within.item = size
		}
		v, err := d.Token()
		if err != nil {
			return err
		}
		if err := in.value(d, v, inner, within, depth-1); err != nil {
			return err
		}
		size++
	}
	if t == '[' {
		in.lists = append(in.lists, list{key, size})
	}
	_, err := d.Token()
	return err
}

// roleOf returns the role of an argument by its name, or by how its name ends: cli_command is a
// command, raw_sql a statement.
func roleOf(key string) role {
	if r, ok := roles[key]; ok {
		return r
	}
	for _, end := range [...]struct {
		text string
		role role
	}{
		{"command", roleCommand}, {"cmd", roleCommand}, {"commandline", roleCommand}, {"sql", roleSQL}, {"cypher", roleQuery},
	} {
		if strings.HasSuffix(key, end.text) {
			return end.role
		}
	}
	return roleOther
}

// fold makes file_path, filePath and file-path equal.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(key))
}

// guessRoles gives roles to values without a known name, by their form, and removes roles from
// values that cannot have them.
func (in *arguments) guessRoles(wrapper bool) {
	for i := range in.args {
		a := &in.args[i]
		if a.number {
			continue
		}
		switch a.role {
		case roleOther, roleRecipient, roleMoney, roleField:
			switch {
			case isURL(a.text):
				a.role = roleURL
			case isPath(a.text):
				a.role = rolePath
			}
		case roleSource, roleDestination:
			if isURL(a.text) {
				a.role = roleURL
			} else if strings.Contains(a.text, "\n") {
				a.role = roleContent
			}
		case rolePath:
			if isURL(a.text) && !strings.HasPrefix(a.text, "file:") {
				a.role = roleURL
			} else if strings.Contains(a.text, "\n") || len(a.text) > 4096 {
				a.role = roleContent
			}
		case roleURL:
			if isPath(a.text) && !strings.HasPrefix(a.text, "//") {
				a.role = rolePath
			}
		case roleCode: // "function": "name" of a wrapper
			if wrapper && !strings.ContainsAny(a.text, " (){};=\n") {
				a.role = roleOther
			}
		case roleQuery:
			if isURL(a.text) {
				a.role = roleURL
			}
		default:
		}
	}
}

func isURL(s string) bool {
	i := strings.Index(s, "://")
	if i < 1 || i > 20 || strings.ContainsAny(s[:i], " \n/\"'(") {
		low := strings.ToLower(s[:min(len(s), 12)])
		return strings.HasPrefix(low, "javascript:") || strings.HasPrefix(low, "data:text") ||
			strings.HasPrefix(s, `\\`)
	}
	return !strings.ContainsAny(s, "\n")
}

func isPath(s string) bool {
	if len(s) < 2 || len(s) > 4096 || strings.ContainsAny(s, "\n<>") {
		return false
	}
	if s[0] == '/' && s[1] != '/' || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "../") ||
		strings.HasPrefix(s, "./") || strings.HasPrefix(s, "$HOME/") {
		return true
	}
	return len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/') && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

// find returns the index of the first argument with one of some roles, or -1.
func (in *arguments) find(some ...role) int {
	return slices.IndexFunc(in.args, func(a arg) bool { return slices.Contains(some, a.role) })
}

// has reports whether an argument has one of some roles.
func (in *arguments) has(some ...role) bool { return in.find(some...) >= 0 }

// values returns the texts of arguments by name.
func (in *arguments) values(keys ...string) (out []string) {
	for _, a := range in.args {
		if slices.Contains(keys, a.key) {
			out = append(out, a.text)
		}
	}
	return out
}

// words returns the items of a list by name.
func (in *arguments) words(keys ...string) (out []string) {
	for _, a := range in.args {
		if a.item >= 0 && slices.Contains(keys, a.key) {
			out = append(out, a.text)
		}
	}
	return out
}

// flag reports whether one of the switches is on.
func (in *arguments) flag(keys ...string) bool {
	return slices.ContainsFunc(in.values(keys...), func(v string) bool { return v == "true" || v == "1" || v == "yes" })
}

// longest returns the length of the longest list of things.
func (in *arguments) longest() int {
	n := 0
	for _, l := range in.lists {
		if !partLists[l.key] {
			n = max(n, l.size)
		}
	}
	for _, a := range in.args {
		if a.role == roleRecipient { // a, b, c in one text
			n = max(n, strings.Count(a.text, "@"))
		}
	}
	return n
}

// partLists are lists of parts of one thing.
var partLists = wordset.Of("args arguments argv command edits messages columns fields steps lines options headers " +
	"tags labels content todos cmd")

// replacements returns the old and new texts of edits, each old one before its new one. In JSON the
// keys may come in any order.
func (in *arguments) replacements() []arg {
	var olds, news, all []arg
	for _, a := range in.args {
		switch a.role {
		case roleOld:
			olds, all = append(olds, a), append(all, a)
		case roleNew:
			news, all = append(news, a), append(all, a)
		default:
		}
	}
	if len(olds) != len(news) {
		return all
	}
	all = all[:0]
	for i := range olds {
		all = append(all, olds[i], news[i])
	}
	return all
}

// raw reports whether a value is JSON.
func raw(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) > 1 && (s[0] == '{' && s[len(s)-1] == '}' || s[0] == '[' && s[len(s)-1] == ']') &&
		json.Valid([]byte(s))
}
