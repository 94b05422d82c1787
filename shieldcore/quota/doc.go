// Package quota bounds how often the tiers evaluate calls, and how many Tier 2
// evaluations, each of which costs money, there are on one day.
//
// # Rate limits
//
// [Quota.Evaluate] takes one token out of each of three token buckets: one for the agent
// (the connecting uid and the name that it claims), one for the uid with all its names,
// and one for all agents together. If one of them is empty, the call is refused at once;
// nothing is queued. An agent can claim names, but not a uid, so more names do not give
// it more tokens.
//
// # Daily budget
//
// [Quota.Spend] takes Tier 2 evaluations out of the budget of the day before they
// run. The day is the one of the store's clock in UTC.
//
// # Replicas
//
// The records are in an approver.KV and change by compare-and-set, so all replicas with
// one store share them. Calls of one process that come while a record is written share
// its next write. Processes contend with each other: their rate cannot exceed the rate of
// durable writes of one record. A call that has waited 2 s is refused.
//
// # Files
//
// Read config.go, quota.go (its stage puts the limits before another one), bucket.go
// (rates), day.go (the budget) and record.go (how a record is changed) in this order;
// asks.go counts the questions to people in the same way.
//
// # Refusals
//
// A call is refused for an empty bucket, a spent budget, a store that does not answer, a
// record that cannot be read, an unknown caller, and by the zero value. No setting lets
// the call through instead.
package quota
