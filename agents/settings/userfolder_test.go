package settings

import (
	"strings"
	"testing"
)

// The story: with a relative path in the variable, Gemini and OpenCode read their settings below the folder of
// their start, Qwen Code and Pi took ~ for the home, and install wrote elsewhere. Doctor found nothing, and
// calls ran unasked.
func TestARelativeHomeIsRefused(t *testing.T) {
	for _, f := range []Files{{Folder: ".x", Home: "X_HOME"}, {Folder: ".config/x", Config: "X_HOME"}} {
		for _, dir := range []string{"rel/dir", "~/x", "."} {
			t.Setenv("X_HOME", dir)
			if got, err := f.UserFolder(); err == nil || !strings.Contains(err.Error(), "X_HOME") {
				t.Errorf("%s: %s, %v", dir, got, err)
			}
		}
		t.Setenv("X_HOME", "/there")
		if got, err := f.UserFolder(); err != nil || !strings.HasPrefix(got, "/there") {
			t.Errorf("%s, %v", got, err)
		}
	}
}
