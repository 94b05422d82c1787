package policies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"approver.example/cmd/approver/internal/judging"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/words"
	"approver.example/internal/strictyaml"
)

type policyTestCmd struct {
	judging.Flags
	JSON  bool   `help:"Print one JSON object for each case."`
	Cases string `arg:"" optional:"" help:"File of cases; left out, policy.test.yaml beside policy.yaml." placeholder:"CASES"`
}

type caseFile struct {
	Cases []policyCase `yaml:"cases"`
}

type policyCase struct {
	Tool    string  `yaml:"tool"`
	Command string  `yaml:"command"`
	Path    string  `yaml:"path"`
	Content string  `yaml:"content"`
	Args    string  `yaml:"args"`
	CWD     string  `yaml:"cwd"`
	UID     *uint32 `yaml:"uid"`
	Want    string  `yaml:"want"`
	Rule    string  `yaml:"rule"`
}

// wants are the outcomes that a case may want.
var wants = []string{"deny", "ask", "ask high", "ask catastrophic", "pass", "allow"}

// Run runs the cases.
func (c policyTestCmd) Run(ctx context.Context) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	policy, err := cfg.LoadPolicy()
	if err != nil {
		return err
	}
	if c.Cases == "" {
		if c.Cases = strings.TrimSuffix(cfg.Policy, ".yaml") + ".test.yaml"; cfg.Policy == "" ||
			strings.Contains(cfg.Policy, ":") {
			return errors.New("the built-in policies have no cases beside them: name a file of cases (approver policy test " +
				"--help shows one)")
		}
	}
	f, cases, err := readCases(c.Cases)
	if err != nil {
		return err
	}
	j, err := judging.New("", policy)
	if err != nil {
		return err
	}
	failed := 0
	for i, pc := range cases {
		at := f.Position(fmt.Sprintf("cases[%d]", i))
		call, err := j.Call(pc.line())
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		v, _ := j.Gate.Judge(ctx, call)
		got := judging.InWords(v)
		ok := (got == pc.Want || pc.Want == "ask" && strings.HasPrefix(got, "ask ")) && (pc.Rule == "" || pc.Rule == v.Rule)
		if !ok {
			failed++
		}
		switch {
		case c.JSON:
			err = json.NewEncoder(os.Stdout).Encode(
				map[string]any{"at": at.String(), "ok": ok, "want": pc.Want, "got": got, "rule": v.Rule})
		case !ok:
			_, err = fmt.Printf("%s: got %s by %q, want %s\n", at, got, v.Rule, strings.TrimSpace(pc.Want+" "+pc.Rule))
		}
		if err != nil {
			return err
		}
	}
	if !c.JSON {
		fmt.Printf("%s, %d failed\n", words.Count(uint64(len(cases)), "case"), failed)
	}
	if failed > 0 {
		return term.ErrSaid
	}
	return nil
}

func readCases(name string) (*strictyaml.File, []policyCase, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("there is no file of cases %s: write one, see approver policy test --help", name)
	} else if err != nil {
		return nil, nil, err
	}
	f, err := strictyaml.Parse(name, data)
	if err != nil {
		return nil, nil, err
	}
	var file caseFile
	f.Decode(&file)
	for i, pc := range file.Cases {
		at := fmt.Sprintf("cases[%d]", i)
		if f.Good(at) && !slices.Contains(wants, pc.Want) {
			f.Report(at+".want", "want must be one of: "+strings.Join(wants, ", "))
		}
		if f.Good(at) && pc.Command == "" && pc.Tool == "" {
			f.ReportKey(at, "the case has no call: add command, or tool and path or args")
		}
		if pc.Args != "" && !json.Valid([]byte(pc.Args)) {
			f.Report(at+".args", "args must be JSON")
		}
	}
	if len(file.Cases) == 0 {
		f.Report("cases", "there are no cases")
	}
	return f, file.Cases, f.Err()
}

// line returns the case as an input line for judge.
func (pc policyCase) line() string {
	call := map[string]any{"tool": pc.Tool, "cwd": pc.CWD, "uid": pc.UID}
	if pc.Tool == "" {
		call["tool"] = "Bash"
	}
	if pc.Command != "" {
		call["command"] = pc.Command
	}
	switch {
	case pc.Args != "":
		call["args"] = json.RawMessage(pc.Args)
	case pc.Path != "":
		args := map[string]string{"file_path": pc.Path}
		switch pc.Tool {
		case "Glob", "Grep", "LS":
			args = map[string]string{"path": pc.Path, "pattern": "x"}
		case "NotebookEdit", "NotebookRead":
			args = map[string]string{"notebook_path": pc.Path}
		case "Write":
			args["content"] = pc.Content
		case "Edit":
			args["old_string"], args["new_string"] = "", pc.Content
		}
		call["args"] = args
	}
	line, err := json.Marshal(call)
	if err != nil { // readCases has checked that args are valid JSON
		return "{"
	}
	return string(line)
}
