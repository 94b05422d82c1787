package reflexcore

import (
	"regexp"
	"strings"

	"approver.example/reflexcore/dataflow"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/urls"
	"approver.example/reflexcore/wordset"
)

// This file finds out whether what a call deletes elsewhere is one object of a server in development on this
// machine, such as http://localhost:4000/api/urls/2: people try their own routes all day.

// httpClients are the programs, and the modules of code, that send a request to an address as it is written.
var httpClients = wordset.Of("curl curlie wget http https httpie ht xh xhs requests httpx axios DELETE")

// throughOthers are words with which a request to this machine goes to another one, or to a socket.
var throughOthers = wordset.Of("ssh autossh socat proxy tunnel port-forward cloud_sql_proxy cloud-sql-proxy " +
	"ssm iptables " +
	"--unix-socket --abstract-unix-socket --proxy --preproxy --proxy1.0 --resolve --connect-to --config --socks4 " +
	"--socks4a --socks5 --socks5-hostname --doh-url cloudflared stunnel chisel telepresence kubefwd tsh frpc ngrok " +
	"boundary start-iap-tunnel source . eval trap alias direnv chroot nsenter context use-context")

// servicePorts are those of databases and of services that hold what people need: Elasticsearch, CouchDB, Docker,
// Kubernetes, Vault, Consul, etcd, Nomad, InfluxDB, Qdrant, Neo4j, Solr, Meilisearch, Typesense, RabbitMQ, ArangoDB,
// ClickHouse, Prometheus, Loki, MinIO, Weaviate, schema registries, Kafka's and others.
var servicePorts = map[uint16]bool{
	2375: true, 2376: true, 2377: true, 2379: true, 2380: true, 4001: true, 4646: true, 5984: true, 6333: true,
	6443: true, 6984: true, 7200: true, 7474: true, 7687: true, 7700: true, 8001: true, 8082: true, 8083: true,
	8086: true, 8091: true, 8108: true, 8123: true, 8200: true, 8201: true, 8443: true, 8444: true, 8500: true,
	8501: true, 8529: true, 8983: true, 9000: true, 9090: true, 9093: true, 9200: true, 9201: true, 9300: true,
	10250: true, 15672: true, 16443: true, 27017: true, 28017: true, 3100: true,
}

// serviceParts are parts of paths by which such services are known on any port.
var serviceParts = wordset.Of("apis namespaces realms subjects connectors kv indices databases buckets " +
	"manifests secret sys containers volumes customresourcedefinitions")

// ownServer marks what an effect deletes of a server of one's own, and takes the mark back if the call may reach
// another one.
func (j *judgment) ownServer(ef *effect.Effect) {
	switch {
	case ef.What == effect.OwnServer && j.goesThroughOthers():
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
		!servicePorts[to.Port] && namesOneObject(to.Path, to.Query) && !j.goesThroughOthers()
}

// version is a part of a path that says which version of an interface is meant.
var version = regexp.MustCompile(`^(?:api|rest|v\d+(?:\.\d+)?)$`)

// singles are parts of paths that are one thing although they have no name: the session of the caller.
const singles = "session logout login"

// namesOneObject reports whether a path with its query is that of one object and not of a collection, nor one of
// a known service.
func namesOneObject(path, query string) bool {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if len(parts) == 0 || !onlyChooses(query) {
		return false
	}
	for len(parts) > 1 && version.MatchString(parts[0]) {
		parts = parts[1:]
	}
	for _, part := range parts {
		if part[0] == '_' || strings.ContainsAny(part, "*,;%~[]{}") || serviceParts[part] {
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
	return !strings.HasSuffix(last, "s") && !wordset.Has("all everything reset clear purge truncate flush cleanup wipe "+
		"cache history data db database", last)
}

// isFileName reports whether a part of a path ends as the name of a file does.
func isFileName(part string) bool {
	i := strings.LastIndexByte(part, '.')
	return i > 0 && len(part)-i <= 6 && len(part)-i > 1 && strings.Trim(part[i+1:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// onlyChooses reports whether a query says nothing but which object is meant.
func onlyChooses(query string) bool {
	for part := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(strings.ToLower(part), "=")
		if key != "" && !strings.HasSuffix(key, "id") && !wordset.Has("key name slug token", key) {
			return false
		}
	}
	return true
}

// goesThroughOthers reports whether a word of a call may lead a request to this machine to another one.
func (j *judgment) goesThroughOthers() bool {
	text, _ := dataflow.WithoutDotenv(j.call.Text)
	if wordset.Says(text, throughOthers) || wordset.ContainsAny(text, "_proxy=", "_PROXY=", "X-Vault-", "X-Consul-",
		"Proxy-", "HOME=") {
		return true
	}
	for w := range strings.FieldsSeq(text) {
		if len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "Kx") && !strings.HasPrefix(w, "-X") {
			return true
		}
	}
	return false
}
