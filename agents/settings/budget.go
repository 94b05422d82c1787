package settings

import (
	"fmt"
	"strings"
	"time"
)

// Grace is what the daemon needs after people's time is over: to commit, to record, and to answer.
const Grace = 10 * time.Second

// A Budget is how long each one waits for the answer about a call, from the outside in. Where an outer
// one gives up before an inner one, its own rule decides, and most agents then run the call.
type Budget struct {
	Agent   string        // its name
	Hook    time.Duration // then the agent gives up on the hook; zero: never
	Courier time.Duration // then the courier blocks the call, or says to come back if it parks
	Parks   bool
	People  time.Duration // the ttl
	Before  time.Duration // what an evaluator may take before people are asked
}

// Open says why a call could run without an answer; empty if it cannot.
func (b Budget) Open() string {
	if b.Hook == 0 || b.Hook > b.Courier && b.Courier > 0 {
		return ""
	}
	return fmt.Sprintf(
		"%s gives up on the hook after %s and can then run the call, and the courier blocks it only after %s",
		b.Agent, seconds(b.Hook), seconds(b.Courier))
}

// Short says why people have less time than they should; empty if they have it.
func (b Budget) Short() string {
	if b.Parks || b.Courier >= b.People+b.Before+Grace {
		return ""
	}
	return fmt.Sprintf(
		"the courier blocks a call after %s, and people need %s: the ttl of %s, %s for an evaluator, %s to answer",
		seconds(b.Courier), seconds(b.People+b.Before+Grace), seconds(b.People), seconds(b.Before), seconds(Grace))
}

// String returns the arithmetic on one line.
func (b Budget) String() string {
	parts := []string{b.Agent + " waits for the hook without end"}
	if b.Hook > 0 {
		parts[0] = b.Agent + " waits " + seconds(b.Hook) + " for the hook"
	}
	if b.Parks {
		return strings.Join(append(parts, "the courier says after "+seconds(b.Courier)+" to come back, while people have "+
			seconds(b.People)), " > ")
	}
	return strings.Join(append(parts, "the courier "+seconds(b.Courier),
		fmt.Sprintf("people %s + evaluator %s + answer %s",
			seconds(b.People), seconds(b.Before), seconds(Grace))), " > ")
}

func seconds(d time.Duration) string {
	if d > 0 && d < time.Second {
		return fmt.Sprintf("%g s", d.Seconds())
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}
