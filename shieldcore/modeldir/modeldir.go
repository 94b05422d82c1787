package modeldir

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Model is a directory whose files are those of its manifest.
type Model struct {
	Manifest      Manifest
	Sum           string   // SHA-256 of manifest.json
	ONNX          []byte   // nil from Check
	TokenizerJSON []byte   // what the file holds
	Tokens        int      // one more than the highest id
	Labels        []string // by index
	Target        int      // the index of Manifest.Label
}

// Open checks a directory and returns what is in it.
func Open(dir string) (*Model, error) { return open(dir, true) }

// Check is Open without keeping model.onnx in memory.
func Check(dir string) (*Model, error) { return open(dir, false) }

func open(dir string, keep bool) (*Model, error) {
	manifest, sum, err := ReadManifest(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s: approver model add DIR writes one", dir, ManifestFile)
	}
	if err != nil {
		return nil, err
	}
	if err := onlyThese(dir, manifest.Files); err != nil {
		return nil, err
	}
	m := &Model{Manifest: manifest, Sum: sum}
	var config []byte
	for _, name := range slices.Sorted(maps.Keys(manifest.Files)) {
		data, err := readFile(filepath.Join(dir, name), limit(name))
		if err != nil {
			return nil, err
		}
		if got := Sum(data); got != manifest.Files[name] {
			return nil, fmt.Errorf("%s has SHA-256 %s, and the manifest says %s: it is damaged, or was replaced",
				filepath.Join(dir, name), got, manifest.Files[name])
		}
		switch name {
		case ConfigFile:
			config = data
		case TokenizerFile:
			m.TokenizerJSON = data
		case ModelFile:
			if err := selfContained(data); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
			}
			if keep {
				m.ONNX = data
			}
		}
	}
	if m.Tokens, err = vocabulary(m.TokenizerJSON); err != nil {
		return nil, err
	}
	c, err := readConfig(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, ConfigFile), err)
	}
	if m.Labels = c.labels; !slices.Contains(m.Labels, manifest.Label) {
		return nil, fmt.Errorf("the manifest's label %q is not one of those of %s: %s", manifest.Label, ConfigFile,
			strings.Join(m.Labels, ", "))
	}
	m.Target = slices.Index(m.Labels, manifest.Label)
	if c.positions > 0 && manifest.Window > c.positions {
		return nil, fmt.Errorf("the manifest's window is %d tokens, and the model has %d positions", manifest.Window,
			c.positions)
	}
	return m, nil
}

func limit(name string) int64 {
	if name == ModelFile {
		return MaxModel
	}
	return MaxFile
}

// onlyThese reports a file that is not in the manifest.
func onlyThese(dir string, files map[string]string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, ok := files[e.Name()]; !ok && e.Name() != ManifestFile {
			return fmt.Errorf("%s is not in the manifest: take it away, or let approver model add write a new manifest",
				filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

type config struct {
	labels    []string
	positions int
}

// readConfig reads what matters of config.json, which has much that does not.
func readConfig(data []byte) (config, error) {
	var c struct {
		Labels    map[string]string `json:"id2label"`
		Positions int               `json:"max_position_embeddings"`
		Problem   *string           `json:"problem_type"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return config{}, err
	}
	if c.Problem != nil && *c.Problem != "single_label_classification" {
		return config{}, fmt.Errorf("problem_type is %q: only single_label_classification is known", *c.Problem)
	}
	if n := len(c.Labels); n < 2 || n > 1000 {
		return config{}, fmt.Errorf("id2label has %d labels: 2 to 1000 are possible", n)
	}
	labels := make([]string, len(c.Labels))
	for key, label := range c.Labels {
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(labels) || labels[i] != "" || label == "" || slices.Contains(labels, label) {
			return config{}, fmt.Errorf("id2label must have different labels, with the ids 0 to %d", len(labels)-1)
		}
		labels[i] = label
	}
	return config{labels, c.Positions}, nil
}
