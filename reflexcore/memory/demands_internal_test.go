package memory

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/reflexcore/loop"
)

func TestDecodeToldRefuses(t *testing.T) {
	many := make([]Demand, maxDemands+1)
	long := []Demand{{Names: make([]uint64, MaxNames+1)}}
	encoded := func(list []Demand) string {
		b, err := json.Marshal(demandsRecord{demandsVersion, list})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, bad := range []string{"{", `{"v":2}`, `{"v":1,"list":[{"at":"x"}]}`, encoded(many), encoded(long),
		`{"v":1,"list":[{"tool":"` + strings.Repeat("x", 65) + `"}]}`, `{"v":1}` + strings.Repeat(" ", maxRecord)} {
		if got, err := decodeDemands([]byte(bad)); err == nil {
			t.Errorf("%.40q is %v", bad, got)
		}
	}
	if got, err := decodeDemands([]byte(encoded(many[1:]))); err != nil || len(got) != maxDemands {
		t.Errorf("%d, %v", len(got), err)
	}
}

// There is room for so many demands; the oldest go, and what is too old with them.
func TestDemandsAreBounded(t *testing.T) {
	m := New(nil, loop.DefaultLimits, slog.New(slog.DiscardHandler))
	now := time.Now()
	past := m.Open(t.Context(), Key{Peer: approver.Peer{Known: true, UID: 1}}, now)
	for i := range maxDemands + 10 {
		if err := past.AddDemand(Demand{At: now.Unix(), Tool: strings.Repeat("t", 100),
			Names: append(make([]uint64, MaxNames-1), uint64(i), 7, 8)}); err != nil {
			t.Fatal(err)
		}
	}
	list := past.Demands(now)
	if len(list) != maxDemands || list[0].Names[MaxNames-1] != 10 || len(list[0].Names) != MaxNames ||
		len(list[0].Tool) != maxTool {
		t.Errorf("%d demands, the first %v", len(list), fmt.Sprint(list[0]))
	}
	b, err := json.Marshal(demandsRecord{demandsVersion, list})
	if err != nil || len(b) > maxRecord {
		t.Errorf("they take %d bytes, %v", len(b), err)
	}
	if list := past.Demands(now.Add(keepDemands + time.Minute)); len(list) != 0 {
		t.Errorf("%d are kept for ever", len(list))
	}
}

func FuzzDecodeTold(f *testing.F) {
	f.Add([]byte(`{"v":1,"list":[{"at":1,"tool":"Bash","n":[1,2]}]}`))
	f.Add([]byte(`{"v":1,"list":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := decodeDemands(b)
		if err != nil {
			if list != nil {
				t.Error("a list with an error")
			}
			return
		}
		again, err := json.Marshal(demandsRecord{demandsVersion, list})
		if err != nil {
			t.Fatal(err)
		}
		if len(again) <= maxRecord {
			if _, err := decodeDemands(again); err != nil {
				t.Fatalf("%s: %v", again, err)
			}
		}
	})
}
