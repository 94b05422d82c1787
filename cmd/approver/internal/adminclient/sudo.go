package adminclient

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/goccy/go-yaml"

	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
)

// A Sudo finds daemons for root, perhaps the daemon of somebody else, as in sudo approver
// unfreeze. If an isolated daemon is installed, root trusts only what root wrote. Otherwise
// root means the daemon of the user who called sudo, and nobody else's. From another user's
// configuration, only the socket's place is used.
type Sudo struct {
	etc, system string // the folders of an isolated daemon's configuration and sockets
	owner       uint32 // who must own the pin: root, except in tests
	euid        int
	behind      string                                    // SUDO_UID
	lookup      func(uid string) (home string, err error) // of a user
	say         io.Writer
	told        *Told // shared by a command that connects more than once; nil: one for each client
}

// A Told remembers which daemon root was told it speaks to. The zero value means none.
type Told struct {
	mu  sync.Mutex
	uid *uint32

	socket string

	Trouble error // with the configuration, if the daemon was found all the same
	Keep    bool  // the caller reports the trouble
}

// NewSudo returns a Sudo for this process, with the user as the system knows it.
func NewSudo() Sudo {
	return Sudo{configs.SystemFolder, socketpath.SystemDir, 0, os.Geteuid(), os.Getenv("SUDO_UID"), homeOf,
		term.Folded(os.Stderr, 10), nil}
}

func homeOf(uid string) (string, error) {
	u, err := user.LookupId(uid)
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

// A target is the daemon that root means. The zero value is root's own daemon.
type target struct {
	config   string  // its configuration; empty if it has none, or if it is found as usual
	home     string  // of the user who called sudo
	uid      *uint32 // who must listen, and may own the configuration; nil: see [trusts]
	isolated bool
	pin      string // the pinned submit socket
}

const configName = "approver.yaml"

// target finds the daemon that root means, given a named configuration or an empty name.
func (s Sudo) target(named string) (target, error) {
	if named != "" {
		return target{config: named}, nil
	}
	config := filepath.Join(s.etc, configName)
	pin, pinned, err := socketpath.ReadPin(filepath.Join(s.etc, filepath.Base(socketpath.PinFile)), s.owner)
	if err != nil {
		return target{}, err
	}
	t := target{isolated: true}
	if pinned {
		t.uid, t.pin = &pin.UID, pin.Socket
	}
	behind, home := s.user()
	switch {
	case there(config):
		t.config = config
		return t, nil
	case pinned && (behind == nil || *behind != pin.UID || there(s.system)), !pinned && there(s.system):
		return t, nil
	case behind == nil:
		return target{}, nil
	}
	config = filepath.Join(home, ".approver", configName)
	switch {
	case there(config):
		return target{config: config, home: home, uid: behind}, nil
	case there(filepath.Join(home, socketpath.HomeDir, socketpath.Resolve)):
		return target{home: home, uid: behind}, nil
	}
	return target{}, nil // that user has no daemon
}

// user returns the uid and the home of the user who called sudo, or nil.
func (s Sudo) user() (*uint32, string) {
	n, err := strconv.ParseUint(s.behind, 10, 32)
	if err != nil || n == 0 {
		return nil, ""
	}
	home, err := s.lookup(s.behind)
	if err != nil {
		return nil, ""
	}
	uid := uint32(n)
	return &uid, home
}

// there reports whether a path exists, or may exist because that cannot be determined.
func there(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// client returns a client for the daemon's resolve socket that checks who listens there. ok is
// false if the configuration is root's own and is read as usual.
func (s Sudo) client(named string) (c httpapi.ResolveClient, ok bool, err error) {
	t, err := s.target(named)
	if err != nil {
		return c, false, err
	}
	socket := ""
	switch {
	case t == target{}:
		return c, false, s.ownFile()
	case t.config != "":
		if socket, err = s.of(&t); errors.Is(err, errSpoiled) && t.usual(s) != "" {
			trouble := err
			socket, err = t.usual(s), nil
			defer func() {
				if ok && s.told != nil {
					s.told.despite(s, socket, trouble)
				}
			}()
		}
	default:
		socket = t.usual(s)
	}
	switch {
	case err != nil || socket == "":
		return c, false, err
	case t.isolated && !there(socket):
		return c, false, fmt.Errorf("the isolated daemon of this machine is not running, and no other was asked: nothing "+
			"is at %s: systemctl start approver, or as it is started here: %w", socket, fs.ErrNotExist)
	case t.config != "" && !t.isolated, t.home != "":
		err = ownedBy(socket, *t.uid)
	}
	return s.At(socket, t.uid), true, err
}

// ownFile returns an error if a link of somebody else leads to root's own configuration.
func (s Sudo) ownFile() error {
	path, err := configs.DefaultPath()
	if err != nil {
		return nil //nolint:nilerr // whoever reads it next says so
	}
	f, _, err := openOwn(path, new(uint32))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_ = f.Close() // it was opened only to check it
	}
	return err
}

// At returns a client for a socket. For root, it prints whose daemon that is before it sends
// anything, unless both are root and sudo is not involved.
func (s Sudo) At(socket string, only *uint32) httpapi.ResolveClient {
	if s.euid != 0 {
		return httpapi.ResolveClient{Socket: socket}
	}
	if filepath.IsAbs(socket) {
		socket = filepath.Clean(socket) // check the same path that is used
	}
	told := s.told
	if told == nil {
		told = new(Told)
	}
	return httpapi.ResolveClient{Socket: socket, Trust: func(uid uint32) error {
		if err := trusts(socket, uid, only); err != nil {
			return err
		}
		told.mu.Lock()
		defer told.mu.Unlock()
		own := uid == 0 && s.behind == "" // root's own daemon, and no sudo user who could mean another
		if !own && (told.uid == nil || *told.uid != uid || told.socket != socket) {
			fmt.Fprintf(s.say, "approver: this speaks to the daemon of uid %d on %s\n", uid, term.Visibly(socket))
			told.uid, told.socket = &uid, socket
		}
		return nil
	}}
}

// Own returns a client for the daemon of a configuration that root or this user has read. If
// there is no file, nobody wrote where the daemon listens, so root then speaks only to root.
func (s Sudo) Own(cfg configs.Config) httpapi.ResolveClient {
	var only *uint32
	if cfg.File == "" {
		only = new(uint32)
	}
	return s.At(cfg.Sockets.Resolve, only)
}

// trusts returns an error unless a listener with that uid is expected: only the user whom root
// means, or, if root named just the socket, root and the owner of the socket's folder. It never
// follows a link of one user to the daemon of another.
func trusts(socket string, uid uint32, only *uint32) error {
	if only == nil {
		if err := socketpath.Trust(socket, uid); err != nil {
			return err
		}
	} else if uid != *only {
		return fmt.Errorf("the listener on %s runs as uid %d, and this means the daemon of uid %d: name the socket with "+
			"--socket if it is the right one", socket, uid, *only)
	}
	whose := uid
	if folder, err := asuser.OwnerOf(filepath.Dir(socket)); uid == 0 && only == nil && err == nil {
		whose = folder // root may listen for another user
	}
	_, err := wayTo(filepath.Dir(socket), whose, true)
	return err
}

// of reads the socket's path from a configuration, and sets its owner in t. The path is empty
// for a named file of root, which is read as usual.
func (s Sudo) of(t *target) (string, error) {
	f, owner, err := openOwn(t.config, t.uid)
	if errors.Is(err, fs.ErrNotExist) && t.uid == nil && !t.isolated {
		return "", nil // whoever reads it next reports that
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if owner == 0 && t.uid == nil && !t.isolated {
		return "", nil
	}
	if t.uid == nil && owner != 0 {
		t.uid = &owner
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return "", err
	}
	var doc struct {
		Sockets struct {
			Resolve string `yaml:"resolve"`
		} `yaml:"sockets"`
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		named, ok := configs.SocketIn(text)
		if !ok {
			return "", fmt.Errorf("%s cannot be read: %w", t.config, errSpoiled)
		}
		doc.Sockets.Resolve = named
	}
	return s.place(t, doc.Sockets.Resolve)
}

// openOwn opens a configuration that belongs to root or to only; if only is nil, it may belong
// to anybody. No folder or link on the way may belong to somebody else.
func openOwn(path string, only *uint32) (_ *os.File, owner uint32, err error) {
	if only != nil {
		owner = *only
	} else if owner, err = asuser.OwnerOf(path); err != nil {
		return nil, 0, err
	}
	real, err := wayTo(path, owner, owner != 0)
	if err != nil {
		return nil, 0, err
	}
	// Do not block on a pipe, and do not follow a link that was put there in the meantime.
	f, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it was opened only to check it
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	st, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !known || st.Uid != 0 && st.Uid != owner:
		return nil, 0, notTheirs(path, st, owner)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0:
		return nil, 0, fmt.Errorf("%s is no plain file, or others can write it: %w", path, errSpoiled)
	}
	return f, st.Uid, nil
}

func notTheirs(path string, st *syscall.Stat_t, owner uint32) error {
	whose := "an unknown user"
	if st != nil {
		whose = fmt.Sprintf("uid %d", st.Uid)
	}
	return fmt.Errorf("%s belongs to %s, and this means the daemon of uid %d: name the daemon's socket with --socket "+
		"if it is the right one", path, whose, owner)
}

// maxLinks is how many symbolic links a path may have, as in the kernel.
const maxLinks = 40

// wayTo returns a path with all symbolic links resolved. It returns an error if a link on the
// way belongs to anybody but root and that user, who could lead root elsewhere. With folders,
// the same holds for each folder on the way and for the end.
func wayTo(path string, uid uint32, folders bool) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	at, left := "/", strings.Split(path, "/")
	for links := 0; len(left) > 0; {
		next := left[0]
		left = left[1:]
		switch next {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		step := filepath.Join(at, next)
		info, err := os.Lstat(step)
		if err != nil {
			return "", err
		}
		link := info.Mode()&fs.ModeSymlink != 0
		st, known := info.Sys().(*syscall.Stat_t)
		if (folders || link) && (!known || st.Uid != 0 && st.Uid != uid) {
			return "", fmt.Errorf("on the way to %s: %w", path, notTheirs(step, st, uid))
		}
		if !link {
			at = step
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s leads through more than %d links", path, maxLinks)
		}
		to, err := os.Readlink(step)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		left = append(strings.Split(to, "/"), left...)
	}
	return at, nil
}

// place returns the path that a socket setting of a daemon's configuration leads to.
func (s Sudo) place(t *target, named string) (string, error) {
	rest, below := strings.CutPrefix(named, "~/")
	switch {
	case filepath.IsAbs(named):
		return named, nil
	case named == "" && (t.isolated || there(s.system)):
		return filepath.Join(s.system, socketpath.Resolve), nil
	case named == "":
		rest = filepath.Join(socketpath.HomeDir, socketpath.Resolve)
	case !below:
		dir, err := filepath.Abs(filepath.Dir(t.config))
		return filepath.Join(dir, named), err
	}
	uid := uint32(0)
	if t.uid != nil {
		uid = *t.uid
	}
	home, err := s.lookup(strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return "", fmt.Errorf("%s belongs to uid %d, whose home is not known: name the daemon's socket with --socket",
			t.config, uid)
	}
	return filepath.Join(home, rest), nil
}

// ownedBy returns an error unless the socket's folder belongs to that user.
func ownedBy(socket string, uid uint32) error {
	info, err := os.Lstat(filepath.Dir(socket))
	if err != nil {
		return fmt.Errorf("the daemon of uid %d is not there: %w", uid, err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || st.Uid != uid {
		return fmt.Errorf("the folder of %s does not belong to uid %d, as the configuration does: name the daemon's "+
			"socket with --socket if it is the right one", socket, uid)
	}
	return nil
}
