// Package disk binds what lies on the disk for one call: the content of files and folders, where links
// lead, what patterns match, and the names of what cannot be bound.
//
// # Reading order
//
//   - scan.go: [Scan], the work for one call, and how one file is bound;
//   - read.go: the text of a bound file;
//   - folderwalk.go, pathsearch.go: what lies in folders, and in those of a PATH;
//   - glob.go, patterns.go: what patterns match;
//   - treewalk.go, trees.go: how folders are gone through, and how large ones are bound;
//   - hash.go, disk.go, file_*.go: hashes, and what the kernel says of a file;
//   - environment.go, limits.go, shared.go: values of variables, bounds, and what all calls have in common.
package disk
