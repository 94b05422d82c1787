package modeldir

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const tokenizerJSON = `{"version":"1.0","normalizer":null,"pre_tokenizer":{"type":"BertPreTokenizer"},
	"post_processor":{"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]},
	"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",
	"max_input_chars_per_word":100,"vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"ignore":3}}}`

const configJSON = `{"architectures":["BertForSequenceClassification"],"id2label":{"0":"SAFE","1":"INJECTION"}` +
	`,"max_position_embeddings":64}`

// onnx is a model without a node: ir_version 8 and a graph.
const onnx = "\x08\x08\x3a\x00"

// model writes a model's directory without a manifest.
func model(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{ModelFile: onnx, TokenizerFile: tokenizerJSON, ConfigFile: configJSON} {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// vouched writes a model's directory with its manifest.
func vouched(t *testing.T) (string, Manifest) {
	t.Helper()
	dir := model(t)
	m, err := Make(dir, "", 0)
	must(t, err)
	put(t, dir, m)
	return dir, m
}

func put(t *testing.T, dir string, m Manifest) {
	t.Helper()
	data, err := m.Encode()
	must(t, err)
	write(t, filepath.Join(dir, ManifestFile), string(data))
}

func TestOpen(t *testing.T) {
	dir, manifest := vouched(t)
	m, err := Open(dir)
	must(t, err)
	data, _ := os.ReadFile(filepath.Join(dir, ManifestFile))
	if string(m.ONNX) != onnx || m.Target != 1 || m.Labels[1] != "INJECTION" || m.Manifest.Window != 64 ||
		m.Sum != Sum(data) || manifest.Label != "INJECTION" {
		t.Errorf("%+v", m)
	}
	if c, err := Check(dir); err != nil || c.ONNX != nil || c.Tokens != 4 {
		t.Errorf("%+v %v", c, err)
	}
}

// Nothing is opened that the manifest does not vouch for.
func TestWhatIsRefused(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, dir string, m Manifest)
		want   string
	}{
		{"no manifest", func(t *testing.T, dir string, _ Manifest) { remove(t, dir, ManifestFile) },
			"has no manifest.json: approver model add DIR writes one"},
		{"missing file", func(t *testing.T, dir string, _ Manifest) { remove(t, dir, ModelFile) },
			"model.onnx: no such file"},
		{"extra file", func(t *testing.T, dir string, _ Manifest) { write(t, dir+"/model.onnx_data", "x") },
			"model.onnx_data is not in the manifest"},
		{"hidden file", func(t *testing.T, dir string, _ Manifest) { write(t, dir+"/.x", "x") }, ".x is not in the manifest"},
		{"folder", func(t *testing.T, dir string, _ Manifest) { must(t, os.Mkdir(dir+"/onnx", 0o700)) },
			"onnx is not in the manifest"},
		{"other bytes", func(t *testing.T, dir string, _ Manifest) { write(t, dir+"/model.onnx", "onny") },
			"it is damaged, or was replaced"},
		{"other tokenizer", func(t *testing.T, dir string, _ Manifest) { write(t, dir+"/tokenizer.json", tokenizerJSON+" ") },
			"tokenizer.json has SHA-256"},
		{"link", func(t *testing.T, dir string, _ Manifest) { link(t, dir, ModelFile) }, "model.onnx is not a regular file"},
		{"link to the manifest", func(t *testing.T, dir string, _ Manifest) { link(t, dir, ManifestFile) },
			"manifest.json is not a regular file"},
		{"pipe", func(t *testing.T, dir string, _ Manifest) {
			remove(t, dir, ConfigFile)
			must(t, syscall.Mkfifo(dir+"/config.json", 0o600))
		}, "config.json is not a regular file"},
		{"huge manifest", func(t *testing.T, dir string, _ Manifest) {
			must(t, os.Truncate(filepath.Join(dir, ManifestFile), MaxManifest+1))
		}, "at most 1048576 are possible"},
		{"huge tokenizer", func(t *testing.T, dir string, _ Manifest) {
			must(t, os.Truncate(filepath.Join(dir, TokenizerFile), MaxFile+1))
		}, "at most 67108864 are possible"},
		{"label", func(t *testing.T, dir string, m Manifest) { m.Label = "injection"; put(t, dir, m) },
			`label "injection" is not one of those of config.json: SAFE, INJECTION`},
		{"window", func(t *testing.T, dir string, m Manifest) { m.Window = 65; put(t, dir, m) },
			"the model has 64 positions"},
		{"hash missing", func(t *testing.T, dir string, m Manifest) { delete(m.Files, ConfigFile); put(t, dir, m) },
			"files has no config.json"},
		{"path in a name", func(t *testing.T, dir string, m Manifest) { m.Files["../x"] = Sum(nil); put(t, dir, m) },
			`"../x" is not the plain name`},
		{"the manifest itself", func(t *testing.T, dir string,
			m Manifest) {
			m.Files[ManifestFile] = Sum(nil)
			put(t, dir, m)
		}, `"manifest.json" is not the plain name`},
		{"hash in capitals", func(t *testing.T, dir string, m Manifest) {
			m.Files[ModelFile] = strings.ToUpper(m.Files[ModelFile])
			put(t, dir, m)
		}, `the SHA-256 of "model.onnx" must be 64 digits`},
		{"version", func(t *testing.T, dir string, m Manifest) { m.Version = 2; put(t, dir, m) }, "version is 2: 1 is known"},
		{"golden score", func(t *testing.T, dir string, m Manifest) { m.Golden = []Golden{{"x", 2}}; put(t, dir, m) },
			"golden[0] needs a text"},
		{"unknown key", func(t *testing.T, dir string, _ Manifest) { write(t, dir+"/manifest.json", `{"windows":1}`) },
			`unknown field "windows"`},
		{"problem", func(t *testing.T, dir string, m Manifest) {
			replace(t, dir, m, ConfigFile,
				`{"problem_type":"multi_label_classification","id2label":{"0":"SAFE","1":"INJECTION"}}`)
		}, "only single_label_classification is known"},
		{"labels", func(t *testing.T, dir string, m Manifest) {
			replace(t, dir, m, ConfigFile, `{"id2label":{"0":"INJECTION","2":"SAFE"}}`)
		}, "id2label must have different labels, with the ids 0 to 1"},
		{"no model", func(t *testing.T, dir string, m Manifest) { replace(t, dir, m, ModelFile, "<html>") },
			"model.onnx: it is not an ONNX model"},
		{"empty model", func(t *testing.T, dir string, m Manifest) { replace(t, dir, m, ModelFile, "") },
			"model.onnx: it is not an ONNX model"},
		{"weights elsewhere", func(t *testing.T, dir string, m Manifest) {
			replace(t, dir, m, ModelFile, in(7, in(5, "\x70\x01"))) // graph, initializer, data_location
		}, "its weights are in another file"},
		{"weights elsewhere, without a location", func(t *testing.T, dir string, m Manifest) {
			replace(t, dir, m, ModelFile, in(7, in(5, in(13, "x"))))
		}, "its weights are in another file"},
		{"weights elsewhere, of a constant in a branch", func(t *testing.T, dir string, m Manifest) {
			// graph, node If, attribute then_branch, graph, node Constant, attribute value, tensor
			replace(t, dir, m, ModelFile, in(7, in(1, in(5, in(6, in(1, in(5, in(5, "\x70\x01"))))))))
		}, "its weights are in another file"},
		{"tokenizer", func(t *testing.T, dir string, m Manifest) { replace(t, dir, m, TokenizerFile, `{"version":"1.0"}`) },
			"tokenizer.json: file.model: it is missing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, m := vouched(t)
			test.damage(t, dir, m)
			for name, open := range map[string]func(string) (*Model, error){"Open": Open, "Check": Check} {
				if got, err := open(dir); err == nil || got != nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: %v, want %s", name, err, test.want)
				}
			}
		})
	}
}

// in is a field of a message that holds another one.
func in(number byte, content string) string {
	return string([]byte{number<<3 | 2, byte(len(content))}) + content
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, name string) { must(t, os.Remove(filepath.Join(dir, name))) }

// link puts a link to the same bytes in the place of a file.
func link(t *testing.T, dir, name string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), name)
	must(t, os.Rename(filepath.Join(dir, name), to))
	must(t, os.Symlink(to, filepath.Join(dir, name)))
}

// replace puts a file into the directory and its hash into the manifest.
func replace(t *testing.T, dir string, m Manifest, name, text string) {
	t.Helper()
	write(t, filepath.Join(dir, name), text)
	m.Files[name] = Sum([]byte(text))
	put(t, dir, m)
}

func TestMake(t *testing.T) {
	dir := model(t)
	m, err := Make(dir, "", 0)
	if err != nil || m.Label != "INJECTION" || m.Window != 64 || len(m.Files) != 3 ||
		m.Files[ModelFile] != Sum([]byte(onnx)) {
		t.Errorf("%+v %v", m, err)
	}
	write(t, dir+"/README.md", "x")
	if m, err := Make(dir, "SAFE", 32); err != nil || m.Label != "SAFE" || m.Window != 32 || len(m.Files) != 4 {
		t.Errorf("%+v %v", m, err)
	}
	write(t, dir+"/config.json", `{"id2label":{"0":"LABEL_0","1":"LABEL_1"}}`)
	if _, err := Make(dir, "", 0); err == nil ||
		!strings.Contains(err.Error(), "(LABEL_0, LABEL_1): say it with --label") {
		t.Error(err)
	}
	link(t, dir, ModelFile)
	if _, err := Make(dir, "LABEL_1", 0); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Error(err)
	}
	if _, err := Make(t.TempDir(), "x", 0); err == nil || !strings.Contains(err.Error(), "files has no model.onnx") {
		t.Error(err)
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(`{"version":1,"label":"INJECTION","window":512,"files":{"model.onnx":"` + Sum(nil) +
		`","tokenizer.json":"` + Sum(nil) + `","config.json":"` + Sum(nil) + `"},"golden":[{"text":"x","score":0.5}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if err != nil {
			return
		}
		for name := range m.Files {
			if filepath.Base(name) != name || strings.HasPrefix(name, ".") {
				t.Fatalf("%q", name)
			}
		}
		again, err := m.Encode()
		must(t, err)
		if _, err := ParseManifest(again); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzSelfContained(f *testing.F) {
	f.Add([]byte(onnx))
	f.Add([]byte(in(7, in(5, "\x70\x01"))))
	f.Add([]byte(in(7, in(1, in(5, in(6, in(1, in(5, in(5, "\x70\x01")))))))))
	f.Fuzz(func(t *testing.T, data []byte) {
		// A tensor that is found is found behind others too.
		if err := selfContained(data); err != nil && len(data) > 0 && selfContained(append([]byte(onnx), data...)) == nil {
			t.Fatal(err)
		}
	})
}
