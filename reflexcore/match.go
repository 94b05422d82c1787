package reflexcore

import (
	"slices"
	"strings"

	"approver.example/internal/match"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/wordset"
)

// match is stage 8: rules over effects, and patterns over text.
func (e *Engine) match(j *judgment) {
	j.complete = true
	j.facts.reset(j.call.Effects)
	j.facts.around, j.facts.paths = &j.call.Around, e.analyzer.Paths
	for i := range j.call.Effects {
		ef := &j.call.Effects[i]
		e.composeVolumes(j, ef)
		j.ownServer(ef)
		j.leavesToGuest(ef)
		j.notReviewed(ef)
		p, placed := places.Place(0), false
		for _, set := range j.sets {
			if set == nil || set.byKind[ef.Kind].empty() && !isDestruction(ef.Kind) {
				continue
			}
			if !placed {
				p, placed = e.onDisk(j, i, j.call.Around.Of(ef, e.analyzer.Paths)), true
			}
			from := len(j.findings)
			j.findings = set.find(j.findings, i, &j.facts, p)
			j.makesAgain(from, ef)
		}
		j.places = append(j.places, p)
		j.facts.noteMade(ef, p)
	}
	for _, set := range j.sets {
		if set == nil || set.patterns == nil {
			continue
		}
		from := len(j.findings)
		j.patterns(set, j.call.Text, -1)
		j.dropInert(from)
		for i := range j.call.Layers {
			j.patterns(set, j.call.Layers[i].Text, i)
		}
	}
	e.onlyWarn(j)
	// Expired rules do not count.
	j.findings = slices.DeleteFunc(j.findings,
		func(f finding) bool { return isExpired(f.rule.Expires, j.call.ToolCall.At) })
}

// elsewhere are words after which a delete and what makes it again may act on another machine, another
// project or not at all: settings that are read or changed, and starts that do not come to pass.
var elsewhere = wordset.Of("|| exit return false trap source . eval context profile checkout switch restore direnv " +
	"cp mv ln printf echo tee read --help -h --no-start --scale timeout kubectl set-context use-context")

// isPlainly reports whether no word of a text puts in doubt where its commands act.
func isPlainly(text string) bool {
	return !strings.Contains(text, "PROFILE=") && !strings.Contains(text, "CLUSTER_NAME=") &&
		!wordset.Says(text, elsewhere)
}

// renamed are words after which a name that says test may be that of something else: settings that are read,
// contexts of clusters that are made or changed, files that are put elsewhere, and ports of this machine that are
// those of another.
var renamed = wordset.Of("source . eval trap direnv set-context set-cluster rename-context use-context " +
	"update-kubeconfig use alias mv ln ssh autossh socat port-forward cloud_sql_proxy cloud-sql-proxy ssm iptables")

// staysNamed reports whether no word of a text puts in doubt what a name stands for.
func staysNamed(text string) bool { return !wordset.Says(text, renamed) }

// makesAgain drops the questions from an index on that are about what is made again at once, or about one object of
// a server of one's own. Those about what is there for tests, or can be filled again, are milder.
func (j *judgment) makesAgain(from int, ef *effect.Effect) {
	remote := ef.Kind == effect.RemoteDelete
	switch {
	case ef.What == effect.OwnServer, remote && ef.What == effect.Rebuilt && isPlainly(j.call.Text),
		remote && ef.What == effect.Named && staysNamed(j.call.Text):
		j.dropFrom(from, asksByDefault)
	case remote && (ef.What == effect.Scratch || ef.What == effect.Named && !shell.ActsInCluster(ef.Program())):
		for i := range j.findings[from:] {
			f := &j.findings[from+i]
			f.scratch = f.rule.Layer == BuiltInLayer
		}
	}
}

func (j *judgment) patterns(set *Rules, text string, layer int) {
	j.folded = match.Fold(j.folded[:0], text)
	var complete bool
	j.matched, complete = set.patterns.MatchBytes(j.matched[:0], j.folded)
	j.complete = j.complete && complete
	for _, id := range j.matched {
		j.findings = append(j.findings, finding{rule: set.ofMatch[id], specificity: 1, effect: -1, layer: layer})
	}
}

// wasMade reports whether the command itself, or an earlier call of the session, made the file that
// it deletes. A program that may do either, because not all of its words are known, does not count.
func (j *judgment) wasMade(e *effect.Effect) bool {
	target := e.Target
	if !effect.IsPlain(target) {
		return false
	}
	by, made := j.facts.made[target]
	return made && (by != e.By || by == "") || j.madeBefore(target)
}

// madeBefore reports whether an earlier call of the session made the file.
func (j *judgment) madeBefore(target string) bool {
	if j.call.Past == nil || !j.call.Past.Made(target) ||
		slices.ContainsFunc(j.movedTo(), func(to string) bool { return disk.Below(to, target) }) {
		return false
	}
	p := j.call.Around.Path(target, &effect.Effect{Kind: effect.Delete, Target: target})
	return p&(places.Temp|places.Project) != 0 && p&(places.Whole|places.Git|places.System|places.Top|places.Root) == 0
}

// movedTo returns where the call moves files. Such a place may no longer hold only files that the
// session made.
func (j *judgment) movedTo() []string {
	var out []string
	for i := range j.call.Effects {
		if e := &j.call.Effects[i]; e.Kind == effect.Write && effect.Moves(e) {
			out = append(out, e.Target)
		}
	}
	return out
}
