package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/windowlock"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// Session is a workspace that a user has opened in a Hub.
type Session struct {
	*workspace.Workspace
	hub    *Hub
	member *windowlock.Member
	id     string // the id of the conversation that Open opened
	user   string
	key    string
	opened time.Time

	mu    sync.Mutex // guards the fields below
	using int        // number of calls to Use that have not been released
	used  time.Time  // when the session was last used
}

// Use marks the session as in use, by a screen, a request or a turn, until release is called.
func (s *Session) Use() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.using++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.using--
		s.used = s.hub.now()
	})
}

// Unused returns how long ago the session was last in use; 0 while it is in use.
func (s *Session) Unused() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.using > 0 {
		return 0
	}
	return max(0, s.hub.now().Sub(s.used))
}

// ID returns the id of the session's current conversation. Workspace.Renew and Workspace.Resume change it.
func (s *Session) ID() string { return s.Session().ID() }

// User returns the user who opened the session.
func (s *Session) User() string { return s.user }

// Key returns Join.Key, as passed to Open.
func (s *Session) Key() string { return s.key }

// Opened returns the time at which the session was opened.
func (s *Session) Opened() time.Time { return s.opened }

// Close ends the session: it interrupts a running turn and unlocks the window. The conversation can be continued later.
// Further calls do nothing.
func (s *Session) Close(ctx context.Context) error {
	if !s.hub.remove(s) {
		return nil
	}
	err := s.Session().Close(ctx)
	s.member.Announce(windowlock.Left, s.ID(), "", nil, nil)
	return err
}

// Changes returns the log of the changes that all sessions make to the window.
func (s *Session) Changes() *Log[windowlock.Change] { return s.hub.Changes() }

// HeldBy returns the user of the other session whose turn has locked the window; "" if there is none.
func (s *Session) HeldBy() string {
	if h, held := s.hub.Holder(); held && h.Session != s.ID() {
		return h.User
	}
	return ""
}

// presentTime is how long a user without activity counts as present.
const presentTime = 5 * time.Minute

// OthersWaiting returns the users of the other sessions whose turns wait for their user's answer, longest wait first.
// These turns do not lock the window.
func (s *Session) OthersWaiting() (users []string) {
	for _, h := range s.hub.Waiting() {
		if h.Session != s.ID() {
			users = append(users, h.User)
		}
	}
	return users
}

// Others returns the users of the other open sessions, in the order in which the sessions were opened. It omits
// sessions that have not been used for presentTime.
func (s *Session) Others() (users []string) {
	for _, other := range s.hub.Sessions() {
		if other != s && other.Unused() < presentTime {
			users = append(users, other.user)
		}
	}
	return users
}

// UserOf returns the user who has opened a session; "" if it is not open.
func (s *Session) UserOf(session string) string {
	if other, err := s.hub.Session(session); err == nil {
		return other.user
	}
	return ""
}

// OthersSince returns the steps of other sessions that a rollback to a checkpoint would undo.
func (s *Session) OthersSince(id string) []checkpoint.Checkpoint {
	return s.hub.Journal().OthersSince(id, s.ID())
}

// Match returns the pairs that match a filter line. It does not change the view.
func (s *Session) Match(ctx context.Context, line string) ([]assistant.Ref, error) {
	q, err := filter.Parse(line)
	if err != nil {
		return nil, err
	}
	found, err := s.hub.opts.History.Filter(ctx, q, history.EnvOf(s.Session(), s.hub.now()))
	return found.Refs, err
}

// BranchOff creates a session that branches from this one at a pair, and returns the id of the new session. It does not
// open the new session, and this session continues. The error is assistant.ErrBusy during a turn.
func (s *Session) BranchOff(ctx context.Context, seq int64) (id string, err error) {
	if s.Session().Busy() {
		return "", assistant.ErrBusy
	}
	id = assistant.NewID(s.hub.now())
	return id, s.Session().BranchInto(ctx, id, seq)
}

// mayCall returns an *assistant.RoleError if the user may not call a tool.
func (s *Session) mayCall(tool assistant.Tool) error {
	switch {
	case tool.Lasting:
		return s.Session().Needs(assistant.RoleSave)
	case tool.Write:
		return s.Session().Needs(assistant.RolePropose)
	}
	return s.Session().Needs(assistant.RoleRead)
}

// CallTool runs a tool of the window by hand. A call of a write tool is one step that can be undone. The caller must
// ask the user before it calls a lasting tool. Failures of the tool are in the result. The error is an
// *assistant.RoleError, a *windowlock.LockedError, assistant.ErrBusy, or an error of the journal; the window is then
// unchanged. report may be nil.
func (s *Session) CallTool(ctx context.Context, name string, args json.RawMessage, report func(assistant.Progress)) (r assistant.ToolResult, err error) {
	tools := s.Session().Window().Tools()
	i := slices.IndexFunc(tools, func(t assistant.Tool) bool { return t.Name == name })
	if i < 0 {
		return assistant.Fail(assistant.CodeUnknownTool, "there is no tool %q", name), nil
	}
	tool := tools[i]
	if err := s.mayCall(tool); err != nil {
		return assistant.ToolResult{}, err
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if problem := tool.Problem(args); problem != "" {
		return assistant.Fail(assistant.CodeInvalidArguments, "%s", problem), nil
	}
	ctx = s.Session().ToolContext(ctx)
	if report == nil {
		report = func(assistant.Progress) {}
	}
	if !tool.Write {
		return tool.Call(ctx, args, report), nil
	}
	journal := s.Session().Journal()
	before := journal.Current()
	err = s.Edit(assistant.CallInWords(name, args), func() error {
		r = tool.Call(ctx, args, report)
		return nil
	})
	if proposed := assistant.AsProposed(err); proposed != nil {
		return assistant.OK(proposed.Error(), map[string]any{"proposed_in": proposed.Pair}), nil
	}
	if err != nil {
		return assistant.ToolResult{}, err
	}
	if tool.Lasting && r.Success && bytes.Equal(before, journal.Current()) { // a save is not a step that can be undone
		s.member.Announce(windowlock.Saved, s.ID(), name, before, before)
	}
	return r, nil
}
