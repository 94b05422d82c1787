package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"approver.example"
	"approver.example/internal/strictyaml"
	"approver.example/reflexcore"
	"approver.example/shieldcore"
)

// A RuleSource is a layer of rules, as the text of its file.
type RuleSource struct {
	Layer reflexcore.Layer `json:"layer"`
	File  string           `json:"file"`
	Text  []byte           `json:"text"`
}

// A Library is the rules of the reflex engine: the built-in ones, with the hub's and the
// user's layers over them. It is immutable and safe to share.
type Library struct {
	// Disabled are the rules that a layer has taken away.
	Disabled []reflexcore.Rule

	compiled *reflexcore.Rules
	sources  []RuleSource
	steps    map[string][]Step
	warnings []strictyaml.Problem
}

// A Step is what a layer does to a rule.
type Step struct {
	Layer reflexcore.Layer  `json:"layer"`
	Does  string            `json:"does"` // adds, replaces, disables, shadows, allows
	Where approver.Position `json:"where,omitzero"`
}

// MaxAllowed is how far in the future an exception may expire.
const MaxAllowed = 366 * 24 * time.Hour

// soon is how long before its end an exception causes a warning.
const soon = 14 * 24 * time.Hour

// userRules is the name of the user's layer in the data folder.
const userRules = "rules.yaml"

// UserRules returns the file of the user's layer; empty without a data folder. The file need
// not exist unless it is configured.
func (c Config) UserRules() string {
	if c.Reflex.Rules.User != "" || c.Dir == "" {
		return c.Reflex.Rules.User
	}
	return filepath.Join(c.Dir, userRules)
}

// RuleSources reads the configured layers. Their files must have the same owner and mode as
// the configuration.
func (c Config) RuleSources() (out []RuleSource, err error) {
	for _, l := range []struct {
		layer   reflexcore.Layer
		file    string
		must    bool
		setting string
	}{
		{reflexcore.HubLayer, c.Reflex.Rules.Hub, true, "reflex.rules.hub"},
		{reflexcore.UserLayer, c.UserRules(), c.Reflex.Rules.User != "", "reflex.rules.user"},
	} {
		if l.file == "" {
			continue
		}
		if _, err := os.Lstat(l.file); !l.must && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		data, _, err := readUpTo(string(l.layer)+" rules", l.file, "correct the setting "+l.setting+", or leave it out",
			strictyaml.MaxLibraryBytes)
		if err != nil {
			return nil, err
		}
		out = append(out, RuleSource{l.layer, l.file, data})
	}
	return out, nil
}

// LoadLibrary reads the configured rules, as they apply at the time now. The error holds every
// problem of each layer.
func (c Config) LoadLibrary(now time.Time) (*Library, error) {
	sources, err := c.RuleSources()
	if err != nil {
		return nil, err
	}
	return NewLibrary(sources, now)
}

// NewLibrary puts layers over the built-in rules, the lowest first.
func NewLibrary(sources []RuleSource, now time.Time) (*Library, error) {
	return newLibrary(sources, &layering{now: now})
}

// StoredLibrary is [NewLibrary] for layers that were in force before. An entry that refers to
// a built-in rule that this program no longer has does nothing, which is never looser.
func StoredLibrary(sources []RuleSource) (*Library, error) {
	return newLibrary(sources, &layering{stored: true})
}

// builtInLibrary returns the rules without any layer. They are compiled once: a start without layers
// compares those of the files with those in force, and both are these.
var builtInLibrary = sync.OnceValues(func() (*Library, error) { return compileLibrary(nil, &layering{}) })

func newLibrary(sources []RuleSource, l *layering) (*Library, error) {
	if len(sources) == 0 {
		return builtInLibrary()
	}
	return compileLibrary(sources, l)
}

func compileLibrary(sources []RuleSource, l *layering) (*Library, error) {
	builtIn, err := DefaultRules()
	if err != nil {
		return nil, err
	}
	heuristics, err := heuristicRules()
	if err != nil {
		return nil, err
	}
	l.steps, l.at = map[string][]Step{}, map[string]int{}
	for _, r := range slices.Concat(builtIn, heuristics) {
		l.add(r, reflexcore.BuiltInLayer)
	}
	var errs []error
	for _, s := range sources {
		errs = append(errs, l.over(s))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	l.takeAway()
	compiled, err := reflexcore.Compile(l.list, l.disabled...)
	if err != nil {
		return nil, err
	}
	return &Library{Disabled: l.disabled, compiled: compiled, sources: sources, steps: l.steps, warnings: l.warnings}, nil
}

// Rules returns the rules in force.
func (l *Library) Rules() *reflexcore.Rules { return l.compiled }

// Steps returns what layers did to a rule, the lowest first.
func (l *Library) Steps(id string) []Step { return l.steps[id] }

// Twins returns what says the same as a rule of the same call: heuristics, or the rules that a
// heuristic names.
func (l *Library) Twins(r *reflexcore.Rule) []string {
	if r.Heuristic {
		return r.Twins
	}
	if r.Layer != reflexcore.BuiltInLayer {
		return nil
	}
	var out []string
	for _, list := range [][]reflexcore.Rule{l.compiled.List(), l.Disabled} {
		for i := range list {
			if h := &list[i]; h.Heuristic && slices.Contains(h.Twins, r.ID) {
				out = append(out, h.ID)
			}
		}
	}
	return out
}

// Warnings returns what is odd in the layers but not wrong.
func (l *Library) Warnings() []strictyaml.Problem { return l.warnings }

// Source returns the layers as they stand in their files, for [StoredLibrary].
func (l *Library) Source() []RuleSource { return l.sources }

// Version identifies the layers by their content; it is empty if there are none. The built-in
// rules are part of the program and not counted.
func (l *Library) Version() string { return RulesVersion(l.sources) }

// RulesVersion is [Library.Version] of these layers.
func RulesVersion(sources []RuleSource) string {
	if len(sources) == 0 {
		return ""
	}
	text, err := json.Marshal(sources)
	if err != nil {
		return "unknown" // bytes and strings always marshal
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// CompareLibraries returns what changes from old to next, as [shieldcore.Compare] does.
func CompareLibraries(old, next *Library) shieldcore.Change {
	return shieldcore.Change{Diff: diffSources(old.sources, next.sources),
		Why: reflexcore.Loosens(old.compiled.List(), next.compiled.List())}
}

// diffSources is the exact diff of all layers.
func diffSources(old, next []RuleSource) string {
	text := func(list []RuleSource, layer reflexcore.Layer) []byte {
		for _, s := range list {
			if s.Layer == layer {
				return s.Text
			}
		}
		return nil
	}
	var out strings.Builder
	for _, layer := range []reflexcore.Layer{reflexcore.HubLayer, reflexcore.UserLayer} {
		a, b := text(old, layer), text(next, layer)
		if string(a) != string(b) {
			out.Write(diff.Diff(string(layer)+" rules in force", a, string(layer)+" rules proposed", b))
		}
	}
	return out.String()
}

// A layering applies layers, one after the other, to a list of rules.
type layering struct {
	now      time.Time
	stored   bool // an entry that does not fit does nothing
	list     []reflexcore.Rule
	at       map[string]int // of list, by id; less those that are disabled
	disabled []reflexcore.Rule
	steps    map[string][]Step
	warnings []strictyaml.Problem
	hints    int // given so far
}

func (l *layering) step(id string, layer reflexcore.Layer, does string, where approver.Position) {
	l.steps[id] = append(l.steps[id], Step{layer, does, where})
}

// add adds a rule that no other has the id of.
func (l *layering) add(r reflexcore.Rule, layer reflexcore.Layer) {
	if _, known := l.at[r.ID]; !known {
		l.at[r.ID] = len(l.list)
	}
	l.list = append(l.list, r)
	l.step(r.ID, layer, "adds", r.Where)
}

// takeAway takes the disabled rules from the list.
func (l *layering) takeAway() {
	i := -1
	l.list = slices.DeleteFunc(l.list, func(r reflexcore.Rule) bool {
		i++
		at, in := l.at[r.ID]
		return !in || at != i
	})
}

// over applies a layer.
func (l *layering) over(s RuleSource) error {
	f, file, err := parseRules(s.File, s.Text)
	if err != nil {
		return err
	}
	noSources(f, file)
	l.rules(f, file, s.Layer)
	l.disable(f, file, s.Layer)
	for i, id := range file.Shadow {
		at := fmt.Sprintf("shadow[%d]", i)
		if r := l.find(f, at, id); r != nil {
			r.Shadow = true
			l.step(id, s.Layer, "shadows", f.Position(at))
		}
	}
	for i, a := range file.Allow {
		l.allow(f, fmt.Sprintf("allow[%d]", i), a, s.Layer)
	}
	l.warnings = append(l.warnings, f.Warnings()...)
	return f.Err()
}

// rules applies the layer's own rules, which add to the list or replace.
func (l *layering) rules(f *strictyaml.File, file *rulesFile, layer reflexcore.Layer) {
	for i, r := range readRules(f, file, layer) {
		at := fmt.Sprintf("rules[%d]", i)
		have := l.index(r.ID)
		replace := file.Rules[i].Replace
		switch {
		case replace && have >= 0:
			l.list[have] = r
			l.step(r.ID, layer, "replaces", r.Where)
		case l.stored && (replace || have >= 0) || r.ID == "":
		case replace:
			f.Report(at+".id", fmt.Sprintf("there is no rule %q to replace%s", r.ID, l.meant(r.ID)))
		case have >= 0:
			f.Report(at+".id", fmt.Sprintf("the id %s is taken by the rule at %s: choose another, or write replace: true", r.ID,
				l.list[have].Where))
		default:
			l.add(r, layer)
		}
		if past(r.Expires, l.now) {
			f.Warn(at+".expires", fmt.Sprintf("the rule %s has ended: take it away", r.ID))
		}
	}
}

func (l *layering) disable(f *strictyaml.File, file *rulesFile, layer reflexcore.Layer) {
	var gone []int
	for i, id := range file.Disable {
		at := fmt.Sprintf("disable[%d]", i)
		if l.find(f, at, id) == nil {
			continue
		}
		l.disabled = append(l.disabled, l.list[l.at[id]])
		delete(l.at, id)
		l.step(id, layer, "disables", f.Position(at))
		gone = append(gone, i)
	}
	for _, i := range gone {
		l.warnOfTwins(f, fmt.Sprintf("disable[%d]", i), file.Disable[i])
	}
}

// warnOfTwins says which heuristics still ask for what a disabled rule found, and no rule does.
func (l *layering) warnOfTwins(f *strictyaml.File, at, id string) {
	for i := range l.list {
		h := &l.list[i]
		_, counts := l.at[h.ID]
		if h.Heuristic && counts && !h.Shadow && h.Decision <= approver.Ask && slices.Contains(h.Twins, id) &&
			!slices.ContainsFunc(h.Twins, func(twin string) bool { return l.index(twin) >= 0 }) {
			f.Warn(at, fmt.Sprintf("the heuristic %s still finds what the rule %s found: disable it, too, if that is meant",
				h.ID, id))
		}
	}
}

func (l *layering) index(id string) int {
	if i, ok := l.at[id]; ok {
		return i
	}
	return -1
}

// find returns the rule that a layer names, or reports that there is none.
func (l *layering) find(f *strictyaml.File, at, id string) *reflexcore.Rule {
	if i := l.index(id); i >= 0 {
		return &l.list[i]
	}
	gone := slices.ContainsFunc(l.disabled, func(r reflexcore.Rule) bool { return r.ID == id })
	switch {
	case l.stored:
	case gone:
		f.Warn(at, fmt.Sprintf("this does nothing: the rule %s is disabled at %s", id, l.steps[id][len(l.steps[id])-1].Where))
	default:
		f.Report(at, fmt.Sprintf("there is no rule %q%s", id, l.meant(id)))
	}
	return nil
}

// mostMeant is how many unknown ids get a hint: comparing one with all takes a while.
const mostMeant = 20

// meant is the hint for an unknown id.
func (l *layering) meant(id string) string {
	if l.hints++; l.hints > mostMeant {
		return ""
	}
	var ids []string
	for id := range l.at {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if near := strictyaml.Nearest(id, ids); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ": approver rules list has them all"
}
