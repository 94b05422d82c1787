package sidecar

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example/shieldcore/sidecar/sidecartest"
)

// The test binary is the program too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "--model" {
		os.Exit(sidecartest.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// overPipes starts the fake in this process.
func overPipes(c Config) (*process, error) {
	b, err := os.ReadFile(c.Model + "/behavior")
	if err != nil {
		return nil, err
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	said, killed, ended := &tailBuffer{}, make(chan struct{}), make(chan int, 1)
	kill := sync.OnceFunc(func() {
		close(killed)
		_ = inR.Close()
		_ = outR.Close()
	})
	go func() {
		status := make(chan int, 1)
		go func() { status <- sidecartest.Serve(sidecartest.Behavior(b), c.Model, inR, outW, said) }()
		code := -1
		select {
		case code = <-status:
		case <-killed: // what hangs is left hanging
		}
		_ = inR.Close()
		_ = outW.Close()
		ended <- code
	}()
	return &process{inW, outR, kill, func() error {
		if code := <-ended; code != 0 {
			return errors.New("exit status " + string(rune('0'+code)))
		}
		return nil
	}, said.String}, nil
}

// fake is a running sidecar; stop ends it and waits.
func fake(t *testing.T, b sidecartest.Behavior, how func(Config) (*process, error)) (s *Sidecar, stop func()) {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	// A program takes a second to end under the race detector.
	s, err = New(Config{Program: program, Model: sidecartest.Dir(t, b), Deadline: 3 * time.Second})
	must(t, err)
	s.start = how
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return s, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if st := s.Status(); st.State != Stopped {
			t.Errorf("after Run: %s", st.State)
		}
	}
}

// What breaks at the start never gets to answer; the status says why.
var startFailures = map[sidecartest.Behavior]string{
	sidecartest.CrashAtStart: "it ended by itself: exit status 3",
	sidecartest.HangAtStart:  "it did not start in time",
	sidecartest.Deaf:         "golden text 1: it did not answer within the deadline",
	sidecartest.EarlyReply:   "golden text 1: it answered before it had read the text",
	sidecartest.Refuses:      "it says: model.onnx has SHA-256 00, and the manifest says 11",
	sidecartest.OldProtocol:  "it speaks version 0 of the protocol: 1 is known",
	sidecartest.WrongHash:    "it loaded a model with another manifest",
	sidecartest.WrongScores:  "golden text 1: the score is not that of the manifest",
}

// What breaks with a text; whether the program is ended for it.
var textFailures = []struct {
	b    sidecartest.Behavior
	want string
	ends bool
}{
	{sidecartest.CrashMid, "it ended in the middle of a line", true},
	{sidecartest.HalfLine, "it ended in the middle of a line", true},
	{sidecartest.Hang, "it did not answer within the deadline", true},
	{sidecartest.Slow, "it did not answer within the deadline", true},
	{sidecartest.WrongID, "it answered another request", true},
	{sidecartest.NaN, "its line is not an object of the protocol", true},
	{sidecartest.OutOfRange, "its score is not from 0 to 1", true},
	{sidecartest.Negative, "its score is not from 0 to 1", true},
	{sidecartest.NoScore, "its reply has no score", true},
	{sidecartest.Both, "a score and an error", true},
	{sidecartest.HugeLine, "it wrote a line of more than 4096 bytes", true},
	{sidecartest.Garbage, "its line is not an object of the protocol", true},
	{sidecartest.SaysError, "it says: the model's output is not a number", false},
}

func TestHonest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := fake(t, sidecartest.Honest, overPipes)
		defer stop()
		synctest.Wait()
		if st := s.Status(); !st.Well() || st.Runtime != "fake 1" || len(st.Manifest) != 64 || st.Error != "" {
			t.Fatalf("%+v", st)
		}
		for _, test := range []struct {
			text      string
			score     float64
			truncated bool
		}{
			{"hello", 0, false}, {"Ignore all", 0.9, false}, {"", 0, false}, {"LONG", 0, true},
			{"a\nb\xff\x00\u2028 ignore", 0.9, false},
			{strings.Repeat("é", DefaultMaxText/2), 0, false}, {strings.Repeat("é", DefaultMaxText/2) + "ignore", 0, true},
		} {
			score, truncated, err := s.Score(t.Context(), test.text)
			if err != nil || score != test.score || truncated != test.truncated {
				t.Errorf("%.20q: %v %v %v, want %v %v", test.text, score, truncated, err, test.score, test.truncated)
			}
		}
		if st := s.Status(); st.Scored != 7 || st.Unavailable != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// unavailableScore asks, and checks that there is no score.
func unavailableScore(t *testing.T, s *Sidecar, text, want string) {
	t.Helper()
	score, truncated, err := s.Score(t.Context(), text)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), want) || score != 1 || !truncated {
		t.Errorf("%v %v %v, want %q", score, truncated, err, want)
	}
}

func TestBrokenAtTheStart(t *testing.T) {
	for b, want := range startFailures {
		t.Run(string(b), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := fake(t, b, overPipes)
				synctest.Wait()
				unavailableScore(t, s, "x", "it is ")
				time.Sleep(DefaultStart + time.Second)
				synctest.Wait()
				st := s.Status()
				if st.State != Restarting || !strings.Contains(st.Error, want) || st.FailedSince.IsZero() ||
					strings.ContainsAny(st.Error+st.Said, "\n\x1b") {
					t.Errorf("%+v", st)
				}
				unavailableScore(t, s, "x", want)
				if b == sidecartest.CrashAtStart && !strings.Contains(st.Said, "fake: no luck") {
					t.Errorf("said %q", st.Said)
				}
				stop()
				time.Sleep(48 * time.Hour) // until the fakes that hang have ended
			})
		})
	}
}

func TestBrokenWithAText(t *testing.T) {
	for _, test := range textFailures {
		t.Run(string(test.b), func(t *testing.T) {
			t.Parallel()
			s, stop := fake(t, test.b, start)
			defer stop()
			until(t, s, Running)
			before := s.Status().Restarts
			_, _, err := s.Score(t.Context(), "hello")
			if !errors.Is(err, ErrUnavailable) {
				t.Fatalf("a score, %v", err)
			}
			if !test.ends {
				if st := s.Status(); !st.Well() || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v: %+v", err, st)
				}
				return
			}
			st := untilRestart(t, s, before)
			if !strings.Contains(st.Error, test.want) || st.FailedSince.IsZero() {
				t.Errorf("%+v", st)
			}
			until(t, s, Running)
			if st := s.Status(); st.Error != "" || !st.FailedSince.IsZero() {
				t.Errorf("mended: %+v", st)
			}
		})
	}
}

// until waits for a state, as long as it takes.
func until(t *testing.T, s *Sidecar, want State) {
	t.Helper()
	for range 3000 {
		if s.Status().State == want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not %s: %+v", want, s.Status())
}

// untilRestart waits for the next failure and returns its status.
func untilRestart(t *testing.T, s *Sidecar, before int) Status {
	t.Helper()
	for range 3000 {
		if st := s.Status(); st.Restarts > before {
			return st
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("not restarted: %+v", s.Status())
	return Status{}
}

// Output that nobody asked for ends the program before it can be taken for the
// answer to the next text.
func TestExtraOutput(t *testing.T) {
	for _, b := range []sidecartest.Behavior{sidecartest.Extra, sidecartest.Unasked} {
		s, stop := fake(t, b, start)
		until(t, s, Running)
		if score, _, err := s.Score(t.Context(), "Ignore nothing"); err != nil || score != 0.9 {
			t.Errorf("%s: %v %v", b, score, err)
		}
		if st := untilRestart(t, s, 0); !strings.Contains(st.Error, "nobody asked for") {
			t.Errorf("%s: %+v", b, st)
		}
		stop()
	}
}

func TestAProgramOfItsOwn(t *testing.T) {
	s, stop := fake(t, sidecartest.Chatty, start)
	until(t, s, Running)
	if score, _, err := s.Score(t.Context(), "Ignore all"); err != nil || score != 0.9 {
		t.Errorf("%v %v", score, err)
	}
	stop()
	unavailableScore(t, s, "x", "it is stopped")
}

func TestExitsAfterSomeTexts(t *testing.T) {
	s, stop := fake(t, sidecartest.ExitsAfter+"2", start) // the golden one and another
	defer stop()
	until(t, s, Running)
	if score, _, err := s.Score(t.Context(), "Ignore all"); err != nil || score != 0.9 {
		t.Errorf("%v %v", score, err)
	}
	if st := untilRestart(t, s, 0); !strings.Contains(st.Error, "it ended by itself: exit status 7") {
		t.Errorf("%+v", st)
	}
	until(t, s, Running)
}

func TestMends(t *testing.T) {
	s, stop := fake(t, sidecartest.Mends, start)
	defer stop()
	if st := untilRestart(t, s, 0); !strings.Contains(st.Error, "exit status 3") {
		t.Errorf("%+v", st)
	}
	until(t, s, Running)
}

func TestNoSuchProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Program: "/nowhere/approver-classifier", Model: sidecartest.Dir(t, sidecartest.Honest)})
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		synctest.Wait()
		unavailableScore(t, s, "x", "it cannot be started")
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// The pause doubles, up to a minute, and begins anew after a steady minute.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts []time.Time
		s, stop := fake(t, sidecartest.CrashAtStart, func(c Config) (*process, error) {
			starts = append(starts, time.Now())
			return overPipes(c)
		})
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if n := len(starts); n < 9 || n > 12 {
			t.Fatalf("%d starts in five minutes", n)
		}
		for i := range len(starts) - 1 {
			want := min(firstPause<<i, maxPause)
			if got := starts[i+1].Sub(starts[i]); got != want {
				t.Errorf("pause %d: %v, want %v", i, got, want)
			}
		}
		if st := s.Status(); st.FailedSince != starts[0] || st.Restarts != len(starts) {
			t.Errorf("%+v", st)
		}
		stop()
	})
}

// A text waits for those before it, and gives up at its own deadline without
// ending a program that is only busy.
func TestOneTextAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := fake(t, sidecartest.Honest, overPipes)
		defer stop()
		synctest.Wait()
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				text, want := "hello", 0.0
				if i%2 == 0 {
					text, want = "ignore", 0.9
				}
				if score, _, err := s.Score(t.Context(), text); err != nil || score != want {
					t.Errorf("%v %v", score, err)
				}
			})
		}
		wg.Wait()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 { // some are given up before, some while they are scored
			if _, _, err := s.Score(gone, "x"); err != nil && !errors.Is(err, ErrUnavailable) {
				t.Error(err)
			}
		}
		synctest.Wait()
		if st := s.Status(); !st.Well() || st.Restarts != 0 {
			t.Errorf("%+v", st)
		}
		if score, _, err := s.Score(t.Context(), "ignore"); err != nil || score != 0.9 {
			t.Errorf("a reply to another text: %v %v", score, err)
		}
	})
}

func TestTheManifestOfTheConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Program: "/x", Model: sidecartest.Dir(t, sidecartest.Honest), Manifest: strings.Repeat("0", 64)})
		must(t, err)
		s.start = overPipes
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		synctest.Wait()
		unavailableScore(t, s, "x", "and the configuration says 000000")
		cancel()
		<-done
	})
}

func TestTheZeroSidecar(t *testing.T) {
	for _, s := range []*Sidecar{nil, {}} {
		unavailableScore(t, s, "x", "it is stopped")
		if s.Threshold() != 0 || s.Status().State != Stopped {
			t.Errorf("%v %v", s.Threshold(), s.Status())
		}
	}
}

func TestConfigValidate(t *testing.T) {
	good := Config{Program: "/p", Model: "/m"}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Config){
		"program":   func(c *Config) { c.Program = "approver-classifier" },
		"library":   func(c *Config) { c.Library = "lib.so" },
		"model":     func(c *Config) { c.Model = "" },
		"manifest":  func(c *Config) { c.Manifest = "ABC" },
		"threshold": func(c *Config) { c.Threshold = 1.1 },
		"deadline":  func(c *Config) { c.Deadline = time.Minute },
		"start":     func(c *Config) { c.Start = time.Millisecond },
		"max_text":  func(c *Config) { c.MaxText = 1 },
		"threads":   func(c *Config) { c.Threads = -1 },
	} {
		c := good
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "sidecar: "+name+" ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (Config{}).Validate(); err == nil {
		t.Error("the zero Config is valid")
	}
}

// must fails a test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
