package sanitize

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"approver.example/shieldcore/internal/leaves"
)

// JSON sanitizes the texts of a document. Keys, numbers, ids, images and the structure
// stay the same. It fails if ctx ends.
func (s Sanitizer) JSON(ctx context.Context, o Origin, doc []byte) (Result, error) {
	if err := s.check(o); err != nil {
		return Result{}, err
	}
	all, err := texts(doc)
	if err != nil {
		return Result{}, err
	}
	findings, err := s.leaves(ctx, o, all)
	if err != nil {
		return Result{}, err
	}
	out, changed := rewritten(doc, all)
	return Result{Text: string(out), Changed: changed, Findings: findings}, nil
}

// Withheld returns a document of the same structure in which a note replaces the first
// text, and all other texts are empty. It fails if there is no text for the note.
func Withheld(o Origin, doc []byte, why string) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	all, err := texts(doc)
	if err != nil {
		return nil, err
	}
	note, at := o.opening()+"withheld by approver: "+why+o.closing(false), -1
	for i := range all {
		if all[i].wrap && at < 0 {
			at = i
		}
	}
	for i := range all {
		switch {
		case i == at || at < 0 && all[i].editable:
			all[i].out, at = note, i
		case !all[i].editable:
			all[i].out = all[i].value
		}
	}
	if at < 0 {
		return nil, errors.New("the result has no text that a note could stand in")
	}
	out, _ := rewritten(doc, all)
	return out, nil
}

// rewritten is the document with the new texts of the leaves.
func rewritten(doc []byte, all []leaf) (out []byte, changed bool) {
	var b bytes.Buffer
	at := 0
	for i := range all {
		l := &all[i]
		if !l.editable || l.out == l.value {
			continue
		}
		changed = true
		b.Write(doc[at:l.start])
		b.Write(quote(l.out))
		at = l.end
	}
	if !changed {
		return doc, false
	}
	b.Write(doc[at:])
	return b.Bytes(), true
}

// quote is a text as a literal of JSON.
func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can always be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// maxDepth bounds how deep a document is nested.
const maxDepth = 512

// texts returns the strings of a document in their order, with the keys.
func texts(doc []byte) (all []leaf, err error) {
	err = leaves.Walk(doc, maxDepth, func(s leaves.Literal) error {
		l := leaf{start: s.Start, end: s.End}
		var key string
		err := json.Unmarshal(doc[s.Start:s.End], &l.value)
		if err == nil && s.Key != nil {
			err = json.Unmarshal(s.Key, &key)
		}
		if err != nil {
			return err
		}
		if !s.IsKey {
			if isBlob(key, l.value) {
				return nil
			}
			l.editable = !isName(key, l.value)
			l.wrap = l.editable && strings.TrimSpace(l.value) != "" && (s.Depth == 0 || bodies[strings.ToLower(key)] ||
				len(l.value) > longText || strings.Contains(l.value, "\n"))
		}
		all = append(all, l)
		return nil
	})
	switch {
	case errors.Is(err, leaves.ErrSyntax):
		return nil, errors.New("the result is not one JSON document")
	case err != nil:
		return nil, fmt.Errorf("the result is %w", err)
	}
	return all, nil
}

// longText is the length from which a text is put between delimiters, whatever its key.
// Short names in a list are not.
const longText = 200

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// bodies are the keys of the main text of a result.
var bodies = set("text stdout stderr output result content contents body llmcontent textresultforllm message " +
	"error markdown html snippet description summary returndisplay results source tool_response")

// names are the keys of values that programs need unchanged.
var names = set("type id uuid uri url href mimetype mime_type name kind role tool_use_id tooluseid taskid " +
	"task_id agentid agenttype backgroundtaskid shellid filepath file_path path filename rawoutputpath " +
	"persistedoutputpath outputfile status resulttype codetext encoding language mode version server " +
	"sessionid session_id cursor nextcursor")

// isName reports whether a value stays unchanged: an id, an address, a kind. A text with
// a space is no name, and neither is a very long one.
func isName(key, value string) bool {
	const most = 2048
	return names[strings.ToLower(key)] && len(value) <= most && utf8.ValidString(value) &&
		!strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r >= 0x7f && r < 0xa0 })
}

// blobs are the keys of encoded data, such as an image.
var blobs = set("data blob base64 image signature thumbnail")

// isBlob reports encoded data. No model reads it as text, and it must not change.
func isBlob(key, value string) bool {
	if !blobs[strings.ToLower(key)] {
		return false
	}
	if rest, ok := strings.CutPrefix(value, "data:"); ok {
		if head, body, ok := strings.Cut(rest, ";base64,"); ok && !strings.ContainsAny(head, " \n") {
			value = body
		}
	}
	return !strings.ContainsFunc(value, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("+/=-_\r\n", r)
	})
}
