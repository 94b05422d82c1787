package agents

import (
	"fmt"
	"strings"
)

// The rules know a tool of an MCP server as mcp__SERVER__TOOL. An agent that does not say the server
// has unknownServer in its place, so that no policy for a server is about it.
const unknownServer = "unknown"

// mcpName returns the name that the rules know. A server must not have two underscores in its name:
// then a policy for one server could be about a tool of another.
func mcpName(server, tool string) (string, error) {
	if server == "" || tool == "" || strings.Contains(server, "__") {
		return "", fmt.Errorf("the MCP server %s and its tool %s have no names that can be told apart", quote(server),
			quote(tool))
	}
	return "mcp__" + server + "__" + tool, nil
}

// isServerTool reports whether the rules know a tool as one of an MCP server.
func isServerTool(tool string) bool { return strings.HasPrefix(tool, "mcp__") }
