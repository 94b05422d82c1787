package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// writes makes the effects of a file that a use writes, and notes what is in it then. out is what comes out of the
// command.
func (a *applied) writes(u *grammar.Use, out data, taint effect.Taint) {
	if a.line.p.Dry || u.Word >= 0 && (isStdin(u.Text) || u.Text == "") {
		return
	}
	p, d := a.pathOf(u), out
	if !a.line.p.Copies && a.line.p.Stdout == nil {
		d = data{effect.Unknown, a.taint}
	}
	if a.line.p.Copies && a.reads == 1 {
		d = data{a.text, a.taint}
	}
	d.taint |= taint
	a.losesMoved(p)
	if p == "/dev/null" {
		return
	}
	if n, ok := a.in.fs.descriptorOf(u.Text); ok && u.Word >= 0 {
		a.in.io.writeTo(n, d, a.sink, a.line.by)
		return
	}
	if !strings.HasPrefix(p, "/dev/fd/") {
		a.addWrite(u, p, d)
	}
	if a.notes.backs(u, p); a.notes.takesAway(u, p) {
		return
	}
	from, own, fresh := a.in.fs.madeBefore(p)
	a.in.fs.write(p, d, false)
	a.notes.noteBuilt(p, d)
	if own {
		a.notes.edited(p, from)
	}
	a.notes.filled(p, d)
	a.notes.fetchedInto(p)
	if a.line.p.Copies {
		a.notes.noteCopy(p, fresh)
	}
	a.notes.packed(p)
}

// addWrite adds the effect of writing a text into a file.
func (a *applied) addWrite(u *grammar.Use, p string, d data) {
	bits, what := a.bitsOf(u), ""
	if u.Role == grammar.Append {
		bits |= effect.Append
	}
	if u.Word >= 0 {
		what = u.Arg // a folder
	}
	if what == "" && a.line.takesNamed() {
		what = effect.Members
	}
	if a.line.p.Copies && u.Role == grammar.Write && what == "" && d.text == "" && d.taint == 0 &&
		(a.reads > 0 || a.std.present) || a.linksNothing() {
		what = effect.Emptied
	}
	a.in.add(effect.Effect{Kind: effect.Write, Target: p, What: what, Bits: bits, Taint: d.taint, By: a.line.by})
}

// linksNothing reports whether a link to the null device takes the place of a file.
func (a *applied) linksNothing() bool {
	if a.line.by != "ln" {
		return false
	}
	for u := range a.line.uses(grammar.Read) {
		if u.Word >= 0 && a.pathOf(u) == "/dev/null" {
			return true
		}
	}
	return false
}

// losesMoved adds the deletes of a move to where nothing stays: to the null device, or into memory,
// which is empty after the next start.
func (a *applied) losesMoved(to string) {
	if to != "/dev/null" && !within(to, "/dev/shm") || !wordset.Has("mv gmv", a.line.by) {
		return
	}
	for u := range a.line.uses(grammar.Read) {
		if p := a.pathOf(u); !within(p, "/dev/shm") {
			bits := a.bitsOf(u) | effect.Recursive
			a.in.add(effect.Effect{Kind: effect.Delete, Target: p, Bits: bits, Taint: a.field(u).taint, By: a.line.by})
		}
	}
}

// inserts notes what a stream editor puts into the files that it edits in place.
func (a *applied) inserts() {
	in := a.in
	if in.payloads.inserted == "" {
		return
	}
	for u := range a.line.uses(grammar.Write) {
		in.rep.res.Texts = append(in.rep.res.Texts, Text{Path: a.pathOf(u), Text: in.payloads.inserted, Part: true})
	}
	in.payloads.inserted = ""
}
