package broadcaster

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file remembers the environment of the first call of each session and of each user, so
// that people are shown what has changed since: see package display.

// firstEnv remembers the environment of the first call of each session. The zero value
// remembers nothing.
type firstEnv struct {
	mu sync.Mutex
	of map[string]map[string]display.Setting
}

const (
	maxBegan  = 2048               // sessions in memory; the store has the others
	keepBegan = 7 * 24 * time.Hour // in the store
)

func (m *firstEnv) get(scope string) (map[string]display.Setting, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	env, ok := m.of[scope]
	return env, ok
}

func (m *firstEnv) note(scope string, env map[string]display.Setting) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || len(m.of) >= maxBegan {
		m.of = map[string]map[string]display.Setting{} // the store has them
	}
	m.of[scope] = env
}

// sessionScope identifies the session of an environment. Agents claim their session, so it
// only narrows: a new one begins anew, and what differs from its user's first environment is
// shown.
func sessionScope(call approver.ToolCall) string {
	b := strconv.AppendQuote(append(make([]byte, 0, 256), "environment 2 "...), call.Agent) // every call comes here
	b = strconv.AppendBool(append(b, ' '), call.Peer.Known)
	b = strconv.AppendUint(append(b, ' '), uint64(call.Peer.UID), 10)
	b = strconv.AppendQuote(append(b, ' '), call.Dir)
	sum := sha256.Sum256(strconv.AppendQuote(append(b, ' '), call.Session))
	return hex.EncodeToString(sum[:16])
}

// userScope identifies the user of an environment. The agent claims nothing of it, so a new
// session, agent or folder hides no change.
func userScope(call approver.ToolCall) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "environment 2 of a user %t %d", call.Peer.Known, call.Peer.UID))
	return hex.EncodeToString(sum[:16])
}

// Environments remembers the environment that each session began with.
type Environments struct {
	*Options
	requests *Requests
	records  *records
	tasks    *tasks

	firsts firstEnv
}

// Began notes a call of a session. If it is the first of the session or of its user, its
// environment is remembered. Began does not wait for the store.
func (e *Environments) Began(call approver.ToolCall) {
	if _, ok := e.firsts.get(sessionScope(call)); ok {
		return
	}
	e.tasks.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, PostTimeout)
		defer cancel()
		_, userErr := e.firstEnvironment(ctx, call, userScope(call))
		_, err := e.firstEnvironment(ctx, call, sessionScope(call))
		if err = errors.Join(userErr, err); err != nil {
			e.Log.Warn("the environment that a session began with could not be kept", "error", err)
		}
	})
}

// firstEnvironment returns the environment of the first call in a scope, which may be this
// call.
func (e *Environments) firstEnvironment(
	ctx context.Context, call approver.ToolCall, scope string,
) (map[string]display.Setting, error) {
	if env, ok := e.firsts.get(scope); ok {
		return env, nil
	}
	key, what := approver.Key("environment", scope), "environment "+scope
	for range 3 {
		value, _, err := e.Store.Get(ctx, key)
		if err == nil {
			var env map[string]display.Setting
			text, err := e.requests.sealer.OpenText(what, value)
			if err == nil {
				err = json.Unmarshal(text, &env)
			}
			if err != nil {
				return nil, err
			}
			e.firsts.note(scope, env)
			return env, nil
		} else if !errors.Is(err, approver.ErrNotFound) {
			return nil, err
		}
		env, err := e.settings(call.Env)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(env)
		if err != nil {
			return nil, err
		}
		if value, err = e.requests.sealer.SealText(what, text); err != nil {
			return nil, err
		}
		now, err := e.Store.Now(ctx)
		if err != nil {
			return nil, err
		}
		err = e.records.put(ctx, key, value, "", approver.NewRev(), time.Time{}, now.Add(keepBegan))
		if err == nil {
			e.firsts.note(scope, env)
			return env, nil
		} else if !errors.Is(err, approver.ErrConflict) { // else another call of the session was first
			return nil, err
		}
	}
	return nil, approver.ErrConflict
}

// settings is an environment as it is remembered: values are hashed.
func (e *Environments) settings(env map[string]string) (map[string]display.Setting, error) {
	key, err := hkdf.Key(sha256.New, e.CodeKey, nil, "approver environment 1", 32)
	if err != nil {
		return nil, fmt.Errorf("deriving the key of the environment's hashes: %w", err)
	}
	hash := func(name, value string) string {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(name + "=" + value))
		return hex.EncodeToString(h.Sum(nil)[:16])
	}
	out := make(map[string]display.Setting, len(env))
	for name, value := range env {
		out[name] = display.NewSetting(name, value, hash(name, value))
	}
	return out, nil
}

// changes is what people are shown of a call's environment, one variable each.
func (e *Environments) changes(ctx context.Context, call approver.ToolCall) []string {
	if len(call.Env) == 0 {
		return nil
	}
	now, nowErr := e.settings(call.Env)
	before, err := e.firstEnvironment(ctx, call, sessionScope(call))
	first, userErr := e.firstEnvironment(ctx, call, userScope(call))
	err = errors.Join(nowErr, err, userErr)
	if err != nil {
		e.Log.Warn("it is not known which environment a session began with", "error", err)
	}
	return display.Environment{Values: call.Env, Now: now, Session: before, User: first, Unknown: err != nil}.Lines()
}
