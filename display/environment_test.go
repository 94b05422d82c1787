package display

import (
	"slices"
	"strings"
	"testing"
)

// The story: the hook sends *** for the password in an address, and the card showed the
// length and the fingerprint of ***, the same for every password. It shows *** now.
func TestAPasswordThatWasNotSentHasNoFingerprint(t *testing.T) {
	for _, value := range []string{
		"postgres://u:***@prod/db", "http://a:***@proxy.example:8080", "redis://:***@cache:6379/1",
		"amqp://u:***@h,amqp://v:***@i", "https://u:***@h/simple",
	} {
		for _, name := range []string{"DATABASE_URL", "HTTPS_PROXY", "PIP_INDEX_URL", "X_SECRET_URL"} {
			if shown := shownSetting(name, value); shown != value || HidesEnvironment([]string{name + "=" + shown}) {
				t.Errorf("%s=%s is shown as %s", name, value, shown)
			}
		}
	}
	if shown := shownSetting("DATABASE_URL", "postgres://u:****a@h"); strings.Contains(shown, "****a") {
		t.Errorf("a password of stars and more is shown: %s", shown)
	}
}

// An honest session changes some dozens of variables.
func TestTooManyVariablesAreCut(t *testing.T) {
	for n, want := range map[int]bool{1: false, 90: false, 200: true} { // an honest session has some dozens
		if got := HidesEnvironment(bounded(slices.Repeat([]string{"TF_VAR_some_name=value (was unset)"}, n))); got != want {
			t.Errorf("%d lines: hidden %v", n, got)
		}
	}
}

// A password in an address does not excuse a secret that is hidden elsewhere on the line.
func TestAPasswordExcusesNoOtherSecret(t *testing.T) {
	for value, want := range map[string]bool{
		"ssh -o X=" + ghp + " https://h/":   true,
		"https://u:hunter22@h/":             false,
		"https://u:hunter22@h/ -i " + ghp:   true,
		"https://h/ u:" + ghp + "@x":        true,
		"ssh://h/" + ghp + "/x":             true,
		"https://a:hunter22@h,b://" + ghp:   true,
		"sh -c 'curl https://h/?k=" + ghp:   true,
		"https://u:hunter22@h ssh " + ghp:   true,
		"/x/y:z://" + ghp + " /usr/bin/ssh": true,
	} {
		if got := HidesEnvironment([]string{"GIT_SSH_COMMAND=" + showValue(value)}); got != want {
			t.Errorf("%s: hidden %v", showValue(value), got)
		}
	}
}
