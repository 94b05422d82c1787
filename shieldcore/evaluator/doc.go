// Package evaluator is Tier 2: a language model of its own that is asked whether
// one call is safe to run. An [Evaluator] is a stage.
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
// ALLOW, BLOCK or ESCALATE and canary is the canary. A payload that takes the
// model over has to repeat a number that it cannot see. Everything else that comes
// back is a BLOCK, whatever fail mode is configured.
//
// # What the answer means
//
//   - BLOCK denies.
//   - ESCALATE asks people.
//   - ALLOW is a Pass: no objection. It never turns another part's ask or deny into
//     less. Where the model saw only a part of the call, or says itself that it is
//     not sure, ALLOW asks people.
//
// A provider that cannot be reached, is out of time, limits the rate or fails by
// itself is an [UnavailableError]. What that means is the gate's to decide. Only
// these are errors: whatever the payload could bring about on purpose, such as an
// answer that is cut short, refused or filtered, is a BLOCK.
package evaluator
