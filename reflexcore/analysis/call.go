package analysis

import (
	"strings"

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

// A Call is one call, and what it would do.
type Call struct {
	Analyzer *Analyzer
	ToolCall approver.ToolCall
	Around   places.Surroundings
	Text     string // what is matched: the command, or the arguments of another tool
	Layers   []decode.Layer

	// How it is analyzed.
	Explain bool                            // the steps are wanted
	Sure    bool                            // nothing that is only suspected to run is analyzed
	Binds   bool                            // it is for those who bind an approval: files that are loaded are said, too
	label   func(string, bool) effect.Taint // of what is read; nil: nothing has one
	Past    *memory.Past                    // nil: nothing is remembered

	// What is known about the disk.
	Links disk.Links
	Names filenames.Finder

	// How much was looked through for links.
	treeFolders, treeEntries, treeLinks int

	// The result: what the call would do.
	Effects  []effect.Effect
	Steps    []shell.Step    // with explain, or where git may run: the commands that run, of the command and of payloads
	Left     []shell.File    // what the call leaves in files
	Texts    []shell.Text    // and the texts of them
	Mentions []shell.Mention // files that commands name, of which no effect tells anything
	Programs []shell.Program // those that are started by their path
	Loaded   []Loaded        // of skills, commands and agents
	Said     []Said          // what was read in texts that agents obey
	Other    tools.Result    // of a tool that is no shell

	// How the executed texts were written.
	Odd     shell.Oddity
	OddName string
	Layered int

	// Rerouted says that hosts in addresses may not be those that are reached: see [shell.Result].
	Rerouted bool

	Result shell.Result // of the command
	part   shell.Result // of a payload
	trees  shell.Trees  // of the texts of both
}

// A Loaded file, and the range of effects that it caused.
type Loaded struct {
	File     string
	From, To int
}

// A Said is what a text says that an effect writes.
type Said struct {
	Effect int
	Text   string
}

// Forget resets the call, and keeps the allocated memory.
func (a *Call) Forget() {
	clear(a.Effects)
	clear(a.Layers)
	clear(a.Texts)
	a.Links.Forget()
	a.Names.Forget()
	a.trees.Forget()
	*a = Call{
		Layers: a.Layers[:0], Result: a.Result, part: a.part, trees: a.trees, Effects: a.Effects[:0], Left: a.Left[:0],
		Texts: a.Texts[:0],
		Links: a.Links, Names: a.Names, Mentions: a.Mentions[:0], Programs: a.Programs[:0],
	}
}

// addLabels adds labels to what a tool other than a shell reads, and so to what it sends and writes.
func (a *Call) addLabels(effects []effect.Effect) {
	if a.label == nil {
		return
	}
	var carried effect.Taint
	for i := range effects {
		if e := &effects[i]; e.Kind == effect.Read {
			e.Taint |= a.label(e.Target, e.Taint&effect.Secret != 0)
			carried |= e.Taint & effect.Labels
		}
	}
	for i := range effects {
		if e := &effects[i]; carried != 0 && (e.Kind == effect.Write || e.Kind == effect.NetOut || e.Kind == effect.Publish) {
			e.Taint |= carried
			if e.Kind == effect.Write {
				a.Left = append(a.Left, leftBy(e.Target, carried))
			}
		}
	}
}

// addTaint adds the taint that earlier calls left in files that a tool other than a shell reads. It
// also notes the taint of what the tool writes: a tool that fetches and writes saves what it
// fetched, and one that reads and writes copies.
func (a *Call) addTaint(effects []effect.Effect) {
	if a.Past == nil {
		return
	}
	var carried effect.Taint
	for i := range effects {
		switch e := &effects[i]; e.Kind {
		case effect.Read:
			e.Taint |= a.Past.Taint(e.Target)
			carried |= e.Taint
		case effect.Exec:
			e.Taint |= a.Past.Taint(e.Target)
		case effect.NetIn:
			carried |= effect.Network
		default: // nothing for the others
		}
	}
	for i := range effects {
		switch e := &effects[i]; {
		case carried == 0:
		case e.Kind == effect.Write:
			a.Left = append(a.Left, leftBy(e.Target, carried))
		case e.Kind == effect.NetOut || e.Kind == effect.Publish:
			e.Taint |= carried &^ effect.Network
		}
	}
}

func leftBy(target string, taint effect.Taint) shell.File {
	return shell.File{Path: target, Taint: taint}
}

// Leaves returns the files that the call leaves with a taint. The working directory and the folders
// above it are never tainted as a whole.
func (a *Call) Leaves() []memory.File {
	var out []memory.File
	for _, f := range a.Left {
		if !disk.Below(a.Around.Dir, f.Path) && f.Path != "/tmp" && f.Path != "/var/tmp" && f.Path != "/dev" &&
			!strings.HasPrefix(f.Path, "/dev/fd/") {
			out = append(out, memory.File{Path: f.Path, Taint: f.Taint, Tree: f.Tree})
		}
	}
	return out
}
