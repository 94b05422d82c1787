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
// resolved is opaque. So is code that hands on a function which starts programs: what
// calls it later is not seen here. Everything is bounded; over a bound comes one Found that is
// opaque.
//
// # Reading order
//
//   - code.go has the words of the package, scan.go begins: [Scan] picks the evaluator.
//   - machine.go is the evaluator of most languages; dialect.go and dialects.go say how
//     they differ, and package lex cuts their tokens. Its sentences are in statement.go,
//     loops.go, expr.go, primary.go, postfix.go, function.go, params.go and imports.go, the
//     calls in call.go, arguments.go and apply.go, texts with code in them in interpolate.go,
//     Perl's <STDIN> in perl_input.go. awk.go, sed.go, batch.go and powershell.go are the
//     languages that have an evaluator of their own.
//   - actions.go lists what a row of the tables makes the machine do, fold.go what it
//     computes; api.go loads the tables, table.go searches them, and invocation.go
//     has the call that a row is about.
//   - What the evaluators share is below: cursor.go (the tokens), scope.go (variables),
//     escapes.go (functions that are not followed), programs.go and pipe.go (programs and
//     their input), bare.go (command lines that run their input), resources.go
//     (files and hosts), inputs.go, workdir.go, report.go and budget.go.
//   - value.go and text.go hold what is known.
package code
