// Package slacktest is a Slack of our own on loopback: the part of the Web API
// and of Socket Mode that a chat approval needs, with the real service's
// limits, deadlines and error bodies. It runs in tests and in the demo.
//
// A [Server] is the workspace as its people see it; see [fake.Platform] for
// what they can do in it.
package slacktest

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"approver.example/channels/channeltest/fake"
)

// What the workspace is made of unless Options say otherwise.
const (
	Team     = "T0HOME1234"
	AppID    = "A0APPROVER"
	BotToken = "xoxb-1111-2222-slacktest"
	AppToken = "xapp-1-A0APPROVER-3333-slacktest"
	BotUser  = "U0APPROVBOT"
	BotID    = "B0APPROVER"
)

// Options change how the service behaves. The zero value is the real service's
// behavior, but for PingInterval.
type Options struct {
	AckTimeout   time.Duration // until an envelope is delivered again; 0 means 3 s
	TriggerTTL   time.Duration // how long a trigger opens a dialog; 0 means 3 s
	PingInterval time.Duration // between the server's pings; 0 means 5 s
	Burst        int           // messages to one conversation at once before one a second; 0 means 60
	Edits        int           // edits of messages at once, in all, before one a second; 0 means as many as Burst
	RetryAfter   time.Duration // what a call that is too early is told to wait at least; 0 means until there is room
	NoAppID      bool          // the greeting does not name the app
	NoHome       bool          // the app has no Home tab
	Commands     []string      // the app's own; nil means /approve, /deny and /pair
}

// A User is a member of a conversation.
type User struct {
	ID, Name string
	Team     string // empty means our own workspace
	Bot      bool
}

// A Conversation is a place for messages.
type Conversation struct {
	ID        string
	ExtShared bool // shared with another organization
	Pending   bool // an invitation to share it is open
	Archived  bool
	NotMember bool   // the bot is not in it
	Became    string // the id that it has now
}

// A Message is what the service stores of one message.
type Message struct {
	TS, Thread string
	User       string // the author
	BotID      string // set if the author is a bot
	Text       string // the notification, unescaped
	Blocks     json.RawMessage
	Files      []string
	Edits      int
	Formatted  bool // Slack formats the text
	Previews   bool // links in it would be previewed
}

type room struct {
	Conversation
	messages []*Message
}

// A Server is one workspace. Make it with New, end it with Close.
type Server struct {
	*fake.Site            // its Log has each call, envelope and acknowledgement
	Trips      fake.Trips // make calls of the Web API, and uploads, go wrong

	opts     Options
	stop     chan struct{}
	bot, app atomic.Value // the tokens
	wg       sync.WaitGroup

	mu        sync.Mutex
	users     map[string]User
	rooms     map[string]*room
	conns     []*conn
	turn      int                  // which connection gets the next envelope
	waiting   map[string]*envelope // not acknowledged
	triggers  map[string]*trigger
	views     map[string]*view // by user: the open dialog
	homes     map[string]json.RawMessage
	uploads   map[string][]byte // by file id; nil until the bytes came
	buckets   map[string]*bucket
	answers   map[string]string // method: error
	refused   []string          // types of blocks
	refusedAs string
	told      map[string][]string
	pings     []string
	opened    int // sockets opened so far
	// requestURL is where events are brought over HTTP; empty for sockets.
	requestURL string
	sequence   int
}

var _ fake.Platform = (*Server)(nil)

// AnotherBot is the token of another app's bot in the workspace.
const AnotherBot = "xoxb-1111-9999-slacktest"

// ResetTokens gives the app other tokens, as installing it again does. The old ones are refused.
func (s *Server) ResetTokens() (bot, app string) {
	bot, app = BotToken+"-"+rand.Text(), AppToken+"-"+rand.Text()
	s.bot.Store(bot)
	s.app.Store(app)
	return bot, app
}

// New starts a workspace. It panics if loopback cannot be listened on.
func New(opts Options) *Server {
	opts.AckTimeout = cmp.Or(opts.AckTimeout, 3*time.Second)
	opts.TriggerTTL = cmp.Or(opts.TriggerTTL, 3*time.Second)
	if opts.Commands == nil {
		opts.Commands = []string{"/approve", "/deny", "/pair"}
	}
	opts.PingInterval = cmp.Or(opts.PingInterval, 5*time.Second)
	opts.Burst = cmp.Or(opts.Burst, 60)
	opts.Edits = cmp.Or(opts.Edits, opts.Burst)
	s := &Server{
		opts: opts, stop: make(chan struct{}),
		users: map[string]User{}, rooms: map[string]*room{}, waiting: map[string]*envelope{},
		triggers: map[string]*trigger{}, views: map[string]*view{}, homes: map[string]json.RawMessage{},
		uploads: map[string][]byte{},
		buckets: map[string]*bucket{}, answers: map[string]string{}, told: map[string][]string{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", s.serveAPI)
	mux.HandleFunc("/upload/", s.serveUpload)
	mux.HandleFunc("/link", s.serveLink)
	s.bot.Store(BotToken)
	s.app.Store(AppToken)
	s.Site = fake.NewSite(mux)
	return s
}

// URL is the base of the Web API, for Config.APIURL.
func (s *Server) URL() string { return "http://" + s.Addr + "/api/" }

// Close ends the service and waits for its goroutines.
func (s *Server) Close() {
	if !s.Site.Close() {
		return
	}
	s.mu.Lock()
	close(s.stop)
	s.mu.Unlock()
	s.Drop()
	s.wg.Wait()
}

// AddUser registers a person, or changes one.
func (s *Server) AddUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.Team = cmp.Or(u.Team, Team)
	s.users[u.ID] = u
}

// AddConversation makes a conversation, or changes one.
func (s *Server) AddConversation(c Conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rooms[c.ID]; r != nil {
		r.Conversation = c
		return
	}
	s.rooms[c.ID] = &room{Conversation: c}
}

// Delete takes a message out of a conversation, as a person may.
func (s *Server) Delete(conversation, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rooms[conversation]; r != nil {
		r.messages = slices.DeleteFunc(r.messages, func(m *Message) bool { return m.TS == ts })
	}
}

// AddMessage stores a message, as another app or a person may have posted it,
// and returns its id. The app is not told.
func (s *Server) AddMessage(conversation string, m Message) (ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.TS = s.stamp()
	if r := s.rooms[conversation]; r != nil {
		r.messages = append(r.messages, &m)
	}
	return m.TS
}

// Refuse makes a method answer with an error code; an empty code ends that.
func (s *Server) Refuse(method, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[method] = code
}

// RefuseBlocks makes the service refuse every message with a block of these types, with an error code such as
// invalid_blocks. Without a type it refuses none any more.
func (s *Server) RefuseBlocks(code string, types ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusedAs, s.refused = code, types
}

// Break makes the service misbehave from now on. All faults but Hangs and
// RateLimited also close the sockets.
func (s *Server) Break(f fake.Fault) {
	s.Site.Break(f)
	switch f {
	case fake.Down, fake.ServerError, fake.Malformed, fake.Revoked:
		s.Drop()
	case fake.Healthy, fake.Hangs, fake.RateLimited:
	}
}

// faults are what the service says when it misbehaves.
var faults = map[fake.Fault]func(http.ResponseWriter){
	fake.RateLimited: func(w http.ResponseWriter) { answer(w, nil, limitError(time.Second)) },
	fake.Malformed: func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, `{"ok":true,"ts":"17`)
	},
	fake.Revoked: func(w http.ResponseWriter) { answer(w, nil, refusal("token_revoked")) },
}

// Told returns what a person alone was told.
func (s *Server) Told(user string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.told[user]...)
}

// Pinged returns every mention that a text of the bot would have made: @channel,
// @here, a person, a group.
func (s *Server) Pinged() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.pings...)
}

// Messages returns all messages of a conversation as they are stored.
func (s *Server) Messages(conversation string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	if r := s.rooms[conversation]; r != nil {
		for _, m := range r.messages {
			out = append(out, *m)
		}
	}
	return out
}

// Cards returns the bot's messages in a conversation.
func (s *Server) Cards(conversation string) []fake.Shown {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []fake.Shown
	if r := s.rooms[conversation]; r != nil {
		for _, m := range r.messages {
			if m.BotID != BotID {
				continue
			}
			text, buttons, labels := look(m.Blocks)
			if m.Blocks == nil { // then Slack shows the text
				if text = m.Text; m.Formatted {
					text = formatted.ReplaceAllString(text, "$1$2$3")
				}
			}
			out = append(out, fake.Shown{Message: m.TS, Push: m.Text, Text: text,
				Files: append([]string(nil), m.Files...), Buttons: buttons, Labels: labels})
		}
	}
	return out
}

// next makes an id; the lock is held.
func (s *Server) next(prefix string) string {
	s.sequence++
	return fmt.Sprintf("%s%010d", prefix, s.sequence)
}

// stamp makes the id of a message; the lock is held.
func (s *Server) stamp() string {
	s.sequence++
	return fmt.Sprintf("%d.%06d", time.Now().Unix(), s.sequence%1000000)
}

func (r *room) find(ts string) *Message {
	if r == nil {
		return nil
	}
	for _, m := range r.messages {
		if m.TS == ts {
			return m
		}
	}
	return nil
}

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
