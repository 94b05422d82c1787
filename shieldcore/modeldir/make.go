package modeldir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Make returns a manifest for the files in a directory, for a person to review. label
// may be empty if config.json has exactly one known label. A window of zero is 512, or
// fewer if the model has fewer positions. The folder may have no files but the model's.
func Make(dir, label string, window int) (Manifest, error) {
	m := Manifest{Version: 1, Label: label, Window: window, Files: map[string]string{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Manifest{}, err
	}
	if len(entries) > maxFiles {
		return Manifest{}, fmt.Errorf("%s has %d files: at most %d are possible", dir, len(entries), maxFiles)
	}
	var c config
	for _, e := range entries {
		name := e.Name()
		if name == ManifestFile {
			continue
		}
		if !plainName(name) {
			return Manifest{},
				fmt.Errorf("%s: the name is not plain (letters, digits, dot, dash, underscore): take the file away",
					filepath.Join(dir, name))
		}
		data, err := readFile(filepath.Join(dir, name), limit(name))
		if err != nil {
			return Manifest{}, err
		}
		m.Files[name] = Sum(data)
		if name == ConfigFile {
			if c, err = readConfig(data); err != nil {
				return Manifest{}, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
			}
		}
	}
	if m.Window == 0 {
		m.Window = 512
		if c.positions > 0 {
			m.Window = min(m.Window, c.positions)
		}
	}
	if m.Label == "" && len(c.labels) > 0 {
		if m.Label, err = guess(c.labels); err != nil {
			return Manifest{}, err
		}
	}
	if err := m.Validate(); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", dir, err)
	}
	return m, nil
}

// meant are labels that models use for an injection.
var meant = []string{"injection", "jailbreak", "malicious", "unsafe"}

func guess(labels []string) (string, error) {
	var found []string
	for _, l := range labels {
		if slices.Contains(meant, strings.ToLower(l)) {
			found = append(found, l)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("which of the labels means an injection cannot be told (%s): say it with --label",
			strings.Join(labels, ", "))
	}
	return found[0], nil
}

// Install copies a model into a folder of models, as a new version that is named after
// its manifest, and returns the version's directory. manifest, from Make, is for a model
// without one. If the same version exists, it is only checked, and added is false.
// Folders get mode 0700, files 0600. Existing versions do not change.
func Install(from, models string, manifest *Manifest) (dir string, added bool, err error) {
	var data []byte
	var m Manifest
	if manifest == nil {
		data, m, err = readManifest(from)
	} else {
		m = *manifest
		data, err = m.Encode()
		err = errors.Join(err, m.Validate())
	}
	if err != nil {
		return "", false, err
	}
	dir = filepath.Join(models, Sum(data)[:16])
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			_, err = Check(dir)
		}
		return dir, false, err
	}
	if err := os.MkdirAll(models, 0o700); err != nil {
		return "", false, err
	}
	work, err := os.MkdirTemp(models, ".new-")
	if err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }() // gone once it is renamed
	if err := onlyThese(from, m.Files); err != nil {
		return "", false, err
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		content, err := readFile(filepath.Join(from, name), limit(name))
		if err != nil {
			return "", false, err
		}
		if Sum(content) != m.Files[name] {
			return "", false, fmt.Errorf("%s does not have the SHA-256 of the manifest: it is damaged, or was replaced",
				filepath.Join(from, name))
		}
		if err := writeNew(filepath.Join(work, name), content); err != nil {
			return "", false, err
		}
	}
	if err := writeNew(filepath.Join(work, ManifestFile), data); err != nil {
		return "", false, err
	}
	if _, err := Check(work); err != nil {
		return "", false, err
	}
	// A folder that is not empty is never replaced by this.
	return dir, true, os.Rename(work, dir)
}

// writeNew writes a file that is not there yet, durably.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
