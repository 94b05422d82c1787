package shell

import "testing"

// Each name has its method: a builtin that had none would be taken for a program.
func TestBuiltins(t *testing.T) {
	for name := range builtins {
		if builtinTable[name] == nil {
			t.Errorf("%s has no method", name)
		}
	}
	if builtinTable["ls"] != nil {
		t.Error("ls is a builtin")
	}
}
