package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"approver.example"
)

// nowhere is the folder of a call whose folder the agent does not say. No project is there, so nothing
// that a call does lies in the project.
const nowhere = "/"

// knowsPlace refuses a call that depends on a folder that the agent does not say: a name such as
// settings.json says only together with its folder what it is. The arguments of an MCP tool mean what
// its server takes them for.
func knowsPlace(call approver.ToolCall) error {
	switch {
	case filepath.IsAbs(call.Dir), isServerTool(call.Tool):
		return nil
	case call.Command != "", call.Dir != "":
		return errors.New("the folder in which the command runs is not said: say it as an absolute path")
	}
	for _, path := range call.Paths {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("%s is in a folder that is not said: write the whole path, from the root", quote(path))
		}
	}
	return nil
}

// isBlank reports whether a character is white space, also to an agent in JavaScript, which takes the
// byte order mark for it.
func isBlank(r rune) bool { return r == '\ufeff' || unicode.IsSpace(r) }

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
			odd := strings.ContainsFunc(path, func(r rune) bool { return r != ' ' && isBlank(r) })
			if odd || strings.HasPrefix(strings.TrimFunc(path, isBlank), "@") || strings.Contains(path, "</arg_") ||
				strings.Contains(path, "<arg_") {
				return fmt.Errorf("%q is %s: write the path as it is on the disk, without @ and other marks", key, quote(path))
			}
		}
	}
	return nil
}
