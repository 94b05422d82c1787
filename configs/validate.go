package configs

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/facts"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/httpapi/socketpath"
	"approver.example/internal/lazyregexp"
	"approver.example/internal/strictyaml"
	"approver.example/shieldcore"
	"approver.example/tokens"
)

// problem is one thing that is wrong with the setting at path.
type problem struct{ path, text string }

// Validate returns everything that is wrong with c, joined, or nil. It reads no file but
// the time zones that it names.
func (c Config) Validate() error {
	var errs []error
	for _, p := range c.problems() {
		errs = append(errs, fmt.Errorf("%s: %s", p.path, p.text))
	}
	return errors.Join(errs...)
}

// problems is Validate with the path of each problem.
func (c Config) problems() []problem {
	return slices.Concat(c.ownProblems(), c.webhookProblems(), c.peopleProblems(), c.pageProblems(), c.ladderProblems(),
		c.sectionProblems())
}

// peopleProblems finds approvers that a removal could not name: their ids are too long, or a
// person has too many accounts.
func (c Config) peopleProblems() (out []problem) {
	bad := func(id approver.Identity, format string, args ...any) {
		path := "channels." + id.Channel
		out = append(out, problem{path, path + ": " + fmt.Sprintf(format, args...)})
	}
	accounts := map[string]int{}
	for id, who := range c.People() {
		if len(who.ID) > broadcaster.MaxName || len(id.Channel)+len(id.ID) > broadcaster.MaxName {
			bad(id, "an approver's id or person has more than %d bytes, so approver people remove could not name them",
				broadcaster.MaxName)
		}
		if accounts[who.ID]++; accounts[who.ID] == broadcaster.MaxAccounts+1 {
			bad(id, "the person %.40q has more than %d accounts: write one person for each human being", who.ID,
				broadcaster.MaxAccounts)
		}
	}
	return out
}

// ownProblems checks the settings that belong to no section.
func (c Config) ownProblems() []problem {
	var out []problem
	bad := func(is bool, path, format string, args ...any) {
		if is {
			out = append(out, problem{path, fmt.Sprintf(format, args...)})
		}
	}
	bad(c.TTL < shieldcore.MinTTL || c.TTL > shieldcore.MaxTTL, "ttl", "ttl must be %s to %s", short(shieldcore.MinTTL),
		short(shieldcore.MaxTTL))
	for name, wait := range map[string]time.Duration{"high": c.Wait.High, "catastrophic": c.Wait.Catastrophic} {
		bad(wait != 0 && (wait < minWait || wait > shieldcore.MaxTTL), "wait."+name,
			"wait.%s must be %s to %s; leave it out for ttl", name, short(minWait), short(shieldcore.MaxTTL))
	}
	bad(c.CodeLength < tokens.MinLength || c.CodeLength > tokens.MaxLength, "code_length",
		"code_length must be %d to %d: a shorter code could be guessed", tokens.MinLength, tokens.MaxLength)
	bad(c.FailMode != FailClosed && c.FailMode != FailOpen, "fail_mode",
		"fail_mode must be %s, which blocks whatever cannot be judged, or %s", FailClosed, FailOpen)

	for _, name := range agents.Names() {
		path, park := "agents."+name+".park_after", c.Agents[name].ParkAfter
		bad(park != 0 && (park < shieldcore.MinTTL || park > shieldcore.MaxTTL), path,
			"%s must be %s to %s; leave it out to let the hook wait for people",
			path, short(shieldcore.MinTTL), short(shieldcore.MaxTTL))
		bad((c.Agents[name].Prompts != "" || c.Agents[name].AwayAfter != 0) && len(facts.Of(name).Alone) == 0,
			"agents."+name, "agents.%s: this agent does not say what it asks its own user: leave out prompts and away_after",
			name)
		problem := c.Agents[name].awayProblem()
		bad(problem != "", "agents."+name+".away_after", "agents.%s.away_after %s", name, problem)
	}

	if preset, is := strings.CutPrefix(c.Policy, PresetPrefix); is {
		_, ok := Preset(preset)
		bad(!ok, "policy", "unknown preset %q: one of %s", preset, strings.Join(Presets(), ", "))
	}
	for path, socket := range map[string]string{"sockets.submit": c.Sockets.Submit, "sockets.resolve": c.Sockets.Resolve} {
		err := socketpath.Check(socket)
		bad(err != nil, path, "%v", err)
	}
	bad(c.Sockets.Submit == c.Sockets.Resolve, "sockets.resolve",
		"sockets.resolve is the same as sockets.submit: agents and people need different sockets")

	for path, uids := range map[string][]uint32{"sockets.submit_uids": c.Sockets.SubmitUIDs,
		"sockets.resolve_uids": c.Sockets.ResolveUIDs} {
		bad(slices.Contains(uids, math.MaxUint32), path, "%s: %d means nobody to the kernel: see `id -u NAME`", path,
			uint32(math.MaxUint32))
	}
	for i, uid := range c.Sockets.ResolveUIDs {
		bad(slices.Contains(c.Sockets.SubmitUIDs, uid), fmt.Sprintf("sockets.resolve_uids[%d]", i),
			"sockets.resolve_uids: uid %d may submit too: whoever asks must not answer", uid)
	}

	a := c.Audit
	bad(len(a.ID) > 128 || strings.ContainsFunc(a.ID, func(r rune) bool { return !idChar(r) }), "audit.id",
		"audit.id must be at most 128 letters, digits, dots, dashes and underscores")
	bad(a.MaxSize < 1<<20, "audit.max_size", "audit.max_size must be at least 1048576 bytes (1 MiB)")
	bad(a.CheckpointEvery < 1 || a.CheckpointEvery > audit.MaxCheckpointEvery, "audit.checkpoint_every",
		"audit.checkpoint_every must be 1 to %d", audit.MaxCheckpointEvery)
	bad(a.CheckpointAfter < 100*time.Millisecond || a.CheckpointAfter > time.Hour, "audit.checkpoint_after",
		"audit.checkpoint_after must be 100ms to 1h")
	bad(a.Sync != SyncBeforeAnswer && a.Sync != SyncGroup, "audit.sync", "audit.sync %q: one of %s, %s", a.Sync,
		SyncBeforeAnswer, SyncGroup)
	bad(a.Keep.Age != 0 && a.Keep.Age < 24*time.Hour, "audit.keep.age",
		"audit.keep.age must be 0, which keeps everything, or at least 24h")
	bad(a.Keep.Size != 0 && a.Keep.Size < 2*a.MaxSize, "audit.keep.size",
		"audit.keep.size must be 0, which is no limit, or at least twice audit.max_size")
	bad(c.Store.KeepFor < approver.MinKeepFor || c.Store.KeepFor > 90*24*time.Hour, "store.keep_for",
		"store.keep_for must be %s to 2160h", short(approver.MinKeepFor))
	var stores []string
	for key := range sections[storeSection](&c.Store) {
		stores = append(stores, key)
	}
	bad(len(stores) > 1, "store", "store has both %s: keep one", strings.Join(stores, " and "))
	return out
}

// short formats a duration without its zero parts.
func short(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

// sectionProblems validates each section.
func (c Config) sectionProblems() []problem {
	var out []problem
	add := func(path string, config reflect.Type, err error) {
		keys := strictyaml.Keys(config)
		for _, err := range flatten([]error{err}) {
			out = append(out, locate(path, keys, err))
		}
	}
	add("reflex", reflect.TypeOf(c.Reflex), c.Reflex.Validate())
	add("asks_per_minute", reflect.TypeOf(c.AsksPerMinute), c.AsksPerMinute.Validate())
	add("shield.classifier", reflect.TypeOf(c.Shield.Classifier), c.Shield.Classifier.Validate())
	add("shield.quota", reflect.TypeOf(c.Shield.Quota), c.Shield.Quota.Validate())
	if m := c.Shield.Sidecar; m != nil {
		add("shield.sidecar", reflect.TypeOf(*m), m.Validate())
	}
	if e := c.Shield.Evaluator; e != nil {
		add("shield.evaluator", reflect.TypeOf(*e), e.Validate())
	}
	for key, s := range sections[storeSection](&c.Store) {
		add("store."+key, reflect.TypeOf(s).Elem(), s.Validate())
	}
	for _, ch := range c.Channels.InUse() {
		add("channels."+ch.Name, reflect.TypeOf(ch.ChannelSection).Elem(), ch.Validate())
	}
	return out
}

// flatten splits joined errors.
func flatten(errs []error) []error {
	var out []error
	for _, err := range errs {
		var joined interface{ Unwrap() []error }
		switch {
		case err == nil:
		case errors.As(err, &joined):
			out = append(out, flatten(joined.Unwrap())...)
		default:
			out = append(out, err)
		}
	}
	return out
}

var settingName = lazyregexp.New(`[a-z][a-z_]*(?:\[\d+\])?(?:\.[a-z][a-z_]*(?:\[\d+\])?)*`)

// locate finds the setting that an error of a section is about: the first word
// of its text that is one of the section's keys.
func locate(section string, keys []string, err error) problem {
	name := section[strings.LastIndexByte(section, '.')+1:]
	text := strings.TrimPrefix(err.Error(), name+": ")
	p := problem{path: section, text: name + ": " + text}
	for _, word := range settingName().FindAllString(text, -1) {
		if isKey(keys, word) {
			p.path = strictyaml.Join(section, word)
			break
		}
	}
	return p
}

var index = lazyregexp.New(`\[\d+\]`)

// isKey reports whether word is a key, or the name of a group or list of keys.
func isKey(keys []string, word string) bool {
	form := index().ReplaceAllString(word, "[]")
	for _, key := range keys {
		rest, ok := strings.CutPrefix(key, form)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') || form == key+"[]" {
			return true
		}
	}
	return false
}
