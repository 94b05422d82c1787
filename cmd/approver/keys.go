package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"approver.example"
	"approver.example/configs"
)

// openCodeKey returns the key under which codes are hashed. Replicas that share
// a Redis must share it, so it is derived from the hub key there.
func openCodeKey(cfg configs.Config) ([]byte, error) {
	if cfg.Store.Redis == nil {
		return loadOrCreateKey(filepath.Join(cfg.Dir, "code.key"))
	}
	hub, err := approver.SecretFrom("hub_key", approver.Secret{}, cfg.Store.Redis.HubKeyFile)
	if err != nil {
		return nil, err
	}
	m := hmac.New(sha256.New, []byte(hub.Reveal()))
	m.Write([]byte("approver code key v1"))
	return m.Sum(nil), nil
}

// loadOrCreateKey reads a key file, or makes one with 32 random bytes.
func loadOrCreateKey(path string) ([]byte, error) {
	text, err := approver.SecretFrom("code_key", approver.Secret{}, path)
	if errors.Is(err, os.ErrNotExist) {
		key := make([]byte, 32)
		if _, err := rand.Read(key); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		_, err = f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
		return key, errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(text.Reveal())
	if err != nil || len(key) < 32 {
		return nil, fmt.Errorf("%s is not a key of this program: move it away to make a new one (open requests then lose their codes)", path)
	}
	return key, nil
}
