package selfprotect

import (
	"path"
	"slices"
	"strings"

	"approver.example"
	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/patches"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/protected"
)

// Judge detects attacks on approver, on the settings through which agents ask it, and on other
// guards. It judges what the call would do, however it is written, under each name that a file has
// on the disk. It returns the decision (Pass: nothing was found) and what was found.
func (c *Check) Judge() (worst approver.Decision, what string) {
	worst = approver.Pass
	for i := range c.Effects {
		ef := &c.Effects[i]
		d, text := c.attempt(ef, c.Places[i])
		where := ef.Target
		if where == "agent-start" {
			where = ef.What
		}
		for _, name := range c.Names.Others(ef) {
			if d == approver.Deny {
				break
			}
			other := *ef
			other.Target = name
			if d2, text2 := c.attemptElsewhere(&other); d2 < d {
				d, text, where = d2, text2, name
			}
		}
		if d < worst {
			worst, what = d, text
			if where != "" && ef.Taint&effect.Secret == 0 {
				what += " (" + effect.Short(effect.Show(where)) + ")"
			}
		}
	}
	if worst != approver.Deny && c.stopsByLookup() {
		return approver.Deny, "it looks up approver's process to stop it or to get into it"
	}
	if worst != approver.Deny {
		programs := [...]func(*Check) (approver.Decision, string){
			(*Check).programsOnDisk, (*Check).renamesProgram, (*Check).startsProcess,
		}
		for _, judge := range programs {
			if d, text := judge(c); d < worst {
				worst, what = d, text
			}
		}
	}
	if p := c.namesOwn(); worst > approver.Ask && p != "" {
		return approver.Ask, "it names a file by which agents ask, and nothing says that it only reads it (" +
			effect.Short(effect.Show(p)) + ")"
	}
	if p := patches.OwnFile(c.Call); worst > approver.Ask && p != "" {
		return approver.Ask, "it applies a difference that changes a file by which agents ask (" +
			effect.Short(effect.Show(p)) + ")"
	}
	if worst == approver.Pass && c.changesByLookup() {
		return approver.Ask, "it looks up files of approver or of an agent's settings to change them"
	}
	if worst == approver.Pass && c.stopsEveryone() {
		return approver.Ask, "it stops all processes that it finds, and approver may be among them"
	}
	if worst == approver.Pass && c.Names.TooMany {
		return approver.Ask, "it changes more files than are looked up, and some of them may be those by which agents ask"
	}
	return worst, what
}

// attemptElsewhere judges an effect under another name of its target. The rules have seen only the
// written name, so what they would ask about is asked about here.
func (c *Check) attemptElsewhere(ef *effect.Effect) (approver.Decision, string) {
	at := c.Around.Of(ef, c.Analyzer.Paths)
	d, text := c.attempt(ef, at)
	if own := places.Content<<content.Own | places.Content<<content.Agent; d == approver.Pass && at&own != 0 &&
		(ef.Kind == effect.Write || ef.Kind == effect.Delete) && !effect.MakesFolder(ef) {
		return approver.Ask, "it changes the settings of an agent or of approver"
	}
	return d, text
}

// attempt judges one effect.
func (c *Check) attempt(ef *effect.Effect, at places.Place) (approver.Decision, string) {
	switch {
	case ef.Kind != effect.Permission:
	case ef.Target == "agent-start":
		return c.starts(ef)
	case ef.Target == "approver-control": // in a container, and on its own machine
		return approver.Deny, "it answers or changes approver in a person's place"
	}
	if ef.Bits&effect.Remote != 0 {
		return approver.Pass, ""
	}
	own, known := places.Content<<content.Own, c.Analyzer.Paths
	switch ef.Kind {
	case effect.Kill:
		switch d := c.stops(ef); {
		case d < approver.Pass:
			return d, "it stops approver"
		case protected.IsGuard(path.Base(ef.Target)):
			return approver.Ask, "it stops a guard"
		}
	case effect.Persist:
		if strings.Contains(strings.ToLower(ef.Target), "approver") {
			return approver.Deny, "it changes how approver is started"
		}
	case effect.Read:
		switch {
		case at&own != 0 && at&places.Secret != 0 && protected.IsOwn(ef.Target):
			return approver.Deny, "it reads approver's own keys, store or audit"
		case !effect.Links(ef):
		case at&own != 0 || protected.IsSettings(ef.Target, known):
			return approver.Deny, "it gives another name to a file of approver or of an agent's settings"
		case protected.IsAgentFolder(path.Base(ef.Target)):
			return approver.Deny, "it gives another name to the folder of an agent's settings"
		}
	case effect.NetIn, effect.NetOut:
		return c.connects(ef)
	case effect.Discard:
		switch {
		case protected.IsSettings(ef.Target, known):
			return approver.Deny, "it takes back an agent's settings, and the hooks in them"
		case protected.IsAgentFolder(path.Base(ef.Target)):
			return approver.Ask, "it takes back the folder of an agent's settings, and the hooks in it"
		}
	case effect.Permission:
		return permission(ef, at)
	case effect.Write, effect.Delete:
		return c.changes(ef, at)
	default: // nothing for the others
	}
	return approver.Pass, ""
}

// starts judges the start of an agent. An agent of the same kind, started by its own program, uses
// the settings and hooks of the one that starts it; others do not.
func (c *Check) starts(ef *effect.Effect) (approver.Decision, string) {
	own := c.ToolCall.Agent
	if own == "" {
		own = "claude" // calls without a known agent are people's own tests
	}
	switch {
	case ef.What != own && strings.HasPrefix(ef.What, "copy of "):
		return approver.Ask, "it starts an agent in a way in which it may not have the hooks of the present one, " +
			"or may run what no hook sees"
	case ef.What != own:
		return approver.Ask, "it starts another agent, which may ask nobody"
	case ef.Bits&effect.Remote != 0:
		return approver.Ask, "it starts an agent on another machine or in a container, without the hooks of the present one"
	}
	if slices.ContainsFunc(c.Effects, func(e effect.Effect) bool { return e.Kind == effect.Privilege }) {
		return approver.Ask, "it starts an agent as another user, without the hooks of the present one"
	}
	return approver.Pass, ""
}

// permission judges a change of permissions.
func permission(ef *effect.Effect, at places.Place) (approver.Decision, string) {
	own, agent := places.Content<<content.Own, places.Content<<content.Agent
	switch {
	case ef.What == "agent-settings", ef.Target == "agent-settings":
		return approver.Ask, "it gives an agent other settings, without the hooks of the present ones"
	case ef.Target == "agent-approvals", ef.What == "agent-approvals":
		return approver.Ask, "it starts an agent that asks nobody"
	case strings.HasPrefix(ef.Target, "guard:"):
		return approver.Ask, "it turns a guard off"
	case at&own != 0:
		return approver.Deny, "it changes who may use approver's own files"
	case ef.What == "taken" && at&places.Whole != 0:
		return approver.Ask, "it closes the folder in which the agent works, without which agents start no hook and run " +
			"their calls"
	case ef.What == "run", at&agent == 0 && !protected.IsAgentFolder(path.Base(ef.Target)):
		return approver.Pass, ""
	}
	return approver.Deny, "it changes who may read an agent's settings or run its hooks"
}

// changes judges a file that is written or deleted.
func (c *Check) changes(ef *effect.Effect, at places.Place) (approver.Decision, string) {
	base := path.Base(ef.Target)
	switch {
	case effect.MakesFolder(ef):
		return approver.Pass, ""
	case at&(places.Content<<content.Own) != 0 && protected.OnlyPerhaps(ef.Target):
		return approver.Ask, "it may change approver's own files"
	case at&(places.Content<<content.Own) != 0:
		return approver.Deny, "it changes approver's own files"
	case effect.Moves(ef) && c.movesAway(ef):
		return approver.Ask, "it moves the folder in which approver's own files lie"
	case c.takesFolder(ef, at):
		return approver.Ask, "it moves or removes the folder in which the agent works, without which agents start no hook " +
			"and run their calls"
	case base == "approver-hook", base == "approver" && protected.InBin(ef.Target) && at&(places.Project|places.Temp) == 0:
		return approver.Deny, "it puts another program in the place of approver"
	case protected.IsSettings(ef.Target, c.Analyzer.Paths):
		return approver.Deny, "it changes the settings through which an agent asks approver"
	case namedByPattern(ef):
		return approver.Ask, "it writes a name that is made up in the folder of an agent's settings"
	case slices.ContainsFunc(unknownSettings[:], func(name string) bool { return strings.HasSuffix(ef.Target, name) }):
		return approver.Ask, "it writes settings into a folder that is not known"
	case at&(places.Home|places.System) != 0 && at&(places.Project|places.Build) == 0 && protected.IsGuardPath(ef.Target):
		return approver.Ask, "it changes the settings of a guard"
	}
	switch d := c.replaces(ef); d {
	case approver.Deny:
		return d, "it replaces or removes an agent's settings, and the hooks in them"
	case approver.Ask:
		return d, "it puts files there of which nothing is known, and an agent's settings and hooks may be among them"
	default:
		return approver.Pass, ""
	}
}

// unknownSettings are endings of settings files in an unknown folder.
var unknownSettings = [...]string{
	effect.Unknown + "settings.json", effect.Unknown + "/settings.json", effect.Unknown + "/settings.local.json",
}

// movesAway reports whether a folder is moved that contains approver's own. The root, which is what "$A/$B" is if both
// are empty, cannot be moved.
func (c *Check) movesAway(ef *effect.Effect) bool {
	home := c.Around.Home
	if ef.Target == "/" && ef.Bits&effect.Rooted != 0 {
		return false
	}
	if home == "" || !strings.HasPrefix(ef.Target, "/") || !disk.Below(home+"/.approver", path.Clean(ef.Target)) {
		return false
	}
	return c.isSource(ef)
}

// takesFolder reports whether a folder around the agent's work, or that folder itself, gets another name or is
// removed. Agents start their hooks there, and some run the call if they cannot. What is in that folder may be moved.
// A call can say another folder than that in which the agent was started.
func (c *Check) takesFolder(ef *effect.Effect, at places.Place) bool {
	around := at&places.Whole != 0
	if ef.Bits&effect.Glob != 0 {
		around = covers(ef, c.Around.Dir)
	}
	taken := ef.By == "rmdir" || ef.By == "rename" || effect.Moves(ef) && c.isSource(ef)
	start := c.ToolCall.Start
	return around && taken || start != "" && covers(ef, start) &&
		(taken || ef.Kind == effect.Delete && start != c.ToolCall.Dir) // that of Dir is for other rules
}

// covers reports whether what an effect changes is a folder or one above it.
func covers(ef *effect.Effect, folder string) bool {
	folder = path.Clean(folder)
	if ef.Bits&effect.Glob == 0 {
		return disk.Below(folder, path.Clean(ef.Target))
	}
	for dir := folder; len(dir) > 1; dir = path.Dir(dir) {
		if ok, _ := path.Match(ef.Target, dir); ok {
			return true
		}
	}
	return false
}

// isSource reports whether what a program writes is what it read: the old name of something that is moved.
func (c *Check) isSource(ef *effect.Effect) bool {
	return slices.ContainsFunc(c.Effects, func(r effect.Effect) bool {
		return r.Kind == effect.Read && r.By == ef.By && r.Target == ef.Target
	})
}

// ownFiles matches names, and patterns that match names, of the files through which agents ask.
var ownFiles = lazyregexp.New(`approver-hook|\.(claude|codex|gemini|cursor|approver)/(settings|hooks|[^ ]*\*)` +
	`|\b(PreToolUse|PostToolUse|disableAllHooks)\b`)

// unpackers write files whose names are only in their input, or in their other arguments.
var unpackers = []string{"tar", "gtar", "bsdtar", "cpio", "patch", "git apply", "git am"}

// changesByLookup reports whether the call writes or deletes unknown files, or files from an
// archive or a patch, and also searches for or names the files through which agents ask. Then it is
// assumed that these are changed.
func (c *Check) changesByLookup() bool {
	for i := range c.Effects {
		e := &c.Effects[i]
		if e.Kind != effect.Write && e.Kind != effect.Delete || e.Bits&(effect.Later|effect.Remote) != 0 {
			continue
		}
		if slices.Contains(unpackers, e.By) ||
			!effect.IsKnown(e.Target) && strings.Trim(e.Target, effect.Unknown+"/*") == "" {
			return ownFiles().MatchString(c.Text) || looksForSettings(c.Text)
		}
		base := path.Base(e.Target)
		if !effect.IsKnown(e.Target) &&
			(base == effect.Unknown ||
				strings.ContainsAny(base, "*?[") &&
					(protected.FindsSettings(base) || madeForSettings(strings.ReplaceAll(base, effect.Unknown, "*")))) &&
			looksForSettings(c.Text) {
			return true
		}
	}
	return false
}

// namesOwn returns a file through which agents ask that a command names, if no effect explains the
// name; empty: there is none. A program that is in no table may write the files that are its
// operands, the values of its flags, or named in a command of its own language.
func (c *Check) namesOwn() string {
	for i := range c.Mentions {
		ef := effect.Effect{Kind: effect.Write, Target: c.Mentions[i].Path, By: c.Mentions[i].By}
		if c.isOwn(&ef) {
			return ef.Target
		}
		for _, name := range c.Names.Others(&ef) {
			other := ef
			if other.Target = name; c.isOwn(&other) {
				return name
			}
		}
	}
	return ""
}

// isOwn reports whether an effect is on settings or hooks of an agent, or on approver's own files.
func (c *Check) isOwn(ef *effect.Effect) bool {
	if ef.Target == "" || ef.Target[0] == 0 {
		return false
	}
	if protected.IsSettings(ef.Target, c.Analyzer.Paths) {
		return true
	}
	return c.Around.Of(ef, c.Analyzer.Paths)&(places.Content<<content.Own) != 0 && !protected.OnlyPerhaps(ef.Target)
}
