package courier

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"approver.example/httpapi/socketpath"
	"approver.example/httpapi/wire"
)

type options struct {
	agent, event   string
	deadline       time.Duration
	socket         string
	connectTimeout time.Duration
}

const (
	// patientDeadline is for agents whose own default hook timeout is 600 s, and
	// defaultDeadline for all others: Copilot's, the shortest known, is 30 s.
	patientDeadline = 290 * time.Second
	defaultDeadline = 25 * time.Second
	minDeadline     = time.Second
	maxDeadline     = 24 * time.Hour
	defaultConnect  = 5 * time.Second
)

// parseFlags reads the flags. With an error, the options still hold the agent
// and the event if they were given, for the form of the blocking answer.
func parseFlags(args []string) (options, error) {
	o := options{connectTimeout: defaultConnect}
	seen := map[string]bool{}
	var problem error
	for len(args) > 0 {
		name, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		if !joined && len(args) > 0 {
			value, args = args[0], args[1:]
			joined = true
		}
		err := o.set(name, value, joined)
		if err == nil && seen[name] {
			err = errors.New("the flag " + name + " is given twice")
		}
		seen[name] = true
		if problem == nil {
			problem = err
		}
	}
	if problem == nil && o.agent == "" {
		problem = errors.New("the flag --agent is missing: name the agent that runs the hook, such as --agent claude")
	}
	switch {
	case o.deadline != 0:
	case o.agent == "claude":
		o.deadline = patientDeadline
	default:
		o.deadline = defaultDeadline
	}
	return o, problem
}

func (o *options) set(name, value string, given bool) (err error) {
	switch name {
	case "--agent", "--event", "--deadline", "--socket", "--connect-timeout":
	default:
		return errors.New("the flag " + strconv.Quote(name) + " is not known; known are --agent, --event, --deadline, --socket and --connect-timeout")
	}
	if !given || value == "" {
		return errors.New("the flag " + name + " has no value")
	}
	switch name {
	case "--agent":
		if !wire.IsAgent(value) {
			return errors.New("the flag --agent " + strconv.Quote(value) + " is not a name of lower-case letters, digits, - and _")
		}
		o.agent = value
	case "--event":
		o.event = value
	case "--deadline":
		o.deadline, err = duration(name, value, minDeadline)
	case "--socket":
		o.socket = value
		if err := socketpath.Check(value); err != nil {
			return errors.New("the flag --socket: " + err.Error())
		}
	case "--connect-timeout":
		o.connectTimeout, err = duration(name, value, 0)
	}
	return err
}

func duration(name, value string, least time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < least || d > maxDeadline {
		return 0, errors.New("the flag " + name + " " + strconv.Quote(value) + " is not a time from " + least.String() + " to " + maxDeadline.String() + ", such as 130s")
	}
	return d, nil
}
