// Package dataflow finds out which data a call carries to which sinks, and what its session has read
// before. Package flow has the labels and the matrix.
//
// [Flow.Judge] in flow.go goes through the effects of a call. sinks.go maps effects to sinks,
// destination.go names where data is sent, and ownservice.go finds secrets that go to their own
// service.
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

// A Flow is the information flow of one call.
type Flow struct {
	Policy *flow.Policy // nil: off
	call   *analysis.Call
	cache  *Cache

	// Set by Judge.
	places   []places.Place // of the effects
	placed   uint32         // the kinds of effects whose places were looked at
	excepted []int          // the effects that people made an exception for
	home     string
	known    *places.Cache
	own      flow.Sources // of the project

	net   effect.Taint // labels of what comes from the network
	Seen  flow.Label   // by the session, before the call; only if asked
	Asked bool
	Err   error // why Seen is not known

	labeler func(string, bool) effect.Taint // label, made once

	reads    flow.Label // the highest label that the call shows to the model
	out      bool       // it uses destinations
	Findings []flow.Finding
}

// Begin starts a call with the policy in force and the project's own sources.
func (f *Flow) Begin(call *analysis.Call, policy *flow.Policy, own flow.Sources, cache *Cache) {
	f.Policy, f.reads, f.call, f.cache = policy, flow.Public, call, cache
	if f.Policy == nil || f.Policy.Mode == flow.Off {
		f.Policy = nil
		return
	}
	f.home, f.known, f.own = call.Around.Home, call.Analyzer.Paths, own
}

// Forget resets the flow, and keeps the allocated memory.
func (f *Flow) Forget() {
	*f = Flow{Findings: f.Findings[:0], labeler: f.labeler}
}

// Labels returns the function that labels files; nil if there are no labels.
func (f *Flow) Labels() func(string, bool) effect.Taint {
	if f.Policy == nil {
		return nil
	}
	if f.labeler == nil {
		f.labeler = f.label
	}
	return f.labeler
}

// label returns the label of a file's content, as bits.
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

// milder are the secrets of package content whose label is not critical: files that may hold secrets,
// or lead to them.
var milder = map[string]flow.Label{
	"who may become root": flow.Restricted, "a control socket": flow.Restricted,
	"where packages come from": flow.Restricted, "a program's credentials": flow.Restricted,
	"a file named after a secret": flow.Restricted, "what was typed before": flow.Confidential,
}

// labelOf returns the label of a file that holds a secret, according to the list in package content.
func labelOf(p, home string, sink content.Sink) flow.Label {
	switch {
	case p == "/", p == home:
		return flow.Confidential // everything, and hardly anything in it is secret
	case p == "secret:helm":
		return flow.Restricted // values, some of which may be secret
	case p == "secret:environment", p == "/proc/self/environ", strings.HasSuffix(p, "/.aws/config"),
		strings.HasSuffix(p, "/.cargo/config.toml"):
		return flow.Confidential
	case strings.HasPrefix(p, "secret:"):
		return flow.Critical
	case !sink.Secret && !strings.HasPrefix(p, "/"):
		return flow.Confidential // the name of a variable, or a search pattern
	}
	if l, ok := milder[sink.Name]; ok && sink.Secret {
		return l
	}
	return flow.Critical
}

// Fetched labels data from hosts that are sources, and what the call makes from it.
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

// Judge judges where the call's data goes. at are the places of the effects; they are computed for the
// kinds of effects in placed. excepted are the effects for which people made an exception.
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
			if l < flow.Public && f.reachesModel(i) {
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

// sends judges data that leaves the machine.
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
		if ef.Kind == effect.NetIn && !mayCarryData(ef, flags) {
			return // a fetch that sends nothing but the address
		}
	}
	f.out = true
	if strings.HasPrefix(ef.By, "git push") {
		l = flow.Join(l, f.pushedLabel())
	}
	if near == urls.Internal { // what the session has read stays in this network
		f.record(flow.External, l, flow.Data, i)
		return
	}
	f.flowsTo(flow.External, l, i)
}

// flagsOf returns the URL flags of an effect's address, if its place was computed.
func (f *Flow) flagsOf(i int) urls.Flags {
	ef := &f.call.Effects[i]
	if f.placed&(1<<ef.Kind) == 0 {
		return urls.Classify(ef.Target).Flags
	}
	return urls.Flags(f.places[i] / places.URL)
}

// byName judges tools without known effects by their names.
func (f *Flow) byName() {
	if f.call.ToolCall.Command != "" {
		return
	}
	server, writes := serverOf(f.call.ToolCall.Tool)
	f.out = f.out || server != ""
	switch {
	case writesMemory(f.call.ToolCall.Tool):
		f.flowsTo(flow.Memory, flow.Public, -1)
	case writes && !slices.ContainsFunc(f.call.Effects, func(e effect.Effect) bool { return e.Kind == effect.Write }):
		f.flowsTo(flow.External, flow.Public, -1)
	}
}

// flowsTo judges data that reaches a sink by an effect, or at -1 by the tool's name. It also judges
// what the session has read, which may be part of the data.
func (f *Flow) flowsTo(s flow.Sink, l flow.Label, i int) {
	f.record(s, l, flow.Data, i)
	if s == flow.Read || !f.Policy.SessionCounts(s) {
		return
	}
	seen := f.sessionLabel()
	if s == flow.External && f.Policy.Judge(seen, s, flow.Session).Action != flow.Allow &&
		f.wasUsed(f.destination(i, true)) {
		return
	}
	f.record(s, seen, flow.Session, i)
}

// record records a flow that is stopped, and for an explanation also each flow of labeled data.
func (f *Flow) record(s flow.Sink, l flow.Label, b flow.Basis, i int) {
	found := f.Policy.Judge(l, s, b)
	if found.Action == flow.Allow && (!f.call.Explain || found.Label >= flow.Internal) {
		return
	}
	if found.Sink == flow.Read && slices.Contains(f.excepted, i) {
		return // an exception covers this finding, too
	}
	found.Effect = i
	f.Findings = append(f.Findings, found)
}

// sessionLabel returns the label of what the session has read before, or the highest label if that
// cannot be read.
func (f *Flow) sessionLabel() flow.Label {
	if f.call.Past == nil {
		return flow.Public
	}
	if !f.Asked {
		l, err := f.call.Past.Seen(f.Policy.Session)
		f.Seen, f.Asked = l, true
		f.recordError(err)
	}
	return f.Seen
}

// wasUsed reports whether the session has used a destination before.
func (f *Flow) wasUsed(to string) bool {
	return f.call.Past != nil && f.Err == nil && to != "" && f.call.Past.Used(to)
}

// recordError records an error of the memory.
func (f *Flow) recordError(err error) {
	if f.Err == nil {
		f.Err = err
	}
}

// Remember stores which labeled data the call shows to the model, which destinations it uses, and
// the labels of the files that it leaves. After an error the call must not run.
func (f *Flow) Remember(v approver.Verdict) error {
	if f.Policy == nil || f.call.Past == nil {
		return nil
	}
	reads := f.reads
	if !f.Policy.Counts(reads) {
		reads = flow.Public
	}
	// A destination counts as used only if the call could not have carried data to it.
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

// onlyLabels returns the files whose taint is only a label.
func onlyLabels(files []memory.File) []memory.File {
	return slices.DeleteFunc(files, func(f memory.File) bool { return f.Taint&^(effect.Labels|effect.File) != 0 })
}

// Ran stores the destinations of a call that ran. If the call needed people, they allowed them.
func (f *Flow) Ran() {
	if f.out && f.call.Past != nil {
		_ = f.call.Past.See(flow.Public, f.destinations()) // an error only leads to one more question
	}
}
