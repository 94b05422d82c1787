package configs_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example/configs"
)

// The story: a HIGH question waited ten minutes, and approver check said of the step after five that no question gets
// there. Whether one does is for the longest wait of the questions that the step is for.
func TestTheLadderKnowsHowLongQuestionsWait(t *testing.T) {
	text := `
ttl: 2m
wait: {high: 10m}
channels:
  discord:
    token: hunter2
    channels: ["200000000000000001"]
    approvers: [{id: "100000000000000001"}]
ladder:
  - to: [discord]
  - to: [discord]
    after: 5m
  - to: [discord]
    after: 6m
    when: [catastrophic]
  - to: [discord]
    after: 11m
`
	cfg, err := configs.Parse(filepath.Join(t.TempDir(), "approver.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(cfg.LadderLines(time.Now()), "\n")
	want := `at once: discord
after 5m: discord
after 6m, for CATASTROPHIC: discord (a question waits 2m, so only one that was given more time gets there)
after 11m: discord (a question waits 10m, so only one that was given more time gets there)`
	if got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
}
