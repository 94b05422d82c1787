// Package disk binds files for one call: the content of files and folders, the targets of links, and
// the matches of patterns. It collects the names of what cannot be bound.
//
// # Reading order
//
//   - scan.go: [Scan], the work for one call, and how one file is bound;
//   - read.go: the text of a bound file;
//   - folderwalk.go, pathsearch.go: the files in folders, and in the folders of a PATH;
//   - glob.go, patterns.go: the matches of patterns;
//   - treewalk.go, trees.go: how folders are walked, and how large ones are bound;
//   - hash.go, disk.go, file*.go: hashes and metadata of files;
//   - environment.go, limits.go, shared.go: variables, bounds, and the cache that all calls share.
package disk
