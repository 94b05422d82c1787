package tools

import (
	_ "embed"
	"strings"

	"approver.example/reflexcore/wordset"
)

// A meaning is what a tool does, and to what. Each bit is a verb or a noun.
type meaning uint64

// is reports whether one of some verbs or nouns is meant.
func (m meaning) is(words meaning) bool { return m&words != 0 }

const (
	verbRead meaning = 1 << iota
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
	verbRun    // something is run, not only a shell or code named
	verbTry    // nothing is done yet
	verbTell   // people are told something
	verbBuy    // money moves, even if no amount is named
	verbPlace  // what was only prepared is done
	verbEnd    // what runs is ended, and does not come back by itself
	verbSwitch // somebody or something is shut out, or let in
	verbRestore
	verbDeploy
	verbMerge
	nounFile
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
	nounMessage
	nounComment
	nounPublic
	nounTransaction
	nounPart // of a machine: what comes back if it is started again
	nounAccount
	nounOwn // of the agent or of a view of its own: nothing is lost
)

// meaningNames are the verbs and the nouns in the table of words, in order.
var meaningNames = strings.Fields(`
	read write append delete exec send publish upload download fetch navigate type evaluate query search grant pay
	kill move copy install schedule patch editor web wrapper screen run try tell buy place end switch restore deploy
	merge
	file folder url mail database browser shell code python powershell script secret env access host notebook text
	all money package message comment public transaction part account own
`)

// wordsText has the words of tools' names.
//
//go:embed words.txt
var wordsText string

// meanings maps words of tools' names to verbs and nouns, and firstMeanings those that say more at the
// beginning of a name. Their rows are the last of the table.
var meanings, firstMeanings = readMeanings()

func readMeanings() (all, first map[string]meaning) {
	of := func(heading string) meaning {
		return meaning(wordset.Bits(meaningNames, strings.TrimPrefix(heading, "first ")))
	}
	text, rest, _ := strings.Cut(wordsText, "\nfirst ")
	return wordset.Index(text, of), wordset.Index("first "+rest, of)
}

// addWords adds the meanings of the words of a name.
func (m *meaning) addWords(name string) {
	eachWord(name, func(word string) { *m |= meanings[word] })
	*m |= meanings[strings.ToLower(name)] // WebFetch, MultiEdit
}

// eachWord calls do with the words of a name in snake_case, kebab-case or camelCase, in lower case.
func eachWord(name string, do func(word string)) {
	start := 0
	word := func(end int) {
		if end > start {
			do(strings.ToLower(name[start:end]))
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
