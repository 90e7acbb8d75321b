package openai

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// socket is a connection in memory with a buffer, as the kernel has one: what
// was written while nobody read is read at once.
type socket struct {
	net.Conn // the other direction
	mu       sync.Mutex
	more     *sync.Cond
	buffer   bytes.Buffer
	err      error
	reads    int // that returned something
}

// newSocket buffers what conn receives.
func newSocket(conn net.Conn) *socket {
	s := &socket{Conn: conn}
	s.more = sync.NewCond(&s.mu)
	go func() {
		b := make([]byte, 1<<10)
		for {
			n, err := conn.Read(b)
			s.mu.Lock()
			s.buffer.Write(b[:n])
			s.err = err
			s.mu.Unlock()
			s.more.Broadcast()
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *socket) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.buffer.Len() == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.more.Wait()
	}
	s.reads++
	return s.buffer.Read(b)
}

// pacedClient is a pipeClient whose answers are read every tenth of a second.
func pacedClient(t *testing.T, serve func(conn net.Conn)) (*Client, func() int) {
	t.Helper()
	c := pipeClient(t, serve)
	var s *socket
	transport := c.opts.HTTP.Transport.(*http.Transport)
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		s = newSocket(conn)
		return newPacedConn(s), nil
	}
	c.opts.ReadPause = 100 * time.Millisecond
	return c, func() int { return s.reads }
}

// TestPacedReads: the first content and what follows the finish_reason are seen at once,
// what comes between them ten times a second, in one part and in its order.
func TestPacedReads(t *testing.T) {
	const ms = time.Millisecond
	event := assistanttest.TextEvent
	for name, test := range map[string]struct {
		serve func(net.Conn)
		want  string
	}{
		"a stream": {func(c net.Conn) {
			time.Sleep(5 * ms) // no event at the time of a read
			for i := range 25 {
				io.WriteString(c, event(string(rune('a'+i))))
				time.Sleep(10 * ms)
			}
			io.WriteString(c, assistanttest.FinishEvent("stop")+assistanttest.Done)
		}, "300ms: abcdefghij\n400ms: klmnopqrst\n500ms: uvwxy\n500ms: end\n"},
		"after the finish_reason": {func(c net.Conn) {
			time.Sleep(10 * ms)
			io.WriteString(c, event("c")+assistanttest.FinishEvent("stop"))
			time.Sleep(110 * ms)
			io.WriteString(c, assistanttest.UsageEvent(1, 1))
			time.Sleep(20 * ms)
			io.WriteString(c, assistanttest.Done)
		}, "300ms: c\n340ms: end\n"},
		"slower than the pause": {func(c net.Conn) {
			time.Sleep(150 * ms)
			io.WriteString(c, event("c"))
			time.Sleep(150 * ms)
			io.WriteString(c, event("d")+assistanttest.FinishEvent("stop")+assistanttest.Done)
		}, "350ms: c\n500ms: d\n500ms: end\n"},
		"a broken connection": {func(c net.Conn) {
			time.Sleep(10 * ms)
			io.WriteString(c, event("c"))
			c.Close()
		}, "300ms: c\n400ms: interrupted: the connection to localhost ended before the answer did\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := pacedClient(t, func(c net.Conn) {
					io.WriteString(c, streamHead)
					time.Sleep(10 * ms)
					io.WriteString(c, event("first "))
					time.Sleep(190 * ms) // the read that waits for the next event may have begun before the first pause
					io.WriteString(c, event("second"))
					test.serve(c)
				})
				got, _ := timeline(c)
				time.Sleep(dialGivesUp) // of the bubble
				if want := "10ms: first \n200ms: second\n" + test.want; got != want {
					t.Errorf("got\n%swant\n%s", got, want)
				}
			})
		})
	}
}

// A paced stream costs a tenth of the reads.
func TestPacedReadsAreFew(t *testing.T) {
	serve := func(c net.Conn) {
		io.WriteString(c, streamHead)
		for range 200 {
			io.WriteString(c, assistanttest.TextEvent("x"))
			time.Sleep(5 * time.Millisecond)
		}
		io.WriteString(c, assistanttest.FinishEvent("stop")+assistanttest.Done)
	}
	reads := map[bool]int{}
	for _, paced := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c, count := pacedClient(t, serve)
			if !paced {
				c.opts.ReadPause = 0
			}
			got, err := timeline(c)
			time.Sleep(dialGivesUp)
			if strings.Count(got, "x") != 200 || err != nil {
				t.Errorf("got %s, %v", got, err)
			}
			reads[paced] = count()
		})
	}
	if reads[true]*10 > reads[false] {
		t.Errorf("%d reads of 200 events, %d without a pause: want a tenth", reads[true], reads[false])
	}
}

// A cancellation ends a pause.
func TestPacedReadsEndWhenCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := pacedClient(t, func(conn net.Conn) {
			for _, err := io.WriteString(conn, streamHead); err == nil; _, err = io.WriteString(conn, assistanttest.TextEvent("x")) {
				time.Sleep(time.Millisecond)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(50*time.Millisecond, cancel)
		_, _ = assistanttest.Parts(c.Stream(ctx, hello)) // the error of ctx
		if took := time.Since(start); took != 50*time.Millisecond {
			t.Errorf("the stream ends after %v, want 50ms", took)
		}
		time.Sleep(dialGivesUp)
	})
}

// TestPacedReadsOverTLS: each event is a record of its own there, and the next
// one is read at once where the buffer holds it. That it takes no more pauses
// than the same stream without TLS shows in the number of its parts.
func TestPacedReadsOverTLS(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, assistanttest.TextEvent("first"))
		w.(http.Flusher).Flush()
		<-release
		for i := range 300 {
			fmt.Fprint(w, assistanttest.TextEvent(fmt.Sprintf(" %d", i)))
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, assistanttest.FinishEvent("stop")+assistanttest.Done)
	}))
	defer server.Close()
	transport := server.Client().Transport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	transport.DialContext = dialPaced
	c, err := New(Options{BaseURL: server.URL, HTTP: &http.Client{Transport: transport}, ReadPause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var conn *pacedConn
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		x := &exchange{events: make(chan event, 1), ctx: t.Context()}
		x.connected(info)
		conn = x.conn
	}})
	text := ""
	for part, err := range c.Stream(ctx, hello) {
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := part.(llm.Text); ok {
			if text == "" {
				close(release)
			}
			text += string(p.Text)
		}
	}
	want := "first"
	for i := range 300 {
		want += fmt.Sprintf(" %d", i)
	}
	if text != want {
		t.Errorf("got %q", text)
	}
	if conn == nil {
		t.Error("the connection below TLS is not paced")
	}
}
