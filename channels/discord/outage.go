package discord

import (
	"errors"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"approver.example"
)

// An outage knows whether answers arrive, and logs each cause of trouble once.
type outage struct {
	approver.ReceptionMeter
	log *slog.Logger

	mu     sync.Mutex
	causes []string // what was logged and is not over yet
	since  time.Time
}

// maxCauses bounds how many causes of one outage are logged.
const maxCauses = 16

// up notes that answers arrive. It logs that if the log says otherwise.
func (o *outage) up() {
	o.Succeeded()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.causes) > 0 {
		o.log.Info("Discord brings answers again", "after", time.Since(o.since).Round(time.Second))
	}
	o.causes = nil
}

// down notes that none arrive. A cause that was logged already is only counted.
func (o *outage) down(err error, again time.Duration) {
	o.Failed(err)
	o.mu.Lock()
	defer o.mu.Unlock()
	cause := causeOf(err)
	if slices.Contains(o.causes, cause) || len(o.causes) >= maxCauses {
		o.log.Debug("still not connected to Discord", "error", err, "again_in", again.Round(time.Millisecond))
		return
	}
	if len(o.causes) == 0 {
		o.since = time.Now()
	}
	o.causes = append(o.causes, cause)
	o.log.Warn("not connected to Discord", "error", err, "again_in", again.Round(time.Millisecond))
}

// causeOf names the cause of an error without what differs from one time to the
// next, such as a port or a wait.
func causeOf(err error) string {
	var api *apiError
	var op *net.OpError
	var ce *websocket.CloseError
	switch {
	case errors.As(err, &api):
		return "status " + strconv.Itoa(api.status) + " " + strconv.Itoa(api.code)
	case errors.As(err, &ce):
		return "close code " + strconv.Itoa(ce.Code)
	case errors.As(err, &op) && op.Err != nil:
		return op.Op + " " + op.Err.Error()
	}
	return err.Error()
}
