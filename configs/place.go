package configs

import (
	"path/filepath"
	"strings"

	"approver.example/httpapi/socketpath"
	"approver.example/internal/secret"
	"approver.example/internal/strictyaml"
)

// A Place is where a daemon listens for people, as far as an invalid configuration shows it.
// The zero value is nowhere.
type Place struct {
	// File is the configuration, as an absolute path.
	File string
	// Socket is the resolve socket.
	Socket string
	// Sure says that the file names the socket, and that nobody but root and this user can
	// have written the file. Otherwise Socket is the default, which is a guess.
	Sure bool
}

// PlaceOf finds where the daemon of a configuration listens even if [Load] refuses that
// configuration: a running daemon goes on with what it read at its start, and its operator
// must reach it. A file that somebody else can have written is not read.
func PlaceOf(path string) (Place, error) {
	file, err := filepath.Abs(path)
	if err != nil {
		return Place{}, err
	}
	named, sure := "", false
	if data, _, err := readOwn("configuration", file, ""); err == nil {
		named, sure = SocketIn(data)
	}
	c := Default()
	c.Sockets.Resolve = named
	c, err = c.resolve(filepath.Dir(file), socketpath.Dir)
	return Place{File: file, Socket: c.Sockets.Resolve, Sure: sure}, err
}

// SocketIn returns the setting sockets.resolve of a configuration, unresolved, even if the
// text has mistakes elsewhere. ok is false if the text does not have it.
func SocketIn(text []byte) (resolve string, ok bool) {
	if resolve, ok, whole := socketIn(text); whole {
		return resolve, ok
	}
	// The text as a whole is not YAML. Its section sockets may be.
	var section strings.Builder
	found, inside := 0, false
	for line := range strings.Lines(string(text)) {
		if indented := strings.TrimLeft(line, " \t\r\n") != line || strings.HasPrefix(line, "#"); !indented {
			if inside = strings.HasPrefix(line, "sockets:"); inside {
				found++
			}
		}
		if inside {
			section.WriteString(line)
		}
	}
	if found != 1 {
		return "", false
	}
	resolve, ok, _ = socketIn([]byte(section.String()))
	return resolve, ok
}

// socketIn is SocketIn for a text that is YAML; whole reports whether it is.
func socketIn(text []byte) (resolve string, ok, whole bool) {
	f, err := strictyaml.Parse("configuration", text)
	if err != nil {
		return "", false, false
	}
	var c struct {
		Sockets Sockets `yaml:"sockets"`
	}
	f.Decode(&c)
	return c.Sockets.Resolve, f.Good("sockets.resolve") && c.Sockets.Resolve != "", true
}

// ReadOnce returns the absolute paths of the files, besides the configuration, that a daemon
// reads only at its start: those of tokens, passwords and certificates.
func (c Config) ReadOnce() (files []string) {
	for _, s := range c.secrets() {
		if *s.File != "" && secret.IsPath(*s.File) {
			files = append(files, *s.File)
		}
	}
	for _, s := range sections[storeSection](&c.Store) {
		at := s.Storage()
		for _, path := range at.Paths {
			if *path != "" && *path != at.File {
				files = append(files, *path)
			}
		}
	}
	return files
}
