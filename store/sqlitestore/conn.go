package sqlitestore

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"approver.example"
)

// The tables. A record's times are in its row, and the lists of what is due and of what is to be
// forgotten are indexes: SQLite changes them with the row. The index of what is due has all that
// a list of it needs, so that an unreadable record hides no other.
var schema = []string{
	`CREATE TABLE records(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, shard INTEGER NOT NULL, rev TEXT NOT NULL,` +
		` due INTEGER NOT NULL, keep INTEGER NOT NULL, value BLOB NOT NULL) STRICT`,
	`CREATE INDEX due ON records(shard, due, keep, key) WHERE due < 9223372036854775807`,
	`CREATE INDEX keep ON records(keep) WHERE keep < 9223372036854775807`,
	`CREATE TABLE leases(name TEXT PRIMARY KEY, fence INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
	`CREATE TABLE clock(mark INTEGER NOT NULL) STRICT`,
}

// Queries that are also made of a file that is only checked.
const (
	oneRow  = `SELECT rev, due, keep, value, key FROM records WHERE id = ?1`
	allKeys = `SELECT id, key FROM records INDEXED BY sqlite_autoindex_records_1`
)

// statements are those that a connection keeps.
type statements struct {
	begin, commit, rollback *sqlite3.Stmt

	get, find, list   *sqlite3.Stmt
	insert, update    *sqlite3.Stmt
	replace           *sqlite3.Stmt // update, if the times stay
	over, row, remove *sqlite3.Stmt
	fence, setFence   *sqlite3.Stmt
	setMark           *sqlite3.Stmt
}

// A query is a statement with its place.
type query struct {
	at   **sqlite3.Stmt
	text string
}

// reads are the statements of a reader.
func (s *statements) reads() []query {
	return []query{
		{&s.get, `SELECT rev, due, keep, value FROM records WHERE key = ?1`},
		{&s.list, `SELECT key FROM records INDEXED BY due WHERE shard = ?1 AND due <= ?2 AND due < 9223372036854775807` +
			` AND keep > ?3 ORDER BY due, key LIMIT ?4`},
	}
}

// writes are the statements of the writer.
func (s *statements) writes() []query {
	return []query{
		{&s.begin, `BEGIN IMMEDIATE`},
		{&s.commit, `COMMIT`},
		{&s.rollback, `ROLLBACK`},
		{&s.find, `SELECT rev, due, keep, value, id FROM records WHERE key = ?1`},
		{&s.insert, `INSERT INTO records(rev, value, due, keep, key, shard) VALUES(?1, ?2, ?3, ?4, ?5, ?6)`},
		{&s.update, `UPDATE records SET rev = ?1, value = ?2, due = ?3, keep = ?4 WHERE id = ?5`},
		{&s.replace, `UPDATE records SET rev = ?1, value = ?2 WHERE id = ?3`},
		{&s.over, `SELECT id FROM records INDEXED BY keep WHERE keep <= ?1 AND keep < 9223372036854775807` +
			` ORDER BY keep LIMIT ?2`},
		{&s.row, oneRow},
		{&s.remove, `DELETE FROM records WHERE id = ?1 AND keep <= ?2`},
		{&s.fence, `SELECT fence FROM leases WHERE name = ?1`},
		{&s.setFence, `INSERT INTO leases(name, fence) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET fence = ?2`},
		{&s.setMark, `UPDATE clock SET mark = ?1`},
	}
}

// A conn is a connection to the file. It is used by one goroutine at a time.
type conn struct {
	*sqlite3.Conn
	statements
	dead error // a panic left it in an unknown state
}

// connect opens a connection through a VFS; the empty name is the system's.
func connect(path, vfs string, settings ...string) (c *conn, err error) {
	defer guard(path, &err)()
	at := url.URL{Scheme: "file", Path: path}
	if vfs != "" {
		at.RawQuery = url.Values{"vfs": {vfs}}.Encode()
	}
	db, err := sqlite3.OpenFlags(at.String(), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	c = &conn{Conn: db}
	if err := c.Exec("PRAGMA " + strings.Join(settings, "; PRAGMA ")); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return c, nil
}

// The settings of the connections of a store. A reader drops its cache whenever something was
// written, so it needs little of it.
var (
	everywhere = []string{"busy_timeout=1000", "temp_store=MEMORY", "trusted_schema=OFF", "cell_size_check=ON"}
	writing    = append([]string{"synchronous=FULL", "fullfsync=ON", "checkpoint_fullfsync=ON", "cache_size=-2000"},
		everywhere...)
	reading = append([]string{"query_only=ON", "cache_size=-256"}, everywhere...)
)

// prepare makes statements that the connection keeps.
func (c *conn) prepare(queries []query) error {
	for _, q := range queries {
		var err error
		if *q.at, _, err = c.PrepareFlags(q.text, sqlite3.PREPARE_PERSISTENT); err != nil {
			return err
		}
	}
	return nil
}

// shut closes the connection and its statements.
func (c *conn) shut() error {
	if c == nil || c.dead != nil {
		return nil // after a panic a lock may be held; the end of the process frees it
	}
	var errs []error
	for _, q := range append(c.reads(), c.writes()...) {
		errs = append(errs, (*q.at).Close())
	}
	return errors.Join(append(errs, c.Close())...)
}

// done ends a statement, and returns the first error of it.
func done(st *sqlite3.Stmt, err error) error {
	ended := st.Err()
	return errors.Join(err, ended, noError(st.Reset(), ended))
}

// noError drops the error of a reset, which repeats that of the step.
func noError(err, of error) error {
	if of != nil {
		return nil
	}
	return err
}

// A row is a record as it is in the file. Its value belongs to SQLite until the statement is
// used again.
type row struct {
	rev       approver.Rev
	due, keep int64 // Unix nanoseconds, or never
	value     []byte
}

// read takes the row of a statement whose first columns are rev, due, keep and value. The value of
// the revision that is known is left out.
func read(st *sqlite3.Stmt, known approver.Rev) (row, error) {
	rev := st.ColumnRawText(0)
	r := row{due: st.ColumnInt64(1), keep: st.ColumnInt64(2)}
	if known == "" || string(rev) != string(known) {
		r.value = st.ColumnRawBlob(3)
	}
	if err := st.Err(); err != nil {
		return row{}, err
	}
	switch {
	case len(rev) != revLen:
		return row{}, rowError(fmt.Sprintf("its revision has %d bytes, not %d", len(rev), revLen))
	case r.due < 0 || r.keep < 0:
		return row{}, rowError("it has a time before 1970")
	}
	r.rev = approver.Rev(rev)
	return r, nil
}

// revLen is the length of a revision.
const revLen = 36

// lookup reads a record, also one whose time is over. The caller resets the statement when it is
// done with the value.
func lookup(st *sqlite3.Stmt, key string, known approver.Rev) (r row, found bool, err error) {
	if err := st.BindText(1, key); err != nil {
		return row{}, false, err
	}
	if !st.Step() {
		return row{}, false, unreadable(key, st.Err())
	}
	r, err = read(st, known)
	return r, err == nil, unreadable(key, err)
}

// A rowError says what is wrong with a row that could be read.
type rowError string

func (e rowError) Error() string { return string(e) }

// An unreadableError says which record cannot be read. It is an [approver.ErrTampered]: nobody
// can say what the record was.
type unreadableError struct {
	key   string
	cause error
}

// Error names the cure.
func (e *unreadableError) Error() string {
	return fmt.Sprintf("%s cannot be read, and approver store drop removes it while the daemon is stopped: %v", e.key,
		e.cause)
}

// Is implements the interface of [errors.Is].
func (e *unreadableError) Is(target error) bool { return target == approver.ErrTampered }

// Unwrap returns what was found.
func (e *unreadableError) Unwrap() error { return e.cause }

// unreadable explains why a record could not be read.
func unreadable(key string, err error) error {
	var bad rowError
	var known *unreadableError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, sqlite3.IOERR_DATA):
		err = fmt.Errorf("a page of it does not fit its checksum: %w", err)
	case !pageDamaged(err) && !errors.As(err, &bad):
		return fmt.Errorf("%s: %w", key, err)
	}
	return &unreadableError{key, err}
}

// pageDamaged reports whether an error says that what is in the file is not what was written.
func pageDamaged(err error) bool {
	return errors.Is(err, sqlite3.IOERR_DATA) || errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) ||
		errors.Is(err, sqlite3.IOERR_CORRUPTFS) || errors.Is(err, sqlite3.IOERR_SHORT_READ)
}
