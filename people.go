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

// An Approver is one entry of a channel's approver list, as configured.
type Approver struct {
	// ID is the platform's stable id: a Telegram user id, a Discord snowflake, a
	// Slack U… or W… id, a Unix uid. Never a name.
	ID string `yaml:"id"`
	// Name is for display; empty means the ID.
	Name string `yaml:"name,omitempty"`
	// Person says who this is across channels, so that votes and lock-outs
	// count per person; empty means channel:ID.
	Person string `yaml:"person,omitempty"`
}

// SelfPerson is the person of an entry that names none: the account by itself.
func SelfPerson(channel, id string) string { return channel + ":" + id }

// Add puts a channel's approver list into p.
func (p People) Add(channel string, list []Approver) {
	for _, a := range list {
		person := Person{ID: a.Person, Name: a.Name}
		if person.ID == "" {
			person.ID = SelfPerson(channel, a.ID)
		}
		if person.Name == "" {
			person.Name = a.ID
		}
		p[Identity{Channel: channel, ID: a.ID}] = person
	}
}
