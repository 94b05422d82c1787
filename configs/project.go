package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"approver.example/reflexcore"
	"approver.example/reflexcore/flow"
)

// ProjectRules finds the rules of projects: the file .approver/rules.yaml in a call's working
// directory and in the folders above it, up to the root of the repository. These rules add to
// the other rules and can only tighten. The file does not belong to approver: whoever may
// write to the project may write it. So it guards against mistakes, not against the agent.
//
// The zero value reads files and reports nothing. It is safe for concurrent use.
type ProjectRules struct {
	// Skip is a file that belongs to no project: the user's own layer.
	Skip string
	// Report is called once for each version of a file that has a part that does not count.
	Report func(file string, problem error)
	// Now is the clock; nil means time.Now.
	Now func() time.Time

	mu    sync.Mutex
	dirs  map[string]projectDir
	files map[string]projectFile
}

// A projectDir is the result for a folder.
type projectDir struct {
	rules *reflexcore.Rules
	of    string // the files that it was made from, and their stamps
	until time.Time
}

// A projectFile is a file as it was last read.
type projectFile struct {
	stamp   string
	rules   []reflexcore.Rule
	sources flow.Sources
}

// Bounds of what is read of a project. A result is reused for projectTTL.
const (
	projectName     = ".approver/rules.yaml"
	projectTTL      = time.Second
	maxProjectDepth = 32       // nested folders
	maxProjectBytes = 64 << 10 // of one file
	maxProjectRules = 200      // of all files for one folder together
	maxProjectDirs  = 1024     // folders that are cached

	maxProjectPatterns = 20 // of one file: each takes a millisecond to check
)

// For returns the rules of the project that a folder is in, or nil if there are none.
func (p *ProjectRules) For(dir string) *reflexcore.Rules {
	if !filepath.IsAbs(dir) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now
	if p.Now != nil {
		now = p.Now
	}
	if d, ok := p.dirs[dir]; ok && now().Before(d.until) {
		return d.rules
	}
	if len(p.dirs) >= maxProjectDirs || p.dirs == nil {
		p.dirs, p.files = map[string]projectDir{}, map[string]projectFile{}
	}
	d := p.read(filepath.Clean(dir), p.dirs[dir])
	d.until = now().Add(projectTTL)
	p.dirs[strings.Clone(dir)] = d
	return d.rules
}

// read reads the files of a folder and of those above it, the outermost first. was is the
// previous result; its compiled rules are reused if no file has changed.
func (p *ProjectRules) read(dir string, was projectDir) projectDir {
	var out projectDir
	var all []reflexcore.Rule
	var sources flow.Sources
	ids := map[string]bool{}
	for _, root := range slices.Backward(projectFolders(dir)) {
		name := filepath.Join(root, projectName)
		if name == p.Skip {
			continue
		}
		rules, own := p.file(root, name)
		sources = sources.And(own)
		if len(rules) > 0 || !own.None() {
			out.of += name + " " + p.files[name].stamp + "\n"
		}
		for _, r := range rules {
			// Two files may use the same id. Both rules count.
			base := r.ID[:min(len(r.ID), 48)]
			for n := 2; ids[r.ID]; n++ {
				r.ID = fmt.Sprintf("%s_%d", strings.TrimRight(base, "_"), n)
			}
			ids[r.ID] = true
			all = append(all, r)
		}
	}
	switch {
	case len(all) == 0 && sources.None():
		return out
	case out.of == was.of:
		out.rules = was.rules
		return out
	case len(all) > maxProjectRules:
		p.report(dir, fmt.Errorf("the project has %d rules: only the first %d count, those of the outermost folder before "+
			"others", len(all), maxProjectRules))
		all = all[:maxProjectRules]
	}
	var err error
	if out.rules, err = reflexcore.Compile(all); err != nil {
		p.report(dir, err)
		out.rules = &reflexcore.Rules{}
	}
	out.rules.Sources = sources
	return out
}

// projectFolders returns the folder itself and those above it, up to the outermost repository,
// so that a nested repository does not hide the rules of an outer one.
func projectFolders(dir string) (out []string) {
	last := 1
	for range maxProjectDepth {
		out = append(out, dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			last = len(out)
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return out[:last]
}

// file returns the rules and the sources of one file.
func (p *ProjectRules) file(root, name string) ([]reflexcore.Rule, flow.Sources) {
	data, stamp, err := readProject(root, p.files[name].stamp)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		delete(p.files, name)
		return nil, flow.Sources{}
	case errors.Is(err, errSame):
		return p.files[name].rules, p.files[name].sources
	}
	f := projectFile{stamp: stamp}
	if err == nil {
		var sources []flow.Source
		f.rules, sources, err = LoadProjectRules(name, data)
		f.sources = flow.CompileSources(root, sources)
	}
	if err != nil {
		if stamp == "" {
			f.stamp = err.Error()
		}
		if f.stamp != p.files[name].stamp {
			p.report(name, err)
		}
	}
	p.files[strings.Clone(name)] = f
	return f.rules, f.sources
}

func (p *ProjectRules) report(file string, err error) {
	if p.Report != nil {
		p.Report(file, err)
	}
}

// errSame says that a file has not changed since it was read.
var errSame = errors.New("the file is the same")

// readProject reads the rules file of a folder, or returns errSame if its stamp is have. It
// does not follow links that lead out of the folder, and it does not block on a pipe.
func readProject(root, have string) (data []byte, stamp string, err error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	f, err := r.OpenFile(projectName, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	stamp = fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
	switch {
	case stamp == have:
		return nil, stamp, errSame
	case !info.Mode().IsRegular():
		return nil, stamp, errors.New("it is not a regular file, so its rules do not count")
	}
	if data, err = io.ReadAll(io.LimitReader(f, maxProjectBytes+1)); err != nil {
		return nil, stamp, err
	}
	if len(data) > maxProjectBytes {
		return nil, stamp, fmt.Errorf("it is larger than %d bytes, so its rules do not count", maxProjectBytes)
	}
	return data, stamp, nil
}

// LoadProjectRules reads the rules of a project, and its sources of confidential data, whose
// paths may be relative to the project. Entries that would loosen are refused: the error, a
// [strictyaml.FileError], names them, and the rules and sources are returned all the same. If
// a rule or a source is invalid, none are returned.
func LoadProjectRules(name string, data []byte) ([]reflexcore.Rule, []flow.Source, error) {
	f, file, err := parseRules(name, data)
	if err != nil {
		return nil, nil, err
	}
	patterns := 0
	for i, r := range file.Rules {
		if r.Pattern != "" {
			patterns++
		}
		if patterns > maxProjectPatterns || i >= maxProjectRules {
			f.Report(fmt.Sprintf("rules[%d]", i),
				fmt.Sprintf("a project's file may have %d rules, %d of them with a pattern, because calls wait for it: move "+
					"others into the user's rules", maxProjectRules, maxProjectPatterns))
			return nil, nil, f.Err()
		}
	}
	rules := readRules(f, file, reflexcore.ProjectLayer)
	for _, err := range flow.SourceFaults("sources", rooted(file.Sources)) {
		key, text, _ := strings.Cut(err.Error(), ": ")
		if text == "" {
			key, text = "sources", err.Error()
		}
		f.Report(key, text)
	}
	if err := f.Err(); err != nil {
		return nil, nil, err
	}
	for i := range rules {
		if slices.ContainsFunc(rules[:i], func(r reflexcore.Rule) bool { return r.ID == rules[i].ID }) {
			f.Report(fmt.Sprintf("rules[%d].id", i), fmt.Sprintf("the id %s is used twice", rules[i].ID))
		}
	}
	if f.Err() == nil {
		if _, err := reflexcore.Compile(rules); err != nil {
			f.Report("rules", err.Error())
		}
	}
	if err := f.Err(); err != nil {
		return nil, nil, err
	}
	for key, n := range map[string]int{"disable": len(file.Disable), "shadow": len(file.Shadow),
		"allow": len(file.Allow)} {
		if n > 0 {
			f.ReportKey(key, key+
				" loosens, so it is refused here, and the rules of the file count: a project can only tighten; people can allow "+
				"it in the user's rules")
		}
	}
	return rules, file.Sources, f.Err()
}

// rooted returns copies of the sources with absolute paths, for validation: the paths of a
// project's sources may be relative to it.
func rooted(list []flow.Source) []flow.Source {
	out := slices.Clone(list)
	for i := range out {
		out[i].Paths = slices.Clone(out[i].Paths)
		for k, p := range out[i].Paths {
			if p != "" && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~/") && !strings.HasPrefix(p, "**/") {
				out[i].Paths[k] = "/" + p
			}
		}
	}
	return out
}
