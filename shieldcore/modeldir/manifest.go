package modeldir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// The files of a model. Others may be there if the manifest has them; they are
// hashed and not read.
const (
	ManifestFile  = "manifest.json"
	ModelFile     = "model.onnx"
	TokenizerFile = "tokenizer.json"
	ConfigFile    = "config.json"
)

// Bounds.
const (
	MaxManifest = 1 << 20   // bytes
	MaxModel    = 2<<30 - 1 // bytes of model.onnx: what a protobuf can have
	MaxFile     = 64 << 20  // bytes of any other file
	maxFiles    = 32
	maxGolden   = 32
	maxText     = 64 << 10 // bytes of a golden text
	maxLabel    = 100      // bytes

	minWindow = 16   // tokens
	maxWindow = 8192 // tokens
)

// Tolerance is how far a score may be from a golden one. Quantized models give
// slightly other numbers on other processors.
const Tolerance = 0.01

// A Manifest vouches for the files of a model. The zero Manifest vouches for
// none.
type Manifest struct {
	Version int               `json:"version"` // 1
	Label   string            `json:"label"`
	Window  int               `json:"window"`
	Files   map[string]string `json:"files"` // SHA-256, hexadecimal, by name
	Golden  []Golden          `json:"golden,omitempty"`
}

// A Golden is a text and the score that the model gives it.
type Golden struct {
	Text  string  `json:"text"`
	Score float64 `json:"score"` // 0 to 1
}

// ReadManifest reads and checks the manifest of a directory, and returns its own
// SHA-256 too, which names the model.
func ReadManifest(dir string) (Manifest, string, error) {
	data, m, err := readManifest(dir)
	if err != nil {
		return Manifest{}, "", err
	}
	return m, Sum(data), nil
}

// readManifest is ReadManifest with the file's bytes.
func readManifest(dir string) (data []byte, m Manifest, err error) {
	name := filepath.Join(dir, ManifestFile)
	if data, err = readFile(name, MaxManifest); err != nil {
		return nil, Manifest{}, err
	}
	if m, err = ParseManifest(data); err != nil {
		return nil, Manifest{}, fmt.Errorf("%s: %w", name, err)
	}
	return data, m, nil
}

// ParseManifest reads a manifest. The error names all that is wrong.
func ParseManifest(data []byte) (Manifest, error) {
	var m Manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return Manifest{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Manifest{}, errors.New("something follows the object")
	}
	if err := m.Validate(); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// Validate returns every problem of a manifest, joined, or nil. It reads no file.
func (m Manifest) Validate() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if m.Version != 1 {
		fail("version is %d: 1 is known", m.Version)
	}
	if m.Label == "" || len(m.Label) > maxLabel {
		fail("label must name the label of %s whose probability is the score", ConfigFile)
	}
	if m.Window < minWindow || m.Window > maxWindow {
		fail("window is %d: %d to %d tokens are possible", m.Window, minWindow, maxWindow)
	}
	for _, name := range []string{ModelFile, TokenizerFile, ConfigFile} {
		if m.Files[name] == "" {
			fail("files has no %s", name)
		}
	}
	if len(m.Files) > maxFiles {
		fail("files has %d names: at most %d are possible", len(m.Files), maxFiles)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if !plainName(name) || name == ManifestFile {
			fail("files: %q is not the plain name of a file beside the manifest", name)
		}
		if sum, err := hex.DecodeString(m.Files[name]); err != nil || len(sum) != sha256.Size ||
			hex.EncodeToString(sum) != m.Files[name] {
			fail("files: the SHA-256 of %q must be 64 digits of 0-9a-f", name)
		}
	}
	if len(m.Golden) > maxGolden {
		fail("golden has %d texts: at most %d are possible", len(m.Golden), maxGolden)
	}
	for i, g := range m.Golden {
		if g.Text == "" || len(g.Text) > maxText || !utf8.ValidString(g.Text) || !(g.Score >= 0 && g.Score <= 1) {
			fail("golden[%d] needs a text of at most %d bytes and a score from 0 to 1", i, maxText)
		}
	}
	return errors.Join(errs...)
}

// plainName allows letters, digits and a few marks, so that a name means the same file
// on every file system.
func plainName(name string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
	return name != "" && len(name) <= 100 && name[0] != '.' && strings.Trim(name, allowed) == ""
}

// Encode is the manifest as a file.
func (m Manifest) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

// Sum is the SHA-256 of data in hexadecimal.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readFile reads a regular file of at most limit bytes. A link is an error, even one
// that appears while the file is opened.
func readFile(path string, limit int64) ([]byte, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: a link, a folder or a device is not followed", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(before, now) {
		return nil, fmt.Errorf("%s was replaced while it was opened", path)
	}
	if now.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes: at most %d are possible", path, now.Size(), limit)
	}
	data := make([]byte, now.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}
