package quota

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A model says how many tokens there are, in the plainest way: it counts tokens, and
// adds to them as time goes by, where the package has one time for each bucket.
type model struct {
	c      Config
	now    time.Time
	tokens map[string]float64 // of a bucket by its name
	rates  map[string]Rate
	spent  map[string]int64 // by day
}

func (m *model) bucket(name string, r Rate) float64 {
	if _, ok := m.rates[name]; !ok {
		m.rates[name], m.tokens[name] = r, float64(r.Burst)
	}
	return m.tokens[name] + 1e-6
}

func (m *model) pass(d time.Duration) {
	m.now = m.now.Add(d)
	for name, r := range m.rates {
		m.tokens[name] = min(float64(r.Burst), m.tokens[name]+float64(d)*float64(r.Count)/float64(r.Per))
	}
}

// inUse counts the names of a uid whose buckets are not full.
func (m *model) inUse(uid uint32, but string) (n int) {
	for name, r := range m.rates {
		var of uint32
		var agent string
		if _, err := fmt.Sscanf(name, "name %d %s", &of, &agent); err == nil && of == uid && name != but &&
			m.tokens[name] < float64(r.Burst)-1e-6 {
			n++
		}
	}
	return n
}

// evaluate says what Evaluate must return.
func (m *model) evaluate(uid uint32, name string) bool {
	user, agent := fmt.Sprintf("user %d", uid), fmt.Sprintf("name %d %s", uid, name)
	if m.bucket("all", m.c.Overall) < 1 || m.bucket(user, m.c.User) < 1 || m.bucket(agent, m.c.Agent) < 1 {
		return false
	}
	if m.tokens[agent] > float64(m.c.Agent.Burst)-1e-6 && m.inUse(uid, agent) >= m.c.Names {
		return false
	}
	m.tokens["all"]--
	m.tokens[user]--
	m.tokens[agent]--
	return true
}

func newModel(c Config) *model {
	return &model{c: c, now: time.Now(), tokens: map[string]float64{}, rates: map[string]Rate{}, spent: map[string]int64{}}
}

// Three replicas that take turns give exactly what the model says: nothing more and
// nothing less.
func TestModel(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			c := small()
			c.DailyBudget = 1 + r.Int64N(400)
			c.Names = 1 + r.IntN(4)
			c.Overall = Rate{Count: 1000, Per: time.Second, Burst: 1000} // if it refuses, an agent loses a token
			kv := newMemKV()
			m := newModel(c)
			var replicas []*Quota
			for range 3 {
				replicas = append(replicas, newFor(t, kv, c))
			}
			for step := range 600 {
				q := replicas[r.IntN(3)]
				switch r.IntN(10) {
				case 0:
					// No two things happen at one moment.
					pause := []time.Duration{time.Millisecond, 100 * time.Millisecond, time.Second, time.Minute,
						7 * time.Hour}[r.IntN(5)]
					pause += time.Duration(r.IntN(1000)) * time.Microsecond
					time.Sleep(pause)
					m.pass(pause)
				case 1: // one ends in order, and a new one comes
					i := r.IntN(3)
					replicas[i].Close()
					replicas[i] = newFor(t, kv, c)
				case 2, 3, 4, 5:
					uid, name := uint32(r.IntN(3)), fmt.Sprint("n", r.IntN(6))
					right := m.evaluate(uid, name)
					if err := q.Evaluate(t.Context(), agent(uid, name)); (err == nil) != right ||
						err != nil && !errors.Is(err, ErrRate) {
						t.Fatalf("seed %d step %d: %d %s: the model says %v, got %v", seed, step, uid, name, right, err)
					}
				default:
					n := 1 + r.IntN(3)
					today := dayOf(m.now)
					err := q.Spend(t.Context(), n)
					left := c.DailyBudget - m.spent[today]
					switch {
					case err == nil && int64(n) > left:
						t.Fatalf("seed %d step %d: %d of %d that are left", seed, step, n, left)
					case err != nil && int64(n) <= left:
						t.Fatalf("seed %d step %d: %d of %d that are left: %v", seed, step, n, left, err)
					case err == nil:
						m.spent[today] += int64(n)
					default:
						want(t, err, ErrBudget)
					}
				}
			}
		})
	}
}

// With a store that fails, forgets to answer and is changed by others, with
// callers who go away, replicas that die and a clock that jumps, no more is given
// than the model has.
func TestModelWithFailures(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			c := small()
			c.DailyBudget = 1 + r.Int64N(300)
			told := map[string]int{}
			var mu sync.Mutex
			c.OnAlarm = func(a Alarm) {
				mu.Lock()
				defer mu.Unlock()
				told[fmt.Sprint(a.Day, a.Share)]++
			}
			kv := newMemKV()
			broken := errors.New("broken")
			bad, seeded := 0.0, rand.New(rand.NewPCG(seed, 3))
			kv.fail = func(op, key string) error {
				switch x := seeded.Float64(); {
				case x < bad/2:
					return broken
				case x < bad && op == "put" && key != "": // somebody else takes one
					if rec, ok := kv.records[key]; ok {
						kv.records[key] = memRecord{rec.value, approver.NewRev(), rec.keep}
					}
				}
				return nil
			}
			kv.lost = func(string) error {
				if seeded.Float64() < bad {
					return broken
				}
				return nil
			}
			m := newModel(c)
			q := [2]*Quota{newFor(t, kv, c), newFor(t, kv, c)}
			for step := range 400 {
				i := r.IntN(2)
				switch r.IntN(12) {
				case 0:
					d := []time.Duration{time.Millisecond, time.Second, time.Minute, 9 * time.Hour}[r.IntN(4)]
					time.Sleep(d)
					m.pass(d)
				case 1:
					kv.set(func() { bad = []float64{0, 0, .1, .4}[r.IntN(4)] })
				case 2:
					q[i] = newFor(t, kv, c) // the old one died
				case 3:
					jump := time.Duration(r.IntN(36)) * time.Hour / 12
					kv.set(func() { kv.ahead += jump })
					m.pass(jump)
				case 4, 5, 6:
					uid, name := uint32(r.IntN(2)), fmt.Sprint("n", r.IntN(3))
					before := fmt.Sprint(m.tokens)
					if err := q[i].Evaluate(t.Context(), agent(uid, name)); err == nil && !m.evaluate(uid, name) {
						t.Fatalf("seed %d step %d: a token that is not there: %s", seed, step, before)
					}
				default:
					ctx, cancel := context.WithCancel(t.Context())
					if r.IntN(10) == 0 {
						cancel()
					}
					if q[i].Spend(ctx, 1) == nil {
						m.spent[dayOf(kv.now())]++
					}
					cancel()
				}
				synctest.Wait()
				var today day
				if rec, ok := kv.records[dayKey(dayOf(kv.now()))]; ok {
					must(t, decode(rec.value, &today))
				}
				if today.Charged > c.DailyBudget {
					t.Fatalf("seed %d step %d: %d are charged of %d", seed, step, today.Charged, c.DailyBudget)
				}
				for d, n := range m.spent {
					if n > c.DailyBudget {
						t.Fatalf("seed %d step %d: %d were spent on %s of %d", seed, step, n, d, c.DailyBudget)
					}
				}
			}
			for share, n := range told {
				if n > 1 {
					t.Errorf("seed %d: %s was told %d times", seed, share, n)
				}
			}
		})
	}
}
