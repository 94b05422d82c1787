package summary

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file tells arguments that say something of a sum, a payee or a thing from those that say none. A headline has
// such a word only if every argument beside it is known to say none of its kind: one that is not known may say that
// it is for somebody else, too, or a million times.

// Names of arguments in plain letters.
var (
	// quiet are those that only describe, or say how.
	quiet = wordset.Of("currency currencycode description memo note notes reason comment comments message subject " +
		"statement statementdescriptor summary reference referenceid idempotencykey requestid correlationid traceid " +
		"confirm confirmation force recursive cascade dryrun reasonasclaimed language locale timezone color icon " +
		"date duedate executiondate valuedate createdat updatedat etag version apiversion revision timeout wait " +
		"visibility private public draft mode format encoding contenttype mimetype mergemethod committitle " +
		"commitmessage squash shouldremovesourcebranch enabled notify silent async verbose permanent permanently hard soft " +
		"skiptrash skipfinalsnapshot deletebackups ifexists yes offsession")
	// scopes say where a thing is.
	scopes = wordset.Of("project projectid projectkey projectname region zone location datacenter cluster clusterid " +
		"clustername namespace namespaceid workspace workspaceid org orgid organization organizationid owner team teamid " +
		"tenant tenantid environment environmentid env server serverid guild guildid account accountid subscription " +
		"subscriptionid resourcegroup parent parentid database databaseid databasename schema catalog site siteid domain " +
		"cloud cloudid profile host hostname instance space spaceid spacekey repo repository repositoryid")
	// ofRepository are those of what is done in a repository.
	ofRepository = wordset.Of("branch base head ref sha path content contents title body labels assignees milestone " +
		"reviewers number pullnumber pullrequestnumber issuenumber mergerequestiid iid mergemethod method committitle " +
		"commitmessage commit tag tagname release releaseid file files id state squash shouldremovesourcebranch " +
		"email name type permission role username user key")
	// ofMessage are those of a message, with whoever gets it, which its effect counts.
	ofMessage = wordset.Of("text body html markdown content title blocks attachment attachments filename threadts " +
		"thread threadid inreplyto messageid template templateid type parsemode priority channel channelid channelname " +
		"channels " +
		"chat chatid room roomid conversation conversationid to cc bcc recipient recipients recipientid email emails " +
		"address addresses user users userid userids username phone phonenumber number mentions url link embeds from " +
		"fromname fromemail sender sendername unfurllinks unfurlmedia mrkdwn ishtml asuser disablenotification")
)

// mixed reports whether the target of a tool's effect is put together from several arguments: what stands in one that
// the tool does not read would be said as if it were a part of the name.
func (m *matter) mixed() bool {
	const named = 1<<effect.RemoteDelete | 1<<effect.Permission | 1<<effect.Kill | 1<<effect.Discard
	if m.Command != "" || named&(1<<m.Kind) == 0 || m.By == "" || !strings.HasSuffix(m.Tool, m.By) || m.Target == m.By {
		return false
	}
	name := m.Target
	if kind, rest, _ := strings.Cut(name, " "); wordset.Has("database schema table collection", kind) {
		name = rest
	}
	for _, value := range m.values() {
		if value == name {
			return false
		}
	}
	return true
}

// among returns a test for some names.
func among(list []string) func(key string) bool {
	return func(key string) bool { return slices.Contains(list, key) }
}

func isScope(key string) bool { return scopes[key] }

func isOfMessage(key string) bool { return ofMessage[key] }

func isOfRepository(key string) bool { return ofRepository[key] }

// isName reports whether an argument says who or which one, by the end of its name.
func isName(key string) bool {
	return strings.HasSuffix(key, "id") || strings.HasSuffix(key, "name") || strings.HasSuffix(key, "email")
}

// isGiver reports whether an argument says who pays. A sum is another one, whatever it is called.
func isGiver(key string) bool {
	return wordset.HasAnyPrefix(key, "from", "source", "sender") && !isSum(key)
}

// isSum reports whether an argument is a sum, and isPayee whether it says who gets or gives one.
func isSum(key string) bool { return has(amounts, key) }

func isPayee(key string) bool {
	return has(payees, key) || slices.Contains(paidFor, key)
}

// paidFor are further names of who pays, and of what is paid.
var paidFor = strings.Fields("customer card paymentmethod charge payment paymentintent invoice order")

// has reports whether a name is one of a list, or has one that is long enough within it.
func has(list []string, key string) bool {
	return slices.ContainsFunc(list, func(name string) bool {
		return key == name || len(name) > 4 && strings.Contains(key, name)
	})
}

// isShared reports whether an argument of a tool that shares says what, or with which rights.
func (c *Call) isShared(key string) bool {
	return strings.Contains(c.toolName(), "share") && (slices.Contains(roles, key) || key == "type" ||
		wordset.HasAnyPrefix(key, "file", "folder", "doc", "item", "sheet", "page", "calendar"))
}

// saysMore reports whether there is an argument that is not known to be of one of some kinds, or to say nothing.
func (c *Call) saysMore(kinds ...func(key string) bool) bool {
	for key := range c.values() {
		if key == "#" || quiet[key] {
			continue
		}
		if !slices.ContainsFunc(kinds, func(is func(string) bool) bool { return is(key) }) {
			return true
		}
	}
	return false
}

// alone returns the argument that has one of the names. It is empty if there may be several: in a list, under another
// of the names, or in an argument that is of none of the other kinds.
func (c *Call) alone(list []string, others ...func(key string) bool) string {
	if c.listed() > 1 || c.saysMore(append(others, among(list))...) {
		return ""
	}
	return c.only(list)
}
