package tools

import (
	"strings"
)

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

// meanings are what words of tools' names say.
var meanings = byWord([]worded{
	{meaning{verbs: verbRead}, `
		read get list ls view cat show open describe load inspect head tail stat tree dump export backup
		diff analyze parse import print retrieve lookup check
	`},
	{meaning{verbs: verbSearch}, "search find glob"},
	{meaning{verbs: verbSearch, nouns: nounText}, "grep rg ripgrep"},
	{meaning{verbs: verbWrite}, `
		write create update edit save put replace insert modify set overwrite multiedit touch store generate
		add patch format extract unzip restore change configure undo
	`},
	{meaning{verbs: verbWrite, nouns: nounNotebook}, "notebookedit"},
	{meaning{verbs: verbWrite, nouns: nounFolder}, "mkdir"},
	{meaning{verbs: verbWrite | verbAppend}, "append"},
	{meaning{verbs: verbDelete}, `
		delete remove destroy drop purge truncate erase wipe rm unlink clear trash del reset prune uninstall
		shred teardown deprovision
	`},
	{meaning{verbs: verbDelete, nouns: nounFolder}, "rmdir"},
	{meaning{verbs: verbDelete, nouns: nounAll}, "flush empty nuke"},
	{meaning{verbs: verbExec}, "run exec execute spawn launch interpret sandbox"},
	{meaning{verbs: verbExec | verbEvaluate}, "eval evaluate"},
	{meaning{verbs: verbExec | verbWrapper}, "invoke"},
	{meaning{verbs: verbWrapper}, "call use tool proxy dispatch gateway"},
	{meaning{verbs: verbExec, nouns: nounCode}, "interpreter repl"},
	{meaning{verbs: verbExec, nouns: nounShell}, "shell bash zsh sh terminal cmd console sudo"},
	{meaning{verbs: verbExec, nouns: nounShell | nounHost}, "ssh"},
	{meaning{nouns: nounShell}, "command commands"},
	{meaning{verbs: verbExec, nouns: nounShell | nounPowerShell}, "powershell pwsh"},
	{meaning{nouns: nounHost}, `
		process server instance instances vm container pod service cluster machine system host
	`},
	{meaning{verbs: verbExec, nouns: nounCode | nounPython}, "python ipython"},
	{meaning{nouns: nounCode | nounPython}, "py"},
	{meaning{nouns: nounNotebook | nounPython}, "jupyter"},
	{meaning{nouns: nounCode}, "code script"},
	{meaning{nouns: nounCode | nounScript}, "javascript js node"},
	{meaning{nouns: nounNotebook}, "notebook cell"},
	{meaning{verbs: verbSend}, "send post message reply forward notify dm sms comment webhook submit"},
	{meaning{verbs: verbSend, nouns: nounMail}, "email mail"},
	{meaning{verbs: verbSend | verbPublish}, "tweet"},
	{meaning{verbs: verbSend, nouns: nounAll}, "broadcast"},
	{meaning{verbs: verbPublish}, "share publish deploy merge push release promote rollout"},
	{meaning{verbs: verbFetch}, "request fetch curl scrape crawl"},
	{meaning{nouns: nounMail}, "gmail"},
	{meaning{verbs: verbUpload}, "upload sync"},
	{meaning{verbs: verbFetch, nouns: nounURL}, "http"},
	{meaning{verbs: verbFetch | verbDownload}, "wget download"},
	{meaning{verbs: verbFetch | verbWeb}, "webfetch"},
	{meaning{verbs: verbSearch | verbWeb}, "websearch"},
	{meaning{verbs: verbWeb}, "web internet google brave docs documents"},
	{meaning{verbs: verbNavigate, nouns: nounBrowser}, "navigate goto visit browse"},
	{meaning{nouns: nounBrowser}, "browser puppeteer playwright"},
	{meaning{verbs: verbType, nouns: nounBrowser}, "click type fill press keyboard computer"},
	{meaning{verbs: verbScreen}, "screenshot record recording"},
	{meaning{verbs: verbQuery}, "query"},
	{meaning{verbs: verbQuery, nouns: nounDatabase}, "sql bigquery"},
	{meaning{nouns: nounDatabase}, `
		database db table postgres postgresql mysql sqlite redis mongo mongodb collection snowflake duckdb
		supabase rows records schema migrations migration
	`},
	{meaning{verbs: verbGrant}, "grant revoke chmod chown chgrp invite approve authorize impersonate"},
	{meaning{nouns: nounAccess}, `
		permission permissions role roles policy acl iam collaborator collaborators member admin visibility
	`},
	{meaning{verbs: verbPay}, `
		pay payment payout transfer refund charge withdraw purchase buy wire sell trade donate
	`},
	{meaning{nouns: nounMoney}, "order invoice swap stake subscribe"},
	{meaning{verbs: verbKill}, "kill terminate shutdown reboot stop restart halt suspend"},
	{meaning{verbs: verbMove}, "move rename mv"},
	{meaning{verbs: verbCopy}, "copy cp duplicate link symlink"},
	{meaning{verbs: verbInstall}, "install"},
	{meaning{nouns: nounPackage}, "package pip npm extension plugin"},
	{meaning{verbs: verbSchedule}, "schedule cron cronjob daemon"},
	{meaning{nouns: nounFile}, "file files"},
	{meaning{nouns: nounFolder}, "directory folder dir"},
	{meaning{nouns: nounURL}, "url uri"},
	{meaning{nouns: nounSecret}, `
		secret secrets credential credentials password passwords token tokens keychain vault
	`},
	{meaning{nouns: nounEnv}, "env environment envvar"},
	{meaning{nouns: nounAll}, "all everything bulk batch mass many"},
	{meaning{verbs: verbEditor}, "editor"},
})

// A meaning is what a tool does, and to what.
type meaning struct {
	verbs verbs
	nouns nouns
}

// worded are the words that have a meaning.
type worded struct {
	meaning
	words string
}

func byWord(all []worded) map[string]meaning {
	out := map[string]meaning{}
	for _, w := range all {
		for word := range strings.FieldsSeq(w.words) {
			out[word] = w.meaning
		}
	}
	return out
}

// mean adds the meaning of a name's words: snake_case, kebab-case, camelCase.
func (what *meaning) mean(name string) {
	start := 0
	word := func(end int) {
		if end > start {
			if m, ok := meanings[strings.ToLower(name[start:end])]; ok {
				what.verbs |= m.verbs
				what.nouns |= m.nouns
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
		case c >= 'A' && c <= 'Z' && i > start && (name[i-1] >= 'a' && name[i-1] <= 'z' || i+1 < len(name) &&
			name[i+1] >= 'a' && name[i+1] <= 'z'):
			word(i)
			start = i
		}
	}
	word(len(name))
	if m, ok := meanings[strings.ToLower(name)]; ok { // WebFetch, MultiEdit
		what.verbs |= m.verbs
		what.nouns |= m.nouns
	}
}

// databaseOf is the database that a tool or its server is named after.
func databaseOf(tool string) string {
	name := strings.ToLower(tool)
	for _, d := range [...]string{"postgres", "mysql", "mariadb", "sqlite", "mssql", "sqlserver", "oracle", "redis",
		"mongo", "psql", "duckdb"} {
		if strings.Contains(name, d) {
			return d
		}
	}
	return ""
}
