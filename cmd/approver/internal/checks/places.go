package checks

import (
	"bytes"
	"cmp"
	"context"
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
	"approver.example/cmd/approver/internal/asuser"
	"approver.example/cmd/approver/internal/auditlog"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/configs"
	"approver.example/daemon"
	"approver.example/daemon/hooks"
	"approver.example/daemon/words"
)

// files checks the policy, the rules and the file modes. With whole, it also makes the checks
// that serve makes before it starts.
func (d *doctor) files(whole bool) {
	_, err := d.cfg.LoadPolicy()
	switch why := d.notInForce("policy"); {
	case err == nil && why != "":
		d.say("policy", finding.Warn, why, notInForceCure)
	default:
		d.judge("policy", err, cmp.Or(d.cfg.Policy, "the built-in one"), "mend the file: approver check")
	}
	d.rules()
	if whole {
		elsewhere, here := withoutElsewhere(daemon.CheckStart(d.cfg))
		for _, err := range elsewhere {
			d.say("start", finding.OK, notHere(err, d.status), "")
		}
		d.judge("start", errors.Join(here, daemon.CheckParts(d.cfg), d.cfg.CheckStoreRecords()),
			"the daemon would take all files, keys and folders", "")
	}
	if info, err := os.Stat(d.cfg.File); err == nil && info.Mode().Perm()&0o007 != 0 {
		d.say("permissions", finding.Warn,
			fmt.Sprintf("%s can be read by everybody (mode %04o), who learns the approvers", d.cfg.File, info.Mode().Perm()),
			"chmod o-rwx "+d.cfg.File)
	}
	if st, err := os.Stat(d.cfg.Dir); err == nil && st.Mode().Perm()&0o077 != 0 {
		d.say("permissions", finding.Fail, fmt.Sprintf("%s is open to others (mode %04o)", d.cfg.Dir, st.Mode().Perm()),
			"chmod go-rwx "+d.cfg.Dir)
	} else if errors.Is(err, fs.ErrNotExist) {
		d.say("permissions", finding.OK, "there is no "+d.cfg.Dir+" yet: the daemon makes it for itself alone", "")
	} else {
		d.say("permissions", finding.OK, d.cfg.Dir+" is the daemon's alone", "")
	}
}

// notInForceCure says what to do about a file that is not in force.
const notInForceCure = "approve the change where it is asked, or take it back in the file: approver pending, " +
	"approver policy diff"

// rules checks the layers of rules, and the rules of the project in the current folder.
func (d *doctor) rules() {
	lib, err := d.cfg.LoadLibrary(time.Now())
	if err != nil {
		d.say("rules", finding.Fail, err.Error(),
			"mend the file: approver check; a daemon that runs goes on with what it read last, and none starts")
		return
	}
	if why := d.notInForce("rule set"); why != "" {
		d.say("rules", finding.Warn, why, notInForceCure)
	}
	layers := ""
	for _, s := range lib.Source() {
		layers += ", with " + s.File
	}
	if d.notInForce("rule set") == "" {
		heuristics := 0
		for _, r := range lib.Rules().List() {
			if r.Heuristic {
				heuristics++
			}
		}
		d.say("rules", finding.OK, words.Rules(len(lib.Rules().List())-heuristics, heuristics)+layers, "")
	}
	if why := d.notInForce("information flow"); why != "" {
		d.say("flow", finding.Warn, why, notInForceCure)
	}
	for _, w := range lib.Warnings() {
		d.say("rules", finding.Warn, w.String(), "")
	}
	for _, problem := range projectProblems(d.cfg) {
		d.say("rules", finding.Warn, "not all rules of this project count: "+problem, "")
	}
}

// isolation checks that agents have no access to the daemon's files.
func (d *doctor) isolation() {
	who, err := d.cfg.Sockets.Submitters()
	if err != nil {
		d.say("isolation", finding.Fail, err.Error(), "")
		return
	}
	if i := d.cfg.Isolation(who, asuser.RunsAs(d.cfg.Dir)); !i.Isolated {
		d.say("isolation", finding.Warn, "NOT ISOLATED: "+strings.Join(i.Why, "\n"),
			"docs/isolated.md says how to give the daemon a user of its own")
		return
	}
	d.say("isolation", finding.OK, "who may submit is "+who.String(), "")
}

// store checks that records can be written, and compares the clock with that of a store server.
func (d *doctor) store(ctx context.Context) {
	at := d.cfg.Storage()
	if path := at.File; path != "" {
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) && daemon.CanMake(d.cfg.Dir, "") == nil {
			d.say("store", finding.Warn, "there is none yet", "start the daemon once")
			return
		}
		d.embedded(path)
		return
	}
	var log bytes.Buffer
	s, err := d.cfg.OpenStore(ctx, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	d.judge("store", err, at.Title+" answers, keeps its keys and takes writes", "")
	if err != nil {
		return
	}
	for line := range strings.Lines(log.String()) {
		if _, text, found := strings.Cut(line, "msg="); found {
			d.say("store", finding.Warn, strings.TrimSpace(text), "docs/config.md, store."+at.Part)
		}
	}
	now, err := s.Now(ctx)
	d.clock(at.Title, now, err)
	d.judge("store", s.Close(), "closed in order", "")
}

// embedded checks the file of the embedded store, which a running daemon has open.
func (d *doctor) embedded(path string) {
	err := daemon.Writable(filepath.Dir(path))
	_, missing := os.Lstat(path)
	switch {
	case missing != nil && d.status.Up:
		d.say("store", finding.Fail,
			"the daemon that runs has its store open, and nothing can be found at "+path+": "+missing.Error(),
			"put the file back that was moved away, or restart the daemon, which begins a new one; docs/operations.md: \"The "+
				"store is not believed\"")
		return
	case missing != nil && err == nil:
		d.say("store", finding.Warn, "there is no "+path+" yet", "start the daemon once")
		return
	case err == nil:
		err = daemon.Writable(path)
	}
	d.judge("store", err, path+" can be written", "make it writable for the daemon's user, or free some space")
}

// maxSkew is how far a clock may be off before the times on cards confuse people.
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

// platformClocks compares our clock with those of the chat platforms: codes and the times on
// cards use ours. The request carries no token.
func (d *doctor) platformClocks(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	ask := func(whose, url, usual string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, cmp.Or(url, usual), nil)
		if err != nil {
			return // the configuration's fault, which is reported elsewhere
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return // reported by the channel's check
		}
		_ = res.Body.Close() // the response to HEAD has no body
		if theirs, err := http.ParseTime(res.Header.Get("Date")); err == nil {
			d.clock(whose, theirs.Add(500*time.Millisecond), nil) // the header has whole seconds only
		}
	}
	for _, ch := range d.cfg.Channels.InUse() {
		if p, is := ch.ChannelSection.(configs.PlatformSection); is {
			at := p.Platform()
			ask(strings.ToUpper(ch.Name[:1])+ch.Name[1:], *at.API, at.UsualAPI)
		}
	}
}

// named adds the channel's name to an error that does not begin with it.
func named(channel string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), channel) {
		return err
	}
	return fmt.Errorf("%s: %w", channel, err)
}

// channels asks each platform whether its token is valid.
func (d *doctor) channels(ctx context.Context, offline bool) {
	// Channels that cannot be opened were reported with the files.
	all, _ := daemon.OpenChannels(d.cfg, daemon.Isolated(d.cfg), nil, slog.New(slog.DiscardHandler))
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

// audit verifies the chain and the signatures. Alarms up to seq accepted have been looked into.
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
		d.say("audit", finding.Fail,
			fmt.Sprintf("records were lost or changed %s, the last time at seq %d", times(len(fresh)), fresh[len(fresh)-1].Seq),
			fmt.Sprintf("approver audit verify; when you have looked into it, approver doctor --accept-alarms %d",
				fresh[len(fresh)-1].Seq))
		return
	}
	differ := auditlog.VerifyCmd{AcceptAlarms: accepted}.FreshDifferences(report.Differing)
	if err == nil && len(differ) > 0 {
		last := differ[len(differ)-1]
		d.say("audit", finding.Fail, last.String(),
			fmt.Sprintf("approver audit verify; when you have looked into it, approver doctor --accept-alarms %d", last.Seq))
		return
	}
	said := words.Count(report.Records, "record") + " in order, with " + words.Count(report.Checkpoints, "signature")
	if last := newest(report.Others); err == nil && last.Seq > accepted {
		d.say("audit", finding.Warn,
			fmt.Sprintf("%s; %s, the last (%s) at seq %d: %s", said, words.Count(report.Others.Count, "alarm"), last.Kind,
				last.Seq, last.What),
			fmt.Sprintf("approver audit verify lists them; when you have looked into them, approver doctor --accept-alarms %d",
				last.Seq))
		return
	}
	d.judge("audit", err, said, "approver audit verify")
}

// newest returns the last alarm. It is zero if there is none.
func newest(l audit.AlarmList) (a audit.Alarm) {
	if n := len(l.Newest); n > 0 {
		a = l.Newest[n-1]
	}
	return a
}

// times formats a count for people.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// output warns if the output of tools is not sanitized.
func (d *doctor) output() {
	if text := d.cfg.OutputOptOut(); text != "" {
		d.say("output", finding.Warn, text, "take shield.output_sanitization out of the configuration, or set it to auto")
		return
	}
	d.say("output", finding.OK, hooks.OutputLine(d.cfg), "")
}
