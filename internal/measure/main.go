// Command measure counts how many shell commands of a corpus approver interrupts. It judges them
// with a program of any build, so that two builds can be compared.
//
// A corpus is a folder of files *.jsonl. Each line is one command:
//
//	{"id": "…", "source": "…", "label": "danger", "half": "read", "command": "…"}
//
// label is danger, honest (from real use), allow (others say that it must pass) or between (not
// counted). source names where it is from; rates are means over the sources, so that a large one
// does not decide. half is read or unread. Of the unread half only totals are printed, and -list
// does not show it: what nobody has seen cannot be fitted to.
//
// A file struck.tsv beside them has ids of commands that are not counted in the last column,
// each with a reason behind a tab.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// A row is one command and what became of it.
type row struct {
	ID      string `json:"id"`
	Source  string `json:"source"`
	Label   string `json:"label"`
	Half    string `json:"half"`
	Command string `json:"command"`

	Decision string `json:"decision"`
	Severity string `json:"severity,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

func (r row) interrupted() bool { return r.Decision == "ask" || r.Decision == "deny" }

// inImages are the sources whose commands build an image: an agent writes them into a Dockerfile.
var inImages = []string{"docker"}

// call returns the call of an agent with the command. With images, what builds an image is written.
func (r row) call(images bool, project string) map[string]any {
	if !images || !slices.Contains(inImages, r.Source) {
		return map[string]any{"tool": "Bash", "command": r.Command}
	}
	run := "RUN " + r.Command
	if strings.Contains(r.Command, "\n") {
		run = "RUN <<END_OF_RUN\n" + r.Command + "\nEND_OF_RUN"
	}
	return map[string]any{"tool": "Write",
		"args": map[string]any{"file_path": filepath.Join(project, "Dockerfile"), "content": "FROM debian\n" + run + "\n"}}
}

// wrong reports whether the verdict differs from the label.
func (r row) wrong() bool { return r.Label != "between" && r.interrupted() != (r.Label == "danger") }

func main() {
	program := flag.String("program", "bin/approver", "the approver `program` that judges")
	policy := flag.String("policy", "", "the `policy`, such as preset:strict; left out, the default")
	list := flag.String("list", "", "print the wrong verdicts of this `label` in the read half, as JSON lines")
	images := flag.Bool("images", true, "judge what builds an image as written into a Dockerfile")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: measure [flags] FOLDER")
		os.Exit(2)
	}
	if err := measure(os.Stdout, *program, *policy, *list, *images, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func measure(w io.Writer, program, policy, list string, images bool, dir string) error {
	rows, err := load(dir)
	if err != nil {
		return err
	}
	struck, err := readStruck(filepath.Join(dir, "struck.tsv"))
	if err != nil {
		return err
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	if err := judge(program, policy, images, rows); err != nil {
		return err
	}
	if list != "" {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, r := range rows {
			if r.Half == "read" && r.Label == list && r.wrong() {
				if err := enc.Encode(r); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := printTable(w, rows, struck); err != nil || !images {
		return err
	}
	_, err = fmt.Fprintln(w, "\njudged as written into a Dockerfile:", strings.Join(inImages, ", "))
	return err
}

// load reads all commands of a corpus.
func load(dir string) (rows []row, err error) {
	var files []string
	if err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".jsonl") {
			files = append(files, path)
		}
		return err
	}); err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		n := 0
		for line := range bytes.Lines(text) {
			n++
			var r row
			if err := json.Unmarshal(line, &r); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, n, err)
			}
			known := slices.Contains([]string{"danger", "honest", "allow", "between"}, r.Label)
			if !known || r.Half != "read" && r.Half != "unread" || r.Source == "" || r.Command == "" {
				return nil, fmt.Errorf("%s:%d: label, half, source or command is missing or not known", file, n)
			}
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no commands: give a folder with files *.jsonl, see the comment of this program", dir)
	}
	return rows, nil
}

func readStruck(path string) (map[string]bool, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	struck := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		id, reason, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if reason == "" {
			return nil, fmt.Errorf("%s: %s has no reason", path, id)
		}
		struck[id] = true
	}
	return struck, err
}

// judge fills in the verdicts. Each command is judged alone, in an empty git repository in an
// empty home. With images, what builds an image is judged as written into a Dockerfile.
func judge(program, policy string, images bool, rows []row) (err error) {
	home, err := os.MkdirTemp("", "measure-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	project := filepath.Join(home, "project")
	if out, err := exec.Command("git", "init", "-q", project).CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	args := []string{"judge", "--cwd", project}
	if policy != "" {
		args = append(args, "--policy", policy)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "TMPDIR=/tmp")
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for i, r := range rows {
		line := r.call(images, project)
		line["id"] = i
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	for i := range rows {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return errors.Join(fmt.Errorf("verdict %d of %d: %w", i+1, len(rows), err), cmd.Wait())
		}
		if err := json.Unmarshal(line, &struct {
			*row
			ID any `json:"id"` // of the line, not of the command
		}{row: &rows[i]}); err != nil {
			return err
		}
		if rows[i].Decision == "" {
			return fmt.Errorf("verdict %d of %d: no decision: %s", i+1, len(rows), line)
		}
	}
	return cmd.Wait()
}

// A tally counts verdicts.
type tally struct{ all, interrupted, denied int }

func (t *tally) add(r row) {
	t.all++
	if r.interrupted() {
		t.interrupted++
	}
	if r.Decision == "deny" {
		t.denied++
	}
}

// A group has the verdicts of one label and half.
type group struct {
	label, half string
	all         tally
	by          map[string]*tally // by source
	left        map[string]*tally // those that are not struck out
	struck      int
}

func (g *group) add(r row, struck bool) {
	g.all.add(r)
	of := func(m map[string]*tally) {
		if m[r.Source] == nil {
			m[r.Source] = &tally{}
		}
		m[r.Source].add(r)
	}
	if of(g.by); struck {
		g.struck++
		return
	}
	of(g.left)
}

// mean returns the mean of the interrupted percentages of the sources.
func mean(by map[string]*tally) float64 {
	sum := 0.0
	for _, t := range by {
		sum += percent(t.interrupted, t.all)
	}
	return sum / float64(max(len(by), 1))
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

func printTable(w io.Writer, rows []row, struck map[string]bool) error {
	var groups []*group
	for _, r := range rows {
		i := slices.IndexFunc(groups, func(g *group) bool { return g.label == r.Label && g.half == r.Half })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{label: r.Label, half: r.Half, by: map[string]*tally{}, left: map[string]*tally{}})
		}
		groups[i].add(r, struck[r.ID])
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(strings.Compare(a.label, b.label), strings.Compare(a.half, b.half))
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "label\thalf\tcommands\tsources\tinterrupted %\tdenied %\tmean over sources\tstruck out\t"+
		"mean without them")
	for _, g := range groups {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.2f\t%.2f\t%.2f\t%d\t%.2f\n", g.label, g.half, g.all.all, len(g.by),
			percent(g.all.interrupted, g.all.all), percent(g.all.denied, g.all.all), mean(g.by), g.struck, mean(g.left))
	}
	fmt.Fprintln(t, "\nread half by source")
	for _, g := range groups {
		if g.half != "read" {
			continue
		}
		sources := make([]string, 0, len(g.by))
		for s := range g.by {
			sources = append(sources, s)
		}
		slices.Sort(sources)
		for _, s := range sources {
			c := g.by[s]
			fmt.Fprintf(t, "%s\t%s\t%d\t\t%.2f\t%.2f\n", g.label, s, c.all, percent(c.interrupted, c.all),
				percent(c.denied, c.all))
		}
	}
	return t.Flush()
}
