package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
	"approver.example/agents/blocking"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// eachRecorded calls check with each payload that was recorded of an agent.
func eachRecorded(t *testing.T, agent string, check func(t *testing.T, file string, payload []byte)) {
	t.Helper()
	files, err := filepath.Glob("testdata/" + agent + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recorded payloads of %s, %v", len(files), agent, err)
	}
	for _, file := range files {
		payload, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(agent+"/"+filepath.Base(file), func(t *testing.T) { check(t, file, payload) })
	}
}

// Every recorded payload decodes to what the golden file says, and its answers to each verdict are
// those of the golden file.
func TestRecorded(t *testing.T) {
	for _, a := range adapters {
		eachRecorded(t, a.Name(), func(t *testing.T, file string, payload []byte) {
			ev, err := a.Decode(payload)
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind != Notice && ev.Kind != Over && !bytes.Equal(ev.Call.Raw, payload) {
				t.Error("Raw is not the untouched payload")
			}
			golden(t, file, transcript(t, a, ev))
		})
	}
}

// The story: Copilot reads a repository's hooks of Claude Code, and runs them with its own payload.
// Read in the wrong dialect, a call is not understood or, worse, another call is understood. So the
// payload says whose it is, and the answer is in that agent's dialect.
func TestThePayloadSaysWhoseItIs(t *testing.T) {
	for _, a := range adapters {
		eachRecorded(t, a.Name(), func(t *testing.T, _ string, payload []byte) {
			isOf(t, a, payload)
		})
	}
	if a, ev, err := Read("nobody", []byte("{}")); a != nil || ev.Kind != Unknown || err == nil {
		t.Errorf("an unknown agent: %v, %+v, %v", a, ev, err)
	}
}

// isOf asserts that a payload is read as one of an agent, or refused, whatever the hook's flags say.
func isOf(t *testing.T, a Adapter, payload []byte) {
	t.Helper()
	for _, flag := range adapters {
		by, ev, err := Read(flag.Name(), payload)
		switch {
		case err != nil && (by == nil || ev.Kind != Unknown):
			t.Errorf("--agent %s with %s: %v with %+v", flag.Name(), payload, err, ev)
		case err != nil && flag == a:
			t.Errorf("--agent %s with %s: %v", flag.Name(), payload, err)
		case err == nil && ev.Kind != Notice && (by != a || ev.Agent != a.Name() || ev.Call.Agent != a.Name()):
			t.Errorf("--agent %s with %s reads it as one of %s", flag.Name(), payload, ev.Agent)
		}
	}
}

// The story: a rule changed a call, people were shown the changed one and said yes, and the agent was told
// yes without the new arguments: its own call ran, which nobody had seen. A yes to other arguments is
// answered as the change itself is: with these, or with a denial.
func TestAYesToAChangedCall(t *testing.T) {
	args := json.RawMessage(`{"command":"changed","description":"x","file_path":"/changed","content":"x"}`)
	for _, a := range adapters {
		eachRecorded(t, a.Name(), func(t *testing.T, _ string, payload []byte) {
			ev, err := a.Decode(payload)
			if err != nil || ev.Kind != Decide && ev.Kind != Prompted {
				return
			}
			v := approver.Verdict{Decision: approver.Modify, Reason: "why", Args: args}
			want := a.Encode(ev, v)
			v.Decision, v.By = approver.Allow, approver.ByPeople
			got := a.Encode(ev, v)
			if !bytes.Equal(got.Stdout, want.Stdout) || !bytes.Equal(got.Stderr, want.Stderr) || got.Exit() != want.Exit() {
				t.Errorf("it is answered with %s%s, and the change itself with %s%s", got.Stdout, got.Stderr, want.Stdout,
					want.Stderr)
			}
			if allows := got.Exit() == 0 && !got.Blocks; allows && !bytes.Contains(got.Stdout, []byte("changed")) {
				t.Errorf("the agent's own call is let go: %s", got.Stdout)
			}
		})
	}
}

// Whatever an agent's event is, the zero verdict and an event that is not understood block, with a
// reason in the document and on standard error.
func TestZeroBlocks(t *testing.T) {
	for _, a := range adapters {
		events := a.Facts().Events
		if len(events) == 0 {
			t.Errorf("%s has no event that can be blocked", a.Name())
		}
		for _, ev := range []Event{{}, {Agent: a.Name()}, {Kind: 200, Name: "x"}} {
			for d := approver.Deny; d <= approver.Allow; d++ {
				blocks(t, a, a.Encode(ev, approver.Verdict{Decision: d}), events[0].Before)
			}
		}
	}
}

// blocks asserts that an answer is the blocking one, with a document that begins so.
func blocks(t *testing.T, a Adapter, got Answer, before string) {
	t.Helper()
	want := blocking.For(a.Name(), "", "x")
	if got.ExitZero != want.ExitZero || len(got.Stderr) < 2 || !strings.HasPrefix(string(got.Stdout), before) ||
		before != "" && !json.Valid(got.Stdout) {
		t.Errorf("%s does not block: exit %d, %s, %s", a.Name(), got.Exit(), got.Stdout, got.Stderr)
	}
}

func transcript(t *testing.T, a Adapter, ev Event) []byte {
	t.Helper()
	shown := ev.Call
	shown.Raw = nil
	var b bytes.Buffer
	call, err := json.MarshalIndent(shown, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString("kind: " + ev.Kind.String() + "\nname: " + ev.Name)
	if ev.Native != "" && ev.Native != ev.Call.Tool {
		b.WriteString("\nnative: " + ev.Native)
	}
	b.WriteString("\nuse: " + ev.UseID + "\nmode: " + ev.Mode + "\nfailure: " + ev.Failure +
		"\nresponse: " + string(ev.Response) + "\ncall: " + string(call) + "\n")
	for d := approver.Deny; d <= approver.Allow; d++ {
		v := approver.Verdict{Decision: d, Reason: "because <of> \"this\"\nand that", Detail: "for people only"}
		if d == approver.Modify {
			v.Args = json.RawMessage("{\n \"command\": \"true\"\n}")
		}
		got := a.Encode(ev, v)
		b.WriteString("-- " + d.String() + ": exit " + string(rune('0'+got.Exit())) + "\nstdout: " + string(got.Stdout) +
			"\nstderr: " + string(got.Stderr) + "\n")
		if bytes.Contains(got.Stdout, []byte("people only")) || bytes.Contains(got.Stderr, []byte("people only")) {
			t.Errorf("%v: the agent is told the detail", d)
		}
	}
	return b.Bytes()
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	name := filepath.Join(filepath.Dir(file), "golden", strings.TrimSuffix(filepath.Base(file), ".json")+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant, by %s,\n%s", got, name, want)
	}
}

// fuzzDecoder checks with any payload: it is refused or understood, never in between; the answer is
// silence or one line of JSON; and a deny blocks.
func fuzzDecoder(f *testing.F, a Adapter) {
	f.Helper()
	files, err := filepath.Glob("testdata/" + a.Name() + "/*.json")
	foreign, foreignErr := filepath.Glob("testdata/foreign/*.json")
	if err = errors.Join(err, foreignErr); err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range append(files, foreign...) {
		payload, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		ev, err := a.Decode(payload)
		if (err != nil) != (ev.Kind == Unknown) {
			t.Fatalf("kind %v with error %v", ev.Kind, err)
		}
		if ev.Kind == Decide && (ev.Call.Tool == "" || ev.UseID == "" || ev.Content == (Content{}) || ev.Call.Dir == "") {
			t.Fatalf("a call without what it is: %+v", ev)
		}
		for d := approver.Deny; d <= approver.Allow; d++ {
			got := a.Encode(ev, approver.Verdict{Decision: d, Reason: string(payload), Args: payload})
			if out := got.Stdout; len(out) > 0 &&
				(!json.Valid(out) || bytes.Count(out, []byte("\n")) != 1 || out[len(out)-1] != '\n') {
				t.Errorf("%v: stdout %q", d, out)
			}
			if d <= approver.Ask && ev.Kind != Notice && ev.Kind != Over {
				if want := blocking.For(a.Name(), ev.Name, "x"); got.ExitZero != want.ExitZero || len(got.Stderr) < 2 {
					t.Errorf("%v does not block: %+v", d, got)
				}
			}
		}
		if r, ok := a.(Reporter); ok {
			if ev, is, err := r.Report(payload, ""); is && err == nil && ev.Kind != Ran {
				t.Errorf("a report of %v", ev.Kind)
			}
		}
	})
}

// The story: goose began to send the folder as "cwd" beside its own key. The payload then had all that Crush
// sends, and its arguments were read as Crush's. A key more, which another agent has too, leaves a payload
// what it is, or it is refused.
func TestAKeyMoreLeavesThePayloadWhatItIs(t *testing.T) {
	more := map[string]string{"cwd": `"/p"`, "working_dir": `"/p"`, "model": `"m"`, "version": `"1"`,
		"workspace_roots": `["/p"]`}
	for _, a := range adapters {
		eachRecorded(t, a.Name(), func(t *testing.T, _ string, payload []byte) {
			for key, value := range more {
				var o map[string]json.RawMessage
				if err := json.Unmarshal(payload, &o); err != nil {
					t.Fatal(err)
				}
				if _, there := o[key]; there {
					continue
				}
				o[key] = json.RawMessage(value)
				changed, err := json.Marshal(o)
				if err != nil {
					t.Fatal(err)
				}
				isOf(t, a, changed)
			}
		})
	}
}
