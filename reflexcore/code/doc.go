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
//   - code.go has the types of the API, and [Scan] in scan.go chooses the evaluator. awk.go, sed.go,
//     batch.go and powershell.go have evaluators of their own, and notebook.go has IPython's lines.
//   - dialects.go and dialect.go say how the other languages differ, and package lex splits them into
//     tokens. keywords.go says which statements begin with a keyword. Statements are in statement.go,
//     loops.go and assignments.go, imports in imports.go, expressions in expr.go, postfix.go,
//     arguments.go and primary.go, functions in function.go and params.go, calls in call.go,
//     changed.go and apply.go, and members and elements in members.go. Code inside texts is in
//     interpolate.go, other code inside code in evaluate.go, and Perl's <STDIN> in perl_input.go.
//   - machine.go has the state of the evaluator. Its parts are in resources.go (files and hosts),
//     escapes.go (functions that are not followed), programs.go and pipe.go (programs and their
//     input), bare.go (command lines that run their input), inputs.go, report.go (the findings),
//     workdir.go, scope.go (variables), cursor.go (the tokens), operators.go and budget.go.
//   - api.go loads the tables, table.go searches them, row.go has one fact of them, and invocation.go
//     the call of a function that they describe. actions.go lists what a row makes the machine do,
//     and fold.go what it computes.
//   - arg.go, value.go and text.go have the values.
package code
