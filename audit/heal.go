package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"approver.example"
)

// Bounds of healing.
const (
	healFirst = time.Second // before the first try, doubled with each
	healMost  = 30 * time.Second
	maxAlarms = 100 // kept in memory
	// stopTimeout is for Options.Changed.
	stopTimeout = 5 * time.Second
)

// The kinds of alarms. The first four are the log's own. A kind that is not known
// here, or none, as earlier versions wrote, counts as a loss unless it is of a call.
const (
	lossAlarm   = "loss"   // something of the log is gone, or was changed
	keyAlarm    = "key"    // another key signs from here on
	outageAlarm = "outage" // nothing could be recorded for a time; nothing is missing
	tornAlarm   = "torn"   // a crash left half a line that nobody was told of
	callAlarm   = "call"   // a call ran that must not have, or otherwise
	otherAlarm  = "other"  // something else that is about no call
)

// An alarm is what the log has to say of itself.
type alarm struct {
	kind, text string
	part       Part // that it names; zero is none
}

// A pace says how long to wait before the next try: longer while the log fails
// again soon after it was healed.
type pace struct {
	wait   time.Duration
	healed time.Time
}

func (p *pace) begin() {
	if p.wait == 0 || time.Since(p.healed) > healMost {
		p.wait = healFirst
		return
	}
	p.double()
}

func (p *pace) double() { p.wait = min(2*p.wait, healMost) }

// heal brings a log that has failed back to work, unless it is closed first. It
// runs in the writing goroutine. Until it has succeeded every record is refused
// at once.
func (l *Log) heal() {
	l.mu.Lock()
	cause := l.err
	l.mu.Unlock()
	if cause == nil {
		return
	}
	failed := time.Now()
	for l.pace.begin(); ; l.pace.double() {
		t := time.NewTimer(l.pace.wait)
		select {
		case <-l.closing:
			t.Stop()
			return
		case <-t.C:
		}
		if l.repair(failed, cause) == nil {
			break
		}
	}
	l.pace.healed = time.Now()
	l.o.Log.Info("the audit log works again", "after", time.Since(failed).Round(time.Millisecond))
}

// repair opens the log anew behind the last line that is durable, and writes
// how long it was away: what it cannot write itself, it does not promise to
// anybody else.
func (l *Log) repair(failed time.Time, cause error) error {
	if l.file != nil {
		_ = l.file.Close() // it may have failed with the rest; it is opened anew
		l.file = nil
	}
	l.changed = errors.Is(cause, ErrChanged)
	if l.changed {
		if err := l.relock(); err != nil {
			return err
		}
		l.note(alarm{kind: lossAlarm, text: cause.Error()})
		l.lost = cause.Error()
	}
	known := l.Head()
	found, err := l.resume(&known, true)
	for _, a := range found { // the next try does not find again what this one set aside
		l.note(a)
	}
	if err != nil {
		return err
	}
	if l.lost != "" {
		if err := l.stop(l.lost); err != nil {
			l.o.Log.Error("the audit was changed, and not everything could be stopped: it stays closed", "what", l.lost, "error", err)
			return err
		}
	}
	l.mu.Lock()
	missing := l.missing
	l.mu.Unlock()
	outage := fmt.Sprintf("nothing could be recorded for %s, and every call was denied%s", time.Since(failed).Round(time.Millisecond), lacking(missing))
	last := alarm{kind: outageAlarm, text: fmt.Sprintf("%s: %v", outage, cause)}
	if l.changed { // then that is of the same cause
		last = alarm{kind: lossAlarm, text: outage}
	}
	if err := l.declare(oneLoss(append(slices.Clone(l.found), last))); err != nil {
		return err
	}
	l.mu.Lock()
	l.err, l.missing = nil, l.missing-missing
	if l.lost != "" { // the store knows lines that are gone: it is told of the new end
		l.again, l.unheard, l.heardOf = true, nil, 0
	}
	l.mu.Unlock()
	l.found, l.lost = nil, ""
	signal(l.headWake)
	return nil
}

// lacking says how many denied calls have no record.
func lacking(calls int) string {
	switch calls {
	case 0:
		return ""
	case 1:
		return " (1 of them is not in the audit)"
	}
	return fmt.Sprintf(" (%d of them are not in the audit)", calls)
}

// oneLoss makes one alarm of the losses that were found at once and name no part of the
// log, or adds them to the first that names one: they have one cause.
func oneLoss(found []alarm) []alarm {
	var texts []string
	whole := func(a alarm) bool { return a.kind == lossAlarm && a.part == (Part{}) }
	for _, a := range found {
		if whole(a) {
			texts = append(texts, a.text)
		}
	}
	at := slices.IndexFunc(found, func(a alarm) bool { return a.kind == lossAlarm && !whole(a) })
	if at >= 0 {
		texts = append([]string{found[at].text}, texts...)
	} else if at = slices.IndexFunc(found, whole); at < 0 {
		return found
	}
	var all []alarm
	for i, a := range found {
		if i == at {
			a.text = strings.Join(texts, "; ")
		} else if whole(a) {
			continue
		}
		all = append(all, a)
	}
	return all
}

// note keeps what a try to heal found, once, until it can be written.
func (l *Log) note(a alarm) {
	if !slices.Contains(l.found, a) {
		l.found = append(l.found, a)
	}
}

// stop has every call stopped, until people act, because of what was done to the log.
func (l *Log) stop(why string) error {
	if l.o.Changed == nil {
		return errors.New("nobody is there who could stop every call")
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	go func() {
		select {
		case <-l.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return l.o.Changed(ctx, why)
}

// declare writes alarms, and vouches for what a crash or a failure left
// unsigned, before any record is let in.
func (l *Log) declare(alarms []alarm) error {
	b, err := l.queueAlarms(alarms)
	if b == nil || err != nil {
		return err
	}
	if err := l.writeBatch(b); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle(b)
	for _, a := range alarms {
		l.remember(a.text)
	}
	return nil
}

// queueAlarms makes one batch of alarms and what is left unsigned; nil if there
// is nothing to write.
func (l *Log) queueAlarms(alarms []alarm) (*batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.queue = nil }()
	ended, err := l.endPart()
	if err != nil {
		return nil, err
	}
	for _, a := range alarms {
		if a.part.From != 0 && a.part.To == 0 {
			a.part = ended
		}
		body, err := l.alarmLine(a)
		if err != nil {
			return nil, err
		}
		if _, _, err := l.line(body); err != nil {
			return nil, err
		}
	}
	if l.since > 0 {
		if err := l.sign(); err != nil {
			return nil, err
		}
	}
	if len(l.queue) == 0 {
		return nil, nil
	}
	return l.queue[0], nil
}

// endPart writes the signature that ends the broken part at the end of the file, so that
// the alarm about it can name all of it. Zero is none. The caller holds mu.
func (l *Log) endPart() (Part, error) {
	if len(l.parts) == 0 || l.parts[len(l.parts)-1].To != 0 {
		return Part{}, nil
	}
	if err := l.sign(); err != nil {
		return Part{}, err
	}
	p := &l.parts[len(l.parts)-1]
	p.To, p.Hash = l.end.seq, l.end.hash.String()
	return *p, nil
}

func (l *Log) alarmLine(a alarm) ([]byte, error) {
	line := l.red.lineOf(approver.Record{Event: approver.EventAlarm, Note: a.text}, l.o.Hostname, time.Now())
	line.Alarm = a.kind
	if a.part.To != 0 {
		line.Broken = &a.part
	}
	return encode(line)
}

// alarm records an alarm while the log works.
func (l *Log) alarm(ctx context.Context, a alarm) error {
	l.mu.Lock()
	l.remember(a.text)
	l.mu.Unlock()
	body, err := l.alarmLine(a)
	if err != nil {
		return err
	}
	_, err = l.put(ctx, body, time.Time{})
	return err
}

// remember keeps the newest alarms. The caller holds mu.
func (l *Log) remember(text string) {
	l.alarms = append(l.alarms[max(0, len(l.alarms)-maxAlarms+1):], text)
}
