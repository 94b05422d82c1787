package main

import (
	_ "embed"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"approver.example/agents"
)

// helpText is the long help of all commands. The section of each command follows a line of ==
// and its name. A section with a star is for all commands of a group that have no section of
// their own.
//
//go:embed help.txt
var helpText string

// longHelp gives the program and each command its section of the long help. Commands with a
// Help method keep their own text. Variables, such as ${example}, are those of the parser and
// the command.
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

// titles returns the names by which people know the agents.
func titles() string {
	var all []string
	for _, agent := range agents.Installers() {
		all = append(all, agent.Files().Title)
	}
	return strings.Join(all, ", ")
}
