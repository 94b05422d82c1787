package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/configs"
)

// A sealed is a record in the store that says what was in force last. It is sealed
// under a key that is not in the store.
type sealed struct {
	name  string // what the record is, one word
	store approver.KV
	codec *broadcaster.RequestCodec
	id    string // of this installation: several may share Redis
	where string // of the record, for people
	// mark counts the changes, so that an older store shows; nil counts none.
	mark *broadcaster.ControlMark
}

const (
	// ownStore stands for the installation that an embedded store is of.
	ownStore = "embedded"
	// sealedKeep is how long the store keeps such a record.
	sealedKeep = 10 * 365 * 24 * time.Hour
)

func newSealed(cfg configs.Config, store approver.KV, name string, mark *broadcaster.ControlMark) (sealed, error) {
	keys, err := openCodeKeys(cfg)
	if err != nil {
		return sealed{}, err
	}
	codec, err := broadcaster.NewRequestCodec(keys[0], keys[1:]...)
	if err != nil {
		return sealed{}, err
	}
	s := sealed{name: name, store: store, codec: codec, id: cfg.AuditID(), mark: mark}
	s.where = "the key " + s.key() + " in Redis"
	if cfg.Store.Redis == nil {
		// An embedded store is of one installation, whatever its host or its audit
		// is called now: a new name is no first start.
		s.id, s.where = ownStore, "the file "+cfg.Bolt().Path
	}
	return s, nil
}

// sealedNames are the records that are kept for each installation.
func sealedNames() []string { return []string{"approvers", "policy", "rules", "flow"} }

// carrySealed makes what was in force under the former id of an installation its own. A
// record of its own from an earlier time is no longer in force.
func carrySealed(ctx context.Context, cfg configs.Config, store approver.KV, former string) error {
	for _, name := range sealedNames() {
		s, err := newSealed(cfg, store, name, nil)
		if err != nil {
			return err
		}
		if s.id == ownStore {
			return nil
		}
		was, v := s, json.RawMessage{}
		was.id = former
		err = was.load(ctx, &v)
		if errors.Is(err, approver.ErrNotFound) {
			if _, _, err := store.Get(ctx, s.key()); !errors.Is(err, approver.ErrNotFound) {
				return fmt.Errorf("the key %s is gone, and %s is of an earlier time: look for who removed it, and remove that, too, only if the configuration is as you want it", was.key(), s.key())
			}
			continue
		}
		if err == nil {
			err = s.save(ctx, v)
		}
		if err != nil {
			return fmt.Errorf("the key %s: %w", was.key(), err)
		}
	}
	return nil
}

func (s sealed) key() string  { return approver.Key(s.name, s.id) }
func (s sealed) what() string { return s.name + " in force of " + s.id }

// cure says what else can have made it disappear, for people.
func (s sealed) cure() string {
	if s.id == ownStore {
		return ""
	}
	return " (it was looked for under the audit's id " + s.id + ": where the host's name changes, set audit.id)"
}

// load reads the record into v.
func (s sealed) load(ctx context.Context, v any) error {
	value, _, err := s.store.Get(ctx, s.key())
	if err != nil {
		return err
	}
	text, err := s.codec.OpenText(s.what(), value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// replace makes v the record, in the place of the one that is in force. That is counted
// with the controls, and told the audit with their version: a store without it shows.
func (s sealed) replace(ctx context.Context, audit approver.Recorder, v any) error {
	_, _, err := s.store.Get(ctx, s.key())
	first := errors.Is(err, approver.ErrNotFound)
	if err != nil && !first {
		return err
	}
	if err := s.save(ctx, v); err != nil || first || s.mark == nil {
		return err
	}
	if err := s.mark.Count(ctx, s.store); err != nil {
		return err
	}
	note := fmt.Sprintf("the store has the change of the %s: version %d", s.name, s.mark.Version())
	_, err = audit.Record(ctx, approver.Record{Event: approver.EventPolicy, At: time.Now(), Note: note})
	return err
}

// save makes v the record.
func (s sealed) save(ctx context.Context, v any) error {
	plain, err := json.Marshal(v)
	if err != nil {
		return err
	}
	value, err := s.codec.SealText(s.what(), plain)
	if err != nil {
		return err
	}
	for {
		_, rev, err := s.store.Get(ctx, s.key())
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return err
		}
		now, err := s.store.Now(ctx)
		if err != nil {
			return err
		}
		err = s.store.Put(ctx, s.key(), value, rev, approver.NewRev(), time.Time{}, now.Add(sealedKeep))
		if !errors.Is(err, approver.ErrConflict) {
			return err
		}
	}
}
