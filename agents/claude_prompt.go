package agents

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"approver.example"
)

// A Prompt is the question that an agent is about to ask its own user. The zero value is left to the
// agent's own dialog.
type Prompt struct {
	// Asks says that the question can be put before other people: their yes or no is an answer to it.
	Asks bool
	// Choices are what a yes may mean beyond this one call.
	Choices []approver.Choice

	updates []json.RawMessage // of the choices, as the agent wrote them
}

// update returns what the agent is to remember with a choice, exactly as it was shown.
func (p *Prompt) update(c approver.Choice) (json.RawMessage, error) {
	i := -1
	if p != nil {
		i = slices.Index(p.Choices, c)
	}
	if i < 0 || i >= len(p.updates) {
		return nil, errors.New("the choice that was made is not one that the agent offers, so the call was stopped")
	}
	return p.updates[i], nil
}

// claudeInPlan are the tools about which people can be asked while Claude Code makes a plan: they
// change nothing, or end the plan mode. Questions about other tools stay in its own dialog. Measured
// with 2.1.330: it refuses to write in plan mode even after a hook's yes.
const claudeInPlan = "ExitPlanMode Read Glob Grep LS NotebookRead WebFetch WebSearch"

// claudeAnswers are the tools whose question wants more than a yes: only Claude Code's own dialog can
// take that answer.
const claudeAnswers = "AskUserQuestion"

// claudeGivesBack are the tools that need their input in a yes. Without it, Claude Code 2.1.330 goes
// on asking in its own dialog.
const claudeGivesBack = "ExitPlanMode"

// claudeAsks reads what Claude Code is about to ask. Suggestions that are not understood exactly are not
// offered, so the call is then for once only.
func claudeAsks(ev Event, o object) (p Prompt) {
	p.Asks = !hasWord(claudeAnswers, ev.Call.Tool) && (ev.Mode != "plan" || hasWord(claudeInPlan, ev.Call.Tool))
	var all []json.RawMessage
	if !p.Asks || ev.Mode == "plan" || json.Unmarshal(o["permission_suggestions"], &all) != nil {
		return p
	}
	transcript, _, _ := o.text("transcript_path") // it is among the user's settings
	for _, raw := range all {
		choice, ok := claudeChoice(raw, []string{ev.Call.Dir, transcript})
		if ok && len(p.Choices) < approver.MaxChoices && !slices.Contains(p.Choices, choice) {
			p.Choices, p.updates = append(p.Choices, choice), append(p.updates, raw)
		}
	}
	return p
}

// A claudeUpdate is an entry of permission_suggestions, and of updatedPermissions in an answer. The
// types are those of the schemas in Claude Code 2.1.330.
type claudeUpdate struct {
	Type        string       `json:"type"`
	Rules       []claudeRule `json:"rules"`
	Behavior    string       `json:"behavior"`
	Mode        string       `json:"mode"`
	Directories []string     `json:"directories"`
	Destination string       `json:"destination"`
}

type claudeRule struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent"`
}

// claudeKept are the places where Claude Code keeps a permission, and how a card names them.
// Everything else, such as cliArg, is not offered.
var claudeKept = map[string]string{
	"session":         "until this session ends",
	"localSettings":   "kept in .claude/settings.local.json of the project",
	"projectSettings": "kept in .claude/settings.json of the project, for everybody who works on it",
	"userSettings":    "kept in ~/.claude/settings.json, for all projects of this user",
}

// claudeUpdateKeys are the keys that an entry of a type may have. Another key could widen it.
var claudeUpdateKeys = map[string]string{
	"addRules":       "type rules behavior destination",
	"setMode":        "type mode destination",
	"addDirectories": "type directories destination",
}

// claudeChoice returns an entry of permission_suggestions as a choice. ok is false for one that is not
// offered: it is not understood exactly, is too long for a card, switches questions off altogether, or
// opens the agent's or approver's own settings, or a folder around one of the paths in within.
func claudeChoice(raw json.RawMessage, within []string) (c approver.Choice, ok bool) {
	entry, err := parseObject(raw)
	var u claudeUpdate
	if err != nil || json.Unmarshal(raw, &u) != nil || !wellFormed(raw) {
		return c, false
	}
	for key := range entry {
		if !hasWord(claudeUpdateKeys[u.Type], key) {
			return c, false
		}
	}
	what := ""
	switch u.Type {
	case "addRules":
		what, ok = u.rules(entry, within)
		c.Detail = "claude asks no more about " + what
	case "setMode":
		what, ok = u.Mode, u.Mode == "acceptEdits" && u.Destination == "session"
		c.Detail = "claude asks no more about edits and simple file commands in the project (mode acceptEdits)"
	case "addDirectories":
		what, ok = u.directories(within)
		c.Detail = "claude works in " + what + " as in the project"
	}
	kept, known := claudeKept[u.Destination]
	c.Detail += ": " + kept
	c.Label = claudeLabel(u.Destination, what)
	return c, ok && known && len(c.Detail) <= approver.MaxChoiceDetail
}

// claudeLabel is the text of a button: where it is kept, and what, as far as that fits.
func claudeLabel(where, what string) string {
	label := where + ": " + what
	if len(label) > approver.MaxChoiceLabel {
		return where
	}
	return label
}

// claudeWholeTools are tools of which a rule may allow every use: they have no content to limit it to.
const claudeWholeTools = "WebSearch"

// rules writes the rules of an addRules as Claude Code's settings have them. A rule for a whole tool is
// only taken for one tool of an MCP server.
func (u claudeUpdate) rules(entry object, within []string) (text string, ok bool) {
	var raw []object
	if u.Behavior != "allow" || len(u.Rules) == 0 || json.Unmarshal(entry["rules"], &raw) != nil {
		return "", false
	}
	var all []string
	for i, r := range u.Rules {
		for key := range raw[i] {
			if key != "toolName" && key != "ruleContent" {
				return "", false
			}
		}
		content := strings.Trim(strings.TrimPrefix(r.Content, "domain:"), `*?[]{}!\:/.~ `)
		if !isToolName(r.Tool) || content == "" && !wholeTool(r) || opensSettings(r.Content) ||
			hasWord(claudePaths, r.Tool) && leadsAround(r.Content, within) {
			return "", false
		}
		if r.Content == "" {
			all = append(all, r.Tool)
			continue
		}
		all = append(all, r.Tool+"("+r.Content+")")
	}
	return strings.Join(all, ", "), true
}

// wholeTool reports whether a rule without a content may be offered.
func wholeTool(r claudeRule) bool {
	parts := strings.Split(r.Tool, "__")
	one := len(parts) >= 3 && parts[0] == "mcp" && parts[1] != "" && strings.Join(parts[2:], "") != ""
	return r.Content == "" && (one || hasWord(claudeWholeTools, r.Tool))
}

// claudePaths are the tools whose rules are about paths.
const claudePaths = "Read Edit Write MultiEdit NotebookEdit NotebookRead Glob Grep LS"

// leadsAround reports whether the path pattern of a rule may be about a folder around one of these paths.
// Two slashes stand for the root, ~ for the home, and everything else is relative.
func leadsAround(pattern string, within []string) bool {
	folder := pattern
	if i := strings.IndexAny(pattern, `*?[{!\`); i >= 0 {
		folder = pattern[:strings.LastIndexByte(pattern[:i], '/')+1]
	}
	if slices.Contains(strings.Split(pattern, "/"), "..") {
		return true
	}
	if rest, ok := strings.CutPrefix(folder, "~"); ok { // which folder that is, is not known here
		rest = filepath.Clean("/" + rest)
		return rest == "/" || slices.ContainsFunc(within, func(path string) bool {
			return strings.Contains(filepath.Clean(path), rest+"/")
		})
	}
	return strings.HasPrefix(folder, "//") && isAround(folder, within)
}

// isAround reports whether a folder is the root, or around one of these paths.
func isAround(folder string, within []string) bool {
	folder = filepath.Clean(folder)
	return folder == "/" || slices.ContainsFunc(within, func(path string) bool {
		return strings.HasPrefix(filepath.Clean(path), folder+"/")
	})
}

// directories writes the folders of an addDirectories. A folder around the project is more than the
// call is about.
func (u claudeUpdate) directories(within []string) (text string, ok bool) {
	for _, d := range u.Directories {
		if !filepath.IsAbs(d) || isAround(d, within) || opensSettings(d) {
			return "", false
		}
	}
	return strings.Join(u.Directories, ", "), len(u.Directories) > 0
}

// opensSettings reports whether a permission is about folders that decide what agents may do.
func opensSettings(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, ".claude") || strings.Contains(text, ".approver") ||
		strings.Contains(text, "approver-hook")
}

// prompted writes the yes to a question.
func (o *claudeOutput) prompted(ev Event, choice approver.Choice, input json.RawMessage) error {
	o.Specific.Prompt = &claudePrompt{Behavior: "allow", Input: input}
	if input == nil && hasWord(claudeGivesBack, ev.Call.Tool) {
		o.Specific.Prompt.Input = ev.Call.Args
	}
	if choice == (approver.Choice{}) {
		return nil
	}
	update, err := ev.Prompt.update(choice)
	o.Specific.Prompt.Permissions = []json.RawMessage{update}
	return err
}
