package modeldir

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// A message describes a message of onnx.proto by the fields that hold other messages.
// That is enough to find every tensor in a model.
type message map[uint64]string

// tensors are the ways to a TensorProto, by the numbers of onnx.proto.
func tensors() map[string]message {
	return map[string]message{
		"ModelProto":    {7: "GraphProto", 20: "TrainingInfo", 25: "FunctionProto"},
		"TrainingInfo":  {1: "GraphProto", 2: "GraphProto"},
		"GraphProto":    {1: "NodeProto", 5: "TensorProto", 15: "SparseTensorProto"},
		"FunctionProto": {7: "NodeProto", 11: "AttributeProto"},
		"NodeProto":     {5: "AttributeProto"},
		"AttributeProto": {5: "TensorProto", 6: "GraphProto", 10: "TensorProto", 11: "GraphProto", 22: "SparseTensorProto",
			23: "SparseTensorProto"},
		"SparseTensorProto": {1: "TensorProto", 2: "TensorProto"},
		"TensorProto":       {},
	}
}

// The fields of a TensorProto whose data are in another file.
const (
	tensorExternalData = 13
	tensorDataLocation = 14 // 0 is here, 1 is external
)

const maxONNXDepth = 64 // messages in messages

var errNoONNX = errors.New("it is not an ONNX model")

// selfContained returns an error for a model whose weights are in other files. A runtime
// would read those by their path without a check of their hash.
func selfContained(data []byte) error {
	if len(data) == 0 {
		return errNoONNX
	}
	return walk(data, "ModelProto", tensors(), 0)
}

func walk(data []byte, kind string, kinds map[string]message, depth int) error {
	if depth > maxONNXDepth {
		return fmt.Errorf("%w: graphs in graphs, %d deep", errNoONNX, depth)
	}
	for len(data) > 0 {
		key, n := binary.Uvarint(data)
		if n <= 0 || key > math.MaxUint32 { // the runtime would look at 32 bits of it
			return errNoONNX
		}
		data = data[n:]
		value, content, n := field(key&7, data)
		if n < 0 {
			return errNoONNX
		}
		data = data[n:]
		number := key >> 3
		if kind == "TensorProto" && (number == tensorExternalData || number == tensorDataLocation && value != 0) {
			return errors.New("its weights are in another file (external data): save it as one file")
		}
		if inner := kinds[kind][number]; inner != "" && content != nil {
			if err := walk(content, inner, kinds, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// field reads the value of a field: a number or a content, and how many bytes it
// takes; negative if it is damaged.
func field(wire uint64, data []byte) (value uint64, content []byte, n int) {
	switch wire {
	case 0:
		value, n = binary.Uvarint(data)
		if n <= 0 {
			return 0, nil, -1
		}
		return value, nil, n
	case 1, 5:
		if n = map[uint64]int{1: 8, 5: 4}[wire]; len(data) < n {
			return 0, nil, -1
		}
		return 0, nil, n
	case 2:
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return 0, nil, -1
		}
		end := n + int(size) //nolint:gosec // not more than len(data)
		return 0, data[n:end:end], end
	}
	return 0, nil, -1 // groups are not in onnx.proto
}

// vocabulary is how many tokens a tokenizer.json has: one more than the highest id. It
// does not say that the classifier program knows the rest of the file; that program
// refuses what it does not know when it loads the model.
func vocabulary(data []byte) (int, error) {
	var file struct {
		Model *struct {
			Vocab json.RawMessage `json:"vocab"`
		} `json:"model"`
		Added []struct {
			ID int `json:"id"`
		} `json:"added_tokens"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return 0, fmt.Errorf("tokenizer.json: %w", err)
	}
	if file.Model == nil {
		return 0, errors.New("tokenizer.json: file.model: it is missing")
	}
	size := 0
	var pieces []json.RawMessage // of a Unigram, where a piece's place is its id
	var ids map[string]int       // of a WordPiece
	switch {
	case json.Unmarshal(file.Model.Vocab, &pieces) == nil:
		size = len(pieces)
	case json.Unmarshal(file.Model.Vocab, &ids) == nil:
		for _, id := range ids {
			size = max(size, id+1)
		}
	}
	if size == 0 {
		return 0, errors.New("tokenizer.json: model.vocab: it has no tokens")
	}
	for _, a := range file.Added {
		size = max(size, a.ID+1)
	}
	return size, nil
}
