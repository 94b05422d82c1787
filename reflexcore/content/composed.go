package content

import (
	"path"
	"strings"

	"github.com/goccy/go-yaml"

	"approver.example/reflexcore/effect"
)

// serviceDepth is how deep the services of a compose file lie: services, and their names.
const serviceDepth = 2

// isCompose reports whether a document describes all of the containers that compose starts. A file with
// another name than the usual one is read together with others, which may publish ports.
func (x *extractor) isCompose() bool {
	name := strings.TrimPrefix(path.Base(x.path), "docker-")
	return name == "compose.yaml" || name == "compose.yml"
}

// publishes reports whether a service of compose may be reached from other machines: it publishes a port
// to more than this machine, has no network of its own, or takes settings from elsewhere.
func publishes(service yaml.MapSlice) bool {
	for _, item := range service {
		switch item.Key {
		case "network_mode", "extends", "<<", "pid":
			return true
		case "ports":
			list, ok := item.Value.([]any)
			if !ok {
				return true
			}
			for _, v := range list {
				if port, ok := v.(string); !ok || !effect.IsLoopbackPort(port) {
					return true
				}
			}
		}
	}
	return false
}
