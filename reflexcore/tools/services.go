package tools

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file says what tools do to what others use: a service that is stopped or replaced, a branch that
// others build on, a right, a signature, a call.

// says reports whether one of some words is in the tool's name.
func (j *judge) says(some string) bool {
	return slices.ContainsFunc(j.words, func(w string) bool { return wordset.Has(some, w) })
}

// near reports whether one of some words is in the name of the tool or of its server.
func (j *judge) near(some string) bool {
	return slices.ContainsFunc(j.around, func(w string) bool { return wordset.Has(some, w) })
}

// begins reports whether the first word of the tool's name is one of some.
func (j *judge) begins(some string) bool { return len(j.words) > 0 && wordset.Has(some, j.words[0]) }

// named reports whether an argument has one of some names, or one of them with name behind it.
func (j *judge) named(some string) bool {
	return slices.ContainsFunc(j.in.args, func(a arg) bool {
		return wordset.Has(some, strings.TrimSuffix(a.key, "name"))
	})
}

// looks reports whether a tool only reads: its name begins with a verb for that, or ends with one, as
// issue_read.
func (j *judge) looks() bool {
	if len(j.words) == 0 {
		return false
	}
	if len(j.words) == 2 && wordset.Has("deploy deployment rollout", j.words[0]) && wordset.Has(deployViews, j.words[1]) {
		return true
	}
	first := meanings[j.words[0]]
	return first.is(verbRead|verbSearch) && !first.is(verbWrite|verbExec) ||
		wordset.Has(readEnds, j.words[len(j.words)-1]) && !first.is(verbWrite|verbDelete|verbSend|verbPublish|verbGrant)
}

const (
	readEnds = "list get read info search status show describe history details"
	// deployViews are what is seen of a deployment.
	deployViews = "status log logs history list info details url"
	lists       = "list lists vaults mounts names"
	keepers     = "password onepassword bitwarden keychain lastpass keyvault keepass doppler infisical"
	// aboutSecrets are words for what is known about secrets.
	aboutSecrets = "alert alerts scanning policy metadata status type types strength generate schema version versions"
	marks        = "pin unpin mark star unstar react mute unmute snooze flag label acknowledge archive"

	memoryParts = "entity entities observation observations relation relations note notes memory memories"

	assets    = "order subscription payment payout dispute position positions orders charge transaction"
	makes     = "create replace submit make open close resume reactivate"
	assetPart = "plan link method template page price webhook notification status intent report note"
	codeParts = "git hg svn branch commit repo repository worktree ref"

	groups      = "team teams group groups user users"
	adds        = "add assign remove move"
	directions  = "to from into"
	protections = "protection protected unprotect"
	ranks       = "admin member moderator owner user"

	drains    = "drain evict evacuate cordon"
	pauses    = "pause hibernate suspend"
	running   = "project cluster database service instance server app environment warehouse node nodes pod"
	switches  = "on enable enter start set"
	saved     = "backup snapshot project volume cluster branch environment site point"
	taken     = "rollback revert"
	released  = "release deployment deploy production site version app pipeline"
	migration = "migration migrations"
	carries   = "complete apply run execute"
	shown     = "milestone issue label ticket draft card"

	signs     = "sign countersign esign"
	unsigned  = "in up out off url on request"
	contracts = "contract agreement terms offer quote"

	calls     = "call calls dial"
	rings     = "make start place initiate outbound phone voice dial create"
	callParts = "api tool function service contract method endpoint llm model note graph hierarchy"

	masses    = "bulk mass"
	batches   = "bulk mass batch all"
	changes   = "update edit modify patch"
	closes    = "archive close disable unsubscribe transition reassign"
	cellParts = "cells rows edits styles values versions tests files notifications labels tabs pages windows " +
		"tab page window"

	replicas = "replicas desiredcount desiredcapacity numreplicas mininstances maxinstances"
	sizes    = "scale count quantity instances size nodes workers"

	// plainHosts are those whose programs deploy without a question if nothing says production.
	plainHosts = "vercel netlify supabase docker compose wrangler cloudflare fly firebase railway"
	// rollouts are what kubectl rollout does.
	rollouts = "restart undo pause resume status history"

	mainBranches = "main master production prod release trunk default"
)

// isOwn reports whether what is deleted is the agent's own, or of a view: a breakpoint, a cell, its memory.
func (j *judge) isOwn() bool {
	if j.is(nounDatabase|nounSecret|nounHost|nounAccess|nounAccount) || j.is(nounMail|nounMoney|nounMessage) ||
		j.is(nounAll) && !j.says("breakpoint breakpoints highlight") {
		return false
	}
	stored := func(w string) bool { return meanings[w].is(nounDatabase) || w == "store" || w == "stores" }
	switch {
	case slices.ContainsFunc(j.around, stored), j.bulk() != 0 && !j.says("breakpoint breakpoints highlight"):
		return false
	case j.says("cell") && !j.near(notebooks+" ide") && !j.named("cellid cellindex cellnumber index"):
		return false
	case j.remembers():
		return true
	}
	if j.is(nounOwn) || j.says("console output") {
		return true
	}
	resets := j.words[0] == "reset" || j.words[0] == "clear"
	return len(j.words) > 1 && resets && wordset.Has("view canvas screen", j.words[len(j.words)-1]) ||
		!strings.Contains(j.call.Tool, "__") && wordset.ContainsAny(strings.ToLower(j.call.Tool), "todo")
}

// remembers reports whether what is deleted is of the agent's memory or of its list of tasks, by the name of
// the server. Tasks that people share are none.
func (j *judge) remembers() bool {
	server := strings.ToLower(strings.TrimSuffix(j.call.Tool, j.tool))
	return slices.Contains(j.around[:len(j.around)-len(j.words)], "memory") && j.says(memoryParts) ||
		(strings.Contains(strings.ReplaceAll(server, "-", ""), "taskmaster") || strings.Contains(server, "shrimp")) &&
			j.says("task tasks subtask subtasks dependency")
}

// isDeal reports whether a tool makes or ends what is paid for, or signs what moves money.
func (j *judge) isDeal() bool {
	if j.says(assetPart) || j.looks() {
		return false
	}
	switch {
	case j.says(assets) && (j.says(makes) || j.begins("accept")) && !j.is(nounDatabase):
		return true
	case j.says("checkout"):
		return !j.near(codeParts) && !j.named(codeParts) &&
			(j.words[0] == "checkout" || j.is(verbPlace) || j.says(carries))
	}
	return j.says("contract contracts") && j.begins("call write execute invoke send")
}

// admits reports whether a tool lets people in or shuts them out, without a verb that says so by itself.
func (j *judge) admits() bool {
	switch {
	case j.begins("assign attach bind give") && j.is(nounAccess): // assign_role
		return true
	case j.says(protections):
		return j.is(verbWrite | verbDelete | verbSwitch)
	case j.begins("promote demote"):
		return j.says(ranks)
	}
	return j.begins(adds) && j.says(groups) && j.says(directions)
}

// kept is what a tool shows of what is kept secret, or "".
func (j *judge) kept() string {
	if !j.looks() || j.says(lists) || j.says(aboutSecrets) {
		return ""
	}
	switch {
	case j.near("vault") && j.is(nounSecret), j.says("secret credential"):
		return "secret:vault " + j.subject()
	case j.says("password"), j.near(keepers) && (j.is(nounSecret) || j.says("item field otp login note")):
		return "secret:passwords " + j.subject()
	}
	return ""
}

// publication tells apart what becomes public, what others get and what reaches a main branch.
func (j *judge) publication() string {
	switch {
	case j.is(nounPublic):
		return "public"
	case j.merges():
		return "merged"
	case j.is(verbDeploy) && !j.says(shown) && !j.admits() && !j.isStaged() && !j.asProgram():
		return "production"
	case j.says("push") && j.says("image"):
		return "public"
	case j.remoteBranch() != "":
		return "merged"
	}
	return ""
}

// isRequest reports whether a word of the tool's name is the merge of a merge request, or of what is called
// off: that merges nothing.
func (j *judge) isRequest(i int) bool {
	if j.words[i] != "merge" {
		return false
	}
	if j.begins("disable cancel abort") {
		return true
	}
	return i+1 < len(j.words) && wordset.Has("request requests", j.words[i+1]) &&
		(len(j.words) > 2 || j.words[i+1] == "requests") && (i == 0 || j.words[i-1] != "auto")
}

// merges reports whether a request is merged, now or as soon as its checks are through: by a verb of the
// tool's name, or by an argument that says so.
func (j *judge) merges() bool {
	request := j.says("request requests pr mr pull")
	if j.is(verbMerge) && (request || j.says("auto when") || j.says("branch") && !j.says("git")) {
		return true
	}
	if !request || j.begins("disable cancel abort") {
		return false
	}
	return j.begins("accept complete") || slices.ContainsFunc(j.in.args, func(a arg) bool {
		switch a.key {
		case "mergewhenpipelinesucceeds", "automerge", "autocomplete", "setautocomplete", "mergewhenchecksucceeds":
			return a.text == "true"
		case "action", "operation", "stateevent", "method", "status":
			return wordset.Has("merge accept complete completed automerge", strings.ToLower(a.text))
		}
		return false
	})
}

// isStaged reports whether a word of the call says that few people get what is deployed.
func (j *judge) isStaged() bool {
	staged := func(w string) bool {
		return wordset.Has("preview staging stage dev development test testing local sandbox draft", strings.ToLower(w))
	}
	if slices.ContainsFunc(j.words, staged) {
		return true
	}
	if j.begins("promote") {
		return false // to production: an argument says from where
	}
	found := false
	for _, a := range j.in.args {
		switch {
		case effect.IsProduction(a.text):
			return false
		case wordset.Has("environment env stage target context", a.key) && staged(a.text):
			found = true
		}
	}
	return found
}

// asProgram reports whether what is deployed is judged as by the program of its host: by the line that the
// tool stands for, or as a plain deployment, about which nobody is asked there. What is said to be of
// production is none.
func (j *judge) asProgram() bool {
	if j.says("rollout") {
		return j.twinned
	}
	if !j.near(plainHosts) || j.says("promote release rollback prod production live") {
		return false
	}
	return !slices.ContainsFunc(j.in.args, func(a arg) bool {
		text := strings.ToLower(a.text)
		switch {
		case effect.IsProduction(a.text), strings.Contains(text, "--prod"):
			return true
		case wordset.Has("prod production isproduction live promote", a.key):
			return text != "false"
		}
		return strings.HasSuffix(a.key, "branch") && wordset.Has(mainBranches, text)
	})
}

// remoteBranch returns the main branch of a repository elsewhere that a call names, or "".
func (j *judge) remoteBranch() string {
	if !j.named("owner repo projectid repository") {
		return ""
	}
	if j.says("file files") && j.is(verbWrite|verbDelete|verbPublish) && j.in.has(rolePath, roleContent) &&
		len(j.in.values("owner")) > 0 && len(j.in.values("branch", "ref", "targetbranch")) == 0 {
		return "the default branch"
	}
	for _, a := range j.in.args {
		branch := strings.ToLower(strings.TrimPrefix(a.text, "refs/heads/"))
		if wordset.Has("branch ref targetbranch", a.key) && wordset.Has(mainBranches, branch) {
			return a.text
		}
	}
	return ""
}

// services adds what is done to what others use.
func (j *judge) services() {
	j.graphs()
	if j.is(verbTry) || j.looks() || len(j.words) == 0 {
		return
	}
	if j.opens() {
		j.addWhat(effect.Publish, "public", j.subject())
	}
	if j.remoteBranch() != "" && j.is(verbWrite|verbDelete) && j.in.has(rolePath, roleContent) {
		j.addWhat(effect.Publish, "merged", j.subject())
	}
	if j.is(verbDelete) && j.in.has(rolePath) && len(j.in.values("owner")) > 0 && len(j.in.values("repo")) > 0 &&
		(j.remoteBranch() != "" || strings.Join(j.in.values("branch"), "") == "" || !j.is(nounFile)) {
		j.add(effect.RemoteDelete, j.subject(), j.bulk())
	}
	for _, to := range j.in.args {
		if strings.Contains(to.key, "forward") && (strings.Contains(to.text, "@") || to.text == "true") && !j.is(verbSend) {
			j.addWhat(effect.NetOut, "message", to.text)
		}
	}
	j.changesOthers()
}

// changesOthers adds the one thing that the words of the tool's name say.
func (j *judge) changesOthers() {
	switch {
	case !j.is(verbPublish) && j.merges():
		j.addWhat(effect.Publish, "merged", j.subject())
	case j.is(verbRestore) && (j.is(nounDatabase|nounHost|nounPart) || j.says(saved)):
		j.addWhat(effect.RemoteDelete, "over", j.subject())
	case j.says(drains) && (j.is(nounHost|nounPart) || j.says(running)), j.begins(pauses) && j.says(running),
		j.says("maintenance") && j.says(switches), j.says("cycle rebuild reset") && j.is(nounHost), j.zeroes():
		j.addWhat(effect.Kill, "resource", j.subject())
	case j.begins(signs) && !j.says(unsigned), j.begins("accept") && j.says(contracts):
		j.addWhat(effect.Publish, "signature", j.subject())
	case j.says(calls) && j.says(rings) && !j.says(callParts),
		j.says("poll") && j.is(verbWrite|verbSend) && j.in.has(roleRecipient):
		j.addWhat(effect.NetOut, "message", j.recipients())
	case j.says(taken) && j.says(released),
		j.says(migration) && j.begins(carries) && !j.in.has(roleSQL, roleQuery, roleContent):
		j.addWhat(effect.Publish, "production", j.subject())
	case j.ofFiles() || j.says(cellParts) || j.is(nounOwn):
	case j.says(masses) && (j.says(changes) || j.says(closes)), j.says(batches) && j.says(closes):
		j.addEffect(effect.Effect{Kind: effect.Discard, Target: "records " + j.subject(), What: "many", Bits: effect.Bulk,
			By: j.tool})
	}
}

// zeroes reports whether a call scales something down to nothing.
func (j *judge) zeroes() bool {
	return slices.ContainsFunc(j.in.args, func(a arg) bool {
		return a.text == "0" && (wordset.Has(replicas, a.key) ||
			j.says("scale resize autoscale") && wordset.Has(sizes, a.key))
	})
}

// opens reports whether an argument lets everybody see something, or the tool's name says so.
func (j *judge) opens() bool {
	if j.says("public") && j.says("make set create generate enable turn") &&
		(j.words[len(j.words)-1] == "public" || j.says("link url access")) {
		return true
	}
	return slices.ContainsFunc(j.in.args, func(a arg) bool {
		text := strings.ToLower(a.text)
		switch a.key {
		case "private", "isprivate", "blockpublicaccess":
			return text == "false"
		case "public", "ispublic", "publiclyaccessible", "anonymousaccess", "allowpublicaccess", "makepublic":
			return text == "true"
		case "visibility", "access", "acl", "sharing", "accesslevel", "cannedacl", "predefinedacl":
			return wordset.Has("public public-read public-read-write publicread anyone everyone world", text)
		}
		return false
	})
}

// graphs adds what statements of a graph database delete.
func (j *judge) graphs() {
	for _, a := range j.in.args {
		switch a.role {
		case roleQuery, roleSQL, roleOther, roleCommand, roleCode, roleContent:
		default:
			continue
		}
		graph := strings.Contains(a.key, "cypher") || strings.Contains(a.key, "gremlin") ||
			j.near("neo cypher memgraph graph gremlin")
		if bits, deletes := graphDelete(a.text, graph); deletes {
			j.add(effect.RemoteDelete, "nodes of a graph", bits)
		}
	}
}

// graphDelete reports whether a text in Cypher or Gremlin deletes, and whether all of a kind. What does
// not stand in a tool of a graph must begin like Cypher.
func graphDelete(text string, graph bool) (effect.Bits, bool) {
	up := strings.ToUpper(text)
	trimmed := strings.TrimSpace(up)
	if !graph && !wordset.HasAnyPrefix(trimmed, "MATCH ", "MATCH(", "OPTIONAL MATCH", "UNWIND ", "CALL APOC", "G.V(") {
		return 0, false
	}
	if !strings.Contains(up, "APOC.") { // which runs texts
		up = withoutStrings(up)
	}
	word := func(w string) bool {
		return slices.Contains(strings.FieldsFunc(up, func(r rune) bool { return (r < 'A' || r > 'Z') && r != '_' }), w)
	}
	drops := wordset.ContainsAny(up, "DROP DATABASE", "DROP CONSTRAINT", "DROP INDEX", ".DROP()")
	if !drops && !word("DELETE") {
		return 0, false
	}
	if word("WHERE") || strings.Contains(up, "{") || strings.Contains(up, ".HAS") {
		return 0, true
	}
	return effect.Bulk, true
}

// withoutStrings removes what stands in quotes.
func withoutStrings(s string) string {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '\'' || c == '"':
			quote = c
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
