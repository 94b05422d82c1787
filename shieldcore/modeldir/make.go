package modeldir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Make returns a manifest for the files that are in a directory now, to be
// looked at by a person. label may be empty if config.json has one that can only
// be the one, and window zero for 512, or as many positions as the model has. The
// folder may have no other files than those that a model has.
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

// meant are the names that models give to what is looked for.
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
