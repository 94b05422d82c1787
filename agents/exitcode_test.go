package agents

import "testing"

// Agents write an exit code into the text of a failure. What a command printed between the first and
// the last line is not read: it says what it likes.
func TestExitCode(t *testing.T) {
	for failure, want := range map[string]int{
		"Exit code 2\nls: no such file":        2,
		"Command failed with exit code 127":    127,
		"x\n\nCommand exited with code 1\n":    1,
		"exit status: 9":                       9,
		"Exit Code: 255":                       255,
		"Exit code 256":                        0,
		"Exit code -1":                         0,
		"x\nexit code 3\ny":                    0,
		"the process did not exit":             0,
		"it failed":                            0,
		"":                                     0,
		"cat: exit42.txt: No such file":        0,
		"The user exited 5 times":              0,
		"no exit\nExit code 4":                 4,
		"exit code 99999999999999999999999999": 0,
	} {
		if got := (Event{Failure: failure}).ExitCode(); got != want {
			t.Errorf("%q is %d, want %d", failure, got, want)
		}
	}
}
