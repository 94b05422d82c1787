package configs

import (
	"os"
	"path/filepath"
	"testing"
)

// A daemon that runs is reached although its configuration was spoiled under it. Somebody
// made a typing error, and from then on every command said that the daemon was down, freeze
// among them, while calls went on. What the file says of the socket is still found, wherever
// the mistake is; what is not clear is not guessed here.
func TestSocketInASpoiledConfiguration(t *testing.T) {
	const good = "sockets:\n  submit: run/s.sock\n  resolve: run/r.sock\n"
	for _, tt := range []struct{ name, text, want string }{
		{"nothing wrong", good, "run/r.sock"},
		{"in one line", "sockets: {submit: run/s.sock, resolve: run/r.sock}\nx: 1\n", "run/r.sock"},
		{"quoted", "sockets: {resolve: \"run/r.sock\"}\nx: 1\n", "run/r.sock"},
		{"an unknown key", good + "tll: 5m\n", "run/r.sock"},
		{"an unknown key beside it", good + "  sumbit_uids: [1]\n", "run/r.sock"},
		{"a value of the wrong kind", good + "ttl: [1]\n", "run/r.sock"},
		{"a wrong kind beside it", good + "  submit_uids: x\n", "run/r.sock"},
		{"a key without a colon", good + "ttl 5m\n", "run/r.sock"},
		{"an open bracket behind it", good + "ttl: [1\n", "run/r.sock"},
		{"an open bracket before it", "ttl: [1\n" + good, "run/r.sock"},
		{"an open quote behind it", good + "ttl: \"5m\n", "run/r.sock"},
		{"an open quote before it", "ttl: \"5m\n" + good, "run/r.sock"},
		{"a tab", "channels:\n\tterminal: {}\n" + good, "run/r.sock"},
		{"a wrong indentation", "channels:\n    a: 1\n  b: 2\n" + good, "run/r.sock"},
		{"an invisible character elsewhere", "policy: a\u200bb\n" + good, "run/r.sock"},
		{"an anchor elsewhere", "policy: &a x\n" + good, "run/r.sock"},
		{"a tag elsewhere", "policy: !a x\n" + good, "run/r.sock"},
		{"a second document", good + "---\nttl: 5m\n", "run/r.sock"},
		{"a merge's marks", "<<<<<<< HEAD\nttl: 1m\n=======\nttl: 2m\n>>>>>>> x\n" + good, "run/r.sock"},
		{"comments and blanks inside", "ttl: [\nsockets:\n\n# why\n  resolve: run/r.sock\n", "run/r.sock"},
		{"cut off behind it", good + "channels:\n  telegram: {token: \"1234", "run/r.sock"},
		{"carriage returns", "ttl: [\r\nsockets:\r\n  resolve: run/r.sock\r\n", "run/r.sock"},
		{"an absolute one", "ttl: [\nsockets: {resolve: /run/x/r.sock}\n", "/run/x/r.sock"},
		{"cut off before it", "channels:\n  telegram: {token: \"1234", ""},
		{"cut off inside", "sockets:\n  submit: run/s.sock\n  resol", ""},
		{"left out", "ttl: [\n", ""},
		{"left out, and whole", "tll: 1m\n", ""},
		{"empty", "", ""},
		{"no mapping", "just text\n", ""},
		{"empty text", "sockets: {resolve: \"\"}\ntll: 1\n", ""},
		{"a misspelt section", "socket: {resolve: run/r.sock}\n", ""},
		{"a misspelled key", "sockets: {resolv: run/r.sock}\n", ""},
		{"a list", "sockets: {resolve: [run/r.sock]}\n", ""},
		{"no mapping there", "sockets: run/r.sock\n", ""},
		{"twice in what is no YAML", "ttl: [\n" + good + good, ""},
		{"spoiled inside", "sockets:\n  resolve: [run/r.sock\n", ""},
		{"an invisible character inside", "sockets:\n  resolve: run/r\u200b.sock\n", ""},
		{"below another key", "x: [\na:\n  sockets:\n    resolve: run/r.sock\n", ""},
		{"in a comment", "ttl: [\n# sockets: {resolve: run/r.sock}\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := SocketIn([]byte(tt.text))
			if ok != (tt.want != "") || ok && got != tt.want {
				t.Errorf("%q, %v; want %q", got, ok, tt.want)
			}
		})
	}
}

// Somebody else who can write the file does not choose whom the operator's commands speak to.
func TestPlaceOfAFileThatOthersWrite(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	path := filepath.Join(dir, "approver.yaml")
	if err := os.WriteFile(path, []byte("sockets: {resolve: theirs.sock}\ntll: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if at, err := PlaceOf(path); err != nil || !at.Sure || at.Socket != filepath.Join(dir, "theirs.sock") ||
		at.File != path {
		t.Errorf("one's own: %+v, %v", at, err)
	}
	for _, mode := range []os.FileMode{0o622, 0o620, 0o602, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if at, err := PlaceOf(path); err != nil || at.Sure || at.Socket == filepath.Join(dir, "theirs.sock") {
			t.Errorf("mode %04o: %+v, %v", mode, at, err)
		}
	}
	if os.Getuid() != 0 {
		return
	}
	if err := os.Chmod(path, 0o600); err == nil {
		err = os.Chown(path, 4711, 4711)
		if at, placeErr := PlaceOf(path); err != nil || placeErr != nil || at.Sure {
			t.Errorf("somebody else's: %+v, %v, %v", at, err, placeErr)
		}
	}
}

func FuzzSocketIn(f *testing.F) {
	f.Add([]byte("sockets: {resolve: r}\n"))
	f.Add([]byte("x: [\nsockets:\n  resolve: r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, ok := SocketIn(text); ok && got == "" {
			t.Error("an empty socket was found")
		}
	})
}
