package otherlang

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// appleScript finds what AppleScript tells programs to do: delete, run typed text, send, stop. Its
// verbs are English words, so they are searched for outside of texts and comments. shellCalls has
// its ways into a shell.
func (f *finder) appleScript() {
	app := ""
	for line := range strings.Lines(f.src) {
		words, texts := statement(line)
		if at := strings.Index(words, "tell app"); at >= 0 {
			if n := strings.Count(words[:at], `""`); n < len(texts) {
				app = strings.ToLower(texts[n])
			}
		}
		for _, found := range effectsOf(words, texts, app) {
			found.By = "osascript"
			f.found(found)
		}
	}
}

// statement splits a line into its words, in lower case and with "" for each text, and its texts.
func statement(line string) (words string, texts []string) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '"':
			text, _ := untilQuote(line[i+1:], '"')
			texts = append(texts, text)
			b.WriteString(`""`)
			i += len(text) + strings.Count(text, `"`) + 1
		case strings.HasPrefix(line[i:], "--"):
			return b.String(), texts
		default:
			b.WriteByte(line[i])
		}
	}
	return strings.ToLower(b.String()), texts
}

// effectsOf returns the effects of one statement that is sent to an app; app may be empty.
func effectsOf(words string, texts []string, app string) []shell.Found {
	var out []shell.Found
	say := func(kind effect.Kind, target, what string, bits effect.Bits) {
		out = append(out, shell.Found{Effect: effect.Effect{Kind: kind, Target: target, What: what, Bits: bits}})
	}
	last := effect.Unknown
	if len(texts) > 0 {
		last = texts[len(texts)-1]
	}
	verb := func(list ...string) bool {
		for _, v := range list {
			if _, after, ok := strings.Cut(" "+words, " "+v); ok && (after == "" || strings.IndexByte(" \n\"", after[0]) >= 0) {
				return true
			}
		}
		return false
	}
	switch {
	case verb("do script", "write text"): // Terminal, iTerm
		out = append(out, shell.Found{Shell: last})
	case verb("keystroke", "key code"):
		say(effect.Exec, "keys", "typed", 0)
	case verb("empty trash", "empty the trash"):
		say(effect.Delete, effect.Unknown, "", effect.Recursive)
	case verb("delete", "move") && (verb("delete") || verb("to trash", "to the trash")):
		if app != "finder" && app != "system events" && app != "" {
			say(effect.RemoteDelete, "things of "+app, "", effect.Partial)
		} else if strings.HasPrefix(last, "/") {
			say(effect.Delete, last, "", effect.Recursive)
		} else {
			say(effect.Delete, effect.Unknown, "", effect.Recursive)
		}
	case verb("shut down", "restart", "log out"):
		say(effect.Kill, "host", "", 0)
	case verb("make login item", "make new login item"):
		say(effect.Persist, last, "", 0)
	case verb("send") && (app == "messages" || app == "mail"):
		say(effect.Publish, "email", "", 0)
	}
	for _, text := range texts {
		if strings.HasPrefix(strings.ToLower(text), "eppc://") { // the apps of another machine
			say(effect.Publish, text, effect.Elsewhere, 0)
		}
	}
	if verb("hidden answer") {
		say(effect.Attack, "person", "", 0)
	}
	if verb("with administrator privileges") {
		say(effect.Privilege, "root", "", 0)
	}
	return out
}
