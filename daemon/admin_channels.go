package daemon

import (
	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/daemon/adminapi"
)

// watchersOf is how many terminals watch of people whose answers count, and how many
// others; nil of a channel that is none.
func (d *Admin) watchersOf(c approver.Channel) (count *int, others int) {
	local, is := c.(*terminal.Channel)
	if !is {
		return nil, 0
	}
	n, others := local.Watching(d.People.Counting())
	return &n, others
}

// channelStates is the status of all channels.
func (d *Admin) channelStates(trouble string) (all []adminapi.Channel) {
	for _, c := range d.channels {
		state := d.People.ChannelState(c.Name())
		watchers, others := d.watchersOf(c)
		s := adminapi.Known(adminapi.ChannelOf(c.Name(), state, watchers), state, trouble, d.shared)
		s.Others = others
		all = append(all, s)
	}
	return all
}
