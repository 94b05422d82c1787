package courier

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"approver.example/agents/blocking"
	"approver.example/httpapi/peercred"
	"approver.example/httpapi/socketpath"
	"approver.example/httpapi/wire"
)

// A call is what is sent. It is the same on every attempt, except for the remaining time.
type call struct {
	id       string
	env      []byte
	payload  []byte
	cut      bool // the payload is only a part of the standard input
	deadline time.Time
	parkAt   time.Time // zero: never
	alone    bool      // the agent has no dialog in which it could ask somebody
}

// request returns the whole request. It leaves out an event whose name is not valid.
func (c call) request(agent, event string) []byte {
	left := max(time.Until(c.deadline).Milliseconds(), 1)
	b := make([]byte, 0, 512+len(c.env)+len(c.payload))
	b = append(b, "POST "+wire.HookPath+" HTTP/1.1\r\nHost: approver\r\nContent-Type: application/octet-stream\r\n"...)
	b = append(b, "Content-Length: "+strconv.Itoa(len(c.env)+len(c.payload))+"\r\n"...)
	b = append(b, wire.Agent+": "+agent+"\r\n"+wire.Call+": "+c.id+"\r\n"...)
	b = append(b, wire.Deadline+": "+strconv.FormatInt(left, 10)+"\r\n"...)
	if !c.parkAt.IsZero() {
		b = append(b, wire.Park+": "+strconv.FormatInt(max(time.Until(c.parkAt).Milliseconds(), 0), 10)+"\r\n"...)
	}
	if wire.IsEvent(event) {
		b = append(b, wire.Event+": "+event+"\r\n"...)
	}
	if c.cut {
		b = append(b, wire.Cut+": 1\r\n"...)
	}
	if c.alone {
		b = append(b, wire.Alone+": 1\r\n"...)
	}
	if root := peercred.Root(); root != "" {
		b = append(b, wire.Root+": "+root+"\r\n"...)
	}
	if dir, err := os.Getwd(); err == nil {
		b = append(b, wire.Start+": "+wire.EncodeStart(dir)+"\r\n"...)
	}
	b = append(b, wire.EnvBytes+": "+strconv.Itoa(len(c.env))+"\r\n\r\n"...)
	b = append(b, c.env...)
	return append(b, c.payload...)
}

// acknowledgment returns the request that tells the daemon that its answer has arrived.
func (c call) acknowledgment() []byte {
	return []byte("POST " + wire.AckPath + " HTTP/1.1\r\nHost: approver\r\nContent-Length: 0\r\n" + wire.Call + ": " +
		c.id + "\r\n\r\n")
}

// ackWait is how long the courier waits for the daemon to take its acknowledgment.
const ackWait = 2 * time.Second

// acknowledge tells the daemon that the answer has arrived, and repeats that while the daemon
// is too busy (status 503). It ignores every other outcome: the courier has its answer.
func acknowledge(conn *os.File, call call) {
	until := time.Now().Add(ackWait)
	if call.deadline.Before(until) {
		until = call.deadline
	}
	if conn.SetDeadline(until) != nil {
		return
	}
	for {
		if _, err := conn.Write(call.acknowledgment()); err != nil {
			return
		}
		head, rest, err := readHead(conn)
		if err != nil || !strings.HasPrefix(head, "HTTP/1.1 503 ") || !time.Now().Add(firstWait).Before(until) {
			return
		}
		// The body of the 503 is a few words, with a Content-Length.
		length := contentLength(head)
		if length < len(rest) {
			return
		}
		if _, err := io.ReadFull(conn, make([]byte, length-len(rest))); err != nil {
			return
		}
		time.Sleep(firstWait)
	}
}

// contentLength returns the length of a short body, or -1.
func contentLength(head string) int {
	for line := range strings.SplitSeq(head, "\r\n") {
		if name, value, ok := cutHeader(line); ok && strings.EqualFold(name, "Content-Length") {
			return decimal(value, wire.MaxHead)
		}
	}
	return -1
}

// dial connects to the socket and checks who listens before anything is sent. It does not use
// package net, which takes longer to start than everything else. The poller of package os does
// the waiting.
func dial(path string, trust func(uid uint32) error) (*os.File, *trouble) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, &trouble{text: "the approver hook could not make a socket (" + err.Error() + "), so the call was stopped"}
	}
	syscall.CloseOnExec(fd)
	if err = syscall.SetNonblock(fd, true); err == nil {
		err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
	}
	conn := os.NewFile(uintptr(fd), path) // not blocking, so it supports deadlines
	if err != nil {
		_ = conn.Close()
		return nil, connectTrouble(path, err)
	}
	cred, err := peercred.Of(fd)
	if err == nil {
		err = trust(cred.UID)
	}
	if err != nil {
		_ = conn.Close()
		return nil, &trouble{text: "the approver hook does not trust who listens, so the call was stopped: " + err.Error(),
			reached: true}
	}
	return conn, nil
}

func connectTrouble(path string, err error) *trouble {
	switch {
	case errors.Is(err, syscall.EAGAIN): // the listener's queue is full
		return &trouble{text: "approver was too busy to take the call in time, so it was stopped; try again later",
			again: true, reached: true}
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EINTR):
		return &trouble{text: "approver is not running (nobody listens on " + path + "), so the call was stopped; " +
			startIt(path, ""), again: true, cure: startIt(path, "again ")}
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return &trouble{text: "the approver hook may not connect to " + path +
			", so the call was stopped; let this user use the submit socket"}
	}
	return &trouble{text: "the approver hook could not connect to " + path + " (" + err.Error() +
		"), so the call was stopped"}
}

// An oddError is a complete answer that no working daemon gives, or a refusal. It blocks. Every
// other error of readReply means that the connection was lost.
type oddError string

func (e oddError) Error() string { return string(e) }

func odd(what string) error {
	return oddError("approver's answer was not understood (" + what +
		"), so the call was stopped; are daemon and hook of the same version?")
}

// refusals maps the status codes of refusals to reasons that the agent's user can act on.
var refusals = map[string]string{
	"403": "this user may not ask approver, so the call was stopped; admit the uid on the submit socket",
	"413": "the call is larger than approver judges, so it was stopped; make it smaller",
	"503": "too many calls wait for approver, so the call was stopped; try again later",
	"500": "approver could not decide, so the call was stopped; its log says why",
}

// readReply reads and checks one complete answer. ack reports whether the daemon wants its
// receipt acknowledged.
func readReply(r io.Reader) (a blocking.Answer, ack bool, err error) {
	head, body, err := readHead(r)
	if err != nil {
		return blocking.Answer{}, false, err
	}
	exit, length, stderrBytes, ack, err := parseHead(head)
	if err != nil {
		return blocking.Answer{}, false, err
	}
	// Try to read one byte more than announced: an answer that is followed by anything is not
	// valid.
	whole := make([]byte, length+1)
	if len(body) > length {
		return blocking.Answer{}, false, odd("more came than its length")
	}
	n := copy(whole, body)
	if n < length {
		more, err := io.ReadAtLeast(r, whole[n:], length-n)
		switch {
		case errors.Is(err, io.EOF):
			return blocking.Answer{}, false, io.ErrUnexpectedEOF
		case err != nil:
			return blocking.Answer{}, false, err
		case n+more > length:
			return blocking.Answer{}, false, odd("more came than its length")
		}
	}
	whole = whole[:length]
	a = blocking.Answer{Stderr: whole[:stderrBytes], Stdout: whole[stderrBytes:], ExitZero: exit == 0}
	switch {
	case !a.ExitZero && len(a.Stderr) == 0:
		return blocking.Answer{}, false, odd("it blocks without a reason")
	case len(a.Stdout) > 0 && !isDocument(a.Stdout):
		return blocking.Answer{}, false, odd("it is not one line of JSON")
	}
	return a, ack, nil
}

// isDocument reports whether b is one line with a JSON object. An agent would read anything
// else as plain text, and so as no objection.
func isDocument(b []byte) bool {
	b = bytes.TrimSuffix(b, []byte("\n"))
	if !utf8.Valid(b) || bytes.IndexByte(b, '\n') >= 0 || len(b) == 0 || b[0] != '{' {
		return false
	}
	end := jsonValue(b, 0, 0)
	return end == len(b)
}

// readHead reads up to the empty line, and returns what was read after it as rest.
func readHead(r io.Reader) (head string, rest []byte, err error) {
	buf := make([]byte, 0, wire.MaxHead)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if end := bytes.Index(buf, []byte("\r\n\r\n")); end >= 0 {
			return string(buf[:end]), buf[end+4:], nil
		}
		switch {
		case err == nil && len(buf) == cap(buf):
			return "", nil, odd("its head is too long")
		case errors.Is(err, io.EOF):
			return "", nil, io.ErrUnexpectedEOF
		case err != nil:
			return "", nil, err
		}
	}
}

// parseHead reads the status line and the headers that matter. Each of them must occur exactly
// once, except the one that asks for an acknowledgment, which may be missing.
func parseHead(head string) (exit, length, stderrBytes int, ack bool, err error) {
	status, rest, _ := strings.Cut(head, "\r\n")
	code, ok := strings.CutPrefix(status, "HTTP/1.1 ")
	if !ok || len(code) < 3 || len(code) > 3 && code[3] != ' ' || hasControl(status) {
		return 0, 0, 0, false, odd("it is not HTTP")
	}
	if code = code[:3]; code != "200" {
		if text, ok := refusals[code]; ok {
			return 0, 0, 0, false, oddError(text)
		}
		return 0, 0, 0, false, odd("status " + strconv.Quote(code))
	}
	fields := [...]struct {
		name         string
		limit, value int
	}{{wire.Exit, 2, -1}, {"Content-Length", wire.MaxAnswer, -1}, {wire.StderrBytes, wire.MaxAnswer, -1},
		{wire.Ack, 1, -1}}
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\r\n")
		name, value, ok := cutHeader(line)
		if !ok {
			return 0, 0, 0, false, odd("a header is broken")
		}
		if strings.EqualFold(name, "Transfer-Encoding") || strings.EqualFold(name, "Content-Encoding") {
			return 0, 0, 0, false, odd("its body is encoded")
		}
		for i := range fields {
			f := &fields[i]
			if !strings.EqualFold(name, f.name) {
				continue
			}
			if f.value >= 0 {
				return 0, 0, 0, false, odd("the header " + f.name + " occurs twice")
			}
			if f.value = decimal(value, f.limit); f.value < 0 {
				return 0, 0, 0, false, odd("the header " + f.name + " is wrong")
			}
		}
	}
	exit, length, stderrBytes = fields[0].value, fields[1].value, fields[2].value
	switch {
	case exit < 0 || length < 0 || stderrBytes < 0:
		return 0, 0, 0, false, odd("a header is missing")
	case exit == 1:
		return 0, 0, 0, false, odd("the exit code is 1")
	case stderrBytes > length:
		return 0, 0, 0, false, odd("its lengths do not fit")
	}
	return exit, length, stderrBytes, fields[3].value == 1, nil
}

// cutHeader splits a header line. It rejects control characters in names and values, so that
// these cannot hide a different line ending.
func cutHeader(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	for i := range len(name) {
		c := name[i]
		if lower := c | 0x20; (lower < 'a' || lower > 'z') && (c < '0' || c > '9') && c != '-' {
			return "", "", false
		}
	}
	return name, strings.Trim(value, " "), ok && name != "" && !hasControl(value)
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// decimal parses plain digits up to a limit. It returns -1 for anything else.
func decimal(s string, limit int) int {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		if n = 10*n + int(s[i]-'0'); n > limit {
			return -1
		}
	}
	if s == "" || len(s) > 1 && s[0] == '0' {
		return -1
	}
	return n
}

// startIt says how to start the daemon of a socket. The agent's user cannot start an isolated
// daemon, whose sockets are in socketpath.SystemDir.
func startIt(path, again string) string {
	if strings.HasPrefix(path, socketpath.SystemDir+"/") {
		return "whoever administers this machine starts it " + again + "with: sudo systemctl start approver"
	}
	return "start it " + again + "with: approver serve"
}
