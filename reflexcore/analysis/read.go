package analysis

import (
	"path"
	"slices"

	"approver.example"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/otherlang"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/tools"
)

// Capture is stage 1: the call as the agent sent it.
func (a *Call) Capture(engine *Analyzer, call approver.ToolCall) {
	a.Analyzer, a.ToolCall = engine, call
	a.Around = places.Around(call.Dir, call.Env["HOME"])
	a.Text = call.Command
	if a.Text == "" {
		a.Text = string(call.Args)
	}
	a.Names.Begin(a.Analyzer.Files, &a.Links, &a.Analyzer.aliases, &a.ToolCall, a.Around.Home, a.Text)
}

// Decode is stage 2: texts that are hidden in encodings.
func (a *Call) Decode() {
	a.Layers = decode.Layers(a.Layers, a.Text, a.Analyzer.Limits.Decode)
}

// Context returns the context for the walk. label gives files their labels; nil means that they have
// none.
func (a *Call) Context(label func(string, bool) effect.Taint) shell.Context {
	a.label = label
	place := shell.Context{Dir: a.ToolCall.Dir, Env: a.ToolCall.Env, Label: label, Explain: a.Explain || a.RunsGit(),
		Trees: &a.trees}
	if a.Past != nil {
		place.Known = a.Past.Taint
	}
	return place
}

// ReadCommand is stages 3 to 7 for a shell command: one parse and one walk.
func (a *Call) ReadCommand(place shell.Context) {
	a.Analyzer.Shell.Analyze(a.ToolCall.Command, place, &a.Result)
	a.addForm(&a.Result)
	a.Effects = append(a.Effects, a.Result.Effects...)
	a.stopsFound()
	a.deletesListed()
	a.throughLinks()
	a.Names.Dotted = append(a.Names.Dotted, a.Result.Dotted...)
	a.Mentions = append(a.Mentions, a.Result.Mentions...)
	a.Programs = append(a.Programs, a.Result.Programs...)
	a.Steps = append(a.Steps, a.Result.Steps...)
	if otherlang.IsPowerShell(a.ToolCall.Command) {
		a.Analyzer.Shell.AnalyzeCode(effect.PowerShell, a.ToolCall.Command, place, &a.part)
		// bash may know it
		a.part.Effects = slices.DeleteFunc(a.part.Effects, func(e effect.Effect) bool { return e.Kind == effect.Opaque })
		a.addPayloadEffects(0, 0)
	}
	a.Left = append(a.Left, a.Result.Files...)
	a.Texts = append(a.Texts, a.Result.Texts...)
	for _, t := range a.Result.Texts {
		hand := content.Payloads
		if t.Part {
			hand = content.Part
		}
		hand(t.Path, t.Text, a.Analyzer.Limits.Tools.Content, func(p effect.Payload) {
			// What a redirection adds is no whole document.
			if (p.Lang != "" || p.Starts) && !a.Analyzer.Paths.Classify(p.Path).Prompts() {
				a.Payload(p, place)
			}
		})
	}
}

// ReadTool reads the arguments of a tool that is no shell.
func (a *Call) ReadTool(place shell.Context) { a.Other = a.ReadAs(a.ToolCall, place) }

// ReadAs reads the arguments of a call of another tool that this one makes.
func (a *Call) ReadAs(call approver.ToolCall, place shell.Context) tools.Result {
	made := tools.Effects(call, a.Analyzer.Limits.Tools, a.Analyzer.Files)
	a.addLabels(made.Effects)
	a.addTaint(made.Effects)
	a.Effects = append(a.Effects, made.Effects...)
	for _, p := range made.Payloads {
		a.Payload(p, place)
	}
	return made
}

// ReadHidden reads the decoded texts if the call runs something that is not known: it may be one of
// them.
func (a *Call) ReadHidden(place shell.Context) {
	if a.Sure || !a.Hidden() {
		return
	}
	for _, layer := range a.Layers {
		a.Analyzer.Shell.Analyze(layer.Text, place, &a.part)
		a.addPayloadEffects(effect.Partial, effect.Decoded)
	}
}

// addPayloadEffects adds the effects of the payload that was read last.
func (a *Call) addPayloadEffects(bits effect.Bits, taint effect.Taint) {
	a.Left = append(a.Left, a.part.Files...)
	if bits&effect.Later == 0 {
		a.Texts = append(a.Texts, a.part.Texts...)
	}
	a.Names.Dotted = append(a.Names.Dotted, a.part.Dotted...)
	from := len(a.Steps)
	if bits&effect.Later == 0 { // else none of it runs now
		for _, s := range a.part.Steps {
			if s.Parent >= 0 {
				s.Parent += from
			}
			a.Steps = append(a.Steps, s)
		}
	}
	for _, e := range a.part.Effects {
		if bits&effect.Partial != 0 && e.Kind == effect.Opaque {
			continue // that noise does not parse says nothing
		}
		e.Bits |= bits
		e.Taint |= taint
		if e.Step >= 0 {
			e.Step += from
		}
		if bits&effect.Later != 0 {
			e.Step = -1
		}
		a.Effects = append(a.Effects, e)
	}
}

// Payload reads what another tool runs, or leaves to be run.
func (a *Call) Payload(p effect.Payload, place shell.Context) {
	if p.Later && p.Path != "" && content.IsPrompt(p.Path) && a.Analyzer.Paths.Classify(p.Path).Prompts() {
		if !a.promptRuns(&p) {
			return
		}
		p.Later = false // as the command that it is
	}
	place.Written = p.Later
	switch {
	case p.Later && isSQL(p.Lang): // a migration is written to be read and run by people's tools
		return
	case p.Starts:
		a.Effects = append(a.Effects, effect.Effect{Kind: effect.Persist, Target: p.Text, What: effect.Editor, By: "editor"})
	case p.Lang == "":
		a.Effects = append(a.Effects,
			effect.Effect{Kind: effect.Opaque, Target: p.Why, Bits: effect.Partial, By: a.ToolCall.Tool})
		return
	case p.Lang == effect.Shell || p.Lang == effect.Fish:
		a.Analyzer.Shell.Analyze(p.Text, place, &a.part)
	default:
		place.Vars = ownNames(p.Path)
		a.Analyzer.Shell.AnalyzeCode(p.Lang, p.Text, place, &a.part)
	}
	bits := effect.Bits(0)
	if p.Later {
		bits = effect.Later
	} else {
		a.addForm(&a.part)
		a.Mentions = append(a.Mentions, a.part.Mentions...)
		a.Programs = append(a.Programs, a.part.Programs...)
	}
	if p.Contained {
		bits |= effect.Contained
	}
	if p.Image {
		a.part.Effects = slices.DeleteFunc(a.part.Effects, func(e effect.Effect) bool { return a.changesImage(&e, p.Text) })
	}
	a.addPayloadEffects(bits, 0)
}

// ownNames returns the names by which code knows its own file, in each of the languages.
func ownNames(file string) map[string]string {
	if !path.IsAbs(file) {
		return nil
	}
	dir := path.Dir(file)
	return map[string]string{"__filename": file, "__file__": file, "__FILE__": file, "__dirname": dir, "__dir__": dir,
		"__DIR__": dir}
}

// Added reads what runs of the content of a file after a change, and did not run before it.
func (a *Call) Added(file, before, after string, place shell.Context) {
	had := map[effect.Payload]bool{}
	content.Payloads(file, before, a.Analyzer.Limits.Tools.Content, func(p effect.Payload) { had[p] = true })
	content.Payloads(file, after, a.Analyzer.Limits.Tools.Content, func(p effect.Payload) {
		if !had[p] {
			a.Payload(p, place)
		}
	})
}

// addForm records how an executed text was written.
func (a *Call) addForm(r *shell.Result) {
	a.Odd |= r.Odd
	if a.OddName == "" {
		a.OddName = r.OddName
	}
	a.Layered = max(a.Layered, r.Layers)
	a.Rerouted = a.Rerouted || r.Rerouted
}

// Hidden reports whether the call runs something that is not fully known.
func (a *Call) Hidden() bool {
	for i := range a.Effects {
		if e := &a.Effects[i]; e.Kind == effect.Opaque ||
			e.Kind == effect.Exec && (e.Bits&effect.Partial != 0 || e.Taint&effect.Decoded != 0) {
			return true
		}
	}
	return false
}

// Acts reports whether the call does more than read.
func (a *Call) Acts() bool {
	for i := range a.Effects {
		switch e := &a.Effects[i]; e.Kind {
		case effect.Read, effect.Write, effect.Opaque:
		case effect.Exec:
			if e.What != "interactive" && e.Target != e.By && e.Bits&effect.Partial == 0 {
				return true
			}
		default:
			if e.Bits&effect.Partial == 0 {
				return true
			}
		}
	}
	return false
}
