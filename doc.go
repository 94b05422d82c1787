// Package approver holds the words of an approval service for AI agents, and the
// contracts between its parts.
//
// An agent is about to run a tool call. Its hook asks approver, which decides
// whether the call is plainly safe, plainly forbidden, or needs people:
//
//	native payload ─▶ ToolCall ─▶ stages ─▶ people ─▶ Verdict ─▶ native answer
//
// # The words
//
// A [ToolCall] is judged by each [Stage]; the strictest [Verdict] wins: see [Combine]. A
// call that needs people becomes a request, shown as a [Card] on every [Channel].
// The first [Reply] of a person on the approver list becomes its [Resolution].
// Requests live in a [KV] and every step is a [Record] in the audit.
//
// # The path
//
// Package gate is the only way from a call to a verdict. Package broadcaster puts a
// request before people and carries it to its end.
//
// Every zero value denies.
package approver
