package telegramtest

import (
	"encoding/json"
	"regexp"
	"slices"
	"unicode/utf8"
)

// A Command is one that a client offers. One that is aside is seen by nobody but its sender and the bot.
type Command struct {
	Name        string `json:"command"`
	Description string `json:"description"`
	Aside       bool   `json:"is_ephemeral"`
}

// commandKey is where and for whom commands are registered. Chat 0 is everywhere; no language is for
// people whose language has none.
type commandKey struct {
	chat     int64
	language string
}

const maxCommands = 100

var (
	commandForm  = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)
	languageForm = regexp.MustCompile(`^([a-z]{2})?$`)
)

func (s *Server) setMyCommands(p params) (any, error) {
	var list []Command
	if err := json.Unmarshal([]byte(p.Get("commands")), &list); err != nil {
		return nil, bad("can't parse commands JSON object")
	}
	if len(list) > maxCommands {
		return nil, bad("BOT_COMMANDS_TOO_MUCH")
	}
	for _, c := range list {
		if !commandForm.MatchString(c.Name) {
			return nil, bad("BOT_COMMAND_INVALID")
		}
		if n := utf8.RuneCountInString(c.Description); n < 1 || n > 256 {
			return nil, bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	scope := struct {
		Type string `json:"type"`
		Chat int64  `json:"chat_id"`
	}{Type: "default"}
	if err := p.read("scope", &scope); err != nil {
		return nil, err
	}
	key := commandKey{language: p.Get("language_code")}
	switch {
	case !languageForm.MatchString(key.language):
		return nil, bad("invalid language code specified")
	case scope.Type == "chat" && s.chats[scope.Chat] == nil:
		return nil, bad("chat not found")
	case scope.Type == "chat":
		key.chat = scope.Chat
	case scope.Type != "default":
		return nil, bad("unsupported type specified")
	}
	s.commands[key] = list
	return true, nil
}

// Commands returns what the client of somebody offers in a chat: the narrowest registration that fits.
func (s *Server) Commands(chat int64, language string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range []commandKey{{chat, language}, {chat, ""}, {0, language}, {0, ""}} {
		if list, ok := s.commands[key]; ok {
			return slices.Clone(list)
		}
	}
	return nil
}
