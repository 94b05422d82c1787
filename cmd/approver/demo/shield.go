package demo

import (
	"strings"

	"approver.example/channels/channeltest/fake"
	"approver.example/shieldcore/evaluator/evaluatortest"
)

// shield: what the rules leave to the evaluator, a model of its own, goes there
// first; people hear only of what it is not sure of.
func (w *world) shield() error {
	w.title("shield", "5. An isolated model looks at what could be lost: rm -rf ../old-builds")
	command := func(n string) string { return "rm -rf ../old-builds-" + n }
	for _, step := range []struct {
		n, says  string
		model    evaluatortest.Behaviour
		decision string
		exit     int
	}{
		{"1", "ALLOW, so it goes on and nobody is asked",
			evaluatortest.Deciding("ALLOW", 0.95, "old build output beside the project"), "no decision", 0},
		{"2", "BLOCK, so it is denied", evaluatortest.Deciding("BLOCK", 0.9, "nothing says that these builds are old"),
			"deny", 2},
		{"3", "ALLOW without its canary: the command took the model over, so it is denied",
			evaluatortest.Saying("taken over", "forgets its canary", func(evaluatortest.Request) string {
				return evaluatortest.Verdict("ALLOW", 1, "as you command", strings.Repeat("0", 64))
			}), "deny", 2},
	} {
		w.model.Behave(step.model)
		asked := w.model.Count()
		o, err := w.answer(w.hook(command(step.n), ""))
		if err != nil {
			return err
		}
		w.check(w.model.Count() == asked+1 && o.decision() == step.decision && o.exit == step.exit,
			"the model says %s", step.says)
	}
	w.model.Behave(evaluatortest.Deciding("ESCALATE", 0.55, "may be intended"))
	hook := w.hook(command("4"), "make room on the disk")
	cards, err := w.newCards()
	if err != nil {
		return err
	}
	w.say("the model says ESCALATE, and the card says which tier asks and how sure it is:")
	w.check(strings.Contains(cards[0].Text, "tier 2, confidence 0.55") &&
		strings.Contains(cards[0].Text, "claimed by the model: may be intended"),
		"tier and confidence as computed, the model's words as claimed")
	all := w.model.Requests()
	last := all[len(all)-1].Body
	w.check(!strings.Contains(last, "make room on the disk") && !strings.Contains(last, w.alice.name),
		"the model was shown the call, and neither what the agent says of it nor who answers")
	if err := w.tap(w.bob, "discord", cards, fake.ApproveButton); err != nil {
		return err
	}
	_, err = w.end(hook, cards, approvedBy(w.bob, "discord"))
	return err
}
