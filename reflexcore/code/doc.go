// Package code says what short programs would do, without running them: the code of `python -c`,
// `node -e`, `perl -ne`, an awk or sed script, a PowerShell line.
//
// [Scan] splits the source into tokens with a lexer that knows the language's strings and comments,
// so that a dangerous word in a string, a message or a comment is only data. A small evaluator then
// goes over the tokens from left to right. It follows constants through variables, concatenation,
// interpolation, decoders, aliases of modules, and functions of the code itself. It takes every
// branch. It looks up each called function in a table (apis/) of what the language's functions do. A
// function that is in no table does nothing.
//
// The result is effects and payloads: a line for the shell, the words of a command, code in another
// language. An unknown part is effect.Unknown. A dangerous function that is reached in a way that
// cannot be resolved is opaque. So is code that passes on a function which starts programs, because
// its later calls cannot be seen. Everything is bounded, and exceeding a bound gives one opaque
// Found.
//
// # Reading order
//
//   - code.go has the types of the API, and [Scan] in scan.go chooses the evaluator.
//   - machine.go is the evaluator of most languages. dialect.go and dialects.go say how these
//     differ, and package lex splits them into tokens. Statements are in statement.go and
//     loops.go, expressions in expr.go, primary.go and postfix.go, functions in function.go and
//     params.go, calls in call.go, arguments.go and apply.go, imports in imports.go, code inside
//     texts in interpolate.go, and Perl's <STDIN> in perl_input.go. awk.go, sed.go, batch.go and
//     powershell.go have evaluators of their own.
//   - actions.go lists what a row of the tables makes the machine do, and fold.go what it
//     computes. api.go loads the tables, table.go searches them, and invocation.go has the call of
//     a row.
//   - The evaluators share cursor.go (the tokens), scope.go (variables), escapes.go (functions
//     that are not followed), programs.go and pipe.go (programs and their input), bare.go (command
//     lines that run their input), resources.go (files and hosts), inputs.go, workdir.go,
//     report.go and budget.go.
//   - value.go and text.go have the values.
package code
