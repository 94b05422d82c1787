// Package broadcaster is the life of a request: a call that needs people is put before
// them on every channel at once, the first authorized answer wins, every card is brought
// up to date, and silence is a no. Everything that must survive a crash is in the store, so
// several processes may share one.
//
// A [Broadcaster] composes parts with one job each. Each part uses only those above it:
//
//	tasks         work in the background, which Run waits for (tasks.go)
//	records       writes to the store, with patience (records.go)
//	Channels      what each channel can do, and its health (channels.go, channelstate.go)
//	Controls      the record of freezes, pauses and removals (controls.go, controls_*.go, mark.go)
//	Approvers     whose answers count, and whom a request is for (approvers.go)
//	Request       the pure state machine (request.go, steps.go, after_release.go)
//	Requests      one record each, read, stepped and written by compare-and-set (requests.go)
//	Cards         what people see of a request (cards.go, texts.go)
//	endings       the last audit record of a request, once (endings.go)
//	editor        brings cards up to date (settle.go, counts.go, orphans.go)
//	poster        brings cards before people, again and again (poster.go, repost.go)
//	Controller    freezes, pauses, observe mode (controller.go, modes.go)
//	Grants        a yes that lasts, and whether a yes still counts (grants.go, grants_list.go)
//	Reports       what couriers report of released calls (reports.go)
//	releases      gives a yes to the courier (release.go)
//	opener        makes the request of a call, or finds it (open.go)
//	Answers       who says what, by which code (reply.go, locate.go, lockout.go)
//	Removals      removes approvers (removals.go)
//	sweeper       the clock for what nobody waits for (sweeper.go)
//	receivers     runs the channels (receivers.go)
//
// Read request.go and steps.go first: the state machine of a [Request] is pure. Then follow
// [Broadcaster.Ask] down: ask.go is the whole way, grants.go looks for a yes that lasts, open.go
// makes the request, requests.go stores it, poster.go posts its cards, and release.go gives the
// yes to the agent. Beside that way, reply.go takes an answer and settle.go ends the cards.
//
// Every zero value denies.
package broadcaster
