package tools

import (
	_ "embed"
	"slices"

	"approver.example/reflexcore/wordset"
)

// thingsText has the things that are deleted with all that is in them.
//
//go:embed things.txt
var thingsText string

var things = wordset.Index(thingsText, func(heading string) string { return heading })

// Words of servers, and of what they keep, that say what a name means.
const (
	forges    = "github gitlab gitea forgejo codeberg bitbucket gh glab"
	hosts     = "aws gcp google gcloud azure supabase neon vercel netlify railway render firebase fly cloud digitalocean"
	forgePart = "secret secrets release releases environment environments variable variables key keys webhook hook " +
		"runner label milestone issue tag package"
	forgeRefs = "branch branches ref reference tag tags"
	streams   = "queue queues topic topics"
	brokers   = "kafka rabbitmq sqs sns pubsub nats pulsar redpanda servicebus aws gcp azure"
	indexes   = "index indexes indices"
	searches  = "elastic elasticsearch opensearch pinecone algolia meilisearch typesense solr search vector"
	ofDisk    = "path paths item items entry entries line lines range import imports symbol block content contents link " +
		"worktree fs disk temp tmp cache local document documents note notes project git from of in to by at and or the " +
		"manage sheet sheets row rows column columns paragraph paragraphs slide slides background watermark metadata " +
		"unused dead references duplicate duplicates whitespace"
	joiners = "from of in by with for on at"
)

// thing returns what a tool deletes, as the commands that delete the same say it: the last word of the tool's
// name, or the one before the verb. It is empty if no more is known than that something is deleted.
func (j *judge) thing() string {
	words := slices.Clone(j.words)
	if i := slices.IndexFunc(words, func(w string) bool { return wordset.Has(joiners, w) }); i > 0 {
		words = words[:i]
	}
	for len(words) > 1 && meanings[words[len(words)-1]].is(verbDelete) {
		words = words[:len(words)-1] // repo_delete
	}
	if len(words) == 0 {
		return ""
	}
	last := words[len(words)-1]
	forge := j.near(forges)
	switch {
	case forge && (last == "project" || last == "projects"):
		return "repository"
	case wordset.Has(forgeRefs, last) && (forge || j.named("owner repo repository")):
		return "branch"
	case forge && wordset.Has(forgePart, last):
		return "repository-part"
	case (last == "project" || last == "projects") && j.near(hosts):
		return "project"
	case (last == "instance" || last == "instances") && j.near("db rds database sql"):
		return "db-instance"
	case j.begins("reset clear"), wordset.Has(streams, last) && !j.near(brokers),
		wordset.Has(indexes, last) && !j.near(searches):
		return "" // of a music player, or of a list
	}
	return things[last]
}

// ofFiles reports whether a call is about files: an argument is a path, and the tool's name says nothing else, as that
// of a page or of a user. A path that a tool does not read makes files of nothing.
func (j *judge) ofFiles() bool {
	const files = nounFile | nounFolder | nounCode | nounPython | nounScript | nounNotebook | nounText | nounComment |
		nounAll
	return j.in.has(rolePath, roleSource) && j.thing() == "" && !slices.ContainsFunc(j.words, func(w string) bool {
		if (w == "page" || w == "pages") && j.near("pdf word docx") {
			return false
		}
		m := meanings[w]
		return !wordset.Has(ofDisk, w) && (m.is(^(nounFile-1)) && !m.is(files) || m == 0)
	})
}

// ofPage reports whether a call is about a page of a browser, which nobody else sees.
func (j *judge) ofPage() bool {
	return j.in.has(roleURL) && j.near("browser chrome playwright puppeteer cookie cookies tab tabs bookmark history")
}

// ofPeople reports whether an argument says who is let in or shut out, or with which rights.
func (j *judge) ofPeople() bool {
	return j.named("user username userid email member memberid role roleid principal collaborator login account")
}
