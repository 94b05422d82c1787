// Package dataflow finds which data a call carries to which sinks, and what its session
// has seen before. Package flow has the labels and the matrix.
//
// [Flow.Judge] in flow.go goes through the effects of a call; sinks.go says what their
// sinks are, destination.go where data is sent, and ownservice.go which secrets go to the
// service that they are of.
package dataflow

import (
	"slices"
	"strings"

	"approver.example"
	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/urls"
)

// Flow is what is known of one call's information flow.
type Flow struct {
	Policy *flow.Policy // nil: off
	call   *analysis.Call
	cache  *Cache

	// Of the match.
	places   []places.Place // of the effects
	placed   uint32         // the kinds of effects whose places were looked at
	excepted []int          // the effects that people made an exception for
	home     string
	known    *places.Cache
	own      flow.Sources // of the project

	net   effect.Taint // labels of what comes from the network
	Seen  flow.Label   // by the session, before the call; only if asked
	Asked bool
	Err   error // why that is not known

	labeler func(string, bool) effect.Taint // label, made once

	reads    flow.Label // what the call brings before the model
	out      bool       // it uses destinations
	Findings []flow.Finding
}

// Begin takes the policy in force, and the sources of a project, for a call.
func (f *Flow) Begin(call *analysis.Call, policy *flow.Policy, own flow.Sources, cache *Cache) {
	f.Policy, f.reads, f.call, f.cache = policy, flow.Public, call, cache
	if f.Policy == nil || f.Policy.Mode == flow.Off {
		f.Policy = nil
		return
	}
	f.home, f.known, f.own = call.Around.Home, call.Analyzer.Paths, own
}

// Forget drops the call, and keeps the memory.
func (f *Flow) Forget() {
	*f = Flow{Findings: f.Findings[:0], labeler: f.labeler}
}

// Labels returns what gives files their labels; nil if there are none.
func (f *Flow) Labels() func(string, bool) effect.Taint {
	if f.Policy == nil {
		return nil
	}
	if f.labeler == nil {
		f.labeler = f.label
	}
	return f.labeler
}

// label is the label of a file's content, as bits.
func (f *Flow) label(p string, secret bool) effect.Taint {
	if f.Policy == nil {
		return 0
	}
	l := flow.Public
	if secret {
		l = labelOf(p, f.home, f.known.Classify(p))
	}
	if sources := f.Policy.Sources(); !sources.None() {
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
	"who may become root": flow.Restricted, "a control socket": flow.Restricted,
	"where packages come from": flow.Restricted, "a program's credentials": flow.Restricted,
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
	case p == "secret:environment", p == "/proc/self/environ", strings.HasSuffix(p, "/.aws/config"),
		strings.HasSuffix(p, "/.cargo/config.toml"):
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

// Fetched labels what comes from hosts that are sources, and what is made of it.
func (f *Flow) Fetched() {
	if f.Policy == nil || !f.Policy.Sources().AnyHost() && !f.own.AnyHost() {
		return
	}
	for i := range f.call.Effects {
		if e := &f.call.Effects[i]; e.Kind == effect.NetIn {
			host := urls.Classify(e.Target).Host
			f.net |= flow.Join(f.Policy.Sources().Host(host), f.own.Host(host)).Taint()
		}
	}
	if f.net == 0 {
		return
	}
	for i := range f.call.Effects {
		if e := &f.call.Effects[i]; e.Taint&effect.Network != 0 {
			e.Taint |= f.net
		}
	}
	for i := range f.call.Left {
		if l := &f.call.Left[i]; l.Taint&effect.Network != 0 {
			l.Taint |= f.net
		}
	}
}

// Judge judges where the call's data goes. The places are those of the effects, of which
// rules have looked at the kinds placed; excepted are the effects that people made an
// exception for.
func (f *Flow) Judge(at []places.Place, placed uint32, excepted []int) {
	f.places, f.placed, f.excepted = at, placed, excepted
	if f.Policy == nil {
		return
	}
	f.reads = flow.Join(f.reads, flow.Of(f.net))
	for i := range f.call.Effects {
		ef := &f.call.Effects[i]
		s, ok := f.sink(i)
		if !ok {
			continue
		}
		l := flow.Of(ef.Taint)
		switch s {
		case flow.Read:
			if l < flow.Public && f.enters(i) {
				f.reads = flow.Join(f.reads, l)
				f.flowsTo(s, l, i)
			}
		case flow.External:
			f.sends(l, i)
		default:
			f.flowsTo(s, l, i)
		}
	}
	f.byName()
}

// sends judges data that leaves the machine, if it does.
func (f *Flow) sends(l flow.Label, i int) {
	ef := &f.call.Effects[i]
	near := urls.Flags(0)
	if ef.Kind != effect.Publish {
		flags := f.flagsOf(i)
		near = flags & (urls.Loopback | urls.Internal | urls.Metadata)
		if near&urls.Loopback != 0 {
			return
		}
		f.out = true
		if ef.Kind == effect.NetIn && !carries(ef, flags) {
			return // it fetches, and says no more than where
		}
	}
	f.out = true
	if strings.HasPrefix(ef.By, "git push") {
		l = flow.Join(l, f.pushedLabel())
	}
	if near == urls.Internal { // what the session has seen stays in this network
		f.keep(flow.External, l, flow.Data, i)
		return
	}
	f.flowsTo(flow.External, l, i)
}

// flagsOf are those of an address: its place, if rules have looked at it.
func (f *Flow) flagsOf(i int) urls.Flags {
	ef := &f.call.Effects[i]
	if f.placed&(1<<ef.Kind) == 0 {
		return urls.Classify(ef.Target).Flags
	}
	return urls.Flags(f.places[i] / places.URL)
}

// byName judges what tools do by their names alone: those of which no effect is known.
func (f *Flow) byName() {
	if f.call.ToolCall.Command != "" {
		return
	}
	server, writes := ofServer(f.call.ToolCall.Tool)
	f.out = f.out || server != ""
	switch {
	case remembers(f.call.ToolCall.Tool):
		f.flowsTo(flow.Memory, flow.Public, -1)
	case writes && !slices.ContainsFunc(f.call.Effects, func(e effect.Effect) bool { return e.Kind == effect.Write }):
		f.flowsTo(flow.External, flow.Public, -1)
	}
}

// flowsTo judges data that reaches a sink by an effect, or at -1 by the tool's name, and
// what the session has seen that may be in it.
func (f *Flow) flowsTo(s flow.Sink, l flow.Label, i int) {
	f.keep(s, l, flow.Data, i)
	if s == flow.Read || !f.Policy.SessionCounts(s) {
		return
	}
	seen := f.sessionLabel()
	if s == flow.External && f.Policy.Judge(seen, s, flow.Session).Action != flow.Allow && f.used(f.destination(i, true)) {
		return
	}
	f.keep(s, seen, flow.Session, i)
}

// keep keeps a flow that is stopped, and for an explanation those of data that
// has a label.
func (f *Flow) keep(s flow.Sink, l flow.Label, b flow.Basis, i int) {
	found := f.Policy.Judge(l, s, b)
	if found.Action == flow.Allow && (!f.call.Explain || found.Label >= flow.Internal) {
		return
	}
	if found.Sink == flow.Read && f.isExcepted(i) {
		return // what people made an exception for is not asked about by another name
	}
	found.Effect = i
	f.Findings = append(f.Findings, found)
}

// isExcepted reports whether an exception drops what a rule found of an effect.
func (f *Flow) isExcepted(i int) bool { return slices.Contains(f.excepted, i) }

// sessionLabel is what the session has seen before. What cannot be read is the highest label.
func (f *Flow) sessionLabel() flow.Label {
	if f.call.Past == nil {
		return flow.Public
	}
	if !f.Asked {
		l, err := f.call.Past.Seen(f.Policy.Session)
		f.Seen, f.Asked = l, true
		f.fail(err)
	}
	return f.Seen
}

// used reports whether the session is known to have used a destination.
func (f *Flow) used(to string) bool {
	return f.call.Past != nil && f.Err == nil && to != "" && f.call.Past.Used(to)
}

// fail keeps why something is not known.
func (f *Flow) fail(err error) {
	if f.Err == nil {
		f.Err = err
	}
}

// Remember remembers what the call brings before the model and the destinations
// that it uses, and labels what it leaves. An error means that the call must not run.
func (f *Flow) Remember(v approver.Verdict) error {
	if f.Policy == nil || f.call.Past == nil {
		return nil
	}
	reads := f.reads
	if !f.Policy.Counts(reads) {
		reads = flow.Public
	}
	// A destination counts as used if nothing could have been carried there.
	var to []string
	if f.out && v.Decision > approver.Ask &&
		f.Policy.Judge(f.sessionLabel(), flow.External, flow.Session).Action == flow.Allow {
		to = f.destinations()
	}
	err := f.Err
	if err == nil {
		err = f.call.Past.See(reads, to)
	}
	if files := append(onlyLabels(f.call.Leaves()), f.repositoryLabel()...); err == nil && len(files) > 0 {
		err = f.call.Past.Leave(files)
	}
	if f.Policy.Mode != flow.Enforce {
		return nil // audit stops nothing
	}
	return err
}

// onlyLabels are the files that nothing but a label is left in.
func onlyLabels(files []memory.File) []memory.File {
	return slices.DeleteFunc(files, func(f memory.File) bool { return f.Taint&^(effect.Labels|effect.File) != 0 })
}

// Ran remembers the destinations of a call that ran: if it needed people, they
// let it.
func (f *Flow) Ran() {
	if f.out && f.call.Past != nil {
		_ = f.call.Past.See(flow.Public, f.destinations()) // not knowing them asks once more
	}
}
