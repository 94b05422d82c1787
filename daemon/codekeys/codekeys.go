// Package codekeys reads and creates the keys with which codes are hashed and records sealed.
package codekeys

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"approver.example/configs"
	"approver.example/daemon/safefile"
	"approver.example/internal/secret"
)

// Open returns the keys with which codes are hashed: the current one first, then those that it
// replaced. Replicas that share a store must share the keys, so for a shared store they are
// derived from the hub keys.
func Open(cfg configs.Config) ([][]byte, error) {
	at := cfg.Storage()
	if !at.Shared {
		return loadOrCreateKeys(File(cfg))
	}
	hub, err := secret.From("hub_key", secret.Text{}, at.KeyFile)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for _, key := range hub.Lines() {
		m := hmac.New(sha256.New, []byte(key.Reveal()))
		m.Write([]byte("approver code key v1"))
		keys = append(keys, m.Sum(nil))
	}
	if len(keys) == 0 {
		return nil, errors.New("hub_key_file: no key")
	}
	return keys, nil
}

// File returns where the code key is if the store is not shared.
func File(cfg configs.Config) string { return filepath.Join(cfg.Dir, "code.key") }

// loadOrCreateKeys reads a key file, or creates one with 32 random bytes.
func loadOrCreateKeys(path string) ([][]byte, error) {
	keys, err := Load(path)
	if errors.Is(err, os.ErrNotExist) {
		key, err := createKey(path)
		return [][]byte{key}, err
	}
	return keys, err
}

// Load reads a key file, one key per line in base64, each at least 32 bytes.
func Load(path string) ([][]byte, error) {
	text, err := secret.From("code_key", secret.Text{}, path)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for i, line := range text.Lines() {
		key, err := base64.StdEncoding.DecodeString(line.Reveal())
		if err != nil || len(key) < 32 {
			return nil, fmt.Errorf("%s: line %d is not a key of this program: move the file away to make a new one (open "+
				"requests then lose their codes)", path, i+1)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func createKey(path string) ([]byte, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	if err := safefile.WriteNew(path, []byte(base64.StdEncoding.EncodeToString(key)+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("the code key: %w", err)
	}
	return key, nil
}
