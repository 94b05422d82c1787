package discordtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A command is one that the bot has registered.
type command struct {
	Type          int               `json:"type"`
	Name          string            `json:"name"`
	NameIn        map[string]string `json:"name_localizations"`
	Description   string            `json:"description"`
	DescriptionIn map[string]string `json:"description_localizations"`
	Options       []commandOption   `json:"options"`
}

type commandOption struct {
	Type          int               `json:"type"`
	Name          string            `json:"name"`
	NameIn        map[string]string `json:"name_localizations"`
	Description   string            `json:"description"`
	DescriptionIn map[string]string `json:"description_localizations"`
	Required      bool              `json:"required"`
	MinLength     *int              `json:"min_length"`
	MaxLength     *int              `json:"max_length"`
	Choices       []struct {
		Name   string            `json:"name"`
		NameIn map[string]string `json:"name_localizations"`
		Value  any               `json:"value"`
	} `json:"choices"`
}

const stringOption = 3

// isCommandName reports whether a command or an option may have a name. Letters that have a lower case must have it.
func isCommandName(name string) bool {
	n := utf8.RuneCountInString(name)
	return n >= 1 && n <= 32 && !strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("-_'", r) &&
			!unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.N, unicode.Devanagari, unicode.Thai)
	})
}

// locales are the languages of Discord's clients.
var locales = []string{"id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr", "it", "lt", "hu", "nl", "no",
	"pl", "pt-BR", "ro", "fi", "sv-SE", "vi", "tr", "cs", "el", "bg", "ru", "uk", "hi", "th", "zh-CN", "ja", "zh-TW", "ko"}

func (s *Server) postCommand(r *http.Request) (any, error) {
	var in command
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, errJSON
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.PathValue("app") != s.app || r.PathValue("guild") != s.guild {
		return nil, &apiError{status: 403, Code: 50001, Message: "Missing Access"}
	}
	if s.commands[in.Name] == nil && len(s.commands) >= 100 {
		return nil, &apiError{status: 400, Code: 30032, Message: "Maximum number of application commands reached (100)."}
	}
	s.commands[in.Name] = &in
	return map[string]any{"id": s.id(), "name": in.Name}, nil
}

// check keeps the limits of a command.
func (c command) check() error {
	if c.Type != 0 && c.Type != 1 {
		return invalid("type", "BASE_TYPE_CHOICES", "Only chat commands are known here.")
	}
	if err := checkTexts(c.Name, c.NameIn, c.Description, c.DescriptionIn); err != nil {
		return err
	}
	if len(c.Options) > 25 {
		return invalid("options", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	}
	names, optional, total := map[string]bool{}, false, len(c.Name)+len(c.Description)
	for _, o := range c.Options {
		if err := cmp.Or(checkTexts(o.Name, o.NameIn, o.Description, o.DescriptionIn), o.check()); err != nil {
			return err
		}
		switch {
		case names[o.Name]:
			return invalid("options", "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists")
		case o.Required && optional:
			return invalid("options", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
				"Required options must be placed before non-required options")
		}
		names[o.Name], optional = true, optional || !o.Required
		total += len(o.Name) + len(o.Description)
	}
	if total > 8000 {
		return invalid("options", "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)")
	}
	return nil
}

func (o commandOption) check() error {
	switch {
	case o.Type != stringOption:
		return invalid("options.type", "BASE_TYPE_CHOICES", "Only texts are known here.")
	case get(o.MinLength) < 0 || get(o.MinLength) > 6000,
		o.MaxLength != nil && (*o.MaxLength < 1 || *o.MaxLength > 6000):
		return invalid("options.max_length", "NUMBER_TYPE_MAX", "int value should be between 1 and 6000.")
	case len(o.Choices) > 25:
		return invalid("options.choices", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	}
	values := map[string]bool{}
	for _, c := range o.Choices {
		value, isText := c.Value.(string)
		if !isText || values[value] {
			return invalid("options.choices.value", "STRING_TYPE_CONVERT", "Could not interpret as a string of its own.")
		}
		values[value] = true
		err := cmp.Or(length("options.choices.name", c.Name, 1, 100), length("options.choices.value", value, 1, 100))
		for lang, name := range c.NameIn {
			err = cmp.Or(err, checkLocale(lang), length("options.choices.name_localizations", name, 1, 100))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkTexts keeps the limits of a name and a description, in every language.
func checkTexts(name string, nameIn map[string]string, does string, doesIn map[string]string) error {
	bad := !isCommandName(name)
	for lang, text := range nameIn {
		if err := checkLocale(lang); err != nil {
			return err
		}
		bad = bad || !isCommandName(text)
	}
	if bad {
		return invalid("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
	for lang, text := range doesIn {
		if err := cmp.Or(checkLocale(lang), length("description_localizations", text, 1, 100)); err != nil {
			return err
		}
	}
	return length("description", does, 1, 100)
}

func checkLocale(lang string) error {
	if !slices.Contains(locales, lang) {
		return invalid("localizations", "BASE_TYPE_CHOICES", "Unknown locale "+lang)
	}
	return nil
}

// Commands returns the names of the registered commands, in order, and what each does in a language of
// Discord's clients.
func (s *Server) Commands(lang string) (names []string, does map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	does = map[string]string{}
	for name, c := range s.commands {
		does[name] = cmp.Or(c.DescriptionIn[lang], c.Description)
	}
	return slices.Sorted(maps.Keys(does)), does
}

// Command runs a registered command as user; code is its first option, if it has one. It returns false if
// there is no such command.
func (s *Server) Command(user, conversation, name, code string) bool {
	s.mu.Lock()
	c := s.commands[name]
	s.mu.Unlock()
	switch {
	case c == nil || len(c.Options) == 0 && code != "":
		return false
	case code == "":
		return s.Invoke(user, conversation, name, nil)
	}
	return s.Invoke(user, conversation, name, map[string]string{c.Options[0].Name: code})
}

// Invoke runs a registered command with options as user. It returns false if Discord's client would not
// send it: there is no such command in that conversation, or the options are not those that it takes.
func (s *Server) Invoke(user, conversation, name string, options map[string]string) bool {
	s.mu.Lock()
	c, cmd := s.channels[conversation], s.commands[name]
	// A direct conversation has no commands of the guild.
	if c == nil || cmd == nil || s.users[user] == nil || c.GuildID == "" {
		s.mu.Unlock()
		return false
	}
	sent, left := []map[string]any{}, len(options)
	for _, o := range cmd.Options {
		text, given := options[o.Name]
		if given && !o.takes(text) || !given && o.Required {
			s.mu.Unlock()
			return false
		}
		if given {
			sent, left = append(sent, map[string]any{"type": o.Type, "name": o.Name, "value": text}), left-1
		}
	}
	if left > 0 {
		s.mu.Unlock()
		return false
	}
	data := map[string]any{"id": s.id(), "name": name, "type": 1}
	if len(sent) > 0 {
		data["options"] = sent
	}
	_, event := s.begin(kindCommand, user, c, nil, data)
	s.mu.Unlock()
	s.dispatch("INTERACTION_CREATE", func(*session) any { return event })
	return true
}

// takes reports whether the client lets a person send a text as an option.
func (o commandOption) takes(text string) bool {
	for _, c := range o.Choices {
		if c.Value == text {
			return true
		}
	}
	n := utf8.RuneCountInString(text)
	return len(o.Choices) == 0 && n >= max(get(o.MinLength), 1) && (o.MaxLength == nil || n <= *o.MaxLength)
}
