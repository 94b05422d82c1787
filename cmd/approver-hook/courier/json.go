package courier

// This file checks whether a text is JSON. encoding/json would double the number of packages
// that the program initializes.

// maxNesting limits the depth of a JSON value.
const maxNesting = 512

// jsonValue returns the index after the value that starts at i, or -1 if there is no valid
// value.
func jsonValue(b []byte, i, depth int) int {
	if i < 0 || i >= len(b) || depth > maxNesting {
		return -1
	}
	switch c := b[i]; {
	case c == '{', c == '[':
		return jsonList(b, i, depth)
	case c == '"':
		return jsonString(b, i)
	case c == '-', c >= '0' && c <= '9':
		return jsonNumber(b, i)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
			return i + len(word)
		}
	}
	return -1
}

// jsonList is jsonValue for an object or an array.
func jsonList(b []byte, i, depth int) int {
	object, closing := b[i] == '{', b[i]+2 // in ASCII, a closing brace or bracket is its opening one plus 2
	i = jsonSpace(b, i+1)
	if i < len(b) && b[i] == closing {
		return i + 1
	}
	for {
		if object {
			if i = jsonString(b, i); i < 0 {
				return -1
			}
			if i = jsonSpace(b, i); i >= len(b) || b[i] != ':' {
				return -1
			}
			i = jsonSpace(b, i+1)
		}
		if i = jsonValue(b, i, depth+1); i < 0 {
			return -1
		}
		switch i = jsonSpace(b, i); {
		case i >= len(b):
			return -1
		case b[i] == closing:
			return i + 1
		case b[i] != ',':
			return -1
		}
		i = jsonSpace(b, i+1)
	}
}

func jsonSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

func jsonString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i++; i >= len(b) {
				return -1
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for end := i + 4; i < end; {
					if i++; i >= len(b) || !isHex(b[i]) {
						return -1
					}
				}
			default:
				return -1
			}
		}
	}
	return -1
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func jsonNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	first := i
	if i = jsonDigits(b, i); i == first || b[first] == '0' && i > first+1 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		from := i + 1
		if i = jsonDigits(b, from); i == from {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from := i
		if i = jsonDigits(b, from); i == from {
			return -1
		}
	}
	return i
}

func jsonDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}
