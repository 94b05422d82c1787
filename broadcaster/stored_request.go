package broadcaster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

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
	edit := r.Resolution.Edit
	part := sealedPart{r.Call, r.Verdict, edit, edit != nil && r.Resolution.Approve}
	if edit != nil {
		r.Resolution.Approve = false
	}
	s := storedRequest{Request: r}
	if context := s.sealContext(); r.sealed.holds(sealer, &part, context) {
		s.Value = r.sealed.Value
	} else {
		plain, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if s.Value, err = sealer.Seal(plain, context); err != nil {
			return nil, err
		}
	}
	return json.Marshal(s)
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
	var p sealedPart
	if err := json.Unmarshal(plain, &p); err != nil {
		return Request{}, err
	}
	r := s.Request
	r.sealed = &sealedAs{s.Value, p, context}
	r.Call, r.Verdict, r.Resolution.Edit = p.Call, p.Verdict, p.Edit
	if p.Edit != nil {
		r.Resolution.Approve = p.Runs
	}
	return r, nil
}
