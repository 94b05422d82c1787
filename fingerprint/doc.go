// Package fingerprint computes what an approval is bound to: the content of the files that
// a call executes, or reads as code or as settings. So the files that run are those that
// were shown to people, or nothing runs.
//
// The analysis of the command comes from package reflexcore: its walk expands variables,
// braces, quotes and aliases, and follows sudo, find -exec, xargs and sh -c. This package
// adds what only the disk knows: where PATH and links lead, what a pattern matches, and
// which files a tool reads by default (the table in tools.txt).
//
// # What is bound
//
//   - The program of each command, found through PATH, and each script that it runs.
//   - Each file that a word names, unless the command only writes the file or only shows it
//     to the agent. So a growing log does not invalidate an approval.
//   - Where the links lead that are on the way to a file that is written or deleted.
//   - All files of a folder that is sent over the network.
//   - The list of files that a pattern matches, so that a new match changes the fingerprint.
//   - For tools that read a folder, such as make, npm, terraform and kubectl: the files of
//     that folder, and the files that those name.
//   - For shell scripts: the files that they run by a literal name.
//   - For settings: the files that they may find in a search path or working folder, in each
//     possible place, and the programs that they start.
//
// # Large folders
//
// For a folder with more than 4096 files, or 64 MiB, the kernel's metadata of each file is
// bound instead of the content: device, inode, size, mode and times of the last changes. A
// write, rename, link or change of mode changes it, because a plain user cannot set the
// change time back. Before that, the disk is synced, so that a write through a shared
// mapping shows too (not on macOS). A file that is rewritten with the same content counts
// as changed. Changes by root of the clock, or below the file system, do not show.
//
// The folder is reported as unbound if the kernel does not set these times itself, if it has
// more than 200,000 entries, or if this takes more than 2 s.
//
// # What cannot be bound
//
// Code that is executed and cannot be bound is reported to people by name: an unknown
// program, a package of a registry, a command on another host, a file that cannot be read, a
// folder that is too large. Such a call is approved for one run only.
//
// Every limit of this package has a visible effect: a file that is not read, not parsed or
// not followed further is an error, which denies, or it is reported ("what Makefile runs").
//
// # Reading order
//
// The files form layers; each uses those below it.
//
//   - binder.go: [Binder], its time limits, and the start of the work for one call;
//   - pass.go, words.go, effects.go, codeless.go, written.go: what the commands and effects of one walk bind;
//   - shown.go, flows.go, makes.go, ownfiles.go: where the data of a walk goes, and what its commands write;
//   - tools.go, with its table in tooltable.go: the files that a program reads by default;
//   - a reader for each kind of file: git.go (gitplaces.go, gitconfig.go, gitcall.go), golang.go (gotree.go,
//     gomodule.go, gofile.go), recipes.go (makefile.go, makecode.go, makevalues.go), packages.go (manifest.go),
//     compose.go, images.go, clusters.go, terraform.go, interpreter.go, java.go, compilers.go, queries.go, fetched.go,
//     identities.go and, for settings of any language, refers.go (named.go, loads.go);
//   - program.go, follow.go, reader.go, callstate.go: shared by all readers. Only follow.go leads back to the top: it
//     walks a text that a file runs like the call itself;
//   - argv.go, lists.go: words, and the lists of words in words.txt;
//   - package disk: the files and folders that one call binds.
package fingerprint
