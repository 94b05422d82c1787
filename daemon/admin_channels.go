package daemon

import (
	"approver.example/daemon/adminapi"
)

// channelStates is the status of all channels.
func (d *Admin) channelStates(trouble string) (all []adminapi.Channel) {
	for _, c := range d.channels {
		state := d.People.Channels.State(c.Name())
		watchers, others := d.audience().watchers(c)
		s := adminapi.WithStoreTrouble(adminapi.ChannelOf(c.Name(), state, watchers), state, trouble, d.cfg.Storage().Shared)
		s.Others = others
		all = append(all, s)
	}
	return all
}
