package main

import (
	_ "embed"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"approver.example/agents"
)

// helpText is the long help of all commands: a section for each, behind a line == with its name.
//
//go:embed help.txt
var helpText string

// longHelp gives the program and each command its section of the long help. Variables, such as ${example}, are
// those of the parser. What a command says with a method of its own stays.
func longHelp(vars kong.Vars) kong.Option {
	sections := map[string]string{}
	for part := range strings.SplitSeq(helpText, "\n== ") {
		name, text, _ := strings.Cut(strings.TrimPrefix(part, "== "), "\n")
		sections[name] = os.Expand(strings.TrimSpace(text), func(name string) string { return vars[name] })
	}
	return kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model.Node, func(node kong.Visitable, next kong.Next) error {
			if n, is := node.(*kong.Node); is && n.Detail == "" {
				n.Detail = sections[n.FullPath()]
			}
			return next(nil)
		})
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
