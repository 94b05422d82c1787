//go:build unix

package fingerprint

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"approver.example"
	"approver.example/fingerprint/disk"
	"approver.example/reflexcore/effect"
)

// Whatever a command is, it is bound, named or refused, twice the same way.
func FuzzBinder(f *testing.F) {
	for _, command := range []string{
		"cd sub && bash \"my script.sh\" > out.txt", "sudo make -C sub X=$Y deploy", "npm run a -- b",
		"find . -name 'a*' -exec sh {} +", "for f in *; do . $f; done",
		"bash @(a|b).sh", "tail a.log | sh", "docker build -f D .", "kubectl apply -k ..", "a=(x y); ${a[@]}", "<(",
		"go run ./... x.go",
	} {
		f.Add(command)
	}
	dir := f.TempDir()
	for name, text := range map[string]string{
		"Makefile": "include *.mk\nA=b\nall: x\n\t./$(A).sh $@\n", "package.json": `{"scripts":{"a":"npm run a && ./b.sh"}}`,
		"b.sh": "#!/bin/sh\n. ./b.sh\nmake\n", "sub/Makefile": "all:\n\t$(MAKE) -C ..\n",
		"x.mk": "include Makefile\n", "go.mod": "module m\n", "x.go": "package x\nimport _ \"m\"\n", "D": "COPY . .\n",
		"kustomization.yaml": "- ./sub\n- ../\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			f.Fatal(err)
		}
	}
	b := New(engine())
	f.Fuzz(func(t *testing.T, command string) {
		call := approver.ToolCall{Agent: "claude", Tool: "Bash", Command: command, Dir: dir,
			Env: map[string]string{"HOME": dir, "PATH": dir}}
		files, unbound, err := b.Files(t.Context(), call)
		again, unboundAgain, errAgain := b.Files(t.Context(), call)
		if (err == nil) != (errAgain == nil) || !maps.Equal(files, again) || !slices.Equal(unbound, unboundAgain) {
			t.Errorf("%q: once %v %q %v, then %v %q %v", command, files, unbound, err, again, unboundAgain, errAgain)
		}
		if err != nil && (files != nil || unbound != nil) {
			t.Errorf("%q: files come with the error %v", command, err)
		}
		for path, hash := range files {
			if hash == disk.Unreadable && unbound == nil {
				t.Errorf("%q: %s is unreadable and nothing says so", command, path)
			}
		}
		for _, name := range unbound {
			if name == "" || len(name) > 140 || strings.Contains(name, effect.Unknown) {
				t.Errorf("%q: the name %q", command, name)
			}
		}
	})
}

// A makefile has no more in its recipes than in its text, and its end is found.
func FuzzMakefile(f *testing.F) {
	f.Add("A := b\nall: x y ; echo\n\t@./$(A).sh $(shell ls) ${A} $$x\nx:\n\ttrue\n%.o: %.c\n\tcc\n", "all")
	f.Add("include a b\n-include $(C)\nx y: z\n\ta \\\n\tb\nA+=c\ndefine X\n\tq\nendef\n", "y")
	f.Add("$($($(((", "a")
	f.Fuzz(func(t *testing.T, text, target string) {
		m := newMakefile()
		m.read(text)
		asked, maybe := m.recipesOf([]string{target})
		for _, line := range append(asked, maybe...) {
			if strings.Contains(line, "\n") || len(line) > len(text) {
				t.Errorf("%q has the line %q", text, line)
			}
			if out := m.expand(line); len(out) > 2*disk.MaxText {
				t.Errorf("%q becomes %d bytes", line, len(out))
			}
		}
	})
}

// The words of an interpreter are read to their end.
func FuzzStarts(f *testing.F) {
	f.Add("node", "-r ./b --import=c -- x")
	f.Add("perl", "-Ilib -MX=a -lne print")
	f.Fuzz(func(t *testing.T, name, words string) {
		if l := languageOf(name); l != nil {
			if s := l.starts(strings.Fields(words)); len(s.modules)+len(s.dirs) > len(words) {
				t.Errorf("%q: %+v", words, s)
			}
		}
	})
}
