package approver

// A Person is one human being, whatever platform they answer on.
type Person struct {
	ID   string `json:"id"`             // stable within this installation
	Name string `json:"name,omitempty"` // for display
}

// An Identity is a stable id on one channel, such as telegram and 10042. Names,
// user names and e-mail addresses are never identities: they change hands.
type Identity struct {
	Channel string `json:"channel"`
	ID      string `json:"id"`
}

// People is the approver list: who may answer, and which identities are the
// same person. The zero value admits nobody.
type People map[Identity]Person

// Lookup returns the person behind an authenticated identity.
func (p People) Lookup(channel, id string) (Person, bool) {
	if id == "" {
		return Person{}, false
	}
	person, ok := p[Identity{Channel: channel, ID: id}]
	return person, ok && person.ID != ""
}
