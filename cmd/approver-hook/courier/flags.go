package courier

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"approver.example/agents/facts"
	"approver.example/httpapi/socketpath"
	"approver.example/httpapi/wire"
)

// Usage returns the help text for people.
func Usage() string {
	patience := strconv.Itoa(int(facts.Of(facts.Example()).Patience.Seconds())) + "s"
	return strings.NewReplacer("EXAMPLE", facts.Example(), "PATIENCE", patience).Replace(usage)
}

// usage is the help text. EXAMPLE and PATIENCE are placeholders for text that names agents.
const usage = `Reads an agent's hook payload on standard input, carries it to approver's
daemon, and leaves the agent's own answer: standard output, standard error,
exit code 0 or 2. On any failure that is the agent's blocking answer.

  --agent NAME           the agent's dialect, such as EXAMPLE (required)
  --event NAME           the hook's event, for the form of the blocking
                         answer; default: the event before a tool
  --deadline 290s        answer before this, 1s to 24h; keep it under the
                         hook's own time-out; default: PATIENCE for EXAMPLE
                         and most agents, else 25s
  --socket PATH          the daemon's submit socket; default:
                         /run/approver/submit.sock if that folder is there,
                         else ~/.approver/run/submit.sock
  --connect-timeout 5s   how long to look for a daemon that was never reached
  --park                 when nobody has answered 2s before the deadline, tell
                         the agent to run the same call again later; the
                         question stays open
  --park-after 0s        do that after this time; implies --park
  --help, --version      print this, or the version; each only as the one
                         argument

Example:
  approver hook --agent EXAMPLE --deadline 290s < payload.json
  approver-hook --agent EXAMPLE --deadline 290s < payload.json
`

// askedByAPerson returns the text to print if the only argument is --help or --version, which
// no hook passes, and otherwise the empty string.
func askedByAPerson(args []string) string {
	switch {
	case len(args) != 1:
	case args[0] == "--help":
		return Usage()
	case args[0] == "--version":
		// Reading the build's own version would add two packages to every start.
		file, err := os.Executable()
		if err != nil {
			file = "approver-hook"
		}
		return "approver's hook, asks at " + wire.HookPath + ", " + runtime.Version() +
			"; of its build tells: go version -m " + file + "\n"
	}
	return ""
}

type options struct {
	agent, event   string
	deadline       time.Duration
	socket         string
	connectTimeout time.Duration
	park           bool
	parkAfter      time.Duration // zero with park: parkMargin before the deadline, unless parkSet
	parkSet        bool
}

// parkMargin is the time that parking takes, before the courier's own deadline.
const parkMargin = 2 * time.Second

// parkAt returns when to tell the agent to come back later. Zero means never.
func (o options) parkAt(started, deadline time.Time) time.Time {
	last := deadline.Add(-parkMargin)
	switch at := started.Add(o.parkAfter); {
	case !o.park:
		return time.Time{}
	case o.parkSet && at.Before(last):
		return at
	}
	return last
}

const (
	// defaultDeadline is for agents whose patience is unknown: the shortest known hook timeout
	// is 30 s.
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
		if name == "--park" && !joined {
			value, joined = "yes", true
		}
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
		problem = errors.New("the flag --agent is missing: name the agent that runs the hook, such as --agent " +
			facts.Example())
	}
	if o.deadline == 0 {
		o.deadline = facts.Of(o.agent).Patience
	}
	if o.deadline == 0 {
		o.deadline = defaultDeadline
	}
	return o, problem
}

func (o *options) set(name, value string, given bool) (err error) {
	switch name {
	case "--agent", "--event", "--deadline", "--socket", "--connect-timeout", "--park", "--park-after":
	default:
		return errors.New("the flag " + strconv.Quote(name) +
			" is not known; known are --agent, --event, --deadline, --socket, --connect-timeout, --park and --park-after")
	}
	if !given || value == "" {
		return errors.New("the flag " + name + " has no value")
	}
	switch name {
	case "--agent":
		if !wire.IsAgent(value) {
			return errors.New("the flag --agent " + strconv.Quote(value) +
				" is not a name of lower-case letters, digits, - and _")
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
	case "--park":
		if value != "yes" {
			return errors.New("the flag --park takes no value; --park-after takes a time")
		}
		o.park = true
	case "--park-after":
		o.park, o.parkSet = true, true
		o.parkAfter, err = duration(name, value, 0)
	case "--connect-timeout":
		o.connectTimeout, err = duration(name, value, 0)
	}
	return err
}

func duration(name, value string, least time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < least || d > maxDeadline {
		return 0, errors.New("the flag " + name + " " + strconv.Quote(value) + " is not a time from " + least.String() +
			" to " + maxDeadline.String() + ", such as 130s")
	}
	return d, nil
}
