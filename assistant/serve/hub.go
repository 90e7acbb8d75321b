package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/windowlock"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// Errors returned when a session is opened.
var (
	// ErrNoSession means that a session is not open, or is not in the history.
	ErrNoSession = errors.New("there is no such session")
	// ErrOpen means that a user already has the session open.
	ErrOpen = errors.New("the session is already open")
	// ErrClosed means that the hub has been closed.
	ErrClosed = errors.New("the server is shutting down")
)

// AnswerWait is how long a question asked in a turn waits for an answer: long enough to read what a tool wants to
// change. Other users can change the window during that time. If nobody has answered by then, the front end declines.
const AnswerWait = 5 * time.Minute

// Options configures a Hub.
type Options struct {
	Registry *llm.Registry
	// Session contains the options common to all sessions. Window and Journal are required; the Hub sets ID, Store,
	// LogBytes, Shared, Member, Author, Role and Quota.
	Session assistant.Options
	History history.Store
	Folder  string // the folder of the window
	Window  string // the name of the window, which is stored with its sessions
	Limits  Limits // the limits of each user
	// Wait is how long a change made by hand waits for the turn of another user; 0 means checkpoint.DefaultWait.
	Wait    time.Duration
	Metrics *Metrics // may be nil
	// OnChange is called for every change, in order, with the states before and after the change. It must not block; it
	// may be nil.
	OnChange func(windowlock.Change)
}

// Hub holds the window of a folder, which its sessions share. Use NewHub.
type Hub struct {
	opts    Options
	now     func() time.Time
	shared  *windowlock.Lock
	changes *Log[windowlock.Change]
	stop    context.CancelFunc // ends watch

	background sync.WaitGroup // work that announce has started

	proposals sync.Mutex // guards the stored list of open proposals

	mu       sync.Mutex // guards the fields below
	quotas   map[string]*quota
	sessions []*Session // in the order they were opened
	closed   bool
}

// keptChanges is the number of changes that a reader may lag behind before it misses some.
const keptChanges = 1000

// NewHub returns a hub without sessions. Until Close, the hub watches for changes to the window's saved state.
func NewHub(o Options) *Hub {
	h := &Hub{opts: o, now: o.Session.Now, changes: NewLog[windowlock.Change](1, keptChanges, 0, nil)}
	if h.now == nil {
		h.now = time.Now
	}
	if o.Metrics != nil {
		h.opts.History = timed{o.History, o.Metrics}
		o.Metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "winnow_sessions", Help: "Open sessions of all front ends."},
			func() float64 { return float64(len(h.Sessions())) }))
		o.Metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "winnow_session_event_bytes", Help: "Bytes of text in the events that all sessions store for their readers."}, h.eventBytes))
	}
	h.opts.Session.Store, h.opts.Session.LogBytes = h.opts.History, cmp.Or(o.Limits.Bytes, DefaultSessionBytes)
	h.opts.Session.Shared = assistant.NewWindowLog(o.Session.Window, o.Session.Journal, h.present)
	h.shared = windowlock.New(assistant.LockerOf(o.Session.Window), h.announce, h.now, cmp.Or(o.Wait, checkpoint.DefaultWait))
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	if w, ok := o.Session.Window.(assistant.Watcher); ok {
		if saved, err := w.Watch(ctx); err == nil { // if there is an error, changes by other programs are noticed only at the next save
			go h.watch(saved)
		}
	}
	return h
}

// eventBytes returns the size of the events that all sessions store for their readers.
func (h *Hub) eventBytes() float64 {
	sum := 0
	for _, s := range h.Sessions() {
		sum += s.Session().LogSize()
	}
	return float64(sum)
}

// announce passes a change on to OnChange, the log and the sessions. h.shared calls it for one change at a time.
func (h *Hub) announce(c windowlock.Change) {
	if d, ok := h.opts.Session.Window.(assistant.Describer); ok && c.Before != nil {
		c.Effect = d.DescribeChange(c.Before, c.After)
	}
	if h.opts.OnChange != nil {
		h.opts.OnChange(c)
	}
	c.Before, c.After = nil, nil // the states may be large
	h.changes.Add(c)
	switch c.Kind {
	case windowlock.Held, windowlock.Released, windowlock.Waiting, windowlock.Joined, windowlock.Left, windowlock.Reloaded, windowlock.Applied:
		h.opts.Session.Shared.Changed()
	case windowlock.Edited, windowlock.ToolRan, windowlock.Saved, windowlock.RolledBack, windowlock.Proposed, windowlock.Decided: // the session itself calls Changed at the end of its step
	}
	switch c.Kind {
	case windowlock.Saved:
		h.opts.Metrics.saved()
	case windowlock.RolledBack:
		h.background.Go(func() { h.refilter(c.Session) })
	case windowlock.Proposed, windowlock.Decided:
		h.background.Go(func() { h.proposed(c.Pair, c.Kind == windowlock.Proposed) })
	default:
	}
}

// present returns the users who are in the window, the turns that wait for an answer, and the holder of the lock.
func (h *Hub) present() windowlock.Others {
	others := windowlock.Others{Waiting: h.Waiting(), Changes: h.changes.Last()}
	for _, s := range h.Sessions() {
		if s.Unused() < presentTime {
			others.Present = append(others.Present, windowlock.Present{User: s.user, Session: s.ID()})
		}
	}
	if holder, held := h.Holder(); held {
		others.Holder = &holder
	}
	return others
}

// refilter evaluates the filter lines of all sessions again, because different pairs may match now. It skips the
// session with the id in done, whose view is up to date.
func (h *Hub) refilter(done string) {
	for _, s := range h.Sessions() {
		if s.ID() == done {
			continue
		}
		if err := s.Refilter(context.Background()); err != nil && h.opts.Session.Log != nil {
			h.opts.Session.Log.Warn("the filter line could not be evaluated", "session", s.ID(), "error", err)
		}
	}
}

// Refilter evaluates the filter lines of all sessions again. It must be called after another program has changed pairs.
func (h *Hub) Refilter() { h.refilter("") }

// watch announces changes that other programs make to the saved state.
func (h *Hub) watch(saved <-chan assistant.SavedChange) {
	for c := range saved {
		change := windowlock.Change{Kind: windowlock.Reloaded, What: c.Path}
		if c.Deleted {
			change.Effect = c.Outcome()
		}
		h.shared.Announce(change)
	}
}

// Followed announces a change that another program on this machine has made to the window.
func (h *Hub) Followed(who, what string) {
	h.shared.Announce(windowlock.Change{Kind: windowlock.Edited, User: who, What: what, Effect: what})
	h.opts.Session.Shared.Changed()
}

// Applied announces the result of applying a save.
func (h *Hub) Applied(a assistant.Applied) {
	h.shared.Announce(windowlock.Change{Kind: windowlock.Applied, What: string(a.State), Effect: string(a.Message)})
}

// Changes returns the log of the changes to the window. Its entries do not contain the states Before and After.
func (h *Hub) Changes() *Log[windowlock.Change] { return h.changes }

// Holder returns the holder of the window's lock; ok is false if no turn holds it.
func (h *Hub) Holder() (windowlock.Holder, bool) { return h.shared.Holder() }

// Waiting returns the turns that are waiting for their user's answer; see windowlock.Lock.Waiting.
func (h *Hub) Waiting() []windowlock.Holder { return h.shared.Waiting() }

// Author returns the user and session that are changing the window now, for checkpoint.Options; both are "" if there is
// no such session.
func (h *Hub) Author() (user, session string) { return h.shared.Author() }

// Journal returns the journal of the window.
func (h *Hub) Journal() *checkpoint.Journal { return h.opts.Session.Journal }

// Window returns the shared window, for reading.
func (h *Hub) Window() assistant.Window { return h.opts.Session.Window }

// Place returns the shared window with a position of its own: a choice made through the returned window, such as a
// provider, does not affect other users. If the window is not an assistant.Placer, Place returns the window itself.
func (h *Hub) Place() assistant.Window {
	if w, ok := h.opts.Session.Window.(assistant.Placer); ok {
		return w.Place()
	}
	return h.opts.Session.Window
}

// Join specifies which session is opened, and by which user.
type Join struct {
	User    string         // name shown to other users and author of the pairs; "" is shown as "someone", and the author is then the user of the history
	Role    assistant.Role // what the user may do; "" means assistant.RoleSave
	Key     string         // Credential.Key of the user, to find the sessions of a revoked credential; "" if there is none
	Session string         // session to continue; "" starts a new one
	Model   string         // "" means the model last used in the session, or the model of the hub
	Models  *llm.Registry  // models of the session, including Model; their turns and tokens are not limited. nil means the models of the hub
	// Window is the window with a position of its own, as returned by Place, for a session without a screen. nil means the
	// position that all screens show.
	Window assistant.Window
}

// maxUser is the maximum width of a user name in cells.
const maxUser = 40

// Open opens a session for a user. The error is ErrNoSession, ErrOpen, ErrClosed, a *LimitError, an
// *assistant.RoleError, an error about an unknown model, or an error of the history.
func (h *Hub) Open(ctx context.Context, j Join) (*Session, error) {
	o := h.opts.Session
	stored, err := h.stored(ctx, j.Session)
	if err != nil {
		return nil, err
	}
	o.ID = stored.ID
	models := cmp.Or(j.Models, h.opts.Registry)
	if _, _, _, err := models.Open(stored.Model); err == nil {
		o.Model = stored.Model
	}
	if o.Model = cmp.Or(j.Model, o.Model); j.Model != "" {
		if _, _, _, err := models.Open(j.Model); err != nil {
			return nil, err
		}
	}
	o.Author, o.Role = string(safetext.Line(j.User, maxUser)), cmp.Or(j.Role, assistant.RoleSave)
	if j.Window != nil {
		o.Window = j.Window
	}
	if !o.Role.May(assistant.RoleRead) {
		return nil, &assistant.RoleError{Role: o.Role, Need: assistant.RoleRead}
	}
	s := &Session{hub: h, id: o.ID, user: cmp.Or(o.Author, "someone"), key: j.Key, opened: h.now(), used: h.now()}
	s.member = h.shared.Join(s.user)
	o.Member = s.member
	if q := h.quotaOf(s.user); q != nil && j.Models == nil { // a session with its own models does not use the server's
		o.Quota = q
	}
	session, err := assistant.NewSession(models, o)
	if err != nil {
		return nil, err
	}
	s.Workspace = workspace.New(workspace.Options{
		Session: session, History: h.opts.History, Folder: h.opts.Folder, User: s.user, Author: s.user, Now: h.now,
	})
	if err := h.add(s); err != nil {
		return nil, err
	}
	stored.Model, stored.Used = o.Model, h.now()
	err = errors.Join(session.Start(ctx), session.LoadView(ctx))
	if err == nil {
		err = session.CheckOwner(ctx, session.Visible())
	}
	if err == nil {
		err = h.opts.History.Touch(ctx, stored)
	}
	if err != nil {
		h.remove(s)
		return nil, fmt.Errorf("open a session: %w", err)
	}
	if o.Role.May(assistant.RoleSave) {
		h.showProposals(ctx, s)
	}
	s.member.Announce(windowlock.Joined, o.ID, "", nil, nil)
	return s, nil
}

// stored returns the session with this id from the history, or a new session if id is "".
func (h *Hub) stored(ctx context.Context, id string) (history.Session, error) {
	if id == "" {
		return history.Session{ID: assistant.NewID(h.now()), Folder: h.opts.Folder, Window: h.opts.Window}, nil
	}
	found, ok, err := h.opts.History.Session(ctx, id)
	if err == nil && (!ok || found.Window != "" && found.Window != h.opts.Window) {
		err = ErrNoSession
	}
	return found, err
}

func (h *Hub) add(s *Session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	if slices.ContainsFunc(h.sessions, func(open *Session) bool { return open.ID() == s.id }) {
		return ErrOpen
	}
	if err := h.checkSessions(s.user); err != nil {
		return err
	}
	h.sessions = append(h.sessions, s)
	return nil
}

func (h *Hub) remove(s *Session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := slices.Index(h.sessions, s)
	if at >= 0 {
		h.sessions = slices.Delete(h.sessions, at, at+1)
	}
	return at >= 0
}

// Sessions returns the open sessions in the order in which they were opened.
func (h *Hub) Sessions() []*Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sessions)
}

// Session returns the open session with this id, or ErrNoSession.
func (h *Hub) Session(id string) (*Session, error) {
	for _, s := range h.Sessions() {
		if s.ID() == id {
			return s, nil
		}
	}
	return nil, ErrNoSession
}

// Close closes all sessions, interrupting their turns, and prevents opening new ones.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.stop()
	var err error
	for _, s := range h.Sessions() {
		err = errors.Join(err, s.Close(ctx))
	}
	h.background.Wait()
	h.changes.Close()
	return err
}
