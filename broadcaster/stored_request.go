package broadcaster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
)

// A storedRequest is the record of a Request. The call, what a person changed it to, and the
// verdict are sealed: what the agent wants to run, and what was said of it. The rest has to be readable for the clock,
// and is signed by the store where others could write to it. Call and Verdict hide the
// fields of the same name in Request, which are never written.
type storedRequest struct {
	Request
	Call    *approver.ToolCall `json:"tool_call,omitempty"`
	Verdict *approver.Verdict  `json:"verdict,omitempty"`
	sealing.Value
}

// sealedPart is the part of a request that is sealed.
type sealedPart struct {
	Call    approver.ToolCall `json:"tool_call"`
	Verdict approver.Verdict  `json:"verdict"`
	Edit    *approver.Edit    `json:"edit,omitempty"`
	// Runs reports a yes to Edit. Outside of the seal that is a no: a version that knows no edits would take
	// it for a yes to the call that was asked about.
	Runs bool `json:"runs,omitempty"`
}

// A sealedAs is a sealed part as it is stored. Most changes of a request leave it as it is, and then it is not
// sealed again.
type sealedAs struct {
	sealing.Value
	part    sealedPart
	context []byte
}

// holds reports whether it is the sealed part of a request, under the key that seals now.
func (s *sealedAs) holds(sealer *sealing.Sealer, part *sealedPart, context []byte) bool {
	return s != nil && sealer.IsCurrent(s.KeyID) && bytes.Equal(s.context, context) && reflect.DeepEqual(&s.part, part)
}

// sealContext is what the sealed part belongs to. It opens in no other request.
func (s storedRequest) sealContext() []byte {
	return bytes.Join([][]byte{
		[]byte("approver request"), []byte(s.ID), []byte(s.CallID), []byte(s.Fingerprint),
	}, []byte{0})
}

// EncodeRequest returns the record of r.
func EncodeRequest(sealer *sealing.Sealer, r Request) ([]byte, error) {
	record, _, err := encodeRequest(sealer, r)
	return record, err
}

// encodeRequest returns the record of r, and r as everybody reads it from that record.
func encodeRequest(sealer *sealing.Sealer, r Request) (record []byte, stored *Request, err error) {
	edit := r.Resolution.Edit
	part := sealedPart{r.Call, r.Verdict, edit, edit != nil && r.Resolution.Approve}
	s := &storedRequest{Request: r}
	if edit != nil {
		s.Resolution.Approve = false
	}
	sealed := r.sealed
	if context := s.sealContext(); !sealed.holds(sealer, &part, context) {
		plain, err := json.Marshal(&part)
		if err != nil {
			return nil, nil, err
		}
		value, err := sealer.Seal(plain, context)
		if err != nil {
			return nil, nil, err
		}
		sealed = &sealedAs{Value: value, context: context}
		if !replacesBytes(plain) {
			sealed.part = part.reread()
		} else if err := json.Unmarshal(plain, &sealed.part); err != nil {
			return nil, nil, err
		}
	}
	s.Value = sealed.Value
	if record, err = json.Marshal(s); err != nil {
		return nil, nil, err
	}
	if replacesBytes(record) {
		r, err = DecodeRequest(sealer, record)
		return record, &r, err
	}
	sealed.into(&s.Request)
	return record, &s.Request, nil
}

// replacesBytes reports that an encoded text may have other strings than what it was made of, which
// was no UTF-8.
func replacesBytes(encoded []byte) bool { return bytes.Contains(encoded, []byte(`\ufffd`)) }

// reread is the part as it is read from its record: without what is not kept.
func (p sealedPart) reread() sealedPart {
	call, verdict := &p.Call, &p.Verdict
	call.Raw, call.ParkAt, call.Prompt, call.Start = nil, time.Time{}, nil, ""
	call.Args, verdict.Args = compacted(call.Args), compacted(verdict.Args)
	call.At = call.At.Round(0)
	verdict.Found, verdict.Same, verdict.Approval = nil, nil, nil
	verdict.Trial, verdict.Weakened, verdict.Unavailable, verdict.Ruled = false, false, false, false
	verdict.Unasked, verdict.Evaluated, verdict.Unanswered = false, false, false
	if p.Edit != nil {
		edit := *p.Edit
		edit.Args = compacted(edit.Args)
		p.Edit = &edit
	}
	return p
}

// compacted is JSON as it is within a record. What is no JSON cannot be stored either.
func compacted(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return text
	}
	out, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return out
}

// into puts the sealed part into a request.
func (s *sealedAs) into(r *Request) {
	r.sealed = s
	r.Call, r.Verdict, r.Resolution.Edit = s.part.Call, s.part.Verdict, s.part.Edit
	if s.part.Edit != nil {
		r.Resolution.Approve = s.part.Runs
	}
}

// DecodeRequest reads a record. One whose sealed part is in the clear, was changed, or
// belongs to another request is ErrTampered.
func DecodeRequest(sealer *sealing.Sealer, record []byte) (Request, error) {
	var s storedRequest
	if err := json.Unmarshal(record, &s); err != nil {
		return Request{}, err
	}
	if s.Call != nil || s.Verdict != nil || len(s.Sealed) == 0 {
		return Request{}, fmt.Errorf("its payload is not sealed: %w", approver.ErrTampered)
	}
	context := s.sealContext()
	plain, err := sealer.Open(s.Value, context)
	if errors.Is(err, approver.ErrTampered) {
		err = fmt.Errorf("its payload does not open: %w", err)
	}
	if err != nil {
		return Request{}, err
	}
	sealed := &sealedAs{Value: s.Value, context: context}
	if err := json.Unmarshal(plain, &sealed.part); err != nil {
		return Request{}, err
	}
	r := s.Request
	sealed.into(&r)
	return r, nil
}
