package slack

import (
	"errors"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/slack-go/slack"

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
		o.log.Info("Slack brings answers again", "after", time.Since(o.since).Round(time.Second))
	}
	o.causes = nil
}

// down notes a connection that failed; deaf, that no other is open. A cause that was
// logged already is not logged again.
func (o *outage) down(err error, again time.Duration, deaf bool) {
	text := "one of the connections to Slack is lost"
	if deaf {
		o.Failed(err)
		text = "not connected to Slack"
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	cause := causeOf(err)
	if slices.Contains(o.causes, cause) || len(o.causes) >= maxCauses {
		o.log.Debug(text+", still", "error", err, "again_in", again.Round(time.Millisecond))
		return
	}
	if len(o.causes) == 0 {
		o.since = time.Now()
	}
	o.causes = append(o.causes, cause)
	o.log.Warn(text, "error", err, "again_in", again.Round(time.Millisecond))
}

// causeOf names the cause of an error without what differs from one time to the
// next, such as a port or a wait.
func causeOf(err error) string {
	if e, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[slack.StatusCodeError](err); ok {
		return "status " + strconv.Itoa(e.Code)
	}
	if _, ok := errors.AsType[approver.Patience](err); ok {
		return "rate limit"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Op + " " + op.Err.Error()
	}
	return err.Error()
}
