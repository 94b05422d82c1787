package agentcli

import (
	_ "embed"
	"strings"

	"approver.example/reflexcore/wordset"
)

// Programs that are agents: started, they run tools of their own, and whether these are
// asked about is up to the settings that they find. One line is one agent.

// An Agent is a program that runs tools by itself.
type Agent struct {
	// ID is the word for it, as in --agent where approver has hooks for it.
	ID string
	// names are its programs, and the last parts of the names of its packages and images.
	names string
	// starts are the first words and the flags that start it, where its name means other
	// programs too; empty: whatever is not in quiet does.
	// A word counts as the first one, a flag anywhere, and one behind ^ as the first word
	// only; a dot stands for no words at all.
	starts string
	// quiet are the first words that start nothing, besides those of all agents; cloud:list
	// is the word list behind cloud.
	quiet string
	// loud are those of all agents that start this one all the same: it takes them for what
	// it is to do.
	loud string
	// answers are the flags that start nothing with one word behind them.
	answers string
	// said is that a first word with blanks in it is what the agent is to do, and fed that
	// what comes from a pipe or a file is; both where starts says what starts it.
	said, fed bool
}

// programsText lists the agents.
//
//go:embed programs.txt
var programsText string

var programs = func() (all []Agent) {
	for heading, words := range wordset.Table(programsText) {
		key, set, _ := strings.Cut(heading, " ")
		if key == "agent" {
			all = append(all, Agent{ID: set, names: words})
			continue
		}
		switch a := &all[len(all)-1]; key {
		case "starts":
			a.starts = words
		case "quiet":
			a.quiet = words
		case "loud":
			a.loud = words
		case "answers":
			a.answers = words
		case "does":
			a.said, a.fed = wordset.Has(words, "said"), wordset.Has(words, "fed")
		}
	}
	return all
}()

// named are the agents by the names of their programs, in small letters.
var named = func() map[string][]*Agent {
	m := map[string][]*Agent{}
	for i := range programs {
		a := &programs[i]
		for name := range strings.FieldsSeq(a.names) {
			m[name] = append(m[name], a)
		}
	}
	return m
}()

// AnyWords reports whether the agent's name means no other program: nearly any words start it.
func (a *Agent) AnyWords() bool { return a.starts == "" }
