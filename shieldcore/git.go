package shieldcore

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Bounds of the search for a branch.
const (
	maxUp       = 64      // folders above the call's directory
	maxHeadFile = 4 << 10 // bytes of HEAD, and of the .git file of a worktree
)

// gitBranches returns the branches that are checked out in the call's directory and
// in GIT_DIR. Without a repository, or with a detached HEAD, there is none. sure is
// false if the directory is unknown or a file cannot be read. It runs no program.
func (s *subject) gitBranches() (branches []string, sure bool) {
	if s.haveBranches {
		return s.branches, s.branchesSure
	}
	s.haveBranches, s.branchesSure = true, true
	note := func(branch string, sure bool) {
		if branch != "" {
			s.branches = append(s.branches, branch)
		}
		s.branchesSure = s.branchesSure && sure
	}
	if dir := s.call.Env["GIT_DIR"]; dir != "" {
		if !strings.HasPrefix(dir, "/") {
			dir = path.Join(s.call.Dir, dir)
		}
		note(headOf(dir))
	}
	if !strings.HasPrefix(s.call.Dir, "/") {
		note("", false)
	} else {
		note(branchAt(s.call.Dir))
	}
	return s.branches, s.branchesSure
}

// branchAt looks for .git in dir and the folders above it.
func branchAt(dir string) (branch string, sure bool) {
	dir = path.Clean(dir)
	for range maxUp {
		git := path.Join(dir, ".git")
		info, err := os.Stat(git)
		switch {
		case err == nil && info.IsDir():
			return headOf(git)
		case err == nil: // a worktree or a submodule: "gitdir: PATH"
			text, ok := readSmall(git)
			to, is := strings.CutPrefix(text, "gitdir:")
			if !ok || !is {
				return "", false
			}
			if to = strings.TrimSpace(to); !filepath.IsAbs(to) {
				to = path.Join(dir, to)
			}
			return headOf(to)
		case !os.IsNotExist(err):
			return "", false
		case dir == "/":
			return "", true
		}
		dir = path.Dir(dir)
	}
	return "", false
}

// headOf reads the branch in the HEAD of a git folder.
func headOf(git string) (branch string, sure bool) {
	text, ok := readSmall(path.Join(git, "HEAD"))
	if !ok {
		return "", false
	}
	text = strings.TrimSpace(text)
	if ref, is := strings.CutPrefix(text, "ref:"); is {
		branch, is = strings.CutPrefix(strings.TrimSpace(ref), "refs/heads/")
		// With reftable the branch is not in HEAD, which says .invalid then.
		return branch, is && branch != "" && branch != ".invalid"
	}
	return "", len(text) == 40 || len(text) == 64 // detached: a commit's hash
}

// readSmall reads a small regular file. It does not hang on a pipe.
func readSmall(name string) (string, bool) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxHeadFile {
		return "", false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxHeadFile))
	return string(data), err == nil
}
