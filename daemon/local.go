package daemon

import (
	"fmt"
	"slices"
	"strconv"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/display"
	"approver.example/httpapi"
)

// A localChannel is a channel whose people are users of this machine. They watch and answer
// over the resolve socket.
type localChannel interface {
	approver.Channel
	approver.Taker
	httpapi.Resolver
	// Watching returns how many terminals watch now: those of people whose answers
	// count, and others.
	Watching(counting approver.People) (count, others int)
	// NotTaken returns why the channel takes no answer to a request, and what to do instead;
	// empty if it takes answers.
	NotTaken(request string) string
}

// localOf returns the local channel among the channels, or nil.
func localOf(channels []approver.Channel) localChannel {
	for _, c := range channels {
		if local, is := c.(localChannel); is {
			return local
		}
	}
	return nil
}

// localIdentity returns the account of a user of this machine.
func localIdentity(uid uint32) approver.Identity {
	id, _ := broadcaster.Owner()
	id.ID = strconv.FormatUint(uint64(uid), 10)
	return id
}

// isLocal reports whether an account is one of this machine.
func isLocal(id approver.Identity) bool { return id.Channel == localIdentity(0).Channel }

// An audience says who could answer now on the channels of a daemon.
type audience struct {
	channels  []approver.Channel
	approvers *broadcaster.Approvers
}

// watchers returns how many terminals watch a channel: those of people whose answers count,
// and others. The count is nil for a channel that is not local.
func (a audience) watchers(c approver.Channel) (count *int, others int) {
	local, is := c.(localChannel)
	if !is {
		return nil, 0
	}
	n, others := local.Watching(a.approvers.Counting())
	return &n, others
}

// chats returns the names of the channels that are not local.
func (a audience) chats() (names []string) {
	for _, c := range a.channels {
		if _, local := c.(localChannel); !local {
			names = append(names, c.Name())
		}
	}
	return names
}

// onlyUnwatched returns the reason if every channel is local and nobody whose answers count
// watches; else it is empty.
func (a audience) onlyUnwatched() (why string) {
	for _, c := range a.channels {
		switch n, others := a.watchers(c); {
		case n == nil, *n > 0:
			return ""
		case others > 0:
			why = "nobody whose answers count watches the terminal"
		default:
			why = "nobody watches the terminal"
		}
	}
	return why
}

// notTaken returns why no answer to a request is taken on this machine, and what to do
// instead; empty if answers are taken, or there is no local channel.
func (a audience) notTaken(request string) string {
	if local := localOf(a.channels); local != nil {
		return local.NotTaken(request)
	}
	return ""
}

// takesHere reports whether an approval of a request of this severity is taken on this
// machine.
func (a audience) takesHere(s approver.Severity) bool {
	local := localOf(a.channels)
	return local != nil && local.Takes(s)
}

// ownerAnswers reports whether root of this machine can answer here in the usual way.
func (a audience) ownerAnswers(s approver.Severity) bool {
	id, _ := broadcaster.Owner()
	_, counts := a.approvers.Counting()[id]
	return counts && a.takesHere(s)
}

// OutOfReach returns a line, with a cure, for each approver on this machine whom the
// configuration lists but the resolve socket refuses. daemon is the uid that the daemon runs
// as.
func OutOfReach(cfg configs.Config, daemon uint32) (lines []string) {
	who, err := cfg.Sockets.Submitters()
	if err != nil {
		return nil // told as a problem of the configuration
	}
	for id, person := range cfg.People() {
		uid, err := strconv.ParseUint(id.ID, 10, 32)
		if !isLocal(id) || err != nil {
			continue
		}
		name := display.OneLine(approver.SelfPerson(id.Channel, id.ID))
		if person.ID != approver.SelfPerson(id.Channel, id.ID) {
			name += " (" + display.OneLine(person.ID) + ")"
		}
		if submits, err := who.Has(uint32(uid)); who.Named() && (err != nil || submits) {
			lines = append(lines,
				fmt.Sprintf("%s is on the approver list and cannot answer: uid %d may submit calls, and who asks must not "+
					"answer. Let it be one of the two", name, uid))
			continue
		}
		if uid != 0 && uint32(uid) != daemon && !slices.Contains(cfg.Sockets.ResolveUIDs, uint32(uid)) {
			lines = append(lines,
				fmt.Sprintf("%s is on the approver list and cannot answer: the daemon admits no watch of uid %d. Add %[2]d to "+
					"sockets.resolve_uids, and restart the daemon", name, uid))
		}
	}
	slices.Sort(lines)
	return lines
}
