package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/serve"
	"winnow/assistant/serve/servetest"
)

// list is embedded under this name because it has a method Words.
type list = servetest.Words

// words is the test window, which can panic.
type words struct {
	*list
	panics atomic.Bool // Context does
}

func (w *words) Context() (any, error) {
	if w.panics.Load() {
		panic("in the window")
	}
	return w.list.Context()
}

// rig is a server over a list of words, on the loopback interface.
type rig struct {
	t      testing.TB
	server *Server
	hub    *serve.Hub
	store  history.Store
	window *words
	script *at.Script
	url    string
	stop   context.CancelFunc // ends Serve
	served chan error         // the result of Serve
	log    *lockedBuffer

	document *document
	faults   *faulty

	mu     *sync.Mutex
	tokens map[string]string // by user
	owners map[string]string // users by session
}

// What starts a payload in an answer.
const (
	proposalMarker = "WORD_PROPOSAL:" // of a word
	noteMarker     = "NOTE:"          // of what cannot be accepted
)

// proposals are pages on which a word can be proposed.
func proposals(t testing.TB) *assistant.Pages {
	t.Helper()
	pages := &assistant.Pages{}
	err := pages.AddPayload(assistant.PayloadType{Name: "note", Source: assistant.FromLLM, Marker: noteMarker, Global: true})
	if err != nil {
		t.Fatal(err)
	}
	err = pages.AddPayload(assistant.PayloadType{
		Name: "word_proposal", Source: assistant.FromLLM, Marker: proposalMarker, Global: true,
		Calls: func(data json.RawMessage) ([]llm.Call, error) {
			return []llm.Call{{ID: "p", Name: "add_word", Arguments: string(data)}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// faulty is a history whose disk can fail.
type faulty struct {
	history.Store
	broken atomic.Bool
}

func (f *faulty) fault() error {
	if f.broken.Load() {
		return &history.StorageError{Op: "read", Path: "private", Reason: "the disk failed"}
	}
	return nil
}

func (f *faulty) Session(ctx context.Context, id string) (history.Session, bool, error) {
	if err := f.fault(); err != nil {
		return history.Session{}, false, err
	}
	return f.Store.Session(ctx, id)
}

func (f *faulty) Load(ctx context.Context, seqs []int64) ([]assistant.Pair, error) {
	if err := f.fault(); err != nil {
		return nil, err
	}
	return f.Store.Load(ctx, seqs)
}

func (f *faulty) Sessions(ctx context.Context) ([]history.Session, error) {
	if err := f.fault(); err != nil {
		return nil, err
	}
	return f.Store.Sessions(ctx)
}

// lockedBuffer is a log that can be read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// smallBuffers accepts connections that store little of what nobody reads.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		err = conn.(*net.TCPConn).SetWriteBuffer(16 << 10)
	}
	return conn, err
}

const testToken = "the-token-of-this-test"

func newRig(t testing.TB, script *at.Script, change ...func(*Options)) *rig {
	t.Helper()
	r := newRigOver(t, script, change...)
	r.script = script
	return r
}

// newRigOver is newRig with any model.
func newRigOver(t testing.TB, model llm.Model, change ...func(*Options)) *rig {
	t.Helper()
	return newRigOf(t, model, func(*serve.Options) {}, change...)
}

// impatient makes a change by hand wait only briefly for a turn of another user.
func impatient(o *serve.Options) { o.Wait = 200 * time.Millisecond }

// newRigOf is newRigOver with other options of the hub.
func newRigOf(t testing.TB, model llm.Model, hub func(*serve.Options), change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, window: &words{}, mu: &sync.Mutex{}, tokens: map[string]string{}, owners: map[string]string{}, log: &lockedBuffer{}, served: make(chan error, 1)}
	metrics := serve.NewMetrics("test")
	base := servetest.Start(t, servetest.Options{Model: model, Change: func(o *serve.Options) {
		r.window.list = o.Session.Window.(*servetest.Words)
		o.Session.Window = r.window
		o.Session.Pages = proposals(t)
		r.faults = &faulty{Store: o.History}
		o.History, o.Session.Store = r.faults, r.faults
		o.Metrics = metrics
		hub(o)
	}})
	r.hub, r.store = base.Hub, base.History
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	r.must(err)
	o := Options{
		Hub: r.hub, Token: testToken, Tokens: serve.Tokens{Path: filepath.Join(t.TempDir(), "tokens.json")}, Address: l.Addr().String(), Version: "test", Metrics: metrics,
		Log: slog.New(slog.NewTextHandler(r.log, nil)), Drain: time.Second,
	}
	for _, f := range change {
		f(&o)
	}
	r.server, err = New(o)
	r.must(err)
	parsed, err := theDocument()
	r.must(err)
	r.document = &document{parsed: parsed, seen: map[string]bool{}}
	r.url = "http://" + l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.served <- r.server.Serve(ctx, smallBuffers{l}, nil) }()
	t.Cleanup(func() {
		r.stop()
		r.must(<-r.served)
		if t.Failed() {
			t.Logf("the log of the server:\n%s", r.log)
		}
	})
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// wait waits until something is true.
func (r *rig) wait(what string, isTrue func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !isTrue(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatal("not in time: ", what)
		}
	}
}

// request makes a request with the token and, where body is not "", JSON.
func (r *rig) request(ctx context.Context, method, path, body string) *http.Request {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader(body))
	r.must(err)
	req.Header.Set("Authorization", "Bearer "+r.tokenFor(path, body))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}

// token returns a token of a user with a role, which it makes once.
func (r *rig) token(user string, role assistant.Role) string {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tokens[user] == "" {
		token, _, err := r.server.opts.Tokens.Add(user, role, 0)
		r.must(err)
		r.tokens[user] = token
	}
	return r.tokens[user]
}

// tokenFor returns the token of the user whose session a request is about, or that of the start.
func (r *rig) tokenFor(path, body string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for session, user := range r.owners {
		if strings.Contains(path+"/", "/"+session+"/") || strings.Contains(body, `"`+session+`"`) {
			return r.tokens[user]
		}
	}
	return testToken
}

// do makes a request and compares the answer with the document.
func (r *rig) do(req *http.Request) *http.Response {
	r.t.Helper()
	var sent []byte
	if req.GetBody != nil {
		body, err := req.GetBody()
		r.must(err)
		sent, err = io.ReadAll(body)
		r.must(err)
	}
	resp, err := http.DefaultClient.Do(req)
	r.must(err)
	if resp.StatusCode/100 == 2 {
		r.check(r.document.request(req, sent))
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), eventStream) {
		return resp
	}
	raw, err := io.ReadAll(resp.Body)
	r.must(err)
	r.must(resp.Body.Close())
	resp.Body = io.NopCloser(bytes.NewReader(raw))
	r.check(r.document.answer(req, resp, raw))
	return resp
}

// check reports what the document does not describe.
func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Error(err)
	}
}

// call makes a request and returns the status and the body of the answer.
func (r *rig) call(method, path, body string) (status int, answer string) {
	r.t.Helper()
	resp := r.do(r.request(r.t.Context(), method, path, body))
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	r.must(err)
	return resp.StatusCode, string(raw)
}

// get makes a request that has to succeed, and reads its JSON into v unless it is nil.
func (r *rig) get(v any, method, path, body string) {
	r.t.Helper()
	status, answer := r.call(method, path, body)
	if status/100 != 2 {
		r.t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	if v != nil {
		r.must(json.Unmarshal([]byte(answer), v))
	}
}

// problem makes a request that has to fail.
func (r *rig) problem(status int, code, method, path, body string) problem {
	r.t.Helper()
	got, answer := r.call(method, path, body)
	var p problem
	if err := json.Unmarshal([]byte(answer), &p); err != nil || got != status || p.Status != status || p.Code != code {
		r.t.Errorf("%s %s %s: %d %s, want %d %s", method, path, body, got, answer, status, code)
	}
	return p
}

// open opens a session and returns its path.
func (r *rig) open(user string) (id, path string) {
	r.t.Helper()
	var info sessionInfo
	req := r.request(r.t.Context(), "POST", "/v1/sessions", "{}")
	req.Header.Set("Authorization", "Bearer "+r.token(user, assistant.RoleSave))
	resp := r.do(req)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	r.must(err)
	if resp.StatusCode != http.StatusCreated {
		r.t.Fatalf("open a session: %d %s; the log: %s", resp.StatusCode, raw, r.log)
	}
	r.must(json.Unmarshal(raw, &info))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners[info.ID] = user
	return info.ID, "/v1/sessions/" + info.ID
}

// wireEvent is an event as a client reads it.
type wireEvent struct {
	id   int64
	name string
	data string
}

func (e wireEvent) kind() string {
	var head struct{ Type string }
	_ = json.Unmarshal([]byte(e.data), &head)
	return head.Type
}

func (e wireEvent) terminal() bool {
	return slices.Contains([]string{"complete", "error", "cancelled"}, e.kind())
}

// client reads an event stream as the standard says.
type client struct {
	t        testing.TB
	document *document
	body     io.ReadCloser
	lines    *bufio.Reader
	end      error // of the stream; io.EOF when the server ended it
}

// follow opens a stream; after is the Last-Event-ID, 0 for none.
func (r *rig) follow(ctx context.Context, path string, after int64) *client {
	r.t.Helper()
	req := r.request(ctx, "GET", path+"/events", "")
	if after != 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatInt(after, 10))
	}
	return r.stream(r.do(req))
}

// send sends a message.
func (r *rig) send(path, body string) *client {
	r.t.Helper()
	return r.stream(r.do(r.request(r.t.Context(), "POST", path+"/messages", body)))
}

func (r *rig) stream(resp *http.Response) *client {
	r.t.Helper()
	if media := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || media != eventStream {
		raw, _ := io.ReadAll(resp.Body)
		r.t.Fatalf("the answer is %d %s: %s", resp.StatusCode, media, raw)
	}
	r.t.Cleanup(func() { resp.Body.Close() })
	return &client{t: r.t, document: r.document, body: resp.Body, lines: bufio.NewReaderSize(resp.Body, 4<<10)}
}

// next reads an event; ok is false at the end of the stream.
func (c *client) next() (e wireEvent, ok bool) {
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			c.end = err
			return wireEvent{}, false
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case name == "id":
			e.id, err = strconv.ParseInt(value, 10, 64)
			if err != nil {
				c.t.Errorf("id %q", value)
			}
		case name == "event":
			e.name = value
		case name == "data":
			e.data = value
		case line == "\n" && e.data != "":
			if err := c.document.event(e.data); err != nil {
				c.t.Error(err)
			}
			if e.name != e.kind() {
				c.t.Errorf("the event %q is named %q", e.kind(), e.name)
			}
			return e, true
		}
	}
}

// until reads up to the first event of a kind.
func (c *client) until(kind string) (all []wireEvent) {
	c.t.Helper()
	for {
		e, ok := c.next()
		if !ok {
			c.t.Fatalf("the stream ended before %s, after %d events", kind, len(all))
		}
		all = append(all, e)
		if e.kind() == kind {
			return all
		}
	}
}

// rest reads to the end of the stream.
func (c *client) rest() (all []wireEvent) {
	for e, ok := c.next(); ok; e, ok = c.next() {
		all = append(all, e)
	}
	return all
}
