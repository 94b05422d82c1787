package audit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Key signs checkpoints. It masks itself in fmt. The zero value signs nothing
// and is refused by Open.
type Key struct{ private ed25519.PrivateKey }

// ID is the first 16 hex digits of the SHA-256 of the public key; empty for the
// zero value.
func (k Key) ID() string {
	if k.private == nil {
		return ""
	}
	return keyID(k.Public())
}

// Public returns the public key, nil for the zero value.
func (k Key) Public() ed25519.PublicKey {
	if k.private == nil {
		return nil
	}
	return k.private.Public().(ed25519.PublicKey)
}

// Format masks the key under every verb.
func (k Key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "<audit key "+k.ID()+">") }

// MarshalText masks the key in JSON and other text encodings.
func (k Key) MarshalText() ([]byte, error) { return []byte("<audit key " + k.ID() + ">"), nil }

func keyID(p ed25519.PublicKey) string {
	sum := sha256.Sum256(p)
	return hex.EncodeToString(sum[:8])
}

// Keys are public keys by their id. The zero value trusts nobody.
type Keys map[string]ed25519.PublicKey

// maxKeyFile bounds a key file in bytes: a thousand public keys.
const maxKeyFile = 256 << 10

const (
	privateBlock = "PRIVATE KEY"
	publicBlock  = "PUBLIC KEY"
)

// LoadOrCreateKey reads the signing key at path (PEM, PKCS #8, mode 0600), or
// makes one on the first start. The file path.pub (PEM) lists the public key
// and those of earlier keys; a copy of it is needed to verify the log elsewhere.
// A key file that others can read is an error.
func LoadOrCreateKey(path string) (Key, error) {
	key, err := loadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if key, err = createKey(path, os.Link); errors.Is(err, fs.ErrExist) {
			key, err = loadKey(path) // another process was faster
		}
	}
	if err != nil {
		return Key{}, err
	}
	return key, list(path, key)
}

// CheckKey says why LoadOrCreateKey would refuse the key at path, or its list of public keys.
// It makes no key.
func CheckKey(path string) error {
	_, err := loadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if _, listErr := LoadKeys(path + ".pub"); listErr != nil && !errors.Is(listErr, fs.ErrNotExist) {
		err = errors.Join(err, fmt.Errorf("audit key: %w", listErr))
	}
	return err
}

// RotateKey replaces the signing key at path and deletes the old private key. The
// old public key stays in the list, so that its signatures can still be verified. A
// daemon uses the new key after a restart. Without a key at path, RotateKey fails.
func RotateKey(path string) (Key, error) {
	old, err := loadKey(path)
	if err != nil {
		return Key{}, err
	}
	if err := list(path, old); err != nil {
		return Key{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Key{}, fmt.Errorf("audit key: %w", err)
	}
	return createKey(path, func(from, to string) error {
		if err := keepOwner(from, info); err != nil {
			return err
		}
		return os.Rename(from, to)
	})
}

// LoadKeys reads the public keys in a .pub file.
func LoadKeys(path string) (Keys, error) {
	b, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	keys := Keys{}
	for {
		var block *pem.Block
		if block, b = pem.Decode(b); block == nil {
			break
		}
		if block.Type != publicBlock {
			return nil, fmt.Errorf("%s: a %q block among public keys", path, block.Type)
		}
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		public, ok := parsed.(ed25519.PublicKey)
		if err != nil || !ok {
			return nil, fmt.Errorf("%s: a block that is no Ed25519 public key", path)
		}
		keys[keyID(public)] = public
	}
	if len(keys) == 0 || bytes.Contains(b, []byte("-----BEGIN")) {
		return nil, fmt.Errorf("%s is damaged: expected the PEM public keys that approver wrote there", path)
	}
	return keys, nil
}

func loadKey(path string) (Key, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Key{}, fmt.Errorf("audit key: %w", err)
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return Key{}, fmt.Errorf("audit key: %s has mode %v: it must be a file that only its owner can read (chmod 600)",
			path, mode)
	}
	b, err := readSmall(path)
	if err != nil {
		return Key{}, fmt.Errorf("audit key: %w", err)
	}
	damaged := fmt.Errorf("audit key: %s is damaged: restore it, or move it away to start with a new one", path)
	block, rest := pem.Decode(b)
	if block == nil || block.Type != privateBlock || len(bytes.TrimSpace(rest)) > 0 {
		return Key{}, damaged
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return Key{}, damaged
	}
	return Key{private}, nil
}

// createKey makes a key, lists it, and then calls place to move it to path. So no key
// ever signs before it is listed.
func createKey(path string, place func(from, to string) error) (Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("audit key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return Key{}, fmt.Errorf("audit key: %w", err)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Key{}, fmt.Errorf("audit key: %w", err)
	}
	f, err := os.CreateTemp(dir, ".key-*") // mode 0600
	if err != nil {
		return Key{}, fmt.Errorf("audit key: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already if it was renamed
	err = pem.Encode(f, &pem.Block{Type: privateBlock, Bytes: der})
	err = errors.Join(err, f.Sync(), f.Close())
	key := Key{private}
	if err == nil {
		err = list(path, key)
	}
	if err == nil {
		err = place(f.Name(), path)
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return Key{}, fmt.Errorf("audit key: %w", err)
	}
	return key, nil
}

// list adds the public key of key to path.pub, unless it is there.
func list(path string, key Key) error {
	path += ".pub"
	keys, err := LoadKeys(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("audit key: %w", err)
	}
	if _, ok := keys[key.ID()]; ok {
		return nil
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("audit key: %w", err)
	}
	text := fmt.Appendf(nil, "# audit key %s, listed %s\n", key.ID(), time.Now().UTC().Format(time.RFC3339))
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: der})...)
	old, err := readSmall(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("audit key: %w", err)
	}
	like := path // whose owner and mode it has
	if errors.Is(err, fs.ErrNotExist) {
		like = strings.TrimSuffix(path, ".pub")
	}
	info, err := os.Stat(like)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("audit key: %w", err)
	}
	mode := fs.FileMode(0o644)
	if like == path && info != nil {
		mode = info.Mode().Perm()
	}
	if err := replaceFile(path, append(old, text...), mode, info); err != nil {
		return fmt.Errorf("audit key: %w", err)
	}
	return nil
}

// replaceFile replaces a file atomically. It gets the owner of like, unless that is nil.
func replaceFile(path string, content []byte, mode os.FileMode, like fs.FileInfo) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already if it was renamed
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := keepOwner(f.Name(), like); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err == nil && len(b) > maxKeyFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxKeyFile)
	}
	return b, err
}
