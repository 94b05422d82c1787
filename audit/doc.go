// Package audit keeps a record of every decision in a hash-chained log of JSON
// lines with signed checkpoints. [Log] is an approver.Recorder.
//
// # Files
//
// A log is one directory. Lines are appended to audit.jsonl; when that file has
// reached its size it ends with a checkpoint, becomes
// audit-<seq of its first line>.jsonl, and the chain goes on in a new
// audit.jsonl. What a crash tore off the end is never dropped: it is kept in
// audit-<seq>.torn and an alarm line says so.
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
// of the line before; the first line of a log has 64 zeros. The bytes are hashed
// as they are, so no canonical form is needed to check them:
//
//	prev = "0" * 64
//	for line in open("audit.jsonl", "rb"):
//	    body, _, end = line.rpartition(b',"hash":"')
//	    assert hashlib.sha256(body).hexdigest().encode() + b'"}\n' == end
//	    assert json.loads(line)["prev"] == prev
//	    prev = json.loads(line)["hash"]
//
// A record is described at [Line]. It can be read as a row of the older
// decisions.jsonl, of both its shapes (timestamp, module, method, args,
// decision, decisionTime, decision_time_ms, target, requireToken, …). Three of
// its fields are left out because nothing true could be said in them:
// bulkCount (a command is not run to count what it would touch), confirmation
// (it held what the person typed, which is the code) and run_id (no agent sends
// one; session_id and call are there). requireToken is true or false here and
// never the code itself, and decisionInput says how a person answered, not what
// was typed.
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
// most [MaxCheckpointEvery] lines lie between two, and a file that was rotated
// away ends with one, so that a chain that was computed anew without the key
// shows.
//
// # Retention
//
// With Options.Keep, full files are removed, the oldest first. Before, a line with
// the event removed says up to which seq and hash, and a checkpoint vouches for
// it. [Verify] accepts a log without its beginning if such a line reaches as far,
// and says from which seq on it is complete; any other missing beginning is a cut.
//
// # Failure
//
// If a line cannot be made durable, every record is refused until the log has
// healed itself: it tries after one second and then less and less often, at
// least every 30 seconds. What was refused is not in the log afterwards. An
// alarm says for how long nothing could be recorded.
//
// Before each write, and every two seconds, the file is compared with what was
// written: its name, its size and, after any touch, its lines. If somebody removed,
// moved, cut, replaced or edited it, the log fails too, and heals only after
// Options.Changed has stopped every call. A log that was closed says so in the
// store's head, so that lines behind its end are no crash's.
//
// # Alarms
//
// What the daemon finds lost or changed when it starts becomes an alarm, and so
// does a call that ran although it was denied. The member alarm tells what it is
// about: loss, key, outage and torn are what the log says of itself; call, store,
// audit, hooks and other are of those who record. A log that was cut short and went on
// is whole again but for its alarm of loss; [Report] counts these.
//
// # Secrets
//
// No confirmation code, token or key may be in the log. Every text passes
// through Options.Redact, and confirmation codes are masked whatever that does.
//
// # Reading order
//
// Writing: open.go and log.go, then a record's way: take.go, line.go and redact.go (what a line says), queue.go
// and chain.go (its place), commit.go and active.go (the file), head.go, headkeeper.go and lag.go (what the store
// is told). What goes wrong: recover.go and scan.go, heal.go and alarm.go, opening.go, rename.go. Retention:
// retention.go and removed.go. Reading: files.go and logdir.go, verify.go with named.go and broken.go, tail.go,
// print.go and reasoning.go.
package audit
