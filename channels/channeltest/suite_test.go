package channeltest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
)

// defectVariable gives TestReference its defect when TestDefects runs it.
const defectVariable = "CHANNELTEST_DEFECT"

// TestReference is the suite over a channel that keeps every promise.
func TestReference(t *testing.T) {
	channeltest.RunImpatiently(t, func(*testing.T) channeltest.Fixture {
		p := newPlatform(os.Getenv(defectVariable))
		return channeltest.Fixture{
			Channel: channel{p, new(approver.ReceptionMeter)}, Fake: p, Gone: p.gone, Delete: p.remove,
			Here:     approver.Destination{Channel: "memory", Conversation: "here"},
			There:    approver.Destination{Channel: "memory", Conversation: "there"},
			Approver: "approver", Second: "second", Stranger: "stranger",
			CodeByMessage: true, FatalRevoked: true, Secrets: []string{"secret-token"},
		}
	})
}

// TestDefects breaks one promise at a time and sees that the check of that name
// fails. A check that cannot fail checks nothing.
func TestDefects(t *testing.T) {
	turn := make(chan struct{}, 12) // they mostly wait
	var wg sync.WaitGroup
	defer wg.Wait()
	for defect, check := range map[string]string{
		"forgets the choice":                 "choice/each choice is shown whole and has a button",
		"names choices by their label":       "choice/each choice is shown whole and has a button",
		"offers every choice":                "choice/a card without one tap offers no choice",
		"code in the notification":           "card/a high card shows everything",
		"no why":                             "card/a high card shows everything",
		"no time left":                       "card/a high card shows everything",
		"no code":                            "card/a catastrophic card takes no tap",
		"no deny button":                     "card/a card without one-tap has no approve button",
		"approve on every card":              "card/a card without one-tap has no approve button",
		"trusts one-tap":                     "card/a catastrophic card takes no tap",
		"buttons stay":                       "card/a settled card has result and neither buttons nor code",
		"no result":                          "card/a settled card has result and neither buttons nor code",
		"posts updates anew":                 "card/a settled card has result and neither buttons nor code",
		"code stays":                         "card/a settled card that still carries a code does not show it",
		"refuses the same update":            "card/updating to what is shown is no error",
		"cuts in silence":                    "card/a huge command is attached whole",
		"attaches nothing":                   "card/a huge command is attached whole",
		"never partial":                      "card/a huge command is attached whole",
		"one tap on a cut card":              "card/a command of any size is whole or attached",
		"long claims push the command off":   "card/long claims do not push the command off the card",
		"cuts claims in silence":             "text/a text that is cut says so, is attached whole and takes no tap",
		"takes markup as markup":             "card/hostile texts appear literally",
		"posts anywhere":                     "card/an unknown conversation is an error",
		"keeps line breaks":                  "text/a text stays on its own line",
		"a cut text takes a tap":             "text/a text that is cut says so, is attached whole and takes no tap",
		"attaches the command only":          "text/a text that is cut says so, is attached whole and takes no tap",
		"shows the beginning of a directory": "text/directories that look the same take no tap",
		"says nothing without a result":      "text/a settled card always says what became of it",
		"an edit hides":                      "edit/an edit of a whole card that has no room for it is not made",
		"no message":                         "answer/a tap on approve",
		"counts twice":                       "answer/a tap on approve",
		"a tap is a command":                 "answer/a tap on approve",
		"sender is a name":                   "answer/a tap on approve",
		"a deny is an approve":               "answer/a tap on deny",
		"first request for all":              "answer/a tap answers its own card",
		"always here":                        "answer/a tap in the other conversation",
		"tells everyone":                     "answer/the outcome reaches that person alone",
		"outcome for all":                    "answer/the outcome reaches that person alone",
		"a command is a code":                "answer/the command to approve",
		"silent about forms":                 "answer/a command without a readable code",
		"deaf to the words beside a code":    "answer/a command without a readable code",
		"yes to every code":                  "answer/a refusal with the code never approves",
		"forgets the version":                "version/a tap names the version of its card",
		"a tap is for the first version":     "version/a tap names the version of its card",
		"a dialog is for now":                "version/the code dialog names the version of its card",
		"knows no time":                      "version/an answer that names no version has a time",
		"a plain answer is a tap":            "answer/yes as a reply to the card",
		"plain yes anywhere":                 "answer/ordinary talk is left alone",
		"answers talk":                       "answer/ordinary talk is left alone",
		"answers strangers' talk":            "answer/ordinary talk is left alone",
		"a stranger may tap":                 "identity/a stranger's tap, command, code and reply never count",
		"a stranger may type":                "identity/a stranger's tap, command, code and reply never count",
		"nags strangers":                     "identity/a stranger's tap, command, code and reply never count",
		"runs on":                            "life/Run ends with its context and leaves nothing behind",
		"loses slow answers":                 "life/an answer that takes four seconds is not lost",
		"one at a time":                      "life/one slow answer does not hold up another person",
		"ends at a panic":                    "life/a panic in the reply function does not end Run",
		"approves without a reply function":  "life/a nil reply function refuses everything",
		"ends at a fault":                    "fault/down",
		"waits longer than its context":      "fault/hangs",
		"gives up at a rate limit":           "fault/rate limited",
		"shows its token":                    "fault/revoked",
		"outlives its token":                 "fault/revoked",
		"gives up for good":                  "fault/server error",
		"asks for patience":                  "fault/down",
		"knows no patience":                  "contract/an error at a rate limit says how long to wait",
		"tries a refusal again":              "contract/a conversation that is gone is final",
		"fits everything":                    "card/a huge command is attached whole",
		"always receives":                    "contract/it receives once Run has started, and not while the platform is away",
		"never receives":                     "contract/it receives once Run has started, and not while the platform is away",
		"says nothing of failures":           "contract/it receives once Run has started, and not while the platform is away",
		"posts are reception":                "contract/a fault in posting alone keeps answers coming",
	} {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			wantFailure(t, defect, check)
		})
	}
}

// wantFailure runs one check over a channel with a defect, in a process of its
// own.
func wantFailure(t *testing.T, defect, check string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	name := strings.ReplaceAll(check, " ", "_")
	only := "^TestReference$/^" + strings.ReplaceAll(name, "/", "$/^") + "$"
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", only, "-test.v")
	cmd.Env = append(os.Environ(), defectVariable+"="+defect)
	out, err := cmd.CombinedOutput()
	switch {
	case !strings.Contains(string(out), "=== RUN   TestReference/"+name):
		t.Errorf("there is no check %q:\n%s", check, out)
	case err == nil:
		t.Errorf("the check %q passes a channel with the defect %q", check, defect)
	}
}
