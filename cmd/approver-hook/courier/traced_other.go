//go:build !linux

package courier

const tasks = ""

// traced knows of no debugger here: no file of this system tells. On macOS the program
// ends when it shuts debuggers out and one is there.
func traced(string) error { return nil }

func tracedFirst(string) error { return nil }
