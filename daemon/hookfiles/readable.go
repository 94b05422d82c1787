package hookfiles

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"approver.example/agents/settings"
	"approver.example/configs"
	"approver.example/internal/regular"
)

// Nobody is the uid to use if the real one is not known.
const Nobody = 65534

// ReadableBy checks that a user can read a file of an agent's settings: if the caller is root
// by reading it as that user, otherwise by the modes of the file and of every folder above it.
func ReadableBy(f settings.Files, path string, uid uint32) error {
	why := readableByMode(f, path, uid)
	if os.Geteuid() != 0 || runtime.GOOS == "windows" {
		return why
	}
	cmd := exec.Command("/bin/cat", path)
	cmd.Dir, cmd.Env = "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: Nobody, Groups: []uint32{}}}
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &told, 5*time.Second
	err := cmd.Run()
	if err == nil {
		var own []byte
		if own, err = regular.Read(path, settings.MaxFile); err == nil && bytes.Equal(own, out.Bytes()) {
			return nil
		}
		return fmt.Errorf("uid %d reads something else in %s than root: %w", uid, path,
			errors.Join(err, errors.New("look at what is mounted there")))
	}
	if why != nil {
		return why
	}
	return fmt.Errorf("uid %d cannot read %s: %s: %s runs without the hook there",
		uid, path, cmp.Or(strings.TrimSpace(told.String()), err.Error()), f.Title)
}

// readableByMode names the first folder or file on the path whose mode keeps a user out. It
// ignores groups and ACLs.
func readableByMode(f settings.Files, path string, uid uint32) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for at := real; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		need, how := fs.FileMode(0o001), "a+x"
		if at == real {
			need, how = 0o004, "a+r"
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid == uid {
			need <<= 6
		}
		if info.Mode().Perm()&need != need {
			return fmt.Errorf("uid %d cannot read %s: %s runs without the hook there: chmod %s %s",
				uid, path, f.Title, how, strconv.Quote(at))
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// SubmitterUID returns the uid of a user that agents run as, or Nobody if none is configured.
func SubmitterUID(cfg configs.Config) uint32 {
	if len(cfg.Sockets.SubmitUIDs) > 0 {
		return cfg.Sockets.SubmitUIDs[0]
	}
	return Nobody
}
