package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// last is a call whose answer shows that the connection goes on.
const last = `{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"list_words"}}` + "\n"

// failures are the errors that a server answered with, as "id code".
func failures(t *testing.T, out string) (all []string) {
	t.Helper()
	for text := range strings.Lines(out) {
		var m struct {
			ID    json.RawMessage
			Error *struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Errorf("the server wrote %q", text)
		}
		if m.Error != nil {
			all = append(all, fmt.Sprintf("%s %d", m.ID, m.Error.Code))
		}
	}
	return all
}

func TestALineThatIsNoRequestIsAnsweredAndTheConnectionGoesOn(t *testing.T) {
	for sent, want := range map[string]string{
		"{":                                 "null -32700",
		"}":                                 "null -32700",
		"hello":                             "null -32700",
		"\xff\xfe":                          "null -32700",
		`{"id":5} {}`:                       "null -32700",
		`{"id":1,"x":"` + "\x01" + `"}`:     "null -32700",
		strings.Repeat("[", 100_000):        "null -32700",
		strings.Repeat("x", MaxMessage-1):   "null -32700",
		strings.Repeat(" ", MaxMessage):     "null -32600",
		strings.Repeat("x", 2*MaxMessage+1): "null -32600",
		"null":                              "null -32600",
		"17":                                "null -32600",
		`""`:                                "null -32600",
		"[]":                                "null -32600",
		"[{}]":                              "null -32600",
		"{}":                                "null -32600",
		`{"jsonrpc":"2.0"}`:                 "null -32600",
		`{"jsonrpc":"1.0","id":5,"method":"ping"}`:                                              "5 -32600",
		`{"id":"five","method":"ping"}`:                                                         `"five" -32600`,
		`{"jsonrpc":"2.0","id":5,"method":1}`:                                                   "5 -32600",
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                             "null -32600",
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                                           "null -32600",
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:                                            "null -32600",
		`{"jsonrpc":"2.0","id":5,"method":""}`:                                                  "5 -32601",
		`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"winnow://\u001b"}}`: "5 -32602",
		`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"\u0000\ud800"}}`:    "5 -32602",
		`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":null}`:                      "5 -32600",
		`{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"\u001b"}}`:     "5 -32601",
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"\u001b"}}`:             "5 -32602",
		`{"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"\u001b"}}`:            "5 -32602",
	} {
		id, _, _ := strings.Cut(want, " ")
		out := newRig(t).exchange(sent+"\n"+last, `"id":"last"`, `"id":`+id)
		if got := failures(t, out); !slices.Equal(got, []string{want}) || !strings.Contains(out, `"id":"last"`) {
			t.Errorf("%.80q: errors %q, want %q; %.300s", sent, got, want, out)
		}
	}
}

// A random line is a request with a few bytes changed, or bytes.
func randomLine(r *rand.Rand) string {
	text := []byte(`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"winnow://words","_meta":{"progressToken":1}}}`)
	if r.IntN(4) == 0 {
		text = make([]byte, r.IntN(100))
	}
	for range r.IntN(6) {
		if len(text) == 0 {
			break
		}
		switch at := r.IntN(len(text)); r.IntN(4) {
		case 0:
			text[at] = byte(r.IntN(256))
		case 1:
			text = slices.Delete(text, at, min(at+1+r.IntN(8), len(text)))
		case 2:
			text = slices.Insert(text, at, []byte([]string{`\u001b`, "\x1b", `"`, "{", "[", "null", "1e999", "\xc3"}[r.IntN(8)])...)
		case 3:
			text = slices.Insert(text, at, text[at:min(at+20, len(text))]...)
		}
	}
	return strings.ReplaceAll(string(text), "\n", " ")
}

func TestRandomLinesDoNotEndTheConnection(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 25)) //nolint:gosec // the same lines in each run
		var sent strings.Builder
		for range 200 {
			sent.WriteString(randomLine(random) + "\n")
		}
		out := newRig(t).exchange(sent.String()+last, `"id":"last"`)
		failures(t, out)
		if !strings.Contains(out, `"id":"last"`) {
			t.Fatalf("seed %d: the connection ended: %.500s", seed, out)
		}
	}
}

func TestAnIDThatWaitsForItsAnswerIsRefused(t *testing.T) {
	r := newRig(t)
	slow := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"slow"}}` + "\n"
	out := r.exchange(slow+slow, `"id":7,"error"`)
	if got := failures(t, out); !slices.Equal(got, []string{"7 -32600"}) {
		t.Errorf("errors %q: %s", got, out)
	}
}

func TestTheNumberOfWaitingCallsIsBounded(t *testing.T) {
	r := newRig(t)
	var sent strings.Builder
	for id := range maxCalls + 1 {
		fmt.Fprintf(&sent, `{"jsonrpc":"2.0","id":"call %d","method":"tools/call","params":{"name":"slow"}}`+"\n", id)
	}
	refused := fmt.Sprintf("%q", fmt.Sprintf("call %d", maxCalls))
	if out := r.exchange(sent.String(), `"id":`+refused); !slices.Contains(failures(t, out), refused+" -32600") {
		t.Errorf("%.500s", out)
	}
}

// stuck is a client that reads nothing.
type stuck struct{ until <-chan struct{} }

func (s stuck) Write([]byte) (int, error) {
	<-s.until
	return 0, io.ErrClosedPipe
}

func TestAClientThatReadsNothingHoldsNoCall(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	in, send := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = Run(ctx, in, stuck{ctx.Done()}, r.opts) // it is cancelled
	}()
	_, err := io.WriteString(send, begin+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":1}}}`+"\n"+
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add_word","arguments":{"word":"two"}}}`+"\n")
	r.must(err)
	for deadline := time.Now().Add(time.Minute); !slices.Contains(r.window.Words(), "two"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a call waits for a client that reads nothing")
		}
	}
	cancel()
	<-ended
}

// A client that sends calls and reads no answer is disconnected before it fills the memory.
func TestAnswersThatAreNotReadAreBounded(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, send := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Run(ctx, in, stuck{ctx.Done()}, r.opts)
		_ = in.Close()
		ended <- err
	}()
	_, err := io.WriteString(send, begin)
	long := []byte(`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", MaxMessage/2) + `","method":1}` + "\n")
	for n := 0; err == nil && n < 4*maxUnread; n += len(long) {
		_, err = send.Write(long)
	}
	if err == nil {
		t.Fatal("answers are stored without a bound")
	}
	if err := <-ended; err == nil {
		t.Error("the end of the connection has no reason")
	} else {
		t.Log(err)
	}
}
