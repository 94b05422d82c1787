package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"approver.example/agents/facts"
	"approver.example/broadcaster"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/safefile"
	"approver.example/daemon/words"
	"approver.example/display"
	"approver.example/internal/section"
)

type initCmd struct {
	Config string `help:"Where to write it; left out, where the daemon looks." short:"c" placeholder:"FILE"`

	Chats kong.Plugins `embed:""` // each a section.FirstChat

	Observe bool `help:"Begin with seven days in which nothing is asked or denied, only recorded."`

	SubmitUID []uint32 `help:"User that agents run as, for an isolated daemon; again for more." name:"submit-uid" placeholder:"UID"`
}

// Help returns the long help.
func (initCmd) Help() string {
	return `Writes a configuration with comments, mode 0600, and checks it. A file that is there is never overwritten.
You are the first approver in this terminal, by your uid, and with the flags on Telegram. All other settings are in
docs/config.md. With --observe the installation begins in observe mode: docs/first-week.md. There that needs
nobody's approval, because nothing was enforced before; an installation that has a store is refused, and asks people
with approver observe.

Example:
  approver init
  approver init --observe
  approver init --telegram-token-file ~/.approver/telegram.token --telegram-chat 10042567`
}

// newInit returns the command init with the flags of each chat platform.
func newInit() (c initCmd) {
	for _, ch := range (configs.Channels{}).AllPlatforms() {
		if first := ch.ChannelSection.(configs.PlatformSection).Platform().First; first != nil {
			c.Chats = append(c.Chats, first)
		}
	}
	return c
}

// Run writes the file.
func (c initCmd) Run() error {
	path := c.Config
	if path == "" {
		var err error
		if path, err = adminclient.UsualConfig(); err != nil {
			return err
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	text, chat, err := c.text()
	if err != nil {
		return err
	}
	// Do not write a configuration that the daemon would reject.
	cfg, err := configs.Parse(path, []byte(text))
	if err == nil && c.Observe {
		err = isNew(cfg)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	err = safefile.WriteNew(path, []byte(text), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: change it by hand, or move it away first", path)
	}
	if err != nil {
		return err
	}
	flag := ""
	if c.Config != "" {
		flag = " --config " + path
	}
	if len(c.SubmitUID) > 0 {
		term.Print(0, "wrote %s\nnext: approver install %[3]s --system%[2]s, and approver service install%[2]s, as "+
			"docs/isolated.md says\n", path, flag, facts.Example())
	} else {
		term.Print(0, "wrote %s\nnext: approver serve%s, a way to approve, and then approver install --all%[2]s\n", path,
			flag)
	}
	if c.Observe {
		if err := beginObserving(cfg); err != nil {
			return err
		}
	}
	if !chat {
		term.Print(5, "%sdocs/nobody.md has all of it\n", c.withoutChat(asuser.RunsAs(filepath.Dir(path)) == 0))
	}
	return nil
}

// withoutChat is what a user without a chat is told: what works, what does not, and how to
// change that. asRoot means that the daemon will run as root: then root's own answers do not
// count where an agent of the same user could give them.
func (c initCmd) withoutChat(asRoot bool) string {
	isolated := len(c.SubmitUID) > 0
	text := withoutChatHead
	switch {
	case c.Observe:
		text = withoutChatObserving
	case isolated:
		text += withoutChatWorksIsolated
	default:
		text += withoutChatWorks
	}
	text += withoutChatPair
	switch {
	case isolated:
		text += withoutChatIsolated
	case asRoot:
		text += withoutChatSame + withoutChatAsRoot
	default:
		text += withoutChatSame + fmt.Sprintf(withoutChatRoot, display.AsRoot("approve ID"), display.AsRoot("unfreeze"))
	}
	if isolated && !asRoot {
		text += fmt.Sprintf("  3. root may where nobody else can: %s, %s\n", display.AsRoot("approve ID"),
			display.AsRoot("unfreeze"))
	}
	return text
}

const (
	withoutChatHead = `
NOBODY CAN APPROVE ANYTHING YET: no chat is paired, and the terminal only shows requests.
`
	withoutChatWorks = `  works     rules judge and deny; approver watch shows what is asked; approver freeze, ` +
		`status, report
  dead end  whatever is asked is denied in the end; approver unfreeze, pause and observe wait for a yes, too
`
	// Nobody who may use the resolve socket can be an agent.
	withoutChatWorksIsolated = `  works     rules judge and deny; approver watch shows what is asked; approver ` +
		`freeze, status, report, and unfreeze, pause and observe at once
  dead end  whatever agents ask is denied in the end
`
	// In observe mode, nothing is denied yet.
	withoutChatObserving = `
NOBODY CAN APPROVE ANYTHING YET: no chat is paired, and the terminal only shows requests. While rules are only ` +
		`observed, nothing is asked and nothing is denied; after approver enforce, whatever is asked is denied in the end.
`
	withoutChatPair = `ways out:
  1. pair a chat: approver ` + words.PairExample + ` --token-file FILE, or see docs/channels. Everything can be ` +
		`approved there
`
	withoutChatSame = `  2. to answer in approver watch on this machine instead: allow_answers: true in that file, ` +
		`before the first start: later, beside a chat, people have to approve it. HIGH requests only, and an agent of ` +
		`your own user could answer them as well. `
	withoutChatRoot = `What is CATASTROPHIC, and unfreeze, take root, who may without that setting, too: %s, while ` +
		`approver watch is open, and %s
`
	withoutChatAsRoot = `What is CATASTROPHIC, and unfreeze, take a chat: the daemon will run as root, so root's ` +
		`word could be an agent's. Or give it a user of its own: docs/isolated.md
`
	withoutChatIsolated = `  2. to answer in approver watch on this machine instead: allow_answers: true in that ` +
		`file, and restart the daemon. It counts unasked as long as nobody could approve a CATASTROPHIC request ` +
		`before, and the log says so; later people have to approve it
`
)

// text returns the configuration, and whether it has a chat. Its comments say what was
// detected.
func (c initCmd) text() (text string, chat bool, err error) {
	uid, name := invoker()
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# approver on %s. Every setting is explained in docs/config.md; what is left
# out has its default: data in ~/.approver and sockets in ~/.approver/run, or
# /var/lib/approver and /run/approver where that folder exists. Another dir does
# not move the sockets, because hooks look for them there: a second daemon of
# one user needs sockets.submit and sockets.resolve of its own.

# How long people have to answer. Silence is a no.
ttl: 120s
`, host)
	if len(c.SubmitUID) > 0 {
		fmt.Fprintf(&b, `
# The users that agents run as: they may ask, and never answer. See
# docs/isolated.md.
sockets:
  submit_uids: [%s]
`, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(c.SubmitUID)), ", "), "[]"))
	}
	fmt.Fprintf(&b, `
channels:
  # approver watch on this machine, for the user who wrote this file. It shows
  # every request; with allow_answers it takes answers too%s
  terminal:
    approvers:
      - id: "%d"
        name: %s
        person: %[3]s
    allow_answers: false
`, c.whoElse(), uid, strconv.Quote(name))
	for _, first := range c.Chats {
		settings, err := first.(section.FirstChat).Settings(name)
		if err != nil {
			return "", false, err
		}
		b.WriteString(settings)
		chat = chat || settings != ""
	}
	return b.String(), chat, nil
}

// whoElse completes the comment on the terminal's answers: it says who else could give them.
func (c initCmd) whoElse() string {
	if len(c.SubmitUID) > 0 {
		return `: from nobody
  # who may submit.`
	}
	return `, which an agent under
  # the same user could give as well.`
}

// invoker returns who runs the command. With sudo, that is the person who called sudo.
func invoker() (uid int, name string) {
	uid = os.Getuid()
	if behind, err := strconv.Atoi(os.Getenv("SUDO_UID")); err == nil && uid == 0 {
		uid = behind
	}
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return uid, fmt.Sprintf("uid %d", uid)
	}
	name, _, _ = strings.Cut(u.Name, ",")
	return uid, cmp.Or(name, u.Username)
}

// isNew returns an error if a configuration already has a store: only without one does observe
// mode loosen nothing.
func isNew(cfg configs.Config) error {
	if _, err := os.Lstat(cfg.Storage().File); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--observe is for a new installation, and %s is there already: approver observe asks people",
			cfg.Storage().File)
	}
	return nil
}

// beginObserving creates the store of a new installation, in observe mode.
func beginObserving(cfg configs.Config) (err error) {
	path := cfg.Storage().File
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	kv, err := cfg.OpenStore(context.Background(), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := kv.Close(); closeErr != nil {
			err = errors.Join(err, fmt.Errorf("close the store: %w", closeErr))
		}
	}()
	o, err := broadcaster.BeginObserving(context.Background(), kv, broadcaster.DefaultObserve, "approver init")
	if err != nil {
		return err
	}
	term.Print(0, "OBSERVING until %s: nothing is asked or denied, it is only recorded; approver report shows it, "+
		"approver enforce ends it\n", words.Minute(o.Until))
	// If root creates the store, it belongs to the daemon's user, who owns the folder.
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		return os.Lchown(path, int(st.Uid), int(st.Gid))
	}
	return nil
}
