package analysis

import (
	"approver.example"
	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/filenames"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/tools"
)

// An Call is one call, and what it would do.
type Call struct {
	Analyzer *Analyzer
	ToolCall approver.ToolCall
	Around   places.Surroundings
	Text     string // what is matched: the command, or the arguments of another tool
	Layers   []decode.Layer

	// How it is analysed.
	Explain bool                            // the steps are wanted
	Sure    bool                            // nothing that is only suspected to run is analysed
	Binds   bool                            // it is for those who bind an approval: files that are loaded are said, too
	label   func(string, bool) effect.Taint // of what is read; nil: nothing has one
	Past    *memory.Past                    // nil: nothing is remembered

	// What is known of the disk.
	Links disk.Links
	Names filenames.Finder

	// What it would do.
	Effects  []effect.Effect
	Steps    []shell.Step    // with explain, or where git may run: the commands that run, of the command and of payloads
	Left     []shell.File    // what the call leaves in files
	Texts    []shell.Text    // and the texts of them
	Mentions []shell.Mention // files that commands name, of which no effect tells anything
	Programs []shell.Program // those that are started by their path
	Loaded   []Loaded        // of skills, commands and agents
	Other    tools.Result    // of a tool that is no shell

	// How the texts were written that run.
	Odd     shell.Oddity
	OddName string
	Layered int

	Result shell.Result // of the command
	part   shell.Result // of a payload
	trees  shell.Trees  // of the texts of both
}

// A Loaded file, and the effects that it led to.
type Loaded struct {
	File     string
	From, To int
}

// Forget drops what the call was, and keeps the memory.
func (a *Call) Forget() {
	clear(a.Effects)
	clear(a.Layers)
	clear(a.Texts)
	a.Links.Forget()
	a.Names.Forget()
	a.trees.Forget()
	*a = Call{
		Layers: a.Layers[:0], Result: a.Result, part: a.part, trees: a.trees, Effects: a.Effects[:0], Left: a.Left[:0], Texts: a.Texts[:0],
		Links: a.Links, Names: a.Names, Mentions: a.Mentions[:0], Programs: a.Programs[:0],
	}
}
