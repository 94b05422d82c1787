package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// pathKeys are the arguments in which agents that change paths take one.
const pathKeys = "path file_path absolute_path dir_path workdir paths include notebook_path"

// plainPaths is a check for an agent that opens another path than its argument says: it cuts off an @
// at the beginning, makes blanks of other white space, or takes out rests of a model's markup. A path
// that is written so is refused: approver would judge another file than the agent opens.
func plainPaths(_ string, raw json.RawMessage) error {
	var args object
	if err := json.Unmarshal(raw, &args); err != nil {
		return err
	}
	for key := range strings.FieldsSeq(pathKeys) {
		for _, path := range args.texts(key) {
			odd := strings.ContainsFunc(path, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) })
			if odd || strings.HasPrefix(strings.TrimSpace(path), "@") || strings.Contains(path, "</arg_") ||
				strings.Contains(path, "<arg_") {
				return fmt.Errorf("%q is %s: write the path as it is on the disk, without @ and other marks", key, quote(path))
			}
		}
	}
	return nil
}
