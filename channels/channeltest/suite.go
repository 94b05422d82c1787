package channeltest

import (
	"testing"
	"time"
)

// Run checks that a channel keeps the promises of approver.Channel. newFixture
// makes a fresh channel with a healthy fake for each check, and registers their
// end with t.Cleanup; it does not call Channel.Run. The checks run one after
// the other.
//
// What a channel says of its platform is checked if it is an approver.Receiver, and
// what it says of a card's size if it is an approver.Fitter. A channel that must be
// one asserts that in its own conformance test.
//
// A check has the name of the promise, so that a single one can be run:
//
//	go test -run 'TestConformance/identity/a_stranger'
func Run(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Helper()
	runAll(t, maker{usual, newFixture})
}

func runAll(t *testing.T, m maker) {
	t.Helper()
	for _, group := range []struct {
		name   string
		checks []check
	}{
		{"card", cardChecks},
		{"text", textChecks},
		{"edit", editChecks},
		{"answer", answerChecks},
		{"version", versionChecks},
		{"choice", choiceChecks},
		{"button", buttonChecks},
		{"identity", identityChecks},
		{"life", lifeChecks},
		{"fault", faultChecks},
		{"contract", contractChecks},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.checks {
				t.Run(c.name, func(t *testing.T) {
					// these look at what goroutines are left
					if group.name != "life" && group.name != "fault" && group.name != "contract" {
						t.Parallel()
					}
					began := time.Now()
					c.run(t, m)
					if took := time.Since(began); took > time.Minute {
						t.Errorf("the check took %v: something waits too long", took)
					}
				})
			}
		})
	}
}

type check struct {
	name string
	run  func(t *testing.T, m maker)
}
