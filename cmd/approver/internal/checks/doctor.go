// Package checks is the commands doctor and check. doctor.go lists what doctor looks at; the
// other files look at the daemon, the hooks, and what depends on the user. check.go checks
// the configuration alone.
package checks

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
	"strings"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/auditlog"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/term"
	"approver.example/cmd/approver/internal/tryhook"
	"approver.example/configs"
	"approver.example/daemon"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/claudehooks"
	"approver.example/daemon/hooks"
	"approver.example/daemon/words"
	"approver.example/store/redisstore"
)

// canaryOf is the flag of doctor.
type canaryOf struct {
	Agent string `help:"Also start this agent once, to see whether the hook stops a call: claude." enum:",claude" default:"" placeholder:"NAME"`
}

// canary is doctor's check of the same: for people it is the hook test.
func (c DoctorCmd) canary(ctx context.Context, d *doctor) {
	if c.Agent != "" {
		d.found = append(d.found, tryhook.Try(ctx, c.Target))
	}
}

type DoctorCmd struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	claudehooks.Target
	canaryOf
	AcceptAlarms uint64 `help:"Somebody has looked into the audit's alarms of loss up to this seq, and the others: they no longer fail, or are told." placeholder:"SEQ"`
	Offline      bool   `help:"Ask no chat platform and no model provider."`
	JSON         bool   `help:"Print one JSON object per check."`
	Pin          string `kong:"-"` // the file that pins couriers; empty: the machine's
}

// Help is the long text.
func (DoctorCmd) Help() string {
	return `Looks at the configuration, policy and rules, files and their owners, sockets, the daemon and its version, store, chats, the evaluator, clocks, Claude Code's settings, PATH, the service and
the audit, and says for each how to mend it. It changes nothing and asks no person. The evaluator, where one is configured, is sent one small request (a plain "ls", about 1,000 tokens); --offline leaves that and the chats out.
Run it as the user whom the daemon runs as, or as root, who then looks with that user's eyes. For any other user it says what was not looked at, and that is no failure.

With --agent claude it also makes the hook test: run it as the same user, and in the same folder, as Claude Code.
` + tryhook.Help + `

With --json there is one object a line: check, result (ok, warn or fail), text and fix.
Exit codes: 0 nothing failed, there may be warnings; 1 a check failed; 2 the command line is not understood.

Example:
  approver doctor
  approver doctor --agent claude
  approver doctor --json`
}

// A doctor makes the checks.
type doctor struct {
	cfg   configs.Config
	pin   string // the file that pins couriers; empty: the machine's
	found []finding.Finding

	asked    bool            // whether the daemon was asked
	listener uint32          // the uid that answered
	status   adminapi.Status // what it said; zero where it did not
	err      error           // why not
}

func (d *doctor) say(check string, r finding.Result, text, fix string) {
	d.found = append(d.found, finding.Finding{Check: check, Result: r, Text: text, Fix: fix})
}

// judge is say for an error, whose text mostly holds its cure.
func (d *doctor) judge(check string, err error, good, fix string) {
	if err != nil {
		d.say(check, finding.Fail, err.Error(), fix)
		return
	}
	d.say(check, finding.OK, good, "")
}

// Run makes all checks and prints them.
func (c DoctorCmd) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	d := doctor{pin: c.Pin}
	c.ConfigFile = c.Config
	c.examine(ctx, &d)
	c.canary(ctx, &d)
	failed := false
	for _, f := range d.found {
		failed = failed || f.Result == finding.Fail
		if c.JSON {
			if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
				return err
			}
			continue
		}
		f.Print()
	}
	if failed {
		return term.ErrSaid
	}
	return nil
}

// examine makes the checks that this user can make.
func (c DoctorCmd) examine(ctx context.Context, d *doctor) {
	cfg, err := adminclient.LoadAsDaemon(c.Config)
	switch {
	case errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0:
		d.outside(c, err)
		return
	case err != nil:
		d.say("config", finding.Fail, err.Error(), "")
		d.beside(ctx, c.Config)
		return
	}
	d.cfg = cfg
	// First, while this may still be root: the settings are read as agents read them.
	hooks := doctor{cfg: cfg, pin: d.pin}
	if d.sealed() {
		hooks.hook(c.Target)
	}
	if err := asuser.Become(asuser.RunsAs(cfg.Dir), cfg.Dir); err != nil {
		d.say("user", finding.Fail, err.Error(), "")
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
		d.say("policy", finding.Warn, why, unheededCure)
	default:
		d.judge("policy", err, cmp.Or(d.cfg.Policy, "the built-in one"), "mend the file: approver check")
	}
	d.rules()
	if whole {
		elsewhere, here := apartElsewhere(daemon.CheckStart(d.cfg))
		for _, err := range elsewhere {
			d.say("start", finding.OK, notHere(err, d.status), "")
		}
		d.judge("start", errors.Join(here, daemon.CheckParts(d.cfg)), "the daemon would take all files, keys and folders", "")
	}
	if info, err := os.Stat(d.cfg.File); err == nil && info.Mode().Perm()&0o007 != 0 {
		d.say("permissions", finding.Warn, fmt.Sprintf("%s can be read by everybody (mode %04o), who learns the approvers", d.cfg.File, info.Mode().Perm()), "chmod o-rwx "+d.cfg.File)
	}
	if st, err := os.Stat(d.cfg.Dir); err == nil && st.Mode().Perm()&0o077 != 0 {
		d.say("permissions", finding.Fail, fmt.Sprintf("%s is open to others (mode %04o)", d.cfg.Dir, st.Mode().Perm()), "chmod go-rwx "+d.cfg.Dir)
	} else if errors.Is(err, fs.ErrNotExist) {
		d.say("permissions", finding.OK, "there is no "+d.cfg.Dir+" yet: the daemon makes it for itself alone", "")
	} else {
		d.say("permissions", finding.OK, d.cfg.Dir+" is the daemon's alone", "")
	}
}

// unheededCure ends that a file is not in force.
const unheededCure = "approve the change where it is asked, or take it back in the file: approver pending, approver policy diff"

// rules looks at the layers of rules, and at those of the project of this folder.
func (d *doctor) rules() {
	lib, err := d.cfg.LoadLibrary(time.Now())
	if err != nil {
		d.say("rules", finding.Fail, err.Error(), "mend the file: approver check; a daemon that runs goes on with what it read last, and none starts")
		return
	}
	if why := d.unheeded("rule set"); why != "" {
		d.say("rules", finding.Warn, why, unheededCure)
	}
	layers := ""
	for _, s := range lib.Source() {
		layers += ", with " + s.File
	}
	if d.unheeded("rule set") == "" {
		d.say("rules", finding.OK, words.Count(uint64(len(lib.Rules().List())), "rule")+layers, "")
	}
	if why := d.unheeded("information flow"); why != "" {
		d.say("flow", finding.Warn, why, unheededCure)
	}
	for _, w := range lib.Warnings() {
		d.say("rules", finding.Warn, w.String(), "")
	}
	for _, problem := range projectProblems(d.cfg) {
		d.say("rules", finding.Warn, "not all rules of this project count: "+problem, "")
	}
}

// isolation looks whether agents are kept from the daemon's things.
func (d *doctor) isolation() {
	who, err := d.cfg.Sockets.Submitters()
	if err != nil {
		d.say("isolation", finding.Fail, err.Error(), "")
		return
	}
	if i := d.cfg.Isolation(who, asuser.RunsAs(d.cfg.Dir)); !i.Isolated {
		d.say("isolation", finding.Warn, "NOT ISOLATED: "+strings.Join(i.Why, "\n"), "docs/isolated.md says how to give the daemon a user of its own")
		return
	}
	d.say("isolation", finding.OK, "who may submit is "+who.String(), "")
}

// store looks whether records can be kept, and compares clocks where there are two.
func (d *doctor) store(ctx context.Context) {
	if d.cfg.Store.Redis == nil {
		path := d.cfg.Bolt().Path
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) && daemon.CanMake(d.cfg.Dir, "") == nil {
			d.say("store", finding.Warn, "there is none yet", "start the daemon once")
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
			d.say("store", finding.Warn, strings.TrimSpace(text), "docs/config.md, store.redis")
		}
	}
	now, err := s.Now(ctx)
	d.clock("Redis", now, err)
	d.judge("store", s.Close(), "closed in order", "")
}

// embedded looks at the store's file: the one that the daemon has open, where one runs.
func (d *doctor) embedded(path string) {
	err := daemon.Writable(filepath.Dir(path))
	_, missing := os.Lstat(path)
	switch {
	case missing != nil && d.status.Up:
		d.say("store", finding.Fail, "the daemon that runs has its store open, and nothing can be found at "+path+": "+missing.Error(),
			"put the file back that was moved away, or restart the daemon, which begins a new one; docs/operations.md: \"The store is not believed\"")
		return
	case missing != nil && err == nil:
		d.say("store", finding.Warn, "there is no "+path+" yet", "start the daemon once")
		return
	case err == nil:
		err = daemon.Writable(path)
	}
	d.judge("store", err, path+" can be written", "make it writable for the daemon's user, or free some space")
}

// maxSkew is how far a clock may be off before codes' times confuse people.
const maxSkew = 2 * time.Second

func (d *doctor) clock(whose string, theirs time.Time, err error) {
	skew := time.Since(theirs).Round(time.Millisecond)
	switch {
	case err != nil:
		d.say("clock", finding.Fail, whose+": "+err.Error(), "")
	case skew.Abs() > maxSkew:
		d.say("clock", finding.Warn, fmt.Sprintf("ours and that of %s are %v apart", whose, skew), "run NTP on both")
	default:
		d.say("clock", finding.OK, "as that of "+whose, "")
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
			d.say("channel", finding.OK, c.Name(), "")
			continue
		case offline:
			d.say("channel", finding.OK, c.Name()+": not asked (--offline)", "")
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
		d.say("audit", finding.Warn, "there is no audit yet", "start the daemon once")
		return
	}
	var report audit.Report
	if err == nil {
		report, err = audit.Verify(ctx, []string{d.cfg.AuditDir()}, keys, d.status.Audit)
	}
	if fresh := (auditlog.VerifyCmd{AcceptAlarms: accepted}).Fresh(report.Losses); err == nil && len(fresh) > 0 {
		d.say("audit", finding.Fail, fmt.Sprintf("records were lost or changed %s, the last time at seq %d", times(len(fresh)), fresh[len(fresh)-1].Seq),
			fmt.Sprintf("approver audit verify; when you have looked into it, approver doctor --accept-alarms %d", fresh[len(fresh)-1].Seq))
		return
	}
	said := words.Count(report.Records, "record") + " in order, with " + words.Count(report.Checkpoints, "signature")
	if last := newest(report.Others); err == nil && last.Seq > accepted {
		d.say("audit", finding.Warn, fmt.Sprintf("%s; %s, the last (%s) at seq %d: %s", said, words.Count(report.Others.Count, "alarm"), last.Kind, last.Seq, last.What),
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
		d.say("output", finding.Warn, text, "take shield.output_sanitization out of the configuration, or set it to auto")
		return
	}
	d.say("output", finding.OK, hooks.OutputLine(d.cfg), "")
}
