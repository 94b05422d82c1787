package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script. It is made of the commands themselves, so it knows all.
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
		for _, group := range n.AllFlags(true) {
			for _, flag := range group {
				words[path] = append(words[path], "--"+flag.Name)
			}
		}
		slices.Sort(words[path])
		words[path] = slices.Compact(words[path])
	}
	walk(k.Model.Node, "")
	switch c.Shell {
	case "fish":
		fmt.Print(fishCompletion(order, words))
	case "zsh":
		// zsh runs bash's completions as they are.
		fmt.Print("#compdef approver\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion(order, words))
	default:
		fmt.Print(bashCompletion(order, words))
	}
	return nil
}

// bashCompletion finds the longest run of command words, and offers what can
// follow; else files.
func bashCompletion(order []string, words map[string][]string) string {
	var b strings.Builder
	b.WriteString("_approver() {\n  local path= word i next words\n  COMPREPLY=()\n  for ((i = 1; i < COMP_CWORD; " +
		"i++)); do\n    word=${COMP_WORDS[i]}\n    case \"$word\" in -*) continue ;; esac\n    next=\"${path:+$path " +
		"}$word\"\n    case \"$next\" in\n")
	for _, path := range order[1:] {
		fmt.Fprintf(&b, "      %q) path=$next ;;\n", path)
	}
	b.WriteString("    esac\n  done\n  case \"$path\" in\n")
	for _, path := range order {
		fmt.Fprintf(&b, "    %q) words=%q ;;\n", path, strings.Join(words[path], " "))
	}
	b.WriteString("  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -o " +
		"default -F _approver approver\n")
	return b.String()
}

func fishCompletion(order []string, words map[string][]string) string {
	var b strings.Builder
	b.WriteString("function __approver_at\n  set -l path\n  for word in (commandline -opc)[2..]\n    string match -q -- " +
		"'-*' $word; or set -a path $word\n  end\n  test \"$path\" = \"$argv[1]\"\nend\n")
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
