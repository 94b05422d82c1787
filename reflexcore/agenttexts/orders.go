package agenttexts

import (
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/analysis"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/tripwire"
	"approver.example/reflexcore/wordset"
)

// A call that writes what agents are told to do is told apart by where the text comes from and by what it
// says. Each of these is the What of a further effect on the file.
const (
	ordersOutside = "orders-outside" // it comes from elsewhere
	ordersRights  = "orders-rights"  // it loosens what guards the agent, or hides something from people
	ordersCode    = "orders-code"    // it has code that would be a question if the agent ran it
)

// maxJudged is how many blocks of commands of a call are judged.
const maxJudged = 24

// Orders judges the instructions of agents that a call writes. asks says by which rule a command would be
// a question; with nil none is judged.
func (r *Reader) Orders(asks func(command string) string) {
	r.judges, r.asks = true, asks
	o := orders{Reader: r, asks: asks}
	for i, n := 0, len(r.Effects); i < n; i++ {
		ef := r.Effects[i]
		switch {
		case ef.Bits&(effect.Remote|effect.Later) != 0 || effect.OnlyMakes(&ef):
		case ef.Kind == effect.Discard && strings.HasPrefix(ef.By, "git "):
			o.checkedOut(&ef)
		case ef.Kind == effect.Write:
			o.written(&ef)
		}
	}
}

// Patched judges what a difference makes of instructions, and from where the difference comes.
func (r *Reader) Patched(ef *effect.Effect, text, before string) {
	if !r.judges {
		return
	}
	o, to := orders{Reader: r, asks: r.asks}, *ef
	for i := range o.Effects {
		from := o.Effects[i]
		reads := from.By == to.By || from.By == "redirection" || from.By == "cat"
		if from.Kind == effect.Read && reads && effect.IsPlain(from.Target) && !o.own(&from) {
			o.note(&to, to.Target, ordersOutside, from.Target)
			break
		}
	}
	o.read(&to, to.Target, text, before)
}

// orders are those of one call.
type orders struct {
	*Reader
	asks   func(string) string
	judged int
	done   []string // files that something was found about
}

// instructs reports whether agents obey a file.
func (o *orders) instructs(p string) bool {
	return o.Analyzer.Paths.Classify(o.promptAs(p)).Kind == content.Instructions
}

// note adds what was found about a file, once.
func (o *orders) note(ef *effect.Effect, target, what, said string) {
	key := what + target
	if slices.Contains(o.done, key) {
		return
	}
	o.done = append(o.done, key)
	o.Said = append(o.Said, analysis.Said{Effect: len(o.Effects), Text: effect.Short(effect.Show(said))})
	o.Effects = append(o.Effects, effect.Effect{Kind: effect.Write, What: what, Target: target, By: ef.By,
		Taint: ef.Taint, Step: ef.Step})
}

// written judges what a call writes to a file, or to a file in a folder that it copies into.
func (o *orders) written(ef *effect.Effect) {
	if o.takenFrom(ef) {
		return
	}
	switch by := ef.Program(); {
	case o.instructs(ef.Target):
		o.judge(ef, ef.Target)
	case unpacks[by] && ef.Bits&effect.Append == 0: // it makes an archive
	case unpacks[by]:
		for word := range strings.FieldsSeq(o.Text) { // the names of what is unpacked
			if o.instructs(path.Join(ef.Target, word)) && !strings.ContainsAny(word, "*=") {
				o.note(ef, path.Join(ef.Target, word), ordersOutside, "an archive")
			}
		}
	case copies(ef):
		for i := range o.Effects {
			from := o.Effects[i]
			if (from.Kind == effect.Read || from.Kind == effect.NetIn) && from.By == ef.By {
				if to := path.Join(ef.Target, path.Base(from.Target)); o.instructs(to) {
					o.judgeCopy(ef, &from, to)
				}
			}
		}
	}
}

// takenFrom reports whether a program that moves takes the file away.
func (o *orders) takenFrom(ef *effect.Effect) bool {
	if !effect.Moves(ef) {
		return false
	}
	return slices.ContainsFunc(o.Effects, func(from effect.Effect) bool {
		return from.Kind == effect.Read && from.By == ef.By && from.Target == ef.Target
	})
}

// copies reports whether what a program writes is what it reads.
func copies(ef *effect.Effect) bool {
	return copiers[ef.Program()] && ef.By != "tee" || placers[ef.By] || ef.By == "git mv" || effect.Links(ef) ||
		effect.Moves(ef) || strings.Contains(strings.ToLower(ef.By), "copy")
}

// judge judges what is written to a file of instructions.
func (o *orders) judge(ef *effect.Effect, target string) {
	if ef.Taint&(effect.Network|effect.Decoded) != 0 {
		o.note(ef, target, ordersOutside, "it comes from the network, or was encoded")
	}
	if o.foreignRef() {
		o.note(ef, target, ordersOutside, "a branch of somebody else")
	}
	if copies(ef) {
		for i := range o.Effects {
			if from := o.Effects[i]; from.By == ef.By && (from.Kind == effect.Read || from.Kind == effect.NetIn) {
				o.judgeCopy(ef, &from, target)
			}
		}
		return
	}
	before := o.before(target)
	known := false
	for _, t := range o.Texts {
		if t.Path == ef.Target || o.leadsTo(t.Path, ef.Target) {
			known = true
			o.read(ef, target, t.Text, before)
		}
	}
	for _, t := range o.Other.Wrote {
		if t.Path == ef.Target {
			known = true
			o.read(ef, target, t.Text, before)
		}
	}
	if !known { // what the call itself says, as in code or an expression of sed
		o.read(ef, target, quotedApart.Replace(o.Text), before)
	}
	for i := range o.Layers {
		o.read(ef, target, o.Layers[i].Text, before)
	}
	if tainted := o.readOutside(ef); tainted != "" {
		o.note(ef, target, ordersOutside, tainted)
	}
}

// quotedApart makes lines of what stands in quotes.
var quotedApart = strings.NewReplacer(`"`, "\n", " '", "\n", "('", "\n", "='", "\n")

// leadsTo reports whether a path is a link to a file.
func (o *orders) leadsTo(p, target string) bool {
	if !effect.IsPlain(p) || !strings.HasPrefix(p, "/") || !effect.IsPlain(target) {
		return false
	}
	to, ok := o.Links.Real(o.Analyzer.Files, p)
	at, _ := o.Links.Real(o.Analyzer.Files, target)
	return ok && to == at
}

// readOutside returns a file outside of the project that the call reads for what it writes: with cat,
// in code, or through a pipe.
func (o *orders) readOutside(ef *effect.Effect) string {
	if ef.Taint&effect.File == 0 {
		return ""
	}
	for i := range o.Effects {
		if from := &o.Effects[i]; from.Kind == effect.Read && !o.own(from) && effect.IsPlain(from.Target) {
			return from.Target
		}
	}
	return ""
}

// before returns what a file has now.
func (o *orders) before(target string) string {
	if !effect.IsPlain(target) || !strings.HasPrefix(target, "/") {
		return ""
	}
	to, ok := o.Links.Real(o.Analyzer.Files, path.Clean(target))
	if !ok {
		return ""
	}
	b, err := o.Analyzer.Files.ReadFile(to, MaxPrompt)
	if err != nil {
		return ""
	}
	return string(b)
}

// read judges a text by what it says.
func (o *orders) read(ef *effect.Effect, target, text, before string) {
	switch found := tripwire.Orders(text, before); found.Kind {
	case tripwire.RightsOrder, tripwire.SecretOrder:
		o.note(ef, target, ordersRights, found.Said)
	case tripwire.CodeOrder:
		o.note(ef, target, ordersCode, found.Said)
	case tripwire.NoOrder:
	}
	if o.asks == nil {
		return
	}
	for _, block := range tripwire.Blocks(text, before) {
		if o.judged++; o.judged > maxJudged {
			return
		}
		if rule := o.asks(block); rule != "" {
			o.note(ef, target, ordersCode, rule+": "+block)
			return
		}
	}
}

// judgeCopy judges what is copied, moved or linked to a file of instructions.
func (o *orders) judgeCopy(ef, from *effect.Effect, target string) {
	if from.Target == target {
		return
	}
	text, made := o.made(from.Target)
	if !made && !o.own(from) {
		o.note(ef, target, ordersOutside, from.Target)
		return
	}
	if !made {
		text = o.before(from.Target)
	}
	o.read(ef, target, text, o.before(target))
}

// made returns the text that the call itself puts into a file.
func (o *orders) made(p string) (string, bool) {
	for _, t := range o.Texts {
		if t.Path == p && !t.Part {
			return t.Text, true
		}
	}
	return "", false
}

// own reports whether a file is of the project's own, or is in force for the user's agents already.
func (o *orders) own(from *effect.Effect) bool {
	if from.Kind != effect.Read || from.Bits&effect.Remote != 0 || from.Taint&(effect.Network|effect.Decoded) != 0 {
		return false
	}
	p := path.Clean(from.Target)
	if !strings.HasPrefix(p, "/") || !effect.IsKnown(p) {
		return true // nothing says that it comes from elsewhere
	}
	if home := o.Around.Home; home != "" && o.instructs(p) && strings.HasPrefix(p, home+"/.") {
		return true
	}
	dir := o.Around.Dir
	to, ok := o.Links.Real(o.Analyzer.Files, p)
	real, _ := o.Links.Real(o.Analyzer.Files, dir)
	if !ok || dir == "" {
		return dir == "" // without a folder nothing is outside of it
	}
	top := o.Analyzer.Git.Top(real)
	if top == "" {
		top = real
	}
	if !disk.Below(to, top) && !disk.Below(to, real) || brought(strings.TrimPrefix(to, top)) {
		return false
	}
	other := o.Analyzer.Git.Top(path.Dir(to)) // a clone in the project
	return other == "" || other == top || !disk.Below(other, top) || !disk.Exists(o.Analyzer.Files, other+"/.git")
}

// brought reports whether a path is in a folder of what others wrote.
func brought(p string) bool {
	return slices.ContainsFunc(strings.Split(p, "/"), func(name string) bool { return broughtFolders[name] })
}

// broughtFolders hold what package managers and people bring from elsewhere.
var broughtFolders = wordset.Of("node_modules vendor third_party site-packages .venv bower_components")

// checkedOut judges what git takes from another commit.
func (o *orders) checkedOut(ef *effect.Effect) {
	p := disk.Absolute(ef.Target, o.Around.Dir)
	if o.instructs(p) && o.foreignRef() {
		o.note(ef, p, ordersOutside, "a branch of somebody else")
	}
}

// foreignRef reports whether the call names a commit of somebody else's repository.
func (o *orders) foreignRef() bool {
	if !strings.Contains(o.Text, "git ") {
		return false
	}
	var remotes map[string]string
	for word := range strings.FieldsSeq(o.Text) {
		word = strings.Trim(word, `"'()`)
		word = strings.TrimPrefix(word, "--source=")
		name, _, ok := strings.Cut(word, "/")
		switch {
		case strings.HasPrefix(word, "FETCH_HEAD"), strings.HasPrefix(word, "refs/pull/"), strings.HasPrefix(word, "pull/"):
			return true
		case !ok || name == "" || name == "origin" || strings.ContainsAny(name, ".~:$"):
			continue
		}
		if remotes == nil {
			if remotes = o.Analyzer.Git.Remotes(o.Analyzer.Git.Top(o.Around.Dir) + "/.git/config"); remotes == nil {
				return false
			}
		}
		if _, is := remotes[name]; is {
			return true
		}
	}
	return false
}
