package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"approver.example"
	"approver.example/agents"
)

// maxOutcomes is how many calls are remembered until they run.
const maxOutcomes = 16384

// Outcomes remembers the newest calls, between half of maxOutcomes and all of
// it. When the young half is full, it becomes the old one, and what was old is
// forgotten. The zero value remembers nothing yet.
//
// A call that the rules alone would not let go again, because people or a model
// answered, is stored too: the report of the call may come after a restart, or
// to another daemon. Calls that the stages let go are not stored.
type Outcomes struct {
	Store approver.KV // nil keeps nothing
	// Released says whether the request of a call, by the courier's id, was released to it. If it is nil,
	// what an agent is told is stored once it is known.
	// request is the one that just said yes to it, if that is known.
	Released func(ctx context.Context, call, request string) (bool, error)

	mu         sync.Mutex
	young, old map[useKey]use
	prompts    map[useKey]promptYes // approvals by people, see yes
	swept      time.Time            // when those were last forgotten that are over
	twins      map[useKey][]twinYes // the same approvals, for another hook of the call
}

// A useKey is a hash of an agent's id of a call, because the agent chooses the id's length.
// Users do not share ids.
type useKey [sha256.Size]byte

func keyOf(ev agents.Event, peer approver.Peer) useKey {
	b := appendPeer(strconv.AppendQuote(make([]byte, 0, 128), ev.Agent), peer)
	return sha256.Sum256(append(append(b, ' '), ev.UseID...))
}

// appendPeer appends a blank and who made a call, as the kernel says.
func appendPeer(b []byte, peer approver.Peer) []byte {
	b = strconv.AppendBool(append(b, ' '), peer.Known)
	return strconv.AppendUint(append(b, ' '), uint64(peer.UID), 10)
}

// note remembers an outcome. A prompt without an id is not remembered.
func (o *Outcomes) note(ev agents.Event, peer approver.Peer, now use) {
	if ev.UseID == "" {
		return
	}
	key := keyOf(ev, peer)
	o.mu.Lock()
	defer o.mu.Unlock()
	now = now.after(ev, o.both(key))
	o.put(key, now)
}

// put remembers a use in the young half. The caller holds mu.
func (o *Outcomes) put(key useKey, u use) {
	if _, ok := o.young[key]; !ok && len(o.young) >= maxOutcomes/2 {
		o.young, o.old = nil, o.young
	}
	if o.young == nil {
		o.young = map[useKey]use{}
	}
	o.young[key] = u
	delete(o.old, key)
}

// both returns what is remembered in both halves.
func (o *Outcomes) both(key useKey) use {
	if u, ok := o.young[key]; ok {
		return u
	}
	return o.old[key]
}

// take returns what the agent was told about a call, and forgets it, because a call runs once.
// report is the courier's id of the report that the call ran. An error is one of the store;
// the value is then what is known without the store, or zero.
func (o *Outcomes) take(ctx context.Context, ev agents.Event, peer approver.Peer, report string) (use, error) {
	key := keyOf(ev, peer)
	o.mu.Lock()
	was, left := o.both(key).ran(ev)
	delete(o.young, key)
	delete(o.old, key)
	if len(left.permits) > 0 {
		o.put(key, left)
	}
	o.mu.Unlock()
	if o.Store == nil || was.outcome > unanswered && !was.lasting {
		return was, nil
	}
	stored, err := o.takeStored(ctx, ev, key, report)
	switch {
	case was.outcome == 0:
		return stored, err
	case was.outcome == unanswered && stored.outcome != 0: // the courier came back to another daemon
		return stored, err
	}
	return was, err
}

// over returns what the agent was told about a call whose turn is over, and does not forget it: its
// report may still come. But the agent asks no more about it.
func (o *Outcomes) over(ctx context.Context, ev agents.Event, peer approver.Peer) (use, error) {
	key := keyOf(ev, peer)
	o.mu.Lock()
	was := o.both(key)
	if was.about != (useKey{}) {
		left := was
		left.about = useKey{}
		o.put(key, left)
	}
	o.mu.Unlock()
	if o.Store == nil || was.outcome > unanswered {
		return was, nil
	}
	ctx, cancel := context.WithTimeout(ctx, usePatience)
	defer cancel()
	stored, _, err := o.load(ctx, key)
	return stored, err
}

// A storedUse is a use in the store.
type storedUse struct {
	Outcome  outcome  `json:"outcome"`
	Content  string   `json:"content,omitempty"`
	Report   string   `json:"report,omitempty"`
	Asked    string   `json:"asked,omitempty"`
	MayRun   []permit `json:"may_run,omitempty"`
	DeniedIn []string `json:"denied_in,omitempty"`
	// If is the courier's id of a call that is permitted once its request is released: see expectation.
	// Until then nothing is known of it, and Outcome is zero.
	If string `json:"if,omitempty"`
}

// UseKeep is how long a use is stored, which is longer than a call runs. usePatience is how
// long a report waits for a store that does not answer.
const (
	UseKeep     = 25 * time.Hour
	usePatience = 3 * time.Second
)

func storeKey(key useKey) string { return approver.Key("use", hex.EncodeToString(key[:])) }

// keep merges a use into the store.
func (o *Outcomes) keep(ctx context.Context, ev agents.Event, peer approver.Peer, now use) error {
	if o.Store == nil || ev.UseID == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, usePatience)
	defer cancel()
	key := keyOf(ev, peer)
	for {
		old, rev, err := o.load(ctx, key)
		if err != nil {
			return err
		}
		err = o.save(ctx, key, now.after(ev, old), rev, "")
		if !errors.Is(err, approver.ErrConflict) {
			return err
		}
	}
}

// takeStored takes a use from the store. If two daemons try, one gets it. Its content and the
// id of its report stay in the store, so that a report that is sent again, because its answer
// was lost, is recognized.
func (o *Outcomes) takeStored(ctx context.Context, ev agents.Event, key useKey, report string) (use, error) {
	ctx, cancel := context.WithTimeout(ctx, usePatience)
	defer cancel()
	for {
		stored, rev, err := o.load(ctx, key)
		if err != nil || stored.outcome == 0 || stored.outcome == taken {
			return stored, err
		}
		was, left := stored.ran(ev)
		if len(left.permits) == 0 {
			left = use{outcome: taken, content: was.content, report: report}
		}
		err = o.save(ctx, key, left, rev, "")
		if !errors.Is(err, approver.ErrConflict) {
			return was, err // after an error the record stays, and a second report goes unnoticed
		}
	}
}

// read reads what is stored of a use. The revision is empty if nothing is.
func (o *Outcomes) read(ctx context.Context, key useKey) (s storedUse, rev approver.Rev, err error) {
	value, rev, err := o.Store.Get(ctx, storeKey(key))
	if errors.Is(err, approver.ErrNotFound) {
		return s, "", nil
	} else if err != nil {
		return s, "", err
	}
	return s, rev, json.Unmarshal(value, &s)
}

func (o *Outcomes) load(ctx context.Context, key useKey) (u use, rev approver.Rev, err error) {
	s, rev, err := o.read(ctx, key)
	if rev == "" || err != nil {
		return use{}, "", err
	}
	content, err := hex.DecodeString(s.Content)
	if err != nil || len(content) != len(u.content) || s.Outcome > taken {
		return use{}, "", errors.New("the record of what an agent was told is not readable")
	}
	u = use{outcome: s.Outcome, content: agents.Content(content), lasting: true, report: s.Report, asked: s.Asked,
		permits: s.MayRun, deniedIn: s.DeniedIn}
	if s.If != "" {
		u, err = o.came(ctx, u, s.If)
	}
	return u, rev, err
}

// save stores a use. With a call's id it counts only if that call was released: see expectation.
func (o *Outcomes) save(ctx context.Context, key useKey, u use, rev approver.Rev, released string) error {
	s := storedUse{Outcome: u.outcome, Content: hex.EncodeToString(u.content[:]), Report: u.report,
		Asked: u.asked, MayRun: u.permits, DeniedIn: u.deniedIn, If: released}
	if released != "" {
		s.Outcome = 0
	}
	value, err := json.Marshal(s)
	if err != nil {
		return err
	}
	now, err := o.Store.Now(ctx)
	if err != nil {
		return err
	}
	return o.Store.Put(ctx, storeKey(key), value, rev, approver.NewRev(), time.Time{}, now.Add(UseKeep))
}

// promptWait is how long after an approval the agent may ask its own user about the same call.
const promptWait = time.Minute

// A promptYes is an approval that makes a prompt about the same call unnecessary.
type promptYes struct {
	at    time.Time
	to    approver.Yes
	rules string // the version of the rules
	call  string // the courier's id of the call
}

// promptKey identifies a content in one session, sub-agent, directory and environment. It is zero for a
// content that is not known: two of these need not be the same.
func promptKey(ev agents.Event, call approver.ToolCall, c agents.Content) useKey {
	if c == (agents.Content{}) {
		return useKey{}
	}
	by := ev.Subagent
	if by == call.Session { // not every event of such an agent says it
		by = ""
	}
	b := make([]byte, 0, 1024)
	part := func(text string) {
		b = append(strconv.AppendInt(b, int64(len(text)), 10), ':')
		b = append(b, text...)
	}
	for _, text := range []string{"prompt", ev.Agent, call.Session, by, call.Dir} {
		part(text)
	}
	b = append(append(appendPeer(b, call.Peer), ' '), c[:]...)
	for _, name := range slices.Sorted(maps.Keys(call.Env)) {
		part(name)
		part(call.Env[name])
	}
	return sha256.Sum256(b)
}

// asks returns the key of the agent's questions about a call that ran. A call may change the folder that
// the agent works in, so the report says another one than the question did.
func (u use) asks(ev agents.Event, call approver.ToolCall) useKey {
	if u.about != (useKey{}) && u.content == ev.Content {
		return u.about
	}
	return promptKey(ev, call, ev.Asks())
}

// yes notes that people approved a call. Those that are over take up memory for nothing, so that they are
// forgotten from time to time.
func (o *Outcomes) yes(about useKey, y promptYes) {
	if about == (useKey{}) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if y.at.Sub(o.swept) >= promptWait {
		maps.DeleteFunc(o.prompts, func(_ useKey, old promptYes) bool { return y.at.Sub(old.at) >= promptWait })
		o.swept = y.at
	}
	if o.prompts == nil || len(o.prompts) >= maxOutcomes {
		o.prompts = map[useKey]promptYes{}
	}
	o.prompts[about] = y
}

// askedAbout notes that people approved a question about a call, whose id the question does not have.
// id is the courier's id of the question. Of two calls that are the same, nobody can say which one it is
// about, so nothing is noted.
func (o *Outcomes) askedAbout(about useKey, id string) {
	if about == (useKey{}) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var calls []useKey
	for _, half := range []map[useKey]use{o.young, o.old} {
		for key, u := range half {
			if u.outcome == permitted && u.about == about {
				calls = append(calls, key)
			}
		}
	}
	if len(calls) == 1 {
		u := o.both(calls[0])
		u.asked = id
		if last := len(u.permits) - 1; last >= 0 {
			u.permits = slices.Clone(u.permits)
			u.permits[last].Asked = id
		}
		o.put(calls[0], u)
	}
}

// said returns the approval that people gave to this very call less than promptWait ago.
func (o *Outcomes) said(ev agents.Event, call approver.ToolCall) (y promptYes, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := promptKey(ev, call, ev.Asks())
	y, ok = o.prompts[key]
	return y, ok && key != (useKey{}) && call.At.Sub(y.at) < promptWait
}

// spent takes away the approval of a call that ran, or whose turn is over: another call that is the same
// needs its own.
func (o *Outcomes) spent(about useKey, asked string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if asked != "" && o.prompts[about].call == asked {
		delete(o.prompts, about)
	}
}

// A twinYes is an approval for the other hooks of the call. event is that of the hook that asked.
type twinYes struct {
	event string
	promptYes
}

// twinWait is how long an approval is kept for another hook of the call. The agent runs it after the
// hook that asked, and after those of the other calls of the turn.
const twinWait = time.Hour

func twinKey(ev agents.Event, call approver.ToolCall) useKey {
	key := promptKey(ev, call, ev.Content)
	return sha256.Sum256(fmt.Appendf(nil, "twin %x %q", key, ev.Moment))
}

// twinYes notes an approval for the other hooks of the call.
func (o *Outcomes) twinYes(ev agents.Event, call approver.ToolCall, y promptYes) {
	if ev.Kind != agents.Decide || ev.Moment == "" || ev.Content == (agents.Content{}) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.twins == nil || len(o.twins) >= maxOutcomes {
		o.twins = map[useKey][]twinYes{}
	}
	key := twinKey(ev, call)
	o.twins[key] = append(o.twins[key], twinYes{ev.Name, y})
}

// twin takes an approval that people gave to this very call at another hook of it. Each serves once, so
// that of two calls that are the same, each needs its own.
func (o *Outcomes) twin(ev agents.Event, call approver.ToolCall) (y promptYes, ok bool) {
	if ev.Kind != agents.Decide || ev.Moment == "" || ev.Content == (agents.Content{}) {
		return y, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.twins) == 0 {
		return y, false
	}
	key := twinKey(ev, call)
	for i, t := range o.twins[key] {
		if t.event != ev.Name {
			o.twins[key] = slices.Delete(o.twins[key], i, i+1)
			return t.promptYes, call.At.Sub(t.at) < twinWait
		}
	}
	return y, false
}
