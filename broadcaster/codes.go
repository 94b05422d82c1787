package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"approver.example"
	"approver.example/tokens"
)

// codes makes the codes of cards, and stores which posting each belongs to.
type codes struct {
	*Options
	cards    *Cards
	channels *Channels
	records  *records
}

// mint adds a posting with a code of its own to r for each destination. It stores nothing: the
// links of the codes must be durable before anybody sees a code.
func (m *codes) mint(r *Request, to []approver.Destination, now time.Time) ([]codeLink, error) {
	r.Postings = slices.Clone(r.Postings)
	var ways []codeLink
	for _, d := range to {
		w, err := m.newLink(codeEntry{Request: r.ID, Posting: len(r.Postings)})
		if err != nil {
			return nil, err
		}
		p := Posting{To: d, Until: now.Add(sendingFor), Code: w.hash, Page: m.channels.pages(d.Channel)}
		p.Whole = m.channels.fits(d.Channel,
			func() approver.Card { return m.cards.card(*r, m.cards.textsOf(d), w.code) })
		if m.channels.screen(d.Channel) {
			p.Hub = m.Host
		}
		if r.Renews && !p.Page {
			p.CodeTill = now.Add(codeLife)
		}
		r.Postings, ways = append(r.Postings, p), append(ways, w)
	}
	return ways, nil
}

func (m *codes) newLink(entry codeEntry) (codeLink, error) {
	code, err := tokens.Mint(m.CodeLength)
	return codeLink{code, code.Hash(m.CodeKey), entry, approver.NewRev()}, err
}

// saveLinks stores links. A code that is taken already is replaced, also in links.
func (m *codes) saveLinks(ctx context.Context, ways []codeLink, keepUntil time.Time) error {
	writes := make([]approver.Write, len(ways))
	for i, w := range ways {
		var err error
		if writes[i], err = w.write(keepUntil); err != nil {
			return err
		}
	}
	errs := m.records.putAll(ctx, writes)
	for i := range ways {
		if errors.Is(errs[i], approver.ErrConflict) {
			errs[i] = m.mintAnew(ctx, &ways[i], keepUntil)
		}
	}
	return errors.Join(errs...)
}

// mintAnew gives a link another code, and stores it. A second collision is practically
// impossible.
func (m *codes) mintAnew(ctx context.Context, w *codeLink, keepUntil time.Time) error {
	for range 8 {
		next, err := m.newLink(w.entry)
		if err != nil {
			return err
		}
		write, err := next.write(keepUntil)
		if err != nil {
			return err
		}
		err = m.records.put(ctx, write.Key, write.Value, "", write.Next, time.Time{}, keepUntil)
		if !errors.Is(err, approver.ErrConflict) {
			*w = next
			return err
		}
	}
	return errors.New("no free confirmation code was found")
}

// A codeLink leads from a code to the posting that shows it.
type codeLink struct {
	code  tokens.Code
	hash  tokens.Hash
	entry codeEntry
	rev   approver.Rev
}

// A codeEntry says which posting a code belongs to.
type codeEntry struct {
	Request string `json:"request"`
	Posting int    `json:"posting"`
}

// write is the record of a link.
func (w codeLink) write(keepUntil time.Time) (approver.Write, error) {
	value, err := json.Marshal(w.entry)
	return approver.Write{Key: approver.Key("code", string(w.hash)), Value: value, Next: w.rev, KeepUntil: keepUntil}, err
}
