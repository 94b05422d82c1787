package main

import (
	"regexp"
	"strings"
	"testing"

	"approver.example/channels/telegram/telegramtest"
	"approver.example/shieldcore/evaluator/evaluatortest"
)

// The story: the provider of the evaluator blocked a call, and later was gone. audit
// show said "T0 evaluator deny" of both, as if a rule had decided. The chain in a real
// daemon's audit now says the tier of each part, also of one that failed.
func TestAuditShowsTheTierOfTheEvaluator(t *testing.T) {
	t.Parallel()
	provider := evaluatortest.New()
	o := &operator{badMachine: &badMachine{t: t, dir: shortDir(t)}, chat: telegramtest.New()}
	t.Cleanup(o.chat.Close)
	o.home()
	o.file(".approver/evaluator.key", provider.Key()+"\n")
	o.file(".approver/policy.yaml", "version: 1\ntools: {known: [Bash]}\nrules:\n  - {name: look, command: 'make "+
		"deploy', decision: ask, severity: high, min_tier: 2}\n")
	config := o.asIs("cat ~/.approver/approver.yaml")
	o.file(".approver/approver.yaml", config+"policy: policy.yaml\nshield:\n  evaluator: {provider: openai, url: \""+
		provider.URL(evaluatortest.OpenAI)+"\", model: "+evaluatortest.Model+", key_file: evaluator.key, deadline: 1s}\n")
	t.Cleanup(func() { killPID(t, o.path("pid")) })
	o.asIs("systemctl --user start approver")
	send := func(command string) string {
		o.hook(bashPayload(command), "--socket", o.path(".approver/run/submit.sock"))
		last := o.asIs("approver audit tail -n 1 --json")
		m := regexp.MustCompile(`"seq":([0-9]+)`).FindStringSubmatch(last)
		if m == nil {
			t.Fatalf("the audit ends with %s", last)
		}
		return o.asIs("approver audit show " + m[1])
	}
	provider.Behave(evaluatortest.Deciding("BLOCK", 0.9, "no"))
	shown := send("make deploy")
	provider.Close()
	gone := send("make deploy again")
	for text, wants := range map[string][]string{
		shown: {"T0 reflex pass", "T0 policy/look ask HIGH", "T1 heuristics pass", "T1 classifier pass", "T2 evaluator/",
			"T2 evaluator.model/"},
		gone: {"T0 policy/look ask HIGH", "T1 classifier pass", "T2 gate deny"},
	} {
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in\n%s", want, text)
			}
		}
	}
}
