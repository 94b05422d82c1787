package urls

import (
	_ "embed"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"approver.example/display"
	"approver.example/reflexcore/wordset"
)

// tablesText has the names of the tables.
//
//go:embed tables.txt
var tablesText string

// A kind is the subject of a row of the tables. Most kinds give flags to their words.
type kind uint8

const (
	hosts         kind = iota // hosts that are not ordinary public servers
	spelled                   // services whose subdomains spell an address
	services                  // hosts that pass on or store what they receive
	buckets                   // schemes of storage, without a host
	parameters                // parameters that contain a credential
	schemes                   // schemes with an authority
	opaqueSchemes             // schemes without // after them
	secretPaths               // parts of paths that return a credential on any host
	secretActions             // the same for queries
	accessPaths               // parts of paths that grant access on any host
	accessActions             // the same for queries
	kinds
)

// kindNames are the names of the kinds in the tables, in order.
var kindNames = strings.Fields(`
	name spelled service bucket parameter scheme opaque secret-path secret-action access-path access-action
`)

// tables are what is known from names alone.
type tables struct {
	flags [kinds]map[string]Flags
	words [kinds][]string
	paths map[string]string // path prefixes of services that share their host
}

// loaded reads the tables when they are first used.
var loaded = sync.OnceValue(func() *tables {
	t := &tables{paths: map[string]string{}}
	for i := range t.flags {
		t.flags[i] = map[string]Flags{}
	}
	for heading, words := range wordset.Table(tablesText) {
		name, flags, _ := strings.Cut(heading, " ")
		k := wordset.Number(kindNames, name)
		for word := range strings.FieldsSeq(words) {
			if host, path, ok := strings.Cut(word, "/"); ok && name == "service" {
				word, t.paths[host] = host, "/"+path
			}
			t.flags[k][word] = Flags(wordset.Bits(flagNames, flags))
			t.words[k] = append(t.words[k], word)
		}
	}
	return t
})

// has reports whether a word is of a kind.
func (t *tables) has(k kind, word string) bool {
	_, ok := t.flags[k][word]
	return ok
}

// name looks up a host: itself and each parent domain.
func (i *Info) name(h string) {
	t := loaded()
	for rest := h; rest != ""; {
		if f, ok := t.flags[hosts][rest]; ok {
			// Names such as "metadata" are hosts, not domains.
			if rest == h || strings.IndexByte(rest, '.') >= 0 || f&Metadata == 0 {
				i.Flags |= f
			}
		}
		if rest != h && t.has(spelled, rest) {
			i.Flags |= Disguised
			if addr, ok := spelledAddr(strings.TrimSuffix(h, "."+rest)); ok {
				i.Addr = addr
				i.Flags |= classOf(addr)
			}
		}
		if f, ok := t.flags[services][rest]; ok && strings.HasPrefix(i.Path, t.paths[rest]) {
			i.Flags |= f
			i.Service = rest
		}
		_, after, ok := strings.Cut(rest, ".")
		if !ok {
			break
		}
		rest = after
	}
	if strings.Contains(h, ".svc.") {
		i.Flags |= Internal
	}
	if strings.IndexByte(h, '.') < 0 && i.Flags&(Loopback|Metadata) == 0 && i.Scheme != "" && !t.has(buckets, i.Scheme) {
		i.Flags |= Internal // a name without a dot is in the local network
	}
	switch {
	case (strings.HasSuffix(h, "github.com") || strings.HasSuffix(h, "gitlab.com")) &&
		(strings.Contains(i.Path, "/raw/") || strings.Contains(i.Path, "/-/raw")),
		h == "bitbucket.org" && strings.Contains(i.Path, "/raw/"):
		i.Flags |= RawCode
	}
}

// spelledAddr finds an IPv4 address at the end of the subdomain of a service that resolves such
// names: 10.0.0.1, app-10-0-0-1, a9fea9fe.
func spelledAddr(s string) (netip.Addr, bool) {
	end := len(s)
	if label := s[strings.LastIndexAny(s, ".-")+1:]; len(label) == 8 {
		if v, err := strconv.ParseUint(label, 16, 32); err == nil {
			return addr4(uint32(v)), true
		}
	}
	var b [4]byte
	for n := 3; ; n-- {
		start := end
		for start > 0 && s[start-1] >= '0' && s[start-1] <= '9' && end-start < 4 {
			start--
		}
		v, ok := number(strings.TrimLeft(s[start:end], "0"))
		if start == end || end-start > 3 || ok && v > 255 {
			break
		}
		b[n] = byte(v)
		if n == 0 {
			return netip.AddrFrom4(b), true
		}
		if start == 0 || s[start-1] != '.' && s[start-1] != '-' {
			break
		}
		end = start - 1
	}
	// Some services use the first four: 10.0.0.1.anything, or dashes for the colons of an IPv6
	// address.
	if addr, err := netip.ParseAddr(strings.ReplaceAll(s[strings.LastIndexByte(s, '.')+1:], "-", ":")); err == nil {
		if inner, ok := embedded(addr); ok {
			return inner, true
		}
		return addr, true
	}
	return netip.Addr{}, false
}

// usualPort reports whether a port is normal for a scheme.
func usualPort(scheme string, port uint16) bool {
	switch port {
	case 80, 443, 8080, 8443, 3000, 5000, 8000:
		return true
	case 22:
		return scheme == "ssh" || scheme == "sftp" || scheme == "scp" || strings.HasSuffix(scheme, "ssh")
	case 21, 990:
		return strings.HasPrefix(scheme, "ftp")
	case 5432:
		return strings.HasPrefix(scheme, "postgres")
	case 3306:
		return scheme == "mysql" || scheme == "mariadb"
	case 6379:
		return strings.HasPrefix(scheme, "redis")
	case 27017:
		return scheme == "mongodb"
	case 9418:
		return scheme == "git"
	}
	return false
}

// maxParameters limits the parameters that are looked at. A query with more is assumed to hold a
// secret.
const maxParameters = 200

func secretQuery(query string) bool {
	n := 0
	var buf [32]byte
	for query != "" {
		part := query
		if j := strings.IndexAny(query, "&;"); j >= 0 {
			part, query = query[:j], query[j+1:]
		} else {
			query = ""
		}
		if n++; n > maxParameters {
			return true
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok || value == "" {
			continue
		}
		if len(name) <= len(buf) {
			for j := 0; j < len(name); j++ {
				buf[j] = lower(name[j])
			}
			if loaded().has(parameters, string(buf[:len(name)])) {
				return true
			}
		}
		if len(value) >= 16 && display.BeginsKey(value) {
			return true
		}
	}
	return false
}

// secretPath reports whether an address returns a credential, on any host.
func secretPath(path, query string) bool {
	if strings.HasPrefix(path, "/api/v1/") && (strings.HasSuffix(path, "/secrets") ||
		strings.Contains(path, "/secrets/")) {
		return true
	}
	if strings.HasPrefix(path, "/api/v4/") && strings.HasSuffix(path, "/variables") {
		return true
	}
	return containsAny(path, secretPaths) || containsAny(query, secretActions)
}

// accessPath reports whether an address grants access rights, on any host.
func accessPath(path, query string) bool {
	return containsAny(path, accessPaths) || containsAny(query, accessActions)
}

// containsAny reports whether a text contains one of the words of a kind.
func containsAny(text string, k kind) bool {
	return slices.ContainsFunc(loaded().words[k], func(word string) bool { return strings.Contains(text, word) })
}
