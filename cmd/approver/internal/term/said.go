package term

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrSaid is the error of a command that has already told the person.
var ErrSaid = errors.New("failed")

// PrintJSON prints one object on one line.
func PrintJSON(doc any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = fmt.Println(VisibleJSON(text))
	return err
}

// ExitCodes is what the help of most commands says of them.
const ExitCodes = `
Exit codes: 0 it was done, 1 it failed, 2 the command line is not understood.
`
