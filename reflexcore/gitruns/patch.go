package gitruns

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/patches"
	"approver.example/reflexcore/protected"
	"approver.example/reflexcore/shell"
)

// A patch changes the files that it names, and the command line does not show which. So the patch is
// read from the disk or from the call, and its changes are judged as if a tool wrote them.

var (
	// reverseFlag matches the flag that reverses a patch, and stripFlag the number of folders that
	// are removed from names.
	reverseFlag = lazyregexp.New(`^(?:-[A-Za-z]*R|--reverse)`)
	stripFlag   = lazyregexp.New(`^(?:-[A-Za-z]*p|--strip=)(\d+)$`)
)

// A patchPlace is where a command applies a patch.
type patchPlace struct {
	by    string
	dirs  []string
	strip int // folders that are removed from names; negative: any number
	back  bool
}

// Patches judges changes by patches to files that run by themselves or that agents load.
func (g *Reader) Patches() {
	if !patches.Applies(g.Call) {
		return
	}
	at, inputs := g.patchPlaces()
	texts, ok := patches.Texts(g.Call)
	for _, text := range inputs {
		text, readable := patches.Decode(text)
		texts, ok = append(texts, text), ok && readable
	}
	read := map[string]bool{} // a call may apply one text many times, and in many places
	for _, text := range texts {
		if read[text] {
			continue
		}
		read[text] = true
		changes, done := map[bool][]patches.Change{}, map[string]bool{}
		if _, readable := patches.Names(text); !readable {
			ok = false
		}
		for _, p := range at {
			var named []string
			list, known := changes[p.back]
			if !known {
				list = patches.Changes(text, p.back)
				changes[p.back] = list
			}
			for _, c := range list {
				for _, target := range p.targets(c.Names) {
					if !done[target] {
						g.patch(&c, target, p.by)
					}
					named = append(named, target)
				}
			}
			for _, target := range named { // another place may be the same
				done[target] = !p.back
			}
		}
	}
	if !ok {
		g.Unseen("a difference that cannot be read")
	}
}

// patchPlaces returns where the call applies patches, and their input files.
func (g *Reader) patchPlaces() (at []patchPlace, inputs []string) {
	explained := g.Place
	explained.Explain = true
	var result shell.Result
	g.Analyzer.Shell.Analyze(g.ToolCall.Command, explained, &result)
	for i := range result.Steps {
		s := &result.Steps[i]
		if len(s.Argv) == 0 || s.Remote || len(at) >= patches.Max {
			continue
		}
		p := patchPlace{by: path.Base(s.Argv[0]), dirs: []string{s.Dir}, strip: -1}
		switch p.by {
		case "git":
			dir, command := gitRuns(s)
			if command != "apply" && command != "am" {
				continue
			}
			p.by, p.dirs, p.strip = "git "+command, []string{dir}, 1
			if strings.HasPrefix(dir, "/") && effect.IsKnown(dir) {
				if top := g.Analyzer.Git.Top(dir); top != "" && top != dir {
					p.dirs = append(p.dirs, top)
				}
			}
		case "patch", "gpatch":
		default:
			continue
		}
		p.flags(s.Argv[1:])
		if at = append(at, p); s.Fed && s.Input != "" {
			inputs = append(inputs, strings.ReplaceAll(s.Input, effect.Unknown, ""))
		}
	}
	if len(at) == 0 {
		at = append(at, patchPlace{by: "patch", dirs: []string{g.ToolCall.Dir}, strip: -1})
	}
	return at, inputs
}

// flags reads the flags that change the place.
func (p *patchPlace) flags(words []string) {
	for i, word := range words {
		value := ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		flag, joined, is := strings.Cut(word, "=")
		if m := stripFlag().FindStringSubmatch(word); m != nil {
			value, flag = m[1], "-p"
		}
		switch {
		case flag == "-p" || flag == "--strip" && !is:
			if n, err := strconv.Atoi(value); err == nil {
				p.strip = n
			}
		case flag == "--directory", strings.HasPrefix(word, "-d") && strings.HasSuffix(p.by, "patch"):
			if is {
				value = joined
			} else if strings.HasPrefix(word, "-d") && len(word) > 2 {
				value = word[2:]
			}
			for j := range p.dirs {
				p.dirs[j] = disk.Absolute(value, p.dirs[j])
			}
		case reverseFlag().MatchString(word):
			p.back = true
		}
	}
}

// targets returns the files that the names of a patch may mean in the place.
func (p *patchPlace) targets(names []string) (out []string) {
	for _, name := range names {
		short := []string{name}
		for rest := name; p.strip < 0 && len(short) <= patches.Max; {
			var more bool
			if _, rest, more = strings.Cut(rest, "/"); !more {
				break
			}
			short = append(short, rest)
		}
		for n := p.strip; n > 0; n-- {
			_, rest, ok := strings.Cut(strings.TrimLeft(short[0], "/"), "/")
			if !ok {
				break
			}
			short[0] = rest
		}
		for _, dir := range p.dirs {
			for _, s := range short {
				if target := path.Join(dir, s); !slices.Contains(out, target) {
					out = append(out, target)
				}
			}
		}
	}
	return out
}

// autorunKinds are the kinds of files that run without being named.
var autorunKinds = [...]content.Kind{content.Hook, content.Startup, content.Service, content.Cron, content.Agent}

// patch judges what a patch makes of one file, if the file may run.
func (g *Reader) patch(c *patches.Change, target, by string) {
	sink, prompt := g.Analyzer.Paths.Classify(target), g.AgentTexts.IsPlace(target)
	plain := sink.Kind == content.Plain || sink.Kind == content.Unclear
	if plain && !prompt && !sink.Parts() && !strings.Contains(target, "/.git/") ||
		protected.IsSettings(target, g.Analyzer.Paths) {
		return // settings of agents are judged separately
	}
	g.Effects = append(g.Effects, effect.Effect{Kind: effect.Write, Target: target, By: by, Step: -1})
	before, _ := g.TextOf(target)
	after, known := c.Text()
	if !c.Fresh {
		after, known = c.Applied(before)
	}
	if sink.Kind == content.Instructions {
		text := after
		for i := 0; i < len(c.Hunks) && !known; i++ {
			text += c.Hunks[i].After + "\n"
		}
		g.AgentTexts.Patched(&g.Effects[len(g.Effects)-1], text, before)
	}
	switch {
	case known && prompt:
		g.AgentTexts.Changed(target, before, after)
	case known:
		g.Added(target, before, after, g.Place)
	case prompt, slices.Contains(autorunKinds[:], sink.Kind):
		g.Unseen(target)
	default:
		for _, h := range c.Hunks {
			content.Part(target, h.After, g.Analyzer.Limits.Tools.Content,
				func(p effect.Payload) { g.Payload(p, g.Place) })
		}
	}
}
