package tokenizer

import "encoding/json"

const maxSpecial = 8 // tokens around a text

// template reads the tokens that a post-processor puts around a text.
func template(at string, raw json.RawMessage, size int) (before, after []int, err error) {
	if absent(raw) {
		return nil, nil, nil
	}
	kind, err := kindOf(at, raw)
	if err != nil {
		return nil, nil, err
	}
	switch kind {
	case "TemplateProcessing":
		before, after, err = templateProcessing(at, raw)
	case "BertProcessing":
		before, after, err = bertProcessing(at, raw)
	default:
		err = unknown(at, "post-processor", kind, "TemplateProcessing, BertProcessing")
	}
	if err != nil {
		return nil, nil, err
	}
	if len(before)+len(after) > maxSpecial {
		return nil, nil, wrong(at, "it puts %d tokens around a text: at most %d are possible", len(before)+len(after),
			maxSpecial)
	}
	for _, id := range append(before[:len(before):len(before)], after...) {
		if id < 0 || id >= size {
			return nil, nil, wrong(at, "the id %d is not one of the %d that there are", id, size)
		}
	}
	return before, after, nil
}

func bertProcessing(at string, raw json.RawMessage) (before, after []int, err error) {
	var sep, cls json.RawMessage
	if err := object(at, raw, keys{"type": nil, "sep": need(&sep), "cls": need(&cls)}); err != nil {
		return nil, nil, err
	}
	id := func(at string, raw json.RawMessage) (ids []int, err error) {
		var pair []json.RawMessage
		if err := decode(at, raw, &pair); err != nil {
			return nil, err
		}
		if len(pair) != 2 {
			return nil, wrong(at, "it must be [TOKEN, ID]")
		}
		ids = make([]int, 1)
		return ids, decode(at, pair[1], &ids[0])
	}
	if before, err = id(at+".cls", cls); err != nil {
		return nil, nil, err
	}
	after, err = id(at+".sep", sep)
	return before, after, err
}

func templateProcessing(at string, raw json.RawMessage) (before, after []int, err error) {
	var single []map[string]json.RawMessage
	var pair, tokens json.RawMessage
	if err := object(at, raw, keys{"type": nil, "single": need(&single), "pair": may(&pair),
		"special_tokens": need(&tokens)}); err != nil {
		return nil, nil, err
	}
	var special map[string]struct {
		IDs []int `json:"ids"`
	}
	if err := decode(at+".special_tokens", tokens, &special); err != nil {
		return nil, nil, err
	}
	seen := false
	for i, step := range single {
		at := index(at+".single", i)
		var of struct {
			ID   string `json:"id"`
			Type int    `json:"type_id"`
		}
		name := "SpecialToken"
		if step["Sequence"] != nil {
			name = "Sequence"
		}
		if err := decode(at, step[name], &of); err != nil {
			return nil, nil, err
		}
		token, known := special[of.ID]
		switch {
		case len(step) != 1 || of.Type != 0:
			return nil, nil, wrong(at, "it must be a SpecialToken or a Sequence of type 0")
		case name == "Sequence" && of.ID == "A" && !seen:
			seen = true
		case name == "Sequence" || !known:
			return nil, nil, wrong(at, "%q is not the sequence A, once, or one of the special_tokens", clip(of.ID))
		case seen:
			after = append(after, token.IDs...)
		default:
			before = append(before, token.IDs...)
		}
	}
	if !seen {
		return nil, nil, wrong(at+".single", "the sequence A is missing")
	}
	return before, after, nil
}
