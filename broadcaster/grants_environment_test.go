package broadcaster

import (
	"maps"
	"testing"
	"testing/synctest"

	"approver.example"
)

// The story: a person allowed ./deploy.sh for a session while DRY_RUN=1 was set. The next
// call came without it, and the very same words deployed for real, unasked. A variable that
// is compared is a part of what was approved: with another value, without it, or with one
// more, people are asked again.
func TestAChangedVariableEndsAGrant(t *testing.T) {
	first := map[string]string{"##DRY_RUN": "1", "#DB_NAME": "dev", "STAGE": "dev"}
	changed := map[string]map[string]string{
		"another value": {"##DRY_RUN": "0"}, "empty": {"##DRY_RUN": ""}, "with a blank": {"##DRY_RUN": "1 "},
		"another database": {"#DB_NAME": "prod"}, "another stage": {"STAGE": "prod"},
		"one more": {"##FORCE": "1"}, "one more, empty": {"##FORCE": ""}, "one more that loads": {"#DEPLOY_SCRIPT": "evil"},
		"a path": {"PATH": "/tmp/x:/usr/bin"}, "the case": {"##dry_run": "1"},
	}
	gone := map[string]string{"without DRY_RUN": "##DRY_RUN", "without DB_NAME": "#DB_NAME", "without STAGE": "STAGE"}
	for name := range gone {
		changed[name] = nil
	}
	for _, term := range []string{"/approve CODE session", "/approve CODE 60m"} {
		for name, change := range changed {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				v := x.askAsync(t.Context(), envCall("c1", first), approver.High)
				synctest.Wait()
				if out := x.command(0, term); out.Kind != approver.OutcomeApproved || (<-v).Decision != approver.Allow {
					t.Fatalf("%s: %+v", term, out)
				}
				if !x.runs(envCall("c2", first), approver.High) {
					t.Errorf("%s: the same call is asked again", term)
				}
				env := maps.Clone(first)
				maps.Copy(env, change)
				delete(env, gone[name])
				if x.runs(envCall("c3", env), approver.High) {
					t.Errorf("%s, %s: the call ran unasked", term, name)
				}
			})
		}
	}
}
