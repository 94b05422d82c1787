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
		return c.alone(payees, isSum, isGiver, c.isShared)
	case "which":
		return c.which()
	case "role":
		return c.alone(roles, isScope, isName, among(names))
	case "listed":
		if n := c.listed(); n > 1 {
			return number(n)
		}
	case "number":
		return c.alone(numbers, isScope, among(repos), among([]string{"sha"}))
	case "charged":
		return c.alone([]string{"customer", "customerid"}, isSum, isGiver)
	case "tool":
		return c.toolName()
	case "repo":
		return c.repo()
	case "secret_host":
		return c.secretHost()
	}
	return ""
}

// These are names of arguments, the most telling first.
var (
	amounts = strings.Fields("amount total price sum value amountcents amountminor unitamount amountusd amounteur")
	payees  = strings.Fields("payee recipient recipientname to destination beneficiary account merchant iban " +
		"email toaccount address")
	repos   = strings.Fields("fullname repository repo repositoryname reponame name projectid project")
	owners  = strings.Fields("owner org organization namespace workspace")
	names   = strings.Fields("name title label key slug fullname path email username user id ids")
	roles   = strings.Fields("role rolename permission access accesslevel")
	numbers = strings.Fields("pullnumber pullrequestnumber number mergerequestiid iid")
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
		if name, _, _ = strings.Cut(c.programs(), " "); servers[name] == "" || c.Rerouted {
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
	"uninstall many all flush empty nuke")

// kind returns what a tool deletes, by its name: "repository" of delete_repository.
func (c *Call) kind() string {
	words := strings.Fields(c.toolName())
	for len(words) > 0 && verbs[words[0]] {
		words = words[1:]
	}
	for len(words) > 1 && verbs[words[len(words)-1]] {
		words = words[:len(words)-1] // repo_delete
	}
	return strings.Join(words, " ")
}

// ofKind reports whether an argument is the name of what a tool deletes: volume_id of delete_volume.
func (c *Call) ofKind(key string) bool {
	kind := c.kind()
	if kind == c.toolName() {
		return false // no verb that deletes
	}
	last := kind[strings.LastIndexByte(kind, ' ')+1:]
	for _, thing := range []string{strings.ReplaceAll(kind, " ", ""), last, strings.TrimSuffix(last, "s")} {
		if rest, is := strings.CutPrefix(key, thing); is && thing != "" && slices.Contains(endings, rest) {
			return true
		}
	}
	return false
}

// endings are what may stand behind the kind of a thing in the name of its argument.
var endings = append(strings.Fields("id ids name names key number identifier arn slug s"), "")

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
	if !c.flatten("", dec, maxLevels) {
		clear(c.args)
	}
	return c.args
}

// flatten adds the next value to the arguments, and reports whether it could be read. Of what is nested too deep
// nothing is known.
func (c *Call) flatten(key string, dec *json.Decoder, levels int) bool {
	token, err := dec.Token()
	if err != nil {
		return false
	}
	text := ""
	switch v := token.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		if v { // what is off says nothing
			text = "true"
		}
	case json.Delim:
		n := 0
		for ; dec.More(); n++ {
			inner := key
			if v == '{' {
				name, err := dec.Token()
				if err != nil {
					return false
				}
				inner, _ = name.(string)
				inner = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(inner))
			}
			if !c.flatten(inner, dec, levels-1) {
				return false
			}
		}
		if v == '[' && n > 1 {
			c.args["#"] = strconv.Itoa(max(n, c.listed()))
		}
		_, err := dec.Token()
		return err == nil
	}
	if levels < 0 {
		return true
	}
	if before, is := c.args[key]; text != "" && is && before != text {
		c.args[key] = "" // whichever is shown, the other may count
	} else if text != "" {
		c.args[key] = text
	}
	return true
}

// listed returns the length of the longest list of the arguments.
func (c *Call) listed() int {
	if c.Command != "" {
		return 0
	}
	n, _ := strconv.Atoi(c.values()["#"])
	return n
}

// only returns the argument that has one of the names; empty if there are several that differ, or if one whose
// name has one of these in it does: whichever is shown, the other may count.
func (c *Call) only(list []string) string {
	text := ""
	for _, name := range list {
		switch other, is := c.values()[name]; {
		case !is:
		case other == "" || text != "" && text != other:
			return ""
		default:
			text = other
		}
	}
	for key, other := range c.values() {
		if other != text && isNumber(other) == isNumber(text) && !isGiver(key) &&
			slices.ContainsFunc(list, func(name string) bool { return len(name) > 4 && strings.Contains(key, name) }) {
			return ""
		}
	}
	return text
}

// isNumber reports whether a text is a number.
func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789.,-+eE") == "" }

// amount returns what is paid, as people write it if it is known to count the smallest units.
func (c *Call) amount() string {
	amount, currency := c.alone(amounts, isPayee, isName, isGiver), c.only([]string{"currency", "currencycode"})
	if strings.Contains(amount, "_") || !strings.ContainsAny(amount, "0123456789") {
		return "" // the name of a price
	}
	for _, key := range amounts {
		if c.values()[key] == amount {
			return display.Amount(c.Tool, key, amount, currency)
		}
	}
	return amount
}

// which returns the name of the thing that a tool is about; both if there are two that may be it, and none if there
// are more, or if another argument may say that there are.
func (c *Call) which() string {
	wanted := func(key string) bool { return c.ofKind(key) || slices.Contains(names, key) }
	text, is := c.joined(wanted)
	if !is {
		wanted = isName
		text, _ = c.joined(wanted)
	}
	if c.saysMore(wanted, isScope, among(roles)) {
		return ""
	}
	return text
}

// maxNames limits the arguments that are shown as the name of one thing.
const maxNames = 2

// joined returns the different arguments that are wanted; empty if there are too many. is reports whether there
// are any.
func (c *Call) joined(wanted func(key string) bool) (text string, is bool) {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(c.values())) {
		if !wanted(key) {
			continue
		}
		if c.args[key] == "" {
			return "", true
		}
		if !slices.Contains(all, c.args[key]) {
			all = append(all, c.args[key])
		}
	}
	if len(all) > maxNames {
		return "", true
	}
	return strings.Join(all, ", "), len(all) > 0
}

// isWhole reports whether a tool deletes whole repositories: then every other argument may name one.
func (c *Call) isWhole() bool {
	return strings.HasPrefix(c.kind(), "repo") || strings.HasPrefix(c.kind(), "project")
}

// repo returns the owner and the name of a repository; empty if the arguments may mean several.
func (c *Call) repo() string {
	owner, only := c.only(owners), ""
	if c.saysMore(among(repos), among(owners), func(key string) bool { return isOfRepository(key) && !c.isWhole() }) {
		return ""
	}
	for _, key := range append(slices.Clone(repos), owners...) {
		name, is := c.values()[key]
		switch {
		case !is:
			continue
		case name == "":
			return ""
		case slices.Contains(owners, key):
			if owner != name {
				return ""
			}
			continue
		case owner != "" && !strings.Contains(name, "/"):
			name = owner + "/" + name
		case owner != "" && !strings.HasPrefix(name, owner+"/"):
			return ""
		}
		if only != "" && only != name {
			return ""
		}
		only = name
	}
	return only
}
