// Package sealed keeps in the store what is in force, sealed with a key that is not there:
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

// A Record is a record in the store of what was last in force, sealed with a key that is not
// in the store.
type Record struct {
	Name   string // what the record is about, one word
	Store  approver.KV
	Sealer *sealing.Sealer
	ID     string // of this installation, because several may share a store
	Where  string // where the record is, for people
	// Mark counts the changes, so that a store that was replaced with an older one is noticed;
	// nil counts none.
	Mark *broadcaster.ControlMark
}

const (
	// ownStore is the installation's id in a store that is not shared.
	ownStore = "embedded"
	// sealedKeep is how long the store keeps such a record.
	sealedKeep = 10 * 365 * 24 * time.Hour
)

// New returns the record of that name for the installation with this configuration.
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
		// A store that is not shared belongs to one installation, whatever its host or its audit
		// is called now, so that a new name is not taken for a first start.
		s.ID, s.Where = ownStore, at.Where
		if at.File != "" {
			s.Where = "the file " + at.File
		}
	}
	return s, nil
}

// recordNames returns the names of the records that each installation has.
func recordNames() []string { return []string{"approvers", "policy", "rules", "flow"} }

// Carry copies the records of an installation from its former id to its current one. It
// replaces records that the current id has from an earlier time.
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

// What identifies the record to the sealer.
func (s Record) What() string { return s.Name + " in force of " + s.ID }

// Cure returns, for people, another possible cause of a missing record; empty if there is
// none.
func (s Record) Cure() string {
	if s.ID == ownStore {
		return ""
	}
	return " (it was looked for under the audit's id " + s.ID + ": where the host's name changes, set audit.id)"
}

// Load reads the record into v. The error is [approver.ErrNotFound] if there is none.
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

// Replace stores v in place of the record in force. If there was one, it also increases the
// version of the controls and writes that to the audit, so that a store without the change is
// noticed.
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

// Save stores v as the record.
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
