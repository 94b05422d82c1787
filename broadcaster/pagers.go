package broadcaster

import (
	"context"
	"slices"

	"approver.example"
)

// pages reports a channel that only calls people to the others.
func (h *Channels) pages(channel string) bool {
	_, is := h.byName[channel].(approver.Pager)
	return is
}

// whereShown are the channels on which people can see the card of a request, in the order of its cards. One
// that is on its way counts until it fails, but not while it waits for room in its chat.
func (b *Broadcaster) whereShown(ctx context.Context, id string) (names []string) {
	r, _, err := b.Requests.load(ctx, id)
	if err != nil {
		return nil
	}
	for _, p := range r.Postings {
		there := p.Phase == Posted || p.Phase == Sending && p.Error == "" && !p.Full &&
			!b.Channels.outbox.waits(id, p.To)
		if there && !p.Page && !slices.Contains(names, p.To.Channel) {
			names = append(names, p.To.Channel)
		}
	}
	return names
}
