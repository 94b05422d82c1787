package tools

import (
	_ "embed"
	"strings"

	"approver.example/reflexcore/wordset"
)

// verbs are what a tool does, by its name.
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

// nouns are what it does that to.
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

// meaningNames are the verbs and the nouns in the table of words, in order. firstNoun is the bit of
// the first noun.
var meaningNames = strings.Fields(`
	read write append delete exec send publish upload download fetch navigate type evaluate query search grant pay
	kill move copy install schedule patch editor web wrapper screen
	file folder url mail database browser shell code python powershell script secret env access host notebook text
	all money package
`)

const firstNoun = 2 * uint64(verbScreen)

// wordsText has the words of tools' names.
//
//go:embed words.txt
var wordsText string

// meanings maps words of tools' names to verbs and nouns.
var meanings = wordset.Index(wordsText, func(heading string) meaning {
	bits := wordset.Bits(meaningNames, heading)
	return meaning{verbs(bits & (firstNoun - 1)), nouns(bits / firstNoun)}
})

// A meaning is what a tool does, and to what.
type meaning struct {
	verbs verbs
	nouns nouns
}

// addWords adds the meanings of the words of a name in snake_case, kebab-case or camelCase.
func (what *meaning) addWords(name string) {
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

// databaseOf returns the database that a tool or its server is named after.
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
