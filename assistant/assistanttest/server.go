package assistanttest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Server is an OpenAI-compatible endpoint on the loopback device. It answers
// requests for completions in order, the last answer again and again. Make it
// with NewServer.
type Server struct {
	// URL is the base URL of the endpoint.
	URL string

	http   *httptest.Server
	mu     sync.Mutex
	reply  []Reply
	next   int
	list   Reply
	image  Reply
	asked  []*Exchange
	gone   chan *Exchange
	closed chan struct{}
}

// Reply answers one request on the wire.
type Reply func(x *Exchange)

// Exchange is one request to a Server, and the means to answer it.
type Exchange struct {
	Method, Path string
	Header       http.Header
	Body         []byte
	Chat         Chat // what Body says, when it is a request for a completion

	number  int
	writer  http.ResponseWriter
	request *http.Request
	server  *Server
}

// backlog is how many vanished clients a server remembers before the oldest
// has been asked for; no test comes near it.
const backlog = 1024

// NewServer starts an endpoint that answers so, and stops it when the test ends.
// Without replies it answers "ok".
func NewServer(t testing.TB, replies ...Reply) *Server {
	t.Helper()
	if len(replies) == 0 {
		replies = []Reply{Text("ok")}
	}
	s := &Server{
		reply: replies, list: ModelList("test-model"), image: Refuse(http.StatusNotFound, ""),
		gone: make(chan *Exchange, backlog), closed: make(chan struct{}),
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL + "/v1"
	t.Cleanup(func() {
		close(s.closed)
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Then adds replies at the end.
func (s *Server) Then(replies ...Reply) *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reply = append(s.reply, replies...)
	return s
}

// Models sets the answer to a request for the list of models.
func (s *Server) Models(r Reply) *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = r
	return s
}

// Images sets the answer to a request for a picture; before, they are refused.
func (s *Server) Images(r Reply) *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.image = r
	return s
}

// Asked returns all requests so far, in order.
func (s *Server) Asked() []*Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Exchange(nil), s.asked...)
}

// Gone waits until a client has closed its connection in the middle of an
// answer, and returns that exchange.
func (s *Server) Gone(t testing.TB) *Exchange {
	t.Helper()
	return await(t, s.gone, "no client has closed its connection")
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	x := &Exchange{
		Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body,
		writer: w, request: r, server: s,
	}
	s.pick(x)(x)
}

// pick notes the request and chooses its answer.
func (s *Server) pick(x *Exchange) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.number = len(s.asked)
	s.asked = append(s.asked, x)
	switch {
	case strings.HasSuffix(x.Path, "/models"):
		return s.list
	case strings.HasSuffix(x.Path, "/images/generations"):
		return s.image
	case strings.HasSuffix(x.Path, "/chat/completions"):
		x.Chat = readChat(x.Body)
		s.next++
		return s.reply[min(s.next, len(s.reply))-1]
	}
	return Refuse(http.StatusNotFound, "404 page not found")
}

// Number counts the requests to the server from 0.
func (x *Exchange) Number() int { return x.number }

// Start sends the head of the answer. headers are names and values in turn.
func (x *Exchange) Start(status int, headers ...string) {
	for i := 0; i+1 < len(headers); i += 2 {
		x.writer.Header().Add(headers[i], headers[i+1])
	}
	x.writer.WriteHeader(status)
	x.flush()
}

// Send writes a piece of the body and makes sure that it leaves by itself.
func (x *Exchange) Send(piece string) {
	io.WriteString(x.writer, piece)
	x.flush()
}

func (x *Exchange) flush() { http.NewResponseController(x.writer).Flush() }

// Stall stands still until the gate is open. It reports false when the client
// has closed the connection or the server is stopped instead.
func (x *Exchange) Stall(g *Gate) bool {
	go func() {
		select {
		case <-x.server.closed:
			g.Open()
		case <-g.free:
		case <-x.request.Context().Done():
		}
	}()
	if g.Pass(x.request.Context()) != nil {
		x.server.gone <- x
		return false
	}
	return true
}

// Cut closes the connection in the middle of the answer. It does not return.
func (x *Exchange) Cut() { panic(http.ErrAbortHandler) }

// Flood writes piece until the client is gone or it was written limit times,
// and reports how often it was.
func (x *Exchange) Flood(piece string, limit int) int {
	block := []byte(piece)
	if n := floodBlock / len(piece); n > 1 {
		block = bytes.Repeat(block, n)
	}
	for sent := 0; sent < limit; {
		n := min(len(block)/len(piece), limit-sent)
		if _, err := x.writer.Write(block[:n*len(piece)]); err != nil {
			x.server.gone <- x
			return sent
		}
		sent += n
	}
	x.flush()
	return limit
}

// floodBlock is how much Flood writes at once.
const floodBlock = 64 << 10
