package scorer

import (
	"approver.example/cmd/approver-classifier/tokenizer"
	"approver.example/shieldcore/modeldir"
)

// A Model is a model's directory whose tokenizer is known.
type Model struct {
	*modeldir.Model
	Tokenizer *tokenizer.Tokenizer
}

// Open checks a model's directory and reads its tokenizer. It refuses one that it does
// not know in every part.
func Open(dir string) (*Model, error) {
	m, err := modeldir.Open(dir)
	if err != nil {
		return nil, err
	}
	tok, err := tokenizer.Load(m.TokenizerJSON)
	if err != nil {
		return nil, err
	}
	m.TokenizerJSON = nil // it was read
	return &Model{m, tok}, nil
}
