package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/store/storetest/redistest"
)

// A badMachine is an empty home with one thing wrong in it.
type badMachine struct {
	t      *testing.T
	dir    string
	said   strings.Builder // all that programs have printed
	exit   int             // of the daemon; -1 while it runs
	daemon *exec.Cmd
	hooks  int
}

// badInputs are the situations of docs/bad-input.md, by the name of their test.
// Each leaves what was said and the exit code, which the page quotes, and has
// asked a hook: whatever is wrong, the agent's call is blocked.
var badInputs = map[string]func(m *badMachine){
	"broken_json":   func(m *badMachine) { m.start(terminalOnly); m.blocked(`{"a":`) },
	"empty_payload": func(m *badMachine) { m.start(terminalOnly); m.blocked("") },
	"huge_payload": func(m *badMachine) {
		m.start(terminalOnly)
		m.blocked(bashPayload(strings.Repeat("x", 10<<20)))
		m.blocked(strings.Repeat("x", 10<<20))
		m.passes()
	},
	"unknown_agent": func(m *badMachine) {
		m.start(terminalOnly)
		m.blocked(bashPayload("ls"), "--agent", "nobody")
	},
	"unknown_tool": func(m *badMachine) {
		m.file("p.yaml", "version: 1\ntools: {known: [Bash]}\nrules:\n  - {name: x, command: '^reboot$', decision: ask}\n")
		m.start(terminalOnly + "policy: p.yaml\n")
		m.blocked(strings.Replace(bashPayload("ls"), `"Bash"`, `"Frobnicate"`, 1))
	},
	"no_daemon": func(m *badMachine) { m.exit = -1; m.blocked(bashPayload("ls")) },

	"missing_config":  func(m *badMachine) { m.refusesToStart() },
	"broken_yaml":     func(m *badMachine) { m.config("channels: {terminal: {approvers: [{id: 0\n"); m.refusesToStart() },
	"unknown_setting": func(m *badMachine) { m.config("dir: data\npolcy: x.yaml\n"); m.refusesToStart() },
	"wrong_type": func(m *badMachine) {
		m.config(
			"ttl: [1]\nchannels: {terminal: {approvers: 3}}\n")
		m.refusesToStart()
	},
	"wrong_unit": func(m *badMachine) { m.config("ttl: 3 days\n"); m.refusesToStart() },
	"config_of_everybody": func(m *badMachine) {
		m.config(terminalOnly)
		m.must(os.Chmod(m.path("approver.yaml"), 0o666))
		m.refusesToStart()
	},
	"policy_wrong_type": func(m *badMachine) {
		m.config("dir: data\npolicy: p.yaml\n")
		m.file("p.yaml", "version: one\nrules: 5\n")
		m.refusesToStart()
	},
	"policy_bad_rule": func(m *badMachine) {
		m.config("dir: data\npolicy: p.yaml\n")
		m.file("p.yaml", "version: 1\nrules:\n  - name: x\n    command: \"([\"\n    decision: perhaps\n")
		m.refusesToStart()
	},
	"no_approvers": func(m *badMachine) {
		m.config(`dir: data
channels:
  telegram: {token: "123456:AAEhBP0av28FrPBmiRhTLD2ucWOCrDqUmZs", chats: [{id: "1"}], approvers: []}
  discord: {token: x, channels: ["200000000000000001"], approvers: []}
  slack: {bot_token: xoxb-1, app_token: xapp-1, channels: [C0123456789], approvers: []}
  terminal: {approvers: []}
`)
		m.refusesToStart()
	},
	"telegram_token": func(m *badMachine) {
		s := telegramtest.New()
		m.t.Cleanup(s.Close)
		s.Break(fake.Revoked)
		m.badToken(`telegram: {token: "` + s.Token() + `", api_url: "` + s.URL() +
			`", chats: [{id: "10042"}], approvers: [{id: "10042"}]}`)
	},
	"discord_token": func(m *badMachine) {
		s := discordtest.New()
		m.t.Cleanup(s.Close)
		s.Break(fake.Revoked)
		m.badToken(`discord: {token: "` + s.Token() + `", api_url: "` + s.URL() + `", channels: ["` + s.AddChannel() +
			`"], approvers: [{id: "100000000000000001"}]}`)
	},
	"slack_token": func(m *badMachine) {
		s := slacktest.New(slacktest.Options{})
		m.t.Cleanup(s.Close)
		s.Break(fake.Revoked)
		m.badToken(`slack: {bot_token: "` + slacktest.BotToken + `", app_token: "` + slacktest.AppToken + `", api_url: "` +
			s.URL() + `", channels: [C0123456789], approvers: [{id: U0123456789}]}`)
	},
	"redis_down": func(m *badMachine) {
		m.redisConfig("127.0.0.1:1")
		m.refusesToStart()
	},
	"redis_evicts": func(m *badMachine) {
		m.redisConfig(m.redis("maxmemory-policy allkeys-lru").Addr)
		m.refusesToStart()
	},
	"redis_stops": func(m *badMachine) {
		server := m.redis()
		m.redisConfig(server.Addr)
		m.start("")
		m.passes()
		m.must(server.Stop())
		m.blocked(bashPayload("ls -la"))
		// Meanwhile another program may have had its port for a moment.
		m.eventually("redis is back", func() bool { return server.Restart(m.t.Context()) == nil })
		m.eventually("calls pass again", func() bool { return m.hook(bashPayload("ls -la")).exit == 0 })
	},
	"store_locked": func(m *badMachine) {
		m.start(terminalOnly)
		m.config(strings.ReplaceAll(terminalOnly, "run/", "run2/"))
		m.refusesToStart("--socket", m.path("run2/submit.sock"))
		m.passes() // the first goes on
	},
	"socket_locked": func(m *badMachine) {
		m.start(terminalOnly)
		m.config(strings.Replace(terminalOnly, "dir: data", "dir: data2", 1))
		out, exit := m.run("", "serve", "--config", "approver.yaml")
		m.said.WriteString(out)
		m.exit = exit
		m.blocked(bashPayload(forbidden))
		m.passes()
	},
	"store_damaged": func(m *badMachine) {
		m.must(os.Mkdir(m.path("data"), 0o700))
		m.file("data/approver.db", "mine")
		m.config(terminalOnly)
		m.refusesToStart()
		m.still("data/approver.db", "mine")
	},
	"socket_path_too_long": func(m *badMachine) {
		m.config("dir: data\nsockets: {submit: /tmp/" + strings.Repeat("x", 120) + "/s.sock, resolve: run/resolve.sock}\n")
		m.refusesToStart()
	},
	"socket_is_a_file": func(m *badMachine) {
		m.must(os.Mkdir(m.path("run"), 0o700))
		m.file("run/submit.sock", "mine")
		m.config(terminalOnly)
		m.refusesToStart()
		m.still("run/submit.sock", "mine")
	},
	"socket_is_a_link": func(m *badMachine) {
		m.must(os.Mkdir(m.path("run"), 0o700))
		m.file("kept", "mine")
		m.must(os.Symlink(m.path("kept"), m.path("run/submit.sock")))
		m.config(terminalOnly)
		m.refusesToStart()
		m.still("run/submit.sock", "mine")
	},
	"socket_removed": func(m *badMachine) {
		m.start(terminalOnly)
		m.must(os.Remove(m.path("run/submit.sock")))
		m.blocked(bashPayload("ls -la"), "--deadline", "1s")
		m.eventually("the socket is there again", func() bool { return m.hook(bashPayload("ls -la")).exit == 0 })
		m.stop()
		m.exit = -1
	},
	"socket_taken": func(m *badMachine) {
		m.start(terminalOnly)
		m.must(os.Remove(m.path("run/submit.sock")))
		m.file("run/submit.sock", "mine")
		var out string
		m.eventually("status says so", func() bool {
			out, m.exit = m.run("", "status", "--config", "approver.yaml")
			return strings.Contains(out, "LOST")
		})
		m.said.WriteString(strings.Join(strings.Fields(out), " "))
		if m.exit != 1 {
			m.t.Errorf("status ends with %d", m.exit)
		}
		m.blocked(bashPayload("ls -la"), "--deadline", "1s")
		m.still("run/submit.sock", "mine")
		m.must(os.Remove(m.path("run/submit.sock")))
		m.eventually("the socket is there again", func() bool { return m.hook(bashPayload("ls -la")).exit == 0 })
		m.stop()
		m.exit = -1
	},
	"socket_of_another": func(m *badMachine) {
		m.must(os.Mkdir(m.path("run"), 0o700))
		l, err := net.Listen("unix", m.path("run/submit.sock"))
		m.must(err)
		m.t.Cleanup(func() { _ = l.Close() })
		go func() { // not a daemon: it hangs up on everybody
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				_ = c.Close()
			}
		}()
		m.config(terminalOnly)
		m.refusesToStart("--deadline", "3s")
	},
	"socket_folder_of_everybody": func(m *badMachine) {
		m.must(os.Mkdir(m.path("run"), 0o700))
		m.must(os.Chmod(m.path("run"), 0o777))
		m.config(terminalOnly)
		m.refusesToStart()
	},
	"clock_set_back": func(m *badMachine) {
		chat := m.telegram()
		m.stop()
		m.setClock(time.Now().Add(2 * time.Hour)) // where the store's clock was
		m.start("")
		done := make(chan end, 1)
		go func() { done <- m.hook(bashPayload("git push --force origin main")) }()
		m.must(chat.Tap("10042", "10042", m.card(chat), fake.ApproveButton))
		if got := <-done; got.exit != 0 || !strings.Contains(got.out, `"allow"`) {
			m.t.Errorf("a yes after the clock was set back: %+v", got)
		}
	},
	"clock_set_ahead": func(m *badMachine) {
		chat := m.telegram()
		done := make(chan end, 1)
		go func() { done <- m.hook(bashPayload("git push --force origin main")) }()
		card := m.card(chat)
		m.eventually("the daemon has noted its card", func() bool { // else nobody finds it any more
			text, err := os.ReadFile(m.path("data/audit/audit.jsonl"))
			return err == nil && bytes.Contains(text, []byte("message "+card+`"`))
		})
		m.kill()
		m.setClock(time.Now().Add(10 * time.Minute))
		m.start("")
		if got := <-done; !blocks(got, "") {
			m.t.Errorf("after the deadline: %+v", got)
		}
		m.eventually("the card has no button", func() bool {
			return !slices.ContainsFunc(chat.Cards("10042"),
				func(c fake.Shown) bool { return c.Message == card && len(c.Buttons) > 0 })
		})
	},
	"folder_of_another_user": func(m *badMachine) {
		m.asRoot()
		m.must(os.Chmod(m.dir, 0o711))
		m.must(os.Mkdir(m.path("other"), 0o755))
		m.config("dir: other/data\nsockets: {submit: run/submit.sock, resolve: run/resolve.sock}\n")
		m.must(os.Chown(m.path("approver.yaml"), strangerUID, strangerUID))
		c := exec.Command("/proc/self/exe", "serve", "--config", m.path("approver.yaml"))
		c.Args[0], c.Dir = "approver", "/"
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: strangerUID, Gid: strangerUID}}
		out, err := c.CombinedOutput()
		m.said.Write(out)
		if m.exit = c.ProcessState.ExitCode(); err == nil {
			m.t.Error("it ran")
		}
		m.blocked(bashPayload("ls"))
	},
	"disk_read_only": func(m *badMachine) {
		m.mount("disk", "--bind", m.path("disk"), m.path("disk"))
		m.shell("mount -o remount,ro,bind %s", m.path("disk"))
		m.config(onDisk)
		m.refusesToStart()
	},
	"disk_full_at_start": func(m *badMachine) {
		m.config(onDisk)
		m.mount("disk", "-t", "tmpfs", "-o", "size=4k", "tmpfs", m.path("disk"))
		for pages := 4; pages <= 32; pages += 4 { // it fills up while this file or that is made
			m.shell("mount -o remount,size=%dk %s", pages, m.path("disk"))
			m.refusesToStart()
		}
		// What was begun is in nobody's way when there is room.
		m.shell("mount -o remount,size=10m %s", m.path("disk"))
		m.start("")
		m.passes()
		m.stop()
		m.exit = exitFail
	},
	"disk_full": func(m *badMachine) {
		m.mount("disk", "-t", "tmpfs", "-o", "size=2m", "tmpfs", m.path("disk"))
		m.start(onDisk)
		m.passes()
		m.shell("dd if=/dev/zero of=%s bs=4k 2>/dev/null || true", m.path("disk/fill"))
		m.blocked(bashPayload("git push --force origin main"))
		// A small record may still fit: then the audit works again for a moment, and a status
		// that is asked for just then says so. The next record ends that.
		m.eventually("calls are blocked, and status says why", func() bool {
			if !blocks(m.hook(bashPayload("ls -la")), "") {
				return false
			}
			out, exit := m.run("", "status", "--config", "approver.yaml")
			told := exit == exitFail && strings.Contains(out, "FAILS, and every call is denied")
			if told {
				m.said.WriteString(out)
			}
			return told
		})
		m.must(os.Remove(m.path("disk/fill")))
		m.eventually("calls pass again", func() bool { return m.hook(bashPayload("ls -la")).exit == 0 })
		m.stop()
		out, exit := m.run("", "audit", "verify", "--config", "approver.yaml")
		m.said.WriteString(out)
		if exit != exitOK || !strings.Contains(out, "0 of loss") {
			m.t.Errorf("the audit after a full disk: %d\n%s", exit, out)
		}
		m.exit = -1
	},
	// The store's disk alone: what needs the store is blocked, the audit goes on.
	"store_disk_full": func(m *badMachine) {
		m.must(os.Mkdir(m.path("disk"), 0o700))
		m.mount("disk/data", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", m.path("disk/data"))
		m.must(os.Mkdir(m.path("elsewhere"), 0o700))
		m.mount("disk/data/audit", "--bind", m.path("elsewhere"), m.path("disk/data/audit"))
		m.start(onDisk)
		m.passes()
		m.shell("dd if=/dev/zero of=%s bs=4k 2>/dev/null || true", m.path("disk/data/fill"))
		// Until what the database file has in reserve is used up.
		large := bashPayload("git push --force origin " + strings.Repeat("x", 200<<10))
		m.eventually("the store has no room", func() bool {
			got := m.hook(large)
			return blocks(got, "") && strings.Contains(got.err, "approver's store or configuration has a problem")
		})
		m.passes()
		m.must(os.Remove(m.path("disk/data/fill")))
		m.eventually("the store takes calls again", func() bool {
			got := m.hook(bashPayload("git push --force origin main"))
			return blocks(got, "") && strings.Contains(got.err, "no approval channel could be reached")
		})
		m.passes()
		m.stop()
		m.exit = -1
	},
}

const (
	terminalOnly = "dir: data\nsockets: {submit: run/submit.sock, resolve: run/resolve.sock}\nchannels: {terminal: " +
		"{approvers: [{id: \"0\"}]}}\n"
	onDisk = "dir: disk/data\nsockets: {submit: run/submit.sock, resolve: run/resolve.sock}\nchannels: {terminal: " +
		"{approvers: [{id: \"0\"}]}}\n"
)

var (
	aBadInput = regexp.MustCompile("(?m)^\\|([^|\n]+)\\|([^|\n]+)\\|([^|\n]+)\\|([^|\n]+)\\| `TestBadInput/([a-z_]+)`")
	aQuote    = regexp.MustCompile("`([^`]+)`")
)

// The page docs/bad-input.md is the table of this test: what it quotes is what
// is printed, and each exit code is the one that it says.
func TestBadInput(t *testing.T) {
	startsPrograms(t)
	page, err := os.ReadFile("../../docs/bad-input.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range aBadInput.FindAllStringSubmatch(string(page), -1) {
		said, exit, name := row[2], strings.TrimSpace(row[3]), row[5]
		seen[name] = true
		happens, ok := badInputs[name]
		if !ok {
			t.Errorf("the page names TestBadInput/%s, which is not there", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &badMachine{t: t, dir: shortDir(t)}
			t.Cleanup(m.kill)
			happens(m)
			m.kill()
			if got := map[bool]string{true: "runs on", false: strconv.Itoa(m.exit)}[m.exit < 0]; got != exit {
				t.Errorf("the page says exit %q, it is %q", exit, got)
			}
			if m.hooks == 0 {
				t.Error("no hook was asked")
			}
			t.Logf("printed was\n%.4000s", m.said.String())
			for _, quote := range aQuote.FindAllStringSubmatch(said, -1) {
				pattern := strings.ReplaceAll(regexp.QuoteMeta(quote[1]), "…", ".*")
				if !regexp.MustCompile(pattern).MatchString(m.said.String()) {
					t.Errorf("the page quotes %q, which is not printed", quote[1])
				}
			}
		})
	}
	for name := range badInputs {
		if !seen[name] {
			t.Errorf("docs/bad-input.md has no row for %s", name)
		}
	}
}

// shortDir is a temporary folder whose sockets have short paths.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "bad")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (m *badMachine) path(name string) string { return filepath.Join(m.dir, name) }

func (m *badMachine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *badMachine) file(name, text string) {
	m.t.Helper()
	m.must(os.WriteFile(m.path(name), []byte(text), 0o600))
}

func (m *badMachine) config(text string) { m.t.Helper(); m.file("approver.yaml", text) }

// still asserts that somebody's file is as it was.
func (m *badMachine) still(name, text string) {
	m.t.Helper()
	if got, err := os.ReadFile(m.path(name)); err != nil || string(got) != text {
		m.t.Errorf("%s was changed: %q, %v", name, got, err)
	}
}

// program is approver in this home.
func (m *badMachine) program(args ...string) *exec.Cmd {
	self, err := os.Executable()
	m.must(err)
	c := exec.Command(self, args...)
	c.Args[0] = "approver" // the test's program acts by its name
	c.Dir, c.Env = m.dir, []string{"HOME=" + m.dir, "PATH=" + os.Getenv("PATH")}
	return c
}

func (m *badMachine) run(stdin string, args ...string) (out string, exit int) {
	m.t.Helper()
	c := m.program(args...)
	c.Stdin = strings.NewReader(stdin)
	late := time.AfterFunc(badPatience, func() { _ = c.Process.Kill() })
	defer late.Stop()
	text, err := c.CombinedOutput()
	if c.ProcessState == nil {
		m.t.Fatal(err)
	}
	return string(text), c.ProcessState.ExitCode()
}

// refusesToStart runs the daemon, which ends at once, and then a hook.
func (m *badMachine) refusesToStart(hook ...string) {
	m.t.Helper()
	out, exit := m.run("", "serve", "--config", "approver.yaml")
	m.said.WriteString(out)
	m.exit = exit
	m.blocked(bashPayload("ls"), hook...)
}

// start runs the daemon, with this configuration if it is not empty.
func (m *badMachine) start(config string) {
	m.t.Helper()
	if config != "" {
		m.config(config)
	}
	log, err := os.OpenFile(m.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	m.must(err)
	defer log.Close()
	m.daemon, m.exit = m.program("serve", "--config", "approver.yaml"), -1
	m.daemon.Stderr = log
	m.must(m.daemon.Start())
	m.eventually("the daemon listens", func() bool { return listens(m.path("run/resolve.sock")) })
}

// stop ends the daemon in order, kill at once. What it has logged was said.
func (m *badMachine) stop() { m.end(syscall.SIGTERM) }
func (m *badMachine) kill() { m.end(syscall.SIGKILL) }

func (m *badMachine) end(sig os.Signal) {
	if m.daemon == nil {
		return
	}
	_ = m.daemon.Process.Signal(sig)
	_ = m.daemon.Wait()
	m.daemon = nil
	log, err := os.ReadFile(m.path("log"))
	m.must(err)
	m.said.Write(log)
}

// badPatience is only waited out by a test that fails: an audit that was away tries again
// every half a minute, and a machine may be slow.
const badPatience = 3 * time.Minute

func (m *badMachine) eventually(what string, ok func() bool) {
	m.t.Helper()
	for end := time.Now().Add(badPatience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			log, _ := os.ReadFile(m.path("log")) // empty if there is none
			m.t.Fatalf("after %v it is not so that %s\n%s", badPatience, what, log)
		}
	}
}

// hook runs the courier as the agent would.
func (m *badMachine) hook(payload string, more ...string) end {
	args := append([]string{"hook"}, more...)
	for flag, value := range map[string]string{"--agent": "claude", "--deadline": "4m", "--connect-timeout": "300ms",
		"--socket": m.path("run/submit.sock")} {
		if !slices.Contains(more, flag) {
			args = append(args, flag, value)
		}
	}
	c := m.program(args...)
	c.Env = append(c.Env, "PATH=/usr/bin:/bin") // cards tell a path of temporary folders
	var out, err bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(payload), &out, &err
	_ = c.Run() // the exit code says it
	m.hooks++
	return end{out.String(), err.String(), c.ProcessState.ExitCode()}
}

// blocked asserts that a call ends in Claude Code's own blocking answer.
func (m *badMachine) blocked(payload string, more ...string) {
	m.t.Helper()
	got := m.hook(payload, more...)
	if !blocks(got, "") || strings.Count(got.out, "\n") != 1 || strings.TrimSpace(got.err) == "" {
		m.t.Errorf("the hook left exit %d\n%s\n%s", got.exit, got.out, got.err)
	}
	m.said.WriteString(got.err)
}

// passes asserts that an ordinary call goes on: the daemon works.
func (m *badMachine) passes() {
	m.t.Helper()
	if got := m.hook(bashPayload("ls -la")); got.exit != 0 || got.out != "" {
		m.t.Errorf("an ordinary call: %+v", got)
	}
}

// badToken starts a daemon whose one channel is refused by its platform.
func (m *badMachine) badToken(channel string) {
	m.t.Helper()
	m.start("dir: data\nttl: 10s\nsockets: {submit: run/submit.sock, resolve: run/resolve.sock}\nchannels:\n  " +
		channel + "\n")
	m.eventually("status tells of the channel", func() bool {
		out, exit := m.run("", "status", "--config", "approver.yaml")
		told := exit == exitFail && strings.Contains(out, "DOES NOT RECEIVE since")
		if told {
			m.said.WriteString(out)
		}
		return told
	})
	m.blocked(bashPayload("git push --force origin main"))
	m.passes()
}

func (m *badMachine) redis(config ...string) *redistest.Server {
	m.t.Helper()
	server, err := redistest.Start(m.t.Context(), redistest.Options{Config: config})
	m.must(err)
	m.t.Cleanup(func() { _ = server.Close() })
	return server
}

func (m *badMachine) redisConfig(addr string) {
	m.t.Helper()
	m.file("hub.key", strings.Repeat("k", 64))
	m.config(terminalOnly + "store: {redis: {addrs: [\"" + addr + "\"], hub_key_file: hub.key}}\n")
}

// telegram starts a daemon with a chat in which Ada answers.
func (m *badMachine) telegram() *telegramtest.Server {
	m.t.Helper()
	s := telegramtest.New()
	m.t.Cleanup(s.Close)
	s.AddUser(10042, "Ada")
	s.AddChat(telegramtest.Chat{ID: 10042})
	m.start("dir: data\nsockets: {submit: run/submit.sock, resolve: run/resolve.sock}\nchannels:\n" +
		`  telegram: {token: "` + s.Token() + `", api_url: "` + s.URL() +
		`", chats: [{id: "10042"}], approvers: [{id: "10042", name: Ada}]}` + "\n")
	return s
}

// card waits for the card that takes a tap.
func (m *badMachine) card(chat *telegramtest.Server) (message string) {
	m.t.Helper()
	m.eventually("there is a card", func() bool {
		for _, c := range chat.Cards("10042") {
			if slices.Contains(c.Buttons, fake.ApproveButton) {
				message = c.Message
			}
		}
		return message != ""
	})
	return message
}

// setClock writes where the store's clock was when the daemon ended: to the
// next daemon the system's clock has jumped from there.
func (m *badMachine) setClock(at time.Time) {
	m.t.Helper()
	db, err := sqlite3.Open(m.path("data/approver.db"))
	m.must(err)
	m.must(db.Exec(fmt.Sprintf("UPDATE clock SET mark = %d", at.UnixNano())))
	m.must(db.Close())
}

func (m *badMachine) asRoot() {
	m.t.Helper()
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		m.t.Skip("NOT RUN: needs root on Linux; .ci/run as root runs it")
	}
}

func (m *badMachine) shell(format string, args ...any) {
	m.t.Helper()
	out, err := exec.Command("sh", "-c", fmt.Sprintf(format, args...)).CombinedOutput()
	if err != nil {
		m.t.Fatalf("%v\n%s", err, out)
	}
}

// mount makes a folder a disk of its own, for the time of the test.
func (m *badMachine) mount(name string, args ...string) {
	m.t.Helper()
	m.asRoot()
	m.must(os.Mkdir(m.path(name), 0o700))
	if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
		m.t.Skipf("NOT RUN: this machine lets nobody mount a disk: %v: %s", err, out)
	}
	m.t.Cleanup(func() {
		m.kill()
		m.eventually("the disk can be taken away", func() bool { // what used it has ended, a moment ago
			return exec.Command("umount", m.path(name)).Run() == nil
		})
	})
}

func listens(socket string) bool {
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close() // it was only a look
	return true
}
