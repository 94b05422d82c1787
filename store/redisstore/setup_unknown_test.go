package redisstore

import (
	"log/slog"
	"testing"
	"time"

	"approver.example/store/storetest/redistest"
)

// What Redis does not tell of its settings is neither well nor changed: whoever gave the daemon the right to
// read them later had a lasting alarm, and a server that evicted was fit once that right was taken away.
func TestWhatIsNotToldOfTheSetupIsAsItWas(t *testing.T) {
	t.Parallel()
	server := startFor(t, redistest.Options{})
	admin := server.Admin()
	acl := func(rule ...any) {
		t.Helper()
		if err := admin.Do(t.Context(), append([]any{"ACL", "SETUSER", "default"}, rule...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := open(t.Context(), Config{Addrs: []string{server.Addr}, HubKeyFile: hubKeyFile(t, "k")},
		slog.New(slog.DiscardHandler), time.Hour, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	s.lookAgain(t.Context())
	acl("-config|get", "-config")
	s.lookAgain(t.Context())
	acl("+config")
	s.lookAgain(t.Context())
	if _, lossy := s.Fitness(); lossy != nil {
		t.Errorf("nothing was changed: %v", lossy)
	}
	// evicting, and then what tells it is taken away
	if err := admin.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	s.lookAgain(t.Context())
	acl("-config", "-info")
	s.lookAgain(t.Context())
	if unfit, _ := s.Fitness(); unfit == nil {
		t.Error("what cannot be looked at is fit")
	}
	acl("+@all")
}
