package configs

import (
	"fmt"
	"strings"
	"testing"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/telegram"
)

// Whoever stands on an approver list can be removed: a name that a removal would refuse,
// or more accounts than one keeps, is an error of the configuration.
func TestEverybodyListedCanBeRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		person   string
		accounts int
		want     string
	}{
		"the longest name":       {strings.Repeat("<", broadcaster.MaxName), 1, ""},
		"a longer one":           {strings.Repeat("<", broadcaster.MaxName+1), 1, "has more than 256 bytes"},
		"all accounts":           {"ada", broadcaster.MaxAccounts, ""},
		"one more":               {"ada", broadcaster.MaxAccounts + 1, `the person "ada" has more than 64 accounts`},
		"many, each for oneself": {"", 3 * broadcaster.MaxAccounts, ""},
	} {
		cfg := Default()
		cfg.Channels.Telegram = &telegram.Config{}
		for i := range c.accounts {
			cfg.Channels.Telegram.Approvers = append(cfg.Channels.Telegram.Approvers,
				approver.Approver{ID: fmt.Sprint(1000 + i), Person: c.person})
		}
		got := ""
		for _, p := range cfg.peopleProblems() {
			got += p.text + "\n"
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
