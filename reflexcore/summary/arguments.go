package summary

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"approver.example/display"
	"approver.example/reflexcore/wordset"
)

// This file reads the arguments of tools of MCP servers: what is paid to whom, and which thing is
// meant.

// argument returns a word that comes from the tool's name or arguments.
func (c *Call) argument(name string) string {
	switch name {
	case "server":
		return c.serverName()
	case "kind":
		return c.kind()
	case "amount":
		return c.amount()
	case "payee":
		return c.only(payees)
	case "which":
		return c.which()
	case "role":
		return c.named([]string{"role", "rolename", "permission", "access", "accesslevel"})
	case "number":
		return c.named([]string{"pullnumber", "pullrequestnumber", "number", "mergerequestiid", "iid"})
	case "repo":
		return c.repo()
	}
	return ""
}

// These are names of arguments, the most telling first.
var (
	amounts = strings.Fields("amount total price sum value amountcents amountusd")
	payees  = strings.Fields("payee recipient recipientname to destination beneficiary customer account merchant iban " +
		"email toaccount address")
	repos  = strings.Fields("fullname repository repo repositoryname reponame name projectid project")
	owners = strings.Fields("owner org organization namespace workspace")
	names  = strings.Fields("name title label key slug fullname path email username user id ids")
)

// toolName returns the name of the tool without its server, as words.
func (c *Call) toolName() string {
	name := c.Tool
	for _, sep := range []string{"__", "::", ":", ".", "/"} {
		if i := strings.LastIndex(name, sep); i >= 0 && i+len(sep) < len(name) {
			name = name[i+len(sep):]
		}
	}
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_' || r == '-':
			b.WriteByte(' ')
		case unicode.IsUpper(r) && i > 0:
			b.WriteString(" " + string(unicode.ToLower(r)))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// servers are the names of services as people write them.
var servers = map[string]string{"github": "GitHub", "gitlab": "GitLab", "gh": "GitHub", "glab": "GitLab",
	"slack": "Slack", "stripe": "Stripe", "jira": "Jira", "notion": "Notion", "linear": "Linear", "aws": "AWS",
	"gmail": "Gmail", "postgres": "Postgres", "paypal": "PayPal", "discord": "Discord", "cloudflare": "Cloudflare"}

// serverName returns the server of the tool, or the service of a program.
func (c *Call) serverName() string {
	if c.server != "" {
		return c.server
	}
	name := ""
	if c.Command != "" {
		if name, _, _ = strings.Cut(c.programs(), " "); servers[name] == "" {
			return ""
		}
	} else if rest, is := strings.CutPrefix(c.Tool, "mcp__"); is {
		name, _, _ = strings.Cut(rest, "__")
	} else if i := strings.IndexAny(c.Tool, ":./"); i > 0 {
		name = c.Tool[:i]
	}
	if known := servers[strings.ToLower(name)]; known != "" {
		name = known
	}
	c.server = name
	return name
}

// programs returns the program of the effect that the call is about.
func (c *Call) programs() string {
	if c.About >= 0 && c.About < len(c.Effects) {
		return c.Effects[c.About].Program()
	}
	return ""
}

// verbs are first words of names of tools.
var verbs = wordset.Of("delete remove destroy drop purge truncate erase wipe bulk batch reset clear terminate " +
	"uninstall")

// kind returns what a tool deletes, by its name: "repository" of delete_repository.
func (c *Call) kind() string {
	words := strings.Fields(c.toolName())
	for len(words) > 0 && verbs[words[0]] {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

// Limits of the arguments that are looked through: their bytes, and how deep they are nested.
const (
	maxArgs   = 64 << 10
	maxLevels = 16
)

// values returns the arguments by their names in plain letters, at whatever depth. One that stands
// there twice, with different values, is empty. The longest list is counted as #.
func (c *Call) values() map[string]string {
	if c.args != nil {
		return c.args
	}
	c.args = map[string]string{}
	if len(c.Args) > maxArgs {
		return c.args
	}
	dec := json.NewDecoder(bytes.NewReader(c.Args))
	dec.UseNumber()
	var doc any
	if dec.Decode(&doc) != nil {
		return c.args
	}
	c.flatten("", doc, maxLevels)
	return c.args
}

// flatten adds a value to the arguments. Of what is nested too deep nothing is known.
func (c *Call) flatten(key string, value any, levels int) {
	text := ""
	switch v := value.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case []any:
		if len(v) > 1 {
			c.args["#"] = strconv.Itoa(max(len(v), c.listed()))
		}
		for _, item := range v {
			c.flatten(key, item, levels-1)
		}
	case map[string]any:
		if levels <= 0 {
			return
		}
		for name, item := range v {
			c.flatten(strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name)), item, levels-1)
		}
	}
	if before, is := c.args[key]; text != "" && is && before != text {
		c.args[key] = "" // whichever is shown, the other may count
	} else if text != "" {
		c.args[key] = text
	}
}

// listed returns the length of the longest list of the arguments.
func (c *Call) listed() int {
	if c.Command != "" {
		return 0
	}
	n, _ := strconv.Atoi(c.values()["#"])
	return n
}

// only returns the argument that has one of the names; empty if there are several that differ.
func (c *Call) only(list []string) string {
	text := c.named(list)
	for _, name := range list {
		if other, is := c.values()[name]; is && other != text {
			return ""
		}
	}
	return text
}

// named returns the first argument that has one of the names.
func (c *Call) named(list []string) string {
	for _, name := range list {
		if text := c.values()[name]; text != "" {
			return text
		}
	}
	return ""
}

// amount returns what is paid: as it is written there, or, if it is known to count the smallest units, as people
// write it.
func (c *Call) amount() string {
	amount, currency := c.only(amounts), c.only([]string{"currency", "currencycode"})
	switch {
	case amount == "":
		return ""
	case display.InCoins(c.Tool):
		return display.Money(amount, currency)
	case currency != "" && strings.Trim(amount, "0123456789.,") == "":
		return amount + " " + strings.ToUpper(currency)
	}
	return amount
}

// which returns the name of the thing that a tool is about.
func (c *Call) which() string {
	if text := c.named(names); text != "" {
		return text
	}
	for _, key := range slices.Sorted(maps.Keys(c.values())) {
		if strings.HasSuffix(key, "id") || strings.HasSuffix(key, "name") {
			return c.args[key]
		}
	}
	return ""
}

// repo returns the owner and the name of a repository.
func (c *Call) repo() string {
	name := c.named(repos)
	owner := c.named(owners)
	if name == "" || owner == "" || strings.Contains(name, "/") {
		return name
	}
	return owner + "/" + name
}
