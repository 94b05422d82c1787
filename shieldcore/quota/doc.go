// Package quota bounds how often the tiers evaluate calls, and how many Tier 2
// evaluations, each of which costs money, there are on one day.
//
// # Rate limits
//
// [Quota.Evaluate] takes one token out of three token buckets: that of the agent
// (the uid that connected and the name that it claims), that of the uid with all
// its names, and the one of all agents together. If one of them is empty, the call
// is refused at once; nothing is queued. An agent can claim names, but not a uid,
// so more names bring it no more tokens.
//
// # Daily budget
//
// [Quota.Spend] takes Tier 2 evaluations out of the budget of the day before they
// run. The day is the one of the store's clock in UTC.
//
// # Replicas
//
// Everything lies in an approver.KV and is changed by compare-and-set, so all
// replicas on one store share it. Each caller makes a write of its own, so there are no
// more evaluations in a second than the store makes durable writes of one record. Who
// has waited 2 s is refused.
//
// # Files
//
// Read config.go, quota.go (its stage puts the limits before another one), bucket.go
// (rates), day.go (the budget) and record.go (how a record is changed) in this order;
// asks.go counts the questions to people in the same way.
//
// # What refuses
//
// An empty bucket, a spent budget, a store that does not answer, a record that
// cannot be read, somebody unknown, and the zero value. There is no setting that
// lets a call through instead.
package quota
