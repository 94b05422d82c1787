package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// heal repairs a failed log, and retries until it succeeds or the log is closed. It
// runs in the writing goroutine. Meanwhile every record is refused at once.
func (l *Log) heal() {
	l.mu.Lock()
	cause := l.err
	l.mu.Unlock()
	if cause == nil {
		return
	}
	failed, latest := time.Now(), cause
	for l.healing.backoff.reset(); ; l.healing.backoff.double() {
		t := time.NewTimer(l.healing.backoff.pause(latest))
		select {
		case <-l.closing:
			t.Stop()
			return
		case <-t.C:
		}
		if latest = l.repair(failed, cause); latest == nil {
			break
		}
	}
	l.healing.backoff.healed = time.Now()
	l.o.Log.Info("the audit log works again", "after", time.Since(failed).Round(time.Millisecond))
}

// repair opens the log again after the last durable line and writes an alarm about the
// outage. Records are accepted only after this write has succeeded.
func (l *Log) repair(failed time.Time, cause error) error {
	if l.active.file != nil {
		_ = l.active.file.Close() // an error is part of the failure; the file is opened again
		l.active.file = nil
	}
	l.healing.changed = errors.Is(cause, ErrChanged)
	if l.healing.changed {
		var err error
		if l.lock, err = relock(l.lock, l.o.Dir); err != nil {
			return err
		}
		l.healing.add(alarm{kind: lossAlarm, text: cause.Error()})
		l.healing.loss = cause.Error()
	}
	known := l.Head()
	found, err := l.resume(&known, true)
	for _, a := range found { // a next attempt would not find them again
		l.healing.add(a)
	}
	if err != nil {
		return err
	}
	if l.healing.loss != "" {
		if err := l.o.stopCalls(l.closing, l.healing.loss); err != nil {
			l.o.Log.Error("the audit was changed, and not everything could be stopped: it stays closed", "what", l.healing.loss,
				"error", err)
			return err
		}
	}
	l.mu.Lock()
	missing, lost := l.unrecorded, l.lostPasses
	l.mu.Unlock()
	outage := fmt.Sprintf("nothing could be recorded for %s, and every call was denied%s%s",
		time.Since(failed).Round(time.Millisecond), unrecordedCalls(missing), lostCalls(lost))
	last := alarm{kind: outageAlarm, text: fmt.Sprintf("%s: %v", outage, cause)}
	if l.healing.changed { // the outage has the same cause
		last = alarm{kind: lossAlarm, text: outage}
	}
	if err := l.writeAlarms(mergeLosses(append(slices.Clone(l.healing.found), last))); err != nil {
		return err
	}
	l.mu.Lock()
	l.err, l.unrecorded, l.lostPasses = nil, l.unrecorded-missing, l.lostPasses-lost
	if l.healing.loss != "" { // the store's head is after the new end
		l.lag.rewind()
	}
	l.mu.Unlock()
	l.healing.found, l.healing.loss = nil, ""
	signal(l.lag.wake)
	return nil
}

// stopCalls calls Options.Changed, until the log is closed or stopTimeout has passed.
func (o *Options) stopCalls(closing <-chan struct{}, why string) error {
	if o.Changed == nil {
		return errors.New("nobody is there who could stop every call")
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	go func() {
		select {
		case <-closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	return o.Changed(ctx, why)
}

// writeAlarms writes alarms and signs lines that a crash or a failure left unsigned.
// It runs before any record is accepted.
func (l *Log) writeAlarms(alarms []alarm) error {
	b, err := l.queueAlarms(alarms)
	if b == nil || err != nil {
		return err
	}
	if err := l.writeBatch(b); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.markDurable(b)
	for _, a := range alarms {
		l.keepAlarm(a.text)
	}
	return nil
}

// queueAlarms makes one batch of alarms and a last checkpoint; nil if there is nothing
// to write.
func (l *Log) queueAlarms(alarms []alarm) (*batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.queue.batches = nil }()
	var ended Part
	if p := l.active.openPart(); p != nil { // sign its end, so that the alarm can name all of it
		if err := l.queue.sign(); err != nil {
			return nil, err
		}
		p.To, p.Hash = l.queue.end.seq, l.queue.end.hash.String()
		ended = *p
	}
	for _, a := range alarms {
		if a.part.From != 0 && a.part.To == 0 {
			a.part = ended
		}
		body, err := l.red.alarmLine(a, l.o.Hostname)
		if err != nil {
			return nil, err
		}
		if _, _, err := l.queue.line(body); err != nil {
			return nil, err
		}
	}
	if l.queue.since > 0 {
		if err := l.queue.sign(); err != nil {
			return nil, err
		}
	}
	return l.queue.first(), nil
}

// alarm records an alarm while the log works.
func (l *Log) alarm(ctx context.Context, a alarm) error {
	l.mu.Lock()
	l.keepAlarm(a.text)
	l.mu.Unlock()
	body, err := l.red.alarmLine(a, l.o.Hostname)
	if err != nil {
		return err
	}
	_, err = l.put(ctx, body, time.Time{})
	return err
}

// keepAlarm keeps the newest alarms. The caller holds mu.
func (l *Log) keepAlarm(text string) {
	l.alarms = append(l.alarms[max(0, len(l.alarms)-maxAlarms+1):], text)
}

// relock takes the lock again if somebody replaced the log's folder, and releases the old one.
func relock(held *os.File, dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return held, err
	}
	info, err := held.Stat()
	if err != nil {
		return held, err
	}
	path := filepath.Join(dir, lockName)
	if named, err := os.Lstat(path); err == nil && os.SameFile(info, named) {
		return held, nil
	}
	lock, err := lockFile(path)
	if err != nil {
		return held, err
	}
	return lock, held.Close()
}
