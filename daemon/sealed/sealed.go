// Package sealed keeps in the store what is in force, under a key that is not in the store:
// who counts as an approver, the policy, the rules, the information flow.
package sealed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/broadcaster/sealing"
	"approver.example/configs"
	"approver.example/daemon/codekeys"
)

// A Record is a record in the store that says what was in force last. It is sealed
// under a key that is not in the store.
type Record struct {
	Name   string // what the record is, one word
	Store  approver.KV
	Sealer *sealing.Sealer
	ID     string // of this installation: several may share a store
	Where  string // of the record, for people
	// Mark counts the changes, so that an older store shows; nil counts none.
	Mark *broadcaster.ControlMark
}

const (
	// ownStore stands for the installation that an embedded store is of.
	ownStore = "embedded"
	// sealedKeep is how long the store keeps such a record.
	sealedKeep = 10 * 365 * 24 * time.Hour
)

// New returns the record of that name, of the installation that the configuration is of.
func New(cfg configs.Config, store approver.KV, name string, mark *broadcaster.ControlMark) (Record, error) {
	keys, err := codekeys.Open(cfg)
	if err != nil {
		return Record{}, err
	}
	sealer, err := sealing.New(keys[0], keys[1:]...)
	if err != nil {
		return Record{}, err
	}
	s := Record{Name: name, Store: store, Sealer: sealer, ID: cfg.AuditID(), Mark: mark}
	at := cfg.Storage()
	s.Where = "the key " + s.Key() + " in " + at.Title
	if !at.Shared {
		// A store that is not shared is of one installation, whatever its host or its audit
		// is called now: a new name is no first start.
		s.ID, s.Where = ownStore, at.Where
		if at.File != "" {
			s.Where = "the file " + at.File
		}
	}
	return s, nil
}

// recordNames are the records that are kept for each installation.
func recordNames() []string { return []string{"approvers", "policy", "rules", "flow"} }

// Carry makes what was in force under the former id of an installation its own. A
// record of its own from an earlier time is no longer in force.
func Carry(ctx context.Context, cfg configs.Config, store approver.KV, former string) error {
	for _, name := range recordNames() {
		s, err := New(cfg, store, name, nil)
		if err != nil {
			return err
		}
		if s.ID == ownStore {
			return nil
		}
		was, v := s, json.RawMessage{}
		was.ID = former
		err = was.Load(ctx, &v)
		if errors.Is(err, approver.ErrNotFound) {
			if _, _, err := store.Get(ctx, s.Key()); !errors.Is(err, approver.ErrNotFound) {
				return fmt.Errorf("the key %s is gone, and %s is of an earlier time: look for who removed it, and remove that, "+
					"too, only if the configuration is as you want it", was.Key(), s.Key())
			}
			continue
		}
		if err == nil {
			err = s.Save(ctx, v)
		}
		if err != nil {
			return fmt.Errorf("the key %s: %w", was.Key(), err)
		}
	}
	return nil
}

// Key is the record's key in the store.
func (s Record) Key() string { return approver.Key(s.Name, s.ID) }

// What names the record to the sealer that seals it.
func (s Record) What() string { return s.Name + " in force of " + s.ID }

// Cure says what else can have made it disappear, for people.
func (s Record) Cure() string {
	if s.ID == ownStore {
		return ""
	}
	return " (it was looked for under the audit's id " + s.ID + ": where the host's name changes, set audit.id)"
}

// Load reads the record into v.
func (s Record) Load(ctx context.Context, v any) error {
	value, _, err := s.Store.Get(ctx, s.Key())
	if err != nil {
		return err
	}
	text, err := s.Sealer.OpenText(s.What(), value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// Replace makes v the record, in the place of the one that is in force. That is counted
// with the controls, and told the audit with their version: a store without it shows.
func (s Record) Replace(ctx context.Context, audit approver.Recorder, v any) error {
	_, _, err := s.Store.Get(ctx, s.Key())
	first := errors.Is(err, approver.ErrNotFound)
	if err != nil && !first {
		return err
	}
	if err := s.Save(ctx, v); err != nil || first || s.Mark == nil {
		return err
	}
	if err := s.Mark.Count(ctx, s.Store); err != nil {
		return err
	}
	note := fmt.Sprintf("the store has the change of the %s: version %d", s.Name, s.Mark.Version())
	_, err = audit.Record(ctx, approver.Record{Event: approver.EventPolicy, At: time.Now(), Note: note})
	return err
}

// Save makes v the record.
func (s Record) Save(ctx context.Context, v any) error {
	plain, err := json.Marshal(v)
	if err != nil {
		return err
	}
	value, err := s.Sealer.SealText(s.What(), plain)
	if err != nil {
		return err
	}
	for {
		_, rev, err := s.Store.Get(ctx, s.Key())
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return err
		}
		now, err := s.Store.Now(ctx)
		if err != nil {
			return err
		}
		err = s.Store.Put(ctx, s.Key(), value, rev, approver.NewRev(), time.Time{}, now.Add(sealedKeep))
		if !errors.Is(err, approver.ErrConflict) {
			return err
		}
	}
}
