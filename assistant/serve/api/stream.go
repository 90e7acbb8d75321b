package api

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/assistant/windowlock"
)

// frame is an event in the form that followers receive.
type frame struct {
	wire     []byte // "id: N\nevent: TYPE\ndata: {…}\n\n"
	terminal bool   // true if the event ends a turn
}

// stream is a session with its frames.
type stream struct {
	*serve.Session
	server *Server
	frames *serve.Log[frame]
	idle   *time.Timer // calls endIdle; guarded by the server's mutex

	mu     sync.Mutex  // orders frames and guards turn
	turn   int64       // the number of the last frame before the newest turn
	expiry *time.Timer // answers the newest question; see expire
}

func newStream(s *Server, session *serve.Session) *stream {
	first := session.Opened().UnixMilli() // first is greater than all numbers of an earlier run
	return &stream{
		Session: session, server: s, turn: first - 1,
		frames: serve.NewLog(first, s.opts.Events, s.opts.EventBytes, func(f frame) int { return len(f.wire) }),
	}
}

// endIdle closes the session if it has been unused for Options.Idle.
func (st *stream) endIdle() {
	s := st.server
	s.mu.Lock()
	left := s.opts.Idle - st.Unused()
	if left > 0 {
		st.idle.Reset(left)
	}
	s.mu.Unlock()
	if left > 0 {
		return
	}
	s.metrics.Ended(serve.ServerHTTP, "idle")
	s.log.Info("the session was closed: it was unused for too long", "session", st.ID(), "user", st.User())
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	if err := s.closeStream(ctx, st); err != nil {
		s.log.Error("the idle session could not be closed", "session", st.ID(), "error", err)
	}
}

// add adds an event, encoded as JSON.
func (st *stream) add(event []byte, terminal bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	name := gjson.GetBytes(event, "type").Str
	st.frames.Add(frame{fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", st.frames.Last()+1, name, event), terminal})
}

// send starts a turn and returns the number of the last frame before the turn. If another turn is running, send queues
// the message instead and returns the text of the queued message in queued.
func (st *stream) send(ctx context.Context, p assistant.Prompt) (before int64, queued string, err error) {
	s := st.server
	for {
		before, err = st.start(st.begin(p))
		if !errors.Is(err, assistant.ErrBusy) {
			break
		}
		var waiting assistant.Prompt
		if waiting, err = st.Queue(ctx, p); !errors.Is(err, assistant.ErrNotBusy) { // ErrNotBusy means that the running turn has ended in the meantime
			queued = waiting.Text
			break
		}
	}
	if err == nil {
		if sentErr := st.AddSent(ctx, p.Text); sentErr != nil {
			s.log.Warn("the message could not be added to the list of sent messages", "error", sentErr)
		}
	}
	return before, queued, err
}

// begun is the sequence of the events of a turn that has started.
type begun = iter.Seq[assistant.Event]

// begin returns a function that starts the turn for a message. The turn outlives the request.
func (st *stream) begin(p assistant.Prompt) func() (begun, error) {
	return func() (begun, error) {
		after, err := st.Begin(context.Background(), p)
		return st.Events(context.Background(), after), err
	}
}

// start starts a turn and returns the number of the last frame before the turn.
func (st *stream) start(begin func() (begun, error)) (before int64, err error) {
	s := st.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return 0, serve.ErrClosed
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	before = st.frames.Last()
	events, err := begin()
	if err != nil {
		return 0, err
	}
	st.turn = before
	release := st.Use()
	s.turns.Go(func() {
		defer release()
		st.pump(events)
	})
	return before, nil
}

// pump reads a turn to its end and then starts the turn of the queued message.
func (st *stream) pump(events begun) {
	s := st.server
	turn := s.metrics.begin()
	defer func() { turn.spent(st.Session) }()
	for e := range events {
		turn.observe(e)
		if question, ok := e.(assistant.ConfirmRequest); ok {
			st.expire(question.ID)
		}
		raw, err := assistant.EncodeEvent(e)
		if err == nil {
			st.add(safetext.JSON(raw), ends(e))
		} else { // the data of a tool cannot be encoded
			s.log.Error("the event could not be encoded", "error", err)
		}
	}
	next, ok := st.NextQueued()
	if !ok {
		return
	}
	if _, err := st.start(st.begin(next)); errors.Is(err, assistant.ErrBusy) {
		_, err = st.Queue(context.Background(), next)
		if err != nil {
			s.log.Error("the queued message could not be sent", "error", err)
		}
	}
}

// ends reports whether an event is the last event of its turn.
func ends(e assistant.Event) bool {
	switch e.(type) {
	case assistant.Complete, assistant.Error, assistant.Cancelled:
		return true
	default:
		return false
	}
}

// expire answers no to a question if it is not answered in time.
func (st *stream) expire(id string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.expiry != nil {
		st.expiry.Stop()
	}
	st.expiry = time.AfterFunc(st.server.opts.AnswerWait, func() {
		if st.Answer(id, false) == nil {
			st.server.log.Warn("the question was not answered in time", "session", st.ID())
		}
	})
}

// relay adds to all streams the changes to the window whose numbers are higher than n, until the hub is closed.
func (s *Server) relay(n int64) {
	for changes := s.hub.Changes(); ; {
		entries, more, err := changes.After(n)
		if err != nil { // relay is so far behind that changes have been dropped
			n = changes.Last()
			continue
		}
		for _, c := range entries {
			n++
			raw, err := assistant.PlainJSON(struct {
				Type string `json:"type"`
				windowlock.Change
			}{windowChanged, c})
			if err != nil {
				continue // cannot happen, because all fields can be encoded
			}
			for _, st := range s.open() {
				st.add(safetext.JSON(raw), false)
			}
		}
		if more == nil {
			return
		}
		<-more
	}
}

// open returns the streams of all sessions.
func (s *Server) open() []*stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*stream, 0, len(s.streams))
	for _, st := range s.streams {
		out = append(out, st)
	}
	return out
}

// retryAfter is how long a client waits before it reconnects after the connection was lost.
const retryAfter = 2 * time.Second

// maxWrite is the number of bytes that a follower must receive within Options.Write.
const maxWrite = 64 << 10

// follow returns a handler that responds with the frames after a number. The response ends when the client disconnects
// or the stream ends; if turnOnly is true, it also ends at the end of the turn.
func (s *Server) follow(ctx context.Context, st *stream, after int64, turnOnly bool) (func(http.ResponseWriter, *http.Request), error) {
	attempt := attemptOf(ctx)
	attempt.started(st.ID(), after)
	if _, _, err := st.frames.After(after); err != nil {
		return nil, newProblem("events_gone", "no stored event has this id: read the pairs of the session, and follow it without Last-Event-ID")
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if attempt != nil {
			r = r.WithContext(attempt.ctx) // the response ends when its client disconnects
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the deadline of the server would end the stream
		w.Header().Set("Content-Type", eventStream)
		w.Header().Set("X-Accel-Buffering", "no") // a proxy must not buffer events
		w.WriteHeader(http.StatusOK)
		defer st.Use()()
		s.metrics.followers.Inc()
		defer s.metrics.followers.Dec()
		if !s.copyFrames(w, r, st, after, turnOnly) {
			s.metrics.dropped.Inc()
		}
	}, nil
}

// copyFrames writes frames and reports whether it ended normally: at the end of the stream or of the turn, or because
// the client disconnected. It returns false if the client reads too slowly or a write fails.
func (s *Server) copyFrames(w http.ResponseWriter, r *http.Request, st *stream, after int64, turnOnly bool) bool {
	quiet := time.NewTicker(s.opts.Comment)
	defer quiet.Stop()
	out := http.NewResponseController(w)
	write := func(text []byte) (ok bool) {
		for piece := range slices.Chunk(text, maxWrite) {
			_ = out.SetWriteDeadline(time.Now().Add(s.opts.Write))
			if _, err := w.Write(piece); err != nil || out.Flush() != nil {
				return false
			}
		}
		return true
	}
	for ok := write(fmt.Appendf(nil, "retry: %d\n\n", retryAfter.Milliseconds())); ok; {
		frames, more, err := st.frames.After(after)
		if err != nil {
			break // the follower is so slow that its next frame is no longer stored
		}
		var text []byte
		ended := false
		for _, f := range frames {
			text = append(text, f.wire...)
			after++
			if ended = turnOnly && f.terminal; ended || len(text) >= maxWrite {
				break
			}
		}
		if len(text) > 0 {
			if ok = write(text); ended && ok {
				return true
			}
			continue
		}
		if more == nil {
			return true
		}
		select {
		case <-more:
		case <-quiet.C:
			ok = write([]byte(":\n\n"))
		case <-r.Context().Done():
			return true
		}
	}
	return false
}
