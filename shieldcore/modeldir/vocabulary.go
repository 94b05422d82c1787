package modeldir

import (
	"encoding/json"
	"errors"
	"fmt"
)

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
