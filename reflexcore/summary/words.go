package summary

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// This file has the words of a call that are put into texts.

// word returns a word by its name, empty if it is not known.
func (m *matter) word(name string) string {
	switch name {
	case "target":
		return m.shown(m.public())
	case "name":
		return base(m.shown(m.public()))
	case "folder":
		return m.shown(path.Dir(m.public()))
	case "all":
		return m.whole(strings.TrimRight(m.public(), "/*"))
	case "object":
		_, rest, _ := strings.Cut(m.public(), " ")
		return rest
	case "last":
		return m.Target[strings.LastIndexByte(m.Target, ' ')+1:]
	case "noun":
		_, rest, _ := strings.Cut(m.public(), "-")
		return strings.ReplaceAll(rest, "-", " ")
	case "thing":
		return strings.ReplaceAll(m.shown(m.public()), "-", " ")
	case "program":
		return strings.TrimSuffix(m.Program(), "=")
	case "variable":
		return strings.TrimSuffix(m.By, "=")
	case "branch":
		return m.Push.Branch
	case "pushed":
		return m.pushed()
	case "remote":
		if m.Push.Rewritten && strings.ContainsAny(m.Push.Remote, ":/") {
			return "" // an address
		}
		return address(m.Push.Remote)
	}
	return m.relation(name)
}

// relation returns a word that comes from more than the effect itself.
func (m *matter) relation(name string) string {
	switch name {
	case "host", "host_path", "nethost", "cloud", "registry":
		return m.elsewhere(name)
	case "sent":
		return m.sent(effect.File)
	case "secret_file":
		return m.sent(effect.Secret)
	case "startup":
		return m.written()
	case "after":
		return m.after()
	case "count":
		return m.count()
	case "other":
		return m.other()
	case "common":
		return m.whole(m.common())
	}
	return m.argument(name)
}

// elsewhere returns where on the network something happens; empty if words of the call may lead it to another place.
func (m *matter) elsewhere(name string) string {
	where := ""
	switch name {
	case "host":
		where = host(m.Target)
	case "host_path":
		where = address(m.Target)
	case "nethost":
		where = m.onlyHost()
	case "cloud":
		where = clouds[m.Program()]
	case "registry":
		where = registries[m.Program()]
	}
	if m.reroutes() {
		return ""
	}
	return where
}

// reroutes reports whether the host of an address may not be the one that is reached. A variable that leads others
// elsewhere says itself where to. A message may go to others, too, if an argument of its tool is not known.
func (m *matter) reroutes() bool {
	if m.What == "message" && m.Command == "" && m.saysMore(isOfMessage, isScope) {
		return true
	}
	return m.Rerouted && !strings.HasSuffix(m.By, "=") || m.Push.Rewritten && strings.HasPrefix(m.By, "git push")
}

// pushed returns the branch or tag of the remote that a push changes. What the command names is it, unless
// a setting says that it is pushed to another one.
func (m *matter) pushed() string {
	switch to := m.public(); {
	case !effect.IsKnown(to):
		return ""
	case to == "HEAD" || to == "@":
		return m.Push.Branch
	case m.Push.Mapped && !strings.Contains(m.Command, ":"+to):
		return ""
	default:
		return to
	}
}

// inContainer reports whether what happens elsewhere happens in a container, and not on a machine that is reached over
// the network.
func (m *matter) inContainer() bool {
	return m.Bits&effect.Remote != 0 &&
		slices.ContainsFunc(m.Pieces, func(p shell.Piece) bool {
			return slices.ContainsFunc(strings.Fields(p.Text), func(w string) bool { return containers[base(w)] })
		}) &&
		!slices.ContainsFunc(m.Effects, func(e effect.Effect) bool { return e.Kind == effect.NetOut })
}

// containers are programs that run commands in containers.
var containers = wordset.Of("docker docker-compose podman nerdctl kubectl oc crictl lxc incus")

// clouds are the names of clouds by their programs, and registries those of registries.
var (
	clouds = map[string]string{"aws": "AWS", "gcloud": "Google Cloud", "gsutil": "Google Cloud", "az": "Azure",
		"doctl": "DigitalOcean", "hcloud": "Hetzner", "linode-cli": "Linode", "openstack": "OpenStack",
		"oci": "Oracle Cloud", "ibmcloud": "IBM Cloud", "scw": "Scaleway", "wrangler": "Cloudflare",
		"vercel": "Vercel", "flyctl": "Fly.io",
		"fly": "Fly.io", "heroku": "Heroku", "railway": "Railway", "supabase": "Supabase", "neonctl": "Neon",
		"firebase": "Firebase", "netlify": "Netlify", "aliyun": "Alibaba Cloud", "auth0": "Auth0", "fastly": "Fastly"}
	registries = map[string]string{"npm": "npm", "yarn": "npm", "pnpm": "npm", "bun": "npm", "lerna": "npm",
		"twine": "PyPI", "poetry": "PyPI", "uv": "PyPI", "flit": "PyPI", "hatch": "PyPI", "cargo": "crates.io",
		"gem": "RubyGems", "mvn": "Maven", "dotnet": "NuGet", "nuget": "NuGet"}
)

// public returns the target of an effect, empty if a secret may be part of it, or if it is an address that does not
// say where it leads.
func (m *matter) public() string {
	if m.reroutes() && (strings.Contains(m.Target, "://") || m.Kind == effect.NetIn || m.Kind == effect.NetOut) {
		return ""
	}
	if m.Taint&effect.Secret != 0 && strings.ContainsAny(m.Target, "@=?") || strings.Contains(m.Target, "://") &&
		strings.Contains(m.Target, "@") {
		return ""
	}
	if m.mixed() {
		return ""
	}
	if m.Bits&effect.Rooted != 0 { // as if a part that is not known were empty
		return effect.Unknown + m.Target
	}
	return m.Target
}

// shown returns a target as people write it: below the working directory from there, below the home
// with ~. It is empty if no part of it is known.
func (c *Call) shown(target string) string {
	if c.Dir != "" && c.Dir != "/" && c.Dir != c.Home && disk.Below(target, c.Dir) && target != c.Dir {
		if rest := target[len(c.Dir)+1:]; rest != "*" {
			target = rest
		}
	}
	return c.whole(target)
}

// base returns the last name of a path.
func base(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// whole is shown with the whole path.
func (c *Call) whole(target string) string {
	if !effect.IsKnown(target) && strings.Trim(target, effect.Unknown+"/*.") == "" {
		return ""
	}
	if c.Home != "" && c.Home != "/" && disk.Below(target, c.Home) {
		target = "~" + target[len(c.Home):]
	}
	return show(target)
}

// show writes three dots for each part that is not known. They are no …: a card marks that sign in the words of a call,
// as one that could be taken for something else.
func show(text string) string { return strings.ReplaceAll(text, effect.Unknown, "...") }

// maxArg limits a word, in characters.
const maxArg = 60

// oneLine returns a text on one line. One that is too long loses its middle, visibly.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
			return '⏎'
		case '\t', 0:
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	runes := []rune(text)
	if len(runes) <= maxArg {
		return text
	}
	const head, dots = 24, "..." // three letters, as in display.Call.Title
	return string(runes[:head]) + dots + string(runes[len(runes)-(maxArg-head-len(dots)):])
}

// host returns the host of an address, of user@host:path, or of what is sent to; empty if it is not
// known.
func host(target string) string {
	_, rest, is := strings.Cut(target, "://")
	if !is {
		rest = target
	}
	rest, _, _ = strings.Cut(rest, "/")
	if strings.Contains(rest, " ") {
		return ""
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if rest != "" && rest[0] == '[' { // an address with colons
		end := strings.IndexByte(rest, ']') + 1
		if port := rest[end:]; end == 0 || strings.Trim(port, ":0123456789") != "" || port == ":" {
			rest = rest[:end]
		}
		return show(rest)
	}
	name, after, found := strings.Cut(rest, ":")
	if found && strings.Trim(after, "0123456789") != "" || !is && after == "" {
		rest = name
	}
	if strings.Trim(rest, effect.Unknown+".:") == "" || len(rest) <= 5 && strings.Trim(rest, "0123456789") == "" {
		return "" // not known, or a port
	}
	return show(rest)
}

// address returns an address without its scheme, its user and its query.
func address(target string) string {
	_, rest, is := strings.Cut(target, "://")
	if !is {
		rest = target
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	at, way, _ := strings.Cut(rest, "/")
	if at = at[strings.LastIndexByte(at, '@')+1:]; strings.Trim(at, effect.Unknown+".:") == "" {
		return ""
	}
	return show(strings.TrimSuffix(at+"/"+way, "/"))
}

// onlyHost returns the host that the call gets data from, or else the one it sends to, if there is
// one only.
func (c *Call) onlyHost() string {
	for _, kind := range []effect.Kind{effect.NetIn, effect.NetOut} {
		only := ""
		for i := range c.Effects {
			e := &c.Effects[i]
			if e.Kind != kind {
				continue
			}
			h := host(e.Target)
			if h == "" || only != "" && only != h {
				return ""
			}
			only = h
		}
		if only != "" {
			return only
		}
	}
	return ""
}

// sent returns the file that is sent, if the call reads only one of its kind.
func (m *matter) sent(kind effect.Taint) string {
	only := ""
	for i := range m.Effects[:m.index] {
		e := &m.Effects[i]
		if e.Kind != effect.Read || e.Taint&kind == 0 {
			continue
		}
		if !effect.IsPlain(e.Target) || e.Bits != 0 || only != "" && only != e.Target {
			return ""
		}
		only = e.Target
	}
	return m.shown(only)
}

// written returns the file that the call writes, if it is one only.
func (c *Call) written() string {
	only := ""
	for i := range c.Effects {
		e := &c.Effects[i]
		if e.Kind != effect.Write || e.Bits&effect.Later != 0 {
			continue
		}
		if only != "" && only != e.Target {
			return ""
		}
		only = e.Target
	}
	return c.shown(only)
}

// group returns the targets of what the same program does in the same way.
func (m *matter) group() (out []string) {
	all := m.alike()
	for _, e := range all {
		if out = append(out, m.real(e)); len(all) > 1 && isGeneric(e) {
			out = out[:len(out)-1]
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// alike returns the effects of the group.
func (m *matter) alike() (out []*effect.Effect) {
	for i := range min(len(m.Effects), maxGrouped) {
		e := &m.Effects[i]
		if e.Kind == m.Kind && e.By == m.By && (e.Bits^m.Bits)&effect.Later == 0 {
			out = append(out, e)
		}
	}
	return out
}

// other returns the target of the group that is the name of a thing, if there is one only.
func (m *matter) other() string {
	only := ""
	for _, e := range m.alike() {
		if isGeneric(e) || e.Target == m.Target {
			continue
		}
		if only != "" && only != e.Target {
			return ""
		}
		only = e.Target
	}
	return m.shown(only)
}

// generics are targets that say of what kind a thing is, beside its name.
var generics = wordset.Of("ns namespace namespaces pv pvc crd node nodes stack cluster")

// isGeneric reports whether the target of an effect is not the name of a thing, but what is done to
// it or its kind.
func isGeneric(e *effect.Effect) bool {
	return e.Kind == effect.RemoteDelete && (generics[e.Target] || wordset.HasAnyPrefix(e.Target, "delete-", "terminate-",
		"schedule-"))
}

// real returns the target of an effect where links lead to.
func (c *Call) real(e *effect.Effect) string {
	if e.Bits&effect.Rooted != 0 { // one of two readings of the same words
		return effect.Unknown + e.Target
	}
	if c.Real == nil || !strings.HasPrefix(e.Target, "/") || !effect.IsPlain(e.Target) || e.Bits&effect.Itself != 0 {
		return e.Target
	}
	if p, ok := c.Real(e.Target); ok {
		return p
	}
	return e.Target
}

// count returns how many there are, if that is certain.
func (m *matter) count() string {
	for i := range m.Effects {
		e := &m.Effects[i]
		if e.Kind == m.Kind && e.By == m.By && (e.Bits&(effect.Recursive|effect.Glob|effect.Splits|effect.Partial) != 0 ||
			!effect.IsKnown(e.Target)) {
			return ""
		}
	}
	if n := m.listed(); n > 1 {
		return number(n)
	}
	if n := len(m.group()); n > 1 {
		return number(n)
	}
	return ""
}

// common returns the folder that holds all targets of the group.
func (m *matter) common() string {
	folder := ""
	for _, target := range m.group() {
		if !path.IsAbs(target) {
			return ""
		}
		if folder == "" {
			folder = path.Dir(target)
		}
		for !disk.Below(target, folder) {
			folder = path.Dir(folder)
		}
	}
	return folder
}

// after returns the command that a program such as sudo runs.
func (m *matter) after() string {
	words := strings.Fields(m.piece())
	at := slices.Index(words, m.Program())
	if at < 0 || strings.ContainsFunc(m.piece(), func(r rune) bool { return r == '\n' || unicode.IsControl(r) }) {
		return ""
	}
	for words = words[at+1:]; len(words) > 0 && strings.HasPrefix(words[0], "-"); words = words[1:] {
		if words[0] == "-u" || words[0] == "-g" || words[0] == "--user" {
			words = words[min(1, len(words)-1):]
		}
	}
	return strings.Join(words, " ")
}
