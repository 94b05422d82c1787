// Package gate is the only way from a call to a verdict: every stage judges, the strictest
// finding wins, what needs people is put before them, and every verdict is in the audit
// before it is returned, or, if the configuration says so, a moment later.
//
// Read gate.go first. tiers.go says which tiers have to judge a call and what happens if
// a tier is missing or fails, appeal.go how people are asked about a denial, and turns.go how
// users share the processors.
package gate
