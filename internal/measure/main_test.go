package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// judging is a program that asks about lines with rm and denies those with mkfs.
const judging = `#!/bin/sh
while read -r line; do case "$line" in
*mkfs*) echo '{"id": 1, "decision": "deny", "rule": "m"}' ;;
*rm*) echo '{"id": 1, "decision": "ask"}' ;;
*) echo '{"id": 1, "decision": "pass"}' ;;
esac; done
`

const corpus = `{"id": "1", "source": "a", "label": "danger", "half": "read", "command": "rm -rf x"}
{"id": "2", "source": "a", "label": "danger", "half": "read", "command": "mkfs /dev/sda"}
{"id": "3", "source": "b", "label": "danger", "half": "read", "command": "dd of=/dev/sda"}
{"id": "4", "source": "b", "label": "danger", "half": "read", "command": "shred x"}
{"id": "5", "source": "a", "label": "danger", "half": "unread", "command": "wipefs y"}
{"id": "6", "source": "c", "label": "honest", "half": "read", "command": "rm out"}
{"id": "7", "source": "c", "label": "honest", "half": "unread", "command": "rm secret"}
`

// made returns a program and a corpus with files.
func made(t *testing.T, files map[string]string) (program, dir string) {
	t.Helper()
	dir = t.TempDir()
	program = filepath.Join(t.TempDir(), "approver")
	if err := os.WriteFile(program, []byte(judging), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return program, dir
}

func TestTable(t *testing.T) {
	program, dir := made(t, map[string]string{"c.jsonl": corpus, "struck.tsv": "4\tshreds a file of its own\n"})
	var out strings.Builder
	if err := measure(&out, program, "", "", true, dir); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"label half commands sources interrupted % denied % mean over sources struck out mean without them",
		"danger read 4 2 50.00 25.00 50.00 1 50.00", "danger unread 1 1 0.00 0.00 0.00 0 0.00",
		"honest read 1 1 100.00 0.00 100.00 0 100.00", "honest unread 1 1 100.00 0.00 100.00 0 100.00", "",
		"read half by source", "danger a 2 100.00 50.00", "danger b 2 0.00 0.00", "honest c 1 100.00 0.00",
		"", "judged as written into a Dockerfile: docker",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// What builds an image is what an agent writes into a Dockerfile.
func TestImagesAreWritten(t *testing.T) {
	program, dir := made(t, map[string]string{"c.jsonl": `{"source": "docker", "label": "honest", "half": "read", ` +
		`"command": "rm x"}` + "\n"})
	script := strings.Replace(judging, "*mkfs*", "*RUN*", 1)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for images, want := range map[bool]string{
		true: "honest docker 1 100.00 100.00", false: "honest docker 1 100.00 0.00",
	} {
		var out strings.Builder
		if err := measure(&out, program, "", "", images, dir); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(got, want) {
			t.Errorf("%v: %s", images, got)
		}
	}
}

// What nobody may read is not listed.
func TestListHasOnlyTheReadHalf(t *testing.T) {
	program, dir := made(t, map[string]string{"c.jsonl": corpus})
	for label, want := range map[string]string{"danger": "34", "honest": "6", "allow": ""} {
		var out strings.Builder
		if err := measure(&out, program, "", label, true, dir); err != nil {
			t.Fatal(err)
		}
		var ids string
		for line := range strings.Lines(out.String()) {
			_, rest, _ := strings.Cut(line, `{"id":"`)
			ids += rest[:1]
		}
		if ids != want || strings.Contains(out.String(), "secret") {
			t.Errorf("%s: %q\n%s", label, ids, &out)
		}
	}
}

func TestBadCorpus(t *testing.T) {
	for text, want := range map[string]string{
		"": "has no commands", "{": "c.jsonl:1: ",
		`{"source": "a", "label": "good", "half": "read", "command": "x"}`:  "c.jsonl:1: label, half",
		`{"source": "a", "label": "honest", "half": "all", "command": "x"}`: "c.jsonl:1: label, half",
		`{"source": "a", "label": "honest", "half": "read", "command": ""}`: "c.jsonl:1: label, half",
		strings.Replace(corpus, "danger", "dangerous", 1):                   "c.jsonl:1: label, half",
		strings.TrimSuffix(corpus, "}\n"):                                   "c.jsonl:7: ",
	} {
		program, dir := made(t, map[string]string{"c.jsonl": text})
		err := measure(new(strings.Builder), program, "", "", true, dir)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	program, dir := made(t, map[string]string{"c.jsonl": corpus, "struck.tsv": "4\n"})
	err := measure(new(strings.Builder), program, "", "", true, dir)
	if err == nil || !strings.Contains(err.Error(), "4 has no reason") {
		t.Errorf("a strike without a reason: %v", err)
	}
	if err := measure(new(strings.Builder), filepath.Join(dir, "none"), "", "", true, dir); err == nil {
		t.Error("no program, and no error")
	}
}
