package assistant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// ConfirmPolicy is which tools ask the user before they run.
type ConfirmPolicy string

// The policies of the setting confirm. A model cannot change it.
const (
	ConfirmSave   ConfirmPolicy = "save"   // tools that are Lasting; the default
	ConfirmAlways ConfirmPolicy = "always" // every write tool
	ConfirmNever  ConfirmPolicy = "never"
)

// Options configures a Session. The zero value works, but sending needs a Model. Without a
// window it is a plain chat, without a store it remembers as long as it lives, without a
// journal no write tool changes the window.
type Options struct {
	// ID of the session. One that the Store has continues that session, see LoadView for
	// its pairs; any other begins a session of that name. "" makes a new id.
	ID     string
	Window Window
	Pages  *Pages // nil: there are no tools but the window's
	// Tools returns further tools, such as those of other programs. It is called for each
	// turn, from any goroutine, and answers from memory; nil: there are none.
	Tools func() []Tool
	Store Store // nil is a MemoryStore; the session does not close it
	// Journal holds the checkpoints, and survives the program; the session does not close
	// it. The state of the window is not restored from it but recorded as the newest: a
	// window that stores nothing itself applies Journal.Current before NewSession.
	Journal *checkpoint.Journal
	// Member is the session's part in a window that others share; nil if the window is not shared.
	Member *windowlock.Member
	// Shared is the log of that window; nil makes one.
	Shared *WindowLog
	// WithoutCheckpoints lets write tools run in a session that has no Journal:
	// what they do cannot be undone.
	WithoutCheckpoints bool

	// Identity says to the model who it is, in a sentence or two: "You are the assistant
	// of a shop." "" is the assistant inside a window of a program.
	Identity string
	Model    string // "provider/name"
	Topic    string // of new pairs
	Author   string // of new pairs; "" is the user of the store
	Role     Role   // of the user; "" allows everything
	Quota    Quota  // of the user; nil: there is no limit
	Settings Settings
	Now      func() time.Time
	Log      *slog.Logger
	// Telemetry receives a record of every attempt of a request; nil records nothing.
	Telemetry func(budget.Record)
	// TelemetryMessages asks for the messages of each attempt in its record, as
	// they were sent.
	TelemetryMessages bool
}

// Quota limits what a user spends on language models. Its methods are called from any goroutine.
type Quota interface {
	// Admit counts a turn that is to begin. An error keeps it from beginning.
	Admit(ctx context.Context) error
	// Spent counts the tokens of a response.
	Spent(used llm.Usage)
}

// Settings are what a user can set. The zero value is the default.
type Settings struct {
	Iterations int // rounds of tool calls in a turn; 0 is DefaultIterations
	Budget     budget.Params
	Confirm    ConfirmPolicy
	// ContextTokens bounds the window's context; 0 is 16,000. It is never more
	// than a quarter of the model's limit.
	ContextTokens int
}

// Session is what a user interface drives: one conversation in one window. It has the
// methods of three embedded types too, which go doc lists there: View (which pairs are
// visible, as in session.Visible()), MessageQueue (which message waits) and Telemetry (what
// was sent).
type Session struct {
	View
	MessageQueue
	Telemetry

	registry *llm.Registry
	opts     Options
	now      func() time.Time
	log      *slog.Logger
	runID    string // of this run, in stored session states

	// work is a semaphore of one for window, journal and store: acquire work on
	// them by sending, release by receiving. A turn has it until its end.
	work    chan struct{}
	started bool // in the store; guarded by work
	noted   bool // in the journal; guarded by work

	mu          publishingMutex // guards the fields below; never held over I/O
	updates     sessionLog      // see Next
	current     sessionMemory
	model       string
	topic       string
	running     *turn
	turnStarted chan struct{} // closed when the next turn starts
	answers     map[string]chan bool
	shown       []shownPlan // the newest last
	rollback    string      // id of the newest rollback of this session
	view        view
}

// View is the visible pairs of a Session, which the next request contains as far as they fit.
type View struct{ session *Session }

// MessageQueue is the message of a Session that waits for the end of the running response,
// and the pair that the next message replaces.
type MessageQueue struct{ session *Session }

// Telemetry is what a Session has sent, would send, and may send.
type Telemetry struct{ session *Session }

// sessionMemory is the part of a Session that Renew and Resume replace with the id.
type sessionMemory struct {
	id          string
	queued      *Prompt
	queuePaused bool  // queued waits for the user, not for the end of a turn
	dequeued    bool  // Dequeue returned a message that is still in the store
	reask       int64 // the pair that the next message replaces; 0 for none
	cancelled   *Pair // the cancelled answer that is offered; nil for none. It does not change
	context     contextMemory
	storedState string // the sessionState as it was stored last
	records     []budget.Record
	attempt     *budget.Record // the newest of records; nil before the first
	lastSend    *LastSend      // nil before the first
}

// NewSession returns a session over the models of a registry. Pairs of earlier runs are not
// in its view until LoadView or SetView; new ones are at once. Options that cannot work are a *llm.ConfigError: the page,
// tools and model of this moment are checked, too.
func NewSession(registry *llm.Registry, opts Options) (*Session, error) {
	if registry == nil {
		return nil, &llm.ConfigError{Field: "registry", Reason: "a session needs models to talk to"}
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
	s.updates.states = s.states()
	s.mu.session = s
	return s, nil
}

// check refuses options that cannot work.
func (o Options) check(registry *llm.Registry) error {
	if !slices.Contains([]ConfirmPolicy{"", ConfirmSave, ConfirmAlways, ConfirmNever}, o.Settings.Confirm) {
		return &llm.ConfigError{Field: "confirm", Reason: fmt.Sprintf("there is no policy %q", o.Settings.Confirm)}
	}
	if _, mutex := o.Window.(interface{ TryLock() bool }); mutex {
		return &llm.ConfigError{Field: "window", Reason: "the window embeds a mutex, which the session would hold while it calls the window: make it a field"}
	}
	if o.Journal != nil && o.Window == nil {
		return &llm.ConfigError{Field: "journal", Reason: "a journal is of a window, and there is none"}
	}
	if o.Model != "" {
		if _, _, _, err := registry.Open(o.Model); err != nil && !errors.Is(err, llm.ErrModelGone) { // a user picks another one then
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

// acquireWork gives window, journal and store to one caller at a time. It is
// ErrBusy while a turn runs, also for a caller that waits when a turn starts; a
// turn waits for the caller that has it. A change of a window that another session or
// process has is a *windowlock.HeldError or, after a wait, a *checkpoint.LockedError. With
// changes the journal is locked, the window is as the journal says, and the session is
// noted in it.
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
		end, err := s.opts.Member.Section(id, changes)
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

// ID names the session.
func (s *Session) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.id
}

// Author is who writes in the session; "" is the user of the store.
func (s *Session) Author() string { return s.opts.Author }

// Model is the selected model, "provider/name"; "" for none.
func (s *Session) Model() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model
}

// SetModel selects the model for the next send. A running turn continues with its own.
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

// Settings returns what the session works with.
func (s *Session) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opts.Settings
}

// SetSettings changes them from the next send on. When CharsPerToken
// differs, the caller computes the costs of the view again and calls SetView.
func (s *Session) SetSettings(set Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.Settings = set
	s.view.frozen = false
	s.view.tracker.SetParams(set.Budget)
}

// Busy reports whether a turn runs.
func (s *Session) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil
}

// Registry returns the models that the session can use.
func (s *Session) Registry() *llm.Registry { return s.registry }

// Window returns what the assistant works on; nil is nothing.
func (s *Session) Window() Window { return s.opts.Window }

// Journal returns the journal of the window; nil for none.
func (s *Session) Journal() *checkpoint.Journal { return s.opts.Journal }

// Pairs loads pairs by Seq, the running one with its new answer as far as it is stored.
func (s *Session) Pairs(ctx context.Context, seqs []int64) ([]Pair, error) {
	pairs, err := s.load(ctx, seqs)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.running; t != nil && t.progress != nil {
		for i := range pairs {
			if p := &pairs[i]; p.Seq == t.seq {
				p.setAnswer(t.progress.Answer())
			}
		}
	}
	return pairs, err
}

// load loads pairs for the screen and for requests: what an import or another program
// stored is made safe to show, and sent as it is shown.
func (s *Session) load(ctx context.Context, seqs []int64) ([]Pair, error) {
	pairs, err := s.opts.Store.Load(ctx, seqs)
	for i := range pairs {
		pairs[i].Clean()
	}
	return pairs, err
}

// TopicSeparator stands between the names of a topic's path.
const TopicSeparator = " > "

// SetTopic gives the pairs to come a topic, as a path.
func (s *Session) SetTopic(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topic = path
}

// Topic is the topic of the pairs to come.
func (s *Session) Topic() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.topic
}

// TopicMoved follows a topic that was renamed, moved or removed in the store:
// to is its new path, or the one its pairs went to. It reports whether the topic
// of the pairs to come has changed.
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

// pair loads one pair; ErrNoPair when it is not there.
func (s *Session) pair(ctx context.Context, seq int64) (*Pair, error) {
	pairs, err := s.load(ctx, []int64{seq})
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 {
		return nil, ErrNoPair
	}
	return &pairs[0], nil
}
