package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/configs"
	"approver.example/httpapi"
	"approver.example/store/redisstore"
)

type doctorCmd struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	claudeFile
	canaryOf
	AcceptAlarms uint64 `help:"Somebody has looked into the audit's alarms of loss up to this seq: they no longer fail." placeholder:"SEQ"`
	JSON         bool   `help:"Print one JSON object per check."`
}

// Help is the long text.
func (doctorCmd) Help() string {
	return `Looks at the configuration, policy and rules, files and their owners, sockets, the daemon and its version, store, chats, clocks, Claude Code's settings, PATH, the service and
the audit, and says for each how to mend it. It changes nothing and asks nobody. Run it as the user whom the daemon runs as.

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
	var d doctor
	c.config = c.Config
	cfg, err := configs.LoadOrDefault(c.Config)
	if c.Agent != "" && errors.Is(err, fs.ErrPermission) {
		d.say("config", warn, err.Error()+"\nThat is as it should be for the user of an agent of an isolated daemon: only the hook is tested, and the rest is for the daemon's user.",
			"sudo approver doctor, with the same --config, for the rest")
	} else {
		d.judge("config", err, firstText(cfg.File, "none: all defaults hold"), c.asOwner())
	}
	if err == nil {
		d.cfg = cfg
		d.files()
		d.isolation()
		d.sockets()
		d.daemon(ctx)
		d.mode(ctx, c.Config)
		d.output()
		d.store(ctx)
		d.channels(ctx)
		d.platformClocks(ctx)
		d.hook(c.claudeFile)
		d.path()
		d.service(c.units())
		d.audit(ctx, c.AcceptAlarms)
	}
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
		fmt.Printf("%-4s %-12s %s\n", f.Result.word(), f.Check, strings.ReplaceAll(f.Text, "\n", "\n                  "))
		if f.Fix != "" {
			fmt.Printf("                  fix: %s\n", f.Fix)
		}
	}
	if failed {
		return errSaid
	}
	return nil
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// files looks at the policy and at modes.
func (d *doctor) files() {
	_, err := d.cfg.LoadPolicy()
	d.judge("policy", err, firstText(d.cfg.Policy, "the built-in one"), "")
	d.rules()
	if info, err := os.Stat(d.cfg.File); err == nil && info.Mode().Perm()&0o007 != 0 {
		d.say("permissions", warn, fmt.Sprintf("%s can be read by everybody (mode %04o), who learns the approvers", d.cfg.File, info.Mode().Perm()), "chmod o-rwx "+d.cfg.File)
	}
	if st, err := os.Stat(d.cfg.Dir); err == nil && st.Mode().Perm()&0o077 != 0 {
		d.say("permissions", fail, fmt.Sprintf("%s is open to others (mode %04o)", d.cfg.Dir, st.Mode().Perm()), "chmod go-rwx "+d.cfg.Dir)
	} else {
		d.say("permissions", ok, d.cfg.Dir+" is the daemon's alone", "")
	}
}

// rules looks at the layers of rules, and at those of the project of this folder.
func (d *doctor) rules() {
	lib, err := d.cfg.LoadLibrary(time.Now())
	if err != nil {
		d.say("rules", fail, err.Error(), "")
		return
	}
	layers := ""
	for _, s := range lib.Source() {
		layers += ", with " + s.File
	}
	d.say("rules", ok, counted(uint64(len(lib.Rules().List())), "rule")+layers, "")
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

// asOwner is the same command as the user whom the configuration belongs to, where that
// is another one: root takes none that somebody else could change.
func (c doctorCmd) asOwner() string {
	path, err := c.Config, error(nil)
	if path == "" {
		path, err = configs.DefaultPath()
	}
	owner, ownerErr := ownerOf(path)
	if err != nil || ownerErr != nil || owner == uint32(os.Geteuid()) || owner == 0 {
		return ""
	}
	return fmt.Sprintf("run it as the daemon's user: sudo -u '#%d' approver doctor --config %s", owner, shellWord(path))
}

// runsAs is whom the daemon runs as: this user, and where that is root, the owner of
// the daemon's data.
func runsAs(dir string) uint32 {
	own := uint32(os.Geteuid())
	if owner, err := ownerOf(dir); own == 0 && err == nil {
		return owner
	}
	return own
}

// sockets asks who listens. A refusal is an answer too.
func (d *doctor) sockets() {
	for _, socket := range [][2]string{{"submit", d.cfg.Sockets.Submit}, {"resolve", d.cfg.Sockets.Resolve}} {
		name, path := socket[0], socket[1]
		client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", path)
			},
		}}
		res, err := client.Get("http://approver/v1/health")
		if err == nil {
			err = res.Body.Close()
		}
		if err != nil {
			d.say("socket", fail, name+": nobody answers on "+path, "start the daemon: approver serve, or approver service install")
			continue
		}
		d.say("socket", ok, name+": the daemon answers on "+path, "")
	}
}

// daemon asks the one that runs who it is: after an update it may still be the
// program from before.
func (d *doctor) daemon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	var doc statusDoc
	err := httpapi.ResolveClient{Socket: d.cfg.Sockets.Resolve}.Operate(ctx, opStatus, struct{}{}, &doc)
	switch {
	case err != nil && (errors.Is(err, fs.ErrNotExist) || isRefused(err)):
		return // the sockets have told it
	case err != nil:
		d.say("daemon", fail, err.Error(), "run this as the daemon's user, or restart the daemon")
		return
	case doc.Version != buildVersion():
		d.say("daemon", warn, fmt.Sprintf("it runs version %s, and this program is %s", doc.Version, buildVersion()), "restart the daemon")
	default:
		d.say("daemon", ok, "version "+doc.Version, "")
	}
	if doc.Trouble != "" {
		d.say("daemon", fail, "its store fails: "+doc.Trouble, "approver doctor tells more of the store")
	}
	if doc.Freeze != nil && doc.Freeze.Reason != "" {
		d.say("daemon", warn, "every call is denied: "+doc.Freeze.Reason, `find out why, then approver unfreeze; docs/operations.md, "The store is not believed"`)
	}
	for _, weak := range doc.Hooks {
		what, fix, _ := strings.Cut(weak, fixMark)
		d.say("daemon", fail, "the hooks that it watches are weakened: "+what, firstText(fix, "approver install claude"))
	}
	for _, c := range doc.Channels {
		if !c.Receives {
			d.say("daemon", warn, c.Name+" brings no answers to it: "+c.Error, "see docs/channels/"+c.Name+".md; with several daemons another one may receive")
		}
	}
}

// mode says whether something besides the rules holds.
func (d *doctor) mode(ctx context.Context, config string) {
	if mode := (operatorCmd{daemonAt: daemonAt{Config: config}}).mode(ctx); mode != "" {
		d.say("mode", warn, mode, modeCure(mode))
	}
}

// modeCure is what ends what holds besides the rules.
func modeCure(mode string) string {
	switch {
	case strings.HasPrefix(mode, "FROZEN"):
		return `find out why, then approver unfreeze; where nobody can approve that, as root: docs/operations.md, "Lifting the freeze of one agent"`
	case strings.HasPrefix(mode, "PAUSED"):
		return "approver pause --end"
	}
	return "approver enforce"
}

// store looks whether records can be kept, and compares clocks where there are two.
func (d *doctor) store(ctx context.Context) {
	if d.cfg.Store.Redis == nil {
		path := d.cfg.Bolt().Path
		err := writable(filepath.Dir(path))
		if _, statErr := os.Stat(path); err == nil && statErr == nil {
			err = writable(path)
		}
		d.judge("store", err, path+" can be written", "make it writable for the daemon's user, or free some space")
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

// writable asks the kernel, and leaves no trace.
func writable(path string) error {
	const w = 2 // W_OK
	if err := syscall.Access(path, w); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err == nil && st.Bavail*uint64(st.Bsize) < 16<<20 {
		return fmt.Errorf("less than 16 MiB are left on the disk of %s", path)
	}
	return nil
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
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, firstText(url, usual), nil)
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
func (d *doctor) channels(ctx context.Context) {
	all, _, err := openChannels(d.cfg, false, slog.New(slog.DiscardHandler))
	if err != nil {
		d.say("channel", fail, err.Error(), "")
	}
	if why := nobodyApproves(d.cfg); why != "" {
		d.say("channel", warn, why, "approver pair telegram --token-file FILE, or allow_answers: docs/channels/terminal.md")
	}
	for _, c := range all {
		h, can := c.(approver.HealthChecker)
		if !can {
			d.say("channel", ok, c.Name(), "")
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
		report, err = audit.Verify(ctx, []string{d.cfg.AuditDir()}, keys, nil)
	}
	if fresh := (auditVerifyCmd{AcceptAlarms: accepted}).fresh(report.Losses); err == nil && len(fresh) > 0 {
		d.say("audit", fail, fmt.Sprintf("records were lost or changed %s, the last time at seq %d", times(len(fresh)), fresh[len(fresh)-1].Seq),
			fmt.Sprintf("approver audit verify; when you have looked into it, approver doctor --accept-alarms %d", fresh[len(fresh)-1].Seq))
		return
	}
	d.judge("audit", err, fmt.Sprintf("%d records in order", report.Records), "approver audit verify")
}

// times is a count for people.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
