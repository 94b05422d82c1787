package agentcli

import (
	_ "embed"
	"strings"

	"approver.example/reflexcore/wordset"
)

// This file reads the list of agents. An agent that is started runs tools of its own, and its
// settings decide whether approver is asked about them.

// An Agent is a program that runs tools by itself.
type Agent struct {
	// ID is the word for it, as in --agent where approver has hooks for it.
	ID string
	// names are its programs, and the last parts of the names of its packages and images.
	names string
	// starts are the first words and the flags that start it, if other programs have its name, too. If
	// it is empty, all words start it that are not in quiet. A word counts as the first word, a flag
	// anywhere, and a flag after ^ only as the first word; a dot means no words at all.
	starts string
	// quiet are more first words that start nothing; cloud:list is the word list after cloud.
	quiet string
	// loud are quiet words of all agents that do start this one.
	loud string
	// answers are the flags that start nothing if one word follows.
	answers string
	// apart are first words and flags with which it may run without the hooks of an agent of its kind that
	// starts it: elsewhere, as a server, or with other settings; agent:exec is the word exec after agent.
	apart string
	// said means that a first word with blanks in it is a task for the agent, and fed that its input
	// is; both only matter if starts is not empty.
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
		case "apart":
			a.apart = words
		case "does":
			a.said, a.fed = wordset.Has(words, "said"), wordset.Has(words, "fed")
		}
	}
	return all
}()

// named has the agents by the names of their programs, in lower case.
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
