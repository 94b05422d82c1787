// Package auditlog is the command audit: it reads, verifies and exports the audit.
package auditlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"time"

	"approver.example"
	"github.com/alecthomas/kong"

	"approver.example/audit"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
)

// Cmd is the command audit.
type Cmd struct {
	Tail      auditTailCmd      `cmd:"" help:"Print the last records, and with --follow what comes."`
	Show      auditShowCmd      `cmd:"" help:"Print all that is recorded of one call, with the reasoning chain."`
	Verify    VerifyCmd         `cmd:"" help:"Check chain, signatures and end; name the first broken record."`
	Export    auditExportCmd    `cmd:"" help:"Write the records of a time as JSONL or CSV."`
	RotateKey auditRotateKeyCmd `cmd:"" help:"Replace the key that signs the audit."`
}

// Folder has the flags that say where the audit is.
type Folder struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	Dir    string `help:"Folder of the audit, instead of the configured one." placeholder:"DIR"`
}

// Resolve returns the configuration and the folder of the audit.
func (d Folder) Resolve() (configs.Config, string, error) {
	cfg, err := configs.LoadOrDefault(d.Config)
	if err != nil {
		return cfg, "", err
	}
	if d.Dir != "" {
		return cfg, d.Dir, nil
	}
	return cfg, cfg.AuditDir(), nil
}

// WithCure adds to the error for a missing log what to do about it.
func WithCure(err error, dir string) error {
	_, statErr := os.Stat(dir)
	if errors.Is(err, audit.ErrNoLog) || err != nil && errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("there is no audit log in %s: start the daemon once, or name the folder of the log with --dir", dir)
	}
	return err
}

// A count is a number of records, -1 for all.
type count int

// Decode reads a number, -1 or all. It takes the word itself, because -1 looks like a flag.
func (c *count) Decode(ctx *kong.DecodeContext) error {
	word := ctx.Scan.Pop().String()
	n, err := strconv.Atoi(word)
	switch {
	case word == "all":
		n = -1
	case err != nil || n < -1:
		return fmt.Errorf("%q is not a number of records: write 50, or all", word)
	}
	*c = count(n)
	return nil
}

type auditTailCmd struct {
	Folder
	N      count `help:"How many records; all, or -1, for every one." short:"n" default:"20" placeholder:"20"`
	Follow bool  `help:"Go on with new records." short:"f"`
	JSON   bool  `help:"Print the lines as they are."`
}

// Run prints records.
func (c auditTailCmd) Run(ctx context.Context) error {
	_, dir, err := c.Resolve()
	if err != nil {
		return err
	}
	if c.JSON {
		return WithCure(audit.Tail(ctx, dir, int(c.N), c.Follow, os.Stdout, audit.JSONL), dir)
	}
	return WithCure(term.FoldInto(22,
		func(w io.Writer) error { return audit.Tail(ctx, dir, int(c.N), c.Follow, w, audit.Human) }), dir)
}

type auditShowCmd struct {
	Folder
	What string `arg:"" name:"id" help:"A record's seq, a call id, or a request's id." placeholder:"ID"`
	JSON bool   `help:"Print the lines as they are."`
}

// Run prints the records of one call.
func (c auditShowCmd) Run(ctx context.Context) error {
	_, dir, err := c.Resolve()
	if err != nil {
		return err
	}
	if c.JSON {
		return WithCure(audit.Show(ctx, dir, c.What, os.Stdout, audit.JSONL), dir)
	}
	return WithCure(term.FoldInto(16, func(w io.Writer) error { return audit.Show(ctx, dir, c.What, w, audit.Human) }),
		dir)
}

// VerifyCmd is the command audit verify.
type VerifyCmd struct {
	Folder
	Key          string   `help:"Public key file to trust, instead of the one beside the configured key." placeholder:"FILE"`
	More         []string `help:"Folders or files where older parts of the log were moved." placeholder:"PATH"`
	AcceptAlarms uint64   `help:"Somebody has looked into the alarms of loss, and the records that differ, up to this seq: they no longer fail." placeholder:"SEQ"`
	JSON         bool     `help:"Print one JSON object."`
}

// Run verifies.
func (c VerifyCmd) Run(ctx context.Context) error {
	cfg, dir, err := c.Resolve()
	if err != nil {
		return err
	}
	keyFile := c.Key
	if keyFile == "" {
		keyFile = cfg.AuditKey() + ".pub"
	}
	keys, err := audit.LoadKeys(keyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Key != "":
		return fmt.Errorf("there is no file %s: give --key the audit.key.pub that was kept of the log", keyFile)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no public key %s: start the daemon once, which makes it, or name another with --key, "+
			"and its log with --dir", keyFile)
	case err != nil:
		return err
	}
	head, why := c.head(ctx, cfg)
	report, err := audit.Verify(ctx, append([]string{dir}, c.More...), keys, head)
	var broken *audit.BreakError
	if err != nil && !errors.As(err, &broken) {
		return WithCure(err, dir)
	}
	fresh, differing := c.Fresh(report.Losses), c.FreshDifferences(report.Differing)
	ok := broken == nil && len(fresh)+len(differing) == 0
	if c.JSON {
		out := struct {
			OK     bool              `json:"ok"`
			Report audit.Report      `json:"report"`
			Head   string            `json:"head"`
			Break  *audit.BreakError `json:"break,omitempty"`
		}{ok, report, why, broken}
		if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
			return err
		}
	} else {
		c.printRepeats(report, differing)
		c.print(report, fresh, differing, broken, why)
	}
	if !ok {
		return term.ErrSaid
	}
	return nil
}

// FreshDifferences returns the differing records that nobody has accepted yet.
func (c VerifyCmd) FreshDifferences(l audit.DifferenceList) []audit.Difference {
	i := slices.IndexFunc(l.Newest, func(d audit.Difference) bool { return d.Seq > c.AcceptAlarms })
	if i < 0 {
		return nil
	}
	return l.Newest[i:]
}

// printRepeats prints the repeats of records, and those that say otherwise than the first.
func (c VerifyCmd) printRepeats(r audit.Report, fresh []audit.Difference) {
	switch {
	case r.Repeats == 1:
		term.Print(0, "1 line repeats a record that was there before: both count as one\n")
	case r.Repeats > 1:
		term.Print(0, "%d lines repeat a record that was there before: each counts with it as one\n", r.Repeats)
	}
	for _, d := range r.Differing.Newest[:len(r.Differing.Newest)-len(fresh)] {
		term.Print(0, "differs (looked into): %v\n", d)
	}
	for _, d := range fresh {
		term.PrintOn(os.Stderr, 0, "DIFFERS: %v\n", d)
	}
}

// accept is the seq that accepts what is fresh.
func accept(fresh []audit.Alarm, differing []audit.Difference) (seq uint64) {
	if n := len(fresh); n > 0 {
		seq = fresh[n-1].Seq
	}
	if n := len(differing); n > 0 {
		seq = max(seq, differing[n-1].Seq)
	}
	return seq
}

// Fresh returns the alarms of loss that nobody has accepted yet.
func (c VerifyCmd) Fresh(losses audit.AlarmList) []audit.Alarm {
	i := slices.IndexFunc(losses.Newest, func(a audit.Alarm) bool { return a.Seq > c.AcceptAlarms })
	if i < 0 {
		return nil
	}
	return losses.Newest[i:]
}

func (c VerifyCmd) print(r audit.Report, fresh []audit.Alarm, differing []audit.Difference, broken *audit.BreakError,
	why string) {
	for _, a := range r.Others.Newest {
		term.Print(0, "alarm (%s) at %s:%d: %s\n", a.Kind, a.File, a.Line, a.What)
	}
	for _, a := range r.Losses.Newest[:len(r.Losses.Newest)-len(fresh)] {
		term.Print(0, "alarm (loss, looked into) at %s:%d: %s\n", a.File, a.Line, a.What)
	}
	for _, a := range fresh {
		term.PrintOn(os.Stderr, 0, "ALARM at %s:%d: %s\n", a.File, a.Line, a.What)
	}
	for _, b := range r.Broken {
		term.Print(0, "broken, as an alarm says: %v\n", &b)
	}
	alarms := "no alarms"
	if r.Alarms > 0 {
		alarms = fmt.Sprintf("%s, %d of loss", words.Count(r.Alarms, "alarm"), r.Losses.Count)
	}
	switch {
	case broken != nil:
		term.PrintOn(os.Stderr, 0, "BROKEN: %v (%s before it, %s)\n", broken, words.Count(r.Lines, "whole line"), alarms)
	case len(fresh) > 0:
		term.PrintOn(os.Stderr, 0,
			"The chain of %s is sound but for what these alarms say: something was lost from it or changed before it went "+
				"on. When you have looked into it: "+
				"approver audit verify --accept-alarms %d\n", words.Count(r.Records, "record"), accept(fresh, differing))
	case len(differing) > 0:
		term.PrintOn(os.Stderr, 0, "The chain of %s is sound, but these say different things of one event: approver audit "+
			"show prints both. When you have looked into it: approver audit verify --accept-alarms %d\n",
			words.Count(r.Records, "record"), accept(fresh, differing))
	default:
		if r.First > 1 {
			term.Print(0, "complete from seq %d on: retention removed what was before\n", r.First)
		}
		term.Print(0, "ok: %s and %s in %s, seq %d to %d, signed up to %d; %s; %s\n", words.Count(r.Records, "record"),
			words.Count(r.Checkpoints, "signature"), words.Count(uint64(r.Files), "file"), r.First, r.Last, r.Signed, why,
			alarms)
	}
}

// head asks the store, or the daemon that holds it, where the log ends. The text says what was
// compared.
func (c VerifyCmd) head(ctx context.Context, cfg configs.Config) (*audit.Head, string) {
	if c.Dir != "" {
		return nil, "its end was not compared with a store"
	}
	store, err := daemon.OpenStore(ctx, cfg, slog.New(slog.DiscardHandler))
	if errors.Is(err, approver.ErrHeld) {
		var doc adminapi.Status
		client := adminclient.NewSudo().Own(cfg)
		if client.Operate(ctx, adminapi.OpStatus, struct{}{}, &doc) == nil && doc.Audit != nil {
			return doc.Audit, "its end is where the daemon says"
		}
	}
	if err != nil {
		return nil, "its end was not compared with the store: " + err.Error()
	}
	defer store.Close()
	head, err := audit.ReadHead(ctx, store, cfg.AuditID())
	if err != nil {
		return nil, "its end was not compared with the store: " + err.Error()
	}
	return &head, "its end is where the store says"
}

type auditExportCmd struct {
	Folder
	From   string `help:"First time, RFC 3339 or a date." placeholder:"TIME"`
	To     string `help:"Time to stop before, RFC 3339 or a date." placeholder:"TIME"`
	Format string `help:"jsonl or csv." enum:"jsonl,csv" default:"jsonl"`
}

// Run exports.
func (c auditExportCmd) Run(ctx context.Context) error {
	_, dir, err := c.Resolve()
	if err != nil {
		return err
	}
	from, err := parseTime("--from", c.From)
	if err != nil {
		return err
	}
	to, err := parseTime("--to", c.To)
	if err != nil {
		return err
	}
	format, err := audit.ParseFormat(c.Format)
	if err != nil {
		return err
	}
	return WithCure(audit.Export(ctx, dir, from, to, format, os.Stdout), dir)
}

type auditRotateKeyCmd struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
}

// Run replaces the key.
func (c auditRotateKeyCmd) Run() error {
	cfg, err := configs.LoadOrDefault(c.Config)
	if err != nil {
		return err
	}
	path := cfg.AuditKey()
	key, err := audit.RotateKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; there is nothing to replace: the daemon makes a key when it first starts", err)
	}
	if err != nil {
		return err
	}
	fmt.Printf("The new key of the audit is %s. Restart the daemon: until then it signs with the old one.\n"+
		"Whoever verifies the log elsewhere needs a new copy of %s.pub.\n", key.ID(), path)
	return nil
}

func parseTime(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s %q is not a time: write 2026-01-31 or 2026-01-31T12:00:00Z", flag, s)
}
