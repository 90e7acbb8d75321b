package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// dialGivesUp is when a dial that nobody waits for any more ends: net/http lets
// it go on after its request is gone, in case another one can use it.
const dialGivesUp = 2 * time.Minute

// pipeClient is a client whose connections lead to serve, in memory, so that a
// synctest bubble can tell when all stand still. serve is given the connection
// after the request was read; a nil serve never lets a connection come about.
func pipeClient(t *testing.T, serve func(conn net.Conn)) *Client {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		if serve == nil {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(dialGivesUp):
				return nil, os.ErrDeadlineExceeded
			}
		}
		ours, theirs := net.Pipe()
		go func() {
			buf := make([]byte, 1<<16)
			for got := ""; !strings.HasSuffix(got, "}") && !strings.HasPrefix(got, "GET "); {
				n, err := theirs.Read(buf)
				if err != nil {
					return
				}
				got += strings.TrimRight(string(buf[:n]), "\r\n0")
			}
			serve(theirs)
			_, _ = io.Copy(io.Discard, theirs) // until the client ends it
			theirs.Close()
		}()
		return ours, nil
	}}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := New(Options{BaseURL: "http://localhost/v1", HTTP: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

// timeline streams and notes when what came.
func timeline(c *Client) (lines string, err error) {
	var b strings.Builder
	start := time.Now()
	for part, e := range c.Stream(context.Background(), hello) {
		if err = e; err != nil {
			fmt.Fprintf(&b, "%v: %v\n", time.Since(start), err)
			break
		}
		switch p := part.(type) {
		case llm.Wait:
			fmt.Fprintf(&b, "%v: wait %v\n", time.Since(start), p.For)
		case llm.Retry:
			fmt.Fprintf(&b, "%v: retry %d in %v\n", time.Since(start), p.Attempt, p.After)
		case llm.Text:
			fmt.Fprintf(&b, "%v: %s\n", time.Since(start), p.Text)
		case llm.End:
			fmt.Fprintf(&b, "%v: end\n", time.Since(start))
		default:
		}
	}
	return b.String(), err
}

func waits(from, to, each time.Duration, since time.Duration) string {
	var b strings.Builder
	for at := from; at < to; at += each {
		fmt.Fprintf(&b, "%v: wait %v\n", at, at-since)
	}
	return b.String()
}

func TestEveryWaitHasALimit(t *testing.T) {
	s := time.Second
	send := func(text string) func(net.Conn) { return func(c net.Conn) { io.WriteString(c, text) } }
	for name, test := range map[string]struct {
		serve func(net.Conn)
		want  string
		kind  llm.Kind
	}{
		"no connection": {nil, "10s: retry 1 in 500ms\n20.5s: retry 2 in 1s\n31.5s: retry 3 in 2s\n" +
			"43.5s: net: no connection to localhost within 10s\n", llm.KindNet},
		"no header": {send(""), waits(20*s, 300*s, 20*s, 0) +
			"5m0s: net: localhost accepted the request but has not answered for 5m0s\n", llm.KindNet},
		"no content": {send(streamHead), waits(20*s, 300*s, 20*s, 0) +
			"5m0s: net: localhost began to answer but has sent no content for 5m0s\n", llm.KindNet},
		"only keep-alives": {func(c net.Conn) {
			io.WriteString(c, streamHead)
			for {
				if _, err := io.WriteString(c, ": keep-alive\n\ndata: {\"choices\":[{\"delta\":{}}]}\n\n"); err != nil {
					return
				}
				time.Sleep(7 * s)
			}
		}, waits(20*s, 300*s, 20*s, 0) +
			"5m0s: net: localhost began to answer but has sent no content for 5m0s\n", llm.KindNet},
		"silence in the middle": {send(streamHead + assistanttest.TextEvent("a")), "0s: a\n" + waits(20*s, 120*s, 20*s, 0) +
			"2m0s: interrupted: localhost stopped in the middle of the answer and has sent nothing for 2m0s\n", llm.KindInterrupted},
		"a trickle goes on": {func(c net.Conn) {
			io.WriteString(c, streamHead)
			for range 3 {
				io.WriteString(c, assistanttest.TextEvent("a"))
				time.Sleep(119 * s)
			}
			io.WriteString(c, assistanttest.Done)
		}, "0s: a\n" + waits(20*s, 119*s, 20*s, 0) + "1m59s: a\n" + waits(139*s, 238*s, 20*s, 119*s) + "3m58s: a\n" + waits(258*s, 357*s, 20*s, 238*s) + "5m57s: end\n", ""},
		"no [DONE] after the finish": {send(streamHead + assistanttest.TextEvent("a") + assistanttest.FinishEvent("stop")), "0s: a\n2s: end\n", ""},
		"a refusal that stalls": {send("HTTP/1.1 400 Bad Request\r\nContent-Length: 100\r\n\r\noops"), waits(20*s, 300*s, 20*s, 0) +
			"5m0s: net: localhost accepted the request but has not answered for 5m0s\n", llm.KindNet},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := timeline(pipeClient(t, test.serve))
				time.Sleep(dialGivesUp) // of the bubble: the connection is given up by then
				if got != test.want || llm.KindOf(err) != test.kind {
					t.Errorf("got\n%s(%s) want\n%s(%s)", got, llm.KindOf(err), test.want, test.kind)
				}
			})
		})
	}
}

func TestCancelIsImmediate(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"connecting": nil,
		"no header":  func(net.Conn) {},
		"no content": func(c net.Conn) { io.WriteString(c, streamHead) },
		"streaming":  func(c net.Conn) { io.WriteString(c, streamHead+assistanttest.TextEvent("a")) },
		"a retry":    func(c net.Conn) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				time.AfterFunc(300*time.Millisecond, cancel)
				start := time.Now()
				var last error
				for _, err := range pipeClient(t, serve).Stream(ctx, hello) {
					last = err
				}
				if took := time.Since(start); took != 300*time.Millisecond || !errors.Is(last, context.Canceled) {
					t.Errorf("ended after %v with %v; want a cancellation after 300ms", took, last)
				}
				time.Sleep(dialGivesUp)
			})
		})
	}
}

func TestListHasALimit(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
	drip := func(pieces int, last string) func(net.Conn) {
		return func(c net.Conn) {
			io.WriteString(c, head+`{"data":[{"id":"a"}`)
			for range pieces {
				time.Sleep(9 * time.Second)
				io.WriteString(c, " ")
			}
			io.WriteString(c, last)
			if last != "" {
				c.Close()
			}
		}
	}
	for name, c := range map[string]struct {
		serve func(net.Conn)
		took  time.Duration
		fault string
	}{
		"no connection":  {nil, 10 * time.Second, "for 10s while reading its list of models"},
		"no header":      {func(net.Conn) {}, 10 * time.Second, "for 10s while reading its list of models"},
		"a head alone":   {func(c net.Conn) { io.WriteString(c, head) }, 10 * time.Second, "for 10s while reading its list of models"},
		"a part":         {drip(0, ""), 10 * time.Second, "for 10s while reading its list of models"},
		"a slow list":    {drip(4, "]}"), 36 * time.Second, "<nil>"},
		"without an end": {drip(20, ""), time.Minute, "has not sent its list of models within 1m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := pipeClient(t, c.serve).Models(context.Background())
				if took := time.Since(start); took != c.took || !strings.Contains(fmt.Sprint(err), c.fault) {
					t.Errorf("ended after %v with %v; want %v, %s", took, err, c.took, c.fault)
				}
				time.Sleep(dialGivesUp + 3*time.Minute)
			})
		})
	}
}
