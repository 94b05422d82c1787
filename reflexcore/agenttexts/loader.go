package agenttexts

import "approver.example/reflexcore/content"

// A loader finds the files of one call.
type loader struct {
	r   *Reader
	dir string // where the agent is
	// project is the folder in which the agent was started, of which it has the skills
	// wherever it is. Empty: it does not say, or another agent is started.
	project string
	plugin  string // the folder of the plugin that is looked at
	args    string
	typed   bool                     // in the words of a command, where a path looks the same
	from    int                      // of its effects
	budget  int                      // files and folders that are still looked at
	done    map[string]content.Front // files that are there
	names   []string                 // of skills and agents that were looked for already
	tried   []string                 // others that the name may be
	agent   bool                     // the name is that of an agent
	wanted  []string                 // what may be the name
	found   bool                     // a file that may have it is there
	certain bool                     // a file has it, and no other one can take its place
	begun   bool                     // the agent is one that a command starts with

	added     []string // folders beside the project, in which more is found
	elsewhere bool     // texts of folders that are not known here are loaded, too
}
