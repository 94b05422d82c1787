package broadcaster

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"approver.example"
)

// tasks is the work that is done in the background, as part of Run.
type tasks struct {
	log *slog.Logger

	mu    sync.Mutex
	ready chan struct{}   // closed when Run has begun
	work  context.Context // of Run; nil before
	busy  sync.WaitGroup  // goroutines started for requests
}

// records writes to the store, with patience.
type records struct {
	log   *slog.Logger
	store approver.KV

	mu       sync.Mutex
	troubled time.Time // when the store's trouble was last logged
}

// codes makes the codes of cards, and stores where each leads.
type codes struct {
	channels   *Channels
	records    *records
	codeKey    []byte
	codeLength int
	host       string
}

// Requests are the requests in the store: one record each, read, stepped and written back by
// compare-and-set.
type Requests struct {
	codes   *codes
	records *records
	keepFor time.Duration
	store   approver.KV

	codec *RequestCodec
	known known
}

// Channels are the channels of this process: what each can do, and how it does.
type Channels struct {
	destinations []approver.Destination

	byName map[string]approver.Channel
	states states
}

// Approvers are the people whose answers count, and to whom a request goes.
type Approvers struct {
	channels     *Channels
	destinations []approver.Destination
	log          *slog.Logger
	mark         *ControlMark
	store        approver.KV

	people atomic.Pointer[approver.People] // the list now
}

// Cards draws requests for people.
type Cards struct {
	approvers *Approvers
	host      string
	notice    string
}

// endings records how requests end, once.
type endings struct {
	requests *Requests
	records  *records
	audit    approver.Recorder
	log      *slog.Logger

	mu      sync.Mutex
	closing map[string]*closing
}

// An editor brings the cards of requests up to date.
type editor struct {
	cards    *Cards
	channels *Channels
	requests *Requests
	endings  *endings
	tasks    *tasks
	giving   *giving
	host     string
	log      *slog.Logger
	process  string

	mu       sync.Mutex
	settling map[string]bool // requests being settled; true: once more
	shown    shown
	strays   strays
}

// A poster brings the cards of requests before people.
type poster struct {
	cards        *Cards
	channels     *Channels
	requests     *Requests
	codes        *codes
	editor       *editor
	tasks        *tasks
	uptime       *uptime
	audit        approver.Recorder
	destinations []approver.Destination
	host         string
	keepFor      time.Duration
	log          *slog.Logger
	process      string
	store        approver.KV
}

// A backlog has what the audit is to be told once it works again.
type backlog struct {
	records *records
	audit   approver.Recorder
	log     *slog.Logger
	mark    *ControlMark
	store   approver.KV

	owed owed
	loss loss
}

// A Controller changes the controls: it freezes, pauses and observes.
type Controller struct {
	requests *Requests
	backlog  *backlog
	editor   *editor
	records  *records
	audit    approver.Recorder
	log      *slog.Logger
	mark     *ControlMark
	store    approver.KV

	distrusted distrusted
}

// uptime knows since when this process has been there together with its store.
type uptime struct {
	store approver.KV

	mu      sync.Mutex
	present presence
}

// Grants are the yeses that last.
type Grants struct {
	cards    *Cards
	controls *Controller
	requests *Requests
	editor   *editor
	records  *records
	audit    approver.Recorder
	keepFor  time.Duration
	log      *slog.Logger
	mark     *ControlMark
	store    approver.KV
}

// Reports takes what couriers tell of calls that were released.
type Reports struct {
	requests *Requests
	editor   *editor
	tasks    *tasks
	uptime   *uptime
	audit    approver.Recorder
	log      *slog.Logger
	process  string

	unnoted unnoted
}

// releases gives calls the yes that people said.
type releases struct {
	channels    *Channels
	grants      *Grants
	reports     *Reports
	requests    *Requests
	editor      *editor
	poster      *poster
	records     *records
	uptime      *uptime
	audit       approver.Recorder
	fingerprint func(context.Context, approver.ToolCall) (approver.Binding, error)
	giving      *giving
	log         *slog.Logger
	process     string
	store       approver.KV
}

// A sweeper is the clock for what nobody waits for.
type sweeper struct {
	grants   *Grants
	reports  *Reports
	requests *Requests
	editor   *editor
	endings  *endings
	poster   *poster
	records  *records
	tasks    *tasks
	uptime   *uptime
	log      *slog.Logger
	store    approver.KV
}

// Environments remembers the environment that each session began with.
type Environments struct {
	requests *Requests
	records  *records
	tasks    *tasks
	codeKey  []byte
	log      *slog.Logger
	store    approver.KV

	firsts firstEnv
}

// An opener makes requests, and finds those that a call is to wait for.
type opener struct {
	approvers    *Approvers
	controls     *Controller
	environments *Environments
	requests     *Requests
	codes        *codes
	editor       *editor
	poster       *poster
	records      *records
	tasks        *tasks
	audit        approver.Recorder
	keepFor      time.Duration
	limit        func(ctx context.Context, question string, call approver.ToolCall) error
	store        approver.KV
	ttl          time.Duration
}

// A finder finds the request that an answer is for.
type finder struct {
	requests    *Requests
	editor      *editor
	lockout     *lockout
	poster      *poster
	tasks       *tasks
	codeKey     []byte
	log         *slog.Logger
	oldCodeKeys [][]byte
	store       approver.KV
}

// A lockout counts wrong codes.
type lockout struct {
	controls *Controller
	records  *records
	store    approver.KV

	struck struck
}

// Answers takes what people say to requests.
type Answers struct {
	approvers *Approvers
	channels  *Channels
	controls  *Controller
	grants    *Grants
	requests  *Requests
	editor    *editor
	endings   *endings
	finder    *finder
	releases  *releases
	tasks     *tasks
	audit     approver.Recorder
	log       *slog.Logger
	rule      func(approver.ToolCall) (string, error)
	store     approver.KV
}

// Removals takes people away, and brings them back.
type Removals struct {
	controls *Controller
	grants   *Grants
	requests *Requests
	backlog  *backlog
	editor   *editor
	records  *records
	audit    approver.Recorder
	log      *slog.Logger
}

// receivers runs the channels of this process.
type receivers struct {
	answers      *Answers
	approvers    *Approvers
	channels     *Channels
	destinations []approver.Destination
	log          *slog.Logger
	mark         *ControlMark
	runAgain     time.Duration
	store        approver.KV
}

// compose makes the parts and gives each what it needs: below all else the store and the clock.
func (b *Broadcaster) compose() {
	o := &b.Options
	b.tasks = &tasks{log: o.Log, ready: make(chan struct{})}
	b.records = &records{log: o.Log, store: o.Store}
	b.Channels = &Channels{destinations: o.Destinations, byName: map[string]approver.Channel{}}
	for _, c := range o.Channels {
		b.Channels.byName[c.Name()] = c
	}
	b.codes = &codes{channels: b.Channels, records: b.records, codeKey: o.CodeKey, codeLength: o.CodeLength, host: o.Host}
	b.Requests = &Requests{codes: b.codes, records: b.records, keepFor: o.KeepFor, store: o.Store, codec: b.codec}
	b.Approvers = &Approvers{channels: b.Channels, destinations: o.Destinations, log: o.Log, mark: o.Mark, store: o.Store}
	b.Cards = &Cards{approvers: b.Approvers, host: o.Host, notice: o.Notice}
	b.endings = &endings{requests: b.Requests, records: b.records, audit: o.Audit, log: o.Log, closing: map[string]*closing{}}
	b.editor = &editor{cards: b.Cards, channels: b.Channels, requests: b.Requests, endings: b.endings, tasks: b.tasks, giving: b.giving, host: o.Host, log: o.Log, process: b.process, settling: map[string]bool{}}
	b.backlog = &backlog{records: b.records, audit: o.Audit, log: o.Log, mark: o.Mark, store: o.Store}
	b.Controls = &Controller{requests: b.Requests, backlog: b.backlog, editor: b.editor, records: b.records, audit: o.Audit, log: o.Log, mark: o.Mark, store: o.Store}
	b.uptime = &uptime{store: o.Store}
	b.poster = &poster{cards: b.Cards, channels: b.Channels, requests: b.Requests, codes: b.codes, editor: b.editor, tasks: b.tasks, uptime: b.uptime, audit: o.Audit, destinations: o.Destinations, host: o.Host, keepFor: o.KeepFor, log: o.Log, process: b.process, store: o.Store}
	b.Grants = &Grants{cards: b.Cards, controls: b.Controls, requests: b.Requests, editor: b.editor, records: b.records, audit: o.Audit, keepFor: o.KeepFor, log: o.Log, mark: o.Mark, store: o.Store}
	b.Reports = &Reports{requests: b.Requests, editor: b.editor, tasks: b.tasks, uptime: b.uptime, audit: o.Audit, log: o.Log, process: b.process}
	b.releases = &releases{channels: b.Channels, grants: b.Grants, reports: b.Reports, requests: b.Requests, editor: b.editor, poster: b.poster, records: b.records, uptime: b.uptime, audit: o.Audit, fingerprint: o.Fingerprint, giving: b.giving, log: o.Log, process: b.process, store: o.Store}
	b.sweeper = &sweeper{grants: b.Grants, reports: b.Reports, requests: b.Requests, editor: b.editor, endings: b.endings, poster: b.poster, records: b.records, tasks: b.tasks, uptime: b.uptime, log: o.Log, store: o.Store}
	b.Environments = &Environments{requests: b.Requests, records: b.records, tasks: b.tasks, codeKey: o.CodeKey, log: o.Log, store: o.Store}
	b.opener = &opener{approvers: b.Approvers, controls: b.Controls, environments: b.Environments, requests: b.Requests, codes: b.codes, editor: b.editor, poster: b.poster, records: b.records, tasks: b.tasks, audit: o.Audit, keepFor: o.KeepFor, limit: o.Limit, store: o.Store, ttl: o.TTL}
	b.lockout = &lockout{controls: b.Controls, records: b.records, store: o.Store}
	b.finder = &finder{requests: b.Requests, editor: b.editor, lockout: b.lockout, poster: b.poster, tasks: b.tasks, codeKey: o.CodeKey, log: o.Log, oldCodeKeys: o.OldCodeKeys, store: o.Store}
	b.Answers = &Answers{approvers: b.Approvers, channels: b.Channels, controls: b.Controls, grants: b.Grants, requests: b.Requests, editor: b.editor, endings: b.endings, finder: b.finder, releases: b.releases, tasks: b.tasks, audit: o.Audit, log: o.Log, rule: o.Rule, store: o.Store}
	b.Removals = &Removals{controls: b.Controls, grants: b.Grants, requests: b.Requests, backlog: b.backlog, editor: b.editor, records: b.records, audit: o.Audit, log: o.Log}
	b.receivers = &receivers{answers: b.Answers, approvers: b.Approvers, channels: b.Channels, destinations: o.Destinations, log: o.Log, mark: o.Mark, runAgain: o.RunAgain, store: o.Store}
}
