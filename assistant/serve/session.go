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
	"winnow/assistant/share"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// Session is the session of one user in a Hub.
type Session struct {
	*workspace.Workspace
	hub    *Hub
	member *share.Member
	id     string // at Open
	user   string
	opened time.Time

	mu    sync.Mutex // guards the fields below
	using int        // calls of Use that are not released
	used  time.Time  // when the session was used last
}

// Use marks the session as used until release is called: by a screen, a request or a turn.
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

// Unused is for how long nobody has used the session.
func (s *Session) Unused() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.using > 0 {
		return 0
	}
	return max(0, s.hub.now().Sub(s.used))
}

// ID names the conversation; Renew and Resume of the workspace change it.
func (s *Session) ID() string { return s.Session().ID() }

// User is who opened the session.
func (s *Session) User() string { return s.user }

// Opened is when.
func (s *Session) Opened() time.Time { return s.opened }

// Close ends the session: its running turn is interrupted, the window is free again
// and the conversation can be continued later. A second Close does nothing.
func (s *Session) Close(ctx context.Context) error {
	if !s.hub.remove(s) {
		return nil
	}
	err := s.Session().Close(ctx)
	s.member.Announce(share.Left, s.ID(), "", nil, nil)
	return err
}

// Changes is the log of what happens in the window, by all sessions.
func (s *Session) Changes() *Log[share.Change] { return s.hub.Changes() }

// HeldBy is the user of another session whose turn has the window; "" is nobody.
func (s *Session) HeldBy() string {
	if h, held := s.hub.Holder(); held && h.Session != s.ID() {
		return h.User
	}
	return ""
}

// presentTime is how long a user counts as present who does nothing.
const presentTime = 5 * time.Minute

// OthersWaiting are the users of other sessions whose turns wait for their answer, the
// longest first. They do not have the window.
func (s *Session) OthersWaiting() (users []string) {
	for _, h := range s.hub.Waiting() {
		if h.Session != s.ID() {
			users = append(users, h.User)
		}
	}
	return users
}

// Others are the users of the other open sessions, in the order they were opened. One
// that was left without being closed does not count.
func (s *Session) Others() (users []string) {
	for _, other := range s.hub.Sessions() {
		if other != s && other.Unused() < presentTime {
			users = append(users, other.user)
		}
	}
	return users
}

// UserOf is who has a session open; "" when nobody has.
func (s *Session) UserOf(session string) string {
	if other, err := s.hub.Session(session); err == nil {
		return other.user
	}
	return ""
}

// OthersSince are the steps of other sessions that a rollback to a checkpoint undoes.
func (s *Session) OthersSince(id string) []checkpoint.Checkpoint {
	return s.hub.Journal().OthersSince(id, s.ID())
}

// Match returns the pairs that a filter line matches. The view stays as it is.
func (s *Session) Match(ctx context.Context, line string) ([]assistant.Ref, error) {
	q, err := filter.Parse(line)
	if err != nil {
		return nil, err
	}
	found, err := s.hub.opts.History.Filter(ctx, q, history.EnvOf(s.Session(), s.hub.now()))
	return found.Refs, err
}

// CallTool runs a tool of the window by hand. A write tool is one step that can be
// undone. Whoever calls a lasting tool has asked the user before. What the tool could
// not do is in the result; an error tells why it was not called: *share.HeldError,
// assistant.ErrBusy or a journal that cannot be written. report may be nil.
func (s *Session) CallTool(ctx context.Context, name string, args json.RawMessage, report func(assistant.Progress)) (r assistant.ToolResult, err error) {
	tools := s.Session().Window().Tools()
	i := slices.IndexFunc(tools, func(t assistant.Tool) bool { return t.Name == name })
	if i < 0 {
		return assistant.Fail(assistant.CodeUnknownTool, "there is no tool %q", name), nil
	}
	tool := tools[i]
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
	if err != nil {
		return assistant.ToolResult{}, err
	}
	if tool.Lasting && r.Success && bytes.Equal(before, journal.Current()) { // a save is not a step
		s.member.Announce(share.Saved, s.ID(), name, before, before)
	}
	return r, nil
}
