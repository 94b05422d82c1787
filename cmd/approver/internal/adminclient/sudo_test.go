package adminclient

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
	"approver.example/display"
)

// A sudoMachine has two users' homes and the folders of an isolated install, all below one.
type sudoMachine struct {
	t   *testing.T
	dir string
	Sudo
}

const (
	alice = 7001
	bob   = 7002
)

func newSudoMachine(t *testing.T) *sudoMachine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: it takes root to give files to others")
	}
	m := &sudoMachine{t: t, dir: t.TempDir()}
	m.Sudo = Sudo{
		etc: m.at("etc"), system: m.at("system"), behind: fmt.Sprint(alice), say: io.Discard,
		lookup: func(uid string) (string, error) {
			home, known := map[string]string{"7001": m.at("alice"), "7002": m.at("bob"), "0": m.at("root")}[uid]
			if !known {
				return "", errors.New("nobody")
			}
			return home, nil
		},
	}
	for _, of := range []struct {
		name string
		uid  int
	}{{"alice", alice}, {"bob", bob}} {
		for _, dir := range []string{of.name, of.name + "/.approver", of.name + "/.approver/run"} {
			m.must(os.Mkdir(m.at(dir), 0o700))
			m.must(os.Chown(m.at(dir), of.uid, of.uid))
		}
		m.write(of.name+"/.approver/approver.yaml", "", of.uid, 0o600)
	}
	return m
}

func (m *sudoMachine) at(name string) string { return filepath.Join(m.dir, name) }

func (m *sudoMachine) must(errs ...error) {
	m.t.Helper()
	if err := errors.Join(errs...); err != nil {
		m.t.Fatal(err)
	}
}

func (m *sudoMachine) write(name, text string, uid int, mode os.FileMode) {
	m.t.Helper()
	m.must(os.MkdirAll(filepath.Dir(m.at(name)), 0o755), os.WriteFile(m.at(name), []byte(text), 0o600),
		os.Chown(m.at(name), uid, uid), os.Chmod(m.at(name), mode))
}

// link puts a link of a user in the place of what is there.
func (m *sudoMachine) link(to, name string, uid int) {
	m.t.Helper()
	m.must(os.RemoveAll(m.at(name)), os.Symlink(to, m.at(name)), os.Lchown(m.at(name), uid, uid))
}

// A heardCase is a machine, and who may be listened to there.
type heardCase struct {
	name   string
	make   func(m *sudoMachine)
	config string // named by root, below the machine's folder
	behind string // in place of alice
	socket string // below the machine's folder
	err    string
	trusts []uint32
}

const aliceSocket, bobSocket = "alice/.approver/run/resolve.sock", "bob/.approver/run/resolve.sock"

// The stories: root behind alice's sudo means alice's daemon. Her agent made her
// configuration, or a folder on the way, a link to bob's: bob's freeze was lifted by
// "root". On an isolated machine whose daemon was not up, root fell back to whatever
// listened in alice's home. Now a link or a folder of anybody else ends it, as does a
// listener of any other uid; and where root installed an isolated daemon no other is asked.
func TestTheDaemonThatRootMeans(t *testing.T) {
	yaml := "alice/.approver/approver.yaml"
	sets := func(text string, uid int, mode os.FileMode) func(*sudoMachine) {
		return func(m *sudoMachine) { m.write(yaml, strings.ReplaceAll(text, "$", m.dir), uid, mode) }
	}
	pinned := func(uid int) func(*sudoMachine) {
		return func(m *sudoMachine) {
			m.write("etc/courier", fmt.Sprintf("socket %s\nuid %d\n", m.at("system/submit.sock"), uid), 0, 0o644)
		}
	}
	isolated := func(owner int, text string) func(*sudoMachine) {
		return func(m *sudoMachine) { m.write("etc/approver.yaml", strings.ReplaceAll(text, "$", m.dir), owner, 0o640) }
	}
	up := func(uid int) func(*sudoMachine) {
		return func(m *sudoMachine) {
			m.write("system/resolve.sock", "", uid, 0o600)
			m.must(os.Chown(m.at("system"), uid, uid))
		}
	}
	all := func(of ...func(*sudoMachine)) func(*sudoMachine) {
		return func(m *sudoMachine) {
			for _, f := range of {
				f(m)
			}
		}
	}
	only := []uint32{alice}
	for _, test := range []heardCase{
		// Whose daemon it is.
		{name: "the usual place", socket: aliceSocket, trusts: only},
		{name: "no file", make: func(m *sudoMachine) {
			m.must(os.Remove(m.at(yaml)))
			m.write(aliceSocket, "", alice,
				0o600)
		}, socket: aliceSocket, trusts: only},
		{name: "below the home", make: sets("sockets: {resolve: ~/.approver/run/resolve.sock}", alice, 0o600),
			socket: aliceSocket, trusts: only},
		{name: "beside the file", make: sets("sockets: {resolve: run/resolve.sock}", alice, 0o600), socket: aliceSocket,
			trusts: only},
		{name: "absolute", make: sets("sockets: {resolve: $/"+aliceSocket+"}", alice, 0o600), socket: aliceSocket,
			trusts: only},
		{name: "a file of root", make: sets("", 0, 0o600), socket: aliceSocket, trusts: only},
		{name: "a link of alice to her own", make: func(m *sudoMachine) {
			m.write("alice/dots/approver.yaml", "", alice, 0o600)
			m.must(os.Chown(m.at("alice/dots"), alice, alice))
			m.link("../dots/approver.yaml", yaml, alice)
		}, socket: aliceSocket, trusts: only},
		{name: "root names bob's", config: "bob/.approver/approver.yaml", socket: bobSocket, trusts: []uint32{bob}},
		{name: "root names alice's", config: yaml, socket: aliceSocket, trusts: only},
		// Links and folders of others.
		{name: "a link to bob's file",
			make: func(m *sudoMachine) { m.link(m.at("bob/.approver/approver.yaml"), yaml, alice) }, err: "belongs to uid 7002"},
		{name: "a link to bob's file that is not absolute",
			make: func(m *sudoMachine) { m.link("../../bob/.approver/approver.yaml", yaml, alice) }, err: "belongs to uid 7002"},
		{name: "the folder is a link to bob's",
			make: func(m *sudoMachine) { m.link(m.at("bob/.approver"), "alice/.approver", alice) }, err: "belongs to uid 7002"},
		{name: "the home is a link to bob's", make: func(m *sudoMachine) { m.link(m.at("bob"), "alice", alice) },
			err: "belongs to uid 7002"},
		{name: "a link of a link", make: func(m *sudoMachine) {
			m.link(m.at("bob/.approver"), "alice/x", alice)
			m.link("../x/approver.yaml", yaml, alice)
		}, err: "belongs to uid 7002"},
		{name: "a link of bob's in alice's folder", make: func(m *sudoMachine) {
			m.write("alice/mine.yaml", "", alice, 0o600)
			m.link(m.at("alice/mine.yaml"), yaml, bob)
		}, err: "belongs to uid 7002"},
		{name: "a link to itself", make: func(m *sudoMachine) { m.link("approver.yaml", yaml, alice) },
			err: "more than 40 links"},
		{name: "a link to nothing", make: func(m *sudoMachine) { m.link("none.yaml", yaml, alice) }, err: "no such file"},
		{name: "a hard link to bob's file", make: func(m *sudoMachine) {
			m.must(os.Remove(m.at(yaml)), os.Link(m.at("bob/.approver/approver.yaml"), m.at(yaml)))
		}, err: "belongs to uid 7002"},
		{name: "a file of bob's", make: sets("", bob, 0o600), err: "belongs to uid 7002"},
		{name: "a folder of bob's", make: func(m *sudoMachine) { m.must(os.Chown(m.at("alice/.approver"), bob, bob)) },
			err: "belongs to uid 7002"},
		{name: "root names alice's, which is a link to bob's", config: yaml,
			make: func(m *sudoMachine) { m.link(m.at("bob/.approver/approver.yaml"), yaml, alice) }, err: "belongs to uid 7001"},
		{name: "root names alice's folder, which is a link to bob's", config: yaml,
			make: func(m *sudoMachine) { m.link(m.at("bob/.approver"), "alice/.approver", alice) }, err: "belongs to uid 7001"},
		{name: "root names alice's, which is a link to root's", config: yaml, make: func(m *sudoMachine) {
			m.write("srv/approver.yaml", "", 0, 0o600)
			m.link(m.at("srv/approver.yaml"), yaml, alice)
		}, err: "belongs to uid 7001"},
		{name: "a link to a file of root's that names root's socket", make: func(m *sudoMachine) {
			m.write("srv/approver.yaml", "sockets: {resolve: "+m.at("srv/resolve.sock")+"}", 0, 0o600)
			m.link(m.at("srv/approver.yaml"), yaml, alice)
		}, err: "does not belong to uid 7001"},
		{name: "her file names bob's socket", make: sets("sockets: {resolve: $/"+bobSocket+"}", alice, 0o600),
			err: "does not belong to uid 7001"},
		{name: "her file names a folder that is a link to bob's", make: func(m *sudoMachine) {
			m.link(m.at("bob/.approver/run"), "alice/.approver/run", alice)
		}, err: "does not belong to uid 7001"},
		{name: "the socket's folder is bob's",
			make: func(m *sudoMachine) { m.must(os.Chown(m.at("alice/.approver/run"), bob, bob)) },
			err:  "does not belong to uid 7001"},
		{name: "the socket's folder is not there", make: sets("sockets: {resolve: /nowhere/x.sock}", alice, 0o600),
			err: "is not there"},
		{name: "others can write it", make: sets("sockets: {resolve: /x/bob.sock}", alice, 0o666), socket: aliceSocket,
			trusts: []uint32{alice}},
		{name: "a folder in its place", make: func(m *sudoMachine) {
			m.must(os.Remove(m.at(yaml)), os.Mkdir(m.at(yaml), 0o700), os.Chown(m.at(yaml), alice, alice))
		}, socket: aliceSocket, trusts: []uint32{alice}},
		{name: "no YAML", make: sets("sockets: [", alice, 0o600), socket: aliceSocket, trusts: []uint32{alice}},
		{name: "root names a file of nobody", config: yaml, make: sets("", 7009, 0o600), err: "belongs to uid 7001"},
		// An isolated install: the file, the pin, or the folder is enough.
		{name: "the file of root, and no folder", make: isolated(0, ""), err: "is not running"},
		{name: "the daemon's file and a pin, and no folder", make: all(isolated(bob, ""), pinned(bob)),
			err: "is not running"},
		{name: "a pin alone", make: pinned(bob), err: "is not running"},
		{name: "a pin of another place alone", make: func(m *sudoMachine) {
			m.write("etc/courier", fmt.Sprintf("socket %s\nuid %d\n", m.at("srv/submit.sock"), bob), 0, 0o644)
		}, err: "srv/resolve.sock"},
		{name: "the folder alone", make: func(m *sudoMachine) { m.must(os.Mkdir(m.at("system"), 0o755)) },
			err: "is not running"},
		{name: "nobody behind sudo", behind: "none", make: pinned(bob), err: "is not running"},
		{name: "a pin of alice's own daemon", make: pinned(alice), socket: aliceSocket, trusts: only},
		{name: "a pin that somebody else wrote",
			make: func(m *sudoMachine) { m.write("etc/courier", "socket /s\nuid 7001\n", alice, 0o644) },
			err:  "must be a file of root"},
		{name: "a pin that is none", make: func(m *sudoMachine) { m.write("etc/courier", "x", 0, 0o644) },
			err: "must have two lines"},
		{name: "a file of another than the pin", make: all(isolated(alice, ""), pinned(bob), up(bob)),
			err: "belongs to uid 7001"},
		{name: "a file that is alice's link", make: func(m *sudoMachine) {
			m.must(os.Mkdir(m.at("etc"), 0o755))
			m.link(m.at("bob/.approver/approver.yaml"), "etc/approver.yaml", alice)
		}, err: "belongs to uid 7001"},
		{name: "up, with file and pin", make: all(isolated(0, ""), pinned(bob), up(bob)), socket: "system/resolve.sock",
			trusts: []uint32{bob}},
		{name: "up, with the daemon's file", make: all(isolated(bob, ""), up(bob)), socket: "system/resolve.sock",
			trusts: []uint32{bob}},
		{name: "up, with root's file", make: all(isolated(0, ""), up(bob)), socket: "system/resolve.sock",
			trusts: []uint32{0, bob}},
		{name: "up, with a pin alone", make: all(pinned(bob), up(bob)), socket: "system/resolve.sock", trusts: []uint32{bob}},
		{name: "up, and nothing else", make: up(bob), socket: "system/resolve.sock", trusts: []uint32{0, bob}},
		{name: "up, elsewhere", make: all(isolated(0, "sockets: {resolve: '$/system/resolve.sock'}"), up(bob)),
			socket: "system/resolve.sock", trusts: []uint32{0, bob}},
	} {
		t.Run(test.name, func(t *testing.T) { test.check(t) })
	}
}

func (test heardCase) check(t *testing.T) {
	m := newSudoMachine(t)
	if test.make != nil {
		test.make(m)
	}
	if test.behind != "" {
		m.behind = test.behind
	}
	named := test.config
	if named != "" {
		named = m.at(named)
	}
	c, ok, err := m.client(named)
	if test.err != "" {
		if err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q, %v", c.Socket, err)
		}
		return
	}
	if err != nil || !ok || c.Socket != m.at(test.socket) {
		t.Fatalf("%q, %v, %v", c.Socket, ok, err)
	}
	for _, uid := range []uint32{0, alice, bob, 7003} {
		want := false
		for _, one := range test.trusts {
			want = want || one == uid
		}
		if err := c.Trust(uid); (err == nil) != want {
			t.Errorf("a listener of uid %d: %v", uid, err)
		}
	}
}

// The story: the operations page says sudo approver unfreeze --socket
// ~/.approver/run/resolve.sock. Alice's agent made ~/.approver a link to bob's folder:
// bob's daemon was trusted, as the owner of the folder that the path led to.
func TestASocketThatRootNames(t *testing.T) {
	m := newSudoMachine(t)
	m.link(m.at("alice/.approver"), "root-made", 0)
	m.link(m.at("bob/.approver"), "alice/dots", alice)
	for path, want := range map[string][]uint32{
		aliceSocket: {alice}, bobSocket: {bob}, "root-made/run/resolve.sock": {alice}, "alice/dots/run/resolve.sock": nil,
	} {
		path := filepath.Join(m.dir) + "/" + path
		for _, uid := range []uint32{alice, bob, 7003} {
			wanted := len(want) > 0 && want[0] == uid
			var said strings.Builder
			m.say = &said
			err := m.Sudo.At(path, nil).Trust(uid)
			if (err == nil) != wanted ||
				wanted != strings.Contains(said.String(), fmt.Sprintf("the daemon of uid %d on %s", uid, path)) {
				t.Errorf("%s, uid %d: %v, %q", path, uid, err, &said)
			}
		}
	}
}

// The story: a false daemon's answer had a title for root's terminal, colors, and a cursor
// that went back over the line. Now each of them is shown as what it is.
func TestADaemonsWordsAreMadeVisible(t *testing.T) {
	for text, want := range map[string]string{
		"All is\nunfrozen":         "All is\nunfrozen",
		"\x1b]0;root\a":            "⟨U+001B⟩]0;root⟨U+0007⟩",
		"no\ryes":                  "no⟨U+000D⟩yes",
		"\u009b31m":                "⟨U+009B⟩31m",
		"a\u202eb":                 "a⟨U+202E⟩b",
		"a⟨U+202E⟩b":               "a⟨U+202E⟩b",
		"\xff":                     `⟨\xFF⟩`,
		"⛔ Blocked · no":           "⛔ Blocked · no",
		"a\u2028b\u2066\U000e0041": "a⟨U+2028⟩b⟨U+2066⟩⟨U+E0041⟩",
		"rules:\n  - match: {}\n":  "rules:\n  - match: {}\n",
	} {
		if got := term.Visibly(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`{"a":"é 日"}`:            `{"a":"é 日"}`,
		"{\"a\":\"\u009b31m\"}":  `{"a":"\u009b31m"}`,
		"{\"a\":\"\x7f\u202e\"}": `{"a":"\u007f\u202e"}`,
		"{\"a\":\"\U000e0041\"}": `{"a":"\udb40\udc41"}`,
	} {
		if got := term.VisibleJSON([]byte(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	var out strings.Builder
	PrintRequest(&out, 0, adminapi.Shown{Severity: approver.High, Headline: "h\x1b[3J", Blocks: []display.Block{
		{Kind: display.Code, Label: "l\x1b[4J", Text: "ls\x1b[2J"}, {Label: "From\r", Text: "a\x1b[1A"},
		{Label: "Result", Text: "r\rx"},
	}})
	if got := out.String(); strings.ContainsAny(got, "\x1b\r") || !strings.Contains(got, "ls⟨U+001B⟩[2J") {
		t.Errorf("%q", got)
	}
}
