package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/configs"
	"approver.example/daemon"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/claudehooks"
	"approver.example/daemon/hooks"
	"approver.example/daemon/words"
	"approver.example/store/redisstore"
)

type doctorCmd struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	claudehooks.Target
	canaryOf
	AcceptAlarms uint64 `help:"Somebody has looked into the audit's alarms of loss up to this seq, and the others: they no longer fail, or are told." placeholder:"SEQ"`
	Offline      bool   `help:"Ask no chat platform and no model provider."`
	JSON         bool   `help:"Print one JSON object per check."`
	pin          string `kong:"-"` // the file that pins couriers; empty: the machine's
}

// Help is the long text.
func (doctorCmd) Help() string {
	return `Looks at the configuration, policy and rules, files and their owners, sockets, the daemon and its version, store, chats, the evaluator, clocks, Claude Code's settings, PATH, the service and
the audit, and says for each how to mend it. It changes nothing and asks no person. The evaluator, where one is configured, is sent one small request (a plain "ls", about 1,000 tokens); --offline leaves that and the chats out.
Run it as the user whom the daemon runs as, or as root, who then looks with that user's eyes. For any other user it says what was not looked at, and that is no failure.

With --agent claude it also makes the hook test: run it as the same user, and in the same folder, as Claude Code.
` + canaryHelp + `

With --json there is one object a line: check, result (ok, warn or fail), text and fix.
Exit codes: 0 nothing failed, there may be warnings; 1 a check failed; 2 the command line is not understood.

Example:
  approver doctor
  approver doctor --agent claude
  approver doctor --json`
}

// A finding is the result of one check. The zero value is one that failed.
type finding struct {
	Check  string `json:"check"`
	Result result `json:"result"`
	Text   string `json:"text,omitempty"`
	Fix    string `json:"fix,omitempty"`
}

// A result is one of fail, warn and ok.
type result uint8

const (
	fail result = iota
	warn
	ok
)

// MarshalText returns the word.
func (r result) MarshalText() ([]byte, error) { return []byte(r.word()), nil }

func (r result) word() string {
	switch r {
	case ok:
		return "ok"
	case warn:
		return "warn"
	default:
		return "fail"
	}
}

// A doctor makes the checks.
type doctor struct {
	cfg   configs.Config
	pin   string // the file that pins couriers; empty: the machine's
	found []finding

	asked    bool            // whether the daemon was asked
	listener uint32          // the uid that answered
	status   adminapi.Status // what it said; zero where it did not
	err      error           // why not
}

func (d *doctor) say(check string, r result, text, fix string) {
	d.found = append(d.found, finding{check, r, text, fix})
}

// judge is say for an error, whose text mostly holds its cure.
func (d *doctor) judge(check string, err error, good, fix string) {
	if err != nil {
		d.say(check, fail, err.Error(), fix)
		return
	}
	d.say(check, ok, good, "")
}

// Run makes all checks and prints them.
func (c doctorCmd) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	d := doctor{pin: c.pin}
	c.ConfigFile = c.Config
	c.examine(ctx, &d)
	c.canary(ctx, &d)
	failed := false
	for _, f := range d.found {
		failed = failed || f.Result == fail
		if c.JSON {
			if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
				return err
			}
			continue
		}
		f.print()
	}
	if failed {
		return errSaid
	}
	return nil
}

// print prints it for people. A cure that is one command stays whole, to be copied.
func (f finding) print() {
	const under = 18
	printed(under, "%-4s %-12s %s\n", f.Result.word(), f.Check, strings.ReplaceAll(visibly(f.Text), "\n", "\n"+strings.Repeat(" ", under)))
	switch fix := visibly(f.Fix); {
	case fix == "":
	case isCommand(fix):
		fmt.Printf("%*sfix: %s\n", under, "", fix)
	default:
		printed(under+5, "%*sfix: %s\n", under, "", fix)
	}
}

// isCommand reports a text that is a command and nothing else.
func isCommand(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	return slices.Contains([]string{"approver", "sudo", "chmod", "chown", "rm"}, first) && !strings.ContainsAny(text, ",;:\n")
}

// examine makes the checks that this user can make.
func (c doctorCmd) examine(ctx context.Context, d *doctor) {
	cfg, err := loadAsDaemon(c.Config)
	switch {
	case errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0:
		d.outside(c, err)
		return
	case err != nil:
		d.say("config", fail, err.Error(), "")
		d.beside(ctx, c.Config)
		return
	}
	d.cfg = cfg
	// First, while this may still be root: the settings are read as agents read them.
	hooks := doctor{cfg: cfg, pin: d.pin}
	if d.sealed() {
		hooks.hook(c.Target)
	}
	if err := become(runsAs(cfg.Dir), cfg.Dir); err != nil {
		d.say("user", fail, err.Error(), "")
	}
	whole := d.isDaemon()
	if whole {
		_, _ = d.ask(ctx) // daemon tells why it could not
	}
	d.config()
	d.files(whole)
	d.isolation()
	d.sockets()
	if whole {
		d.daemon(ctx)
	}
	d.output()
	if whole {
		d.store(ctx)
		d.channels(ctx, c.Offline)
		d.people()
		d.evaluator(ctx, c.Offline)
		if !c.Offline {
			d.platformClocks(ctx)
		}
	}
	if !d.sealed() {
		hooks.hook(c.Target)
	}
	d.found = append(d.found, hooks.found...)
	d.path()
	d.service(c.units())
	if whole {
		d.audit(ctx, c.AcceptAlarms)
	} else {
		d.unseen("user", "tokens, keys, store, chats, daemon and audit", c.Config)
	}
}

// files looks at the policy and at modes, and at what else serve looks at before it
// starts.
func (d *doctor) files(whole bool) {
	_, err := d.cfg.LoadPolicy()
	switch why := d.unheeded("policy"); {
	case err == nil && why != "":
		d.say("policy", warn, why, unheededCure)
	default:
		d.judge("policy", err, cmp.Or(d.cfg.Policy, "the built-in one"), "mend the file: approver check")
	}
	d.rules()
	if whole {
		elsewhere, here := apartElsewhere(daemon.CheckStart(d.cfg))
		for _, err := range elsewhere {
			d.say("start", ok, notHere(err, d.status), "")
		}
		d.judge("start", errors.Join(here, daemon.CheckParts(d.cfg)), "the daemon would take all files, keys and folders", "")
	}
	if info, err := os.Stat(d.cfg.File); err == nil && info.Mode().Perm()&0o007 != 0 {
		d.say("permissions", warn, fmt.Sprintf("%s can be read by everybody (mode %04o), who learns the approvers", d.cfg.File, info.Mode().Perm()), "chmod o-rwx "+d.cfg.File)
	}
	if st, err := os.Stat(d.cfg.Dir); err == nil && st.Mode().Perm()&0o077 != 0 {
		d.say("permissions", fail, fmt.Sprintf("%s is open to others (mode %04o)", d.cfg.Dir, st.Mode().Perm()), "chmod go-rwx "+d.cfg.Dir)
	} else if errors.Is(err, fs.ErrNotExist) {
		d.say("permissions", ok, "there is no "+d.cfg.Dir+" yet: the daemon makes it for itself alone", "")
	} else {
		d.say("permissions", ok, d.cfg.Dir+" is the daemon's alone", "")
	}
}

// unheededCure ends that a file is not in force.
const unheededCure = "approve the change where it is asked, or take it back in the file: approver pending, approver policy diff"

// rules looks at the layers of rules, and at those of the project of this folder.
func (d *doctor) rules() {
	lib, err := d.cfg.LoadLibrary(time.Now())
	if err != nil {
		d.say("rules", fail, err.Error(), "mend the file: approver check; a daemon that runs goes on with what it read last, and none starts")
		return
	}
	if why := d.unheeded("rule set"); why != "" {
		d.say("rules", warn, why, unheededCure)
	}
	layers := ""
	for _, s := range lib.Source() {
		layers += ", with " + s.File
	}
	if d.unheeded("rule set") == "" {
		d.say("rules", ok, words.Count(uint64(len(lib.Rules().List())), "rule")+layers, "")
	}
	if why := d.unheeded("information flow"); why != "" {
		d.say("flow", warn, why, unheededCure)
	}
	for _, w := range lib.Warnings() {
		d.say("rules", warn, w.String(), "")
	}
	for _, problem := range projectProblems(d.cfg) {
		d.say("rules", warn, "not all rules of this project count: "+problem, "")
	}
}

// isolation looks whether agents are kept from the daemon's things.
func (d *doctor) isolation() {
	who, err := d.cfg.Sockets.Submitters()
	if err != nil {
		d.say("isolation", fail, err.Error(), "")
		return
	}
	if i := d.cfg.Isolation(who, runsAs(d.cfg.Dir)); !i.Isolated {
		d.say("isolation", warn, "NOT ISOLATED: "+strings.Join(i.Why, "\n"), "docs/isolated.md says how to give the daemon a user of its own")
		return
	}
	d.say("isolation", ok, "who may submit is "+who.String(), "")
}

// store looks whether records can be kept, and compares clocks where there are two.
func (d *doctor) store(ctx context.Context) {
	if d.cfg.Store.Redis == nil {
		path := d.cfg.Bolt().Path
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) && daemon.CanMake(d.cfg.Dir, "") == nil {
			d.say("store", warn, "there is none yet", "start the daemon once")
			return
		}
		d.embedded(path)
		return
	}
	var log bytes.Buffer
	s, err := redisstore.Open(ctx, *d.cfg.Store.Redis, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	d.judge("store", err, "Redis answers, keeps its keys and takes writes", "")
	if err != nil {
		return
	}
	for line := range strings.Lines(log.String()) {
		if _, text, found := strings.Cut(line, "msg="); found {
			d.say("store", warn, strings.TrimSpace(text), "docs/config.md, store.redis")
		}
	}
	now, err := s.Now(ctx)
	d.clock("Redis", now, err)
	d.judge("store", s.Close(), "closed in order", "")
}

// embedded looks at the store's file: the one that the daemon has open, where one runs.
func (d *doctor) embedded(path string) {
	err := writable(filepath.Dir(path))
	_, missing := os.Lstat(path)
	switch {
	case missing != nil && d.status.Up:
		d.say("store", fail, "the daemon that runs has its store open, and nothing can be found at "+path+": "+missing.Error(),
			"put the file back that was moved away, or restart the daemon, which begins a new one; docs/operations.md: \"The store is not believed\"")
		return
	case missing != nil && err == nil:
		d.say("store", warn, "there is no "+path+" yet", "start the daemon once")
		return
	case err == nil:
		err = writable(path)
	}
	d.judge("store", err, path+" can be written", "make it writable for the daemon's user, or free some space")
}

// writable asks the kernel, and leaves no trace.
func writable(path string) error {
	const w = 2 // W_OK
	if err := syscall.Access(path, w); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	return daemon.RoomFor(path, 16)
}

// maxSkew is how far a clock may be off before codes' times confuse people.
const maxSkew = 2 * time.Second

func (d *doctor) clock(whose string, theirs time.Time, err error) {
	skew := time.Since(theirs).Round(time.Millisecond)
	switch {
	case err != nil:
		d.say("clock", fail, whose+": "+err.Error(), "")
	case skew.Abs() > maxSkew:
		d.say("clock", warn, fmt.Sprintf("ours and that of %s are %v apart", whose, skew), "run NTP on both")
	default:
		d.say("clock", ok, "as that of "+whose, "")
	}
}

// platformClocks compares our clock with those that chats show people: codes and
// times on cards go by ours. The question bears no token.
func (d *doctor) platformClocks(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	ask := func(whose, url, usual string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, cmp.Or(url, usual), nil)
		if err != nil {
			return // the configuration's fault, which is told elsewhere
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return // the channel's check tells it
		}
		_ = res.Body.Close() // a HEAD has none
		if theirs, err := http.ParseTime(res.Header.Get("Date")); err == nil {
			d.clock(whose, theirs.Add(500*time.Millisecond), nil) // it is cut to the second
		}
	}
	if c := d.cfg.Channels.Telegram; c != nil {
		ask("Telegram", c.APIURL, "https://api.telegram.org")
	}
	if c := d.cfg.Channels.Discord; c != nil {
		ask("Discord", c.APIURL, "https://discord.com/api")
	}
	if c := d.cfg.Channels.Slack; c != nil {
		ask("Slack", c.APIURL, "https://slack.com/api/")
	}
}

// named says which channel an error is of.
func named(channel string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), channel) {
		return err
	}
	return fmt.Errorf("%s: %w", channel, err)
}

// channels asks each platform whether it knows the token.
func (d *doctor) channels(ctx context.Context, offline bool) {
	all, _, _ := daemon.OpenChannels(d.cfg, false, slog.New(slog.DiscardHandler)) // what cannot be opened was told with the files
	for _, c := range all {
		h, can := c.(approver.HealthChecker)
		switch {
		case !can:
			d.say("channel", ok, c.Name(), "")
			continue
		case offline:
			d.say("channel", ok, c.Name()+": not asked (--offline)", "")
			continue
		}
		ask, cancel := context.WithTimeout(ctx, 15*time.Second)
		who, err := h.Health(ask)
		cancel()
		d.judge("channel", named(c.Name(), err), c.Name()+": "+who, "see docs/channels/"+c.Name()+".md")
	}
}

// audit checks the chain and the signatures. Alarms of loss up to accepted were looked
// into.
func (d *doctor) audit(ctx context.Context, accepted uint64) {
	keys, err := audit.LoadKeys(d.cfg.AuditKey() + ".pub")
	if errors.Is(err, fs.ErrNotExist) {
		d.say("audit", warn, "there is no audit yet", "start the daemon once")
		return
	}
	var report audit.Report
	if err == nil {
		report, err = audit.Verify(ctx, []string{d.cfg.AuditDir()}, keys, d.status.Audit)
	}
	if fresh := (auditVerifyCmd{AcceptAlarms: accepted}).fresh(report.Losses); err == nil && len(fresh) > 0 {
		d.say("audit", fail, fmt.Sprintf("records were lost or changed %s, the last time at seq %d", times(len(fresh)), fresh[len(fresh)-1].Seq),
			fmt.Sprintf("approver audit verify; when you have looked into it, approver doctor --accept-alarms %d", fresh[len(fresh)-1].Seq))
		return
	}
	said := words.Count(report.Records, "record") + " in order, with " + words.Count(report.Checkpoints, "signature")
	if last := newest(report.Others); err == nil && last.Seq > accepted {
		d.say("audit", warn, fmt.Sprintf("%s; %s, the last (%s) at seq %d: %s", said, words.Count(report.Others.Count, "alarm"), last.Kind, last.Seq, last.What),
			fmt.Sprintf("approver audit verify lists them; when you have looked into them, approver doctor --accept-alarms %d", last.Seq))
		return
	}
	d.judge("audit", err, said, "approver audit verify")
}

// newest is the last alarm; zero if there is none.
func newest(l audit.AlarmList) (a audit.Alarm) {
	if n := len(l.Newest); n > 0 {
		a = l.Newest[n-1]
	}
	return a
}

// times is a count for people.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// output says what becomes of what tools return.
func (d *doctor) output() {
	if text := d.cfg.OutputOptOut(); text != "" {
		d.say("output", warn, text, "take shield.output_sanitization out of the configuration, or set it to auto")
		return
	}
	d.say("output", ok, hooks.OutputLine(d.cfg), "")
}
