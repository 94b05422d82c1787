package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// wrong is an error at a place of the file.
func wrong(at, format string, args ...any) error {
	return fmt.Errorf("tokenizer.json: %s: %s", at, fmt.Sprintf(format, args...))
}

func unknown(at, what, kind, known string) error {
	return wrong(at+".type",
		"the %s %q is not known here, and a text that is read otherwise than in training would get past the model: "+
			"known are %s", what, clip(kind), known)
}

// clip shortens a quote from the file in a message.
func clip(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}

func index(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

// absent is true for a section that is left out or null.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// keys are the allowed keys of an object, each with the reader of its value; nil for one
// that is read elsewhere.
type keys map[string]*field

type field struct {
	to       any
	required bool
}

func need(to any) *field { return &field{to, true} }
func may(to any) *field  { return &field{to, false} }

// object reads an object. An unknown key, a missing key and a value of another kind are
// errors. Unlike in encoding/json, keys are case-sensitive.
func object(at string, raw json.RawMessage, known keys) error {
	var values map[string]json.RawMessage
	if err := decode(at, raw, &values); err != nil {
		return err
	}
	if values == nil {
		return wrong(at, "it must be an object, and is null")
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if _, ok := known[key]; !ok {
			return wrong(at, "the key %q is not known: %s", clip(key), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(known)) {
		f := known[key]
		raw, given := values[key]
		switch {
		case f == nil || !given && !f.required:
		case !given || f.required && absent(raw):
			return wrong(at+"."+key, "it is missing")
		default:
			if err := decode(at+"."+key, raw, f.to); err != nil {
				return err
			}
		}
	}
	return nil
}

func decode(at string, raw json.RawMessage, to any) error {
	err := json.Unmarshal(raw, to)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return wrong(at, "it must be %v, and is %s", kind.Type, kind.Value)
	}
	return wrong(at, "%v", err)
}

// kindOf is the type of a normalizer, pre-tokenizer, model or post-processor.
func kindOf(at string, raw json.RawMessage) (string, error) {
	var values map[string]json.RawMessage
	if err := decode(at, raw, &values); err != nil {
		return "", err
	}
	var kind string
	if values["type"] == nil {
		return "", wrong(at+".type", "it is missing")
	}
	return kind, decode(at+".type", values["type"], &kind)
}

// maxNested is how many elements a sequence may have.
const maxNested = 32

// sequence reads the parts of a Sequence, which must not be sequences themselves.
func sequence[T any](at string, raw json.RawMessage, key string, read func(at string, raw json.RawMessage) (T, error)) (
	all []T, err error) {
	var list []json.RawMessage
	if err := object(at, raw, keys{"type": nil, key: need(&list)}); err != nil {
		return nil, err
	}
	if len(list) > maxNested {
		return nil, wrong(at+"."+key, "it has %d elements: at most %d are possible", len(list), maxNested)
	}
	for i, raw := range list {
		at := index(at+"."+key, i)
		if kind, err := kindOf(at, raw); err != nil || kind == "Sequence" {
			return nil, errors.Join(err, wrong(at, "a sequence in a sequence is not known here"))
		}
		part, err := read(at, raw)
		if err != nil {
			return nil, err
		}
		all = append(all, part)
	}
	return all, nil
}
