package main

import (
	"encoding/json"
	"os"
	"runtime/debug"

	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
)

type versionCmd struct {
	JSON bool `help:"Print one JSON object."`
}

// Run prints the version, the revision and the Go version of the build.
func (c versionCmd) Run() error {
	out := struct {
		Version  string `json:"version"`
		Revision string `json:"revision,omitempty"`
		Go       string `json:"go"`
	}{Version: adminapi.BuildVersion()}
	if info, ok := debug.ReadBuildInfo(); ok {
		out.Go = info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				out.Revision = s.Value
			}
		}
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(out)
	}
	term.Print(0, "approver %s %s %s\n", out.Version, out.Revision, out.Go)
	return nil
}
