// Package broadcaster is the life of a request: a call that needs people is put before
// them on every channel at once, the first authorized answer wins, every card is brought
// up to date, and silence is a no. Everything that must survive a crash is in the store, so
// several processes may share one.
//
// A [Broadcaster] composes parts with one job each. Each part uses only those above it:
//
//	tasks         work in the background, which Run waits for (tasks.go)
//	records       writes to the store, with patience (records.go)
//	Channels      what each channel can do, and how it does (channelstate.go)
//	Approvers     whose answers count, and whom a request is for (approvers.go)
//	Requests      one record each, read, stepped and written by compare-and-set (requests.go)
//	Cards         what people see of a request (cards.go)
//	editor        brings cards up to date (settle.go, callers.go, stray.go)
//	poster        brings cards before people, again and again (delivery.go, retry.go, repost.go)
//	Controller    freeze, pause, observe mode (control.go, hold.go, pause.go, observe.go)
//	Grants        a yes that lasts, and whether a yes still stands (kept.go, grants.go, void.go)
//	Reports       what couriers tell of released calls (repeat.go, unnoted.go, fate.go)
//	releases      a yes on its way to the courier (release.go, repeat.go, withheld.go)
//	opener        makes the request of a call, or finds it (open.go, share.go, park.go)
//	Answers       who says what, by which code (reply.go, locate.go, strikes.go)
//	Removals      takes people away (removed.go)
//	sweeper       the clock for what nobody waits for (sweeper.go)
//	receivers     runs the channels (running.go, receiver.go)
//
// Read request.go first: the state machine of a [Request] is pure. Then broadcaster.go, from
// [Broadcaster.Ask] on: open.go makes the request, delivery.go posts its cards, reply.go takes
// an answer, release.go gives the yes to the agent, and settle.go ends it.
//
// Every zero value denies.
package broadcaster
