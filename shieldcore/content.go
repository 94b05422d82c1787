package shieldcore

import (
	"encoding/json"
	"slices"
)

// contentKeys are the arguments in which the tools that write files carry what
// they write.
var contentKeys = []string{"content", "new_string", "new_source"}

// written returns the texts that a call would write or send: for the tools that
// write files their content, for a tool that only reads nothing, for every other
// one all texts in its arguments, because nobody can tell which of them it
// writes.
func (s *subject) written() ([]*text, error) {
	if s.haveContent {
		return s.content, s.contentErr
	}
	s.haveContent = true
	switch toolActions[s.call.Tool] {
	case "read":
	case "write":
		var args any
		if len(s.call.Args) == 0 {
			break
		}
		if s.contentErr = json.Unmarshal(s.call.Args, &args); s.contentErr == nil {
			s.content = contentIn(args, "", nil)
		}
	default:
		texts, err := s.texts()
		s.content, s.contentErr = slices.Clone(texts), err
		if s.call.Command != "" {
			s.content = append(s.content, s.commands()...)
		}
	}
	return s.content, s.contentErr
}

func contentIn(value any, key string, out []*text) []*text {
	switch v := value.(type) {
	case string:
		if slices.Contains(contentKeys, key) {
			out = append(out, &text{raw: v})
		}
	case []any:
		for _, item := range v {
			out = contentIn(item, key, out)
		}
	case map[string]any:
		for name, item := range v {
			out = contentIn(item, name, out)
		}
	}
	return out
}
