package broadcaster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
)

func sealedRequest() Request {
	now := time.Unix(1790000000, 0).UTC()
	return Request{
		ID: "0190aaaa-0000-7000-8000-000000000001", CallID: "c1", Holder: "h", Fingerprint: "f",
		Call: approver.ToolCall{ID: "c1", Agent: "claude", Tool: "Bash", Command: "deploy --to orchid",
			Args: json.RawMessage(`{"command":"deploy --to orchid"}`), Dir: "/srv/orchid", Claimed: "ships orchid", At: now},
		Verdict: approver.Verdict{Decision: approver.Ask, Severity: approver.High, Reason: "touches orchid",
			Detail: "orchid is production", Args: json.RawMessage(`{"command":"orchid"}`), TTL: time.Minute},
		Created: now, Due: now.Add(time.Minute), Deadline: now.Add(time.Minute), State: approver.Pending,
		Postings: []Posting{{To: approver.Destination{Channel: "telegram", Conversation: "1"}, Phase: Posted}},
	}
}

func sealer(t *testing.T, keys ...byte) *sealing.Sealer {
	t.Helper()
	var all [][]byte
	for _, k := range keys {
		all = append(all, bytes.Repeat([]byte{k}, 32))
	}
	c, err := sealing.New(all[0], all[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A change of a request that leaves its sealed part as it is does not seal it again. Every change of the call, of
// the verdict, of what a person made of them, or of the key does.
func TestSealedAgainOnlyIfChanged(t *testing.T) {
	c := sealer(t, 1)
	record, err := EncodeRequest(c, sealedRequest())
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(record []byte) string {
		var s storedRequest
		if err := json.Unmarshal(record, &s); err != nil {
			t.Fatal(err)
		}
		return string(s.Sealed)
	}
	same := func(by *sealing.Sealer, change func(r *Request)) bool {
		t.Helper()
		r, err := DecodeRequest(c, record)
		if err != nil {
			t.Fatal(err)
		}
		change(&r)
		next, err := EncodeRequest(by, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRequest(by, next)
		want := r.Resolution.Edit
		if err != nil || !reflect.DeepEqual(got.Call, r.Call) || !reflect.DeepEqual(got.Verdict, r.Verdict) ||
			!reflect.DeepEqual(got.Resolution.Edit, want) || got.Resolution.Approve != r.Resolution.Approve {
			t.Errorf("%+v, %v\nwant %+v", got, err, r)
		}
		return sealed(next) == sealed(record)
	}
	if !same(c, func(r *Request) { r.State, r.Joined = approver.Denied, 3 }) {
		t.Error("it was sealed again")
	}
	for name, change := range map[string]func(r *Request){
		"call":    func(r *Request) { r.Call.Command += " --force" },
		"verdict": func(r *Request) { r.Verdict.Severity = approver.Catastrophic },
		"edit":    func(r *Request) { r.Resolution.Edit = &approver.Edit{Command: "ls", Args: json.RawMessage(`{}`)} },
		"yes": func(r *Request) {
			r.Resolution.Edit, r.Resolution.Approve = &approver.Edit{Command: "ls", Args: json.RawMessage(`{}`)}, true
		},
		"id": func(r *Request) { r.CallID = "another" },
	} {
		if same(c, change) {
			t.Errorf("%s: it was not sealed again", name)
		}
	}
	if same(sealer(t, 2, 1), func(*Request) {}) {
		t.Error("after a rotation it is still under the old key")
	}
}

func TestSealedRequests(t *testing.T) {
	r, c := sealedRequest(), sealer(t, 1)
	record, err := EncodeRequest(c, r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(record), "orchid") || !strings.Contains(string(record), `"state":"pending"`) {
		t.Errorf("the record tells of the call, or not of its state: %s", record)
	}
	got, err := DecodeRequest(c, record)
	if got.sealed = nil; err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("%+v, %v\nwant %+v", got, err, r)
	}
	again, err := EncodeRequest(c, r)
	if err != nil || bytes.Equal(again, record) {
		t.Errorf("the same nonce twice (%v)", err)
	}
	// A new key seals, the old one still opens; without it nothing is known.
	if got, err := DecodeRequest(sealer(t, 2, 1), record); err != nil || got.Call.Command != r.Call.Command {
		t.Errorf("after a rotation: %v", err)
	}
	if _, err := DecodeRequest(sealer(t, 2), record); !errors.Is(err, sealing.ErrUnknownKey) {
		t.Errorf("without the old key: %v", err)
	}
	moved, _ := EncodeRequest(sealer(t, 2, 1), r)
	if _, err := DecodeRequest(sealer(t, 2), moved); err != nil {
		t.Errorf("what is written after a rotation is under the new key: %v", err)
	}
	if _, err := EncodeRequest(&sealing.Sealer{}, r); err == nil {
		t.Error("the zero sealer writes")
	}
	if _, err := sealing.New(make([]byte, 31)); err == nil {
		t.Error("a short key is taken")
	}
}

// Somebody who may write to the store gives a request the payload of another,
// changes one, or writes one in the clear.
//
// This test verifies that none of them is taken for the request's.
func TestAPayloadBelongsToItsRequest(t *testing.T) {
	c, r := sealer(t, 1), sealedRequest()
	other := r
	other.ID, other.Call.Command = "0190aaaa-0000-7000-8000-000000000002", "ls"
	record, _ := EncodeRequest(c, r)
	harmless, _ := EncodeRequest(c, other)
	field := func(record []byte, name string) json.RawMessage {
		var all map[string]json.RawMessage
		if err := json.Unmarshal(record, &all); err != nil {
			t.Fatal(err)
		}
		return all[name]
	}
	with := func(name string, value json.RawMessage) []byte {
		var all map[string]json.RawMessage
		if err := json.Unmarshal(record, &all); err != nil {
			t.Fatal(err)
		}
		if all[name] = value; value == nil {
			delete(all, name)
		}
		out, _ := json.Marshal(all)
		return out
	}
	plain, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for what, forged := range map[string][]byte{
		"another's":      with("sealed", field(harmless, "sealed")),
		"none":           with("sealed", nil),
		"another id":     with("id", field(harmless, "id")),
		"fingerprint":    with("fingerprint", json.RawMessage(`"g"`)),
		"in the clear":   with("tool_call", json.RawMessage(`{"id":"c1","tool":"Bash","command":"ls"}`)),
		"verdict":        with("verdict", json.RawMessage(`{"decision":"ask","severity":"HIGH"}`)),
		"a plain record": plain,
	} {
		if _, err := DecodeRequest(c, forged); !errors.Is(err, approver.ErrTampered) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The story: a key is replaced while a request waits. Its card was shown with a
// code under the old key; the code still counts, and the call is released.
func TestKeysReplacedWhileARequestWaits(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		_, card := x.tg.card(0)
		x.tune(func(o *Options) { o.CodeKey, o.OldCodeKeys = bytes.Repeat([]byte{7}, 32), [][]byte{o.CodeKey} })
		var err error
		if x.Requests.sealer, err = sealing.New(x.CodeKey, x.OldCodeKeys...); err != nil {
			t.Fatal(err)
		}
		out := x.Answers.Reply(t.Context(), typed(approver.ByCode, card))
		if out.Kind != approver.OutcomeApproved {
			t.Errorf("the old card's code: %+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("%+v", v)
		}
	})
}

// What a process remembers of a request that it wrote is what it would read of it, whatever is in it. A
// field that a record does not keep, and one that it changes, must not differ.
func TestWhatIsRememberedIsWhatIsRead(t *testing.T) {
	c := sealer(t, 1)
	check := func(t *testing.T, r Request) *Request {
		t.Helper()
		record, stored, err := encodeRequest(c, r)
		if err != nil {
			t.Fatal(err)
		}
		read, err := DecodeRequest(c, record)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*stored, read) {
			t.Errorf("remembered %+v\nread       %+v", *stored, read)
		}
		return stored
	}
	filled := func(seed int) (r Request) {
		n := seed
		fill(t, reflect.ValueOf(&r).Elem(), &n)
		r.sealed = nil
		return r
	}
	for seed := range 20 {
		r := filled(seed)
		if r.Call.Args == nil || r.Verdict.Found == nil || r.Call.Raw == nil || r.Resolution.Edit == nil {
			t.Fatalf("not filled: %+v", r)
		}
		stored := check(t, r)
		next := *stored // the steps after that
		next.Joined++
		check(t, next)
		next.Resolution.Edit = nil
		check(t, next)
	}
	for name, change := range map[string]func(r *Request){
		"nothing":              func(r *Request) { *r = Request{} },
		"no UTF-8 in the call": func(r *Request) { r.Call.Command = "echo \xff\xfe" },
		"no UTF-8 in a choice": func(r *Request) { r.Verdict.Choices = []approver.Choice{{Label: "\xff"}} },
		"no UTF-8 outside":     func(r *Request) { r.Unbound = []string{"\xff"} },
		"its own replacement":  func(r *Request) { r.Call.Command = "echo \ufffd \\ufffd" },
		"arguments with marks": func(r *Request) { r.Call.Args = json.RawMessage("{ \"a\" : \"<&>\u2028\" }") },
	} {
		t.Run(name, func(t *testing.T) {
			r := filled(3)
			change(&r)
			check(t, r)
		})
	}
}

// fill sets every exported field to something that is not zero.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = time.Unix(1790000000, int64(*n)).UTC()
		return
	case *json.RawMessage:
		*at = json.RawMessage(fmt.Sprintf(`{ "a" : "<%d>" }`, *n))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprint("<s>", *n))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, n)
		fill(t, value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i), n)
			}
		}
	default:
		t.Fatalf("a %s cannot be filled", v.Type())
	}
}
