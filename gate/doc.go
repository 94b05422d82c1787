// Package gate is the only way from a call to a verdict: every stage judges, the strictest
// finding wins, what needs people is put before them, and every verdict is in the audit
// before it is returned.
//
// Read gate.go first; tiers.go says how far up a call has to go and what becomes of it where
// a tier is missing or fails, appeal.go how people are asked about a denial, and turns.go how
// users share the processors.
package gate
