// Package fingerprint finds out what an approval is bound to: the files that a call
// executes, or reads as code or as settings that decide what happens, with their
// content. What was shown to people is then what runs, or nothing runs.
//
// Which files these are is not read from the text here. It comes from the one walk
// of package reflexcore, which expands variables, braces, quotes and aliases and
// follows sudo, find -exec, xargs and sh -c. This package adds what only the disk can
// tell: where PATH and links lead, what a pattern matches, and which files a tool
// reads without being told (the table in tools.go).
//
// Bound are:
//
//   - the program of each command, as PATH leads to it, and each script that it gets;
//   - each file that a word names, unless the command only writes it, or only shows
//     it to the agent: a log that grows stays approvable;
//   - what a pattern matches, as a list, so that a further match changes it;
//   - for tools that read a folder, such as make, npm, terraform and kubectl, the files
//     of that folder, and those that these files name;
//   - of shell scripts, what they run by a name that is plain to see;
//   - what settings find through a search path or in a working folder, in each place where
//     it may lie, and the programs that settings start.
//
// Of a folder with more than 4096 files, or 64 MiB, not the content is bound, but what the
// kernel says of each file: device, inode, size, rights, and the times of the last changes.
// That shows each write, rename, link and change of rights, since no plain user can set the
// time of the last change back. The disk is brought up to date first, so that a write through a
// shared mapping shows, too (not on macOS); if it takes more than 2 s for that, the folder has a
// name. It does not show what root does with the clock or below the file system; and a file that
// is written again as it was counts as changed.
// It holds where the kernel itself sets these times: elsewhere, beyond 200,000 entries, and
// after 2 s, the folder has a name.
//
// What is executed and cannot be bound has a name for people: a program whose name
// is not known, a package of a registry, what another host runs, a file that cannot
// be read, a folder that is too large. Such a call is approved for one run only.
//
// No bound of this package ends in silence: what is not read, not parsed or not followed
// further is an error, which denies, or has a name ("what Makefile runs").
//
// # Reading order
//
// The files stand in layers; each uses those below it.
//
//   - binder.go: [Binder], the limits of time, and where the work for one call begins;
//   - pass.go, words.go, effects.go, codeless.go, written.go: what the commands and effects of one walk bind;
//   - shown.go, flows.go, makes.go, ownfiles.go: where the data of a walk goes, and what its commands write;
//   - tools.go, with its table in tooltable.go: which files a program reads without being told;
//   - a reader for each kind of file: git.go (gitplaces.go, gitconfig.go, gitcall.go), golang.go (gotree.go,
//     gomodule.go, gofile.go), recipes.go (makefile.go, makecode.go, makevalues.go), packages.go (manifest.go),
//     compose.go, images.go, clusters.go, terraform.go, interpreter.go, java.go, compilers.go, queries.go, fetched.go,
//     identities.go and, for settings of any language, refers.go (named.go, loads.go);
//   - program.go, follow.go, reader.go, callstate.go: what all readers know. follow.go is the one place that leads
//     back to the top: a text that a file runs is walked as the call itself is;
//   - package disk: what is bound of the disk, once for each call.
package fingerprint
