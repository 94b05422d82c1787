// Package courier carries one hook call to approver's daemon and its answer
// back: standard input to the daemon's socket, the answer to standard output,
// standard error and the exit code.
//
// It decides nothing. Whatever goes wrong (no daemon, an unexpected answer, a timeout, a
// signal, a panic, an unknown flag), it returns the agent's own blocking answer, so that a
// broken approver stops calls and never lets them through.
//
// Each call gets one random id. If the connection is lost while people are being asked, because
// the daemon restarts, the courier reconnects with the same id and its remaining time, and the
// request continues.
//
// [Usage] explains the flags.
//
// The package implements HTTP itself and imports almost nothing, because every tool call waits
// for the courier to start.
package courier

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"approver.example/agents/blocking"
	"approver.example/agents/facts"
	"approver.example/httpapi/socketpath"
	"approver.example/httpapi/wire"
)

// A Courier carries one call.
type Courier struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            []string // the hook's environment, as KEY=VALUE
	// PinFile is the file that pins the socket, and PinOwner is the uid that must own it; see
	// socketpath.ReadPin. If PinFile is empty, it is socketpath.PinFile, owned by root.
	PinFile  string
	PinOwner uint32
	// Tasks is the folder in which Linux lists this process's threads and their tracers. If
	// empty, it is /proc/self/task.
	Tasks string
}

// Run carries the call of a hook process and returns its exit code, 0 or 2.
// args are the flags without the program's name.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	c := Courier{Stdin: stdin, Stdout: stdout, Stderr: stderr, Env: env}
	return c.Run(args)
}

func (c *Courier) tasks() string {
	if c.Tasks == "" {
		return tasks
	}
	return c.Tasks
}

const (
	firstWait = 50 * time.Millisecond
	lastWait  = time.Second
	promptly  = 20 * time.Millisecond
)

// Run does what the function Run does. The process must exit when it returns, because a read of
// standard input that never ends cannot be interrupted.
func (c *Courier) Run(args []string) (exit int) {
	var o options
	defer func() {
		if p := recover(); p != nil {
			exit = c.leave(o, o.blocked(panicked))
		}
	}()
	// Writing to a closed pipe must return an error instead of killing the process: the exit
	// code still has to be set.
	signal.Ignore(syscall.SIGPIPE)

	if text := askedByAPerson(args); text != "" {
		_, _ = io.WriteString(c.Stdout, text)
		return 0
	}
	o, err := parseFlags(args)
	if err != nil {
		return c.leave(o, o.blocked("the approver hook is not set up correctly, so the call was stopped: "+err.Error()))
	}
	if err := tracedFirst(c.tasks()); err != nil {
		return c.leave(o, o.blocked(err.Error()))
	}
	deadline := time.Now().Add(o.deadline)
	answered := make(chan blocking.Answer, 1)
	var asked atomic.Bool
	go func() {
		defer func() {
			if p := recover(); p != nil {
				answered <- o.blocked(panicked)
			}
		}()
		a, err := c.carry(o, deadline, &asked)
		if err != nil {
			a = o.blocked(err.Error())
		}
		answered <- a
	}()
	return c.leave(o, c.wait(o, answered, deadline, &asked))
}

// wait returns the answer, or a blocking answer on the deadline, a signal, or the end of the
// agent, whichever comes first. The end of the agent is noticed within look.
//
// Handling signals takes a fifth of this program's whole run time, in switches between threads.
// Agents send signals only when their hook timeout expires, which is seconds away. So wait
// starts to handle them only if there is no answer within promptly.
func (c *Courier) wait(
	o options, answered <-chan blocking.Answer, deadline time.Time, asked *atomic.Bool,
) blocking.Answer {
	select {
	case a := <-answered:
		return a
	case <-time.After(promptly):
	}
	signals := make(chan os.Signal, 1)
	// SIGXCPU comes before the hard CPU limit kills the process.
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGXCPU)
	defer signal.Stop(signals)
	tick := time.NewTicker(look)
	defer tick.Stop()
	over := time.After(time.Until(deadline))
	for {
		select {
		case a := <-answered:
			return a
		case <-over:
			if !asked.Load() {
				return o.blocked("the approver hook waited " + o.deadline.String() +
					" for the end of its input, which is the call, so the call was stopped")
			}
			return o.blocked(late(o))
		case s := <-signals:
			return o.blocked("the approver hook was stopped by a signal (" + s.String() +
				") before there was an answer, so the call was stopped")
		case <-tick.C:
			if readerGone(c.Stdout) { // the process exits, and the request ends with it
				return o.blocked(unread)
			}
		}
	}
}

const panicked = "the approver hook failed (a panic), so the call was stopped; please report it"

func late(o options) string {
	return "approver had no answer within " + o.deadline.String() +
		", so the call was stopped; the user can see why with approver status"
}

// A trouble is a failed attempt, with the text for the agent.
type trouble struct {
	text    string
	again   bool   // another attempt may succeed
	reached bool   // a daemon was there
	cure    string // how to start the daemon
}

func (t *trouble) Error() string { return t.text }

// carry sends the call to the daemon and retries where that may help. It sets asked once it has
// read the whole call.
func (c *Courier) carry(o options, deadline time.Time, asked *atomic.Bool) (blocking.Answer, error) {
	report := facts.IsReport(o.agent, o.event)
	payload, cut, err := readPayload(c.Stdin, report, facts.Of(o.agent).Returned)
	if err != nil {
		return blocking.Answer{}, err
	}
	asked.Store(true)
	env, err := selectEnv(c.Env)
	if err != nil && !report { // a report is not judged by its environment
		return blocking.Answer{}, err
	}
	id, err := newCallID()
	if err != nil {
		return blocking.Answer{}, err
	}
	giveUp := time.Now().Add(o.connectTimeout)
	if report { // the call has run: recording it is worth all of the time
		giveUp = deadline
	}
	parkAt := o.parkAt(time.Now(), deadline)
	alone := facts.IsAlone(o.agent, func(name string) string { return lookup(c.Env, name) })
	reached := false
	for pause := firstWait; ; pause = min(2*pause, lastWait) {
		started := time.Now()
		a, t := c.try(o, call{id, env, payload, cut, deadline, parkAt, alone})
		if t == nil {
			return a, nil
		}
		lost := reached && !t.reached // there was a daemon, and now there is none
		reached = reached || t.reached
		switch now := time.Now(); {
		case !t.again:
			return a, t
		case !now.Add(pause).Before(deadline) && lost:
			return a, errors.New("approver stopped while it had the call, and was not back within " + o.deadline.String() +
				", so the call was stopped; " + t.cure)
		case !now.Add(pause).Before(deadline), !reached && now.Add(pause).After(giveUp):
			return a, t
		case now.Sub(started) > lastWait:
			pause = firstWait // the daemon held the call: most likely it restarts
		}
		time.Sleep(pause)
	}
}

// try makes one attempt, on a connection of its own.
func (c *Courier) try(o options, call call) (blocking.Answer, *trouble) {
	path, trust, err := c.socket(o)
	if err != nil {
		return blocking.Answer{},
			&trouble{text: "the approver hook found no socket to ask on, so the call was stopped: " + err.Error()}
	}
	conn, t := dial(path, trust)
	if t != nil {
		return blocking.Answer{}, t
	}
	defer conn.Close()
	if err := conn.SetDeadline(call.deadline); err != nil {
		return blocking.Answer{},
			&trouble{text: "the approver hook cannot bound its time (" + err.Error() + "), so the call was stopped"}
	}
	// A daemon that refuses a call answers before it has read all of it, so an answer may exist
	// even if the write failed.
	_, writeErr := conn.Write(call.request(o.agent, o.event))
	a, ack, err := readReply(conn)
	if ack {
		// Do not accept a yes that cannot be delivered.
		if readerGone(c.Stdout) {
			return blocking.Answer{}, &trouble{text: unread, reached: true}
		}
		if err := readable(c.Stdout); err != nil {
			return blocking.Answer{}, &trouble{text: unwritten + " (" + err.Error() + ")", reached: true}
		}
		// Acknowledge before printing: an answer that the agent may have seen must not be given
		// again. If the acknowledgment is lost, the daemon repeats the answer for some seconds.
		acknowledge(conn, call)
	}
	var strange oddError
	switch {
	case err == nil:
		return a, nil
	case errors.As(err, &strange):
		// A report is of a call that has run, so it is sent until it is accepted; see carry.
		again := string(strange) == refusals["503"] && facts.IsReport(o.agent, o.event)
		return blocking.Answer{}, &trouble{text: string(strange), again: again, reached: true}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return blocking.Answer{}, &trouble{text: late(o), reached: true}
	case writeErr != nil:
		err = writeErr
	}
	return blocking.Answer{}, &trouble{
		text: "approver hung up without an answer (" + err.Error() + ") at every try within " + o.deadline.String() +
			", so the call was stopped; its log says why",
		again: true, reached: true,
	}
}

// socket returns the socket to connect to, and a check of the uid that listens there.
func (c *Courier) socket(o options) (path string, trust func(uid uint32) error, err error) {
	file := c.PinFile
	if file == "" {
		file = socketpath.PinFile
	}
	pin, pinned, err := socketpath.ReadPin(file, c.PinOwner)
	switch {
	case err != nil:
		return "", nil, err
	case pinned && o.socket != "" && o.socket != pin.Socket:
		return "", nil, errors.New("--socket names " + o.socket + " but " + file + " pins " + pin.Socket)
	case pinned:
		return pin.Socket, func(uid uint32) error {
			if uid != pin.UID {
				return errors.New("the listener on " + pin.Socket + " runs as uid " + strconv.FormatUint(uint64(uid), 10) +
					", not as the one that " + file + " pins")
			}
			return nil
		}, nil
	}
	if path = o.socket; path == "" {
		dir, err := socketpath.Dir(lookup(c.Env, "HOME"))
		if err != nil {
			return "", nil, err
		}
		path = dir + "/" + socketpath.Submit
	}
	return path, func(uid uint32) error { return socketpath.Trust(path, uid) }, socketpath.Check(path)
}

// newCallID returns 128 random bits in hex. It reads /dev/urandom itself: crypto/rand would
// double the number of packages that the program initializes.
func newCallID() (string, error) {
	const digits = "0123456789abcdef"
	var random [wire.CallLength / 2]byte
	fd, err := syscall.Open("/dev/urandom", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err == nil {
		var n int
		if n, err = syscall.Read(fd, random[:]); n != len(random) && err == nil {
			err = io.ErrUnexpectedEOF
		}
		_ = syscall.Close(fd)
	}
	if err != nil {
		return "", errors.New("the approver hook got no random number (" + err.Error() + "), so the call was stopped")
	}
	id := make([]byte, 0, wire.CallLength)
	for _, b := range random {
		id = append(id, digits[b>>4], digits[b&0xf])
	}
	return string(id), nil
}
