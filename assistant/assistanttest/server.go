package assistanttest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Server is an OpenAI-compatible endpoint on the loopback interface. It answers completion
// requests with its replies in order, and then repeats the last one. Create it with
// NewServer.
type Server struct {
	URL string // the base URL of the endpoint

	mu      sync.Mutex
	replies []Reply
	routes  map[string]Reply // by path suffix
	next    int
	asked   []*Exchange
	gone    chan *Exchange
	closed  chan struct{}
}

// Reply responds to one request.
type Reply func(x *Exchange)

// Exchange is one request to a Server, with methods to respond.
type Exchange struct {
	Path   string
	Header http.Header
	Body   []byte
	Chat   Chat // decoded Body, for a completion request

	number  int
	writer  http.ResponseWriter
	request *http.Request
	server  *Server
}

// backlog is the number of closed connections that a server stores for Gone: more
// than any test makes.
const backlog = 1024

// NewServer starts an endpoint with these replies, and stops it when the test
// ends. Without replies it answers "ok".
func NewServer(t testing.TB, replies ...Reply) *Server {
	t.Helper()
	if len(replies) == 0 {
		replies = []Reply{Text("ok")}
	}
	s := &Server{replies: replies, routes: map[string]Reply{"/models": ModelList("test-model")}, gone: make(chan *Exchange, backlog), closed: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		x := &Exchange{Path: r.URL.Path, Header: r.Header.Clone(), Body: body, writer: w, request: r, server: s}
		s.choose(x)(x)
	}))
	s.URL = server.URL + "/v1"
	t.Cleanup(func() {
		close(s.closed)
		server.CloseClientConnections()
		server.Close()
	})
	return s
}

// Then adds replies at the end.
func (s *Server) Then(replies ...Reply) *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
	return s
}

// Models sets the answer to a request for the list of models.
func (s *Server) Models(r Reply) *Server { return s.Route("/models", r) }

// Route sets the answer to requests whose path ends with suffix.
func (s *Server) Route(suffix string, r Reply) *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes[suffix] = r
	return s
}

// Asked returns all requests so far, in order.
func (s *Server) Asked() []*Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Gone waits until a client has closed its connection in the middle of an
// answer, and returns that exchange.
func (s *Server) Gone(t testing.TB) *Exchange {
	t.Helper()
	x, _ := receive(t, s.gone, "no client has closed its connection")
	return x
}

// choose stores the request and returns its reply.
func (s *Server) choose(x *Exchange) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.number = len(s.asked)
	s.asked = append(s.asked, x)
	for suffix, reply := range s.routes {
		if strings.HasSuffix(x.Path, suffix) {
			return reply
		}
	}
	if !strings.HasSuffix(x.Path, "/chat/completions") || json.Unmarshal(x.Body, &x.Chat) != nil {
		return Respond(http.StatusNotFound, "404 page not found")
	}
	s.next++
	return s.replies[min(s.next, len(s.replies))-1]
}

// Start sends the status and headers, which are alternating names and values.
func (x *Exchange) Start(status int, headers ...string) {
	for i := 0; i+1 < len(headers); i += 2 {
		x.writer.Header().Add(headers[i], headers[i+1])
	}
	x.writer.WriteHeader(status)
	x.flush()
}

// Send writes a piece of the body and flushes it.
func (x *Exchange) Send(piece string) {
	io.WriteString(x.writer, piece)
	x.flush()
}

func (x *Exchange) flush() { http.NewResponseController(x.writer).Flush() }

// Gone reports whether the client has closed the connection.
func (x *Exchange) Gone() bool { return x.request.Context().Err() != nil }

// Stall waits until the gate is open, and opens it when the server stops. It returns false
// if the client closes the connection first.
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
