package settings

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tailscale/hujson"

	"approver.example/internal/lazyregexp"
)

// A RefusalError is the error for a file into which install puts no hooks, and in which none can be found.
type RefusalError struct {
	Why  string // with the file, and the place in it where that is known
	Cure string // what somebody has to do there first
	err  error  // because of which; nil: there is none
}

// Unwrap returns the error because of which it is refused.
func (r *RefusalError) Unwrap() error { return r.err }

// Error returns both.
func (r *RefusalError) Error() string { return r.Why + ": " + r.Cure + "; nothing was changed" }

// Refuse returns a [RefusalError].
func Refuse(cure, format string, args ...any) error {
	return &RefusalError{Why: fmt.Sprintf(format, args...), Cure: cure}
}

// mend is the cure for a file that is not as its agent reads it.
const mend = "mend it first"

// Why returns the text of an error, and of a [RefusalError] only why.
func Why(err error) string {
	if r := (*RefusalError)(nil); errors.As(err, &r) {
		return r.Why
	}
	return err.Error()
}

// hujsonAt matches how an error of a JSON parser names the place.
var hujsonAt = lazyregexp.New(`^hujson: line (\d+), column (\d+): `)

// parse parses JSON that may have comments. The error names the place in the file.
func parse(path string, text []byte) (hujson.Value, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		err = Refuse(mend, "%s", hujsonAt().ReplaceAllString(err.Error(), path+":$1:$2: "))
	}
	return v, err
}

// Locate adds the line and the column of an offset in a text to a path. A negative offset is not known.
func Locate(path string, text []byte, at int) string {
	if at < 0 {
		return path
	}
	before := text[:min(at, len(text))]
	line := bytes.Count(before, []byte("\n")) + 1
	return fmt.Sprintf("%s:%d:%d", path, line, max(len(before)-bytes.LastIndexByte(before, '\n')-1, 1))
}

// A placeError is the error for a text that cannot be read at a place.
type placeError struct {
	line, column int // from 1
	why          string
}

// Error says all.
func (p *placeError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", p.line, p.column, p.why)
}

// RefuseText refuses a file whose text cannot be read, and names the place if the error has it.
func RefuseText(path string, err error) error {
	if at := (*placeError)(nil); errors.As(err, &at) {
		return Refuse(mend, "%s:%d:%d: %s", path, at.line, at.column, at.why)
	}
	return Refuse(mend, "%s: %v", path, err)
}

// noObject is the error for a value that has to be an object, such as that of a key.
func noObject(path string, text []byte, v hujson.Value, what string) error {
	kind := "a list"
	if l, ok := v.Value.(hujson.Literal); ok {
		kind = map[hujson.Kind]string{'"': "a text", '0': "a number", 'n': "null", 't': "true", 'f': "false"}[l.Kind()]
	}
	return Refuse(mend, "%s: %s is %s, and has to be an object", Locate(path, text, v.StartOffset+1), what, kind)
}
