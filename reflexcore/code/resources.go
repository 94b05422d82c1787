package code

import (
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

// opened evaluates a function that reads or writes depending on its mode, which follows the path.
func (res *resources) opened(r row, path value, args []arg, by string) value {
	mode, ok := argument(args, r.arg+1)
	if r.arg == argReceiver {
		mode, ok = argument(args, 0)
	}
	if v, isNamed := named(args, "mode", "flags", "flag"); isNamed {
		mode, ok = v, true
	}
	if mode.keys != nil || mode.fn != nil {
		ok = false
	}
	if p := path.str(); strings.HasPrefix(p, "|") && res.d.library.pipeOpens {
		program := text(p[1:], path.taint)
		res.programs.shell(program, by)
		return res.programs.piped(childType, program, ok && (!mode.known() || strings.Trim(mode.str(), "rbt") != ""),
			by)
	}
	if res.d.library.opensInput && isStdinPath(path) {
		return value{kind: objectValue, s: "stdin", taint: res.inputs.lim.InputTaint}
	}
	if cmd, ok := strings.CutPrefix(path.str(), "expect://"); ok && res.d.library.expectURLs {
		res.programs.shell(text(cmd, path.taint), by)
	}
	kind := row{action: "read"}
	readOnly := mode.kind == nameValue && strings.Contains(mode.s, "RDONLY")
	if ok && !readOnly && (!mode.known() || strings.ContainsAny(mode.str(), "wax+c>")) {
		kind.action = "write"
		if mode.known() && strings.ContainsAny(mode.str(), "a") || strings.HasPrefix(mode.str(), ">>") {
			kind.bits = effect.Append
		}
	}
	v, _ := res.files(kind, path, nil, 0, by)
	return value{kind: objectValue, s: "file", from: path.str(), taint: v.taint}
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
		res.inputs.lim.HasInput {
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

// askModel evaluates a call of a model's client: the argument goes to the model's host, and the
// result is somebody else's text.
func (res *resources) askModel(r row, args []arg, taint effect.Taint, by string) value {
	carried := taint
	for i := range args {
		for _, e := range args[i].list {
			carried |= e.taint
		}
	}
	return res.network(row{action: "netin", result: "answer"}, text(r.param, 0), nil, carried, by)
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
	if r.result != "" {
		result.s = r.result
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

func (res *resources) curlOption(option string, args []arg, by string) {
	v, _ := argument(args, 2)
	switch option {
	case "CURLOPT_URL":
		res.out.found(Found{Op: NetIn, Text: v.str(), Taint: v.taint, By: by})
	case "CURLOPT_POSTFIELDS", "CURLOPT_UPLOAD", "CURLOPT_INFILE":
		res.out.found(Found{Op: NetOut, Text: effect.Unknown, Taint: v.taint, By: by})
	}
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
	switch v.str() {
	case "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "php://stdin":
		return true
	}
	return false
}

// isAnyBelow reports whether a path can be anything below a folder, and nothing filters it.
func (res *resources) isAnyBelow(path string) bool {
	for _, root := range res.walked {
		if rest, ok := strings.CutPrefix(path, root+"/"); ok &&
			(strings.HasPrefix(rest, effect.Unknown) || strings.HasPrefix(rest, "**")) {
			return !res.inputs.in.chooses()
		}
	}
	return false
}

// entries returns the content of a folder, as os.walk, glob and the like do: a list with one element
// that means all. With the parameter tree it includes all folders below.
func (res *resources) entries(r row, folder value, args []arg, by string) value {
	res.files(row{action: "read"}, folder, args, 0, by)
	root := strings.TrimSuffix(folder.str(), "/")
	one := text(root+"/"+effect.Unknown, effect.File)
	switch r.param {
	case "walk": // a folder, its folders and its files
		any := value{kind: listValue, list: []value{unknown(effect.File)}, s: "entries"}
		one = value{kind: listValue, list: []value{one, any, any}}
		res.walked = append(res.walked, root)
	case "tree":
		one = value{kind: objectValue, s: "path", from: one.s, taint: effect.File}
		res.walked = append(res.walked, root)
	case "paths":
		one = value{kind: objectValue, s: "path", from: one.s, taint: effect.File}
	case "pattern":
		one = text(folder.str(), effect.File)
		if top, _, deep := strings.Cut(folder.str(), "/**"); deep {
			res.walked = append(res.walked, top)
		}
	}
	return value{kind: listValue, list: []value{one}, s: "entries", taint: effect.File}
}

// deleteRows evaluates a method of an object-relational mapper that deletes rows: all of them,
// unless an argument selects some.
func (res *resources) deleteRows(args []arg, by string) {
	f := Found{Op: RemoteDelete, Text: "rows of a table", Bits: effect.Bulk, By: by}
	if first, ok := argument(args, 0); ok {
		if where, ok := first.key("where"); ok {
			first = where
		}
		if first.kind != listValue || first.keys == nil || len(first.list) > 0 {
			f.Bits = 0
		}
	}
	res.out.found(f)
}

// truncateRows evaluates destroy and truncate of such a mapper. Other objects have these methods,
// too, so the options must be those of a query.
func (res *resources) truncateRows(args []arg, by string) {
	first, ok := argument(args, 0)
	if !ok {
		return
	}
	whole, _ := first.key("truncate")
	where, chosen := first.key("where")
	switch {
	case whole.truthy():
		res.out.found(Found{Op: RemoteDelete, Text: "rows of a table", Bits: effect.Bulk, By: by})
	case chosen:
		res.deleteRows([]arg{{value: where}}, by)
	}
}
