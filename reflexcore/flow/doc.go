// Package flow says which data may go where. It has labels of data, sinks that data can reach, and a
// matrix that allows each flow, escalates it to people, or blocks it.
//
// The labels are a chain, the simplest lattice of Denning ("A Lattice Model of Secure Information
// Flow", 1976): combined data has the highest of its labels ([Join]). A label says how much harm it
// does if others know the data. Whether data can be trusted (Biba's integrity) is judged elsewhere,
// by the taint "network".
//
// There are two matrices. The first is for data that a call carries itself: data that goes through
// files and programs, and not through the model, keeps its own label, as in CaMeL (Debenedetti et
// al., "Defeating Prompt Injections by Design", 2025). The second is for what the session has read
// before: an agent's action is judged by everything that its model has read, not only by the
// arguments, as in FIDES (Costa et al., "Securing AI Agents with Information-Flow Control", 2025).
//
// The package is pure: it reads no file and stores nothing. The zero value of each type is its
// strictest.
package flow
