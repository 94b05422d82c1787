package slack

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/intent"
	"approver.example/channels/internal/cards"
)

// The page of this channel says what its cards do.
func TestPage(t *testing.T) {
	labels := func(change func(*approver.Card)) (out []string) {
		card := testCard(t)
		change(&card)
		for _, b := range inBlocks.render(card, cards.Fresh).blocks {
			if a, ok := b.(*slack.ActionBlock); ok {
				for _, e := range a.Elements.ElementSet {
					out = append(out, e.(*slack.ButtonBlockElement).Text.Text)
				}
			}
		}
		return out
	}
	all := func(c *approver.Card) {
		c.Lasting, c.Extends, c.Disowns, c.Edits = "the very same call", true, true, true
	}
	channeltest.Buttons(t, Name, labels(all), labels(func(c *approver.Card) {
		all(c)
		c.Severity = approver.Catastrophic
	}))
	if want := fmt.Sprintf("at most %d bytes", maxBlocksJSON); !strings.Contains(channeltest.Page(t, Name), want) {
		t.Errorf("the page does not say %q", want)
	}
}

// needs are the bot scopes of each method of the Web API that the channel calls,
// as Slack documents them. The kinds of conversation are channels, groups and im.
var needs = map[string][]string{
	"auth.test":                    {},
	"views.open":                   {},
	"views.publish":                {},
	"file upload":                  {}, // to an address that Slack gave
	"chat.postMessage":             {"chat:write"},
	"chat.update":                  {"chat:write"},
	"chat.delete":                  {"chat:write"},
	"chat.postEphemeral":           {"chat:write"},
	"files.getUploadURLExternal":   {"files:write"},
	"files.completeUploadExternal": {"files:write"},
	"conversations.info":           {"channels:read", "groups:read", "im:read"},
	"conversations.history":        {"channels:history", "groups:history", "im:history"},
	"conversations.replies":        {"channels:history", "groups:history", "im:history"},
}

// methods are the methods of the Web API that the code names when it calls one.
func methods(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 3 {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || fun.Sel.Name != "call" {
				return true
			}
			lit, ok := call.Args[1].(*ast.BasicLit)
			if !ok {
				t.Errorf("%s: a call does not name its method", name)
				return true
			}
			method, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Error(err)
			}
			names = append(names, method)
			return true
		})
	}
	return names
}

// The manifest on the page gives the app what the code needs, and no more.
func TestManifest(t *testing.T) {
	_, text, ok := strings.Cut(channeltest.Page(t, Name), "```yaml\ndisplay_information:")
	text, _, closed := strings.Cut("display_information:"+text, "\n```")
	if !ok || !closed {
		t.Fatal("the page has no manifest")
	}
	var m struct {
		Display struct {
			Name        string `yaml:"name"`
			Description string `yaml:"description"`
		} `yaml:"display_information"`
		Features struct {
			Home struct {
				Home     bool `yaml:"home_tab_enabled"`
				Messages bool `yaml:"messages_tab_enabled"`
				ReadOnly bool `yaml:"messages_tab_read_only_enabled"`
			} `yaml:"app_home"`
			Bot struct {
				Name   string `yaml:"display_name"`
				Online bool   `yaml:"always_online"`
			} `yaml:"bot_user"`
			Commands []struct {
				Command     string `yaml:"command"`
				Description string `yaml:"description"`
				Hint        string `yaml:"usage_hint"`
				Escape      bool   `yaml:"should_escape"`
			} `yaml:"slash_commands"`
			Shortcuts []struct {
				Name        string `yaml:"name"`
				Type        string `yaml:"type"`
				ID          string `yaml:"callback_id"`
				Description string `yaml:"description"`
			} `yaml:"shortcuts"`
		} `yaml:"features"`
		OAuth struct {
			Scopes struct {
				Bot []string `yaml:"bot"`
			} `yaml:"scopes"`
		} `yaml:"oauth_config"`
		Settings struct {
			Events struct {
				Bot []string `yaml:"bot_events"`
			} `yaml:"event_subscriptions"`
			Interactivity struct {
				Enabled bool `yaml:"is_enabled"`
			} `yaml:"interactivity"`
			SocketMode bool `yaml:"socket_mode_enabled"`
			Org        bool `yaml:"org_deploy_enabled"`
			Rotation   bool `yaml:"token_rotation_enabled"`
		} `yaml:"settings"`
	}
	if err := yaml.UnmarshalWithOptions([]byte(text), &m, yaml.Strict()); err != nil {
		t.Fatalf("the manifest: %v", err)
	}

	scopes := []string{"commands"} // of the slash commands
	called := methods(t)
	for _, method := range called {
		needed, ok := needs[method]
		if !ok {
			t.Errorf("which scopes does %s need? add it to needs", method)
		}
		scopes = append(scopes, needed...)
	}
	// A message event comes for each kind whose history the bot may read.
	events := []string{"app_home_opened"}
	for _, scope := range scopes {
		if kind, ok := strings.CutSuffix(scope, ":history"); ok {
			events = append(events, "message."+kind)
		}
	}
	same := func(what string, got, want []string) {
		got, want = slices.Sorted(slices.Values(got)), slices.Compact(slices.Sorted(slices.Values(want)))
		if !slices.Equal(got, want) {
			t.Errorf("the %s are\n%v, needed are\n%v", what, got, want)
		}
	}
	same("listed methods", slices.Collect(maps.Keys(needs)), called)
	same("bot scopes", m.OAuth.Scopes.Bot, scopes)
	same("events", m.Settings.Events.Bot, events)

	var commands []string
	for _, c := range m.Features.Commands {
		commands = append(commands, c.Command)
		if c.Command == "/pair" { // no answer to a request
			if c.Escape || c.Description == "" {
				t.Errorf("the command %+v", c)
			}
			continue
		}
		in, err := intent.Parse(c.Command + " " + testCode(t).Reveal())
		if err != nil || in.Method != approver.ByCommand || in.Approve != (c.Command == "/approve") || c.Escape ||
			c.Description == "" {
			t.Errorf("the command %+v: %+v, %v", c, in, err)
		}
	}
	same("commands", commands, []string{"/approve", "/deny", "/pair"})
	var shortcuts []string
	for _, c := range m.Features.Shortcuts {
		shortcuts = append(shortcuts, c.Type+" "+c.ID)
		if c.Name == "" || len(c.Name) > 24 || c.Description == "" {
			t.Errorf("the shortcut %+v", c)
		}
	}
	same("shortcuts", shortcuts,
		[]string{"global " + pendingShortcut, "global " + freezeShortcut, "message " + detailsShortcut})
	if !m.Settings.SocketMode || !m.Settings.Interactivity.Enabled || m.Settings.Rotation || m.Settings.Org {
		t.Errorf("the manifest's settings: %+v", m.Settings)
	}
	if !m.Features.Home.Home || !m.Features.Home.Messages || m.Features.Home.ReadOnly || m.Features.Bot.Name == "" ||
		m.Display.Name == "" || len(m.Display.Description) > 140 {
		t.Errorf("the manifest's features: %+v, %+v", m.Features, m.Display)
	}
}
