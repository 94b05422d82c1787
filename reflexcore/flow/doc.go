// Package flow says which data may go where: labels of data, sinks that data can
// reach, and a matrix of both that allows, escalates to people, or blocks.
//
// The labels are a chain, the simplest lattice of Denning ("A Lattice Model of
// Secure Information Flow", 1976): what is made of several data has the highest
// label among them ([Join]). They say how much harm there is in others knowing the
// data; whether data can be trusted (Biba's integrity) is judged elsewhere, by the
// taint "network". That what an agent does is judged by the label of all that its
// model has seen, and not only by what the arguments hold, follows FIDES (Costa et
// al., "Securing AI Agents with Information-Flow Control", 2025); that data which
// goes through files and programs, and not through the model, keeps its own label,
// follows CaMeL (Debenedetti et al., "Defeating Prompt Injections by Design", 2025).
// So there are two matrices: one for data that a call carries itself, and one for
// what the session has seen before.
//
// The package is pure: it looks at no file and remembers nothing. The zero value of
// each type is its strictest.
package flow
