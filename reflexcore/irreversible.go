package reflexcore

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"approver.example"
	"approver.example/reflexcore/disk"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/places"
	"approver.example/reflexcore/wordset"
)

// Scores of irreversibility, and the numbers of effects that raise them.
const (
	// AskFrom is the score from which a call that destroys something is at least a question.
	AskFrom = 55
	// TypeFrom is the score from which an approval needs the typed code.
	TypeFrom = 80
	// More destructive effects than these at once raise the score.
	bulk     = 20
	bulkMass = 1000
)

// A loss is what one effect destroys, before its modifiers.
type loss struct {
	score int
	why   string
}

// lossNone is what is said of a loss that is none, and lossUncommitted of one that nothing brings back, whatever
// its score.
const (
	lossNone        = "version control has it"
	lossUncommitted = "throws away work that is not committed"
)

// What makes a loss worse or better, in words.
const (
	lossProduction = "its name says production"
	lossMass       = "more than 1,000 at once"
	lossMany       = "more than 20 at once"
	lossBelow      = "with all that is below"
	lossKind       = "all of its kind"
	lossPattern    = "by a pattern"
	lossForce      = "over protections"
	lossMore       = "and more than the project"
	lossAny        = "any number of them"
	lossLater      = "not now"
	lossTrashed    = "into a trash"
	lossCopied     = "copied before"
)

var lossModifiers = []string{lossProduction, lossMass, lossMany, lossBelow, lossKind, lossPattern, lossForce, lossMore,
	lossAny, lossLater, lossTrashed, lossCopied}

// irreversible returns how hard it is to undo the effects: the score of the worst effect, raised if
// there are many. It looks at kinds, places, targets and programs, never at the words of the
// command. Effects for which lost is false do not count. destroys is the index of the worst effect;
// it is -1 if that effect only publishes or stops something.
func irreversible(
	effects []effect.Effect, places []places.Place, lost func(int) bool,
) (worst approver.Irreversibility, destroys int) {
	many, production, best := 0, false, loss{}
	destroys = -1
	for i := range effects {
		e := &effects[i]
		l := lossOf(e, places[i])
		if l.score == 0 || !lost(i) {
			continue
		}
		if destroying := isDestruction(e.Kind); destroying && l.score > recreatable {
			many++
			production = production || effect.IsProduction(e.Target)
		}
		final := l.score >= TypeFrom
		if l = l.withImpact(e, places[i]); l.score <= best.score {
			continue
		}
		if l = l.withRecovery(e, effects[:i]); l.score > best.score {
			best, destroys = l, -1
			if final || isDestruction(e.Kind) {
				destroys = i
			}
		}
	}
	if best.score == 0 {
		return worst, -1
	}
	if production && best.score > recreatable {
		best.add(15, lossProduction)
	}
	switch {
	case many > bulkMass:
		best.add(25, lossMass)
	case many > bulk:
		best.add(15, lossMany)
	}
	return approver.Irreversibility{Score: uint8(min(max(best.score, 1), 100)), Why: best.why}, destroys
}

// maxBefore limits the effects that are searched for a copy of a deleted file.
const maxBefore = 64

// containers are programs that delete containers, images or networks by name: they are made again from what they
// were made of.
var containers = map[string]bool{"docker rm": true, "docker container rm": true, "docker rmi": true,
	"docker image rm": true, "docker network rm": true, "podman rm": true, "podman rmi": true,
	"nerdctl rm": true, "nerdctl rmi": true}

// reverts are programs that throw away the changes in the files that they name.
var reverts = map[string]bool{"git checkout": true, "git restore": true, "svn": true}

// recreatable is the score of a loss that can be made again.
const recreatable = 5

func isDestruction(k effect.Kind) bool {
	return k == effect.Delete || k == effect.Discard || k == effect.RemoteDelete || k == effect.Write
}

func (l *loss) add(points int, why string) {
	l.score += points
	l.why += ", " + why
}

// lossOf returns the baseline score of an effect: what kind of thing is lost, and where it lies.
func lossOf(e *effect.Effect, p places.Place) loss {
	switch {
	case p&places.Recoverable != 0 && (e.Kind == effect.Delete || e.Kind == effect.Discard):
		return loss{recreatable, lossNone}
	case p&places.Feature != 0 && e.Kind == effect.Discard:
		return loss{20, "rewrites a branch on which others do not build"}
	}
	switch e.Kind {
	case effect.Delete:
		return deleted(e, p)
	case effect.Write:
		if p&places.Device != 0 {
			return loss{95, "overwrites a disk"}
		}
		if e.What == effect.Emptied {
			return emptied(e, p)
		}
	case effect.Discard:
		if reverts[e.By] {
			return baselineOf(e, discards, loss{35, lossUncommitted})
		}
		if e.By == "git branch" {
			return loss{35, "deletes a branch, whose commits git reflog still finds"}
		}
		return baselineOf(e, discards, loss{35, "throws something away"})
	case effect.RemoteDelete:
		if e.What == effect.Rebuilt || e.What == effect.Named || e.What == effect.OwnServer {
			return loss{20, "deletes what is made again"}
		}
		if containers[e.By] && e.Bits&(effect.Recursive|effect.Splits|effect.Bulk) == 0 {
			return loss{20, "deletes a container or an image"}
		}
		if e.What == effect.Scratch {
			return loss{40, "deletes what is for tests, or can be filled again"}
		}
		if l, known := thingOf(e); known {
			return l
		}
		return baselineOf(e, remotes, loss{50, "deletes something on a server"})
	case effect.Publish:
		return baselineOf(e, published, loss{30, "changes what others see or use"})
	case effect.Kill:
		if e.Target == "host" {
			return loss{30, "stops the machine"}
		}
		return loss{10, "stops something that runs"}
	default: // of the others nothing is lost by itself
	}
	return loss{}
}

// emptied returns the baseline score of a file that is emptied: as one that is deleted, but what is for
// the system and for logs has rules of its own.
func emptied(e *effect.Effect, p places.Place) loss {
	if p&places.Recoverable != 0 || p&(places.Secret|places.Git) == 0 || p&places.System != 0 {
		return loss{}
	}
	return deleted(e, p)
}

// deleted returns the baseline score of deleted files.
func deleted(e *effect.Effect, p places.Place) loss {
	switch {
	case e.By == "crontab":
		return loss{20, "deletes tasks that run at set times"}
	case p&places.Device != 0, slices.Contains(wipers, strings.ToLower(e.Program())):
		return loss{95, "wipes a disk"}
	case p&places.Container != 0:
		return loss{recreatable, "deletes what the container's image has"}
	case p&places.Local != 0:
		return loss{recreatable, "deletes what the call puts there anew"}
	case slices.Contains(volumes, e.Program()):
		return loss{75, "deletes a volume"}
	case p&(places.Root|places.Top) != 0 && p&places.Temp == 0:
		return loss{95, "deletes what the machine or a home needs"}
	case p&places.Temp != 0 && p&places.Outside != 0:
		return loss{30, "deletes all temporary files, of others too"}
	case p&(places.Temp|places.Build) != 0 && p&(places.Outside|places.Whole|places.Git) == 0,
		p&places.Build != 0 && p&(places.System|places.Whole|places.Git|places.Unclear) == 0:
		return loss{recreatable, "deletes what can be made again"}
	case e.Bits&effect.Remote != 0:
		return loss{50, "deletes files on another machine or in a container"}
	case p&places.System != 0 && e.Bits&effect.Rooted != 0 && e.Bits&(effect.Recursive|effect.Glob) == 0:
		return loss{40, "deletes what is not known yet"}
	case p&places.System != 0:
		return loss{70, "deletes files of the system"}
	case p&places.Whole != 0:
		return loss{65, "deletes the whole working directory"}
	case p&places.Git != 0:
		return loss{45, "deletes files of a repository"}
	case p&places.Secret != 0:
		return loss{55, "deletes a credential"}
	case p&places.Project != 0:
		return loss{20, "deletes files of the project that git may not have"}
	case p&places.Unclear != 0:
		return loss{40, "deletes what is not known yet"}
	case p&places.Outside != 0:
		return loss{45, "deletes files outside the project"}
	}
	return loss{20, "deletes files"}
}

// Programs with special meanings: wipers wipe a disk that they name, volumes delete volumes, trashes move files to
// where they can be restored from, and dumps write copies of databases.
var (
	wipers  = []string{"clear-disk", "format-volume", "diskutil"}
	volumes = []string{"lvremove", "vgremove", "pvremove", "zfs", "zpool"}
	trashes = []string{"trash", "trash-put", "gio", "gvfs-trash", "kioclient", "kioclient5", "rmtrash"}
	dumps   = []string{"pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump", "mongodump", "influxd", "etcdctl", "cqlsh"}
)

// A baseline is the loss that certain words in an effect's target or What mean.
type baseline struct {
	words []string
	loss  loss
}

// lossesText has the baselines by kind of effect.
//
//go:embed losses.txt
var lossesText string

var baselines = func() map[string][]baseline {
	all := map[string][]baseline{}
	for heading, words := range wordset.Table(lossesText) {
		kind, rest, _ := strings.Cut(heading, " ")
		score, why, _ := strings.Cut(rest, " ")
		points, _ := strconv.Atoi(score)
		all[kind] = append(all[kind], baseline{strings.Fields(words), loss{points, why}})
	}
	return all
}()

var discards, remotes, published = baselines["discard"], baselines["remote-delete"], baselines["publish"]

// thingOf is the baseline of a thing that is deleted with all that is in it, if it is known: What of the effect
// says so, or its program, or its target, as database app and delete-stack.
func thingOf(e *effect.Effect) (loss, bool) {
	kind, _, _ := strings.Cut(e.Target, " ")
	kind = strings.TrimSuffix(strings.TrimPrefix(kind, "delete-"), "s")
	for _, b := range baselines["thing"] {
		if slices.Contains(b.words, e.What) || slices.Contains(b.words, e.By) ||
			kind != "repository" && slices.Contains(b.words, kind) {
			return b.loss, true
		}
	}
	return loss{}, false
}

// baselineOf looks up the baseline of an effect by the words of its target and What.
func baselineOf(e *effect.Effect, table []baseline, otherwise loss) loss {
	target, what := strings.ToLower(e.Target), strings.ToLower(e.What)
	for _, b := range table {
		for _, word := range b.words {
			if strings.Contains(target, word) || strings.Contains(what, word) {
				return b.loss
			}
		}
	}
	return otherwise
}

// withImpact applies the modifiers of impact.
func (l loss) withImpact(e *effect.Effect, p places.Place) loss {
	if l.score <= recreatable {
		return l
	}
	for _, m := range []struct {
		is     bool
		points int
		why    string
	}{
		{e.Bits&effect.Recursive != 0, 10, lossBelow},
		{e.Bits&effect.Bulk != 0, 15, lossKind},
		{e.Bits&effect.Glob != 0, 5, lossPattern},
		{e.Bits&effect.Force != 0 && e.Kind != effect.Delete, 5, lossForce}, // rm -f: no question
		{p&places.Whole != 0 && p&places.Project == 0, 10, lossMore},
		{isDestruction(e.Kind) && e.Bits&effect.Splits != 0, 5, lossAny},
	} {
		if m.is {
			l.add(m.points, m.why)
		}
	}
	return l
}

// withRecovery applies the modifiers of recovery.
func (l loss) withRecovery(e *effect.Effect, before []effect.Effect) loss {
	if e.Bits&effect.Later != 0 {
		l.score /= 2
		l.why += ", " + lossLater
	}
	if e.Kind == effect.Delete && slices.Contains(trashes, e.Program()) {
		l.add(-20, lossTrashed)
	}
	if isSaved(e, before) {
		l.add(-25, lossCopied)
	}
	return l
}

// isSaved reports whether the same command first copies what it then destroys. The read and the
// write of the copy must be by the same program.
func isSaved(e *effect.Effect, before []effect.Effect) bool {
	before = before[:min(len(before), maxBefore)]
	for i := range before {
		r := &before[i]
		if r.Kind == effect.Write && e.Kind == effect.RemoteDelete && slices.Contains(dumps, r.Program()) &&
			r.Target != "/dev/null" {
			return true
		}
		if r.Kind != effect.Read || r.Target == "" || !effect.IsKnown(r.Target) || !disk.Below(e.Target, r.Target) {
			continue
		}
		for j := range before {
			if w := &before[j]; w.Kind == effect.Write && w.By == r.By && effect.IsKnown(w.Target) &&
				!disk.Below(w.Target, strings.TrimRight(e.Target, "/*")) && w.Target != "/dev/null" {
				return true
			}
		}
	}
	return false
}

// saidLosses are the losses that have no row in losses.txt.
const saidLosses = `
deletes a branch, whose commits git reflog still finds
deletes a container or an image
deletes a credential
deletes something on a server
deletes a volume
deletes all temporary files, of others too
deletes files
deletes files on another machine or in a container
deletes files of a repository
deletes files of the project that git may not have
deletes files of the system
deletes files outside the project
deletes tasks that run at set times
deletes the whole working directory
deletes what can be made again
deletes what is for tests, or can be filled again
deletes what is made again
deletes what is not known yet
deletes what the call puts there anew
deletes what the container's image has
deletes what the machine or a home needs
changes what others see or use
overwrites a disk
rewrites a branch on which others do not build
stops something that runs
stops the machine
throws something away
wipes a disk
`

// lossTexts returns what is said of losses.
func lossTexts() (out []string) {
	out = strings.Split(strings.TrimSpace(saidLosses), "\n")
	for _, table := range baselines {
		for _, b := range table {
			out = append(out, b.loss.why)
		}
	}
	return out
}
