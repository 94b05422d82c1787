package main

import (
	_ "embed"
	"os"
	"slices"
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
		n, is := node.(*kong.Node)
		if is {
			hideRefused(n)
		}
		if is && n.Detail == "" {
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

// hideRefused hides the flags for settings that an agent has not, or whose hooks it may skip.
func hideRefused(n *kong.Node) {
	adapter, _ := agents.For(n.Name)
	agent, ok := adapter.(agents.Installer)
	if !ok || n.Parent == nil {
		return
	}
	f := agent.Files()
	for _, flag := range n.Flags {
		if flag.Name == "system" && f.Managed == "" || flag.Name == "project" && f.Unread != "" {
			flag.Hidden = true
		}
	}
}

// groupHelp prints help as usual. A group that also does something itself, as install --all does, has
// the flags of that, too.
func groupHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if n := ctx.Selected(); n != nil {
		n.Flags = flagsOf(n)
	}
	return kong.DefaultHelpPrinter(options, ctx)
}

// flagsOf returns the flags of a command, with those of what a group does without a further word.
func flagsOf(n *kong.Node) []*kong.Flag {
	if n.DefaultCmd == nil {
		return n.Flags
	}
	return append(slices.Clone(n.Flags), n.DefaultCmd.Flags...)
}

// titles returns the names by which people know the agents.
func titles() string {
	var all []string
	for _, agent := range agents.Installers() {
		all = append(all, agent.Files().Title)
	}
	return strings.Join(all, ", ")
}
