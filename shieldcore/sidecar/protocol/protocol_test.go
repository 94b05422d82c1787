package protocol

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestParseReply(t *testing.T) {
	good := `{"id":"7","score":0.25,"truncated":true,"windows":2}`
	r, err := ParseReply([]byte(good), "7")
	if err != nil || *r.Score != 0.25 || !r.Truncated || r.Windows != 2 {
		t.Errorf("%+v %v", r, err)
	}
	for _, bad := range []string{
		``, `null`, `[]`, `7`, `{}`, `{"id":"7"}`, `{"id":"8","score":0.25}`, `{"id":7,"score":0.25}`,
		`{"id":"7","score":null}`, `{"id":"7","score":"0.25"}`,
		`{"id":"7","score":NaN}`, `{"id":"7","score":1e999}`, `{"id":"7","score":-0.1}`, `{"id":"7","score":1.0001}`,
		`{"id":"7","score":0.1,"error":"x"}`,
		`{"id":"7","score":0.1,"allow":true}`, `{"id":"7","score":0.1}{}`, `{"id":"7","score":0.1} x`,
		"{\"id\":\"7\",\"error\":\"\xff\"}",
	} {
		if r, err := ParseReply([]byte(bad), "7"); err == nil {
			t.Errorf("%s: %+v", bad, r)
		}
	}
	r, err = ParseReply([]byte(`{"id":"7","error":"a\nb`+strings.Repeat("é", 900)+`"}`), "7")
	if err != nil || r.Score != nil || strings.Contains(r.Error, "\n") || len(r.Error) > 1010 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestParseHelloAndRequest(t *testing.T) {
	for _, bad := range []string{``, `{}`, `{"protocol":2}`, `{"protocol":1,"x":1}`} {
		if h, err := ParseHello([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", bad, h)
		}
	}
	for _, bad := range []string{``, `{}`, `{"text":"x"}`, `{"id":"1","text":"` + strings.Repeat("x", MaxText+1) + `"}`,
		`{"id":"1","text":"x","max":1}`} {
		if q, err := ParseRequest([]byte(bad)); err == nil {
			t.Errorf("%.40s: %+v", bad, q)
		}
	}
}

// The greatest request fits into a line, however it is written.
func TestTheGreatestRequestFits(t *testing.T) {
	for _, s := range []string{"\x00", "<", "\xff"} {
		var b strings.Builder
		if err := Write(&b, Request{ID: "18446744073709551615", Text: strings.Repeat(s, MaxText)}); err != nil ||
			b.Len() > MaxRequest+1 {
			t.Errorf("%q: %d bytes, %v", s, b.Len(), err)
		}
	}
}

func TestReadLine(t *testing.T) {
	r := bufio.NewReaderSize(strings.NewReader("one\n\n"+strings.Repeat("x", 100)+"\nrest"), 16)
	for _, want := range []string{"one", "", strings.Repeat("x", 100)} {
		if got, err := ReadLine(r, 100); string(got) != want || err != nil {
			t.Errorf("%q %v", got, err)
		}
	}
	if _, err := ReadLine(r, 100); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if _, err := ReadLine(r, 100); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if _, err := ReadLine(bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 101)+"\n"), 16), 100); !errors.Is(err,
		ErrTooLong) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"id":"7","score":0.25,"truncated":true,"windows":2}`))
	f.Add([]byte(`{"id":"7","error":"x"}`))
	f.Add([]byte(`{"protocol":1,"manifest":"00","window":512}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, err := ParseReply(line, "7"); err == nil &&
			(r.ID != "7" || (r.Score == nil) == (r.Error == "") || r.Score != nil && !(*r.Score >= 0 && *r.Score <= 1)) {
			t.Fatalf("%+v", r)
		}
		if h, err := ParseHello(line); err == nil && h.Error == "" && h.Protocol != Version {
			t.Fatalf("%+v", h)
		}
		if q, err := ParseRequest(line); err == nil && (q.ID == "" || len(q.Text) > MaxText) {
			t.Fatalf("%+v", q)
		}
	})
}
