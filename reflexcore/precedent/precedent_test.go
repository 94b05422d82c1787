package precedent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/store/redisstore"
	"approver.example/store/sqlitestore"
	"approver.example/store/storetest/redistest"
)

const dropUsers = `psql -h db.internal -p 5432 -U app -d shop -c "delete from users"`

func TestSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64 // rounded to hundredths
	}{
		{dropUsers, dropUsers, 1},
		{dropUsers, `PSQL  -h db.internal -p 5432 -U app -d shop -c 'DELETE FROM users;'`, 1},
		{dropUsers, `psql -h db.internal -p 5432 -U app -d shop -c "delete from users where active = 0"`, 0.89},
		{dropUsers, `psql -h db.internal -p 5432 -U app -d shop -c "delete from orders"`, 0.91},
		{dropUsers, `psql -h db.internal -p 5432 -U app -d shop -c "select 1"`, 0.76},
		{dropUsers, `psql -h db.staging -p 5433 -U test -d other -c "delete from users"`, 0.18},
		{dropUsers, `go test ./...`, 0},
		{"git push --force", "git push --force origin", 0.71},
		{"git push --force", "git push origin main", 0},
		{"make deploy", "make deploy", 1},
		{"make deploy", "deploy make", 1},
		{"make deploy", "make test", 0},
		{"make deploy", "make deploy now", 0},
		{"reboot", "reboot reboot", 1},
		{"", "", 0},
		{" ;; ", " ;; ", 0},
	} {
		got := Similarity(Of("Bash", c.a, nil), Of("Bash", c.b, nil))
		if math.Round(got*100) != c.want*100 {
			t.Errorf("%q and %q: %.4f, want %.2f", c.a, c.b, got, c.want)
		}
	}
	group := Sketch{Dims: Of("Bash", "make deploy", nil).Dims}
	if s := Similarity(group, Of("Bash", "make deploy", nil)); s != 0 {
		t.Errorf("groups of words are like a set of words by %v", s)
	}
	one, other := Of("mcp__db__run", "", []byte(`{"table":"users","where":"all"}`)),
		Of("mcp__web__run", "", []byte(`{"table":"users","where":"all"}`))
	if s := Similarity(one, other); s <= 0.5 || s >= 1 {
		t.Errorf("the same arguments of another tool: %v", s)
	}
}

// The numbers are in stores: they must be the same in every process and version.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		command string
		want    Sketch
	}{
		{"git push --force origin main", Sketch{Dims: []uint16{6500, 8197, 8890}}},
		{"make deploy", Sketch{Short: true, Dims: []uint16{1035, 7659, 7760, 9318}}},
	} {
		if got := Of("Bash", c.command, nil); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %#v", c.command, got)
		}
	}
	if got := fmt.Sprintf("%x", TextOf("Bash", "make deploy", nil)); got != "bb16229ce52827b461bdf8b48588c9bb" {
		t.Errorf("text: %s", got)
	}
}

var day = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

func bash(command string) approver.ToolCall {
	return approver.ToolCall{Tool: "Bash", Command: command, At: day.Add(time.Hour)}
}

var ada = Key{Peer: approver.Peer{Known: true, UID: 1000}, Project: "/shop"}

func answer(t *testing.T, p *Precedents, yes bool, after time.Duration, command string) {
	t.Helper()
	err := p.Answered(t.Context(), ada, bash(command),
		Answer{At: day.Add(after), Yes: yes, By: "Ada", Rule: "policy/db", Category: "databases"})
	if err != nil {
		t.Fatal(err)
	}
}

func asked(t *testing.T, p *Precedents, k Key, call approver.ToolCall) bool {
	t.Helper()
	a, s, err := p.Near(t.Context(), k, call)
	if err != nil {
		t.Fatal(err)
	}
	if s > 0 && (a.By != "Ada" || a.Rule != "policy/db" || a.Category != "databases") {
		t.Errorf("the answer is %+v", a)
	}
	return s > 0
}

func stores(t *testing.T, test func(t *testing.T, kv KV)) {
	quiet := slog.New(slog.DiscardHandler)
	t.Run("embedded", func(t *testing.T) {
		s, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "s.db")}, quiet)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		test(t, s)
	})
	t.Run("redis", func(t *testing.T) {
		server, err := redistest.Start(t.Context(), redistest.Options{})
		if errors.Is(err, redistest.ErrMissing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close() })
		hubKey := filepath.Join(t.TempDir(), "hub")
		if err := os.WriteFile(hubKey, []byte(strings.Repeat("k", 64)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := redisstore.Open(t.Context(), redisstore.Config{Addrs: []string{server.Addr}, HubKeyFile: hubKey}, quiet)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		test(t, s)
	})
}

// A no counts for that user and project, until it is over; a yes to exactly the
// same call takes it back, and a yes to another keeps that one from being asked
// about again.
func TestAnswers(t *testing.T) {
	like := dropUsers + ` -q`
	stores(t, func(t *testing.T, kv KV) {
		p := New(kv, DefaultLimits)
		if asked(t, p, ada, bash(like)) {
			t.Error("nobody said no yet")
		}
		answer(t, p, false, 0, dropUsers)
		fresh := New(kv, DefaultLimits) // after a restart
		for _, p := range []*Precedents{p, fresh} {
			if !asked(t, p, ada, bash(like)) {
				t.Error("a call like a denied one is not found")
			}
		}
		other, project, late := ada, ada, bash(like)
		other.Peer.UID, project.Project, late.At = 1001, "/blog", day.Add(31*24*time.Hour)
		if asked(t, p, other, bash(like)) || asked(t, p, project, bash(like)) ||
			asked(t, p, Key{Project: "/shop"}, bash(like)) {
			t.Error("somebody else's no counts")
		}
		if asked(t, p, ada, late) {
			t.Error("a no counts after its end")
		}
		answer(t, p, true, time.Minute, like)
		if asked(t, p, ada, bash(like)) || asked(t, fresh, ada, bash(like)) {
			t.Error("people said yes to it, and are asked again")
		}
		if !asked(t, fresh, ada, bash(like+" -t")) {
			t.Error("a yes to one call counts for another")
		}
		answer(t, p, false, -time.Minute, like) // reported late
		if asked(t, p, ada, bash(like)) {
			t.Error("an older no takes back a newer yes")
		}
		answer(t, p, false, 2*time.Minute, like)
		if !asked(t, p, ada, bash(like)) {
			t.Error("a newer no does not take back the yes")
		}
		answer(t, p, true, 3*time.Minute, like)
		answer(t, p, true, 3*time.Minute, dropUsers)
		if asked(t, p, ada, bash(like+" -t")) {
			t.Error("both noes were taken back")
		}
	})
}

// The threshold must be exceeded.
func TestThreshold(t *testing.T) {
	list := []Answer{{At: day, Text: Text{1}, Sketch: Sketch{Dims: []uint16{1, 2, 3, 4}}}}
	for _, c := range []struct {
		threshold float64
		want      bool
	}{{0.5, false}, {0.49, true}} {
		if _, s := near(list, Text{}, Sketch{Dims: []uint16{1, 2, 8, 9}}, time.Time{}, c.threshold); (s > 0) != c.want {
			t.Errorf("above %v: %v", c.threshold, s)
		}
	}
}

func TestBounded(t *testing.T) {
	var list []Answer
	for i := range 1000 {
		a := Answer{At: time.Unix(int64(i+1), 0), By: strings.Repeat("x", maxWord), Text: Text{byte(i), byte(i >> 8)}}
		for d := range uint16(250) {
			a.Sketch.Dims = append(a.Sketch.Dims, d)
		}
		list = append(list, a)
	}
	b, kept, err := encode(list, 200)
	if err != nil || len(b) > maxRecord || len(kept) == 0 || len(kept) > 200 || kept[len(kept)-1].Text != list[999].Text {
		t.Fatalf("%d bytes, %d answers: %v", len(b), len(kept), err)
	}
	if again, err := decode(b); err != nil || !reflect.DeepEqual(again, kept) {
		t.Fatalf("what was written is not read: %v", err)
	}
	if _, kept, _ = encode(list[:3], 2); len(kept) != 2 || kept[0].Text != list[1].Text {
		t.Errorf("the oldest do not go: %v", kept)
	}
	var long strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&long, "%d ", i)
	}
	if s := Of("Write", "", []byte(long.String())); len(s.Dims) < maxWords/2 || len(s.Dims) > maxWords {
		t.Errorf("%d numbers", len(s.Dims))
	}
}

// A broken is a KV that fails, or holds nonsense.
type broken struct {
	err   error
	value []byte
}

func (b *broken) Get(context.Context, string) ([]byte, approver.Rev, error) {
	return b.value, "r", b.err
}
func (b *broken) Put(_ context.Context, _ string, value []byte, _, _ approver.Rev, _, _ time.Time) error {
	b.value = value
	return b.err
}

func TestBroken(t *testing.T) {
	down := errors.New("down")
	p := New(&broken{err: down}, DefaultLimits)
	if _, _, err := p.Near(t.Context(), ada, bash(dropUsers)); !errors.Is(err, down) {
		t.Errorf("a store that is down: %v", err)
	}
	if err := p.Answered(t.Context(), ada, bash(dropUsers), Answer{At: day}); !errors.Is(err, down) {
		t.Errorf("a store that is down: %v", err)
	}
	kv := &broken{value: []byte("{")}
	p = New(kv, DefaultLimits)
	if _, _, err := p.Near(t.Context(), ada, bash(dropUsers)); err == nil {
		t.Error("nonsense is read")
	}
	if err := p.Answered(t.Context(), ada, bash("ls -la src"), Answer{At: day, Yes: true}); err != nil {
		t.Error(err)
	}
	if list, err := decode(kv.value); err != nil || len(list) != 0 {
		t.Errorf("an answer does not begin anew: %s %v", kv.value, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	const h = `"h":"AAAAAAAAAAAAAAAAAAAAAA"`
	if list, err := decode([]byte(`{"v":1,"answers":[{"t":1,` + h + `,"d":"AQACAA"}]}`)); err != nil ||
		!slices.Equal(list[0].Sketch.Dims, []uint16{1, 2}) {
		t.Fatalf("%v %v", list, err)
	}
	for _, b := range []string{
		`{`, `{"v":2}`, `{"v":1,"answers":[{"t":1,"d":"AQACAA"}]}`, `{"v":1,"answers":[{` + h + `,"d":"AQACAA"}]}`,
		`{"v":1,"answers":[{"t":1,` + h + `}]}`,
		`{"v":1,"answers":[{"t":1,` + h + `,"d":"AgABAA"}]}`, `{"v":1,"answers":[{"t":1,` + h + `,"d":"AQABAA"}]}`,
		`{"v":1,"answers":[{"t":1,` + h + `,"d":"//8"}]}`,
		`{"v":1,"answers":[{"t":1,` + h + `,"d":"AQAC"}]}`, `{"v":1,"answers":[{"t":1,"y":true,` + h + `,"d":"AQACAA"}]}`,
		`{"v":1,"answers":[{"t":2,` + h + `,"d":"AQACAA"},{"t":1,` + h + `,"d":"AQACAA"}]}`,
	} {
		if list, err := decode([]byte(b)); err == nil {
			t.Errorf("%s is read as %v", b, list)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"v":1,"answers":[{"t":1,"b":"Ada","h":"AAAAAAAAAAAAAAAAAAAAAA","d":"AQACAA"},{"t":2,"y":true,` +
		`"h":"AAAAAAAAAAAAAAAAAAAAAA"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		sketch := Of("Bash", string(b), nil)
		if s := Similarity(sketch, sketch); len(sketch.Dims) > 0 && math.Abs(s-1) > 1e-9 {
			t.Fatalf("a call is like itself by %v", s)
		}
		list, err := decode(b)
		if err != nil {
			return
		}
		out, kept, err := encode(list, len(list))
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(out)
		if err != nil || len(again) != len(kept) || len(kept) > 0 && !reflect.DeepEqual(again, kept) {
			t.Fatalf("%s became %v: %v", b, again, err)
		}
	})
}

// Two hundred noes that are all a little like the call: what a judgment costs
// beside the reading of the record.
func BenchmarkNear(b *testing.B) {
	var list []Answer
	for i := range 200 {
		c := fmt.Sprintf("psql -h db.internal -p 5432 -U app -d shop%d -c \"delete from users where id = %d and name = %d\"",
			i, i, i)
		list = append(list, Answer{At: day.Add(time.Duration(i)), Text: TextOf("Bash", c, nil), Sketch: Of("Bash", c, nil)})
	}
	text, sketch := TextOf("Bash", dropUsers, nil), Of("Bash", dropUsers, nil)
	b.Run("scan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			near(list, text, sketch, day, 0.7)
		}
	})
	b.Run("sketch", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Of("Bash", dropUsers, nil)
		}
	})
	value, _, _ := encode(list, 200)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = decode(value)
		}
	})
	p := New(&broken{value: value}, DefaultLimits)
	b.Run("call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, _ = p.Near(b.Context(), ada, bash(dropUsers))
		}
	})
}
