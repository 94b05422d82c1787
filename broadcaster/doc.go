// Package broadcaster asks people about calls, on every channel at once: the first answer wins.
// Each call is a request. An answer counts if its person is authorized. Silence is a no. When
// a request has ended, all its cards are updated. Everything that must survive a crash is in
// the store, so several processes may share one. Every zero value denies.
//
// # Where to start
//
// Read request.go and steps.go first: a [Request] is a pure state machine, and each step of
// it is one method. Then follow [Broadcaster.Ask], which takes six files:
//
//  1. ask.go is the whole way of a call, from its arrival to the answer for its agent.
//  2. grants.go looks for a yes that lasts. If there is one, nobody is asked.
//  3. open.go makes the request, or finds the one that the call is to wait for.
//  4. requests.go stores the request, and writes each of its steps by compare-and-set.
//  5. poster.go posts its cards.
//  6. release.go gives the yes to the agent; readyrelease.go does it in the commit of the answer.
//
// Meanwhile reply.go takes the answers of people, outcome.go says what became of each answer,
// and editor.go updates the cards.
//
// Stored requests are sealed by package sealing: stored_request.go is their record.
//
// # Parts
//
// A [Broadcaster] (broadcaster.go) composes parts with one job each. Every part has its [Options]
// (options.go), and uses only the parts above it:
//
//	tasks         work in the background, which Run waits for (tasks.go)
//	records       writes to the store, repeated while the store is away (records.go)
//	outbox        whose turn it is to be sent, where a platform takes only so much (outbox.go, lane.go, window.go)
//	Channels      what each channel can do, and its health (channels.go, channelstate.go)
//	Controls      the record of freezes, pauses and removals (controls.go, controls_*.go, mark.go)
//	Approvers     whose answers count, and whom a request is for (approvers.go)
//	Request       the pure state machine (request.go, callers.go, posting.go, steps.go)
//	Cards         what people see of a request (cards.go, texts.go)
//	codes         makes the codes of cards, and stores where each leads (codes.go)
//	Requests      one record each, read, stepped and written by compare-and-set (requests.go)
//	history       what the audit has to say of each request, which follows from its record (history.go)
//	handovers     the yeses that couriers of this process are about to get (handovers.go)
//	editor        updates cards (editor.go, live_cards.go, orphans.go)
//	uptime        since when this process and its store are available (uptime.go)
//	senders       which processes have something to send, and whose cards are left (senders.go)
//	poster        posts cards, and posts anew those that were lost (poster.go, delivery.go, repost.go)
//	escalator     takes requests up the ladder (ladder.go, and package ladder)
//	backlog       writes records to the audit that failed before (backlog.go)
//	Controller    freezes, pauses, observe mode (controller.go, modes.go)
//	Grants        a yes that lasts, and whether a yes still counts (grants.go, grants_list.go)
//	Reports       what couriers report of released calls (reports.go, pending_notes.go)
//	releases      gives a yes to the courier (release.go)
//	Environments  the environment that each session began with (environment.go)
//	opener        makes the request of a call, or finds it (open.go)
//	lockout       counts wrong codes (lockout.go)
//	alerts        tells people something that is no question (alerts.go)
//	digests       tells a chat how many requests wait for room in it (digest.go)
//	outages       tells people on the other channels that one is of no use (outages.go, outage.go)
//	Answers       takes answers, and says what became of them (reply.go, locate.go, leak.go,
//	              lostcard.go, outcome.go, said.go), and what else people want (wants.go, views.go, extend.go, disown.go)
//	Removals      removes approvers (removals.go)
//	sweeper       does what is due and nobody waits for (sweeper.go)
//	receivers     runs the channels, some in one process only (receivers.go, solo.go, lease.go, memory.go)
package broadcaster
