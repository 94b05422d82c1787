// Package evaluator is Tier 2: it asks a separate language model whether one call is
// safe to run. An [Evaluator] is a stage.
//
// # The inverted context
//
// The model is told that it is not the agent. It gets a system prompt that is
// compiled in, and one message with the kinds of the action, the tool and its
// arguments as one line of JSON. It gets no identity, no history, no tools, no
// working directory, no user, and not the agent's own description of what it is
// doing. Secrets are masked before the line leaves the machine.
//
// # What counts as an answer
//
// The system prompt holds a canary: 32 random bytes as hex, new for each request.
// The answer must be exactly one JSON object with the members decision,
// confidence, reason and canary, each once and of its type, where decision is
// ALLOW, BLOCK or ESCALATE and canary is the canary. A payload that takes over the
// model would have to repeat a number that it cannot see. Any other answer is a
// BLOCK, whatever fail mode is configured.
//
// # What the answer means
//
//   - BLOCK denies.
//   - ESCALATE asks people.
//   - ALLOW is a Pass: no objection. It never loosens another stage's ask or deny. If
//     the model saw only a part of the call, or has low confidence, ALLOW asks people.
//
// If a provider cannot be reached, times out, limits the rate or fails by itself, the
// error is an [UnavailableError], and the gate decides. Only these are errors. Any
// outcome that a payload could cause on purpose, such as an answer that is cut short,
// refused or filtered, is a BLOCK.
package evaluator
