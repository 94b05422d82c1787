// Package discordtest is a Discord of our own on loopback, for tests and
// demonstrations: the REST API and the gateway as one bot sees them, with the
// real service's limits, deadlines and error bodies, and the people who use it.
//
// A [Server] knows one application with one bot in one guild. Any number of
// servers live in one process.
package discordtest

import (
	"crypto/ed25519"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"approver.example/channels/channeltest/fake"
)

// Server is the fake. Use New to start one. The exported fields may be changed
// before a bot connects.
type Server struct {
	// HeartbeatEvery is what the gateway asks for in its Hello.
	HeartbeatEvery time.Duration
	// AckWithin is how long an interaction may wait for its first response.
	AckWithin time.Duration
	// AckElsewhere makes every interaction one that another process of the same
	// bot has already acknowledged.
	AckElsewhere bool
	// PostLimit is how many messages one channel takes within PostWindow.
	// Discord's own window is five seconds.
	PostLimit  int
	PostWindow time.Duration
	// EditLimit is how many edits of messages one channel takes within PostWindow, and GlobalLimit how many requests
	// the bot may make in a second, other than answers to interactions: 50 at Discord. Zero is no limit.
	EditLimit, GlobalLimit int
	// MessageContent reports whether the privileged intent is switched on.
	MessageContent bool
	// NoEmbeds makes the bot lack the permission Embed Links: its embeds are
	// dropped.
	NoEmbeds bool
	// NoFiles makes the bot lack the permission Attach Files: a message with one is
	// refused. LosesFiles makes Discord take such a message and drop the file.
	NoFiles, LosesFiles bool
	// Uninvited makes the bot a member of no server until Invite.
	Uninvited bool
	// Trips make calls of the REST API go wrong.
	Trips      fake.Trips
	*fake.Site // Log has each request; tokens of interactions are left out

	app, bot, guild string
	key             ed25519.PrivateKey // signs what goes to an endpoint
	token           atomic.Value       // a string

	flow         sync.RWMutex // events; taken before mu
	mu           sync.Mutex
	mute         bool // the gateway says nothing
	refuse       int  // the close code for whoever introduces itself; zero for none
	budget       int  // sessions that may still be started
	lastID       uint64
	users        map[string]*user
	channels     map[string]*channel
	messages     map[string]*message
	files        map[string][]byte      // by path
	nonces       map[string]string      // channel and nonce to message id
	requests     map[string][]time.Time // by bucket
	commands     map[string]*command
	interactions map[string]*interaction // by token
	endpoint     string                  // where interactions go, in the place of the gateway
	whispers     []*whisper
	pings        []string
	refused      []Part
	sessions     map[*session]bool
	resumable    map[string]*session // ended without a goodbye, by id
	identified   int
	resumed      int
	all          sync.WaitGroup
}

type user struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name,omitempty"`
	Bot        bool   `json:"bot,omitempty"`
}

type channel struct {
	ID        string `json:"id"`
	Type      int    `json:"type"`
	GuildID   string `json:"guild_id,omitempty"`
	Parent    string `json:"parent_id,omitempty"` // of a thread
	recipient string // of a direct conversation
	order     []string
}

// New starts a server on a free port of 127.0.0.1. It panics if it cannot.
func New() *Server {
	s := &Server{
		HeartbeatEvery: 41250 * time.Millisecond, AckWithin: 3 * time.Second, PostLimit: 5, PostWindow: time.Second,
		budget: 1000,
		users:  map[string]*user{}, channels: map[string]*channel{}, messages: map[string]*message{},
		files:  map[string][]byte{},
		nonces: map[string]string{}, requests: map[string][]time.Time{}, commands: map[string]*command{},
		interactions: map[string]*interaction{}, sessions: map[*session]bool{}, resumable: map[string]*session{},
	}
	s.app, s.bot, s.guild = s.id(), s.id(), s.id()
	var err error
	if _, s.key, err = ed25519.GenerateKey(nil); err != nil {
		panic("discordtest: " + err.Error())
	}
	s.users[s.bot] = &user{ID: s.bot, Username: "approver", Bot: true}
	s.ResetToken()
	s.Site = fake.NewSite(s.handler())
	return s
}

// Close ends the server and waits for its goroutines.
func (s *Server) Close() {
	s.Site.Close()
	s.CutGateway()
	s.all.Wait()
}

// URL is the address to use as api_url.
func (s *Server) URL() string { return "http://" + s.Addr + "/api" }

// Token is the bot's token, Application and Guild the ids of its application
// and of the server where its channels lie, and Bot its own user id.
func (s *Server) Token() string { return s.token.Load().(string) }

// ResetToken gives the bot another token, as its page at Discord does. The old one is refused.
func (s *Server) ResetToken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token.Store("MTA5." + s.id() + ".fake-bot-token")
	return s.Token()
}

// AnotherBot is the token of a bot that is not in the guild.
func (s *Server) AnotherBot() string { return "MTA6.another.fake-bot-token" }

// Application returns the application's id.
func (s *Server) Application() string { return s.app }

// Guild returns the id of the server where the channels lie.
func (s *Server) Guild() string { return s.guild }

// Bot returns the bot's user id.
func (s *Server) Bot() string { return s.bot }

// AddUser makes a person, a member of the guild, and returns the id.
func (s *Server) AddUser(name string) string {
	s.mu.Lock()
	id := s.id()
	s.mu.Unlock()
	s.SetUser(id, name)
	return id
}

// AddBot makes another bot in the guild, and returns its id.
func (s *Server) AddBot(name string) string {
	id := s.AddUser(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[id].Bot = true
	return id
}

// SetUser makes a person with an id of the caller's choice, or gives them
// another name.
func (s *Server) SetUser(id, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[id] = &user{ID: id, Username: strings.ToLower(name), GlobalName: name}
}

// RemoveChannel deletes a channel, and Delete a message, as somebody with the right to
// do so.
func (s *Server) RemoveChannel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.channels, id)
}

// Delete deletes a message.
func (s *Server) Delete(_, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.messages, message)
}

// AddChannel makes a text channel in the guild and returns the id.
func (s *Server) AddChannel() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &channel{ID: s.id(), GuildID: s.guild}
	s.channels[c.ID] = c
	return c.ID
}

// AddThread opens a thread on a message, whose id is the thread's too.
func (s *Server) AddThread(message string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &channel{ID: message, Type: 11, GuildID: s.guild, Parent: s.messages[message].ChannelID}
	s.channels[c.ID] = c
	return c.ID
}

// AddDirect makes a direct conversation of the bot with a user and returns the
// id.
func (s *Server) AddDirect(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &channel{ID: s.id(), Type: 1, recipient: user}
	s.channels[c.ID] = c
	return c.ID
}

// Invite makes the bot a member of the guild, as somebody does with its invite link.
func (s *Server) Invite() {
	s.mu.Lock()
	s.Uninvited = false
	s.mu.Unlock()
	s.dispatch("GUILD_CREATE", func(g *session) any {
		if g.intents&intentGuilds == 0 {
			return nil
		}
		return map[string]any{"id": s.guild, "name": "Home"}
	})
}

// Pings returns whom the bot's messages notified beyond their plain text. A
// channel that takes care has none.
func (s *Server) Pings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pings)
}

// Break makes the platform misbehave from now on.
func (s *Server) Break(f fake.Fault) {
	s.Site.Break(f)
	switch f {
	case fake.Revoked:
		for _, g := range s.connected() {
			g.close(4004, "Authentication failed.")
		}
	case fake.Down:
		s.CutGateway()
	default:
	}
}

// id makes a snowflake. The caller holds mu, or nobody else has s.
func (s *Server) id() string {
	const epoch = 1420070400000
	s.lastID = max(s.lastID+1, uint64(time.Now().UnixMilli()-epoch)<<22)
	return strconv.FormatUint(s.lastID, 10)
}
