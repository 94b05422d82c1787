package reflexcore

import (
	"slices"
	"strings"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/urls"
)

// This file is information flow control: which data a call carries to which sinks,
// and what its session has seen before. Package flow has the labels and the matrix.

// SetFlow puts a policy of information flow in force; nil is none, as before the
// first. A call is judged by one as a whole.
func (e *Engine) SetFlow(p *flow.Policy) { e.flow.Store(p) }

// flows is what is known of one call's information flow.
type flows struct {
	policy *flow.Policy // nil: off
	home   string
	known  *places.Cache
	own    flow.Sources // of the project

	net   effect.Taint // labels of what comes from the network
	seen  flow.Label   // by the session, before the call; only if asked
	asked bool
	err   error // why that is not known

	reads flow.Label // what the call brings before the model
	out   bool       // it uses destinations
	found []flow.Finding
}

// begin takes the policy in force for a call.
func (f *flows) begin(e *Engine, w *work) {
	f.policy, f.reads = e.flow.Load(), flow.Public
	if f.policy == nil || f.policy.Mode == flow.Off {
		f.policy = nil
		return
	}
	f.home, f.known = w.a.Around.Home, e.analyzer.Paths
	if w.sets[1] != nil {
		f.own = w.sets[1].Sources
	}
}

// labels returns what gives files their labels; nil if there are none.
func (w *work) labels() func(string, bool) effect.Taint {
	if w.flows.policy == nil {
		return nil
	}
	if w.label == nil {
		w.label = w.flows.label
	}
	return w.label
}

// label is the label of a file's content, as bits.
func (f *flows) label(p string, secret bool) effect.Taint {
	if f.policy == nil {
		return 0
	}
	l := flow.Public
	if secret {
		l = labelOf(p, f.home, f.known.Classify(p))
	}
	if sources := f.policy.Sources(); !sources.None() {
		l = flow.Join(l, sources.Path(p, f.home))
	}
	if !f.own.None() {
		l = flow.Join(l, f.own.Path(p, f.home))
	}
	return l.Taint()
}

// milder are the classes of package content that hold secrets, and of them those
// whose label is not critical: they may hold some, or lead to them.
var milder = map[string]flow.Label{
	"who may become root": flow.Restricted, "a control socket": flow.Restricted, "where packages come from": flow.Restricted, "a program's credentials": flow.Restricted,
	"a file named after a secret": flow.Restricted, "what was typed before": flow.Confidential,
}

// labelOf is the label of a file that holds a secret: there is one list of such files,
// that of package content.
func labelOf(p, home string, sink content.Sink) flow.Label {
	switch {
	case p == "/", p == home:
		return flow.Confidential // all of it, of which next to nothing is a secret
	case p == "secret:helm":
		return flow.Restricted // values, among which there may be some
	case p == "secret:environment", p == "/proc/self/environ", strings.HasSuffix(p, "/.aws/config"), strings.HasSuffix(p, "/.cargo/config.toml"):
		return flow.Confidential
	case strings.HasPrefix(p, "secret:"):
		return flow.Critical
	case !sink.Secret && !strings.HasPrefix(p, "/"):
		return flow.Confidential // the name of a variable, or what is searched for
	}
	if l, ok := milder[sink.Name]; ok && sink.Secret {
		return l
	}
	return flow.Critical
}

// fetched labels what comes from hosts that are sources, and what is made of it.
func (w *work) fetched() {
	f := &w.flows
	if f.policy == nil || !f.policy.Sources().AnyHost() && !f.own.AnyHost() {
		return
	}
	for i := range w.a.Effects {
		if e := &w.a.Effects[i]; e.Kind == effect.NetIn {
			host := urls.Classify(e.Target).Host
			f.net |= flow.Join(f.policy.Sources().Host(host), f.own.Host(host)).Taint()
		}
	}
	if f.net == 0 {
		return
	}
	for i := range w.a.Effects {
		if e := &w.a.Effects[i]; e.Taint&effect.Network != 0 {
			e.Taint |= f.net
		}
	}
	for i := range w.a.Left {
		if l := &w.a.Left[i]; l.Taint&effect.Network != 0 {
			l.Taint |= f.net
		}
	}
}

// flows judges where the call's data goes.
func (e *Engine) flows(w *work) {
	f := &w.flows
	if f.policy == nil {
		return
	}
	f.reads = flow.Join(f.reads, flow.Of(f.net))
	for i := range w.a.Effects {
		ef := &w.a.Effects[i]
		s, ok := w.sink(i)
		if !ok {
			continue
		}
		l := flow.Of(ef.Taint)
		switch s {
		case flow.Read:
			if l < flow.Public && w.enters(i) {
				f.reads = flow.Join(f.reads, l)
				e.flowsTo(w, s, l, i)
			}
		case flow.External:
			e.sends(w, l, i)
		default:
			e.flowsTo(w, s, l, i)
		}
	}
	e.byName(w)
}

// sends judges data that leaves the machine, if it does.
func (e *Engine) sends(w *work, l flow.Label, i int) {
	ef := &w.a.Effects[i]
	near := urls.Flags(0)
	if ef.Kind != effect.Publish {
		flags := w.flagsOf(i)
		near = flags & (urls.Loopback | urls.Internal | urls.Metadata)
		if near&urls.Loopback != 0 {
			return
		}
		w.flows.out = true
		if ef.Kind == effect.NetIn && !carries(ef, flags) {
			return // it fetches, and says no more than where
		}
	}
	w.flows.out = true
	if strings.HasPrefix(ef.By, "git push") {
		l = flow.Join(l, e.pushedLabel(w))
	}
	if near == urls.Internal { // what the session has seen stays in this network
		w.flowFound(flow.External, l, flow.Data, i)
		return
	}
	e.flowsTo(w, flow.External, l, i)
}

// flagsOf are those of an address: its place, if rules have looked at it.
func (w *work) flagsOf(i int) urls.Flags {
	ef := &w.a.Effects[i]
	if w.sets[0].byKind[ef.Kind].empty() {
		return urls.Classify(ef.Target).Flags
	}
	return urls.Flags(w.places[i] / places.URL)
}

// byName judges what tools do by their names alone: those of which no effect is known.
func (e *Engine) byName(w *work) {
	if w.a.ToolCall.Command != "" {
		return
	}
	server, writes := ofServer(w.a.ToolCall.Tool)
	w.flows.out = w.flows.out || server != ""
	switch {
	case remembers(w.a.ToolCall.Tool):
		e.flowsTo(w, flow.Memory, flow.Public, -1)
	case writes && !slices.ContainsFunc(w.a.Effects, func(e effect.Effect) bool { return e.Kind == effect.Write }):
		e.flowsTo(w, flow.External, flow.Public, -1)
	}
}

// flowsTo judges data that reaches a sink by an effect, or at -1 by the tool's name, and
// what the session has seen that may be in it.
func (e *Engine) flowsTo(w *work, s flow.Sink, l flow.Label, i int) {
	f := &w.flows
	w.flowFound(s, l, flow.Data, i)
	if s == flow.Read || !f.policy.SessionCounts(s) {
		return
	}
	seen := w.seen()
	if s == flow.External && f.policy.Judge(seen, s, flow.Session).Action != flow.Allow && w.used(e.destination(w, i, true)) {
		return
	}
	w.flowFound(s, seen, flow.Session, i)
}

// flowFound keeps a flow that is stopped, and for an explanation those of data that
// has a label.
func (w *work) flowFound(s flow.Sink, l flow.Label, b flow.Basis, i int) {
	found := w.flows.policy.Judge(l, s, b)
	if found.Action == flow.Allow && (!w.a.Explain || found.Label >= flow.Internal) {
		return
	}
	if found.Sink == flow.Read && w.excepted(i) {
		return // what people made an exception for is not asked about by another name
	}
	found.Effect = i
	w.flows.found = append(w.flows.found, found)
}

// excepted reports whether an exception drops what a rule found of an effect.
func (w *work) excepted(i int) bool {
	return slices.ContainsFunc(w.findings, func(f finding) bool { return f.effect == i && f.allowed != nil })
}

// seen is what the session has seen before. What cannot be read is the highest label.
func (w *work) seen() flow.Label {
	f := &w.flows
	if w.a.Past == nil {
		return flow.Public
	}
	if !f.asked {
		l, err := w.a.Past.Seen(f.policy.Session)
		f.seen, f.asked = l, true
		f.fail(err)
	}
	return f.seen
}

// used reports whether the session is known to have used a destination.
func (w *work) used(to string) bool {
	return w.a.Past != nil && w.flows.err == nil && to != "" && w.a.Past.Used(to)
}

// fail keeps why something is not known.
func (f *flows) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}
