package settings

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// InFile refuses a file in its own words for what package json said of its text: with the place, and for a
// value of the wrong kind with its key and what is expected. [errors.As] still finds the error.
func InFile(path string, text []byte, err error) error {
	r := &RefusalError{Why: path + ": " + err.Error(), Cure: mend, err: err}
	syntax, kind := (*json.SyntaxError)(nil), (*json.UnmarshalTypeError)(nil)
	switch {
	case errors.As(err, &syntax):
		r.Why = Locate(path, text, int(syntax.Offset)) + ": " + syntax.Error()
	case errors.As(err, &kind):
		at := max(int(kind.Offset)-1, 0)
		key := "the whole of it"
		if v, err := hujson.Parse(text); err == nil {
			if name, from := keyAt(v, at); name != "" {
				key, at = strconv.Quote(name), from
			}
		}
		value, _, _ := strings.Cut(kind.Value, " ") // of a number, what it is follows
		r.Why = Locate(path, text, at+1) + ": " + key + " is " + valueWords[value] + ", and has to be " +
			kindWords[kind.Type.Kind()]
	}
	return r
}

// valueWords are the words for the kinds of values that package json names, and kindWords for those of Go.
var (
	valueWords = map[string]string{"string": "a text", "number": "a number", "bool": "true or false", "array": "a list",
		"object": "an object", "null": "null"}
	kindWords = map[reflect.Kind]string{reflect.String: "a text", reflect.Bool: "true or false", reflect.Slice: "a list",
		reflect.Map: "an object", reflect.Struct: "an object", reflect.Int: "a whole number", reflect.Float64: "a number"}
)

// keyAt returns the key of the innermost value at an offset, such as hooks.Stop.0, and where the value begins.
func keyAt(v hujson.Value, at int) (key string, from int) {
	inside := func(name string, v hujson.Value) bool {
		if at < v.StartOffset || at >= v.EndOffset {
			return false
		}
		key, from = name, v.StartOffset
		if deeper, start := keyAt(v, at); deeper != "" {
			key, from = name+"."+deeper, start
		}
		return true
	}
	switch v := v.Value.(type) {
	case *hujson.Array:
		for i, e := range v.Elements {
			if inside(strconv.Itoa(i), e) {
				break
			}
		}
	case *hujson.Object:
		for _, m := range v.Members {
			if inside(m.Name.Value.(hujson.Literal).String(), m.Value) {
				break
			}
		}
	}
	return key, from
}
