package telegramtest

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
)

// params are a call's parameters, whatever encoding they came in.
type params struct {
	url.Values
	files map[string]file
}

type file struct{ name, content string }

// maxUpload is the greatest file that a bot may send, in bytes.
const maxUpload = 50 << 20

// read reads a parameter that is JSON. One that is not there leaves into as it is.
func (p params) read(name string, into any) error {
	if raw := p.Get(name); raw != "" && json.Unmarshal([]byte(raw), into) != nil {
		return bad("can't parse %s JSON object", strings.ReplaceAll(name, "_", " "))
	}
	return nil
}

func readParams(r *http.Request) (params, error) {
	p := params{Values: url.Values{}, files: map[string]file{}}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	r.Body = http.MaxBytesReader(nil, r.Body, maxUpload+1<<20)
	switch kind {
	case "multipart/form-data":
		return p, p.readMultipart(r)
	case "application/json":
		var fields map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&fields); err != nil {
			return p, err
		}
		for name, raw := range fields {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			p.Set(name, text)
		}
		return p, nil
	}
	if err := r.ParseForm(); err != nil {
		return p, err
	}
	p.Values = r.Form
	return p, nil
}

func (p params) readMultipart(r *http.Request) error {
	parts, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) || err != nil && err.Error() == "multipart: NextPart: EOF" {
			return nil // also a body without any part, as of a call without parameters
		}
		if err != nil {
			return err
		}
		if err := p.readPart(part); err != nil {
			return err
		}
	}
}

func (p params) readPart(part *multipart.Part) error {
	content, err := io.ReadAll(part)
	if err != nil {
		return err
	}
	if part.FileName() != "" {
		p.files[part.FormName()] = file{part.FileName(), string(content)}
	} else {
		p.Set(part.FormName(), string(content))
	}
	return nil
}
