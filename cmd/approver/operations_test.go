package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/channels/channeltest/fake"
	"approver.example/channels/telegram/telegramtest"
)

// An operator follows docs/operations.md at the keyboard of one machine.
type operator struct {
	*badMachine
	chat   *telegramtest.Server
	blocks []string // the commands of the page that are left
}

var alarmNumber = regexp.MustCompile(`--accept-alarms (\d+)`)

// TestOperations follows the procedures of docs/operations.md, to the letter and
// in the page's order, around the real daemon. systemd and the compiler are a few
// lines each, Telegram is a fake.
func TestOperations(t *testing.T) {
	startsPrograms(t)
	t.Parallel() // it waits most of the time
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	o := &operator{badMachine: &badMachine{t: t, dir: shortDir(t)}, chat: telegramtest.New()}
	t.Cleanup(o.chat.Close)
	for _, m := range shBlock.FindAllStringSubmatch(string(page), -1) {
		o.blocks = append(o.blocks, m[1])
	}
	o.home()
	t.Cleanup(func() { killPID(t, o.path("pid")) })
	o.asIs("systemctl --user start approver")
	o.works()

	o.page("backup while the daemon runs")
	if info, err := os.Stat(o.path("approver.tar")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: keys are in it", info, err)
	}
	if list := o.asIs("tar -tf approver.tar"); strings.Contains(list, "approver.db") ||
		!strings.Contains(list, ".approver/audit/audit.jsonl") || !strings.Contains(list, ".approver/audit.key\n") {
		t.Errorf("the backup has\n%s", list)
	}
	o.works()
	o.page("backup with the store")
	o.works()

	said := o.page("restore with the store")
	if !strings.Contains(said, "\nok: ") || !strings.Contains(said, "no alarms") {
		t.Errorf("the restore ends with\n%s", said)
	}
	o.works()
	if end := o.asIs(
		"systemctl --user stop approver; approver audit verify; systemctl --user start approver"); !strings.Contains(end,
		"its end is where the store says") {
		t.Errorf("the audit and the store that came back do not fit: %s", end)
	}

	o.page("restore without the store")
	o.frozen("the store has lost what it knew of the audit")
	unfreeze := o.take("unfreeze")
	o.lift(unfreeze)
	o.alarm("the store knows no end of this log")
	o.works()
	// An older audit beside a newer store is the other way round.
	o.asIs("systemctl --user stop approver; tar -C ~ -xpf ~/approver.tar .approver/audit; systemctl --user start approver")
	o.frozen("the log ends at")
	o.lift(unfreeze)
	o.alarm("but the store knows")
	o.works()

	// The hook waits while the daemon is replaced, and the old card counts.
	answer := make(chan end, 1)
	message := o.ask(answer)
	doctor, err := o.shell(o.take("upgrade"))
	// The audit still tells of what was lost above; nothing else is wrong.
	if n := strings.Count(doctor, "\nfail "); err == nil || n != 1 ||
		!strings.Contains(doctor, "\nfail audit        records were lost") {
		t.Errorf("upgrade: %v\n%s", err, doctor)
	}
	o.approved(answer, message)
	o.page("back to the format of an older program")
	o.asIs("systemctl --user start approver") // this one, which converts it again
	o.works()
	if len(o.blocks) > 0 {
		t.Errorf("nobody ran these commands of the page:\n%s", strings.Join(o.blocks, "\n"))
	}
}

// home has a configuration, and what the page takes for granted.
func (o *operator) home() {
	o.chat.AddUser(10042, "Ada")
	o.chat.AddChat(telegramtest.Chat{ID: 10042})
	o.must(os.Mkdir(o.path(".approver"), 0o700))
	o.file(".approver/telegram.token", o.chat.Token()+"\n")
	o.file(".approver/approver.yaml", "channels:\n"+
		`  telegram: {token_file: telegram.token, api_url: "`+o.chat.URL()+
		`", chats: [{id: "10042"}], approvers: [{id: "10042", name: Ada}]}`+"\n")
	self, err := os.Executable()
	o.must(err)
	o.must(os.Mkdir(o.path("program"), 0o755))
	o.must(os.Symlink(self, o.path("program/approver")))
	for name, text := range map[string]string{
		"approver": `exec "$HOME/program/approver" "$@"`,
		"go":       `exit 0`,
		"systemctl": `case "$*" in *stop*|*restart*) kill $(cat "$HOME/pid"); while ps -o stat= -p $(cat "$HOME/pid") ` +
			`| grep -qv Z; do sleep 0.1; done;; esac
case "$*" in *start*) "$HOME/program/approver" serve >>"$HOME/log" 2>&1 & echo $! >"$HOME/pid"; while approver ` +
			`status 2>&1 | grep -q "^daemon *down"; do sleep 0.1; done;; esac`,
	} {
		writeProgram(o.t, o.path(filepath.Join("bin", name)), "#!/bin/sh\n"+text+"\n")
	}
}

func (o *operator) shell(script string) (out string, err error) {
	ctx, cancel := context.WithTimeout(o.t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-ec", script)
	c.Dir, c.Env = o.dir, []string{"HOME=" + o.dir, "PATH=" + o.path("bin") + ":" + os.Getenv("PATH")}
	text, err := c.CombinedOutput()
	return string(text), err
}

// asIs runs commands, of which none may fail.
func (o *operator) asIs(script string) string {
	o.t.Helper()
	out, err := o.shell(script)
	if err != nil {
		o.t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	return out
}

// take is the next commands of the page.
func (o *operator) take(what string) string {
	o.t.Helper()
	if len(o.blocks) == 0 {
		o.t.Fatalf("the page has no commands for: %s", what)
	}
	script := o.blocks[0]
	o.blocks = o.blocks[1:]
	return script
}

// page runs the next commands of the page, of which none may fail.
func (o *operator) page(what string) string { o.t.Helper(); return o.asIs(o.take(what)) }

// alarm is verify's, until somebody has looked into it.
func (o *operator) alarm(what string) {
	o.t.Helper()
	out, err := o.shell("approver audit verify")
	number := alarmNumber.FindStringSubmatch(out)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitFail || !strings.Contains(out, what) || number == nil {
		o.t.Fatalf("verify does not alarm: %v\n%s", err, out)
	}
	if out := o.asIs("approver audit verify " + number[0]); !strings.Contains(out, "ok: ") {
		o.t.Errorf("an alarm that was looked into: %s", out)
	}
}

// frozen asserts that nothing runs, and that both tell why.
func (o *operator) frozen(why string) {
	o.t.Helper()
	if got := o.hook(bashPayload("ls"), "--socket", o.path(".approver/run/submit.sock")); got.exit != 2 ||
		!strings.Contains(got.err, "frozen") {
		o.t.Errorf("a call: %+v", got)
	}
	doctor, doctorFails := o.shell("approver doctor")
	status, statusFails := o.shell("approver status")
	if doctorFails == nil || statusFails == nil {
		o.t.Errorf("doctor and status exit with 0 while everything is frozen")
	}
	for what, said := range map[string]string{"status": status, "doctor": doctor} {
		if !strings.Contains(said, why) || what == "doctor" && !strings.Contains(said, "approver unfreeze") {
			o.t.Errorf("%s does not say why everything is frozen:\n%s", what, said)
		}
	}
}

// lift runs the page's unfreeze, which Ada approves by its code.
func (o *operator) lift(script string) {
	o.t.Helper()
	lifted := make(chan string, 1)
	go func() {
		out, err := o.shell(script)
		lifted <- fmt.Sprint(out, err)
	}()
	var code string
	o.eventually("there is a card with a code", func() bool {
		for _, c := range o.chat.Cards("10042") {
			if strings.Contains(c.Text, "Lift the freeze") && len(c.Buttons) > 0 {
				code = confirmCode.FindString(c.Text)
			}
		}
		return code != ""
	})
	o.chat.Type("10042", "10042", "/approve "+code)
	if out := <-lifted; !strings.Contains(out, "the freeze is lifted") {
		o.t.Errorf("unfreeze: %s", out)
	}
}

// ask runs a hook that needs people, and waits for its card.
func (o *operator) ask(answer chan<- end) (message string) {
	o.t.Helper()
	go func() {
		answer <- o.hook(bashPayload("git push --force origin main"), "--socket", o.path(".approver/run/submit.sock"))
	}()
	return o.card(o.chat)
}

// approved taps and expects that the hook lets the call go.
func (o *operator) approved(answer <-chan end, message string) {
	o.t.Helper()
	o.must(o.chat.Tap("10042", "10042", message, fake.ApproveButton))
	if got := <-answer; got.exit != 0 || !strings.Contains(got.out, "approved by Ada via Telegram") {
		o.t.Errorf("the agent got %+v", got)
	}
	// The card is edited after the agent has its answer; the next story must not take it for its own.
	o.eventually("the card offers nothing more", func() bool {
		return !slices.ContainsFunc(o.chat.Cards("10042"),
			func(c fake.Shown) bool { return slices.Contains(c.Buttons, fake.ApproveButton) })
	})
}

// works asserts that a call is asked, approved and let go.
func (o *operator) works() {
	o.t.Helper()
	answer := make(chan end, 1)
	o.approved(answer, o.ask(answer))
}
