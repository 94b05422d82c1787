// Package urls classifies a URL or a host by its text alone: who owns the host, whether the text
// hides that, and whether data that is sent there is given away.
//
// [Classify] reads a text as the most permissive client would (browsers, curl) and flags what
// stricter readers would refuse. If readers would find different hosts, the text is [Malformed],
// which is a finding and never makes it safe. An unknown part (effect.Unknown) makes the host
// unknown if it can be part of it.
//
// Nothing is looked up. A name that resolves to an internal address is not recognized, unless the
// name spells the address.
package urls

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// Flags are what is known about a URL. They are bits; zero is an ordinary public URL.
type Flags uint32

// The flags.
const (
	Malformed    Flags = 1 << iota // does not parse, or readers find different hosts
	UnknownHost                    // the host is not known before the call runs
	UnknownPart                    // some other part is not known
	Credentials                    // a user name or password in the URL
	Metadata                       // a cloud's metadata service, which hands out credentials
	Internal                       // a private, link-local or other non-public network
	Loopback                       // this machine
	Drop                           // data goes to whoever made the address: webhooks, pastes, tunnels, uploads
	RawCode                        // a raw file of a repository or paste
	SecretQuery                    // a credential in the query
	SecretPath                     // the path returns a secret
	LongLabel                      // a name long enough to carry data out through DNS
	OddPort                        // an unusual port for the scheme
	Disguised                      // the host is written so that it is not recognized
	Lookalike                      // the host has letters that look like others
	LocalFile                      // a file of this machine, or of a file server
	Code                           // the URL itself is code or a document: data:, javascript:
	OddScheme                      // a scheme that can talk to other services: gopher:, dict:, ldap:
	Plaintext                      // not encrypted, to another machine
	Address                        // the host is an IP address
	Packages                       // a public registry: what is sent there is published
	Access                         // the path changes access rights
	UnknownLabel                   // a name below a known domain is not known: data can leave in it
)

var flagNames = strings.Fields(`
	malformed unknown-host unknown-part credentials metadata internal loopback drop raw-code secret-query
	secret-path long-label odd-port disguised lookalike local-file code odd-scheme plaintext address packages
	access unknown-label
`)

// String lists the names, separated by +.
func (f Flags) String() string { return effect.Words(f, flagNames) }

// Info is what a text says. The strings are parts of the text, in lower case where case does not
// matter.
type Info struct {
	Flags Flags
	// Scheme is without the colon; empty if the text has none.
	Scheme string
	// Host is without brackets, port and trailing dot, as a lenient client reads it. It is empty if
	// there is none or if it is not known.
	Host string
	// Port is 0 if the text has none.
	Port uint16
	// Path is from the first slash after the host to the query.
	Path string
	// Query is what follows the question mark.
	Query string
	// Addr is the address that the host spells, in any notation.
	Addr netip.Addr
	// Service is the name of a known service with that host, such as "webhook.site".
	Service string
}

// Has reports whether any of the flags is set.
func (i Info) Has(f Flags) bool { return i.Flags&f != 0 }

// IsPlainlyHere reports whether an address is plainly one of this machine.
func (i Info) IsPlainlyHere() bool {
	const plain = Loopback | OddPort | UnknownPart | Address
	return i.Has(Loopback) && i.Flags&^plain == 0
}

// MaxBytes limits the text that is read. A longer text is Malformed, and its beginning still counts.
const MaxBytes = 64 << 10

// Classify classifies a URL, or a host with an optional port and path. An empty text is Malformed.
func Classify(text string) Info {
	var info Info
	if len(text) > MaxBytes {
		info.Flags |= Malformed
		text = text[:MaxBytes]
	}
	whole := text
	if text = trim(text); text != whole {
		info.Flags |= Malformed
	}
	if text == "" {
		info.Flags |= Malformed
		return info
	}
	rest, opaque := info.cutScheme(text)
	if opaque {
		return info
	}
	// The authority ends at the first of / ? # and, in browsers, at a backslash.
	end := strings.IndexAny(rest, "/?#\\")
	authority := rest
	if end >= 0 {
		authority, rest = rest[:end], rest[end:]
		if rest[0] == '\\' {
			info.Flags |= Malformed | Disguised
		}
	} else {
		rest = ""
	}
	info.tail(rest)
	if !effect.IsKnown(authority) {
		info.Flags |= UnknownHost | label(authority)
		if i := strings.LastIndexByte(authority, '@'); i > 0 {
			info.Flags |= Credentials
		}
		info.resolves()
		return info
	}
	info.authority(authority)
	info.crossCheck(text)
	info.resolves()
	return info
}

// label returns UnknownLabel if a host that is not known ends as a known domain does.
func label(authority string) Flags {
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	if at := strings.LastIndexByte(host, ':'); at > 0 && effect.IsKnown(host[at:]) {
		host = host[:at]
	}
	known := host[strings.LastIndex(host, effect.Unknown)+len(effect.Unknown):]
	if strings.ContainsRune(strings.TrimSuffix(known, "."), '.') {
		return UnknownLabel
	}
	return 0
}

// trim removes what clients ignore: blanks and control characters around the text, tabs and line
// ends inside. It keeps unknown parts.
func trim(s string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' && r != 0 })
	if strings.ContainsAny(s, "\t\r\n") {
		s = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(s)
	}
	return s
}

// cutScheme removes the scheme and returns what follows its slashes; opaque means that there is no
// host.
func (i *Info) cutScheme(text string) (rest string, opaque bool) {
	if text[0] == 0 {
		host, _, _ := strings.Cut(text, "/")
		i.Flags |= UnknownHost | label(host)
		return "", true
	}
	name, after, ok := strings.Cut(text, ":")
	if !ok || !isScheme(name) {
		if !effect.IsKnown(name) && strings.HasPrefix(after, "//") { // $SCHEME-ish://host
			i.Flags |= UnknownPart
			return strings.TrimLeft(after, "/"), false
		}
		if strings.HasPrefix(text, `\\`) { // a file server, in Windows' notation
			i.Flags |= LocalFile
			return text[2:], false
		}
		if strings.HasPrefix(text, "//") {
			return strings.TrimLeft(text, "/"), false
		}
		return i.scp(text), false
	}
	lower := strings.ToLower(name)
	t := loaded()
	flags, known := t.flags[schemes][lower]
	what, isOpaque := t.flags[opaqueSchemes][lower]
	slashes := 0
	for slashes < len(after) && (after[slashes] == '/' || after[slashes] == '\\') {
		slashes++
	}
	switch {
	case isOpaque:
		i.Scheme, i.Flags = lower, i.Flags|what
		return i.inner(lower, after, slashes)
	case known && (slashes > 0 || !digits(after)):
		i.Scheme, i.Flags = lower, i.Flags|flags
		if after[:slashes] != "//" {
			if lower == "unix" || lower == "sqlite" || lower == "jdbc" || strings.HasPrefix(lower, "git") && slashes == 0 {
				i.Path = after
				return "", true
			}
			i.Flags |= Malformed // http:/x, http:x, http:\\x: browsers go there
		}
		return after[slashes:], false
	case slashes >= 2:
		i.Scheme = lower
		i.Flags |= OddScheme
		return after[slashes:], false
	}
	return i.scp(text), false // host:port, or scp's host:path
}

// inner looks at what an opaque scheme contains: another URL, or a file.
func (i *Info) inner(scheme, after string, slashes int) (rest string, opaque bool) {
	if !effect.IsKnown(after) {
		i.Flags |= UnknownPart
	}
	switch scheme {
	case "view-source", "jar", "feed", "urn", "blob":
		if strings.Contains(after, ":") && len(after) > 0 {
			if rest, opaque = i.cutScheme(after); !opaque {
				return rest, false
			}
		}
	case "file":
		// file://host/share is another machine on Windows.
		if host, _, _ := strings.Cut(after[slashes:], "/"); slashes == 2 && host != "" &&
			!strings.EqualFold(host, "localhost") {
			return after[slashes:], false
		}
		if slashes > 2 {
			slashes--
		}
		i.Path = after[max(0, min(slashes, len(after))):]
		if slashes > 0 && !strings.HasPrefix(i.Path, "/") {
			i.Path = after[slashes-1:]
		}
		return "", true
	}
	i.Path = after
	return "", true
}

// scp reduces user@host:path, as git and scp read it, to user@host.
func (i *Info) scp(text string) string {
	host, path, ok := strings.Cut(text, ":")
	if !effect.IsKnown(host) {
		return text
	}
	if !ok || path == "" || strings.ContainsAny(host, "/?#\\[") || digits(path) {
		return text
	}
	if first, _, _ := strings.Cut(path, "/"); !effect.IsKnown(first) {
		return text // a port, or a password before another host
	}
	if !effect.IsKnown(path) {
		i.Flags |= UnknownPart
	}
	if strings.Contains(host, "@") || !strings.ContainsAny(path, "@:") {
		i.Scheme = "ssh"
		i.Path = path
		return host
	}
	return text
}

// digits reports whether a text begins with a port: digits up to its end or to a path.
func digits(s string) bool {
	n := leadingDigits(s)
	return n > 0 && n <= 5 && (n == len(s) || s[n] == '/' || s[n] == '?' || s[n] == '#')
}

func isScheme(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if c >= 'a' && c <= 'z' || i > 0 && (s[i] >= '0' && s[i] <= '9' || s[i] == '+' || s[i] == '-' || s[i] == '.') {
			continue
		}
		return false
	}
	return s != ""
}

// tail reads path and query.
func (i *Info) tail(rest string) {
	if !effect.IsKnown(rest) {
		i.Flags |= UnknownPart
	}
	if rest == "" {
		return
	}
	rest, _, _ = strings.Cut(rest, "#")
	path, query, _ := strings.Cut(rest, "?")
	if path != "" {
		i.Path = path
	}
	i.Query = query
	if secretQuery(query) {
		i.Flags |= SecretQuery
	}
	if secretPath(i.Path, query) {
		i.Flags |= SecretPath
	}
	if accessPath(i.Path, query) {
		i.Flags |= Access
	}
}

// authority reads user, host and port, and classifies the host.
func (i *Info) authority(a string) {
	if at := strings.LastIndexByte(a, '@'); at >= 0 {
		user := a[:at]
		a = a[at+1:]
		// git@host is the usual way to name a git server.
		if user != "git" || i.Scheme == "http" || i.Scheme == "https" {
			i.Flags |= Credentials
		}
		if strings.ContainsAny(user, "@") || strings.Contains(user, ".") && !strings.Contains(user, ":") &&
			(i.Scheme == "http" || i.Scheme == "https") {
			i.Flags |= Disguised // http://known.example@other.example
		}
	}
	host, port := a, ""
	switch {
	case strings.HasPrefix(a, "["):
		end := strings.IndexByte(a, ']')
		if end < 0 {
			i.Flags |= Malformed
			host = a[1:]
			break
		}
		host, port = a[1:end], a[end+1:]
		if port != "" && port[0] != ':' {
			i.Flags |= Malformed
		}
		port = strings.TrimPrefix(port, ":")
	case strings.Count(a, ":") > 1: // an IPv6 address without brackets, or nonsense
		if _, err := netip.ParseAddr(a); err != nil {
			i.Flags |= Malformed
			host, port, _ = strings.Cut(a, ":")
		}
	default:
		host, port, _ = strings.Cut(a, ":")
	}
	i.port(port)
	if host == "" {
		i.Flags |= Malformed
		return
	}
	i.host(host)
}

func (i *Info) port(port string) {
	if port == "" {
		return
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		i.Flags |= Malformed
		return
	}
	i.Port = uint16(n)
	if !usualPort(i.Scheme, i.Port) {
		i.Flags |= OddPort
	}
}

// crossCheck reads the text again with net/url. If it fails or finds another host, readers differ.
func (i *Info) crossCheck(text string) {
	if i.Scheme == "" || i.Path != "" && !strings.Contains(text, "://") || !effect.IsKnown(text) {
		return // no other reader knows the unknown byte
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "" && i.Host != "" && u.Opaque == "":
		i.Flags |= Malformed
	}
}
