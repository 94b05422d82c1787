package broadcaster

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

// A store keeps requests while approver is replaced: the record of a request in which every
// field is set is read and written byte for byte as it was recorded.
func TestTheStoredRequestStays(t *testing.T) {
	recorded, err := os.ReadFile("testdata/request.json")
	if err != nil {
		t.Fatal(err)
	}
	var r Request
	dec := json.NewDecoder(bytes.NewReader(recorded))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{r, r.Also[0], r.Ended[0], r.Deeds[0], r.Postings[0], r.Climb} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if f.IsExported() && reflect.ValueOf(v).FieldByIndex(f.Index).IsZero() {
				t.Errorf("the record sets no %T.%s", v, f.Name)
			}
		}
	}
	written, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written, bytes.TrimSpace(recorded)) {
		t.Errorf("written\n%s\nrecorded\n%s", written, recorded)
	}
}
