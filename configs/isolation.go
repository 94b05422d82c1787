package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Submitters are the users who may bring calls on the submit socket, and so may
// not answer on the resolve socket. The zero value names nobody: then the
// sockets belong to the daemon's own user alone.
type Submitters struct {
	uids  []uint32
	group string // its id
	name  string
	// groupsOf returns the ids of the groups that a user is in; tests replace it.
	groupsOf func(uid uint32) ([]string, error)
}

// Submitters returns who may submit. It looks up the group, and fails if there is no such
// group.
func (s Sockets) Submitters() (Submitters, error) {
	who := Submitters{uids: s.SubmitUIDs, groupsOf: groupsOf}
	if s.SubmitGroup == "" {
		return who, nil
	}
	g, err := user.LookupGroup(s.SubmitGroup)
	if err != nil {
		return Submitters{},
			fmt.Errorf("sockets.submit_group: %w: make the group, or list the users by number in submit_uids", err)
	}
	who.group, who.name = g.Gid, g.Name
	return who, nil
}

// Named reports whether the configuration says who may submit.
func (w Submitters) Named() bool { return len(w.uids) > 0 || w.group != "" }

// Has reports whether a user is a submitter. An error means that this is not known: such a
// user may neither submit nor answer.
func (w Submitters) Has(uid uint32) (bool, error) {
	if slices.Contains(w.uids, uid) || w.group == "" {
		return slices.Contains(w.uids, uid), nil
	}
	groups, err := w.groupsOf(uid)
	if err != nil {
		return false, fmt.Errorf("the groups of uid %d cannot be found: %w", uid, err)
	}
	return slices.Contains(groups, w.group), nil
}

// String says who they are.
func (w Submitters) String() string {
	var all []string
	for _, uid := range w.uids {
		all = append(all, fmt.Sprintf("uid %d", uid))
	}
	if w.group != "" {
		all = append(all, "group "+w.name)
	}
	return strings.Join(all, ", ")
}

// groupsOf asks the user database, not the kernel for the groups of the connected process: a
// process can leave a group, a user cannot.
func groupsOf(uid uint32) ([]string, error) {
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if unknown := user.UnknownUserIdError(0); errors.As(err, &unknown) {
		return nil, nil // no user, so no group that lists it
	}
	if err != nil {
		return nil, err
	}
	return u.GroupIds()
}

// An Isolation says whether agents are kept from the daemon's secrets and from
// answering. The zero value is not isolated.
type Isolation struct {
	Isolated bool
	// Why lists the reasons against isolation, each with its cure; empty if isolated.
	Why []string
}

// notIsolated begins every notice.
const notIsolated = "NOT ISOLATED"

// Notice returns the line for cards and the log; empty if isolated.
func (i Isolation) Notice() string {
	switch {
	case i.Isolated:
		return ""
	case len(i.Why) == 0:
		return notIsolated
	}
	return notIsolated + ": " + i.Why[0]
}

// Isolation checks the machine: who may submit, which user the daemon runs as, and who could
// read or replace its files. It trusts no setting that claims isolation.
func (c Config) Isolation(who Submitters, euid uint32) Isolation {
	var why []string
	add := func(err error) {
		if err != nil {
			why = append(why, err.Error())
		}
	}
	add(separate(who, euid))
	if !who.Named() {
		return Isolation{Why: why} // the other checks mean nothing then
	}
	for _, path := range c.secretPlaces() {
		add(secretPlace(path))
	}
	places := append(c.secretPlaces(), c.File, c.Policy, filepath.Dir(c.Sockets.Submit), filepath.Dir(c.Sockets.Resolve))
	if program, err := os.Executable(); err == nil {
		places = append(places, program)
	}
	slices.Sort(places)
	for _, path := range slices.Compact(places) {
		if path != "" {
			add(Held(path, euid))
		}
	}
	slices.Sort(why[min(1, len(why)):]) // a reason about the users, if any, stays first
	why = slices.Compact(why)
	return Isolation{Isolated: len(why) == 0, Why: why}
}

// separate checks that no agent is the daemon or root.
func separate(who Submitters, euid uint32) error {
	if !who.Named() {
		return errors.New("the agent runs as approver's own user")
	}
	for _, uid := range []uint32{euid, 0} {
		in, err := who.Has(uid)
		switch {
		case err != nil:
			return err
		case in && uid == euid:
			return fmt.Errorf("uid %d, which approver runs as, may submit: give the daemon a user of its own", uid)
		case in:
			return errors.New("root may submit, and can read and do everything: run agents as another user")
		}
	}
	return nil
}

// secretPlaces returns the data folder, and the private files and folders outside of it, into
// which nobody else may look. Secret files of channels are checked where they are read.
func (c Config) secretPlaces() []string {
	all := []string{c.Dir}
	for _, path := range []string{c.AuditDir(), c.AuditKey(), c.Storage().File} {
		if rel, err := filepath.Rel(c.Dir, path); path != "" && (err != nil || rel == ".." || strings.HasPrefix(rel, "../")) {
			all = append(all, path)
		}
	}
	return all
}

func secretPlace(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // the daemon makes it, for itself alone
	case err != nil:
		return err
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is open to others (mode %04o): run chmod go-rwx on it", path, info.Mode().Perm())
	}
	return nil
}

// Held returns an error if anybody other than root and euid could replace the file at path,
// because they own it, or own or can write to one of the folders above it. Like the other
// checks, it does not see ACLs.
func Held(path string, euid uint32) error {
	if err := heldChain(path, euid); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == path {
		return nil // what is not there yet was checked up to where it will be
	}
	return heldChain(real, euid)
}

func heldChain(path string, euid uint32) error {
	for p := path; ; p = filepath.Dir(p) {
		info, err := os.Lstat(p)
		if err == nil {
			if err := heldOne(p, info, euid); err != nil {
				return err
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if p == filepath.Dir(p) {
			return nil
		}
	}
}

func heldOne(path string, info fs.FileInfo, euid uint32) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode(); {
	case !ok:
		return fmt.Errorf("the owner of %s is not known", path)
	case st.Uid != 0 && st.Uid != euid:
		return fmt.Errorf("%s belongs to uid %d, who could put another in its place: make it root's", path, st.Uid)
	case mode&fs.ModeSymlink != 0:
		return nil // its mode means nothing
	case mode.Perm()&0o022 != 0 && (!mode.IsDir() || mode&fs.ModeSticky == 0):
		return fmt.Errorf("%s can be written by others (mode %04o): run chmod go-w on it", path, mode.Perm())
	}
	return nil
}
