package adminapi

import (
	"runtime/debug"
)

// BuildVersion is the version of this build.
func BuildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
