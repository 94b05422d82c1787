package audit

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
)

// forge takes a log apart into bodies and seals what change makes of them
// anew, as somebody can who has the file but not the key.
func forge(t *testing.T, content []byte, change func(bodies [][]byte) [][]byte) []byte {
	t.Helper()
	var bodies [][]byte
	for _, line := range split(content) {
		end := bytes.LastIndex(line, []byte(`,"id":"test:`))
		bodies = append(bodies, append(bytes.Clone(line[:end]), '}'))
	}
	at := place{hash: genesis()}
	var out []byte
	for _, b := range change(bodies) {
		out = seal(out, b, "test", &at)
	}
	return out
}

// A forger rewrites the log from the first line on and computes every hash
// anew. Without the key that shows at the first checkpoint.
func TestForgedChains(t *testing.T) {
	mallory, _ := testKey(t)
	edit := func(bodies [][]byte) [][]byte {
		bodies[3] = bytes.Replace(bodies[3], []byte("note 3"), []byte("note X"), 1)
		return bodies
	}
	for _, tt := range []struct {
		name   string
		change func([][]byte) [][]byte
		kind   Kind
		line   int
	}{
		{"nothing changed", func(b [][]byte) [][]byte { return b }, "", 0},
		{"a record is edited", edit, BadSignature, 8},
		{"a record is left out", func(b [][]byte) [][]byte { return slices.Delete(b, 3, 4) }, BadSignature, 7},
		{"a record is added", func(b [][]byte) [][]byte { return slices.Insert(b, 3, b[2]) }, BadSignature, 9},
		{"a checkpoint is left out", func(b [][]byte) [][]byte { return slices.Delete(b, 7, 8) }, BadSignature, 13},
		{"all checkpoints are left out", func(b [][]byte) [][]byte {
			return slices.DeleteFunc(b, isCheckpoint)
		}, Unsigned, 2},
		{"all but the first are left out, in a long log", func(b [][]byte) [][]byte {
			first := b[:2]
			rest := slices.DeleteFunc(slices.Clone(b[2:]), isCheckpoint)
			return append(slices.Clone(first), slices.Repeat(rest, 1+MaxCheckpointEvery/len(rest))...)
		}, Unsigned, MaxCheckpointEvery + 3},
		{"a checkpoint is edited", func(b [][]byte) [][]byte {
			b[7] = bytes.Replace(b[7], []byte(`"seq":7`), []byte(`"seq":6`), 1)
			return b
		}, BadSignature, 8},
		{"a checkpoint has a member more", func(b [][]byte) [][]byte {
			b[7] = bytes.Replace(b[7], []byte(`,"log"`), []byte(`,"x":1,"log"`), 1)
			return b
		}, BadLine, 8},
		{"a checkpoint comes from elsewhere in the log", func(b [][]byte) [][]byte {
			b[7] = b[1]
			return b
		}, BadSignature, 8},
		{"somebody else's key", func(b [][]byte) [][]byte {
			b = edit(b)
			at := place{hash: genesis()}
			for i := range b {
				if isCheckpoint(b[i]) {
					b[i], _ = appendCheckpoint(nil, mallory, "test", at, testTime)
				}
				seal(nil, b[i], "test", &at)
			}
			return b
		}, UnknownKey, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, keys := options(t)
			newLog(t, o, 20)
			path := filepath.Join(o.Dir, activeName)
			writeFile(t, path, forge(t, readFile(t, path), tt.change))
			if tt.kind == "" {
				mustVerify(t, o, keys, nil)
				return
			}
			if b := wantBreak(t, o.Dir, keys, nil); b.Kind != tt.kind || b.Line != tt.line {
				t.Errorf("%v, want %s in line %d", b, tt.kind, tt.line)
			}
		})
	}
}

// Two versions of one log, each sound by itself, are put together.
func TestSplicedChains(t *testing.T) {
	o, keys := options(t)
	newLog(t, o, 4)
	path := filepath.Join(o.Dir, activeName)
	one := readFile(t, path)
	two := forge(t, one, func(b [][]byte) [][]byte {
		b[2] = bytes.Replace(b[2], []byte("note 2"), []byte("note X"), 1)
		return b
	})
	writeFile(t, path, join(append(slices.Clone(split(one)[:3]), split(two)[3:]...)...))
	if b := wantBreak(t, o.Dir, keys, nil); b.Kind != BadPrev || b.Line != 4 || b.Seq != 4 {
		t.Errorf("%v", b)
	}
}

// The end of the log that no checkpoint vouches for yet can be forged. Not so
// behind the back of the store.
func TestForgedEnd(t *testing.T) {
	o, keys := options(t)
	o.CheckpointEvery = 100
	l := open(t, o)
	write(t, l, 5)
	path := filepath.Join(o.Dir, activeName)
	head := l.Head()
	content := readFile(t, path) // as a crash would leave it: unsigned
	forged := forge(t, content, func(b [][]byte) [][]byte {
		b[3] = bytes.Replace(b[3], []byte("note 3"), []byte("note X"), 1)
		return b
	})
	if bytes.Equal(content, forged) {
		t.Fatal("nothing was forged")
	}
	dir := restore(t, map[string][]byte{activeName: forged})
	r, err := Verify(t.Context(), []string{dir}, keys, nil)
	if err != nil || r.Unsigned() != 4 {
		t.Errorf("without the store's word: %v, %d lines unsigned, want 4", err, r.Unsigned())
	}
	if b := wantBreak(t, dir, keys, &head); b.Kind != Rewritten || b.Line != 6 {
		t.Errorf("with the store's word: %v", b)
	}
}
