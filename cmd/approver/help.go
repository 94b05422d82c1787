package main

import (
	_ "embed"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"approver.example/agents"
)

// helpText is the long help of all commands: a section for each, behind a line == with its name. A star
// stands for each command of a group that has no section of its own.
//
//go:embed help.txt
var helpText string

// longHelp gives the program and each command its section of the long help. What a command says with a
// method of its own stays. Variables, such as ${example}, are those of the parser and of the command.
func longHelp(k *kong.Kong) error {
	sections := map[string]string{}
	for part := range strings.SplitSeq(helpText, "\n== ") {
		name, text, _ := strings.Cut(strings.TrimPrefix(part, "== "), "\n")
		sections[name] = strings.TrimSpace(text)
	}
	return kong.Visit(k.Model.Node, func(node kong.Visitable, next kong.Next) error {
		if n, is := node.(*kong.Node); is && n.Detail == "" {
			text, own := sections[n.FullPath()]
			if !own && n.Parent != nil {
				text = sections[n.Parent.FullPath()+" *"]
			}
			vars := n.Vars()
			n.Detail = os.Expand(text, func(name string) string { return vars[name] })
		}
		return next(nil)
	})
}

// titles are what people call the agents.
func titles() string {
	var all []string
	for _, agent := range agents.Installers() {
		all = append(all, agent.Files().Title)
	}
	return strings.Join(all, ", ")
}
