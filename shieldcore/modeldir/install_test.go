package modeldir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstall(t *testing.T) {
	from, models := model(t), filepath.Join(t.TempDir(), "models")
	m, err := Make(from, "", 0)
	must(t, err)
	dir, added, err := Install(from, models, &m)
	if err != nil || !added {
		t.Fatal(dir, added, err)
	}
	got, err := Open(dir)
	if err != nil || got.Sum[:16] != filepath.Base(dir) {
		t.Errorf("%+v %v", got, err)
	}
	for _, path := range []string{models, dir, filepath.Join(dir, ModelFile), filepath.Join(dir, ManifestFile)} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	if _, err := os.Stat(filepath.Join(from, ManifestFile)); err == nil {
		t.Error("the source was written to")
	}
	// Again: checked, not written. Damaged: said, not mended.
	if again, added, err := Install(from, models, &m); err != nil || added || again != dir {
		t.Error(again, added, err)
	}
	write(t, filepath.Join(dir, ModelFile), "other")
	if _, added, err := Install(from, models, &m); err == nil || added ||
		!strings.Contains(err.Error(), "it is damaged, or was replaced") {
		t.Error(added, err)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, ModelFile)); string(data) != "other" {
		t.Error("it was overwritten")
	}
	// Another version stands beside it.
	m.Window = 32
	other, added, err := Install(from, models, &m)
	if err != nil || !added || other == dir {
		t.Error(other, added, err)
	}
	entries, err := os.ReadDir(models)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
}

// A model with a manifest is taken as the manifest says, or not at all, and
// nothing is left of the attempt.
func TestInstallWithAManifest(t *testing.T) {
	dir, m := vouched(t)
	models := t.TempDir()
	if _, added, err := Install(dir, models, nil); err != nil || !added {
		t.Fatal(added, err)
	}
	for name, damage := range map[string]func(dir string){
		"is not in the manifest":        func(dir string) { write(t, filepath.Join(dir, "x"), "x") },
		"the SHA-256 of the manifest":   func(dir string) { write(t, filepath.Join(dir, ModelFile), onnx+onnx) },
		"is not a regular file":         func(dir string) { link(t, dir, TokenizerFile) },
		"no such file":                  func(dir string) { remove(t, dir, ConfigFile) },
		"is not one of those of config": func(dir string) { m.Label = "OTHER"; put(t, dir, m) },
	} {
		dir, manifest := vouched(t)
		manifest.Window = 20 // another version than the one that is there
		put(t, dir, manifest)
		damage(dir)
		if _, added, err := Install(dir, models, nil); err == nil || added || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v %v", name, added, err)
		}
	}
	if entries, err := os.ReadDir(models); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}
