package fingerprint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// errShape means that a package.json is not one that npm accepts.
var errShape = errors.New("not one object")

// packageScripts are all values of each script of a package.json. If a name is there
// twice, tools differ in which one they take. Names are case-sensitive.
func packageScripts(text string) (map[string][]string, error) {
	text = strings.TrimPrefix(text, "\ufeff") // npm takes it
	scripts := map[string][]string{}
	if strings.TrimSpace(text) == "" {
		return scripts, nil
	}
	err := members([]byte(text), func(key string, value json.RawMessage) error {
		if key != "scripts" || len(value) == 0 || value[0] != '{' {
			return nil // npm drops scripts that are no object
		}
		return members(value, func(name string, script json.RawMessage) error {
			var command string
			if json.Unmarshal(script, &command) == nil { // nobody runs what is no text
				scripts[name] = append(scripts[name], command)
			}
			return nil
		})
	})
	return scripts, err
}

// members calls each for the members of a JSON object, after which nothing may follow.
func members(text []byte, each func(key string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errShape, err)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		key, _ := t.(string) // the decoder takes nothing else for a key
		if err := each(key, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the end of the object
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.Join(errShape, err)
	}
	return nil
}
