package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"approver.example/httpapi/wire"
)

// plainStart is the first line of a courier's request.
const plainStart = "POST " + wire.HookPath + " HTTP/1.1\r\n"

// maxPlainHead bounds the head of a plain request, in bytes.
const maxPlainHead = 8 << 10

// A plainHead is the head of a request that has exactly the form that the courier writes.
type plainHead struct {
	header http.Header
	length int64 // of the body
	closes bool  // no request follows
}

// plainHeaders are the headers that a plain request may have, besides Host, Connection and
// Content-Length.
var plainHeaders = [...]string{"Content-Type", wire.Agent, wire.Call, wire.Deadline, wire.EnvBytes, wire.Park,
	wire.Event, wire.Cut, wire.Root, wire.Start, wire.Alone}

// parsePlain reads a head up to its empty line. ok is false for a head of any other form, which is for
// net/http to read or refuse: a header that is not known, is there twice or is written in another way.
// What it accepts means the same to net/http.
func parsePlain(head string) (p plainHead, ok bool) {
	rest, ok := strings.CutPrefix(head, plainStart)
	if !ok {
		return p, false
	}
	p.header, p.length = make(http.Header, len(plainHeaders)), -1
	values := make([]string, 0, len(plainHeaders))
	host := false
	for rest != "" {
		line, after, ended := strings.Cut(rest, "\r\n")
		name, value, colon := strings.Cut(line, ": ")
		if !ended || !colon || !isPlainValue(value) {
			return p, false
		}
		rest = after
		switch name {
		case "Host":
			if host || value != "approver" {
				return p, false
			}
			host = true
		case "Connection":
			if p.closes || value != "close" {
				return p, false
			}
			p.closes = true
		case "Content-Length":
			n, err := strconv.ParseUint(value, 10, 31)
			if p.length >= 0 || err != nil {
				return p, false
			}
			p.length = int64(n)
		default:
			known := plainName(name)
			if _, twice := p.header[known]; known == "" || twice {
				return p, false
			}
			values = append(values, value)
			p.header[known] = values[len(values)-1 : len(values) : len(values)]
		}
	}
	return p, host && p.length >= 0
}

// plainName returns the constant for a name of plainHeaders, or "".
func plainName(name string) string {
	for _, known := range plainHeaders {
		if name == known {
			return known
		}
	}
	return ""
}

// isPlainValue reports whether a header's value is of printable ASCII, without blanks around it.
func isPlainValue(value string) bool {
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			return false
		}
	}
	return value != "" && value[0] != ' ' && value[len(value)-1] != ' '
}
