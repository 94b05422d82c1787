package settings

import (
	"encoding/json"
	"errors"
	"testing"
)

// The story: doctor said "json: cannot unmarshal string into Go struct field Settings.hooks of type
// []settings.Matcher" of a file in which somebody had written one hook in another form.
func TestErrorsAreInTheWordsOfTheFile(t *testing.T) {
	for text, want := range map[string]string{
		`{"hooks":{"Stop":"x"}}`:                          `f:1:18: "hooks.Stop" is a text, and has to be a list`,
		"{\"hooks\":\n[]}":                                `f:2:1: "hooks" is a list, and has to be an object`,
		`{"hooks":{"Stop":[{"matcher":5,"hooks":[]}]}}`:   `f:1:30: "hooks.Stop.0.matcher" is a number, and has to be a text`,
		`{"hooks":{"Stop":[{"matcher":"5","hooks":{}}]}}`: `f:1:42: "hooks.Stop.0.hooks" is an object, and has to be a list`,
		`{"off":"no","hooks":{}}`:                         `f:1:8: "off" is a text, and has to be true or false`,
		`{"n":true}`:                                      `f:1:6: "n" is true or false, and has to be a number`,
		`[]`:                                              `f:1:1: the whole of it is a list, and has to be an object`,
		"{\n  \"hooks\": nil}":                            `f:2:13: invalid character 'i' in literal null (expecting 'u')`,
	} {
		var into struct {
			Hooks map[string][]Matcher
			Off   bool
			N     float64
		}
		err := InFile("f", []byte(text), json.Unmarshal([]byte(text), &into))
		if Why(err) != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		if !errors.As(err, &syntax) && !errors.As(err, &kind) {
			t.Errorf("%s: what it was is lost", text)
		}
	}
	if err := InFile("f", nil, errors.New("it is closed")); Why(err) != "f: it is closed" {
		t.Error(err)
	}
}
