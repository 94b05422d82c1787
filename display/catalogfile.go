package display

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// A catalogFile reads the catalog of one language: a JSON object with the language, its name, whether
// the texts are reviewed, and then the texts. A text is translated by a string, or by an object with
// one string for each plural form. Such an object has "by" if not the first number decides.
type catalogFile struct {
	name string
	data []byte
	dec  *json.Decoder
}

// read reads the catalog, or only what stands before its texts.
func (f *catalogFile) read(whole bool) (*catalog, error) {
	f.dec = json.NewDecoder(bytes.NewReader(f.data))
	f.dec.UseNumber()
	c := &catalog{texts: map[string]translation{}}
	err := f.members(func(key string) error { return f.member(c, key, whole) })
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if c.tag.IsRoot() || c.Name == "" {
		return nil, f.errorf(`"language" and "name" must stand before "texts"`)
	}
	if whole {
		if _, err := f.dec.Token(); !errors.Is(err, io.EOF) {
			return nil, f.errorf("there is something after the catalog")
		}
	}
	return c, nil
}

// errEnough ends the reading of a file before its texts.
var errEnough = errors.New("enough")

func (f *catalogFile) member(c *catalog, key string, whole bool) (err error) {
	switch key {
	case "language":
		if c.Tag, err = f.text(); err != nil {
			return err
		}
		if c.tag, err = language.Parse(c.Tag); err != nil {
			return f.errorf("%q is no language: %w", c.Tag, err)
		}
	case "name":
		c.Name, err = f.text()
	case "reviewed":
		t, err := f.dec.Token()
		is, ok := t.(bool)
		if c.Reviewed = is; err != nil || !ok {
			return f.errorf("reviewed is true or false")
		}
	case "texts":
		if !whole {
			return errEnough
		}
		return f.members(func(english string) error {
			t, err := f.translation(english)
			c.texts[english] = t
			return err
		})
	default:
		return f.errorf("there is no key %q: a catalog has language, name, reviewed and texts", key)
	}
	return err
}

// translation reads what one English text is in this language.
func (f *catalogFile) translation(english string) (t translation, err error) {
	want, ok := verbsOf(english)
	if !ok {
		return t, f.errorf("the English text has a %% that is no plain verb: %q", english)
	}
	t.by = max(slices.IndexFunc(want, func(v verb) bool { return v.kind == "d" }), 0)
	if len(want) > 0 {
		t.by = want[t.by].arg
	}
	token, err := f.dec.Token()
	if err != nil {
		return t, f.broken(err)
	}
	switch token := token.(type) {
	case string:
		t.text = token
		return t, f.fits(want, token)
	case json.Delim:
		if token != '{' {
			break
		}
		t.forms = map[plural.Form]string{}
		err = f.rest(func(key string) error { return f.form(&t, want, key) })
		if err == nil && t.text == "" {
			err = f.errorf(`the form "other" is missing`)
		}
		return t, err
	}
	return t, f.errorf("a translation is a text, or an object with one text for each plural form")
}

// pluralForms are the plural forms, which CLDR gives for each language.
var pluralForms = map[string]plural.Form{
	"zero": plural.Zero, "one": plural.One, "two": plural.Two, "few": plural.Few, "many": plural.Many,
	"other": plural.Other,
}

func (f *catalogFile) form(t *translation, want []verb, key string) error {
	if key == "by" {
		token, err := f.dec.Token()
		number, ok := token.(json.Number)
		if err != nil || !ok {
			return f.errorf("by is the number of the argument that decides")
		}
		n, err := number.Int64()
		if err != nil || !slices.ContainsFunc(want, func(v verb) bool { return int64(v.arg) == n-1 }) {
			return f.errorf("by names no argument of the text")
		}
		t.by = int(n - 1)
		return nil
	}
	form, ok := pluralForms[key]
	if !ok {
		return f.errorf("there is no plural form %q: they are zero, one, two, few, many and other", key)
	}
	text, err := f.text()
	if err != nil {
		return err
	}
	if t.forms[form] = text; form == plural.Other {
		t.text = text
	}
	return f.fits(want, text)
}

// fits checks that a translation has every verb as often as the English text.
func (f *catalogFile) fits(want []verb, text string) error {
	got, ok := verbsOf(text)
	if text == "" {
		return f.errorf("the translation is empty")
	}
	if !ok || !maps.Equal(counted(got), counted(want)) {
		return f.errorf("the translation has other verbs than the English text: %q", text)
	}
	return nil
}

func counted(verbs []verb) map[verb]int {
	n := map[verb]int{}
	for _, v := range verbs {
		n[v]++
	}
	return n
}

// members reads an object, and calls each for the value of every key.
func (f *catalogFile) members(each func(key string) error) error {
	if t, err := f.dec.Token(); err != nil {
		return f.broken(err)
	} else if t != json.Delim('{') {
		return f.errorf("an object must stand here")
	}
	return f.rest(each)
}

// rest reads an object behind its first brace.
func (f *catalogFile) rest(each func(key string) error) error {
	seen := map[string]bool{}
	for f.dec.More() {
		key, err := f.text()
		if err != nil {
			return err
		}
		if seen[key] {
			return f.errorf("%q stands here twice", key)
		}
		seen[key] = true
		if err := each(key); err != nil {
			return err
		}
	}
	if _, err := f.dec.Token(); err != nil {
		return f.broken(err)
	}
	return nil
}

// text reads a string.
func (f *catalogFile) text() (string, error) {
	t, err := f.dec.Token()
	if err != nil {
		return "", f.broken(err)
	}
	s, ok := t.(string)
	if !ok {
		return "", f.errorf("a text must stand here")
	}
	return s, nil
}

func (f *catalogFile) broken(err error) error { return f.errorf("%w", err) }

// errorf is an error with the file and the line that was just read.
func (f *catalogFile) errorf(format string, args ...any) error {
	at := min(int(f.dec.InputOffset()), len(f.data))
	line := 1 + bytes.Count(f.data[:at], []byte("\n"))
	return fmt.Errorf("%s:%d: %w", f.name, line, fmt.Errorf(format, args...))
}
