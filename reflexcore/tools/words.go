package tools

import "strings"

// verbs are what a tool's name says that it does.
type verbs uint32

const (
	verbRead verbs = 1 << iota
	verbWrite
	verbAppend
	verbDelete
	verbExec
	verbSend
	verbPublish
	verbUpload
	verbDownload
	verbFetch
	verbNavigate
	verbType
	verbEvaluate
	verbQuery
	verbSearch
	verbGrant
	verbPay
	verbKill
	verbMove
	verbCopy
	verbInstall
	verbSchedule
	verbPatch
	verbEditor // its command argument is an action of an editor
	verbWeb
	verbWrapper // another tool's name is among the arguments
	verbScreen
)

// nouns are what it does it to.
type nouns uint32

const (
	nounFile nouns = 1 << iota
	nounFolder
	nounURL
	nounMail
	nounDatabase
	nounBrowser
	nounShell
	nounCode
	nounPython
	nounPowerShell
	nounScript
	nounSecret
	nounEnv
	nounAccess
	nounHost
	nounNotebook
	nounText
	nounAll
	nounMoney
	nounPackage
)

// meanings are words of tools' names.
var meanings = map[string]struct {
	v verbs
	n nouns
}{
	"read": {v: verbRead}, "get": {v: verbRead}, "list": {v: verbRead}, "ls": {v: verbRead}, "view": {v: verbRead}, "cat": {v: verbRead}, "show": {v: verbRead}, "open": {v: verbRead}, "describe": {v: verbRead}, "load": {v: verbRead}, "inspect": {v: verbRead}, "head": {v: verbRead}, "tail": {v: verbRead}, "stat": {v: verbRead}, "tree": {v: verbRead}, "dump": {v: verbRead}, "export": {v: verbRead}, "backup": {v: verbRead}, "diff": {v: verbRead}, "analyze": {v: verbRead}, "parse": {v: verbRead}, "import": {v: verbRead}, "print": {v: verbRead}, "retrieve": {v: verbRead}, "lookup": {v: verbRead}, "check": {v: verbRead},
	"search": {v: verbSearch}, "find": {v: verbSearch}, "grep": {v: verbSearch, n: nounText}, "glob": {v: verbSearch}, "rg": {v: verbSearch, n: nounText}, "ripgrep": {v: verbSearch, n: nounText},
	"write": {v: verbWrite}, "create": {v: verbWrite}, "update": {v: verbWrite}, "edit": {v: verbWrite}, "save": {v: verbWrite}, "put": {v: verbWrite}, "replace": {v: verbWrite}, "insert": {v: verbWrite}, "modify": {v: verbWrite}, "set": {v: verbWrite}, "overwrite": {v: verbWrite}, "multiedit": {v: verbWrite}, "notebookedit": {v: verbWrite, n: nounNotebook}, "mkdir": {v: verbWrite, n: nounFolder}, "touch": {v: verbWrite}, "store": {v: verbWrite}, "generate": {v: verbWrite}, "add": {v: verbWrite}, "patch": {v: verbWrite}, "format": {v: verbWrite}, "extract": {v: verbWrite}, "unzip": {v: verbWrite}, "restore": {v: verbWrite}, "change": {v: verbWrite}, "configure": {v: verbWrite}, "undo": {v: verbWrite},
	"append": {v: verbWrite | verbAppend},
	"delete": {v: verbDelete}, "remove": {v: verbDelete}, "destroy": {v: verbDelete}, "drop": {v: verbDelete}, "purge": {v: verbDelete}, "truncate": {v: verbDelete}, "erase": {v: verbDelete}, "wipe": {v: verbDelete}, "rm": {v: verbDelete}, "rmdir": {v: verbDelete, n: nounFolder}, "unlink": {v: verbDelete}, "clear": {v: verbDelete}, "trash": {v: verbDelete}, "del": {v: verbDelete}, "flush": {v: verbDelete, n: nounAll}, "reset": {v: verbDelete}, "prune": {v: verbDelete}, "uninstall": {v: verbDelete}, "shred": {v: verbDelete}, "teardown": {v: verbDelete}, "deprovision": {v: verbDelete}, "archive": {}, "empty": {v: verbDelete, n: nounAll}, "nuke": {v: verbDelete, n: nounAll},
	"run": {v: verbExec}, "exec": {v: verbExec}, "execute": {v: verbExec}, "eval": {v: verbExec | verbEvaluate}, "evaluate": {v: verbExec | verbEvaluate}, "invoke": {v: verbExec | verbWrapper}, "call": {v: verbWrapper}, "use": {v: verbWrapper}, "spawn": {v: verbExec}, "launch": {v: verbExec}, "start": {}, "interpret": {v: verbExec}, "interpreter": {v: verbExec, n: nounCode}, "repl": {v: verbExec, n: nounCode}, "sandbox": {v: verbExec},
	"shell": {v: verbExec, n: nounShell}, "bash": {v: verbExec, n: nounShell}, "zsh": {v: verbExec, n: nounShell}, "sh": {v: verbExec, n: nounShell}, "terminal": {v: verbExec, n: nounShell}, "cmd": {v: verbExec, n: nounShell}, "console": {v: verbExec, n: nounShell}, "ssh": {v: verbExec, n: nounShell | nounHost}, "command": {n: nounShell}, "commands": {n: nounShell}, "powershell": {v: verbExec, n: nounShell | nounPowerShell}, "pwsh": {v: verbExec, n: nounShell | nounPowerShell}, "process": {n: nounHost},
	"python": {v: verbExec, n: nounCode | nounPython}, "py": {n: nounCode | nounPython}, "ipython": {v: verbExec, n: nounCode | nounPython}, "jupyter": {n: nounNotebook | nounPython}, "code": {n: nounCode}, "script": {n: nounCode}, "javascript": {n: nounCode | nounScript}, "js": {n: nounCode | nounScript}, "node": {n: nounCode | nounScript}, "notebook": {n: nounNotebook}, "cell": {n: nounNotebook},
	"send": {v: verbSend}, "post": {v: verbSend}, "email": {v: verbSend, n: nounMail}, "mail": {v: verbSend, n: nounMail}, "message": {v: verbSend}, "reply": {v: verbSend}, "forward": {v: verbSend}, "notify": {v: verbSend}, "dm": {v: verbSend}, "sms": {v: verbSend}, "tweet": {v: verbSend | verbPublish}, "comment": {v: verbSend}, "chat": {}, "webhook": {v: verbSend}, "broadcast": {v: verbSend, n: nounAll}, "submit": {v: verbSend}, "share": {v: verbPublish}, "request": {v: verbFetch}, "slack": {}, "gmail": {n: nounMail},
	"publish": {v: verbPublish}, "deploy": {v: verbPublish}, "merge": {v: verbPublish}, "push": {v: verbPublish}, "release": {v: verbPublish}, "promote": {v: verbPublish}, "rollout": {v: verbPublish}, "upload": {v: verbUpload}, "sync": {v: verbUpload},
	"fetch": {v: verbFetch}, "http": {v: verbFetch, n: nounURL}, "curl": {v: verbFetch}, "wget": {v: verbFetch | verbDownload}, "download": {v: verbFetch | verbDownload}, "scrape": {v: verbFetch}, "crawl": {v: verbFetch}, "webfetch": {v: verbFetch | verbWeb}, "websearch": {v: verbSearch | verbWeb}, "web": {v: verbWeb}, "internet": {v: verbWeb}, "google": {v: verbWeb}, "brave": {v: verbWeb}, "docs": {v: verbWeb}, "documents": {v: verbWeb},
	"navigate": {v: verbNavigate, n: nounBrowser}, "goto": {v: verbNavigate, n: nounBrowser}, "visit": {v: verbNavigate, n: nounBrowser}, "browser": {n: nounBrowser}, "browse": {v: verbNavigate, n: nounBrowser}, "page": {}, "puppeteer": {n: nounBrowser}, "playwright": {n: nounBrowser}, "click": {v: verbType, n: nounBrowser}, "type": {v: verbType, n: nounBrowser}, "fill": {v: verbType, n: nounBrowser}, "press": {v: verbType, n: nounBrowser}, "keyboard": {v: verbType, n: nounBrowser}, "screenshot": {v: verbScreen}, "computer": {v: verbType, n: nounBrowser}, "record": {v: verbScreen}, "recording": {v: verbScreen},
	"query": {v: verbQuery}, "sql": {v: verbQuery, n: nounDatabase}, "database": {n: nounDatabase}, "db": {n: nounDatabase}, "table": {n: nounDatabase}, "postgres": {n: nounDatabase}, "postgresql": {n: nounDatabase}, "mysql": {n: nounDatabase}, "sqlite": {n: nounDatabase}, "redis": {n: nounDatabase}, "mongo": {n: nounDatabase}, "mongodb": {n: nounDatabase}, "collection": {n: nounDatabase}, "bigquery": {v: verbQuery, n: nounDatabase}, "snowflake": {n: nounDatabase}, "duckdb": {n: nounDatabase}, "supabase": {n: nounDatabase}, "rows": {n: nounDatabase}, "records": {n: nounDatabase}, "schema": {n: nounDatabase}, "migrations": {n: nounDatabase}, "migration": {n: nounDatabase},
	"grant": {v: verbGrant}, "revoke": {v: verbGrant}, "permission": {n: nounAccess}, "permissions": {n: nounAccess}, "chmod": {v: verbGrant}, "chown": {v: verbGrant}, "chgrp": {v: verbGrant}, "invite": {v: verbGrant}, "role": {n: nounAccess}, "roles": {n: nounAccess}, "policy": {n: nounAccess}, "acl": {n: nounAccess}, "iam": {n: nounAccess}, "collaborator": {n: nounAccess}, "collaborators": {n: nounAccess}, "member": {n: nounAccess}, "admin": {n: nounAccess}, "sudo": {v: verbExec, n: nounShell}, "approve": {v: verbGrant}, "authorize": {v: verbGrant}, "enable": {}, "disable": {}, "visibility": {n: nounAccess}, "impersonate": {v: verbGrant},
	"pay": {v: verbPay}, "payment": {v: verbPay}, "payout": {v: verbPay}, "transfer": {v: verbPay}, "refund": {v: verbPay}, "charge": {v: verbPay}, "withdraw": {v: verbPay}, "purchase": {v: verbPay}, "buy": {v: verbPay}, "order": {n: nounMoney}, "invoice": {n: nounMoney}, "wire": {v: verbPay}, "checkout": {}, "swap": {n: nounMoney}, "stake": {n: nounMoney}, "sell": {v: verbPay}, "trade": {v: verbPay}, "donate": {v: verbPay}, "subscribe": {n: nounMoney},
	"kill": {v: verbKill}, "terminate": {v: verbKill}, "shutdown": {v: verbKill}, "reboot": {v: verbKill}, "stop": {v: verbKill}, "restart": {v: verbKill}, "halt": {v: verbKill}, "suspend": {v: verbKill}, "cancel": {}, "server": {n: nounHost}, "instance": {n: nounHost}, "instances": {n: nounHost}, "vm": {n: nounHost}, "container": {n: nounHost}, "pod": {n: nounHost}, "service": {n: nounHost}, "cluster": {n: nounHost}, "machine": {n: nounHost}, "system": {n: nounHost}, "host": {n: nounHost},
	"move": {v: verbMove}, "rename": {v: verbMove}, "mv": {v: verbMove}, "copy": {v: verbCopy}, "cp": {v: verbCopy}, "duplicate": {v: verbCopy}, "link": {v: verbCopy}, "symlink": {v: verbCopy},
	"install": {v: verbInstall}, "package": {n: nounPackage}, "pip": {n: nounPackage}, "npm": {n: nounPackage}, "extension": {n: nounPackage}, "plugin": {n: nounPackage},
	"schedule": {v: verbSchedule}, "cron": {v: verbSchedule}, "cronjob": {v: verbSchedule}, "daemon": {v: verbSchedule},
	"file": {n: nounFile}, "files": {n: nounFile}, "directory": {n: nounFolder}, "folder": {n: nounFolder}, "dir": {n: nounFolder}, "url": {n: nounURL}, "uri": {n: nounURL},
	"secret": {n: nounSecret}, "secrets": {n: nounSecret}, "credential": {n: nounSecret}, "credentials": {n: nounSecret}, "password": {n: nounSecret}, "passwords": {n: nounSecret}, "token": {n: nounSecret}, "tokens": {n: nounSecret}, "keychain": {n: nounSecret}, "vault": {n: nounSecret}, "env": {n: nounEnv}, "environment": {n: nounEnv}, "envvar": {n: nounEnv},
	"all": {n: nounAll}, "everything": {n: nounAll}, "bulk": {n: nounAll}, "batch": {n: nounAll}, "mass": {n: nounAll}, "many": {n: nounAll},
	"editor": {v: verbEditor}, "tool": {v: verbWrapper}, "proxy": {v: verbWrapper}, "dispatch": {v: verbWrapper}, "gateway": {v: verbWrapper},
}

// maxName bounds the part of a tool's name that is read.
const maxName = 256

// name reads the tool's name: what its server is called does not say what the
// tool does, but which database it is.
func (j *judge) name() {
	t := j.call.Tool[:min(len(j.call.Tool), maxName)]
	for _, sep := range [...]string{"__", "::", ":", ".", "/"} {
		if i := strings.LastIndex(t, sep); i >= 0 && i+len(sep) < len(t) {
			t = t[i+len(sep):]
		}
	}
	j.tool = t
	j.mean(t)
	switch strings.ToLower(t) {
	case "apply_patch", "applypatch", "apply-patch", "apply_diff", "applydiff", "patch_file":
		j.verbs |= verbPatch
	case "str_replace", "multiedit":
		j.verbs |= verbWrite
	}
	if strings.Contains(strings.ToLower(t), "str_replace") {
		j.verbs |= verbEditor
	}
	if d := j.dialect(); d != "" {
		j.nouns |= nounDatabase
	}
}

// mean adds the meaning of a name's words: snake_case, kebab-case, camelCase.
func (j *judge) mean(name string) {
	start := 0
	word := func(end int) {
		if end > start {
			if m, ok := meanings[strings.ToLower(name[start:end])]; ok {
				j.verbs |= m.v
				j.nouns |= m.n
			}
		}
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		switch {
		case !letter:
			word(i)
			start = i + 1
		case c >= 'A' && c <= 'Z' && i > start && (name[i-1] >= 'a' && name[i-1] <= 'z' || i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z'):
			word(i)
			start = i
		}
	}
	word(len(name))
	if m, ok := meanings[strings.ToLower(name)]; ok { // WebFetch, MultiEdit
		j.verbs |= m.v
		j.nouns |= m.n
	}
}

// actions adds what an argument says that the call does: the action of an
// editor or a computer, the method of a wrapper.
func (j *judge) actions() {
	for _, a := range j.args {
		switch a.key {
		case "action", "operation", "op", "actiontype", "subcommand":
		case "command":
			if j.verbs&verbEditor == 0 && (!j.has(rolePath) || !editorWords[a.text]) {
				continue
			}
			j.verbs |= verbEditor
		case "toolname", "tool", "functionname", "methodname", "name", "function":
			if j.verbs&verbWrapper == 0 {
				continue
			}
		default:
			continue
		}
		if len(a.text) <= maxName && !strings.ContainsAny(a.text, " \n/") {
			if a.key == "command" && a.text == "view" {
				j.verbs &^= verbWrite
			}
			j.mean(a.text)
		}
	}
	// An editor's name has a verb of its own; what it was told counts.
	if j.verbs&verbEditor != 0 && j.verbs&verbRead != 0 {
		j.verbs &^= verbWrite
	} else if j.verbs&verbEditor != 0 {
		j.verbs |= verbWrite
	}
	if j.verbs&verbEditor != 0 {
		j.verbs &^= verbExec
		j.nouns &^= nounShell
	}
}

var editorWords = map[string]bool{"view": true, "create": true, "str_replace": true, "insert": true, "undo_edit": true, "append": true, "delete": true}
