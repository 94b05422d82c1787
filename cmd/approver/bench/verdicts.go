package bench

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"approver.example/httpapi/wire"
)

// groupedAudit is the part of a configuration with which calls that pass are recorded in groups.
const groupedAudit = "audit: {sync: group}\n"

// verdicts measures calls that pass, from as many agents as there are workers.
func (b *bench) verdicts(ctx context.Context, d *daemon) (VerdictFigures, error) {
	f := VerdictFigures{Workers: b.workers}
	took := make([][]time.Duration, b.workers)
	var each bill
	var all time.Duration
	body := payload("ls -l", 0)
	err := each.charge(ctx, d, func() (int, error) {
		var n atomic.Int64
		start := time.Now()
		err := inParallel(b.workers, func(worker int) error {
			a := newAgent(d, body)
			for time.Since(start) < b.parallel {
				began := time.Now()
				if err := a.ask(); err != nil {
					return err
				}
				took[worker] = append(took[worker], time.Since(began))
				n.Add(1)
			}
			return nil
		})
		all = time.Since(start)
		return int(n.Load()), err
	})
	if err != nil {
		return f, err
	}
	laps := slices.Concat(took...)
	f.PerS, f.Each = float64(each.n)/all.Seconds(), each.cost()
	f.P50US, f.P99US = microseconds(quantile(laps, 0.5)), microseconds(quantile(laps, 0.99))
	return f, nil
}

// An agent sends one call again and again as couriers do: each time on a connection of its own, with
// other ids. Unlike package net/http it costs little beside the daemon, as couriers do.
type agent struct {
	socket  net.UnixAddr
	request []byte
	id      []byte // the part of the request with the call's id
	use     []byte // the part with the end of the agent's own id of the call
	answer  [4 << 10]byte
}

func newAgent(d *daemon, body []byte) *agent {
	env := "PATH=" + d.programs() + "\x00HOME=/home/dev\x00"
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: approver\r\nConnection: close\r\nContent-Length: %d\r\n%s: claude\r\n"+
		"%s: 60000\r\n%s: %d\r\n%s: ", wire.HookPath, len(env)+len(body), wire.Agent, wire.Deadline, wire.EnvBytes, len(env),
		wire.Call)
	at := b.Len()
	fmt.Fprintf(&b, "%032d\r\n\r\n%s%s", 0, env, body)
	a := &agent{socket: net.UnixAddr{Net: "unix", Name: d.Submit()}, request: b.Bytes()}
	a.id = a.request[at : at+wire.CallLength]
	a.use = a.request[bytes.LastIndex(a.request, []byte("toolu_bench"))+len("toolu_bench"):][:8]
	return a
}

// ask sends the call. Anything but a whole answer that lets it pass is an error.
func (a *agent) ask() error {
	var id [wire.CallLength / 2]byte
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	hex.Encode(a.id, id[:])
	copy(a.use, a.id)
	conn, err := net.DialUnix("unix", nil, &a.socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	if _, err := conn.Write(a.request); err != nil {
		return err
	}
	n, err := io.ReadFull(conn, a.answer[:]) // to the end: the daemon closes the connection
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("an answer of %d bytes or more: %w", n, err)
	}
	head, body, ended := bytes.Cut(a.answer[:n], []byte("\r\n\r\n"))
	if !ended || !bytes.HasPrefix(head, []byte("HTTP/1.1 200 OK\r\n")) ||
		!bytes.Contains(head, []byte("\r\n"+wire.Exit+": 0\r\n")) ||
		!bytes.Contains(head, []byte("\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n")) {
		return fmt.Errorf("the daemon answered: %s", a.answer[:n])
	}
	return nil
}
