package configs

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"approver.example/channels/telegram"
	"approver.example/internal/secret"
	"approver.example/internal/strictyaml"
)

// The story: a daemon with a user of its own reads a configuration that belongs
// to the agent's user, who names himself as an approver.
func TestTrusted(t *testing.T) {
	for _, tt := range []struct {
		owner uint32
		euid  int
		want  bool
	}{{0, 0, true}, {0, 1000, true}, {1000, 1000, true}, {1001, 1000, false}, {1000, 0, false}, {1<<32 - 1, -1, false}} {
		if got := trusted(tt.owner, tt.euid); got != tt.want {
			t.Errorf("owner %d, running as %d: %v", tt.owner, tt.euid, got)
		}
	}
}

// An error of a section is shown at the setting that its text is about.
func TestLocate(t *testing.T) {
	keys := strictyaml.Keys(reflect.TypeFor[telegram.Config]())
	for text, want := range map[string]problem{
		"telegram: chats[3]: bad":            {"channels.telegram.chats[3]", "telegram: chats[3]: bad"},
		"telegram: chats[3].id: bad":         {"channels.telegram.chats[3].id", "telegram: chats[3].id: bad"},
		"telegram: no token: set token_file": {"channels.telegram.token", "telegram: no token: set token_file"},
		"approvers[0] id \"token\" is bad": {"channels.telegram.approvers[0]",
			"telegram: approvers[0] id \"token\" is bad"},
		"telegram: something is wrong":            {"channels.telegram", "telegram: something is wrong"},
		"telegram: the token_files are not there": {"channels.telegram", "telegram: the token_files are not there"},
	} {
		if got := locate("channels.telegram", keys, errors.New(text)); got != want {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

func TestFlatten(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	got := flatten([]error{nil, errors.Join(a, errors.Join(b, nil)), c})
	if !reflect.DeepEqual(got, []error{a, b, c}) {
		t.Errorf("got %v", got)
	}
}

// A channel that was added to the configuration is asked for everything, and is
// copied before it is changed.
func TestEveryChannelIsListed(t *testing.T) {
	var c Channels
	v := reflect.ValueOf(&c).Elem()
	before := map[string]any{}
	for i := range v.NumField() {
		v.Field(i).Set(reflect.New(v.Field(i).Type().Elem()))
		before[v.Type().Field(i).Tag.Get("yaml")] = v.Field(i).Interface()
	}
	list := c.InUse()
	if len(list) != v.NumField() {
		t.Errorf("%d of %d channels are listed", len(list), v.NumField())
	}
	for _, ch := range list {
		if before[ch.Name] != any(ch.ChannelSection) {
			t.Errorf("%s is not the section of that name", ch.Name)
		}
	}
	own(&c)
	for _, ch := range c.InUse() {
		if before[ch.Name] == any(ch.ChannelSection) {
			t.Errorf("%s is not copied", ch.Name)
		}
	}
	if n := len(new(Channels).InUse()); n != 0 {
		t.Errorf("%d channels are in use of none", n)
	}
}

// The story: a fifth channel gets a setting by which more answers count, nobody puts it
// into the list of what takes people's yes, and an edit of the file has it in force.
func TestASettingThatNobodyThoughtOfWaits(t *testing.T) {
	fifth := struct {
		Server    string   `yaml:"server"`
		Open      bool     `yaml:"open,omitempty"`
		Places    []string `yaml:"places"`
		Level     int
		Rooms     []string          `yaml:"rooms" held:"no"`
		Key       secret.Text       `yaml:"key"`
		Isolated  bool              `yaml:"-"`
		Left      string            `yaml:"left"`
		Names     map[string]string `yaml:"names"`
		forgotten bool
	}{
		Server: "https://u:hunter2@x", Open: true, Places: []string{"a", "b"}, Level: 3, Rooms: []string{"r"},
		Key: secret.New("hunter2"), Isolated: true, Names: map[string]string{"a": "b"}, forgotten: true,
	}
	var lines []string
	on := heldSettings("channels.fifth", &fifth)
	for _, a := range on {
		lines = append(lines, a.line)
	}
	want := []string{
		"channels.fifth.server: https://u:xxxxx@x", "channels.fifth.open: true", "channels.fifth.places: a",
		"channels.fifth.places: b",
		"channels.fifth.level: 3", "channels.fifth.key: <secret>", "channels.fifth.names: map[a:b]",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
	held(on, []string{"channels.fifth.places: b"})
	if fifth.Server != "" || fifth.Open || !slices.Equal(fifth.Places, []string{"b"}) || fifth.Level != 0 ||
		!fifth.Key.IsZero() || fifth.Names != nil ||
		len(fifth.Rooms) != 1 || !fifth.Isolated || !fifth.forgotten {
		t.Errorf("%+v", fifth)
	}
}

// The story: a channel gets a second token, which stands in a configuration that
// all can read, and nothing is said because the section forgot to name it.
func TestEverySecretIsNamed(t *testing.T) {
	var c Channels
	fill(&c)
	total := 0
	for _, ch := range c.InUse() {
		named := map[string]secret.Setting{}
		v := reflect.ValueOf(ch.ChannelSection).Elem()
		for i := range v.NumField() {
			if v.Type().Field(i).Type == reflect.TypeFor[secret.Text]() {
				v.Field(i).Set(reflect.ValueOf(secret.New("hunter2")))
			}
		}
		for _, s := range ch.Secrets() {
			named[s.Name] = s
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			if v.Type().Field(i).Type != reflect.TypeFor[secret.Text]() {
				if s, ok := named[strings.TrimSuffix(name, "_file")]; ok && any(s.File) != v.Field(i).Addr().Interface() {
					t.Errorf("%s: %s is not the file of its secret", ch.Name, name)
				}
				continue
			}
			total++
			if named[name].Value.IsZero() || named[name].File == nil {
				t.Errorf("%s: %s is not among the secrets", ch.Name, name)
			}
			if got := (Config{Channels: c}).inlineSecret(); got == "" {
				t.Errorf("%s: %s is not seen", ch.Name, name)
			}
		}
	}
	if total < 4 {
		t.Errorf("only %d secrets", total)
	}
}
