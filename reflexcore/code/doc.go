// Package code says what short programs would do, without running them: the code
// of `python -c`, `node -e`, `perl -ne`, an awk or sed script, a PowerShell line.
//
// [Scan] cuts the source into tokens with a lexer that knows the language's
// strings and comments, so that a dangerous word in a string, a message or a
// comment is data. A small evaluator then walks over the tokens from left to
// right. It follows the constants through variables, concatenation, interpolation,
// decoders, aliases of modules and functions of the code itself, takes every
// branch, and looks each function that is called up in a table (apis/) of what the
// language's functions do. A function that it does not find does nothing.
//
// What comes out are effects, or payloads to go on with: a line for the shell, the
// words of a command, code in another language. A part that is not known stands as
// effect.Unknown, and a dangerous function that is reached in a way that cannot be
// resolved is opaque. Everything is bounded; over a bound comes one Found that is
// opaque.
package code
