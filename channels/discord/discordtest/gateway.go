package discordtest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"approver.example/channels/channeltest/fake"
)

// The gateway's operations.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

// Intents.
const (
	intentGuilds         = 1 << 0
	intentGuildMessages  = 1 << 9
	intentDirectMessages = 1 << 12
	intentMessageContent = 1 << 15
	knownIntents         = 1<<26 - 1
)

// A session is one connection of the bot to the gateway.
type session struct {
	conn *websocket.Conn

	mu      sync.Mutex // writes, and the next four
	seq     int
	history []map[string]any // what was dispatched, to be resumed
	ended   bool             // by a close after which nothing can be resumed
	closed  bool             // by the server: what the bot says then ends nothing
	id      string
	intents int
	ready   bool // guarded by the server's mu
}

type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int            `json:"s,omitempty"`
	Type string          `json:"t,omitempty"`
}

func (g *session) write(op int, kind string, data any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := map[string]any{"op": op, "d": data, "s": nil, "t": nil}
	if op == opDispatch {
		g.seq++
		f["s"], f["t"] = g.seq, kind
		g.history = append(g.history, f)
	}
	g.send(f)
}

// send writes a frame, or lets it be if the connection has ended. The caller holds mu.
func (g *session) send(f map[string]any) {
	_ = g.conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_ = g.conn.WriteJSON(f)
}

// close ends the connection with one of Discord's close codes.
func (g *session) close(code int, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = g.ended || code != 4000 // after others the session is over
	g.closed = true
	_ = g.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(time.Second))
	_ = g.conn.Close()
}

// connected returns the present sessions.
func (s *Server) connected() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.sessions))
}

func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	g := &session{conn: conn}
	s.mu.Lock()
	if !s.Up() {
		s.mu.Unlock()
		_ = conn.Close()
		return
	}
	s.sessions[g] = true
	mute := s.mute
	s.all.Add(1)
	s.mu.Unlock()
	defer s.all.Done()
	defer func() {
		s.mu.Lock()
		delete(s.sessions, g)
		g.mu.Lock()
		if g.ready && !g.ended {
			s.resumable[g.id] = g
		}
		g.mu.Unlock()
		s.Note("gateway: connection ended")
		s.mu.Unlock()
		_ = conn.Close()
	}()
	if q := r.URL.Query(); q.Get("v") != "10" || q.Get("encoding") != "json" {
		g.close(4012, "Invalid API version.")
		return
	}
	if !mute {
		g.write(opHello, "", map[string]any{"heartbeat_interval": s.HeartbeatEvery.Milliseconds()})
	}
	for {
		var f frame
		_, raw, err := conn.ReadMessage()
		if err != nil {
			if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
				g.mu.Lock()
				g.ended = g.ended || !g.closed // the bot has said goodbye
				g.mu.Unlock()
			}
			return
		}
		if json.Unmarshal(raw, &f) != nil {
			g.close(4002, "Error while decoding payload.")
			return
		}
		if !s.received(g, f) {
			return
		}
	}
}

// received handles one frame of the bot. It returns false when the connection
// is over.
func (s *Server) received(g *session, f frame) bool {
	s.mu.Lock()
	mute, ready, refuse := s.mute, g.ready, s.refuse
	if refuse != 0 && f.Op == opIdentify {
		s.identified++
	}
	s.Note("gateway: op %d", f.Op)
	s.mu.Unlock()
	if mute {
		return true
	}
	if refuse != 0 && (f.Op == opIdentify || f.Op == opResume) {
		g.close(refuse, "")
		return false
	}
	switch f.Op {
	case opHeartbeat:
		g.write(opHeartbeatAck, "", nil)
	case opIdentify:
		if ready {
			g.close(4005, "Already authenticated.")
			return false
		}
		return s.identify(g, f.Data)
	case opResume:
		var in struct {
			Token     string `json:"token"`
			SessionID string `json:"session_id"`
			Seq       int    `json:"seq"`
		}
		if json.Unmarshal(f.Data, &in) != nil || !s.isToken(in.Token) || s.isRevoked() {
			g.close(4004, "Authentication failed.")
			return false
		}
		if !s.resume(g, in.SessionID, in.Seq) {
			g.write(opInvalidSession, "", false)
		}
	default:
		if !ready {
			g.close(4003, "Not authenticated.")
		} else {
			g.close(4001, "Unknown opcode.")
		}
		return false
	}
	return true
}

// resume lets g go on as an ended session did, from what the bot has seen of it.
func (s *Server) resume(g *session, id string, seen int) bool {
	s.flow.Lock() // every event is either missed or not
	defer s.flow.Unlock()
	s.mu.Lock()
	was := s.resumable[id]
	delete(s.resumable, id)
	for live := range s.sessions {
		if live.ready && live.id == id { // its connection is dead, and only the bot knows
			was = live
			live.ready = false
			_ = live.conn.NetConn().Close()
		}
	}
	if was == nil || g.ready {
		s.mu.Unlock()
		return false
	}
	g.id, g.intents, g.ready = id, was.intents, true
	s.resumed++
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seq, g.history = was.seq, was.history
	s.mu.Unlock()
	for _, f := range g.history {
		if n, ok := f["s"].(int); ok && n > seen {
			g.send(f)
		}
	}
	g.seq++
	g.send(map[string]any{"op": opDispatch, "d": map[string]any{}, "s": g.seq, "t": "RESUMED"})
	return true
}

// Resumed returns how many sessions the bot has taken up again.
func (s *Server) Resumed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resumed
}

func (s *Server) isRevoked() bool {
	f, _ := s.Fault()
	return f == fake.Revoked
}

func (s *Server) isToken(t string) bool { return strings.TrimPrefix(t, "Bot ") == s.Token() }

func (s *Server) identify(g *session, raw json.RawMessage) bool {
	var in struct {
		Token   string `json:"token"`
		Intents int    `json:"intents"`
	}
	s.mu.Lock()
	s.identified++
	s.budget--
	over := s.budget < 0
	s.mu.Unlock()
	switch {
	case json.Unmarshal(raw, &in) != nil:
		g.close(4002, "Error while decoding payload.")
	case s.isRevoked(), !s.isToken(in.Token):
		g.close(4004, "Authentication failed.")
	case in.Intents&^knownIntents != 0:
		g.close(4013, "Invalid intent(s).")
	case in.Intents&intentMessageContent != 0 && !s.MessageContent:
		g.close(4014, "Disallowed intent(s).")
	case over:
		g.write(opInvalidSession, "", false)
		return true
	default:
		s.mu.Lock()
		g.intents, g.id = in.Intents, "session-"+s.id()
		bot, guilds := s.users[s.bot], []any{map[string]any{"id": s.guild, "unavailable": true}}
		if s.Uninvited {
			guilds = []any{}
		}
		s.mu.Unlock()
		g.write(opDispatch, "READY", map[string]any{
			"v": 10, "user": bot, "session_id": g.id, "resume_gateway_url": "ws://" + s.Addr + "/gateway",
			"guilds":      guilds,
			"application": map[string]any{"id": s.app, "flags": 0},
			"shard":       []int{0, 1},
		})
		s.mu.Lock()
		g.ready = true
		s.mu.Unlock()
		return true
	}
	return false
}

// Identified returns how many sessions the bot has started, or tried to.
func (s *Server) Identified() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.identified
}

// SetSessionBudget sets how many sessions the bot may still start today.
func (s *Server) SetSessionBudget(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget = n
}

// MuteGateway makes the gateway accept everything and say nothing: no Hello, no
// acknowledgement, no event.
func (s *Server) MuteGateway(mute bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = mute
}

// CloseGateway ends every session with a close code.
func (s *Server) CloseGateway(code int) {
	for _, g := range s.connected() {
		g.close(code, "")
	}
}

// CutGateway ends every connection without a word.
func (s *Server) CutGateway() {
	for _, g := range s.connected() {
		_ = g.conn.NetConn().Close()
	}
}

// AskReconnect sends op 7 to every session, AskHeartbeat op 1.
func (s *Server) AskReconnect() { s.tell(opReconnect) }

// AskHeartbeat asks every session for a heartbeat out of turn.
func (s *Server) AskHeartbeat() { s.tell(opHeartbeat) }

// Invalidate tells every session that it is not valid: to be taken up again, or over.
func (s *Server) Invalidate(resumable bool) {
	if !resumable {
		s.mu.Lock()
		for g := range s.sessions {
			g.ready = false
		}
		s.mu.Unlock()
	}
	for _, g := range s.connected() {
		g.write(opInvalidSession, "", resumable)
	}
}

// RefuseSessions closes the connections on which the bot introduces itself with a close code. Zero ends
// that.
func (s *Server) RefuseSessions(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = code
}

func (s *Server) tell(op int) {
	for _, g := range s.connected() {
		g.write(op, "", nil)
	}
}

// Connected returns how many sessions are ready for events.
func (s *Server) Connected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readyCount()
}

func (s *Server) readyCount() int {
	n := 0
	for g := range s.sessions {
		if g.ready {
			n++
		}
	}
	return n
}

// reached waits until a session is ready, as a person does who sees that the
// bot is offline and tries again.
func (s *Server) reached() bool {
	return s.Await(&s.mu, 5*time.Second, func() bool { return s.readyCount() > 0 || s.endpoint != "" })
}

// dispatch sends an event to every session that pick admits; pick may change
// the data for it.
func (s *Server) dispatch(kind string, pick func(g *session) any) {
	s.flow.RLock()
	defer s.flow.RUnlock()
	s.mu.Lock()
	if s.mute {
		s.mu.Unlock()
		return
	}
	if s.endpoint != "" && kind == "INTERACTION_CREATE" {
		s.all.Go(func() { s.bring(pick(nil)) })
		s.mu.Unlock()
		return
	}
	s.Note("gateway: %s", kind)
	var to []*session
	for g := range s.sessions {
		if g.ready {
			to = append(to, g)
		}
	}
	for _, g := range s.resumable {
		to = append(to, g)
	}
	s.mu.Unlock()
	for _, g := range to {
		if data := pick(g); data != nil {
			g.write(opDispatch, kind, data)
		}
	}
}

// dispatchMessage sends MESSAGE_CREATE, without the text where the intents do
// not cover it.
func (s *Server) dispatchMessage(m *message) {
	s.mu.Lock()
	direct := s.channels[m.ChannelID].Type == 1
	own := m.Author.ID == s.bot
	s.mu.Unlock()
	mentioned := strings.Contains(m.Content, "<@"+s.bot+">")
	for _, u := range m.Mentions {
		mentioned = mentioned || u.ID == s.bot
	}
	s.dispatch("MESSAGE_CREATE", func(g *session) any {
		if direct && g.intents&intentDirectMessages == 0 || !direct && g.intents&intentGuildMessages == 0 {
			return nil
		}
		out := *m
		if g.intents&intentMessageContent == 0 && !direct && !own && !mentioned {
			out.Content, out.Embeds, out.Components, out.Attachments = "", []embed{}, []component{}, []file{}
		}
		return &out
	})
}
