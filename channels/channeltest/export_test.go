package channeltest

import (
	"testing"
	"time"
)

// RunImpatiently is Run with little patience, for channels in memory that are
// expected to fail.
func RunImpatiently(t *testing.T, newFixture func(*testing.T) Fixture) {
	t.Helper()
	runAll(t, maker{times{
		patience: 6 * time.Second, recovery: 2 * time.Second, quiet: 100 * time.Millisecond,
		prompt: time.Second, fault: 100 * time.Millisecond,
	}, newFixture})
}
