// Package audit keeps a record of every decision in a hash-chained log of JSON
// lines with signed checkpoints. [Log] is an approver.Recorder.
//
// # Files
//
// A log is one directory. Lines are appended to audit.jsonl. A full file ends
// with a checkpoint and is renamed to audit-<seq of its first line>.jsonl; the
// chain continues in a new audit.jsonl. A crash can leave half a line at the end.
// It is never dropped: it is moved to audit-<seq>.torn, and an alarm line says so.
//
// # Lines
//
// Every line is one JSON object of at most [MaxLine] bytes that ends, without
// white space, in
//
//	,"id":"<log>:<n>","seq":<n>,"prev":"<P>","hash":"<H>"}
//
// seq counts all lines of the log from 1, across files, without gaps. H is the
// SHA-256, in lower-case hex, of the bytes of the line before `,"hash":`. P is H
// of the line before; the first line of a log has 64 zeros. The hash is over the
// bytes as written, so a check needs no canonical form:
//
//	prev = "0" * 64
//	for line in open("audit.jsonl", "rb"):
//	    body, _, end = line.rpartition(b',"hash":"')
//	    assert hashlib.sha256(body).hexdigest().encode() + b'"}\n' == end
//	    assert json.loads(line)["prev"] == prev
//	    prev = json.loads(line)["hash"]
//
// [Line] describes a record. Readers of the older decisions.jsonl, in both of its
// shapes, can read it too (timestamp, module, method, args, decision,
// decisionTime, decision_time_ms, target, requireToken, …). Three of its fields
// are missing because they have no true value here: bulkCount (no command is run
// to count its effects), confirmation (it held the typed code) and run_id (no
// agent sends one; use session_id and call). requireToken is true or false and
// never the code. decisionInput says how a person answered, not what was typed.
//
// # Checkpoints
//
// A checkpoint is a line that starts with
//
//	{"checkpoint":{"hash":"<P>","key_id":"…","log":"…","seq":<n-1>,"time":"…"},"sig":"<base64>","v":1
//
// The signature is Ed25519 over the text "approver audit checkpoint v1", a
// newline, and the bytes of the checkpoint's object, which are its RFC 8785
// form. It vouches for all lines up to seq. Line 2 of a log is a checkpoint, at
// most [MaxCheckpointEvery] lines lie between two, and every rotated file ends
// with one. So Verify detects a chain that somebody recomputed without the key.
//
// # Retention
//
// With Options.Keep, full files are removed, the oldest first. Before that, a line
// with the event "removed" states the last seq and hash that go, and a checkpoint
// vouches for it. [Verify] accepts a missing beginning if such a line covers it,
// and reports from which seq on the log is complete. Any other missing beginning
// is an error.
//
// # Following the store
//
// Record waits until a line is durable. Follow does not: what the line says is durable in the store,
// which can say it again. Such lines are written within 50 ms, or with the next line that somebody
// waits for. Ready fails if one waits for more than [MaxBehind], or if the file is not what was
// written: then nothing may be released. The member "once" of a line is the id of its event: after
// a crash, or when another daemon goes on with a request, an event may be written again, and a
// line with an id that was there before is the same record. [Verify], [Query] and the CSV of [Export]
// count it so, and name a line that says otherwise than the first.
//
// # Failure
//
// If a line cannot be made durable, every record is refused until the log has
// healed. It retries after one second, then with growing pauses of at most 30
// seconds; while there is no room on the disk, every half second. Refused records
// are not added later. An alarm says how long nothing could be recorded.
//
// Before each write, and every two seconds, the file is compared with what was
// written: its name, its size and, if its times changed, its lines. If somebody
// removed, moved, truncated, replaced or edited it, the log fails too. It heals
// only after Options.Changed has stopped every call. Closing a log marks the head
// in the store as closed; lines after that end cannot come from a crash.
//
// # Alarms
//
// An alarm records lost or changed lines that the daemon finds when it starts, and
// calls that ran although they were denied. Its member alarm is the kind. The log
// itself raises loss, key, outage and torn; its callers raise call, store, audit,
// hooks and other. A log that was truncated and then continued verifies again, but
// keeps its alarm of loss; [Report] counts these.
//
// # Secrets
//
// No confirmation code, token or key may be in the log. Every text passes
// through Options.Redact, and confirmation codes are masked whatever that does.
//
// # Reading order
//
// Writing: open.go and log.go, then the path of a record: take.go, line.go and redact.go (content), queue.go and
// chain.go (place in the chain), commit.go and active.go (file), head.go, headkeeper.go and lag.go (head in the
// store). Failures: recover.go and scan.go, heal.go and alarm.go, opening.go, rename.go. Retention: retention.go and
// removed.go. Reading: files.go and logdir.go, verify.go with named.go and broken.go, repeats.go, tail.go, print.go and
// reasoning.go; on all processors: chunks.go and members.go, query.go, show.go with finder.go.
package audit
