package broadcaster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"approver.example"
	"approver.example/display"
)

// A Who identifies the calls of one user's agent in one project, and those of its session in
// every folder. The session is the agent's own claim, so it only adds calls.
type Who struct {
	Peer    approver.Peer `json:"peer"` // its pid does not count
	Agent   string        `json:"agent"`
	Project string        `json:"project"` // a folder
	Session string        `json:"session,omitempty"`
}

// Is reports whether a call is one of these.
func (w Who) Is(call approver.ToolCall) bool {
	if call.Control != "" || w.Agent != call.Agent || w.Peer.Known != call.Peer.Known || w.Peer.UID != call.Peer.UID {
		return false
	}
	return w.Session != "" && shortSession(w.Session) == shortSession(call.Session) || inFolder(w.Project, call.Dir)
}

// inFolder reports whether dir is project or inside it, by whatever name: with dots, through
// links, or as another mount of the same folder. If this process cannot look, the names count.
// A folder below /proc counts as inside every project, because it can lead anywhere.
func inFolder(project, dir string) bool {
	if clean := filepath.Clean(dir); below(filepath.Clean(project), clean) || below("/proc", clean) {
		return true
	}
	project, dir = resolved(project), resolved(dir)
	if below(project, dir) {
		return true
	}
	held, err := os.Stat(project)
	if err != nil {
		return false
	}
	for ; ; dir = filepath.Dir(dir) {
		if at, err := os.Stat(dir); err == nil && os.SameFile(held, at) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// resolved is a path without links, as far as this process can tell.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// below reports whether a folder is project or inside it.
func below(project, dir string) bool {
	project = strings.TrimSuffix(project, "/")
	return dir == project || strings.HasPrefix(dir, project+"/")
}

// bounded shortens the texts. It never selects fewer calls.
func (w Who) bounded() Who {
	w.Session = shortSession(w.Session)
	if len(w.Project) > maxProject {
		w.Project = "/"
	}
	return w
}

// sameAgent reports whether both are the agent of the same user.
func (w Who) sameAgent(other Who) bool { return w.Agent == other.Agent && w.Peer == other.Peer }

// says is String for a text in somebody's language.
func (w Who) says() display.Message {
	if w.Peer.Known {
		return display.Msg("%s in %s of uid %d", w.Agent, w.Project, w.Peer.UID)
	}
	return display.Msg("%s in %s", w.Agent, w.Project)
}

// String describes the calls for people, in one line. Agents name their folders themselves, so
// it masks.
func (w Who) String() string {
	who := display.SafeLine(w.Agent) + " in " + display.SafeLine(w.Project)
	if w.Peer.Known {
		who = fmt.Sprintf("%s of uid %d", who, w.Peer.UID)
	}
	return who
}
