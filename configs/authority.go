package configs

import (
	"cmp"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"approver.example"
)

// An authority is one setting that lets answers count or takes a protection away: its line for
// people, and the function that drops it from a configuration.
type authority struct {
	line string
	drop func()
}

// Authority returns, sorted and one line each, everything in the configuration that decides
// whose answers count: everybody on an approver list with the person they stand for, each
// setting that loosens which answers count or takes a protection away, what may let a call go
// without people (the evaluator and an open fail mode), and what lets one run before it is
// recorded. More lines loosen, fewer tighten. No line contains a secret.
func (c Config) Authority() []string {
	var lines []string
	for id, who := range c.People() {
		lines = append(lines, ApproverLine(id.Channel, id.ID, who.ID))
	}
	for _, a := range c.authorities() {
		lines = append(lines, a.line)
	}
	slices.Sort(lines)
	return lines
}

// ApproverLine is the line of [Config.Authority] for somebody on the approver list
// of a channel; without a person they stand for themselves.
func ApproverLine(channel, id, person string) string {
	if person == "" {
		person = approver.SelfPerson(channel, id)
	}
	return fmt.Sprintf("channels.%s.approvers: %s, person %q", channel, id, person)
}

// HeldTo returns the configuration without the settings whose line of [Config.Authority] is
// not granted: each is reset as if it were not set. The approver lists stay; see
// [Config.PeopleHeldTo].
func (c Config) HeldTo(granted []string) Config {
	own(&c.Channels)
	held(c.authorities(), granted)
	return c
}

// held drops the settings that are not granted.
func held(all []authority, granted []string) {
	for _, a := range all {
		if !slices.Contains(granted, a.line) {
			a.drop()
		}
	}
}

// authorities returns all settings that are set and need people's approval.
func (c *Config) authorities() []authority {
	on := append(c.Channels.authorities(), c.shieldAuthorities()...)
	on = append(on, c.webhookAuthorities()...)
	if c.Audit.Sync == SyncGroup {
		on = append(on, authority{"audit.sync: " + SyncGroup, func() { c.Audit.Sync = SyncBeforeAnswer }})
	}
	return on
}

// SettingWaits reports whether any of these lines of [Config.Authority] names a setting of the
// channel other than its approver list.
func SettingWaits(channel string, lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		setting, of := strings.CutPrefix(line, "channels."+channel+".")
		return of && !strings.HasPrefix(setting, "approvers: ")
	})
}

// PeopleHeldTo returns the approver list of all channels without those whose line
// of [Config.Authority] is not granted.
func (c Config) PeopleHeldTo(granted []string) approver.People {
	people := c.People()
	for id, who := range people {
		if !slices.Contains(granted, ApproverLine(id.Channel, id.ID, who.ID)) {
			delete(people, id)
		}
	}
	return people
}

// authorities returns the settings of all channels that are set and need people's approval.
func (c *Channels) authorities() (on []authority) {
	for _, ch := range c.InUse() {
		on = append(on, heldSettings("channels."+ch.Name, ch.ChannelSection)...)
	}
	return on
}

// heldSettings returns the settings of a section that are set and need people's approval: all
// whose field does not have the tag `held:"no"`, so that a setting that nobody thought of
// waits.
func heldSettings(name string, section any) (on []authority) {
	settings := reflect.ValueOf(section).Elem()
	for i := range settings.NumField() {
		field := settings.Type().Field(i)
		key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if !field.IsExported() || key == "-" || field.Tag.Get("held") == "no" || settings.Field(i).IsZero() {
			continue
		}
		on = append(on, heldSetting(name+"."+cmp.Or(key, strings.ToLower(field.Name))+": ", settings.Field(i))...)
	}
	return on
}

// heldSetting returns one line for a setting, or one for each item of a list.
func heldSetting(key string, setting reflect.Value) (on []authority) {
	switch value := setting.Interface().(type) {
	case []string:
		for _, one := range value {
			on = append(on, authority{key + one, func() {
				rest := slices.DeleteFunc(slices.Clone(setting.Interface().([]string)), func(s string) bool { return s == one })
				setting.Set(reflect.ValueOf(rest))
			}})
		}
		return on
	case string: // an address: whoever runs that server can say who pressed a button
		return []authority{{key + withoutPassword(value), setting.SetZero}}
	default:
		return []authority{{fmt.Sprintf("%s%v", key, value), setting.SetZero}}
	}
}

func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return u.Redacted()
}
