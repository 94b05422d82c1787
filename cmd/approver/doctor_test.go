package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/configs"
	"approver.example/store/redisstore"
	"approver.example/store/storetest/redistest"
)

// has asserts that a check had a result with a text.
func (d *doctor) has(t *testing.T, check string, r result, text string) {
	t.Helper()
	if !slices.ContainsFunc(d.found, func(f finding) bool { return f.Check == check && f.Result == r && strings.Contains(f.Text, text) }) {
		t.Errorf("no %s %s %q in %+v", r.word(), check, text, d.found)
	}
}

// Every token is tried on its platform; one that was revoked is told.
func TestDoctorAsksThePlatforms(t *testing.T) {
	tg, dc, sl := telegramtest.New(), discordtest.New(), slacktest.New(slacktest.Options{})
	defer tg.Close()
	defer dc.Close()
	defer sl.Close()
	cfg, err := configs.Parse(filepath.Join(t.TempDir(), "approver.yaml"), []byte(`
dir: .
sockets: {submit: /tmp/s.sock, resolve: /tmp/r.sock}
channels:
  telegram: {token: "`+tg.Token()+`", api_url: "`+tg.URL()+`", chats: [{id: "10042"}], approvers: [{id: "10042"}]}
  discord: {token: "`+dc.Token()+`", api_url: "`+dc.URL()+`", channels: ["`+dc.AddChannel()+`"], approvers: [{id: "100000000000000001"}]}
  slack: {bot_token: "`+slacktest.BotToken+`", app_token: "`+slacktest.AppToken+`", api_url: "`+sl.URL()+`", channels: [C0123456789], approvers: [{id: U0123456789}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	d := doctor{cfg: cfg}
	d.channels(t.Context())
	d.has(t, "channel", ok, "telegram: @")
	d.has(t, "channel", ok, "discord: 1 channels seen")
	d.has(t, "channel", ok, "slack: ")
	for _, platform := range []fake.Platform{tg, dc, sl} {
		platform.Break(fake.Revoked)
	}
	d = doctor{cfg: cfg}
	d.channels(t.Context())
	for _, name := range []string{"telegram", "discord", "slack"} {
		d.has(t, "channel", fail, name)
	}
	for _, f := range d.found {
		if strings.Contains(f.Text+f.Fix, strings.Split(tg.Token(), ":")[1]) || strings.Contains(f.Text, slacktest.BotToken) {
			t.Errorf("a token is shown: %s", f.Text)
		}
	}
}

// A Redis that forgets is a failure; one without a log on disk a warning.
func TestDoctorLooksAtRedis(t *testing.T) {
	key := filepath.Join(t.TempDir(), "hub.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 64)), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	look := func() *doctor {
		d := &doctor{cfg: configs.Config{Store: configs.Store{Redis: &redisstore.Config{Addrs: []string{server.Addr}, HubKeyFile: key}}}}
		d.store(t.Context())
		return d
	}
	good := look()
	good.has(t, "store", ok, "Redis answers")
	good.has(t, "clock", ok, "as that of Redis")
	admin := server.Admin()
	defer admin.Close()
	if err := admin.ConfigSet(t.Context(), "appendonly", "no").Err(); err != nil {
		t.Fatal(err)
	}
	look().has(t, "store", warn, "appendonly")
	if err := admin.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	look().has(t, "store", fail, "evict")
}

func TestDoctorClock(t *testing.T) {
	for skew, want := range map[time.Duration]result{0: ok, time.Second: ok, 5 * time.Second: warn, -5 * time.Second: warn} {
		var d doctor
		d.clock("Redis", time.Now().Add(skew), nil)
		if d.found[0].Result != want {
			t.Errorf("%v apart: %+v", skew, d.found)
		}
	}
	if (finding{}).Result != fail {
		t.Error("the zero value is no failure")
	}
}
