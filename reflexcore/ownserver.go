package reflexcore

import (
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/dataflow"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/urls"
	"approver.example/reflexcore/wordset"
)

// This file finds out whether what a call deletes elsewhere is one object of a server in development on this
// machine, such as http://localhost:4000/api/urls/2: people try their own routes all day.

// httpClients are the programs, and the modules of code, that send a request to an address as it is written.
var httpClients = wordset.Of("curl curlie wget http https httpie ht xh xhs requests httpx axios DELETE")

// otherDocker are words with which docker may be another machine's.
var otherDocker = wordset.Of("ssh context use-context docker-machine source . eval alias trap direnv chroot nsenter " +
	"DOCKER_HOST cp mv ln")

// servicePorts are those of databases and of services that hold what people need: Elasticsearch, CouchDB, Docker,
// Kubernetes, Vault, Consul, etcd, Nomad, InfluxDB, Qdrant, Neo4j, Solr, Meilisearch, Typesense, RabbitMQ, ArangoDB,
// ClickHouse, Prometheus, Loki, MinIO, Weaviate, schema registries, Kafka's and others.
var servicePorts = map[uint16]bool{
	2375: true, 2376: true, 2377: true, 2379: true, 2380: true, 4001: true, 4646: true, 5984: true, 6333: true,
	6443: true, 6984: true, 7200: true, 7474: true, 7687: true, 7700: true, 8001: true, 8082: true, 8083: true,
	8086: true, 8091: true, 8108: true, 8123: true, 8200: true, 8201: true, 8443: true, 8444: true, 8500: true,
	8501: true, 8529: true, 8983: true, 9000: true, 9090: true, 9093: true, 9200: true, 9201: true, 9300: true,
	10250: true, 15672: true, 16443: true, 27017: true, 28017: true, 3100: true, 1026: true, 2019: true, 4200: true,
	4440: true, 4566: true, 8065: true, 8081: true, 8384: true, 8474: true, 11434: true, 19530: true, 54321: true,
}

// serviceParts are parts of paths by which such services are known on any port.
var serviceParts = wordset.Of("apis namespaces realms subjects connectors kv indices databases buckets " +
	"manifests secret sys containers volumes customresourcedefinitions dashboards datasources job repository config " +
	"collections dags flows proxies services entities proxy prod production backups")

// ownServer marks what an effect deletes of a server of one's own.
func (j *judgment) ownServer(ef *effect.Effect) {
	switch {
	case ef.What == effect.OwnServer && wordset.Says(j.call.Text, otherDocker):
		ef.What = ""
	case ef.Kind == effect.RemoteDelete && j.isOneOfOwnServer(ef):
		ef.What = effect.OwnServer
	}
}

// isOneOfOwnServer reports whether an effect deletes one object of a server on this machine that is no known
// service.
func (j *judgment) isOneOfOwnServer(ef *effect.Effect) bool {
	const many = effect.Remote | effect.Bulk | effect.Recursive | effect.Splits
	client, _, _ := strings.Cut(ef.Program(), ".")
	if ef.What != "" || ef.Bits&many != 0 || !httpClients[client] {
		return false
	}
	address := ef.Target
	switch {
	case strings.Contains(address, "://"):
	case strings.HasPrefix(address, ":"): // of httpie
		address = "http://localhost" + strings.TrimPrefix(address, ":/")
	default:
		address = "http://" + address
	}
	to := urls.Classify(address)
	return to.IsPlainlyHere() && to.Flags&urls.UnknownHost == 0 && !effect.IsProduction(address) &&
		!servicePorts[to.Port] && (to.Port < 30000 || to.Port > 32767) && // those of Kubernetes
		namesOneObject(to.Path, to.Query) && j.asksPlainly(client)
}

// version is a part of a path that says which version of an interface is meant.
var version = lazyregexp.New(`^(?:api|rest|v\d+(?:\.\d+)?)$`)

// singles are parts of paths that are one thing although they have no name: the session of the caller.
const singles = "session logout login"

// namesOneObject reports whether a path with its query is that of one object and not of a collection, nor one of
// a known service.
func namesOneObject(path, query string) bool {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if len(parts) == 0 || !onlyChooses(query) {
		return false
	}
	for len(parts) > 1 && version().MatchString(parts[0]) {
		parts = parts[1:]
	}
	for _, part := range parts {
		if part[0] == '_' || strings.ContainsAny(part, "*,;%~[]{}") || serviceParts[part] || saysAll(part) {
			return false
		}
	}
	last := parts[len(parts)-1]
	digits := strings.ContainsAny(last, "0123456789")
	switch {
	case query != "" && strings.HasPrefix(path, "/api/"):
		return true
	case len(parts) == 1:
		return strings.Trim(last, "0123456789") == "" || isFileName(last) || wordset.Has(singles, last)
	case digits || !effect.IsKnown(last) || isFileName(last):
		return true
	}
	return !strings.HasSuffix(last, "s")
}

// saysAll reports whether a part of a path has a word for everything.
func saysAll(part string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(part), func(c rune) bool { return c < 'a' || c > 'z' }),
		func(word string) bool {
			return wordset.Has("all everything reset clear purge truncate flush cleanup wipe drop cache history data db "+
				"database", word)
		})
}

// isFileName reports whether a part of a path ends as the name of a file does.
func isFileName(part string) bool {
	i := strings.LastIndexByte(part, '.')
	return i > 0 && len(part)-i <= 6 && len(part)-i > 1 && strings.Trim(part[i+1:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// onlyChooses reports whether a query says nothing but which object is meant, in plain letters and digits.
func onlyChooses(query string) bool {
	for part := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(strings.ToLower(part), "=")
		if part != "" && (!wordset.Has("id _id uuid key name slug token", key) || value == "" ||
			strings.ContainsFunc(value, func(c rune) bool {
				return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_"+effect.Unknown, c)
			})) {
			return false
		}
	}
	return true
}

// maxRequests is how long a text of requests may be.
const maxRequests = 4096

// asksPlainly reports whether nothing in a call may lead a request to this machine to another one, or repeat it: it
// is a shell text of plain requests, or code on the command line that names no proxy.
func (j *judgment) asksPlainly(client string) bool {
	if len(j.call.Text) > maxRequests {
		return false
	}
	if !wordset.Has("requests httpx axios", client) {
		text, _ := dataflow.WithoutDotenv(j.call.Text)
		return shell.OnlyRequests(text)
	}
	chain := shell.Chain(j.call.Text)
	return len(chain) == 1 && wordset.Has("python python3 node", chain[0].Words[0]) &&
		strings.Contains(strings.ToLower(j.call.Text), "delete") && !wordset.ContainsAny(j.call.Text, "proxy", "proxies",
		"PROXY", "baseURL", "base_url", "Host", " for ", "while", ".map(", "forEach", "getaddrinfo", "lookup", "socket",
		"transport", "mount")
}
