package assistant

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"winnow/assistant/budget"
	"winnow/checkpoint"
)

// ConfirmPolicy says which tools ask the user before they run.
type ConfirmPolicy string

// The policies of the setting confirm. No model text can lower it.
const (
	ConfirmSave   ConfirmPolicy = "save"   // lasting tools; the default
	ConfirmAlways ConfirmPolicy = "always" // every write tool
	ConfirmNever  ConfirmPolicy = "never"
)

// Options configures a Session. The zero value works: without a window it is a
// plain chat, without a store it remembers as long as it lives, without a
// journal no write tool changes the window.
type Options struct {
	ID      string // of the session; "" makes a new one
	Window  Window
	Pages   *Pages // nil: the window's tools are all there is
	Store   Store  // nil is a MemoryStore
	Journal *checkpoint.Journal
	// WithoutCheckpoints lets write tools run in a session that has no Journal:
	// what they do cannot be taken back.
	WithoutCheckpoints bool

	Model    string // "provider/name"
	Topic    string // of new pairs
	Settings Settings
	Now      func() time.Time
	Log      *slog.Logger
	// Telemetry is told about every attempt of a request; nil is nobody.
	Telemetry func(budget.Record)
	// TelemetryMessages asks for the messages of each attempt in its record, as
	// they were sent.
	TelemetryMessages bool
}

// Settings are what a user can set. The zero value is the default.
type Settings struct {
	Limits  Limits
	Budget  budget.Params
	Confirm ConfirmPolicy
	// ContextTokens bounds the window's context; 0 is 16,000. It is never more
	// than a quarter of what the model takes.
	ContextTokens int
}

// Session is what a user interface drives: one conversation in one window.
type Session struct {
	registry *Registry
	opts     Options
	now      func() time.Time
	log      *slog.Logger

	mu       sync.Mutex
	id       string
	model    string
	topic    string
	running  *turn
	queued   *Prompt
	answers  map[string]chan bool // of open questions
	context  contextMemory
	view     view
	records  []budget.Record // see Records
	lastSend *LastSend       // nil before the first
	users    int             // of desk, beside the turn
	unused   *sync.Cond      // users is 0

	beginning bool // BeginBeside is at work
	unbegun   bool // and it failed

	desk    sync.Mutex // held while window, journal and store are worked on; see use
	keeping sync.Mutex // held while sent requests go from the turn to the store
}

// NewSession begins a session over the models of a registry. Its view holds
// the pairs of that session until SetView says otherwise.
func NewSession(registry *Registry, opts Options) (*Session, error) {
	if registry == nil {
		return nil, &ConfigError{"registry", "a session needs models to talk to"}
	}
	s := &Session{registry: registry, opts: opts, now: opts.Now, log: opts.Log, id: opts.ID, model: opts.Model, topic: opts.Topic}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.opts.Store == nil {
		s.opts.Store = &MemoryStore{}
	}
	if s.id == "" {
		s.id = NewID(s.now())
	}
	s.answers = map[string]chan bool{}
	s.unused = sync.NewCond(&s.mu)
	s.view.tracker = budget.NewTracker(opts.Settings.Budget, s.limit())
	return s, nil
}

// ID names the session.
func (s *Session) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Model is the selected model, "provider/name"; "" is none.
func (s *Session) Model() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model
}

// SetModel selects the model for the next send. A running turn keeps its own.
func (s *Session) SetModel(id string) error {
	if _, _, _, err := s.registry.Open(id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = id
	s.view.tracker.SetLimit(s.limit())
	return nil
}

// Settings returns what the session works with.
func (s *Session) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opts.Settings
}

// SetSettings changes them from the next send on. After another CharsPerToken
// the caller costs the view anew and calls SetView.
func (s *Session) SetSettings(set Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.Settings = set
	s.view.tracker.SetParams(set.Budget)
}

// Busy says whether a turn runs.
func (s *Session) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil
}

// Registry returns the models the session chooses from.
func (s *Session) Registry() *Registry { return s.registry }

// Store returns where the session keeps its pairs.
func (s *Session) Store() Store { return s.opts.Store }

// Window returns what the assistant works on; nil is nothing.
func (s *Session) Window() Window { return s.opts.Window }

// Pairs loads pairs by Seq, the running one as far as it is stored.
func (s *Session) Pairs(ctx context.Context, seqs []int64) ([]Pair, error) {
	return s.opts.Store.Load(ctx, seqs)
}

// Running is the pair that is being answered; ok is false when none is, or
// while its prompt is not durable yet.
func (s *Session) Running() (seq int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return 0, false
	}
	return s.running.seq, s.running.seq != 0
}
