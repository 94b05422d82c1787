package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/words"
	"approver.example/shieldcore/modeldir"
	"approver.example/shieldcore/sidecar"
)

type modelCmd struct {
	Add    modelAddCmd    `cmd:"" help:"Check a classifier model and copy it to where the daemon keeps its files."`
	Verify modelVerifyCmd `cmd:"" help:"Check the files of models, and what they make of their golden texts."`
}

// modelsDir returns the folder of the models that were added.
func modelsDir(config string) (string, error) {
	cfg, err := configs.LoadOrDefault(config)
	if err != nil {
		return "", err
	}
	return filepath.Join(cfg.Dir, "models"), nil
}

// A modelDoc describes a model in JSON.
type modelDoc struct {
	Model    string            `json:"model"`
	Added    bool              `json:"added,omitempty"`
	Manifest string            `json:"manifest,omitempty"` // SHA-256
	Label    string            `json:"label,omitempty"`
	Window   int               `json:"window,omitempty"`
	Tokens   int               `json:"tokens,omitempty"` // size of the vocabulary
	Files    map[string]string `json:"files,omitempty"`
	Scores   string            `json:"scores,omitempty"` // how the reference texts were scored
	Error    string            `json:"error,omitempty"`
}

func modelDocOf(dir string, m *modeldir.Model) modelDoc {
	return modelDoc{Model: dir, Manifest: m.Sum, Label: m.Manifest.Label, Window: m.Manifest.Window, Tokens: m.Tokens,
		Files: m.Manifest.Files}
}

func (d modelDoc) print() {
	if d.Error != "" {
		term.Print(0, "%s: %s\n", d.Model, d.Error)
		return
	}
	term.Print(0, "model     %s\nmanifest  %s\nscore     the probability of %s, in windows of %d tokens out of %d\n",
		d.Model, d.Manifest, d.Label, d.Window, d.Tokens)
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		term.Print(0, "sha256    %s  %s\n", d.Files[name], name)
	}
	if d.Scores != "" {
		term.Print(0, "golden    %s\n", d.Scores)
	}
}

type modelAddCmd struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	Label  string `help:"The label whose probability is the score, for a model without a manifest." placeholder:"NAME"`
	Window int    `help:"How many tokens the model sees at once, for a model without a manifest." placeholder:"TOKENS"`
	JSON   bool   `help:"Print one JSON object."`
	Dir    string `arg:"" help:"The model's directory." placeholder:"DIR"`
}

// Run adds.
func (c modelAddCmd) Run() error {
	models, err := modelsDir(c.Config)
	if err != nil {
		return err
	}
	var made *modeldir.Manifest
	_, err = os.Lstat(filepath.Join(c.Dir, modeldir.ManifestFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m, err := modeldir.Make(c.Dir, c.Label, c.Window)
		if err != nil {
			return err
		}
		made = &m
	case err != nil:
		return err
	case c.Label != "" || c.Window != 0:
		return fmt.Errorf("%s has a %s, which says label and window: leave --label and --window out", c.Dir,
			modeldir.ManifestFile)
	}
	dir, added, err := modeldir.Install(c.Dir, models, made)
	if err != nil {
		return err
	}
	m, err := modeldir.Check(dir)
	if err != nil {
		return err
	}
	doc := modelDocOf(dir, m)
	doc.Added = added
	if c.JSON {
		return term.PrintJSON(doc)
	}
	doc.print()
	if !added {
		term.Print(0, "It was there already, undamaged.\n")
		return nil
	}
	if made != nil {
		term.Print(0, "It had no %s: these hashes are now what is checked. Compare them with those of where the model is "+
			"from.\n", modeldir.ManifestFile)
	}
	return nil
}

type modelVerifyCmd struct {
	Config  string `help:"Configuration file." short:"c" placeholder:"FILE"`
	Program string `help:"approver-classifier; left out, the one beside this program or in PATH." placeholder:"FILE"`
	Library string `help:"libonnxruntime, for the program." placeholder:"FILE"`
	JSON    bool   `help:"Print one JSON object for each model."`
	Dir     string `arg:"" optional:"" help:"A model's directory; left out, every model that was added." placeholder:"DIR"`
}

// Run verifies.
func (c modelVerifyCmd) Run(ctx context.Context) error {
	dirs, err := c.dirs()
	if err != nil {
		return err
	}
	failed := false
	for _, dir := range dirs {
		doc := c.verify(ctx, dir)
		failed = failed || doc.Error != ""
		if !c.JSON {
			doc.print()
		} else if err := term.PrintJSON(doc); err != nil {
			return err
		}
	}
	if failed {
		return term.ErrSaid
	}
	return nil
}

// dirs returns the folders of the models to verify.
func (c modelVerifyCmd) dirs() ([]string, error) {
	if c.Dir != "" {
		dir, err := filepath.Abs(c.Dir)
		return []string{dir}, err
	}
	models, err := modelsDir(c.Config)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(models)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		dirs = append(dirs, filepath.Join(models, e.Name()))
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("there is no model in %s: approver model add DIR adds one", models)
	}
	return dirs, nil
}

func (c modelVerifyCmd) verify(ctx context.Context, dir string) modelDoc {
	m, err := modeldir.Check(dir)
	if err != nil {
		return modelDoc{Model: dir, Error: err.Error()}
	}
	doc := modelDocOf(dir, m)
	program, err := c.program()
	if err != nil {
		doc.Scores = "not checked: approver-classifier is not installed"
		if c.Program != "" || c.Library != "" {
			doc.Error = "approver-classifier: " + err.Error()
		}
		return doc
	}
	if err := tryModel(ctx, sidecar.Config{Program: program, Library: c.Library, Model: dir,
		Manifest: m.Sum}); err != nil {
		doc.Error = err.Error()
		return doc
	}
	doc.Scores = fmt.Sprintf("%s as in the manifest", words.Count(uint64(len(m.Manifest.Golden)), "score"))
	if len(m.Manifest.Golden) == 0 {
		doc.Scores = "the manifest has no golden texts; the program loads the model"
	}
	return doc
}

// program returns the path of approver-classifier.
func (c modelVerifyCmd) program() (string, error) {
	if c.Program != "" {
		return filepath.Abs(c.Program)
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "approver-classifier")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	found, err := exec.LookPath("approver-classifier")
	if err != nil {
		return "", err
	}
	return filepath.Abs(found)
}

// tryModel starts the classifier once, and returns an error if it does not work.
func tryModel(ctx context.Context, cfg sidecar.Config) error {
	s, err := sidecar.New(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Run(ctx) // its only error is that ctx ended
	}()
	defer func() {
		cancel()
		<-done
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		switch st := s.Status(); {
		case st.Well():
			return nil
		case st.Error != "":
			return errors.New(st.Error)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
