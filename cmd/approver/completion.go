package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"approver.example/configs"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script. It is generated from the commands themselves, so it is always
// complete.
func (c completionCmd) Run(k *kong.Kong) error {
	words := map[string][]string{}
	var order []string
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		order = append(order, path)
		for _, child := range n.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				words[path] = append(words[path], child.Name)
				walk(child, strings.TrimSpace(path+" "+child.Name))
			}
		}
		for _, group := range append(n.AllFlags(true), flagsOf(n)) {
			for _, flag := range group {
				if !flag.Hidden {
					words[path] = append(words[path], "--"+flag.Name)
				}
			}
		}
		slices.Sort(words[path])
		words[path] = slices.Compact(words[path])
	}
	walk(k.Model.Node, "")
	ids, err := configs.RuleIDs()
	if err != nil {
		return err
	}
	words["rules show"] = append(words["rules show"], ids...)
	switch c.Shell {
	case "fish":
		fmt.Print(fishCompletion(order, words))
	case "zsh":
		// zsh can run bash completions unchanged.
		fmt.Print("#compdef approver\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion(order, words))
	default:
		fmt.Print(bashCompletion(order, words))
	}
	return nil
}

// The scripts, without the list of commands.
var (
	//go:embed completions/approver.bash
	bashScript string
	//go:embed completions/approver.fish
	fishScript string
)

// bashCompletion returns a script that finds the longest sequence of command words and offers
// what can follow it, or files.
func bashCompletion(order []string, words map[string][]string) string {
	var paths, offers strings.Builder
	for _, path := range order[1:] {
		fmt.Fprintf(&paths, "      %q) path=$next ;;\n", path)
	}
	for _, path := range order {
		fmt.Fprintf(&offers, "    %q) words=%q ;;\n", path, strings.Join(words[path], " "))
	}
	return strings.NewReplacer("#paths\n", paths.String(), "#words\n", offers.String()).Replace(bashScript)
}

func fishCompletion(order []string, words map[string][]string) string {
	var b strings.Builder
	b.WriteString(fishScript)
	for _, path := range order {
		for _, word := range words[path] {
			option := "-a " + word
			if name, isFlag := strings.CutPrefix(word, "--"); isFlag {
				option = "-l " + name
			}
			fmt.Fprintf(&b, "complete -c approver -n '__approver_at \"%s\"' %s\n", path, option)
		}
	}
	return b.String()
}
