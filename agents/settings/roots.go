package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"approver.example/internal/regular"
)

// MaxGitFile limits what is read of a file that says where a repository is, in bytes.
const MaxGitFile = 64 << 10

// localRoots returns the folders whose local settings an agent reads if it is started in dir, in
// addition to those of dir: the root of the repository and, in a linked worktree, the root of the
// main one. This was measured with the one agent that has local settings. It may return too many
// folders.
func localRoots(dir string) (roots []string, err error) {
	starts := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		starts = append(starts, real)
	}
	for _, at := range starts {
		more, findErr := rootsAbove(at)
		roots, err = append(roots, more...), errors.Join(err, findErr)
	}
	return roots, err
}

// rootsAbove is localRoots without resolving the links of dir.
func rootsAbove(dir string) (roots []string, err error) {
	if !filepath.IsAbs(dir) {
		return nil, nil
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		info, err := os.Stat(git)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			if at == filepath.Dir(at) {
				return nil, nil
			}
			continue
		case err != nil:
			return []string{at}, err
		case !info.IsDir():
			main, err := mainWorktree(at, git)
			return append(main, at), err
		}
		roots = []string{at}
		if real, err := filepath.EvalSymlinks(git); err == nil && real != git {
			roots = append(roots, filepath.Dir(real))
		}
		return roots, nil
	}
}

// mainWorktree follows the file .git of a linked worktree.
func mainWorktree(at, git string) (roots []string, err error) {
	text, err := readGitFile(git)
	if err != nil {
		return nil, err
	}
	private, found := strings.CutPrefix(text, "gitdir:")
	if !found {
		return nil, nil
	}
	private = from(at, strings.TrimSpace(private))
	common, err := readGitFile(filepath.Join(private, "commondir"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil // a submodule
	}
	if err != nil {
		return nil, err
	}
	common = from(private, strings.TrimSpace(common))
	roots = append(roots, common, filepath.Dir(common)) // of a bare repository, the first
	if real, err := filepath.EvalSymlinks(common); err == nil && real != common {
		roots = append(roots, filepath.Dir(real))
	}
	return roots, nil
}

// from makes a path absolute.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func readGitFile(path string) (string, error) {
	text, err := regular.Read(path, MaxGitFile)
	return string(text), err
}
