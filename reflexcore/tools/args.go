package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// A role is what a value is for.
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

// roles of arguments by name, in lower case and without _ and -.
var roles = map[string]role{
	"path": rolePath, "file": rolePath, "filepath": rolePath, "filename": rolePath, "notebookpath": rolePath, "directory": rolePath, "dir": rolePath, "folder": rolePath, "targetfile": rolePath, "targetpath": rolePath, "targetdirectory": rolePath, "outputpath": rolePath, "outputfile": rolePath, "outfile": rolePath, "savepath": rolePath, "saveas": rolePath, "localpath": rolePath, "absolutepath": rolePath, "relativepath": rolePath, "paths": rolePath, "files": rolePath, "filepaths": rolePath, "fullpath": rolePath, "dirpath": rolePath, "directorypath": rolePath, "folderpath": rolePath, "relativeworkspacepath": rolePath, "attachment": rolePath, "attachments": rolePath, "scriptpath": rolePath, "configpath": rolePath, "root": rolePath, "rootpath": rolePath, "targetnotebook": rolePath, "image": rolePath, "imagepath": rolePath,
	"source": roleSource, "src": roleSource, "sourcepath": roleSource, "oldpath": roleSource, "srcpath": roleSource, "sourcefile": roleSource, "frompath": roleSource, "oldname": roleSource,
	"destination": roleDestination, "dest": roleDestination, "dst": roleDestination, "destinationpath": roleDestination, "newpath": roleDestination, "destpath": roleDestination, "topath": roleDestination, "newname": roleDestination, "linkpath": roleDestination,
	"pattern": rolePattern, "glob": rolePattern, "globpattern": rolePattern, "include": rolePattern, "regex": rolePattern, "includepattern": rolePattern, "searchpattern": rolePattern,
	"url": roleURL, "uri": roleURL, "urls": roleURL, "uris": roleURL, "endpoint": roleURL, "href": roleURL, "link": roleURL, "baseurl": roleURL, "webhook": roleURL, "webhookurl": roleURL, "callback": roleURL, "callbackurl": roleURL, "host": roleURL, "hostname": roleURL, "domain": roleURL, "website": roleURL, "target_url": roleURL, "targeturl": roleURL, "requesturl": roleURL, "proxy": roleURL, "repo": roleOther,
	"sql": roleSQL, "statement": roleSQL, "statements": roleSQL, "sqlquery": roleSQL, "query": roleQuery, "queries": roleQuery, "q": roleQuery,
	"dsn": roleDSN, "connectionstring": roleDSN, "databaseurl": roleDSN, "connectionuri": roleDSN, "connectionurl": roleDSN, "dburl": roleDSN,
	"command": roleCommand, "cmd": roleCommand, "commandline": roleCommand, "shellcommand": roleCommand, "bash": roleCommand, "commands": roleCommand, "cmds": roleCommand, "shell": roleCommand, "bashcommand": roleCommand,
	"code": roleCode, "script": roleCode, "js": roleCode, "javascript": roleCode, "expression": roleCode, "function": roleCode, "python": roleCode, "program": roleCode, "sourcecode": roleCode, "snippet": roleCode, "pagefunction": roleCode, "pythoncode": roleCode, "jscode": roleCode, "scriptcontent": roleCode, "codeblock": roleCode,
	"content": roleContent, "contents": roleContent, "filetext": roleContent, "filecontent": roleContent, "body": roleContent, "data": roleContent, "payload": roleContent, "newsource": roleContent, "codeedit": roleContent, "json": roleContent, "form": roleContent, "formdata": roleContent, "html": roleContent, "newcontent": roleContent, "filecontents": roleContent,
	"text": roleText, "message": roleText, "subject": roleText, "title": roleText, "description": roleText, "prompt": roleText, "comment": roleText, "summary": roleText, "instructions": roleText, "explanation": roleText, "note": roleText, "input": roleText, "commitmessage": roleText, "reason": roleText, "thought": roleText, "question": roleText, "answer": roleText, "patch": roleText, "diff": roleText, "value": roleText, "values": roleText,
	"oldstring": roleOld, "oldstr": roleOld, "oldtext": roleOld, "search": roleOld, "newstring": roleNew, "newstr": roleNew, "newtext": roleNew, "replace": roleNew, "replacement": roleNew, "insertline": roleOther, "inserttext": roleNew,
	"to": roleRecipient, "cc": roleRecipient, "bcc": roleRecipient, "recipients": roleRecipient, "recipient": roleRecipient, "emails": roleRecipient, "email": roleRecipient, "channel": roleRecipient, "channelid": roleRecipient, "channels": roleRecipient, "chatid": roleRecipient, "userids": roleRecipient, "invitees": roleRecipient, "attendees": roleRecipient, "phone": roleRecipient, "phonenumber": roleRecipient, "replyto": roleRecipient, "forwardto": roleRecipient,
	"method": roleMethod, "httpmethod": roleMethod, "verb": roleMethod,
	"headers": roleHeader, "header": roleHeader, "cookies": roleHeader, "cookie": roleHeader, "authorization": roleHeader, "auth": roleHeader,
	"password": roleSecret, "token": roleSecret, "apikey": roleSecret, "secret": roleSecret, "accesstoken": roleSecret, "credentials": roleSecret, "passphrase": roleSecret, "privatekey": roleSecret,
	"amount": roleMoney, "price": roleMoney, "currency": roleMoney, "quantity": roleMoney, "cents": roleMoney, "account": roleMoney,
	"cwd": roleDir, "workingdirectory": roleDir, "workdir": roleDir, "workingdir": roleDir, "basedir": roleDir, "projectroot": roleDir, "workspace": roleDir,
	"selector": roleField, "element": roleField, "ref": roleField, "field": roleField, "label": roleField, "placeholder": roleField, "xpath": roleField, "locator": roleField,
}

// An arg is one value of a call, wherever it stands.
type arg struct {
	key    string // folded; of the list it stands in, for a list's item
	parent string // the key around it
	text   string
	role   role
	item   int // its place in a list, or -1
	number bool
}

type list struct {
	key  string
	size int
}

var errLimit = errors.New("more than is read")

// read takes the arguments apart; false if they cannot be read.
func (j *judge) read() bool {
	if len(j.call.Args) > j.lim.Bytes || j.lim.Depth <= 0 {
		return false
	}
	if len(j.call.Args) > 0 {
		if err := j.document(j.call.Args, "", j.lim.Depth); err != nil {
			return false
		}
	}
	j.shapes()
	for _, p := range j.call.Paths {
		j.extra(p, rolePath)
	}
	for _, u := range j.call.URLs {
		j.extra(u, roleURL)
	}
	return true
}

// extra adds what the agent's dialect found, unless it was found here too.
func (j *judge) extra(text string, r role) {
	if strings.ContainsRune(text, 0) && j.lim.Args <= 0 {
		return
	}
	for _, a := range j.args {
		if a.text == text && a.role != roleText && a.role != roleOther {
			return
		}
		if a.role == rolePattern && strings.HasSuffix(text, a.text) {
			return
		}
	}
	j.args = append(j.args, arg{key: "path", text: text, role: r, item: -1})
}

func (j *judge) document(data []byte, key string, depth int) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	t, err := d.Token()
	if err != nil {
		return err
	}
	if err := j.value(d, t, key, "", -1, depth); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one document")
	}
	return nil
}

func (j *judge) value(d *json.Decoder, t json.Token, key, parent string, item, depth int) error {
	if depth <= 0 || len(j.args) >= j.lim.Args {
		return errLimit
	}
	switch t := t.(type) {
	case json.Delim:
		size := 0
		for d.More() {
			inner := key
			if t == '{' {
				k, err := d.Token()
				if err != nil {
					return err
				}
				inner, _ = k.(string)
				inner = fold(inner)
			}
			v, err := d.Token()
			if err != nil {
				return err
			}
			at := -1
			if t == '[' {
				at = size
			}
			up := key
			if t == '[' {
				up = parent
			}
			if err := j.value(d, v, inner, up, at, depth-1); err != nil {
				return err
			}
			size++
		}
		if t == '[' {
			j.lists = append(j.lists, list{key, size})
		}
		_, err := d.Token()
		return err
	case string:
		r := roles[key]
		if parent != "" && roles[parent] == roleHeader {
			r = roleHeader
		}
		// JSON in a string is arguments too, unless it is what is written.
		if r != roleContent && r != roleText && r != roleCode && r != roleNew && r != roleOld && raw(t) {
			return j.document([]byte(t), key, depth-1)
		}
		j.args = append(j.args, arg{key: key, parent: parent, text: t, role: r, item: item})
	case json.Number:
		j.args = append(j.args, arg{key: key, parent: parent, text: t.String(), role: numberRole(key), item: item, number: true})
	case bool:
		text := "false"
		if t {
			text = "true"
		}
		j.args = append(j.args, arg{key: key, parent: parent, text: text, item: item, number: true})
	}
	return nil
}

func numberRole(key string) role {
	if roles[key] == roleMoney {
		return roleMoney
	}
	return roleOther
}

// fold makes file_path, filePath and file-path the same.
func fold(key string) string {
	plain := true
	for i := 0; i < len(key); i++ {
		if c := key[i]; c < 'a' || c > 'z' {
			plain = false
			break
		}
	}
	if plain {
		return key
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(key))
}

// shapes gives a role to values whose name says nothing, and takes one away
// from values that cannot have it.
func (j *judge) shapes() {
	for i := range j.args {
		a := &j.args[i]
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
			} else if strings.ContainsAny(a.text, "\n") {
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
			if j.verbs&verbWrapper != 0 && !strings.ContainsAny(a.text, " (){};=\n") {
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
		return strings.HasPrefix(low, "javascript:") || strings.HasPrefix(low, "data:text") || strings.HasPrefix(s, `\\`)
	}
	return !strings.ContainsAny(s, "\n")
}

func isPath(s string) bool {
	if len(s) < 2 || len(s) > 4096 || strings.ContainsAny(s, "\n<>") {
		return false
	}
	if s[0] == '/' && s[1] != '/' || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "$HOME/") {
		return true
	}
	return len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/') && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

func (j *judge) has(r role) bool {
	for _, a := range j.args {
		if a.role == r {
			return true
		}
	}
	return false
}

// values are the texts of arguments by name.
func (j *judge) values(keys ...string) (out []string) {
	for _, a := range j.args {
		for _, k := range keys {
			if a.key == k {
				out = append(out, a.text)
			}
		}
	}
	return out
}

// words are the items of a list by name.
func (j *judge) words(keys ...string) (out []string) {
	for _, a := range j.args {
		for _, k := range keys {
			if a.key == k && a.item >= 0 {
				out = append(out, a.text)
			}
		}
	}
	return out
}

// flag reports whether one of the switches is on.
func (j *judge) flag(keys ...string) bool {
	for _, v := range j.values(keys...) {
		if v == "true" || v == "1" || v == "yes" {
			return true
		}
	}
	return false
}

// longest is the size of the longest list of things.
func (j *judge) longest() int {
	n := 0
	for _, l := range j.lists {
		switch l.key {
		case "args", "arguments", "argv", "command", "edits", "messages", "columns", "fields", "steps", "lines", "options", "headers", "tags", "labels", "content", "todos", "cmd":
		default:
			n = max(n, l.size)
		}
	}
	for _, a := range j.args {
		if a.role == roleRecipient { // a, b, c in one text
			n = max(n, strings.Count(a.text, "@"))
		}
	}
	return n
}
