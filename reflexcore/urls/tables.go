package urls

import (
	_ "embed"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"approver.example/display"
)

// tablesText has the names that the tables are made of.
//
//go:embed tables.txt
var tablesText string

// tables are what is known by names alone.
type tables struct {
	names    map[string]Flags   // hosts that are more than a public server
	spelled  map[string]bool    // services under which a name spells its address
	services map[string]service // hosts that do something with what they receive
	buckets  map[string]bool    // schemes of storage, behind which no host stands
	secrets  map[string]bool    // parameters that carry a credential
}

// A service does what its flags say, where a path begins with path.
type service struct {
	flags Flags
	path  string
}

// loaded reads the tables when they are first needed.
var loaded = sync.OnceValue(func() *tables {
	t := &tables{names: map[string]Flags{}, spelled: map[string]bool{}, services: map[string]service{},
		buckets: map[string]bool{}, secrets: map[string]bool{}}
	what, flags := "", Flags(0)
	for line := range strings.Lines(tablesText) {
		if line[0] == '#' || line[0] == '\n' {
			continue
		}
		list := line
		if line[0] != '\t' {
			head, rest, _ := strings.Cut(line, ":")
			var words string
			what, words, _ = strings.Cut(head, " ")
			flags, list = flagsNamed(words), rest
		}
		for name := range strings.FieldsSeq(list) {
			t.add(what, name, flags)
		}
	}
	return t
})

// flagsNamed are the flags of these words.
func flagsNamed(words string) (f Flags) {
	for word := range strings.FieldsSeq(words) {
		i := slices.Index(flagNames, word)
		if i < 0 {
			panic("urls: tables.txt has the flag " + word)
		}
		f |= 1 << i
	}
	return f
}

func (t *tables) add(what, name string, flags Flags) {
	switch what {
	case "name":
		t.names[name] = flags
	case "spelled":
		t.spelled[name] = true
	case "service":
		host, path := name, ""
		if i := strings.IndexByte(name, '/'); i >= 0 {
			host, path = name[:i], name[i:]
		}
		t.services[host] = service{flags, path}
	case "bucket":
		t.buckets[name] = true
	case "parameter":
		t.secrets[name] = true
	default:
		panic("urls: tables.txt has the word " + what)
	}
}

// name looks a host up: every ending of it that begins at a dot.
func (i *Info) name(h string) {
	t := loaded()
	for rest := h; rest != ""; {
		if f, ok := t.names[rest]; ok {
			// "metadata" and its like are hosts, not domains.
			if rest == h || strings.IndexByte(rest, '.') >= 0 || f&Metadata == 0 {
				i.Flags |= f
			}
		}
		if t.spelled[rest] && rest != h {
			i.Flags |= Disguised
			if addr, ok := spelledAddr(strings.TrimSuffix(h, "."+rest)); ok {
				i.Addr = addr
				i.Flags |= classOf(addr)
			}
		}
		if s, ok := t.services[rest]; ok && strings.HasPrefix(i.Path, s.path) {
			i.Flags |= s.flags
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
	if strings.IndexByte(h, '.') < 0 && i.Flags&(Loopback|Metadata) == 0 && i.Scheme != "" && !t.buckets[i.Scheme] {
		i.Flags |= Internal // a name without a dot is of the local network
	}
	switch {
	case (strings.HasSuffix(h, "github.com") || strings.HasSuffix(h, "gitlab.com")) &&
		(strings.Contains(i.Path, "/raw/") || strings.Contains(i.Path, "/-/raw")),
		h == "bitbucket.org" && strings.Contains(i.Path, "/raw/"):
		i.Flags |= RawCode
	}
}

// spelledAddr finds four numbers, or eight hex digits, at the end of what
// stands before a service's name: 10.0.0.1, app-10-0-0-1, a9fea9fe.
func spelledAddr(s string) (netip.Addr, bool) {
	end := len(s)
	if label := s[strings.LastIndexAny(s, ".-")+1:]; len(label) == 8 {
		var v uint32
		ok := true
		for j := 0; j < 8; j++ {
			d := unhex(label[j])
			ok = ok && d >= 0
			v = v<<4 | uint32(d&15)
		}
		if ok {
			return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
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
	// Some services take the first four: 10.0.0.1.anything, or dashes for
	// colons of an IPv6 address.
	if addr, err := netip.ParseAddr(strings.ReplaceAll(s[strings.LastIndexByte(s, '.')+1:], "-", ":")); err == nil {
		if inner, ok := embedded(addr); ok {
			return inner, true
		}
		return addr, true
	}
	return netip.Addr{}, false
}

// usualPort says which ports need no word.
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

// maxParameters bounds how many parameters are looked at; more are taken to
// hold one.
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
			if loaded().secrets[string(buf[:len(name)])] {
				return true
			}
		}
		if len(value) >= 16 && display.BeginsKey(value) {
			return true
		}
	}
	return false
}

// secretPath knows addresses whose answer is a credential on any host.
func secretPath(path, query string) bool {
	for _, p := range [...]string{"/latest/meta-data", "/latest/user-data", "/latest/api/token", "/computemetadata/",
		"/computeMetadata/", "/metadata/instance", "/metadata/identity", "/opc/v1/", "/opc/v2/", "/actions/secrets",
		"/dependabot/secrets",
		"/v1/secret/data", "/v1/secret/", "/secretmanager", "/actuator/env", "/actuator/heapdump", "/debug/pprof/heap",
		"/envvar", "/ci/variables", "/.env", "/.git/config", "/.aws/credentials"} {
		if strings.Contains(path, p) {
			return true
		}
	}
	if strings.HasPrefix(path, "/api/v1/") && (strings.HasSuffix(path, "/secrets") ||
		strings.Contains(path, "/secrets/")) {
		return true
	}
	if strings.HasPrefix(path, "/api/v4/") && strings.HasSuffix(path, "/variables") {
		return true
	}
	return strings.Contains(query, "Action=CreateAccessKey") || strings.Contains(query, "Action=GetSecretValue") ||
		strings.Contains(query, "Action=AssumeRole")
}

// accessPath knows addresses under which rights are given, on any host.
func accessPath(path, query string) bool {
	for _, p := range [...]string{"/collaborators", "/memberships", "/roleAssignments", ":setIamPolicy", "/members/",
		"/keys", "/branches/main/protection", "/protection", "/invitations", "/clusterrolebindings", "/rolebindings",
		"/outside_collaborators", "/deploy_keys", "/hooks"} {
		if strings.Contains(path, p) {
			return true
		}
	}
	for _, p := range [...]string{"Action=Attach", "Action=Put", "Action=CreateAccessKey", "Action=CreateUser",
		"Action=AddUser", "Action=CreateLoginProfile"} {
		if strings.Contains(query, p) {
			return true
		}
	}
	return false
}
