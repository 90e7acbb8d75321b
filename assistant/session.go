package assistant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// Options configures a Session. The zero value works, but sending needs a Model. Without a
// window it is a plain chat, without a store nothing outlives the session, and without a
// journal no write tool changes the window.
type Options struct {
	// ID of the session. If the Store has a session with this ID, that session is continued
	// (LoadView loads its pairs); otherwise a new session gets this ID. "" generates one.
	ID     string
	Window Window
	Pages  *Pages // nil: only the window's tools
	// Tools returns additional tools, such as tools of other programs. It is called for each
	// turn, from any goroutine, and must not do I/O; nil means none.
	Tools func() []Tool
	Store Store // nil means a MemoryStore; the session does not close it
	// Journal holds the checkpoints and outlives the program; the session does not close
	// it. NewSession does not restore the window from the journal, but records its state as
	// the newest. A window that stores nothing itself must apply Journal.Current first.
	Journal *checkpoint.Journal
	// Member is the session's membership in a shared window; nil if the session has a window of
	// its own.
	Member *windowlock.Member
	// Shared is the log of the shared window; nil creates one.
	Shared *WindowLog
	// WithoutCheckpoints lets write tools run in a session without a Journal: their changes
	// cannot be undone.
	WithoutCheckpoints bool

	// Identity tells the model who it is, in a sentence or two: "You are the assistant of a
	// shop." "" means the assistant in a window of a program.
	Identity string
	Model    string // "provider/name"
	Topic    string // topic of new pairs
	Author   string // author of new pairs; "" means the user of the store
	Role     Role   // role of the user; "" allows everything
	Quota    Quota  // limits on the user; nil means unlimited
	LogBytes int    // limit on the text of the events stored for readers, in bytes; 0 means 32 MiB. A reader further behind gets a Resync.
	Settings Settings
	Now      func() time.Time
	Log      *slog.Logger
	// Telemetry is called with a record of every attempt of a request; may be nil.
	Telemetry func(budget.Record)
	// TelemetryMessages adds the messages of each attempt, as sent, to its record.
	TelemetryMessages bool
}

// Quota limits what a user spends on language models. Its methods are called from any goroutine.
type Quota interface {
	// Admit is called before a turn begins, and counts it. An error prevents the turn.
	Admit(ctx context.Context) error
	// Spent counts the tokens of a response.
	Spent(used llm.Usage)
}

// Settings are the options that can be changed while the session runs. The zero value is the
// default.
type Settings struct {
	Iterations int // tool-call rounds in a turn; 0 means DefaultIterations
	Budget     budget.Params
	Confirm    ConfirmPolicy
	// ContextTokens limits the window's context; 0 means 16,000. The context is never given
	// more than a quarter of the model's limit.
	ContextTokens int
}

// Session is what a user interface drives: one conversation in one window. Its methods
// include the methods of three embedded types, where go doc lists them: View (which pairs
// are visible, as in session.Visible()), MessageQueue (the queued message) and Telemetry
// (what was sent).
type Session struct {
	View
	MessageQueue
	Telemetry

	registry *llm.Registry
	opts     Options
	now      func() time.Time
	log      *slog.Logger
	runID    string // identifies this run in stored session states

	// work is a semaphore of one for window, journal and store: send to acquire it, receive
	// to release it. A turn holds it until it ends.
	work    chan struct{}
	started bool // start has succeeded; guarded by work
	noted   bool // the session is in the journal; guarded by work

	queueing sync.Mutex // locked while a queued message is stored or removed from the store

	mu          publishingMutex // guards the fields below; never locked during I/O
	updates     sessionLog      // see Next
	current     sessionMemory
	model       string
	topic       string
	running     *turn
	turnStarted chan struct{} // closed when the next turn starts
	answers     map[string]chan bool
	shown       []shownPlan // newest last
	rollback    string      // id of the newest rollback of this session
	dequeued    []string    // sessions whose message, returned by Dequeue, is still in the store
	view        view
}

// View is the visible pairs of a Session. The next request contains as many of them as fit.
type View struct{ session *Session }

// Telemetry reports what a Session has sent, would send, and may send.
type Telemetry struct{ session *Session }

// sessionMemory is the part of a Session that Renew and Resume replace.
type sessionMemory struct {
	id          string
	queued      *Prompt
	queuePaused bool  // the queued message waits for the user, not for the end of a turn
	reask       int64 // the pair that the next message replaces; 0 if none
	cancelled   *Pair // the cancelled answer that can be kept; nil if none; immutable
	context     contextMemory
	storedState string // the sessionState as last stored
	stateRead   bool   // the stored sessionState, if any, has been read
	records     []budget.Record
	attempt     *budget.Record // newest of records; nil before the first
	lastSend    *LastSend      // nil before the first
}

// NewSession returns a session that uses the models of a registry. Pairs of earlier runs
// are not in its view until LoadView or SetView is called; new pairs are in it at once. It
// returns a *llm.ConfigError if the options cannot work; this also checks the current page,
// tools and model.
func NewSession(registry *llm.Registry, opts Options) (*Session, error) {
	if registry == nil {
		return nil, &llm.ConfigError{Field: "registry", Reason: "a session needs models"}
	}
	if err := opts.check(registry); err != nil {
		return nil, err
	}
	s := &Session{
		registry: registry, opts: opts, now: opts.Now, log: opts.Log, model: opts.Model, topic: opts.Topic,
		work: make(chan struct{}, 1), turnStarted: make(chan struct{}), answers: map[string]chan bool{},
	}
	s.View, s.MessageQueue, s.Telemetry = View{s}, MessageQueue{s}, Telemetry{s}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.opts.Store == nil {
		s.opts.Store = &MemoryStore{}
	}
	s.runID = NewID(s.now())
	s.current.id = cmp.Or(opts.ID, NewID(s.now()))
	s.view.tracker = budget.NewTracker(opts.Settings.Budget, s.limit())
	if s.updates.window = opts.Shared; opts.Shared == nil {
		s.updates.window = NewWindowLog(opts.Window, opts.Journal, nil)
	}
	s.updates.maxBytes = cmp.Or(opts.LogBytes, maxLogBytes)
	s.updates.states = s.states()
	s.mu.session = s
	return s, nil
}

// check returns an error for options that cannot work.
func (o Options) check(registry *llm.Registry) error {
	if !slices.Contains([]ConfirmPolicy{"", ConfirmSave, ConfirmAlways, ConfirmNever}, o.Settings.Confirm) {
		return &llm.ConfigError{Field: "confirm", Reason: fmt.Sprintf("unknown policy %q", o.Settings.Confirm)}
	}
	if _, mutex := o.Window.(interface{ TryLock() bool }); mutex {
		return &llm.ConfigError{Field: "window", Reason: "the window embeds a mutex, which the session would lock before it calls the window: make the mutex a field"}
	}
	if o.Journal != nil && o.Window == nil {
		return &llm.ConfigError{Field: "journal", Reason: "a journal needs a window"}
	}
	if o.Model != "" {
		if _, _, _, err := registry.Open(o.Model); err != nil && !errors.Is(err, llm.ErrModelGone) { // the user then picks another model
			return err
		}
	}
	if o.Pages != nil {
		if err := o.Pages.unlisted(); err != nil {
			return err
		}
	}
	var tools []Tool
	if o.Window != nil {
		tools = o.Window.Tools()
	}
	offered, err := (&Session{opts: o}).available(tools)
	if err == nil {
		_, err = newToolbox(offered.Tools)
	}
	return err
}

// acquireWork gives one caller at a time access to window, journal and store. It returns
// ErrBusy while a turn runs, also to callers that are waiting when one starts; a turn waits
// until the caller releases it. If another session or process has locked the window, the
// error is a *windowlock.LockedError or, after a wait, a *checkpoint.LockedError. With
// changes set, the user needs RoleWrite; the journal is then locked, the window matches the
// journal, and the session is recorded in it.
func (s *Session) acquireWork(changes bool) (release func(), err error) {
	if changes {
		if err := s.Needs(RoleWrite); err != nil {
			return nil, err
		}
	}
	return s.acquire(changes)
}

// acquire is acquireWork for any role.
func (s *Session) acquire(changes bool) (release func(), err error) {
	s.mu.Lock()
	id, busy, started := s.current.id, s.running != nil, s.turnStarted
	s.mu.Unlock()
	if busy {
		return nil, ErrBusy
	}
	select {
	case s.work <- struct{}{}:
		end, err := s.section(id, changes)
		if err != nil {
			<-s.work
			return nil, err
		}
		unlock := func() {}
		if changes {
			if unlock, err = s.lockJournal(context.Background()); err != nil {
				end()
				<-s.work
				return nil, err
			}
		}
		return func() {
			unlock()
			end()
			if changes {
				s.updates.window.Changed()
			}
			<-s.work
		}, nil
	case <-started:
		return nil, ErrBusy
	}
}

// ID returns the session's id.
func (s *Session) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.id
}

// Author returns the session's user; "" means the user of the store.
func (s *Session) Author() string { return s.opts.Author }

// Model returns the selected model, "provider/name"; "" if none is selected.
func (s *Session) Model() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model
}

// SetModel selects the model for the next message. A running turn continues with its own.
func (s *Session) SetModel(id string) error {
	if _, _, _, err := s.registry.Open(id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.model != id {
		s.log.Info("model selected", "from", s.model, "to", id)
	}
	s.model = id
	s.view.frozen = false
	s.view.tracker.SetLimit(s.limit())
	return nil
}

// Settings returns the current settings.
func (s *Session) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opts.Settings
}

// SetSettings changes the settings from the next message on. If CharsPerToken changes, the
// caller must compute the costs of the view again and call SetView.
func (s *Session) SetSettings(set Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.Settings = set
	s.view.frozen = false
	s.view.tracker.SetParams(set.Budget)
}

// Busy reports whether a turn is running.
func (s *Session) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil
}

// Registry returns the models that the session can use.
func (s *Session) Registry() *llm.Registry { return s.registry }

// Window returns the window that the assistant works on, or nil.
func (s *Session) Window() Window { return s.opts.Window }

// Journal returns the journal of the window, or nil.
func (s *Session) Journal() *checkpoint.Journal { return s.opts.Journal }

// TopicSeparator separates the names in a topic's path.
const TopicSeparator = " > "

// SetTopic sets the topic of new pairs, as a path.
func (s *Session) SetTopic(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topic = path
}

// Topic returns the topic of new pairs.
func (s *Session) Topic() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.topic
}

// TopicMoved updates the current topic after a topic was renamed, moved or removed in the
// store: to is its new path, or the topic its pairs went to. It reports whether the topic
// of new pairs has changed.
func (s *Session) TopicMoved(from, to string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest, below := strings.CutPrefix(s.topic+TopicSeparator, from+TopicSeparator)
	if !below || from == "" {
		return false
	}
	s.topic = strings.TrimPrefix(strings.TrimSuffix(to+TopicSeparator+rest, TopicSeparator), TopicSeparator)
	return true
}
