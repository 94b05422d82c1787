package content

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// dotenv yields the variables of a file that programs load into their environment when they start (.env),
// as the shell would export them: QWEN_CODE_SAFE_MODE there starts Qwen Code without its hooks, as it does
// in a shell. The loaders differ. What one of them takes for an assignment counts, also within a value of
// several lines.
func (x *extractor) dotenv(content string) {
	words := []string{"export"}
	lines(strings.ReplaceAll(content, "\r", "\n"), "", func(line string) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "export"); ok && rest != strings.TrimLeft(rest, " \t") {
			line = strings.TrimSpace(rest)
		}
		end := strings.IndexFunc(line, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		})
		if end < 1 {
			return
		}
		rest := strings.TrimLeft(line[end:], " \t")
		if rest == "" || rest[0] != '=' && rest[0] != ':' {
			return
		}
		// An address is mostly what the project's own program talks to.
		if value := dotenvValue(rest[1:]); !strings.Contains(value, "://") {
			words = append(words, line[:end]+"="+value)
		}
	})
	if len(words) > 1 {
		x.emit(effect.Shell, shellJoin(words), "a file of variables")
	}
}

// dotenvValue returns a value as the loaders give it on: without quotes, or else without a comment.
func dotenvValue(value string) string {
	value = strings.TrimSpace(value)
	if value != "" && strings.IndexByte("'\"`", value[0]) >= 0 {
		quoted, _, _ := strings.Cut(value[1:], value[:1])
		return quoted
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.TrimSpace(value)
}
