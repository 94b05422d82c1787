package code

import (
	"net/url"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// resources are the files and hosts that the code uses.
type resources struct {
	d        *dialect
	out      *report
	inputs   *inputs
	programs *programs
	walked   []string // the folders that are walked with everything below
}

// connect opens a socket to another host.
func (res *resources) connect(r row, args []arg, taint effect.Taint, by string) value {
	if res.programs.idleShell != "" && !res.programs.connected {
		res.out.found(Found{Op: Exec, Text: res.programs.idleShell, Taint: effect.Network, By: by})
	}
	res.programs.connected = true
	first, _ := argument(args, 0)
	second, ok := argument(args, 1)
	switch {
	case first.kind == numberValue && ok && second.kind == textValue: // a port, then a host
		first = list([]value{second, first}, 0)
	case first.keys == nil && r.arg > 0 && ok:
		first = second
	default:
		r.arg = 0
	}
	r.action = "netin"
	return res.network(r, first, args, taint, by)
}

var fileOps = map[string]Op{"read": Read, "write": Write, "delete": Delete, "chmod": Permission}

// files evaluates a function on paths. A path with a scheme is an address.
func (res *resources) files(r row, path value, args []arg, taint effect.Taint, by string) (value, bool) {
	if path.kind == listValue && path.keys == nil {
		for _, p := range path.list {
			res.files(r, p, args, taint, by)
		}
		return unknown(effect.File), true
	}
	p := path.str()
	if res.d.library.environmentDrive && strings.EqualFold(strings.TrimRight(p, `\/*`), "env:") {
		res.out.found(Found{Op: Read, Text: "environment", Taint: effect.Secret, By: by})
		return unknown(effect.Secret), true
	}
	if strings.HasPrefix(p, "|") && res.d.library.pipeReads {
		res.programs.shell(text(p[1:], path.taint), by)
		return unknown(effect.File), true
	}
	if isURL(p) {
		return res.network(row{action: "netin"}, path, args, taint, by), true
	}
	if r.action == "read" && (p == "/dev/stdin" || p == "php://stdin" || path.kind == numberValue && path.n == 0) &&
		(res.inputs.lim.HasInput || res.inputs.lim.InputTaint != 0) {
		return res.inputs.input(), true
	}
	if strings.HasPrefix(p, "php://") || path.kind == objectValue && path.from == "" && path.s == "stream" {
		return unknown(0), true
	}
	f := Found{Op: fileOps[r.action], Text: p, Bits: r.bits, By: by}
	if recursive, ok := named(args, "recursive"); ok && recursive.truthy() {
		f.Bits |= effect.Recursive
	}
	if force, ok := named(args, "force"); ok && force.truthy() {
		f.Bits |= effect.Force
	}
	result := r.taint
	switch f.Op {
	case Delete:
		if res.isAnyBelow(p) {
			f.Bits |= effect.Recursive
		}
	case Read:
		result |= effect.File
		if res.inputs.lim.Secret != nil && effect.IsKnown(p) && res.inputs.lim.Secret(res.out.cwd.relative(p)) {
			result |= effect.Secret
			f.Taint = effect.Secret
		}
	case Write:
		f.Taint = taint&^path.taint | r.taint
		n := r.arg + 1 // for a receiver, the first argument
		if body, ok := argument(args, n); ok && r.param == "body" && body.known() {
			f.Args = []string{body.str()}
		}
	default:
	}
	res.out.found(f)
	return unknown(result), r.action == "read"
}

// content judges what is written to an open file.
func (res *resources) content(callee value, args []arg, by string) {
	if callee.of == nil || callee.of.from == "" {
		return
	}
	body, ok := argument(args, 0)
	if !ok {
		return
	}
	f := writeOf(callee.of.from, body, effect.Append, by)
	if f.Args != nil || f.Taint != 0 {
		res.out.found(f)
	}
}

func isURL(s string) bool {
	for _, scheme := range [...]string{"http://", "https://", "ftp://", "ftps://", "ws://", "wss://", "tcp://"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// joinURL returns the URL of new URL(ref, base). The base does not count for a ref that is a whole URL.
func joinURL(ref, base value) string {
	if isURL(ref.str()) || !ref.known() || !base.known() {
		return ref.str()
	}
	from, err := url.Parse(base.str())
	if err != nil {
		return effect.Unknown
	}
	to, err := from.Parse(ref.str())
	if err != nil {
		return effect.Unknown
	}
	return to.String()
}

// urlPart returns what a property of a URL object is.
func urlPart(whole value, name string) (value, bool) {
	if s := whole.str(); effect.IsKnown(s) && isURL(s) {
		u, err := url.Parse(s)
		if err != nil {
			return value{}, false
		}
		part, ok := map[string]string{"hostname": u.Hostname(), "host": u.Host, "port": u.Port(), "pathname": u.Path,
			"origin": u.Scheme + "://" + u.Host, "protocol": u.Scheme + ":", "href": s}[name]
		if name == "search" && u.RawQuery != "" {
			part, ok = "?"+u.RawQuery, true
		}
		return text(part, whole.taint), ok || name == "search"
	}
	return value{}, false
}

// network evaluates a function that uses a host. Data that is tainted by secrets or files is sent,
// whatever the function is for.
func (res *resources) network(r row, target value, args []arg, taint effect.Taint, by string) value {
	if line, ok := strings.CutPrefix(target.str(), "|"); ok && res.d.library.pipeReads { // URI.open("|ls")
		res.programs.shell(text(line, target.taint), by)
	}
	op := NetIn
	if r.action == "netout" {
		op = NetOut
	}
	if method, ok := named(args, "method"); ok && method.known() && !strings.EqualFold(method.str(), "GET") &&
		!strings.EqualFold(method.str(), "HEAD") {
		op = NetOut
	}
	carried := taint | target.taint
	if carried&(effect.Secret|effect.File) != 0 {
		op = NetOut
	}
	where := address(target)
	if host, ok := named(args, "PeerAddr", "PeerHost", "PeerAddress", "host", "hostname"); ok && target.keys == nil {
		where = host.str()
		if port, ok := named(args, "PeerPort", "port"); ok {
			where += ":" + port.str()
		}
	}
	if len(args) > r.arg+1 && r.arg >= 0 && target.kind != listValue && where != "" {
		if port, ok := argument(args, r.arg+1); ok && port.known() && isPort(port.str()) {
			where += ":" + port.str()
		}
	}
	if op == NetIn {
		carried &^= effect.Network // this is only the taint of the receiver
	}
	res.out.found(Found{Op: op, Text: where, Taint: carried, By: by})
	if file, ok := named(args, "outfile"); ok {
		res.out.found(Found{Op: Write, Text: file.str(), Taint: effect.Network, By: by})
	}
	result := value{kind: objectValue, s: "response", taint: effect.Network}
	if r.result != "" { // something to which more can be sent
		result.s, result.from = r.result, where
	}
	return result
}

func isPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n > 0 && n < 65536
}

// address returns a URL, or host:port of a pair or of options.
func address(v value) string {
	switch {
	case v.keys != nil:
		if url, ok := v.key("url", "uri", "href"); ok {
			return url.str()
		}
		host, ok := v.key("host", "hostname", "PeerAddr", "PeerHost", "PeerAddress")
		if !ok {
			return effect.Unknown
		}
		out := host.str()
		if port, ok := v.key("port", "PeerPort"); ok {
			out += ":" + port.str()
		}
		if path, ok := v.key("path"); ok {
			out += path.str()
		}
		return out
	case v.kind == listValue && len(v.list) >= 2:
		return v.list[0].str() + ":" + v.list[1].str()
	}
	return v.str()
}

func (res *resources) newObject(r row, args []arg, taint effect.Taint, by string) value {
	name, _ := argument(args, 0)
	if com, ok := named(args, "comobject", "com", "comobj"); ok {
		name = com
	}
	s := strings.TrimPrefix(strings.ToLower(name.str()), "system.")
	if rest, _ := argument(args, 1); s == "net.sockets.tcpclient" {
		list := []arg{{value: rest}}
		if rest.kind == listValue {
			list = asArgs(rest.list)
		}
		return res.connect(row{action: "connect", result: "socket"}, list, taint, by)
	}
	if t, ok := netTypes[s]; ok {
		s = t
	}
	v := value{kind: objectValue, s: s, taint: taint | r.taint}
	if strings.HasPrefix(s, "io.") { // a stream that wraps another one
		v.taint |= effect.Decoded
	}
	return v
}

// netTypes are the types of New-Object that have rows.
var netTypes = map[string]string{
	"net.webclient": "webclient", "net.http.httpclient": "httpclient", "msxml2.xmlhttp": "xmlhttp",
	"wscript.shell": "wscript", "shell.application": "shellapplication",
}

// isStdinPath reports whether a path or number means the standard input.
func isStdinPath(v value) bool {
	if v.kind == numberValue {
		return v.n == 0
	}
	return v.str() == "php://stdin" || stdinPaths[v.str()]
}

// isAnyBelow reports whether a path can be anything below a folder, and nothing filters it.
func (res *resources) isAnyBelow(path string) bool {
	for _, root := range res.walked {
		if rest, ok := strings.CutPrefix(path, root+"/"); ok &&
			(strings.HasPrefix(rest, effect.Unknown) || strings.HasPrefix(rest, "**")) {
			return !res.inputs.in.filters()
		}
	}
	return false
}
