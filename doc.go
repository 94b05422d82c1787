// Package approver holds the words and the path of an approval service for AI
// agents.
//
// An agent is about to run a tool call. Its hook asks approver, which decides
// whether the call is plainly safe, plainly forbidden, or needs people:
//
//	native payload ─▶ ToolCall ─▶ stages ─▶ people ─▶ Verdict ─▶ native answer
//
// # The words
//
// A [ToolCall] is judged by each [Stage]; the strictest [Verdict] wins. A call
// that needs people becomes a [Request], shown as a [Card] on every [Channel].
// The first [Reply] of a person on the approver list becomes its [Resolution].
// Requests live in a [KV] and every step is a [Record] in the audit.
//
// # The path
//
// [Gate.Decide] is the only way from a call to a verdict. The [Broadcaster]
// puts a request before people and carries it to its end. The life of a request
// is a pure state machine, the methods of [Request].
//
// Every zero value denies.
package approver
