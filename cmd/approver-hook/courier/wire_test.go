package courier

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"approver.example/httpapi/peercred"
	"approver.example/httpapi/wire"
)

// reply builds an answer of the daemon.
func reply(exit int, stderr, stdout string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nApprover-Exit: %d\r\nApprover-Stderr-Bytes: %d\r\n"+
		"Date: Fri, 21 Nov 2026 01:02:03 GMT\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s%s",
		exit, len(stderr), len(stderr)+len(stdout), stderr, stdout)
}

func TestReadReply(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 100_000) + `"}` + "\n"
	for _, tt := range []struct {
		exit           int
		stderr, stdout string
	}{
		{0, "", ""},
		{0, "", "{}"},
		{0, "", "{\"a\":1}\n"},
		{0, "a note\n", ""},
		{2, "no\n", ""},
		{2, "no\n", "{\"a\":1}\n"},
		{2, "no\n\x00\xff", long},
	} {
		text := reply(tt.exit, tt.stderr, tt.stdout)
		for name, r := range map[string]io.Reader{
			"whole":         strings.NewReader(text),
			"byte by byte":  iotest.OneByteReader(strings.NewReader(text)),
			"data with EOF": iotest.DataErrReader(strings.NewReader(text)),
		} {
			a, _, err := readReply(r)
			if err != nil || a.Exit() != tt.exit || string(a.Stderr) != tt.stderr || string(a.Stdout) != tt.stdout {
				t.Errorf("%s: %+v, %v, want %+v", name, a, err, tt)
			}
		}
	}
}

// oddReplies are whole answers that no daemon of ours gives. All of them block.
var oddReplies = map[string]string{
	"not HTTP":                   "hello\r\n\r\n",
	"another version":            strings.Replace(reply(0, "", ""), "1.1", "1.0", 1),
	"no status":                  strings.Replace(reply(0, "", ""), "200 OK", "", 1),
	"a longer status":            strings.Replace(reply(0, "", ""), "200", "2000", 1),
	"204":                        strings.Replace(reply(0, "", ""), "200 OK", "204 No Content", 1),
	"302":                        strings.Replace(reply(0, "", ""), "200 OK", "302 Found", 1),
	"400":                        strings.Replace(reply(0, "", ""), "200 OK", "400 Bad Request", 1),
	"403":                        strings.Replace(reply(0, "", ""), "200 OK", "403 Forbidden", 1),
	"413":                        strings.Replace(reply(0, "", ""), "200 OK", "413 Too Large", 1),
	"500":                        strings.Replace(reply(0, "", ""), "200 OK", "500 Internal Server Error", 1),
	"503":                        strings.Replace(reply(0, "", ""), "200 OK", "503 Service Unavailable", 1),
	"100 first":                  "HTTP/1.1 100 Continue\r\n\r\n" + reply(0, "", ""),
	"no headers":                 "HTTP/1.1 200 OK\r\n\r\n",
	"no exit":                    strings.Replace(reply(0, "", ""), "Approver-Exit: 0\r\n", "", 1),
	"a block without an exit":    strings.Replace(reply(2, "no", ""), "Approver-Exit: 2\r\n", "", 1),
	"no stderr length":           strings.Replace(reply(0, "", ""), "Approver-Stderr-Bytes: 0\r\n", "", 1),
	"no length":                  strings.Replace(reply(0, "", ""), "Content-Length: 0\r\n", "", 1),
	"exit 1":                     reply(1, "no", ""),
	"exit 3":                     reply(3, "no", ""),
	"exit -1":                    reply(-1, "no", ""),
	"exit 02":                    strings.Replace(reply(2, "no", ""), "Exit: 2", "Exit: 02", 1),
	"exit in words":              strings.Replace(reply(0, "", ""), "Exit: 0", "Exit: zero", 1),
	"empty exit":                 strings.Replace(reply(0, "", ""), "Exit: 0", "Exit:", 1),
	"exit twice":                 strings.Replace(reply(2, "no", ""), "Date:", "approver-exit: 0\r\nDate:", 1),
	"length twice":               strings.Replace(reply(0, "", ""), "Date:", "Content-Length: 0\r\nDate:", 1),
	"stderr longer than body":    strings.Replace(reply(2, "no", ""), "Stderr-Bytes: 2", "Stderr-Bytes: 3", 1),
	"negative stderr":            strings.Replace(reply(2, "no", ""), "Stderr-Bytes: 2", "Stderr-Bytes: -2", 1),
	"huge length":                strings.Replace(reply(0, "", ""), "Length: 0", "Length: 8388609", 1),
	"overflowing length":         strings.Replace(reply(0, "", ""), "Length: 0", "Length: 18446744073709551616", 1),
	"chunked":                    strings.Replace(reply(0, "", ""), "Date:", "Transfer-Encoding: chunked\r\nDate:", 1),
	"compressed":                 strings.Replace(reply(0, "", ""), "Date:", "Content-Encoding: gzip\r\nDate:", 1),
	"a header without a colon":   strings.Replace(reply(0, "", ""), "Date:", "Date", 1),
	"a header without a name":    strings.Replace(reply(0, "", ""), "Date:", ":", 1),
	"a header with a space":      strings.Replace(reply(0, "", ""), "Date:", "Da te:", 1),
	"a folded header":            strings.Replace(reply(0, "", ""), "Date:", " Approver-Exit:", 1),
	"a line end of another kind": strings.Replace(reply(2, "no", ""), "Date: ", "Date: \nApprover-Exit: 0\n", 1),
	"a line end in the status":   strings.Replace(reply(0, "", ""), "OK", "O\n\r", 1),
	"a control byte as a name":   strings.Replace(reply(0, "", ""), "Date:", "\x10:", 1),
	"a NUL in a header":          strings.Replace(reply(0, "", ""), "Date: ", "Date: \x00", 1),
	"more than its length":       reply(0, "", "") + "{}",
	"a block without a reason":   reply(2, "", ""),
	"a block on stdout only":     reply(2, "", "{}"),
	"text on stdout":             reply(0, "", "all is well"),
	"no JSON in braces":          reply(0, "", "{]}"),
	"a key without a value":      reply(0, "", `{"a"}`),
	"a comma too many":           reply(0, "", `{"a":1,}`),
	"a string without an end":    reply(0, "", `{"a":"}`),
	"an escape of no kind":       reply(0, "", `{"a":"\x"}`),
	"two documents":              reply(0, "", `{}{}`),
	"the answer twice":           reply(0, "", "{}") + reply(0, "", "{}"),
	"a pass behind a block":      reply(2, "no", "") + reply(0, "", ""),
	"a byte behind it":           reply(0, "", "{}\n") + " ",
	"a log line first":           reply(0, "", "log\n{}\n"),
	"two lines":                  reply(0, "", "{}\n{}\n"),
	"two line ends":              reply(0, "", "{}\n\n"),
	"a cut document":             reply(0, "", `{"hookSpecificOutput":{"perm`),
	"an array":                   reply(0, "", "[]"),
	"a lone line end":            reply(0, "", "\n"),
	"a byte order mark":          reply(0, "", "\xef\xbb\xbf{}"),
	"stdout not UTF-8":           reply(0, "", "{\"\xff\":1}"),
	"an endless head":            "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 2000) + "\r\n",
}

// behind are those that are whole before what is wrong with them.
var behind = map[string]bool{"the answer twice": true, "a pass behind a block": true, "a byte behind it": true}

func TestReadReplyOdd(t *testing.T) {
	for name, text := range oddReplies {
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			a, _, err := readReply(r)
			var strange oddError
			// Byte by byte, what comes behind the length is not looked at: the
			// answer was whole before.
			if _, slow := r.(*strings.Reader); !slow &&
				(name == "more than its length" || name == "100 first" || behind[name]) && err == nil {
				continue
			}
			if !errors.As(err, &strange) {
				t.Errorf("%s: %+v, %v, want an odd reply", name, a, err)
			}
		}
	}
}

// Every answer that is cut off is a lost connection, so the courier comes back
// and does not take it for anything.
func TestReadReplyCutOff(t *testing.T) {
	text := reply(2, "no\n", "{\"a\":1}\n")
	for i := range len(text) {
		a, _, err := readReply(strings.NewReader(text[:i]))
		var strange oddError
		if err == nil || errors.As(err, &strange) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %+v, %v", text[:i], a, err)
		}
	}
}

// What is accepted is what net/http reads too.
func FuzzReadReply(f *testing.F) {
	for _, text := range oddReplies {
		f.Add([]byte(text))
	}
	f.Add([]byte(reply(0, "", "")))
	f.Add([]byte(reply(2, "no\n", "{\"a\":1}\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, _, err := readReply(bytes.NewReader(data))
		if err != nil {
			return
		}
		res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(data)), nil)
		if err != nil {
			t.Fatalf("net/http reads no answer: %v", err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != 200 || res.Header.Get(wire.Exit) != fmt.Sprint(a.Exit()) ||
			res.Header.Get(wire.StderrBytes) != fmt.Sprint(len(a.Stderr)) ||
			string(body) != string(a.Stderr)+string(a.Stdout) {
			t.Errorf("%+v, but net/http reads %+v %q", a, res, body)
		}
		if a.Exit() == 2 && len(a.Stderr) == 0 {
			t.Error("a block without a reason")
		}
		if bytes.Count(a.Stdout, []byte("\n")) > 1 || len(a.Stdout) > 0 && a.Stdout[0] != '{' {
			t.Errorf("stdout %q", a.Stdout)
		}
	})
}

func TestDecimal(t *testing.T) {
	for s, want := range map[string]int{
		"0": 0, "7": 7, "10": 10, "100": 100,
		"": -1, "101": -1, "00": -1, "07": -1, "-1": -1, "+1": -1, " 1": -1, "1 ": -1, "0x1": -1, "１": -1,
		"99999999999999999999": -1,
	} {
		if got := decimal(s, 100); got != want {
			t.Errorf("decimal(%q) = %d, want %d", s, got, want)
		}
	}
}

// A hook says which files it sees, so that a daemon that sees others does not judge by its own.
func TestTheHookSaysWhatItSees(t *testing.T) {
	root := peercred.Root()
	if root == "" {
		t.Skip("this system does not name what a process sees: only Linux does")
	}
	if got := string(call{}.request("claude", "")); !strings.Contains(got, "\r\n"+wire.Root+": "+root+"\r\n") {
		t.Errorf("%q", got)
	}
}

// It also says where it was started: in the folder in which it is started next time, whatever folder a call has.
func TestTheHookSaysWhereItWasStarted(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("a b%\n", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir("a b%\n")
	got := string(call{}.request("claude", ""))
	if !strings.Contains(got, "\r\n"+wire.Start+": /") || !strings.Contains(got, "/a%20b%25%0A\r\n") {
		t.Errorf("%q", got)
	}
}
